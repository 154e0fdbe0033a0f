"""SC, TSO and PSO a second time, written from the manuals: a machine, and the program order each preserves.

The machine is a memory, with a store buffer per thread (TSO) or per thread and location (PSO) before it. A fence
orders what its kind names: every p before it comes before every s after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np

from gradual.compiling import Kept, can_compile, in_time, source_stamp
from gradual.deadline import NEVER, Deadline
from gradual.evidence.errors import require
from gradual.evidence.events import Events
from gradual.evidence.observed import FENCE, FULL, READ, RMW, WRITE, Observed
from gradual.evidence.relations import NOWHERE
from gradual.history import Column, History

MACHINES = {"SC": 0, "TSO": 1, "PSO": 2}
"""The models that have a machine, and its store buffers: none, one per thread, one per thread and location."""

RR, RW, WR, WW = 1, 2, 4, 8
PLAIN = (RR, RW, WR, WW, RR | RW, WR | WW, RR | WR, RW | WW, FULL)
"""Fences that order all of one kind before them with all of one kind after them. They have a place of their own
between the two; a fence of another kind, such as fence.tso, only keeps pairs of accesses in order."""


# --- program order


def preserved(observed: Observed, model: str, a: int, b: int) -> bool:
    """Does `model` keep a before b, given that a is before b in program order?

    A pair is dropped only if every reading of it is: an rmw reads and writes.
    """
    if model == "SC":
        return True
    if FENCE in (observed.history.kind[a], observed.history.kind[b]):
        return _fence_keeps(observed, a, b)
    if observed.reads(a):
        return True
    if observed.writes(b) and (model == "TSO" or observed.history.location[a] == observed.history.location[b]):
        return True
    between = observed.fences[a + 1:b][observed.history.thread[a + 1:b] == observed.history.thread[a]]
    between = between[~np.isin(between, PLAIN)]
    kept = WW * int(observed.writes(b)) | WR * int(observed.reads(b))
    return bool((between & kept).any())


def _fence_keeps(observed: Observed, a: int, b: int) -> bool:
    before, after = (int(observed.fences[operation]) for operation in (a, b))
    if before and after:
        return before == after == FULL
    fence, access = (after, a) if after else (before, b)
    reads, writes = ((RR | RW, WR | WW) if after else (RR | WR, RW | WW))
    ordered = reads * int(observed.reads(access)) | writes * int(observed.writes(access))
    return fence in PLAIN and bool(fence & ordered)


# --- runs


def replay(history: History, model: str, order: Sequence[int] | Column, deadline: Deadline = NEVER) -> None:
    """Run the operations in `order` and compare every value read, and the values left at the end. TimeoutError where
    the machine is not compiled by the deadline."""
    events = each_once(order, len(history))
    observed = Observed(history)
    kind, location, thread = history.kind, history.location, history.thread
    columns = [events, kind, location, thread, history.read, history.written, history.initial.copy(),
               *_ranks(thread, (np.ones(len(history), dtype=bool), observed.loading, observed.storing)),
               _previous_store(thread, location, observed.storing), np.zeros(len(history), dtype=np.bool_),
               *(np.zeros(len(history.threads), dtype=np.int64) for _ in range(3))]
    machine: Callable[..., int] = run_machine
    if len(history) >= COMPILED_FROM and can_compile():
        machine = _compiled_machine()
        empty = [column[:0] for column in columns]
        in_time("certificate", lambda: machine(*empty, 0), deadline)
    else:
        columns = [column.tolist() for column in columns]  # which plain Python reads much faster
    bad = machine(*columns, MACHINES[model])
    require(bad < 0, f"the machine cannot do step {bad}: {history.describe(int(events[bad])) if bad >= 0 else ''}")
    if observed.fences.any():
        _require_fences(observed, events)
    memory, demanded = np.asarray(columns[6], dtype=np.int64), history.final_line >= 0
    require(np.array_equal(memory[demanded], history.final_value[demanded]), "the memory is left with other values")


def each_once(order: Sequence[int] | Column, count: int) -> Column:
    """`order` as a column, which must hold the numbers below `count`, each once."""
    column = np.asarray(order, dtype=np.int64).reshape(-1)
    once = len(column) == count and (not count or (
        column.min() >= 0 and column.max() < count and bool((np.bincount(column) == 1).all())))
    require(once, "an order must hold every operation once")
    return column


COMPILED_FROM = 3_000
"""Operations from which compiling the machine pays."""


@cache
def _compiled_machine() -> Callable[..., int]:
    from numba import njit

    compiled: Any = njit(nogil=True)(run_machine)
    compiled._cache = Kept(run_machine, source_stamp(__file__))
    found: Callable[..., int] = compiled
    return found


def run_machine(
    events: Column, kind: Column, location: Column, thread: Column, read: Column, written: Column, memory: Column,
    rank: Column, load_rank: Column, store_rank: Column, previous: Column, committed: Column, ran: Column,
    loaded: Column, stored: Column, buffers: int,
) -> int:
    """The machine without its fences, on plain columns. Returns the first step that is impossible, or -1.

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
        ran[t] += 1
        if k == FENCE:
            continue
        if loaded[t] < load_rank[e] or (k != WRITE and loaded[t] != load_rank[e]):
            return step
        buffered = previous[e] >= 0 and not committed[previous[e]]
        if k == WRITE or k == RMW:
            if buffered or (buffers == 1 and stored[t] != store_rank[e]):
                return step
        if k == READ or k == RMW:
            value = written[previous[e]] if buffered else memory[x]
            if value != read[e]:
                return step
            loaded[t] += 1
        if k == WRITE or k == RMW:
            memory[x] = written[e]
            committed[e] = True
            stored[t] += 1
    return -1


def _require_fences(observed: Observed, events: Column) -> None:
    """Every p before a fence of kind p.s stands before the fence, and that before every s after it.

    A fence of another kind has no such place: what it orders is looked at pair of kinds by pair of kinds.
    """
    count = len(events)
    place = np.empty(count, dtype=np.int64)
    place[events] = np.arange(count)
    po, fences, plain = Events(observed).relation("po"), observed.fences, np.isin(observed.fences, PLAIN)

    def latest_before(chosen: Column, places: Column) -> Column:
        """For each operation the last place of the chosen ones before it in its thread."""
        padded = np.full(count + len(observed.history.locations), NOWHERE, dtype=np.int64)
        padded[:count] = np.where(chosen, places, NOWHERE)
        return po.push(padded)[:count]

    reads, writes = observed.loading, observed.storing
    before = {kind: latest_before(chosen, place) for kind, chosen in (("R", reads), ("W", writes))}
    in_place = place >= 0
    for kind, bits in (("R", RR | RW), ("W", WR | WW)):
        in_place &= (before[kind] < place) | ~(plain & ((fences & bits) != 0))
    for then, bits in ((reads, RR | WR), (writes, RW | WW)):
        in_place &= (latest_before(plain & ((fences & bits) != 0), place) < place) | ~then
    if (fences[~plain] != 0).any():
        for bit, kind, then in ((RR, "R", reads), (RW, "R", writes), (WR, "W", reads), (WW, "W", writes)):
            in_place &= (latest_before(~plain & ((fences & bit) != 0), before[kind]) < place) | ~then
    require(bool(in_place.all()), "a fence is not kept")


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
