"""A model's fit and some histories, as the batch that the kernels take."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gradual.deciding.engine import static
from gradual.deciding.engine.kernels import PO
from gradual.deciding.engine.tables import rows
from gradual.history import Column, History
from gradual.models.fit import Fit
from gradual.models.matrix import Matrices
from gradual.models.regular import Transition
from gradual.models.sets import members
from gradual.models.syntax import Expression, Name, Nothing

ALONG = {"po": static.ALONG_PO, "po-loc": static.ALONG_PO_LOC}
READING = {"rf": (1, 1), "rfi": (1, 0), "rfe": (0, 1)}
"""Within a thread, across threads."""

COLUMNS = ("kind", "thread", "location", "source")

Edge = tuple[int, int]


class Plan:
    """The parts of a batch that come from the model, for histories that have what it speaks of."""

    def __init__(self, fit: Fit, histories: Sequence[History]) -> None:
        self.histories = histories
        self.sets: list[Expression] = []
        self._masks: dict[Expression, Column] = {}
        self.transitions = self._possible(fit.transitions)
        self.coherent = static.INCOHERENT_TOO if fit.coherence is None else (
            static.OWN_KEPT if self._keeps_own_writes() else static.COHERENT)
        self._given: list[tuple[int, int, int]] = []
        self._virtual: dict[tuple[int, int], int] = {}
        if not isinstance(fit.irregular, Nothing):
            self._pair_by_pair(fit.irregular)
        for transition in self.transitions:
            if transition.step.relation not in ALONG and not _plain_reading(transition):
                self._one_by_one(transition)

    def _mask(self, test: Expression) -> Column:
        if test not in self._masks:
            self._masks[test] = np.concatenate([members(history, test) for history in self.histories])
        return self._masks[test]

    def _possible(self, transitions: Iterable[Transition]) -> list[Transition]:
        """Those whose sets have members here, as far as their states can be reached and left."""
        found = [t for t in transitions if self._mask(t.before).any() and self._mask(t.after).any()]
        while True:
            entered, left = {0} | {t.end for t in found}, {0} | {t.start for t in found}
            kept = [t for t in found if t.start in entered and t.end in left]
            if len(kept) == len(found):
                return found
            found = kept

    def _keeps_own_writes(self) -> bool:
        """Does program order keep a thread's writes to one location in order by itself?"""
        writes = self._mask(Name("W"))
        return any(t.start == t.end == 0 and t.step.relation in ALONG and not t.step.inverse
                   and bool((self._mask(t.before) | ~writes).all()) and bool((self._mask(t.after) | ~writes).all())
                   for t in self.transitions)

    # --- edges that are made here: of relations that are given by their pairs

    def _alone(self) -> History:
        assert len(self.histories) == 1, "pairs are given for one history at a time"
        return self.histories[0]

    def _pair_by_pair(self, term: Expression) -> None:
        history = self._alone()
        matrix = Matrices(history).of(term)[:len(history), :len(history)]
        self._given += [(a, b, PO) for a, b in np.argwhere(matrix).tolist()]

    def _one_by_one(self, transition: Transition) -> None:
        before, after = self._mask(transition.before), self._mask(transition.after)
        for a, b in pairs_of(self._alone(), transition.step.relation).tolist():
            if transition.step.inverse:
                a, b = b, a
            if before[a] and after[b]:
                self._given.append((self._node(transition.start, a), self._node(transition.end, b), PO))

    def _node(self, state: int, operation: int) -> int:
        if state == 0:
            return operation
        return self._virtual.setdefault((state, operation), len(self._alone()) + len(self._virtual))

    # --- as tables

    def number(self, test: Expression) -> int:
        if test not in self.sets:
            self.sets.append(test)
        return self.sets.index(test)

    def batch(self, plain: bool, extra: Sequence[Edge] = (), patience: int = 1 << 62) -> static.Batch:
        """Everything together. `extra` edges may be given for a batch of one."""
        gatherer, target = self._gatherers(plain)
        reading = self._readings(plain)
        given = [*self._given, *((a, b, PO) for a, b in extra)]
        sizes = np.cumsum([0, *map(len, self.histories)])
        places = np.cumsum([0, *(len(history.locations) for history in self.histories)])
        return static.Batch(
            self._table("operation", plain, rank=np.concatenate([rank(history) for history in self.histories]),
                        tags=self._tags(), **{name: self._joined(name) for name in COLUMNS}),
            self._table("location", plain, final=self._joined("final")),
            self._table("history", plain, start=sizes, place=places), gatherer, target, reading,
            _filled("given", given, plain), _filled("virtual", list(self._virtual), plain),
            _filled("asked", [(self.coherent, patience)], plain))

    def _joined(self, name: str) -> Column:
        return np.concatenate([getattr(history, name) for history in self.histories])

    def _tags(self) -> Column:
        tags = np.zeros(sum(map(len, self.histories)), dtype=np.int64)
        for bit, test in enumerate(self.sets):
            tags |= self._mask(test).astype(np.int64) << bit
        return tags

    def _table(self, name: str, plain: bool, **columns: Column) -> Any:
        table = rows(name, len(next(iter(columns.values()))), plain, static.FIELDS)
        for field, column in columns.items():
            if plain:
                for row, value in zip(table, column.tolist(), strict=True):
                    setattr(row, field, value)
            else:
                table[field] = column
        return table

    def _gatherers(self, plain: bool) -> tuple[Any, Any]:
        groups: dict[tuple[int, int, int], list[tuple[int, int]]] = {}
        for t in self.transitions:
            if t.step.relation in ALONG:
                key = ALONG[t.step.relation], t.start, self.number(t.before)
                groups.setdefault(key, []).append((t.end, self.number(t.after)))
        gatherers: list[tuple[int, ...]] = []
        targets: list[tuple[int, ...]] = []
        for key, ends in groups.items():
            gatherers.append((*key, len(targets)))
            targets += ends
        gatherers.append((0, 0, 0, len(targets)))
        return _filled("gatherer", gatherers, plain), _filled("target", targets, plain)

    def _readings(self, plain: bool) -> Any:
        return _filled("reading", [(*READING[t.step.relation], self.number(t.before), self.number(t.after))
                                   for t in self.transitions if _plain_reading(t)], plain)

    @property
    def states(self) -> int:
        return max((t.end for t in self.transitions), default=0)


