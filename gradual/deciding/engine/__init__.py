"""The engine: an order of all operations that a model allows, or why there is none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from gradual import compiler
from gradual.compiler.records import get, put, told
from gradual.compiler.waiting import in_time
from gradual.deadline import NEVER, Deadline, Pace
from gradual.deciding.engine import clock, kernels, static
from gradual.deciding.engine.choices import Candidates
from gradual.deciding.engine.plan import Edge
from gradual.deciding.engine.run import ENDLESS, Run
from gradual.deciding.engine.tables import Entry
from gradual.evidence.verdict import Origin
from gradual.history import INITIAL, Builder, Column, History
from gradual.models.fit import Fit
from gradual.models.syntax import Nothing

Kernel = Callable[..., int]

BUDGET, PLAIN_BUDGET = 500_000, 20_000
"""Steps until the first look at the deadline."""
PATIENCE = 200
"""Conflicts after which one of many small histories is left for a search of its own."""

PROGRAM_ORDER = kernels.PO
"""The kind of a static edge that is neither reads-from nor store order."""
CONSISTENT, VIOLATED, UNDECIDED = "consistent", "violation", "undecided"
STATUS = {kernels.DONE: CONSISTENT, kernels.VIOLATION: VIOLATED, static.INCONSISTENT: VIOLATED,
          static.UNDECIDED: UNDECIDED}


class Outcome(NamedTuple):
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


def decide_many(run: Run, deadline: Deadline) -> list[Outcome]:
    """Many small histories in one call, compiled. Where that would take more than the run's patience: undecided."""
    return _outcomes(run, _kernel(True, deadline), deadline, BUDGET)


class Choosing:
    """One history of which it is open what some reads returned: runs in which each finds what it may have returned, one
    after the other, as long as somebody says what is wrong with them."""

    def __init__(self, history: History, fit: Fit, candidates: Candidates, deadline: Deadline) -> None:
        compiled = compiler.pays(len(history))
        self._history, self._deadline = history, deadline
        self._decide_all = _kernel(compiled, deadline)
        self._budget = BUDGET if compiled else PLAIN_BUDGET
        self._run = Run([history], fit, compiled, candidates=candidates)
        self.origins = [Origin(reader, write) for reader in sorted(candidates) for write in candidates[reader]]
        """The candidates, as the log numbers them."""
        self._number = {origin: number for number, origin in enumerate(self.origins)}

    def run(self) -> Outcome:
        """The next run, or why there is none."""
        return _outcomes(self._run, self._decide_all, self._deadline, self._budget)[0]

    def returned(self) -> dict[int, int]:
        """What the open reads returned in the run, and which of the writes that may be last came last."""
        g, found, last = self._run.tables, dict[int, int](), dict[int, int]()
        for row in g.open[:-1]:
            if (node := get(row, "node")) >= 0:
                found[node] = read if (read := get(row, "read")) < len(self._history) else INITIAL
        for number, (reader, write, _) in enumerate(self.origins):
            if reader >= len(self._history) and get(g.pair[number], "value") != 2 * number + 1:
                place = get(g.node[write], "place")
                if place > last.get(reader, -1):
                    found[reader], last[reader] = write, place
        return found

    def exclude(self, origins: Iterable[Origin]) -> None:
        """These do not go together: the next run is without one of them."""
        g = self._run.tables
        numbers = [self._number[origin] for origin in origins]
        for place, number in enumerate(numbers):
            put(g.pair[place], learnt=2 * number + 1)
        put(g.now[0], learnt=len(numbers), phase=kernels.TOLD)
        put(self._run.building.now[0], history=0, ready=static.LOADED)


def static_edges(history: History, fit: Fit) -> tuple[Column, int]:
    """The static edges, start, end and kind, between nodes of which the operations are the first; and the read that
    coherence forbids, or -1."""
    compiled = compiler.pays(len(history))
    decide_all = _kernel(compiled, NEVER)
    run = Run([history], fit, compiled)
    nowhere = run.tables  # no room for any node: the kernel stops once the edges are there
    while decide_all(run.batch, run.building, nowhere, run.results) == static.MORE_ROOM and get(
            run.building.now[0], "full"):
        run.more_room()
    now = run.building.now[0]
    table = run.building.edge[:get(now, "edges")]
    columns = [table[name] if compiled else [get(edge, name) for edge in table] for name in ("start", "end", "by")]
    return np.stack([np.asarray(column, dtype=np.int32) for column in columns], axis=1), get(now, "bad")


def _outcomes(run: Run, decide_all: Kernel, deadline: Deadline, budget: int) -> list[Outcome]:
    """Call the kernel until all is decided; look at the deadline, and make room, in between."""
    pace = Pace(budget)
    while True:
        put(run.tables.now[0], budget=pace.steps)
        answer = decide_all(run.batch, run.building, run.tables, run.results)
        if answer == kernels.DONE:
            starts = [start for start, *_ in told(run.batch.history)]
            return [_outcome(run, starts[h], starts[h + 1], row) for h, row in enumerate(told(run.results.result))]
        pace.look(deadline, all_taken=answer == kernels.PAUSE)
        if answer != kernels.PAUSE:
            run.grow(answer)


def _outcome(run: Run, start: int, end: int, row: tuple[int, ...]) -> Outcome:
    how, bad, entry, past, conflicts = row
    status = STATUS[how]
    order = _order(run, start, end) if status == CONSISTENT else None
    log = _log(run, entry, past) if status == VIOLATED else ()
    return Outcome(status, order, log, bad, conflicts)


def _order(run: Run, start: int, end: int) -> Any:
    rows = run.results.run[start:end]
    return [row.operation for row in rows] if isinstance(rows, list) else rows["operation"]


def _log(run: Run, first: int, past: int) -> list[Entry]:
    entries = told(run.tables.entry[first:past])
    if not entries:
        return []
    low = entries[0][3]
    passages = [(node, by) for node, by in told(run.tables.passage[low:entries[-1][4]])]
    return [(kind, before, after, passages[begin - low:end - low]) for kind, before, after, begin, end in entries]


def _kernel(compiled: bool, deadline: Deadline) -> Kernel:
    return in_time(load, deadline) if compiled else static.decide


@cache
def load() -> Kernel:
    """The compiled kernel."""
    run = examples()
    contexts = {"Batch": run.batch, "Building": run.building, "Tables": run.new_tables(), "Results": run.results}
    return compiler.compiled("decide", (kernels, clock, static), contexts)


def examples() -> Run:
    """A run of next to nothing, whose tables have the types of all others."""
    builder = Builder("", "")
    builder.write("", 0, 0)
    return Run([builder.build()], Fit("", None, False, None, (), Nothing(), ()), True)


__all__ = ["ENDLESS", "PATIENCE", "Choosing", "Outcome", "Run", "decide", "decide_many", "static_edges"]
