"""How small violations get, and how soon: histories of broken machines, of 200 to 100 000 operations.

    python experiments/shrink.py [--scale 1.0]

Each machine runs with the fault ratio it has, and with one so low that some tens of faults strike in the whole run.
`check` is the time of the first check, which the time of shrinking contains; reading a file is in neither.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator
from itertools import count, product
from typing import NamedTuple

from gradual.deciding.shrinking import NotViolated, Shrinking
from gradual.history import History
from gradual.machines import FAULTS, generate

SIZES = {200: 40, 2_000: 25, 20_000: 20, 100_000: 15}
"""How many violations of each size."""
MODELS = ("sc", "tso", "pso")
LOCATIONS = {200: 8, 2_000: 16, 20_000: 64, 100_000: 256}
FAULTS_IN_ALL = 40


class Shrunk(NamedTuple):
    size: int
    left: int
    threads: int
    check: float
    seconds: float
    minimal: bool


def histories(size: int) -> Iterator[tuple[History, str]]:
    """Without end, from all machines and for all models; most of them violations."""
    for seed, rare, machine, model in ((seed, *rest) for seed in count(1)
                                       for rest in product((False, True), FAULTS, MODELS)):
        fault_ratio = FAULTS_IN_ALL / size if rare else None
        yield generate(machine, 4, size, LOCATIONS[size], seed, fault_ratio=fault_ratio), model


def measured(size: int, wanted: int) -> Iterator[Shrunk]:
    found = 0
    for history, model in histories(size):
        started = time.perf_counter()
        try:
            shrinking = Shrinking(history, model)
        except NotViolated:
            continue
        seconds = time.perf_counter() - started
        small = shrinking.history
        yield Shrunk(size, len(small), len(small.threads), shrinking.verdict.seconds, seconds, shrinking.minimal)
        found += 1
        if found == wanted:
            return


def row(title: str, some: list[Shrunk]) -> str:
    left, checks, seconds = [s.left for s in some], [s.check for s in some], [s.seconds for s in some]
    ratio = statistics.median(s.size / s.left for s in some)
    return (f"{title:>10}{len(some):>12}{statistics.median(left):>8g}{max(left):>7}{ratio:>14.0f}"
            f"{statistics.median(checks):>10.3f}{max(checks):>9.3f}{statistics.median(seconds):>10.3f}{max(seconds):>9.3f}"
            f"{sum(s.minimal for s in some):>10}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1.0, help="how many of the 100 violations")
    scale = parser.parse_args().scale
    Shrinking(generate("broken-drop", 4, 4_000, 8, 1), "sc")  # loads what was compiled before
    print(f"{'':>10}{'':>12}{'left':>15}{'ratio':>14}{'check, s':>19}{'shrink, s':>19}")
    print(f"{'operations':>10}{'violations':>12}{'median':>8}{'worst':>7}{'median':>14}{'median':>10}{'worst':>9}"
          f"{'median':>10}{'worst':>9}{'minimal':>10}")
    everything: list[Shrunk] = []
    for size, wanted in SIZES.items():
        some = list(measured(size, max(1, round(wanted * scale))))
        everything += some
        print(row(str(size), some), flush=True)
    print(row("all", everything))


if __name__ == "__main__":
    main()
