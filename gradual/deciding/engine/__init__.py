"""The engine: an order of all operations that a model allows, or why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from gradual.deadline import Deadline
from gradual.deciding import kernel
from gradual.deciding.engine import kernels, static, tables
from gradual.deciding.engine.plan import Plan
from gradual.deciding.engine.tables import Entry, get, put
from gradual.history import Column, History
from gradual.models.fit import Fit
from gradual.models.syntax import Nothing

BUDGET, PLAIN_BUDGET = 4_000_000, 40_000
"""Steps between looks at the deadline."""
PATIENCE = 200
"""Conflicts after which one of many small histories is left for a search of its own."""

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


def decide(history: History, fit: Fit, deadline: Deadline, *, extra: Sequence[tuple[int, int]] = (),
           compiled: bool | None = None) -> Outcome:
    """One history. `extra` edges hold besides those of the model."""
    if compiled is None:
        compiled = len(history) >= kernel.COMPILED_FROM
    return _Run(Plan(fit, [history]), compiled, deadline, extra).outcomes()[0]


def decide_many(histories: Sequence[History], fit: Fit, deadline: Deadline) -> list[Outcome]:
    """Many small histories in one call."""
    plan = Plan(fit, histories)
    return _Run(plan, True, deadline, (), PATIENCE).outcomes()


@cache
def _compiled() -> Any:
    from gradual.history import Builder

    kernel.say_when_new()
    builder = Builder("", "")
    builder.write("", 0, 0)
    nothing = _Run.__new__(_Run)
    nothing.prepare(Plan(Fit("", None, None, (), Nothing(), ()), [builder.build()]), False)
    examples = {"Batch": nothing._batch, "Building": nothing._building, "Tables": nothing._new_tables(),
                "Results": nothing._results}
    return kernel.compiled(("build", "decide"), (kernels, static), examples)


class _Run:
    """The tables of a batch, and the loop around the kernels: it looks at the deadline and makes room."""

    def __init__(self, plan: Plan, compiled: bool, deadline: Deadline, extra: Sequence[tuple[int, int]] = (),
                 patience: int = 1 << 62) -> None:
        self._kernels: Any = _compiled() if compiled else static
        self._deadline = deadline
        self.prepare(plan, not compiled, extra, patience)
        self._tables = self._build_first() if len(plan.histories) == 1 else self._new_tables()

    def prepare(self, plan: Plan, plain: bool, extra: Sequence[tuple[int, int]] = (), patience: int = 1 << 62) -> None:
        self._plain = plain
        self._batch = plan.batch(plain, extra, patience)
        self._histories = plan.histories
        self._operations = max(len(history) for history in plan.histories)
        self._locations = max(len(history.locations) for history in plan.histories)
        self._gatherers = len(self._batch.gatherer) - 1
        self._states = plan.states
        self._building = self._new_building()
        self._results = static.Results(self._rows("result", len(plan.histories), static.FIELDS),
                                       self._numbers(sum(map(len, plan.histories))))

    # --- tables

    def _rows(self, name: str, length: int, fields: dict[str, str] = tables.FIELDS) -> Any:
        return tables.rows(name, length, self._plain, fields)

    def _numbers(self, length: int) -> Any:
        return tables.numbers(length, self._plain)

    def _new_building(self, room: int = 1) -> static.Building:
        n, rows = self._operations, self._rows
        threads = max(len(history.threads) for history in self._histories)
        virtual = (self._states * n + (n // static.TOGETHER + 1) * self._gatherers) * min(room, 2) // 2
        virtual = max(virtual, len(self._batch.virtual) + 8)
        return static.Building(
            rows("edge", room * (3 * n + len(self._batch.given) + 8), static.FIELDS), self._numbers(n),
            self._numbers(threads + 2), rows("held_by", self._gatherers * (self._locations + 1), static.FIELDS),
            rows("cell", self._gatherers * n + 1, static.FIELDS), rows("seen", self._locations, static.FIELDS),
            self._numbers(n + virtual), self._numbers(self._states * n), self._numbers(virtual),
            rows("building", 1, static.FIELDS))

    def _build_first(self) -> tables.Tables:
        """Of a batch of one: its edges, so that the tables are as large as it needs."""
        room = 1
        while self._kernels.build(self._batch, self._building, 0) == static.FULL:
            room *= 2
            self._building = self._new_building(room)
        now = self._building.now[0]
        put(now, ready=static.NOT_LOADED)
        return self._new_tables(get(now, "nodes"), get(now, "edges"))

    def _new_tables(self, nodes: int | None = None, edges: int | None = None) -> tables.Tables:
        nodes = len(self._building.led) if nodes is None else nodes
        edges = len(self._building.edge) if edges is None else edges
        n, rows, numbers = self._operations, self._rows, self._numbers
        return tables.Tables(
            rows("node", nodes + 1), rows("slot", n + self._locations + 1), rows("place", self._locations),
            self._building.edge, numbers(edges), numbers(n), numbers(nodes), numbers(nodes), numbers(n),
            rows("search", 0), rows("origin", 0), rows("pair", 0), rows("literal", 0), numbers(0), numbers(0),
            numbers(0), numbers(0), numbers(0), numbers(1), rows("held", 0), rows("entry", 0), rows("passage", 0),
            rows("queue", 0), rows("now", 1))

    def _grow(self, answer: int) -> None:
        g = self._tables
        if answer == static.MORE_ROOM:
            room = 2 * len(self._building.edge) // (3 * self._operations)
            history = get(self._building.now[0], "history")
            self._building = self._new_building(room)
            put(self._building.now[0], history=history)
            self._tables = self._new_tables()._replace(entry=g.entry, passage=g.passage)
            put(self._tables.now[0], entries=get(g.now[0], "entries"), passages=get(g.now[0], "passages"))
        elif answer == kernels.MORE_SEARCH:
            self._tables = g._replace(search=self._rows("search", len(g.node)),
                                      origin=self._rows("origin", len(g.to)),
                                      queue=self._rows("queue", kernels.LOOK + 1))
        elif answer == kernels.MORE_PAIRS:
            self._tables = self._more_pairs(max(64, 2 * len(g.pair)))
        elif answer == kernels.MORE_CLAUSES:
            self._tables = g._replace(held=tables.longer(g.held, "held", 2 * (len(g.held) + len(g.pair)) + 64),
                                      clause=tables.longer(g.clause, "", 2 * len(g.clause) + 64))
        else:
            self._tables = g._replace(entry=tables.longer(g.entry, "entry", 2 * len(g.entry) + 64),
                                      passage=tables.longer(g.passage, "passage", 2 * len(g.passage) + 1024))

    def _more_pairs(self, length: int) -> tables.Tables:
        g, longer = self._tables, tables.longer
        return g._replace(
            pair=longer(g.pair, "pair", length), literal=longer(g.literal, "literal", 2 * length),
            bucket=self._numbers(4 * length), trail=longer(g.trail, "", length + 1),
            level=longer(g.level, "", length + 2), fresh=longer(g.fresh, "", length + 1),
            learnt=longer(g.learnt, "", length + 1))

    # --- the loop

    def outcomes(self) -> list[Outcome]:
        while True:
            put(self._tables.now[0], budget=PLAIN_BUDGET if self._plain else BUDGET)
            answer = self._kernels.decide(self._batch, self._building, self._tables, self._results)
            if answer == kernels.DONE:
                break
            self._deadline.check()
            if answer != kernels.PAUSE:
                self._grow(answer)
        return [self._outcome(h) for h in range(len(self._histories))]

    def _outcome(self, h: int) -> Outcome:
        row = self._results.result[h]
        status = STATUS[get(row, "status")]
        low, high = int(self._batch.start[h]), int(self._batch.start[h + 1])
        order = self._results.run[low:high] if status == CONSISTENT else None
        log = self._log(get(row, "entry"), get(row, "past")) if status == VIOLATED else ()
        return Outcome(status, order, log, get(row, "bad"), get(row, "conflicts"))

    def _log(self, first: int, past: int) -> list[Entry]:
        found: list[Entry] = []
        for entry in self._tables.entry[first:past]:
            passages = self._tables.passage[get(entry, "first"):get(entry, "past")]
            path = [(get(passage, "node"), get(passage, "by")) for passage in passages]
            found.append((get(entry, "kind"), get(entry, "before"), get(entry, "after"), path))
        return found


def static_edges(history: History, fit: Fit, *, compiled: bool) -> tuple[int, Column, Column, int]:
    """How many nodes there are (operations first), the static edges' starts and ends, and the read that coherence
    forbids, or -1."""
    run = _Run(Plan(fit, [history]), compiled, Deadline(None))
    now, edge = run._building.now[0], run._building.edge
    count = get(now, "edges")
    if compiled:
        return get(now, "nodes"), edge["start"][:count], edge["end"][:count], get(now, "bad")
    return (get(now, "nodes"), np.array([row.start for row in edge[:count]], dtype=np.int32),
            np.array([row.end for row in edge[:count]], dtype=np.int32), get(now, "bad"))
