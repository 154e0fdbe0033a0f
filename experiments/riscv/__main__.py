"""RISC-V litmus tests under RVWMO, beside herd's answers: verdicts, numbers of states, CPU time per test.

    python -m experiments.riscv FOLDER [--random 1000]

FOLDER has .litmus files and herd.csv (file, test, observation, states). Every test is asked as `gradual run --model
rvwmo --unroll 2` asks it, all in one process; with herd7 on PATH, its time for all of them in one process is measured
in the same run. `--random N`: N random tests besides, without amos, state by state against herd7. Exits with 1 where
something differs that is not known to (KNOWN).
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random
from statistics import median

from experiments.computer import notes
from experiments.markdown import number, table
from experiments.riscv import herd
from experiments.riscv.random_tests import random_test
from gradual import programs
from gradual.programs import observe
from gradual.programs.executions import Executions
from gradual.programs.program import Bounds, Program
from gradual.progress import Progress

MODEL = "rvwmo"
UNROLL = Bounds(unroll=2)
KNOWN = {"Andy27": "a loop that --unroll 2 ends before it is through counts with its outcome; herd leaves it out"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--random", type=int, default=0, metavar="N", help="random tests, compared with herd7")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    different = tests(asked.folder)
    if asked.random:
        different += at_random(asked.random, asked.seed)
    print("\n" + "\n".join(notes()))
    return int(different > 0)


def tests(folder: Path) -> int:
    """All tests of a folder; how many differ without being known to."""
    with (folder / "herd.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    seconds: list[float] = []
    different: list[list[str]] = []
    with Progress() as progress:
        progress.start("RVWMO")
        for row in rows:
            progress.done += 1
            started = time.process_time()
            found = observe.outcomes(programs.read(str(folder / row["file"]), UNROLL), MODEL, explained=False)
            seconds.append(time.process_time() - started)
            ours, theirs = (found.frequency, str(len(found.outcomes or ()))), (row["observation"], row["states"])
            if ours != theirs:
                different.append([row["test"], *theirs, *ours, KNOWN.get(row["test"], "NOT KNOWN")])
    print(f"{len(rows)} tests, {len(different)} differ\n")
    print("\n".join(table(["test", "herd", "states", "ours", "states", "why"], different, 6)))
    print()
    print("\n".join(table(["", "CPU seconds, all tests", "median per test", "mean per test"],
                          _times(seconds, [folder / row["file"] for row in rows]), 1)))
    return sum(row[-1] == "NOT KNOWN" for row in different)


def _times(seconds: Sequence[float], files: Sequence[Path]) -> list[list[str]]:
    ours = ["ours", number(sum(seconds)), number(median(seconds)), number(sum(seconds) / len(seconds))]
    if not herd.there():
        return [ours, ["herd7 is not on PATH", "", "", ""]]
    said, spent = herd.ask(files)
    return [ours, ["herd7", number(spent), "", number(spent / len(said))]]


def at_random(size: int, seed: int) -> int:
    """Random tests against herd7, state by state; how many differ."""
    if not herd.there():
        print("\nherd7 is not on PATH: no random tests")
        return 0
    rng = Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"random{at}.litmus" for at in range(size)]
        for file in files:
            file.write_text(random_test(rng, file.stem, amos=False))
        said, _ = herd.ask(files)
        asked = {file.stem: programs.read(str(file)) for file in files}
        different = [answer.test for answer in said if not agrees(asked[answer.test], answer)]
    print(f"\n{len(said)} of {size} random tests answered by herd7, {len(different)} with other states than ours "
          f"{' '.join(different[:10])}")
    return len(different) + (len(said) < size)


def agrees(program: Program, said: herd.Said) -> bool:
    """Are our outcomes herd's?"""
    ours = {frozenset(zip(program.observed, outcome, strict=True)) for outcome in Executions(program, MODEL).outcomes()}
    return ours == said.outcomes(program)


if __name__ == "__main__":
    sys.exit(main())
