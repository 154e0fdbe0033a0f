"""Saturation: everything that every store order must contain, in near-linear time.

The least ww with R = (ppo ∪ wr_e ∪ ww ∪ rw)⁺ and R_WW ∪ cf[R] ⊆ ww. It contains pww (SC) and wpww (TSO),
and lies in every store order of the model. Reachability is kept as vector clocks over chains
(`kernels.py`): memory is linear in operations × chains, time near-linear in practice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, Protocol

import numpy as np

from gradual.deciding import kernels
from gradual.deciding.proof import Contradiction, Graph, edge_kinds, location_cycle, prove
from gradual.evidence.verdict import Cycle, Pair
from gradual.history import Column, History
from gradual.models.model import Model

MEMORY = 4 << 30
"""Bytes that any one table may take: beyond it the answer is unknown."""
COMPILED_FROM = 3000
"""Operations from which loading numba pays; below it the kernels run as plain Python."""

MODEL_NUMBER = {"SC": kernels.SC, "TSO": kernels.TSO, "PSO": kernels.PSO}

Mark = tuple[int, int]


class Saturation(Graph):
    """The order of a history without thin-air or own-future reads. `run` derives it.

    `assume` adds to it for a search, and raises Contradiction when that cannot be.

    compiled: True or False to choose the kernels, None to go by the size.
    """

    def __init__(self, history: History, model: Model, *, compiled: bool | None = None) -> None:
        self.history = history
        self.model = model
        self._kernels = _load(history, model, compiled)
        self._plain = self._kernels is kernels
        self._shape = kernels.shape(MODEL_NUMBER[model.name], len(history), max(len(history.threads), 1),
                                    max(len(history.locations), 1))
        _, _, self._threads, self._locations, self._chains, self._width = self._shape
        if len(history) * self._width * 4 > MEMORY:
            raise MemoryError
        self._tables = self._new_tables()
        self._contradicted = False

    def run(self) -> Cycle | None:
        """Derive everything that follows. Returns the cycle when that is too much for any store order."""
        try:
            self._prepare()
            self._saturate()
        except Contradiction as contradiction:
            self._contradicted = True
            return contradiction.cycle
        return None

    # --- questions

    def precedes(self, a: int, b: int) -> bool:
        """Does write a come before write b of the same location?"""
        op, row = self._tables.op, self._tables.row
        known = row[b * self._width + self._chains + op[a * kernels.FIELDS + kernels.THREAD]]
        return bool(known > op[a * kernels.FIELDS + kernels.INDEX])

    def ordered_pairs(self) -> int:
        """How many pairs of writes to one location are ordered (after a contradiction: were, by then)."""
        if not self._contradicted:
            self._complete()
        return int(self._kernels.ordered_pairs(self._shape, self._tables.op, self._tables.row))

    def pairs(self) -> list[Pair]:
        """The partial store order, transitively closed. Quadratic: for small histories."""
        self._complete()
        return [(v, w) for v, w in self._write_pairs() if self.precedes(v, w)]

    def unordered(self) -> Iterator[Pair]:
        """The pairs of writes to one location that are still open, in trace order."""
        self._complete()
        for v, w in self._write_pairs():
            if v < w and not self.precedes(v, w) and not self.precedes(w, v):
                yield v, w

    def _write_pairs(self) -> Iterator[Pair]:
        location = self.history.location.tolist()
        at: dict[int, list[int]] = {}
        for w in self.history.writes.tolist():
            at.setdefault(location[w], []).append(w)
        for v in self.history.writes.tolist():
            for w in at[location[v]]:
                if v != w:
                    yield v, w

    # --- assuming and taking back

    def mark(self) -> Mark:
        count = self._tables.count
        if count[kernels.TRAIL] == kernels.NONE:
            count[kernels.TRAIL] = 0
        return int(count[kernels.TRAIL]), int(count[kernels.EDGES])

    def undo(self, mark: Mark) -> None:
        t = self._tables
        self._kernels.undo(self._shape, t.op, t.row, t.edge, t.queue, t.trail, t.count, *mark)

    def assume(self, before: int, after: int) -> None:
        """Put `before` first and draw every consequence."""
        self._run(lambda t: self._kernels.add(
            self._shape, t.op, t.row, t.edge, t.queue, t.trail, t.count, kernels.WW, before, after, kernels.ASSUMED))
        self._run(lambda t: self._kernels.follow(
            self._shape, t.op, t.row, t.edge, t.members, t.slots, t.readers, t.event, t.queue, t.trail, t.count))

    def force(self, before: int, after: int) -> bool:
        """Put `before` first, which the model leaves open. False, and to be taken back, when that cannot be.

        PSO keeps no clock of plain writes: under it, True promises nothing.
        """
        added = self._retry(lambda t: self._kernels.add(
            self._shape, t.op, t.row, t.edge, t.queue, t.trail, t.count, kernels.PO, before, after, kernels.ASSUMED))
        return added == kernels.DONE and self._retry(lambda t: self._kernels.follow(
            self._shape, t.op, t.row, t.edge, t.members, t.slots, t.readers, t.event, t.queue, t.trail, t.count,
        )) == kernels.DONE

    def settle(self) -> None:
        """All that was assumed or forced stays: forget how to take it back."""
        self._tables.count[kernels.TRAIL] = 0

    # --- the fixpoint

    def _prepare(self) -> None:
        final = self._column(self.history.final) if len(self.history.final) else self._new(1, -1)
        answer = self._retry(lambda t: self._kernels.prepare(
            self._shape, t.op, t.edge, t.members, t.slots, t.readers, t.event, t.order, t.scratch, final, t.count))
        if answer == kernels.CYCLE:
            raise Contradiction(location_cycle(self.history, int(self._tables.count[kernels.CLOSING_FROM])))

    def _saturate(self, order: Any = None) -> None:
        self._run(lambda t: self._kernels.saturate(
            self._shape, t.op, t.row, t.edge, t.members, t.slots, t.readers, t.event,
            t.order if order is None else order, t.queue, t.trail, t.count))

    def _complete(self) -> None:
        """What PSO's operations know of each other is complete only after a round in topological order."""
        if self.model.name == "PSO":
            t = self._tables
            order = self._new(len(self.history))
            self._kernels.arrange(self._shape, t.op, t.edge, order, t.scratch, t.count)
            self._kernels.touch(self._shape, t.op)
            self._saturate(order)

    def _run(self, step: Callable[[kernels.Tables], int]) -> None:
        if self._retry(step) == kernels.CYCLE:
            count = self._tables.count
            kind = edge_kinds[count[kernels.CLOSING_TYPE]]
            raise Contradiction(prove(self, kind, int(count[kernels.CLOSING_FROM]), int(count[kernels.CLOSING_TO])))

    def _retry(self, step: Callable[[kernels.Tables], int]) -> int:
        while (answer := step(self._tables)) == kernels.FULL:
            self._grow()
        return answer

    # --- storage

    def _new_tables(self) -> kernels.Tables:
        n, new = len(self.history), self._new
        groups = self._locations * self._threads
        events = (n + 1) * kernels.EVENT_FIELDS + groups if self.model.name == "PSO" else 1
        return kernels.Tables(
            op=self._column(operation_table(self.history)), row=self._rows(),
            edge=new((4 * n + 64) * kernels.EDGE_FIELDS),
            members=new(groups + 1), slots=new((n + 1) * kernels.SLOT_FIELDS),
            readers=new(n * kernels.READER_FIELDS), event=new(events), order=new(n), queue=new(n),
            scratch=new(max((self._chains + self._threads) * (self._locations + 1) + 3 * self._threads, n)),
            trail=new(64 * (self._width + 1)), count=new(kernels.COUNTS))

    def _rows(self) -> Any:
        """Nothing is before anything (clock, events), nothing is known (counts)."""
        row = np.full((len(self.history), self._width), kernels.NONE, dtype=np.int32)
        row[:, self._chains:self._chains + self._threads] = 0
        return self._column(row.ravel())

    def _new(self, length: int, value: int = 0) -> Any:
        if self._plain:
            return [value] * length
        return np.full(length, value, dtype=np.int32) if value else np.zeros(length, dtype=np.int32)

    def _column(self, column: Column) -> Any:
        return column.tolist() if self._plain else column.astype(np.int32, copy=False)

    def _grow(self) -> None:
        """Twice the room for edges or for the trail, whichever is full."""
        t = self._tables
        if t.count[kernels.EDGES] * kernels.EDGE_FIELDS >= len(t.edge):
            self._tables = t._replace(edge=self._doubled(t.edge))
        else:
            self._tables = t._replace(trail=self._doubled(t.trail))

    def _doubled(self, table: Any) -> Any:
        if len(table) * 8 > MEMORY:
            raise MemoryError
        return table + [0] * len(table) if self._plain else np.concatenate([table, np.zeros_like(table)])

    # --- as a graph of edges with times, for proofs

    @property
    def base_edges(self) -> int:
        return int(self._tables.count[kernels.BASE])

    def out(self, operation: int) -> Iterator[tuple[int, int, int]]:
        op, edge = self._tables.op, self._tables.edge
        k = op[operation * kernels.FIELDS + kernels.HEAD]
        while k != kernels.NONE:
            at = k * kernels.EDGE_FIELDS
            yield int(edge[at + kernels.TYPE]), int(edge[at + kernels.TO]), int(k)
            k = edge[at + kernels.NEXT]

    def via(self, edge: int) -> int:
        return int(self._tables.edge[edge * kernels.EDGE_FIELDS + kernels.VIA])

    def knows_to_reach(self, a: int, b: int) -> bool:
        op, row = self._tables.op, self._tables.row
        chain, pos = op[a * kernels.FIELDS + kernels.CHAIN], op[a * kernels.FIELDS + kernels.POS]
        return a == b or chain == kernels.NONE or bool(row[b * self._width + chain] >= pos)


class Columns(Protocol):
    """What the kernels want to know of operations; a History has it."""

    @property
    def thread(self) -> Column: ...
    @property
    def kind(self) -> Column: ...
    @property
    def location(self) -> Column: ...
    @property
    def source(self) -> Column: ...


def operation_table(columns: Columns) -> Column:
    """The kernels' table `op`, as far as the history fills it."""
    op = np.zeros((len(columns.kind), kernels.FIELDS), dtype=np.int32)
    op[:, kernels.THREAD] = columns.thread
    op[:, kernels.KIND] = columns.kind
    op[:, kernels.LOCATION] = columns.location
    op[:, kernels.SOURCE] = columns.source
    return op.ravel()


def _load(history: History, model: Model, compiled: bool | None) -> ModuleType:
    if compiled is None:
        cells = len(history) * len(history.threads) * (2 if model.name == "TSO" else 1)
        compiled = len(history) >= COMPILED_FROM or cells >= 16 * COMPILED_FROM
    if not compiled:
        return kernels
    from gradual.deciding import compiled as module

    module.say_when_new()
    return module
