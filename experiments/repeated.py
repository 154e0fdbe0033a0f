"""Histories whose values repeat: how long it takes to decide them, and how many stay unknown.

    python -m experiments.repeated [--histories 5] [--timeout 20] [--operations 1000]

Runs of sound and broken machines with 4 threads, their values drawn from a few: in the order of the trace, where reads
stand behind what they read, and thread by thread, where nothing says how the threads went. Every verdict is certified.
Written to experiments/results/repeated.md; exits with 1 when a run of a sound machine is called a violation.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np

from experiments import computer
from experiments.markdown import number, table
from gradual.compiler import can_compile
from gradual.deciding.engine import load as load_engine
from gradual.deciding.pipeline import check
from gradual.history import History, candidates
from gradual.history.reads_from import by_values
from gradual.machines import generate
from gradual.progress import Progress

RESULTS = Path(__file__).parent / "results" / "repeated.md"
VALUES = (8, 64, 1024)
LOCATIONS = (4, 16)
MACHINES = (("sc", "sc"), ("tso", "tso"), ("tso", "sc"), ("broken-drop", "tso"))
"""Each with the model its runs are held against."""
HEAD = ["values", "locations", "machine", "model", "order", "open reads", "candidates each", "consistent", "violation",
        "unknown", "median s", "max s"]


class Run(NamedTuple):
    verdict: str
    seconds: float
    open_reads: int
    candidates: float


def with_values(history: History, count: int) -> History:
    """The same with values drawn from so many: 0 stays, which memory starts with."""
    drawn = np.random.default_rng(len(history)).integers(1, count + 1, int(history.written.max()) + 1)
    drawn[0] = 0
    return by_values(replace(history, read=drawn[history.read], written=drawn[history.written]))


def thread_by_thread(history: History) -> History:
    order = np.argsort(history.thread, kind="stable")
    columns = {name: getattr(history, name)[order]
               for name in ("thread", "kind", "location", "read", "written", "source", "line", "tick")}
    return by_values(replace(history, **columns))


def run(history: History, model: str, timeout: float) -> Run:
    counts = [len(writes) for writes in candidates(history).values()]
    started = time.process_time()
    verdict = check(history, model, timeout=timeout, unordered=False)
    return Run(verdict.verdict, time.process_time() - started, len(counts), sum(counts) / max(1, len(counts)))


def rows(asked: argparse.Namespace, progress: Progress) -> Iterator[list[str]]:
    for values in VALUES:
        for locations in LOCATIONS:
            for machine, model in MACHINES:
                for order in ("trace", "threads"):
                    runs = []
                    for seed in range(asked.histories):
                        progress.start(f"{machine} under {model}, {values} values")
                        made = with_values(generate(machine, 4, asked.operations, locations, seed), values)
                        runs.append(run(made if order == "trace" else thread_by_thread(made), model, asked.timeout))
                    counted = [sum(one.verdict == what for one in runs)
                               for what in ("consistent", "violation", "unknown")]
                    seconds = [one.seconds for one in runs]
                    yield [str(values), str(locations), machine, model, order,
                           number(round(median(one.open_reads for one in runs))),
                           f"{median(one.candidates for one in runs):.1f}", *map(str, counted),
                           f"{median(seconds):.2f}", f"{max(seconds):.2f}"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--histories", type=int, default=5, help="of each kind")
    parser.add_argument("--operations", type=int, default=1000)
    parser.add_argument("--timeout", type=float, default=20.0, help="seconds for each, by the clock on the wall")
    asked = parser.parse_args()
    if can_compile():
        load_engine()
    with Progress() as progress:
        found = list(rows(asked, progress))
    command = (f"python -m experiments.repeated --histories {asked.histories} --timeout {asked.timeout:g} --operations "
               f"{asked.operations}")
    lines = ["# Values that repeat", "", f"`{command}`. Seconds are of the processor, the time limit is by the clock.",
             "", *table(HEAD, found, 5), "", *(f"- {note}" for note in computer.notes())]
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))
    return int(any(row[2] == row[3] and row[8] != "0" for row in found))


if __name__ == "__main__":
    sys.exit(main())
