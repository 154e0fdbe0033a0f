"""Checks the evidence of a verdict against the history. Imports no engine and shares no code with one.

A witness is replayed on the plain machine: a memory, and store buffers under TSO and PSO. A cycle
is walked edge by edge, each ww edge traced to a step already checked. A refutation is checked case
by case, then by unit propagation.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

import numpy as np

from gradual.evidence.verdict import (
    Cycle,
    Edge,
    Evidence,
    Overwritten,
    Pair,
    Path,
    Refutation,
    Scope,
    Step,
    ThinAir,
    Witness,
)
from gradual.history import INITIAL, THIN_AIR, Column, History, Kind

READ, WRITE, RMW, FENCE = (int(kind) for kind in Kind)  # plain numbers compare faster


class CertificateError(Exception):
    """The evidence does not prove the verdict: a fault of the checker, never of the trace."""


def require(condition: bool | np.bool_, complaint: str) -> None:
    if not condition:
        raise CertificateError(complaint)


def check(history: History, model: str, evidence: Evidence) -> None:
    """Raise CertificateError unless `evidence` proves its verdict on `history` under `model`."""
    if isinstance(evidence, Witness):
        replay(history, model, evidence.order)
    elif isinstance(evidence, Cycle):
        require(not evidence.assumed, "a violation may assume nothing")
        _Walk(history, model, evidence).check()
    elif isinstance(evidence, Refutation):
        _check_refutation(history, model, evidence)
    elif isinstance(evidence, ThinAir):
        _check_thin_air(history, evidence)
    else:
        _check_overwritten(history, evidence)


# --- witnesses ---------------------------------------------------------------------------------


def replay(history: History, model: str, order: Sequence[int] | Column) -> None:
    """Run the operations in `order` and compare every value read, and the values left at the end."""
    events = np.asarray(order, dtype=np.int64)
    once = len(events) == len(history) and (not len(events) or (
        events.min() >= 0 and events.max() < len(history) and bool((np.bincount(events) == 1).all())))
    require(once, "a witness must hold every operation once")
    kind, location, thread = history.kind, history.location, history.thread
    loads = (kind == READ) | (kind == RMW) | (kind == FENCE)
    stores = (kind == WRITE) | (kind == RMW)
    columns = [events, kind, location, thread, history.read, history.written, history.initial.copy(),
               *_ranks(thread, (np.ones(len(history), dtype=bool), loads, stores)),
               _previous_store(thread, location, stores), np.zeros(len(history), dtype=np.bool_),
               *(np.zeros(len(history.threads), dtype=np.int64) for _ in range(3))]
    machine: Callable[..., int] = run_machine
    if len(history) >= COMPILED_FROM:
        machine = _compiled_machine()
    else:
        columns = [column.tolist() for column in columns]  # which plain Python reads much faster
    bad = machine(*columns, {"SC": 0, "TSO": 1, "PSO": 2}[model])
    require(bad < 0, f"the machine cannot do step {bad}: {history.describe(int(events[bad])) if bad >= 0 else ''}")
    memory, demanded = np.asarray(columns[6], dtype=np.int64), history.final_line >= 0
    require(np.array_equal(memory[demanded], history.final_value[demanded]), "the memory is left with other values")


COMPILED_FROM = 3_000
"""Operations from which compiling the machine pays."""


@cache
def _compiled_machine() -> Callable[..., int]:
    from numba import njit

    compiled: Callable[..., int] = njit(cache=True, nogil=True)(run_machine)
    return compiled


def run_machine(
    events: Column, kind: Column, location: Column, thread: Column, read: Column, written: Column, memory: Column,
    rank: Column, load_rank: Column, store_rank: Column, previous: Column, committed: Column, ran: Column,
    loaded: Column, stored: Column, buffers: int,
) -> int:
    """The machine, on plain columns. Returns the first step that is impossible, or -1.

    buffers: 0 none (SC), 1 a FIFO per thread (TSO), 2 a FIFO per thread and location (PSO).
    A thread issues a write into its buffer as soon as its earlier loads are done, so what a buffer
    holds is known from the program: the earlier writes not yet committed. `ran`, `loaded` and `stored`
    count, per thread, the operations, loads and stores that have taken place.
    """
    for step in range(len(events)):
        e = events[step]
        k, x, t = kind[e], location[e], thread[e]
        if buffers == 0 and ran[t] != rank[e]:
            return step
        if k == WRITE:
            if loaded[t] < load_rank[e]:
                return step
        elif loaded[t] != load_rank[e]:
            return step
        if k == FENCE and stored[t] != store_rank[e]:
            return step
        buffered = x >= 0 and previous[e] >= 0 and not committed[previous[e]]
        if k == WRITE or k == RMW:
            if buffered or (buffers == 1 and stored[t] != store_rank[e]):
                return step
        if k == READ or k == RMW:
            value = written[previous[e]] if buffered else memory[x]
            if value != read[e]:
                return step
        if k == WRITE or k == RMW:
            memory[x] = written[e]
            committed[e] = True
            stored[t] += 1
        if k != WRITE:
            loaded[t] += 1
        ran[t] += 1
    return -1


def _ranks(thread: Column, kinds: Iterable[Column]) -> Iterator[Column]:
    """For each kind and each operation, how many of that kind come before it in its thread."""
    order = np.argsort(thread, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(thread[order]) != 0])[: len(order)]
    lengths = np.diff(np.r_[starts, len(order)])
    for counted in kinds:
        so_far = np.cumsum(counted[order]) - counted[order]
        rank = np.empty(len(thread), dtype=np.int64)
        rank[order] = so_far - np.repeat(so_far[starts], lengths)
        yield rank


def _previous_store(thread: Column, location: Column, stores: Column) -> Column:
    """For each access, the last earlier write of its thread to its location, or -1."""
    previous = np.full(len(thread), -1, dtype=np.int64)
    if not len(thread):
        return previous
    order = np.lexsort((location, thread))  # stable: each group stays in program order
    place = np.arange(len(order))
    starts = np.r_[True, (np.diff(thread[order]) != 0) | (np.diff(location[order]) != 0)]
    first = np.maximum.accumulate(np.where(starts, place, 0))
    last = np.r_[-1, np.maximum.accumulate(np.where(stores[order], place, -1))[:-1]]
    previous[order] = np.where(last >= first, order[np.maximum(last, 0)], -1)
    return previous


# --- cycles ------------------------------------------------------------------------------------


def _writes(history: History, operation: int) -> bool:
    return bool(history.kind[operation] in (WRITE, RMW))


def _reads(history: History, operation: int) -> bool:
    return bool(history.kind[operation] in (READ, RMW))


def preserved(history: History, model: str, a: int, b: int) -> bool:
    """Does `model` keep a before b, given that a is before b in program order?

    A pair is dropped only if every reading of it is: an rmw reads and writes, a fence keeps all.
    """
    if model == "SC" or FENCE in (history.kind[a], history.kind[b]) or _reads(history, a):
        return True
    if not _writes(history, b):
        return False
    return model == "TSO" or bool(history.location[a] == history.location[b])


class _Walk:
    """Walks the steps and the edges of a cycle, remembering which ww pairs are proved."""

    def __init__(self, history: History, model: str, cycle: Cycle) -> None:
        self.history = history
        self.model = model
        self.cycle = cycle
        self.proved: set[Pair] = set(cycle.assumed)

    def check(self) -> None:
        for pair in self.cycle.assumed:
            self._require_same_location_writes(*pair)
        for step in self.cycle.steps:
            self._check_step(step)
        edges = self.cycle.edges
        self._check_path(edges, self.cycle.scope)
        require(edges[0].start == edges[-1].end, "the cycle does not close")

    def _check_step(self, step: Step) -> None:
        self._require_same_location_writes(step.before, step.after)
        self._check_path(step.path, step.scope)
        end = step.path[-1].end
        require(step.path[0].start == step.before, "a step must start at its first write")
        require(end == step.after or (_reads(self.history, end) and self.history.source[end] == step.after),
                "a step must end at its second write or at a read of it")
        self.proved.add((step.before, step.after))

    def _check_path(self, path: Path, scope: Scope) -> None:
        require(len(path) > 0, "a path needs an edge")
        for edge, following in itertools.pairwise(path):
            require(edge.end == following.start, "the path is broken")
        for edge in path:
            self._check_edge(edge, scope)

    def _check_edge(self, edge: Edge, scope: Scope) -> None:
        history, a, b = self.history, edge.start, edge.end
        if edge.kind == "po":
            require(history.thread[a] == history.thread[b] and a < b, "po must follow the program")
            if scope == "location":
                self._require_same_location(a, b)
            else:
                require(preserved(history, self.model, a, b), f"{self.model} does not preserve this program order")
        elif edge.kind == "wr":
            require(_reads(history, b) and history.source[b] == a, "wr must lead from the write read from")
            internal = history.thread[a] == history.thread[b]
            require(self.model == "SC" or scope == "location" or not internal,
                    "a thread's read of its own write orders nothing globally")
        elif edge.kind == "ww":
            self._require_known(a, b)
        else:
            require(_reads(history, a) and _writes(history, b) and a != b, "rw leads from a read to a write")
            self._require_same_location(a, b)
            source = int(history.source[a])
            if source != INITIAL:
                self._require_known(source, b)

    def _require_known(self, a: int, b: int) -> None:
        self._require_same_location_writes(a, b)
        last = self.history.final[self.history.location[b]] == b
        require(last or (a, b) in self.proved, "a store order that nothing justifies")

    def _require_same_location_writes(self, a: int, b: int) -> None:
        require(_writes(self.history, a) and _writes(self.history, b) and a != b, "the store order is between writes")
        self._require_same_location(a, b)

    def _require_same_location(self, a: int, b: int) -> None:
        same = self.history.location[a] == self.history.location[b] and self.history.location[a] >= 0
        require(same, "both must access one location")


# --- refutations -------------------------------------------------------------------------------


def _check_refutation(history: History, model: str, refutation: Refutation) -> None:
    for case in refutation.cases:
        _Walk(history, model, case).check()
    clauses = _Clauses()
    for case in refutation.cases:
        clauses.add([(after, before) for before, after in case.assumed])
    for lemma in refutation.lemmas:
        require(clauses.implies(lemma), "a lemma does not follow")
        clauses.add(lemma)
    require(bool(refutation.lemmas) and not refutation.lemmas[-1], "the refutation does not end in a contradiction")


class _Clauses:
    """Clauses over ordered pairs; the negation of (a, b) is (b, a)."""

    def __init__(self) -> None:
        self._clauses: list[frozenset[Pair]] = []
        self._with: dict[Pair, list[int]] = defaultdict(list)
        self._short: list[int] = []

    def add(self, clause: Iterable[Pair]) -> None:
        literals = frozenset(clause)
        if len(literals) <= 1:
            self._short.append(len(self._clauses))
        for literal in literals:
            self._with[literal].append(len(self._clauses))
        self._clauses.append(literals)

    def implies(self, clause: Iterable[Pair]) -> bool:
        """Does assuming the negation of `clause` lead to a conflict by unit propagation alone?"""
        false = set(clause)
        true = {(b, a) for a, b in false}
        queue = list(false)
        touched = list(self._short)
        while queue or touched:
            if not touched:
                touched = list(self._with[queue.pop()])
                continue
            literals = self._clauses[touched.pop()]
            if literals & true:
                continue
            open_literals = literals - false
            if not open_literals:
                return True
            if len(open_literals) == 1:
                a, b = next(iter(open_literals))
                true.add((a, b))
                false.add((b, a))
                queue.append((b, a))
        return bool(true & false)


# --- impossible observations -------------------------------------------------------------------


def _check_thin_air(history: History, evidence: ThinAir) -> None:
    at, operation = evidence.location, evidence.operation
    if operation is None:
        require(history.final_line[at] >= 0 and history.final[at] == THIN_AIR, "no such final value was demanded")
        value = history.final_value[at]
    else:
        require(_reads(history, operation) and history.location[operation] == at, "the operation reads elsewhere")
        value = history.read[operation]
    written = history.written[(history.location == at) & ((history.kind == WRITE) | (history.kind == RMW))]
    require(value != history.initial[at] and value not in written, "somebody did write this value")


def _check_overwritten(history: History, evidence: Overwritten) -> None:
    at = evidence.location
    require(history.final_line[at] >= 0 and history.final_value[at] == history.initial[at],
            "the final value is not the initial one")
    require(_writes(history, evidence.write) and history.location[evidence.write] == at, "that write is elsewhere")
    stores = history.writes[history.location[history.writes] == at]
    require(not (history.written[stores] == history.initial[at]).any(), "a write restored the initial value")
