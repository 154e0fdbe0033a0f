"""SC, TSO and PSO a second time, written from the manuals: a machine, and the program order each preserves.

The machine is a memory, with a store buffer per thread (TSO) or per thread and location (PSO) before it. A fence
orders what its kind names: every p before it comes before every s after it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradual.evidence.errors import require
from gradual.evidence.events import Events
from gradual.evidence.observed import FENCE, FULL, OPEN, Observed
from gradual.evidence.relations import NOWHERE
from gradual.evidence.verdict import Origin
from gradual.history import INITIAL, Column, History

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
    if FENCE in (observed.kind[a], observed.kind[b]):
        return _fence_keeps(observed, a, b)
    if observed.reads(a):
        return True
    if observed.writes(b) and (model == "TSO" or observed.location[a] == observed.location[b]):
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


def replay(history: History, model: str, order: Sequence[int] | Column, origins: Sequence[Origin] = ()) -> None:
    """Run the operations in `order` and compare every value read, and the values left at the end; and, where `origins`
    name it, the write that was read.

    All steps are looked at side by side. A thread issues a write into its buffer as soon as its
    earlier loads are done, so what a buffer holds is known from the program: the earlier writes not yet committed.
    """
    events = each_once(order, len(history))
    observed = Observed(history, origins)
    wrong = place_of(events)[_impossible(observed, MACHINES[model], events)]
    require(not len(wrong), f"the machine cannot do step {min(wrong, default=0)}: "
                            f"{history.describe(int(events[wrong.min()])) if len(wrong) else ''}")
    if observed.fences.any():
        require_fences(observed, events)
    if history.pair is not None:
        require_atomicity(observed, events)
    stores = events[observed.storing[events]]
    memory, demanded = history.initial.copy(), history.final_line >= 0
    memory[history.location[stores]] = history.written[stores]  # of several to one location, the last stays
    require(np.array_equal(memory[demanded], history.final_value[demanded]), "the memory is left with other values")


def _impossible(observed: Observed, buffers: int, events: Column) -> Column:
    """The steps that a machine with such buffers cannot do, its fences left aside."""
    history, loading, storing = observed.history, observed.loading, observed.storing
    place, program = place_of(events), np.arange(len(events))
    in_thread = Groups(program, history.thread)
    wrong = (in_thread.latest(loading, place) > place) & (loading | storing)
    if buffers == 0:
        wrong |= in_thread.latest(np.ones_like(loading), place) > place
    elif buffers == 1:
        wrong |= (in_thread.latest(storing, place) > place) & storing
    place_in_thread = (history.thread.astype(np.int64) + 1) * (len(history.locations) + 1) + history.location
    own = Groups(program, place_in_thread).latest(storing, program)
    buffered = (own >= 0) & (place[own] > place)
    wrong |= buffered & storing
    stored = Groups(events, history.location + 1).latest(storing, place)
    in_memory = np.where(stored >= 0, history.written[events[stored]], np.r_[history.initial, 0][history.location])
    wrong |= (np.where(buffered, history.written[own], in_memory) != history.read) & loading
    read = np.where(buffered, own, np.where(stored >= 0, events[stored], INITIAL))
    for reader, write in observed.named:
        wrong[reader] |= read[reader] != write
    return wrong


def place_of(events: Column) -> Column:
    place = np.empty(len(events), dtype=np.int64)
    place[events] = np.arange(len(events))
    return place


class Groups:
    """Operations in some order, those with equal keys in one group."""

    def __init__(self, order: Column, key: Column) -> None:
        small = key[order].astype(np.min_scalar_type(int(key.max(initial=0))))  # small numbers are sorted much faster
        self._order = order[np.argsort(small, kind="stable")]  # stable: the order stays within groups
        self._group = np.cumsum(np.diff(key[self._order], prepend=-1) != 0)

    def latest(self, chosen: Column, number: Column) -> Column:
        """For each operation the greatest number of the chosen ones before it in its group, or -1."""
        higher = self._group * (len(chosen) + 1)  # than any number of the group before
        given = np.where(chosen, number, -1)[self._order] + higher
        before = np.r_[[-1], np.maximum.accumulate(given)[:-1]] if len(given) else given
        found = np.empty(len(chosen), dtype=np.int64)
        found[self._order] = np.maximum(before - higher, -1)
        return found


def each_once(order: Sequence[int] | Column, count: int) -> Column:
    """`order` as a column, which must hold the numbers below `count`, each once."""
    column = np.asarray(order, dtype=np.int64).reshape(-1)
    once = len(column) == count and (not count or (
        column.min() >= 0 and column.max() < count and bool((np.bincount(column) == 1).all())))
    require(once, "an order must hold every operation once")
    return column


def require_atomicity(observed: Observed, events: Column) -> None:
    """Between what a load-reserved read and its store-conditional nobody else stores to the location."""
    history = observed.history
    assert history.pair is not None
    load, store = history.pair.T.astype(np.int64)
    stores = events[observed.storing[events]]
    stores = stores[np.argsort(history.location[stores], kind="stable")]
    number = np.full(len(history), -1)
    number[stores] = np.arange(len(stores))
    first = np.searchsorted(history.location[stores], history.location[load])
    source = observed.sources[load]
    require(bool((source != OPEN).all()), "the run does not say which of several writes a load-reserved read")
    low = np.where(source >= 0, number[source], first - 1)
    own_part = history.thread[stores].astype(np.int64) * (len(stores) + 2)
    own = np.sort(own_part + number[stores])
    mine = history.thread[load].astype(np.int64) * (len(stores) + 2)
    others = (number[store] - low - 1) - (np.searchsorted(own, mine + number[store])
                                          - np.searchsorted(own, mine + low, side="right"))
    wrong = (number[store] > low) & (others > 0)
    require(not wrong.any(), "another thread's store comes between a load-reserved and its store-conditional: "
                             f"{history.describe(int(store[wrong][0])) if wrong.any() else ''}")


def require_fences(observed: Observed, events: Column) -> None:
    """Every p before a fence of kind p.s stands before the fence, and that before every s after it.

    A fence of another kind has no such place: what it orders is looked at pair of kinds by pair of kinds.
    """
    count = len(events)
    place = place_of(events)
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