def _plain_reading(transition: Transition) -> bool:
    return transition.step.relation in READING and not transition.step.inverse and (
        transition.start == transition.end == 0)


def _filled(name: str, values: Sequence[Sequence[int]], plain: bool) -> Any:
    fields = [field.partition(":")[0] for field in static.FIELDS[name].split()]
    table = rows(name, len(values), plain, static.FIELDS)
    for row, value in zip(table, values, strict=True):
        for field, number in zip(fields, value, strict=True):
            if plain:
                setattr(row, field, number)
            else:
                row[field] = number
    return table


def pairs_of(history: History, relation: str) -> Column:
    """The pairs of a relation between operations."""
    if relation in READING:
        reads = history.reads
        sources = history.source[reads]
        within, across = READING[relation]
        same = history.thread[sources] == history.thread[reads]
        kept = (sources >= 0) & np.where(same, within == 1, across == 1)
        return np.stack([sources[kept], reads[kept]], axis=1)
    found = {"addr": history.addr, "data": history.data, "ctrl": history.ctrl, "rmw": history.pair}[relation]
    return np.zeros((0, 2), dtype=np.int32) if found is None else found


def rank(history: History) -> Column:
    """Where there is a choice, the write of lowest rank goes first: in the order of the trace, where reads come after
    what they read in it; else by how far in its thread it stands."""
    late = history.source > np.arange(len(history))
    if late.sum() * 100 <= len(history):
        return np.arange(len(history))
    order = np.argsort(history.thread, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(history.thread[order]) != 0])
    place = np.arange(len(order)) - np.repeat(starts, np.diff(np.r_[starts, len(order)]))
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = place
    return ranks

