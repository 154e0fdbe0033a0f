"""A model's fit and some histories, as the batch that the kernels take."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gradual.deciding.engine import static
from gradual.deciding.engine.tables import rows
from gradual.history import FENCE, READ, RMW, Column, History
from gradual.models.fit import Fit
from gradual.models.matrix import Matrices
from gradual.models.regular import AGAIN, ANEW, NEXT, Transition
from gradual.models.sets import members
from gradual.models.syntax import Expression, Name, Nothing
from gradual.models.times import NEVER, ends, known_begins

ALONG = {"po": static.ALONG_PO, "po-loc": static.ALONG_PO_LOC}
READING = {"rf": (1, 1), "rfi": (1, 0), "rfe": (0, 1)}
"""Within a thread, across threads."""

PRUNED = 3
"""How often edges are looked through for those that are of no use."""
COLUMNS = ("kind", "thread", "location", "source")

Edge = tuple[int, int]


class Plan:
    """The parts of a batch that come from the model, for histories that have what it speaks of.

    Operations are numbered through all histories here; the node of an operation in a state of the automaton has the
    number of the operation, plus that of the state times all operations.
    """

    def __init__(self, fit: Fit, histories: Sequence[History]) -> None:
        self.histories = histories
        self.sets: list[Expression] = []
        self._starts = np.cumsum([0, *map(len, histories)])
        self._masks: dict[Expression, Column] = {}
        self._pairs: dict[str, Column] = {}
        self.transitions = self._possible(fit.transitions)
        self.states = max((t.end for t in self.transitions), default=0)
        self.coherent = self._coherence(fit)
        self._exclusive = fit.atomicity is not None
        self._given = [np.zeros((0, 2), dtype=np.int64)]
        if not isinstance(fit.irregular, Nothing):
            self._pair_by_pair(fit.irregular)
        for transition in self.transitions:
            if transition.step.relation == "tdep":
                self._by_time(transition)
            elif transition.step.relation not in ALONG and not _plain_reading(transition):
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

    def _coherence(self, fit: Fit) -> int:
        if fit.coherence is None:
            return static.INCOHERENT_TOO
        if fit.reads_apart:
            return static.READS_APART
        return static.OWN_KEPT if self._keeps_own_writes() else static.COHERENT

    def _keeps_own_writes(self) -> bool:
        """Does program order keep a thread's writes to one location in order by itself?"""
        writes = self._mask(Name("W"))
        return any(t.start == t.end == 0 and t.step.relation in ALONG
                   and bool((self._mask(t.before) | ~writes).all()) and bool((self._mask(t.after) | ~writes).all())
                   for t in self.transitions)

    # --- edges that are made here: of relations that are given by their pairs

    def _link(self, start: int, operations: Column, end: int, others: Column) -> None:
        """Edges from operations in a state to others in another."""
        size = int(self._starts[-1])
        self._given.append(np.stack([start * size + operations, end * size + others], axis=1))

    def _pair_by_pair(self, term: Expression) -> None:
        for history, start in zip(self.histories, self._starts, strict=False):
            matrix = Matrices(history).of(term)[:len(history), :len(history)]
            self._given.append(np.argwhere(matrix) + start)

    def _one_by_one(self, transition: Transition) -> None:
        relation = transition.step.relation
        if relation not in self._pairs:
            self._pairs[relation] = np.concatenate([
                pairs_of(history, relation).astype(np.int64).reshape(-1, 2) + start
                for history, start in zip(self.histories, self._starts, strict=False)])
        a, b = self._pairs[relation][:, ::-1 if transition.step.inverse else 1].T
        kept = self._mask(transition.before)[a] & self._mask(transition.after)[b]
        self._link(transition.start, a[kept], transition.end, b[kept])

    def _by_time(self, transition: Transition) -> None:
        """Reads that ended before an access began share a node, which comes after the one before: so whatever began
        later needs an edge from the last such node alone."""
        self.states += 1
        before, after = self._mask(transition.before), self._mask(transition.after)
        for history, start in zip(self.histories, self._starts, strict=False):
            end, begin = ends(history), known_begins(history)
            for thread in range(len(history.threads)):
                accesses = np.flatnonzero((history.thread == thread) & (history.kind != FENCE))
                answered = np.flatnonzero((end[accesses] != NEVER) & before[accesses + start])
                known = np.searchsorted(begin[accesses], end[accesses[answered]], side="right")
                known = np.maximum(known, answered + 1)
                answered, known = answered[known < len(accesses)], known[known < len(accesses)]
                nodes = np.unique(known)
                later = np.flatnonzero(after[accesses + start])
                last = np.searchsorted(nodes, later, side="right") - 1
                place = accesses + start
                self._link(transition.start, place[answered], self.states, place[known])
                self._link(self.states, place[nodes[:-1]], self.states, place[nodes[1:]])
                self._link(self.states, place[nodes[last[last >= 0]]], transition.end, place[later[last >= 0]])

    # --- as tables

    def number(self, test: Expression) -> int:
        if test not in self.sets:
            self.sets.append(test)
        return self.sets.index(test)

    def batch(self, plain: bool, extra: Sequence[Edge] = (), patience: int = 1 << 62) -> static.Batch:
        """Everything together. `extra` edges may be given for a batch of one."""
        gatherer, gathered, target = self._gatherers(plain)
        reading = self._readings(plain)
        edges, edges_from, virtual, virtual_from = self._nodes()
        if extra:
            edges = np.concatenate([edges, np.asarray(extra, dtype=np.int64).reshape(-1, 2)])
            edges_from = np.array([0, len(edges)])
        places = np.cumsum([0, *(len(history.locations) for history in self.histories)])
        return static.Batch(
            self._table("operation", plain, rank=np.concatenate([rank(history) for history in self.histories]),
                        tags=self._tags(), pair=np.concatenate([self._partner(history) for history in self.histories]),
                        **{name: self._joined(name) for name in COLUMNS}),
            self._table("location", plain, final=self._joined("final")),
            self._table("history", plain, start=self._starts, place=places, given=edges_from, virtual=virtual_from),
            gatherer, gathered, target, reading,
            self._table("given", plain, start=edges[:, 0], end=edges[:, 1]),
            self._table("virtual", plain, state=virtual // self._starts[-1], operation=self._local(virtual)),
            _filled("asked", [(self.coherent, patience)], plain))

    def _nodes(self) -> tuple[Column, Column, Column, Column]:
        """The edges that were made, each history's in its own numbers, and where each one's begin; the virtual nodes
        that they need, numbered behind the operations, and where each history's begin."""
        edges, size = self._useful(np.concatenate(self._given)), int(self._starts[-1])
        needed = np.zeros((self.states + 1) * size, dtype=bool)
        needed[edges] = True
        needed[:size] = False
        virtual = np.flatnonzero(needed)
        of, virtual_of = self._history(edges[:, 0]), self._history(virtual)
        if len(self.histories) > 1:
            order = np.argsort(virtual_of, kind="stable")
            virtual, virtual_of = virtual[order], virtual_of[order]
            order = np.argsort(of, kind="stable")
            edges, of = edges[order], of[order]
        every = np.arange(len(self.histories) + 1)
        virtual_from, edges_from = np.searchsorted(virtual_of, every), np.searchsorted(of, every)
        number = np.empty(len(needed), dtype=np.int64)
        number[:size] = np.arange(size) - np.repeat(self._starts[:-1], np.diff(self._starts))
        number[virtual] = np.arange(len(virtual)) + (np.diff(self._starts) - virtual_from[:-1])[virtual_of]
        return number[edges], edges_from, virtual, virtual_from

    def _useful(self, edges: Column) -> Column:
        """Without edges that lead from where nothing leads, or to where nothing goes on: most of them, at least."""
        size = int(self._starts[-1])
        along = [t for t in self.transitions if t.step.relation in ALONG]
        entered, left = (np.isin(np.arange(self.states + 1), [0, *states])
                         for states in ([t.end for t in along], [t.start for t in along]))
        for _ in range(PRUNED):
            reached, going = np.repeat(entered, size), np.repeat(left, size)
            reached[edges[:, 1]] = going[edges[:, 0]] = True
            kept = reached[edges[:, 0]] & going[edges[:, 1]]
            if kept.all():
                break
            edges = edges[kept]
        return edges

    def _history(self, nodes: Column) -> Column:
        if len(self.histories) == 1:
            return np.zeros(len(nodes), dtype=np.int64)
        return np.asarray(np.searchsorted(self._starts[1:], nodes % max(int(self._starts[-1]), 1), side="right"))

    def _local(self, nodes: Column) -> Column:
        return np.asarray(nodes % max(int(self._starts[-1]), 1) - self._starts[self._history(nodes)])

    def _partner(self, history: History) -> Column:
        """Of a load-reserved its store-conditional, and the other way round; -1 of all others."""
        found = np.full(len(history), -1, dtype=np.int32)
        if self._exclusive and history.pair is not None:
            load, store = history.pair[history.location[history.pair[:, 0]] == history.location[history.pair[:, 1]]].T
            found[load], found[store] = store, load
        return found

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

    def _gatherers(self, plain: bool) -> tuple[Any, Any, Any]:
        """Whoever comes, along po or po-loc, after the same ones: after whom, and who that is."""
        sources: dict[tuple[int, int, int], list[tuple[int, int]]] = {}
        for t in self.transitions:
            if t.step.relation in ALONG:
                key = ALONG[t.step.relation], t.end, self.number(t.after)
                sources.setdefault(key, []).append((t.start, self.number(t.before)))
        targets: dict[tuple[int, tuple[tuple[int, int], ...]], list[tuple[int, int]]] = {}
        for (along, *target), those in sources.items():
            targets.setdefault((along, tuple(sorted(those))), []).append((target[0], target[1]))
        gatherers: list[tuple[int, int, int]] = []
        gathered: list[tuple[int, int]] = []
        after: list[tuple[int, int]] = []
        for (along, before), behind in targets.items():
            gatherers.append((along, len(gathered), len(after)))
            gathered += before
            after += behind
        gatherers.append((0, len(gathered), len(after)))
        return (_filled("gatherer", gatherers, plain), _filled("gathered", gathered, plain),
                _filled("target", after, plain))

    def _readings(self, plain: bool) -> Any:
        return _filled("reading", [(*READING[t.step.relation], self.number(t.before), self.number(t.after))
                                   for t in self.transitions if _plain_reading(t)], plain)


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
    if relation in (NEXT, AGAIN, ANEW):
        return _successive(history, relation)
    found = {"addr": history.addr, "data": history.data, "ctrl": history.ctrl, "rmw": history.pair}[relation]
    return np.zeros((0, 2), dtype=np.int32) if found is None else found


def _successive(history: History, relation: str) -> Column:
    """From each access to the next of its thread at its location; or where both read, the same write or not."""
    accesses = np.flatnonzero(history.kind != FENCE)
    places = max(len(history.locations), 1)
    place = history.thread[accesses].astype(np.int64) * places + history.location[accesses]
    place = place.astype(np.min_scalar_type(len(history.threads) * places))  # small numbers are sorted much faster
    by_place = np.argsort(place, kind="stable")
    order, same = accesses[by_place], np.diff(place[by_place]) == 0
    pairs = np.stack([order[:-1][same], order[1:][same]], axis=1)
    if relation == NEXT:
        return pairs
    reads = ((history.kind == READ) | (history.kind == RMW))[pairs].all(axis=1)
    again = history.source[pairs[:, 0]] == history.source[pairs[:, 1]]
    return np.asarray(pairs[reads & (again if relation == AGAIN else ~again)])


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

