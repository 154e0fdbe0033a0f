"""The cheapest proof of a violation among some operations.

Shortest paths in the relations that the model wants acyclic, where an edge that rests on a pair of ordered writes costs
as much as the cheapest proof of that pair. The relations are those of a part of the history: what is found has to be
checked on the whole.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cache

import numpy as np

from gradual.evidence.verdict import Cycle, Edge, EdgeKind, Pair, Path, Scope, Step
from gradual.history import INITIAL, NO_PLACE, RMW, WRITE, Column, History
from gradual.history.part import part
from gradual.models import Model
from gradual.models.fit import RF, RFE, acyclic_terms, is_atomicity
from gradual.models.matrix import Matrices, TooLarge
from gradual.models.regular import is_static
from gradual.models.syntax import Check, Expression

STEP = 4.0
"""What an inferred step costs in edges: a reader has to turn back for it."""
TWO_STEPS = 2 * (STEP + 2)
"""What the cheapest cycle costs that takes two: below it, no step is counted twice because two others rest on it."""
NEVER = np.inf
KINDS: tuple[EdgeKind, ...] = ("po", "wr", "ww", "rw", "rt")
PO, WR, WW, RW, _ = range(5)
ABSENT = -9
"""The source of a read, where it is not among the operations."""

Arrow = tuple[int, int, int]
"""Kind, start and end."""


def cost(cycle: Cycle) -> float:
    return len(cycle.edges) + sum(STEP + len(step.path) for step in cycle.steps)


def cheapest(history: History, model: Model, operations: list[int], known: Cycle, less_than: float,
             until: float) -> Cycle | None:
    """The cheapest cycle among the operations, or None where there is none or the time is up.

    `known` is one: its edges hold, and its assumed pairs may be used. What costs no less than it must may be left out.
    """
    try:
        relations = list(_relations(history, model, operations, known))
    except TooLarge:
        return None
    bound = less_than if less_than <= TWO_STEPS else NEVER
    return _Cheapest(history, operations, known.assumed, relations).cycle(bound, until)


class _Relation:
    """One relation that must be acyclic, as a matrix of costs, with the shortest paths through it."""

    def __init__(self, scope: Scope, reads: Column, order: Column) -> None:
        self.scope = scope
        self._facts = np.where(reads | order, 1.0, NEVER)
        self._fact_kind = np.where(reads, WR, PO).astype(np.int8)

    def add(self, kind: int, start: int, ends: int | Column) -> None:
        self._facts[start, ends] = 1.0
        self._fact_kind[start, ends] = kind

    def has(self, start: int) -> Column:
        return np.asarray(self._facts[start] < NEVER)

    def close(self, ww: Column, rw: Column, until: float) -> bool:
        """Shortest paths over facts and the pairs of writes known so far. False when time ran out."""
        self._weight = self._facts.copy()
        self.kind = self._fact_kind.copy()
        for number, more in ((WW, ww), (RW, rw)):
            better = more < self._weight
            self._weight[better] = more[better]
            self.kind[better] = number
        self.length = self._weight.copy()
        self._next: Column | None = None
        through = np.empty_like(self.length)  # made once: there are many rounds
        for k in range(len(through)):
            if k % 16 == 0 and time.monotonic() > until:
                return False
            np.add(self.length[:, k, None], self.length[k], out=through)
            np.minimum(self.length, through, out=self.length)
        return True

    @property
    def round_trip(self) -> float:
        """What the cheapest cycle costs."""
        return float(self.length.diagonal().min())

    def path(self, start: int, end: int) -> list[Arrow]:
        """A shortest path."""
        if self._next is None:  # of the last round alone: to know the way takes longer than to know its length
            self._next = _first_steps(self._weight)
        edges = []
        while True:
            following = int(self._next[start, end])
            edges.append((int(self.kind[start, following]), start, following))
            start = following
            if start == end:
                return edges


def _first_steps(weight: Column) -> Column:
    """From each operation to each, the next one on a shortest path."""
    length, following = weight.copy(), np.tile(np.arange(len(weight)), (len(weight), 1))
    through, better = np.empty_like(weight), np.empty(weight.shape, dtype=bool)
    for k in range(len(weight)):
        np.add(length[:, k, None], length[k], out=through)
        np.less(through, length, out=better)
        np.copyto(length, through, where=better)
        np.copyto(following, following[:, k, None], where=better)
    return following


# --- facts


def _relations(history: History, model: Model, operations: list[int], known: Cycle) -> Iterator[_Relation]:
    """What each check that the store order matters to orders without it."""
    matrices = Matrices(_only(history, operations))
    thread = history.thread[operations]
    within = thread[:, None] == thread
    rf = _between_operations(matrices, RF)
    for check in model.checks:
        static = {term: _between_operations(matrices, term) for term in _static_terms(check)}
        if not static:
            continue
        every = np.logical_or.reduce(list(static.values()))
        own = np.logical_or.reduce([static[term] for term in (RF, RFE) if term in static])
        reads = every & rf & (own | ~within)
        relation = _Relation(check.name, reads, every & within & ~reads)
        for start, end, kind in _edges(known, check.name, operations):
            relation.add(kind, start, end)
        yield relation


@cache
def _static_terms(check: Check) -> tuple[Expression, ...]:
    """What a check orders without the store order, if that matters to it; else nothing."""
    if is_static(check.expression) or is_atomicity(check):
        return ()
    return tuple(term for term in acyclic_terms(check) if is_static(term))


def _only(history: History, operations: list[int]) -> History:
    if len(operations) == len(history):
        return history
    mask = np.zeros(len(history), dtype=bool)
    mask[operations] = True
    return part(history, mask, np.zeros(len(history.locations), dtype=bool))


def _between_operations(matrices: Matrices, term: Expression) -> Column:
    size = len(matrices.history)
    return matrices.of(term)[:size, :size]


def _edges(known: Cycle, scope: Scope, operations: list[int]) -> Iterator[tuple[int, int, int]]:
    """What the evidence knows of po, wr and real time: a part of the history may lack what it takes."""
    index = {operation: i for i, operation in enumerate(operations)}
    paths = [(known.scope, known.edges), *((step.scope, step.path) for step in known.steps)]
    for edge in (edge for of, path in paths if of == scope for edge in path):
        if edge.kind in ("po", "wr", "rt") and edge.start in index and edge.end in index:
            yield index[edge.start], index[edge.end], KINDS.index(edge.kind)


def _told(history: History, operations: Column) -> Column:
    """Of which pairs the trace tells the order, if both are writes of one location."""
    if history.order is None:
        return np.zeros((len(operations), len(operations)), dtype=bool)
    place = history.order[operations]
    return np.asarray((place[:, None] != NO_PLACE) & (place[:, None] < place))


class _Cheapest:
    """A pair of writes costs a step and the cheapest path that shows it, so a proof is well-founded: what a step rests
    on costs less than the step."""

    def __init__(self, history: History, operations: list[int], assumed: tuple[Pair, ...],
                 relations: list[_Relation]) -> None:
        self._operations = operations
        self._relations = relations
        chosen = np.array(operations)
        kind, location = history.kind[chosen], history.location[chosen]
        index = {operation: i for i, operation in enumerate(operations)}
        self._source = np.array([index.get(int(s), ABSENT) if s >= 0 else int(s) for s in history.source[chosen]])
        self._writes = (kind == WRITE) | (kind == RMW)
        self._same = (location[:, None] == location) & (location[:, None] >= 0)
        np.fill_diagonal(self._same, False)
        self._rivals = self._same & self._writes[:, None] & self._writes
        last = history.final[location] == chosen if len(history.final) else np.zeros(len(chosen), dtype=bool)
        known = last[None, :] | _told(history, chosen)
        self._pair_cost = np.where(self._rivals & known, 0.0, NEVER)
        self._assumed = {(index[a], index[b]) for a, b in assumed if a in index and b in index}
        for pair in self._assumed:
            self._pair_cost[pair] = 0.0
        for reader in np.flatnonzero(self._source == INITIAL).tolist():
            for relation in relations:
                relation.add(RW, reader, self._same[reader] & self._writes & ~relation.has(reader))

    # --- consequences

    def cycle(self, less_than: float, until: float) -> Cycle | None:
        while True:
            ww, rw = self._edges()
            if not all(relation.close(ww, rw, until) for relation in self._relations):
                return None
            found = min(relation.round_trip for relation in self._relations)
            # a pair of writes on a cycle takes an edge of its own, and one back
            if not self._improve(min(found - 1, less_than - 2)):
                return self._best() if found < less_than else None

    def _edges(self) -> tuple[Column, Column]:
        ww = np.where(self._rivals, self._pair_cost + 1, NEVER)
        rw = np.full(ww.shape, NEVER)
        readers = np.flatnonzero(self._source >= 0)
        rw[readers] = self._pair_cost[self._source[readers]] + 1
        rw[~(self._same & self._writes)] = NEVER
        return ww, rw

    def _improve(self, enough: float) -> bool:
        """Cheaper proofs for pairs of writes, by the paths known now. What costs `enough` is of no use to a cycle."""
        reach = np.minimum.reduce([self._to_write(relation) for relation in self._relations])
        cost = np.where(self._rivals, reach + STEP, NEVER)
        better = cost < np.minimum(self._pair_cost, enough)
        self._pair_cost = np.where(better, cost, self._pair_cost)
        return bool(better.any())

    def _to_write(self, relation: _Relation) -> Column:
        """From each operation to each write, or to a read of it."""
        reach = relation.length.copy()
        for reader, source in enumerate(self._source.tolist()):
            if source >= 0:
                reach[:, source] = np.minimum(reach[:, source], relation.length[:, reader])
        return reach

    # --- the proof, told in the numbers of the history

    def _best(self) -> Cycle:
        relation = min(self._relations, key=lambda r: r.round_trip)
        start = int(relation.length.diagonal().argmin())
        edges = relation.path(start, start)
        steps, assumed = self._reasons(edges)
        return Cycle(self._told(edges), relation.scope, steps, assumed)

    def _reasons(self, edges: list[Arrow]) -> tuple[tuple[Step, ...], tuple[Pair, ...]]:
        steps: dict[Pair, Step] = {}
        assumed: set[Pair] = set()
        todo = self._resting_on(edges)
        while todo:
            pair = todo.pop()
            if pair in self._assumed:
                assumed.add((self._operations[pair[0]], self._operations[pair[1]]))
            elif pair not in steps and self._pair_cost[pair] > 0:
                steps[pair], more = self._step(*pair)
                todo += more
        ordered = sorted(steps, key=lambda pair: (self._pair_cost[pair], pair))
        return tuple(steps[pair] for pair in ordered), tuple(sorted(assumed))

    def _step(self, before: int, after: int) -> tuple[Step, list[Pair]]:
        ends = [after, *np.flatnonzero(self._source == after).tolist()]
        relation, end = min(((relation, end) for relation in self._relations for end in ends),
                            key=lambda choice: float(choice[0].length[before, choice[1]]))
        edges = relation.path(before, end)
        step = Step(self._operations[before], self._operations[after], self._told(edges), relation.scope)
        return step, self._resting_on(edges)

    def _resting_on(self, edges: list[Arrow]) -> list[Pair]:
        behind = [(start, end) if kind == WW else (int(self._source[start]), end)
                  for kind, start, end in edges if kind in (WW, RW)]
        return [pair for pair in behind if pair[0] >= 0]

    def _told(self, edges: list[Arrow]) -> Path:
        return tuple(Edge(KINDS[kind], self._operations[start], self._operations[end])
                     for kind, start, end in edges)
