"""Random histories that mix sizes, decided as `gradual check` does and by brute force over bytes: do they agree?

    python -m experiments.sizes [--histories 5000] [--seed 1]

Three to eight accesses of 1, 2, 4 and 8 bytes by two or three threads, LR with SC, rmws and fences among them; one
history in four has misaligned ones, as RISC-V tears them. Every verdict is certified on the way. Then histories of many
operations on 64 bytes, and how long they take. Written to experiments/results/sizes.md; histories on which the two
differ are printed, and it exits with 1 if there is one.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

from experiments import computer
from experiments.markdown import number, table
from experiments.sizes.brute import MODELS, Brute
from experiments.sizes.histories import long_history, random_history
from gradual.compiler import can_compile
from gradual.deciding.engine import load as load_engine
from gradual.deciding.pipeline import check
from gradual.history import History, split
from gradual.models import load
from gradual.progress import Progress

RESULTS = Path(__file__).parents[1] / "results" / "sizes.md"
LONG = (200, 1000, 5000)
VALUES = (2, 256)


def mixed_history(rng: Random, torn: bool) -> History:
    while True:
        history = random_history(rng, torn=torn)
        if history.mixed:
            return history


def compared(histories: int, seed: int, progress: Progress) -> dict[str, Counter[str]]:
    rng, counted = Random(seed), {model: Counter[str]() for model in MODELS}
    progress.start("comparing")
    for done in range(histories):
        progress.done = done
        history = mixed_history(rng, torn=done % 4 == 0)
        brute = Brute(history)
        for model, count in counted.items():
            found = check(history, model, engine="schedule", unordered=False).verdict
            count[found] += 1
            if (found == "consistent") != brute.allows(model):
                count["different"] += 1
                print(f"{model}: {found}, and brute force says otherwise\n{history.to_pandas()}", file=sys.stderr)
    return counted


def timed(timeout: float, progress: Progress) -> Iterator[list[str]]:
    for operations in LONG:
        for values in VALUES:
            for model in ("sc", "tso", "rvwmo"):
                progress.start(f"{operations} operations under {model}")
                history = long_history(Random(operations), operations, values)
                events = split(history)
                started = time.perf_counter()
                verdict = check(history, load(model), timeout=timeout, unordered=False).verdict
                yield [number(operations), number(values), number(len(events)), model, verdict,
                       f"{time.perf_counter() - started:.2f}"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--histories", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds for each long history")
    asked = parser.parse_args()
    if can_compile():
        load_engine()
    with Progress() as progress:
        counted = compared(asked.histories, asked.seed, progress)
        long = list(timed(asked.timeout, progress))
    head = ["model", "consistent", "violation", "unknown", "different"]
    rows = [[model.upper(), *(number(count[what]) for what in head[1:])] for model, count in counted.items()]
    lines = ["# Sizes that mix", "", f"`python -m experiments.sizes --histories {asked.histories} --seed {asked.seed}`",
             "", f"{number(asked.histories)} random histories, held against brute force over bytes:", "",
             *table(head, rows, 1), "",
             "Runs of one memory of 64 bytes by four threads, of bytes from so many values:", "",
             *table(["operations", "values", "events", "model", "verdict", "s"], long, 3), "",
             *(f"- {note}" for note in computer.notes())]
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))
    return int(any(count["different"] for count in counted.values()))


if __name__ == "__main__":
    sys.exit(main())
