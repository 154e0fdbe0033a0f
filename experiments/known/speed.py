"""What a total store order saves: the same large history decided with it and without.

    python -m experiments.known.speed [--operations 1000000] [--repeat 3]

Histories of the SC and the TSO machine, as issued and thread by thread; CPU seconds of the engine and of all of
`check`, certificate included, medians of runs that take turns in one process.
"""

from __future__ import annotations

import argparse
import time
from statistics import median

import numpy as np

from experiments.markdown import table
from gradual.deadline import NEVER
from gradual.deciding import engine
from gradual.deciding.pipeline import check
from gradual.history import History
from gradual.history.annotations import annotated
from gradual.history.reads_from import history_from_columns
from gradual.machines import generate
from gradual.models import load
from gradual.models.fit import fit

SHAPES = ((8, 64), (8, 256), (32, 256))
HEAD = ["machine", "threads × locations", "trace", "engine, s", "with order, s", "ratio", "check, s", "with order, s",
        "ratio", "conflicts", "with order"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--operations", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    asked = parser.parse_args()
    measured(generate("sc", 2, 1000, 2, 1, ordered=True), "sc", 1)  # which loads what is compiled
    rows = []
    for machine in ("sc", "tso"):
        for threads, locations in SHAPES:
            history = generate(machine, threads, asked.operations, locations, 1, ordered=True)
            for name, trace in (("as issued", history), ("by thread", by_thread(history))):
                shape = f"{threads} × {locations}"
                rows.append([machine.upper(), shape, name, *measured(trace, machine, asked.repeat)])
                print(f"{rows[-1]}", flush=True)
    print("\n".join(table(HEAD, rows, 3)))


def by_thread(history: History) -> History:
    """The same, one thread after the other."""
    order = np.argsort(history.thread, kind="stable")
    more = {name: column[order] for name, column in history.annotations().items()}
    columns = (getattr(history, name)[order] for name in ("thread", "kind", "location", "read", "written", "line",
                                                          "tick"))
    return history_from_columns(history.name, history.file, history.threads, history.locations, *columns,
                                history.initial, history.final_value, history.final_line, annotated(**more))


def measured(history: History, model: str, repeat: int) -> list[str]:
    fits = fit(load(model))
    ways = history.knowing(()), history
    engines: list[list[float]] = [[], []]
    checks: list[list[float]] = [[], []]
    conflicts = [0, 0]
    for _ in range(repeat):
        for way, one in enumerate(ways):
            started = time.process_time()
            conflicts[way] = engine.decide(one, fits, NEVER).conflicts
            engines[way].append(time.process_time() - started)
            started = time.process_time()
            assert check(one, model, engine="schedule", unordered=False).verdict == "consistent"
            checks[way].append(time.process_time() - started)
    cells = []
    for seconds in (engines, checks):
        without, with_order = map(median, seconds)
        cells += [f"{without:.2f}", f"{with_order:.2f}", f"{without / with_order:.2f}"]
    return [*cells, *map(str, conflicts)]


if __name__ == "__main__":
    main()
