"""The engine: an order of all operations that a model allows, or why there is none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from gradual import compiler
from gradual.compiler.waiting import in_time
from gradual.deadline import NEVER, Deadline
from gradual.deciding.engine import kernels, static
from gradual.deciding.engine.plan import Edge
from gradual.deciding.engine.run import ENDLESS, Run
from gradual.deciding.engine.tables import Entry, get, put
from gradual.history import Builder, Column, History
from gradual.models.fit import Fit
from gradual.models.syntax import Nothing

Kernel = Callable[..., int]

BUDGET, PLAIN_BUDGET = 4_000_000, 40_000
"""Steps between looks at the deadline."""
PATIENCE = 200
"""Conflicts after which one of many small histories is left for a search of its own."""

PROGRAM_ORDER = kernels.PO
"""The kind of a static edge that is neither reads-from nor store order."""
CONSISTENT, VIOLATED, UNDECIDED = "consistent", "violation", "undecided"
STATUS = {kernels.DONE: CONSISTENT, kernels.VIOLATION: VIOLATED, static.INCONSISTENT: VIOLATED,
          static.UNDECIDED: UNDECIDED}


@dataclass(frozen=True)
class Outcome:
    """How the schedule of one history ended."""

    status: str
    order: Any = None
    """Of a consistent one: the operations, in an order that the model allows."""
    log: Sequence[Entry] = ()
    bad: int = -1
    """The read that coherence alone forbids, or -1."""
    conflicts: int = 0


def decide(history: History, fit: Fit, deadline: Deadline, *, extra: Sequence[Edge] = (),
           compiled: bool | None = None) -> Outcome:
    """One history. `extra` edges hold besides those of the model."""
    if compiled is None:
        compiled = compiler.pays(len(history))
    decide_all = _kernel(compiled, deadline)
    run = Run([history], fit, compiled, extra=extra)
    deadline.check()
    return _outcomes(run, decide_all, deadline, BUDGET if compiled else PLAIN_BUDGET)[0]


def decide_many(histories: Sequence[History], fit: Fit, deadline: Deadline, patience: int = PATIENCE) -> list[Outcome]:
    """Many small histories in one call, compiled. Where that would take more than patience: undecided."""
    return _outcomes(Run(histories, fit, True, patience=patience), _kernel(True, deadline), deadline, BUDGET)


def static_edges(history: History, fit: Fit) -> tuple[Column, int]:
    """The static edges, start, end and kind, between nodes of which the operations are the first; and the read that
    coherence forbids, or -1."""
    compiled = compiler.pays(len(history))
    decide_all = _kernel(compiled, NEVER)
    run = Run([history], fit, compiled)
    nowhere = run.new_tables()  # no room for any node: the kernel stops once the edges are there
    while decide_all(run.batch, run.building, nowhere, run.results) == static.MORE_ROOM and get(
            run.building.now[0], "full"):
        run.more_room()
    now = run.building.now[0]
    table = run.building.edge[:get(now, "edges")]
    columns = [table[name] if compiled else [get(edge, name) for edge in table] for name in ("start", "end", "by")]
    return np.stack([np.asarray(column, dtype=np.int32) for column in columns], axis=1), get(now, "bad")


def _outcomes(run: Run, decide_all: Kernel, deadline: Deadline, budget: int) -> list[Outcome]:
    """Call the kernel until all is decided; look at the deadline, and make room, in between."""
    run.tables = run.new_tables()
    while True:
        put(run.tables.now[0], budget=budget)
        answer = decide_all(run.batch, run.building, run.tables, run.results)
        if answer == kernels.DONE:
            return [_outcome(run, h) for h in range(len(run.histories))]
        deadline.check()
        if answer != kernels.PAUSE:
            run.grow(answer)


def _outcome(run: Run, h: int) -> Outcome:
    row = run.results.result[h]
    status = STATUS[get(row, "status")]
    order = _order(run, h) if status == CONSISTENT else None
    log = _log(run, get(row, "entry"), get(row, "past")) if status == VIOLATED else ()
    return Outcome(status, order, log, get(row, "bad"), get(row, "conflicts"))


def _order(run: Run, h: int) -> Any:
    rows = run.results.run[get(run.batch.history[h], "start"):get(run.batch.history[h + 1], "start")]
    return [row.operation for row in rows] if isinstance(rows, list) else rows["operation"]


def _log(run: Run, first: int, past: int) -> list[Entry]:
    found: list[Entry] = []
    for entry in run.tables.entry[first:past]:
        passages = run.tables.passage[get(entry, "first"):get(entry, "past")]
        path = [(get(passage, "node"), get(passage, "by")) for passage in passages]
        found.append((get(entry, "kind"), get(entry, "before"), get(entry, "after"), path))
    return found


def _kernel(compiled: bool, deadline: Deadline) -> Kernel:
    return in_time(load, deadline) if compiled else static.decide


@cache
def load() -> Kernel:
    """The compiled kernel."""
    run = examples()
    contexts = {"Batch": run.batch, "Building": run.building, "Tables": run.new_tables(), "Results": run.results}
    return compiler.compiled("decide", (kernels, static), contexts)


def examples() -> Run:
    """A run of next to nothing, whose tables have the types of all others."""
    builder = Builder("", "")
    builder.write("", 0, 0)
    return Run([builder.build()], Fit("", None, False, None, (), Nothing(), ()), True)


__all__ = ["ENDLESS", "Outcome", "decide", "decide_many", "static_edges"]
