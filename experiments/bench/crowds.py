"""Many small histories: what is measured where one takes no time.

    python -m experiments.bench.crowds FILE KIND

makes a file, or a folder of files, in a process of its own, as `workloads` does.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from experiments.trees import ROOT

if TYPE_CHECKING:
    from gradual import History

MANY, OPERATIONS = 10_000, 17
THREADS, LOCATIONS = 4, 2
SEPARATE = 400
"""Broken histories with a file each, of 200 operations."""


def crowd(kind: str, folder: Path) -> Path:
    """`random.axe`: reads return whatever was written somewhere, so that most violate SC; `consistent.axe`; `broken`, a
    folder of CSV files."""
    path = folder / f"crowd-{kind}"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, "-m", __name__, str(path), kind], check=True, cwd=ROOT)
    return path


def make(path: Path, kind: str) -> None:
    import gradual
    from gradual.machines import generate

    unfinished = path.with_name(f"part-{path.name}")
    if kind == "broken":
        unfinished.mkdir(exist_ok=True)
        for seed in range(SEPARATE):
            gradual.write([generate("broken", 4, 200, 8, seed)], unfinished / f"{seed}.csv")
    elif kind == "random.axe":
        gradual.write(map(_random, range(MANY)), unfinished)
    else:
        gradual.write((generate("sc", THREADS, OPERATIONS, LOCATIONS, seed) for seed in range(MANY)), unfinished)
    unfinished.replace(path)


def _random(seed: int) -> History:
    """Writes have values of their own; a read returns one of them, though none that its own thread has yet to write, or
    the initial value."""
    import gradual

    rng, builder = Random(seed), gradual.Builder(f"random-{seed}", "")
    accesses = [(rng.randrange(THREADS), rng.randrange(LOCATIONS), value if rng.random() < 0.5 else 0)
                for value in range(1, OPERATIONS + 1)]
    for place, (thread, location, value) in enumerate(accesses):
        if value:
            builder.write(str(thread), location, value)
        else:
            written = [new for at, (by, where, new) in enumerate(accesses)
                       if new and where == location and (by != thread or at < place)]
            builder.read(str(thread), location, rng.choice([0, *written]))
    return builder.build()


if __name__ == "__main__":
    make(Path(sys.argv[1]), sys.argv[2])
