"""Bytes per operation of every table that a check makes, and what each stage takes.

    python -m experiments.bench.sizes [--operations 1000000] [--models tso wmo]

One history (8 threads, 256 locations, consistent) is read, decided and certified in this process. Tables are told as
they are allocated, rows that were never touched included; stages with CPU seconds and with how much the resident memory
of the process grew, at its peak, beyond what it was before. A stage that is smaller than one before it shows nothing.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from experiments.bench.workloads import WARM_UP, Workload
from experiments.markdown import number, table
from experiments.trees import ROOT

TRACES = ROOT / "build" / "bench"
SHOWN = 0.05
"""Bytes per operation from which a table is told."""


def peak() -> int:
    """Bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


class Stages:
    """Seconds and growth of what is done one after the other."""

    def __init__(self, operations: int) -> None:
        self._operations = operations
        self.rows: list[list[str]] = []

    def do(self, name: str, work: Callable[[], Any]) -> Any:
        before, started = peak(), time.process_time()
        result = work()
        seconds, grown = time.process_time() - started, (peak() - before) / self._operations
        self.rows.append([name, number(seconds), number(grown)])
        return result


def tables(owner: str, of: Any) -> Iterator[tuple[str, str, int]]:
    """The arrays of a history or of a NamedTuple of tables."""
    for name, value in (vars(of) if hasattr(of, "__dict__") else of._asdict()).items():
        if (size := getattr(value, "nbytes", None)) is not None:
            yield owner, name, size


def report(workload: Workload) -> Iterator[str]:
    import gradual
    from gradual.deadline import NEVER
    from gradual.deciding import engine
    from gradual.deciding.engine.run import Run
    from gradual.evidence import certificate
    from gradual.evidence.verdict import Witness
    from gradual.models import load
    from gradual.models.fit import fit

    def read() -> Any:
        return next(iter(gradual.read(workload.file(TRACES, "parquet"))))

    model = load(workload.model)
    for history in gradual.read(WARM_UP[workload.model].file(TRACES, "parquet")):  # so that everything is loaded
        gradual.check(history, model)  # type: ignore[arg-type]
    stages = Stages(workload.operations)
    history = stages.do("reading", read)
    taken = model.takes(history)
    run = stages.do("planning", lambda: Run([taken], fit(model), True))
    outcome = stages.do("deciding", lambda: engine._outcomes(run, engine.load(), NEVER, engine.BUDGET)[0])
    stages.do("certifying", lambda: certificate.check(history, model, Witness(outcome.order)))
    yield from (f"## {model}, {number(workload.operations)} operations", "")
    yield from table(["stage", "CPU s", "bytes per operation more"], stages.rows, 1)
    found = [*tables("history", history), *tables("engine: batch", run.batch), *tables("engine: static", run.building),
             *tables("engine: tables", run.tables), *tables("engine: result", run.results)]
    once = {(owner, name): size / workload.operations for owner, name, size in found if (owner, name) !=
            ("engine: tables", "edge")}  # which is that of the static edges
    yield from ("", *table(["of", "table", "bytes per operation"],
                           [[owner, name, number(size)] for (owner, name), size in once.items() if size >= SHOWN], 2))
    for owner in dict.fromkeys(owner for owner, _ in once):
        yield f"- {owner}: {number(sum(size for (of, _), size in once.items() if of == owner))} in all"
    yield ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--operations", type=int, default=1_000_000, metavar="N")
    parser.add_argument("--models", nargs="+", default=["tso", "wmo"], metavar="MODEL")
    asked = parser.parse_args()
    for model in asked.models:
        print("\n".join(report(Workload(model, "consistent", "as issued", asked.operations, 8, 256))), flush=True)


if __name__ == "__main__":
    main()
