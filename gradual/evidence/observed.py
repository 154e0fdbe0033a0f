"""What a history shows: operations, their kinds, and reads-from, found from the values once more.

Nothing is taken from `History.source` and `History.final`: those are the input's own reading of the values.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property

import numpy as np

from gradual.evidence.errors import CertificateError, require
from gradual.evidence.parts import Accesses
from gradual.evidence.sorting import in_order
from gradual.evidence.verdict import Origin
from gradual.history import INITIAL, THIN_AIR, Column, History, Kind

READ, WRITE, RMW, FENCE = (int(kind) for kind in Kind)  # plain numbers compare faster
FULL = 15
FEW = 50
"""Operations up to which columns are looked through one by one."""
OPEN = -4
"""As a source: one of several writes."""


class Observed:
    """A history as the certificate sees it. Where several writes wrote a value, `origins` may say which one was read;
    what they leave open is nobody's."""

    def __init__(self, history: History, origins: Iterable[Origin] = ()) -> None:
        self.history, self._anything = _settled(history)
        self.accesses = Accesses(history)
        self.kind, self.location = history.kind.data, history.location.data
        """These columns once more, for looking at one operation: plain numbers come out much faster."""
        self.thread = history.thread.data
        self._read, self._written = history.read.data, history.written.data
        self._sources: dict[int, int] = {}
        self._last: dict[int, int] = {}
        self._wrote: dict[int, dict[int, list[int]]] = {}
        """By location and value, who wrote it: of the locations that somebody asked about."""
        self._chosen: dict[int, int] = {}
        for reader, write, holds in origins:
            require(holds and write in self.candidates(reader), "nobody can have read that there")
            require(self._chosen.setdefault(reader, write) == write, "a value is read from one write")

    def candidates(self, reader: int) -> list[int]:
        """Who wrote the value of a read, or (the number of operations plus that of a location) a final value."""
        history = self.history
        if reader < len(history):
            require(self.reads(reader), "only reads have a source")
            return self._origins(self.location[reader], self._read[reader])
        location = reader - len(history)
        require(location < len(history.locations) and history.final_line[location] >= 0, "no final value is demanded")
        found = self._origins(location, int(history.final_value[location]))
        return found[:-1] if len(found) > 1 and found[-1] == INITIAL else found

    def excludes(self, one: int, other: int) -> bool:
        """Can these two reads not both have returned what memory held, because that was one value?"""
        at, value = self.history.location, self.history.read
        return bool(at[one] == at[other] and self._anything[at[one]] and value[one] != value[other])

    @property
    def named(self) -> list[tuple[int, int]]:
        """The reads of which the origins say what was read, and that."""
        return [(reader, write) for reader, write in self._chosen.items() if reader < len(self.history)]

    def is_open(self, read: int) -> bool:
        """May the value of a read have come from several writes?"""
        return read not in self._chosen and len(self.candidates(read)) > 1

    def writes(self, operation: int) -> bool:
        self.require_operation(operation)
        return self.kind[operation] in (WRITE, RMW)

    def reads(self, operation: int) -> bool:
        self.require_operation(operation)
        return self.kind[operation] in (READ, RMW)

    def require_operation(self, operation: int) -> None:
        if not 0 <= operation < len(self.kind):  # this is asked too often to have the complaint ready
            raise CertificateError(f"there is no operation {operation}")

    def source(self, read: int) -> int:
        """The write of the location that wrote the value, INITIAL, or THIN_AIR."""
        if read not in self._sources:
            found = [self._chosen[read]] if read in self._chosen else self.candidates(read)
            require(len(found) <= 1, "several writes wrote this value, and nothing says which one was read")
            self._sources[read] = next(iter(found), THIN_AIR)
        return self._sources[read]

    def last(self, location: int) -> int | None:
        """The write whose value the location must be left with (or INITIAL, THIN_AIR); None where none is demanded, or
        it may be one of several."""
        history = self.history
        require(0 <= location < len(history.locations), f"there is no location {location}")
        if history.final_line[location] < 0:
            return None
        if location not in self._last:
            found = self.candidates(len(history) + location)
            self._last[location] = self._chosen.get(len(history) + location,
                                                    OPEN if len(found) > 1 else next(iter(found), THIN_AIR))
        return None if self._last[location] == OPEN else self._last[location]

    def _origins(self, location: int, value: int) -> list[int]:
        history = self.history
        if location not in self._wrote:
            wrote = self._wrote[location] = dict[int, list[int]]()
            for write in self.writes_of(location):
                wrote.setdefault(self._written[write], []).append(write)
        initial = [INITIAL] * int(self._anything[location] or history.initial[location] == value)
        return self._wrote[location].get(value, []) + initial

    def pairs_of(self, locations: set[int]) -> list[tuple[int, int]]:
        """The load-reserveds at some locations, each with its store-conditional."""
        pairs = self.history.pair
        if pairs is None:
            return []
        here = np.isin(self.history.location[pairs[:, 0]], [*locations])
        return [(int(load), int(store)) for load, store in pairs[here]]

    def is_pair(self, before: int, after: int) -> bool:
        """Two writes of one location, which some store order may order so? Where accesses are several events, two that
        have some location in common."""
        if not (self.writes(before) and self.writes(after)) or self.accesses.same(before, after):
            return False
        return self.location[before] == self.location[after] or (
            self.accesses.several and bool(self.accesses.shared(before, after)))

    def writes_of(self, location: int) -> list[int]:
        if len(self.kind) < FEW:
            return [write for write, (kind, at) in enumerate(zip(self.kind, self.location, strict=True))
                    if at == location and kind in (WRITE, RMW)]
        found: list[int] = np.flatnonzero(self.storing & (self.history.location == location)).tolist()
        return found

    def comes_last(self, write: int) -> bool:
        """Does the history demand that this write is the last of its location?"""
        return self.last(self.location[write]) == write

    def is_after(self, last: int, other: int) -> bool:
        """Does a write come after another of its location, because it must come last?"""
        if not self.accesses.several:
            return self.comes_last(last)
        return any(self.comes_last(write) for write, _ in self.accesses.shared(last, other))

    def tells(self, before: int, after: int) -> bool:
        """Does the history tell its store order, and have these two in it so?"""
        order = self.history.order
        return order is not None and self.is_pair(before, after) and bool(0 <= order[before] < order[after])

    def came_first(self, before: int, after: int) -> bool:
        """Are the times those of one clock, and did one access end before the other began?"""
        history = self.history
        if not history.real_time or history.begin is None or history.end is None:
            return False
        both_access = bool(history.location[before] >= 0 and history.location[after] >= 0)
        return both_access and bool(0 <= history.end[before] < history.begin[after])

    @cached_property
    def storing(self) -> Column:
        """Which operations write."""
        storing: Column = (self.history.kind == WRITE) | (self.history.kind == RMW)
        return storing

    @cached_property
    def loading(self) -> Column:
        """Which operations read."""
        loading: Column = (self.history.kind == READ) | (self.history.kind == RMW)
        return loading

    @cached_property
    def fences(self) -> Column:
        """What each operation orders as a fence: bits, 0 for one that is none."""
        kinds = np.full(len(self.history), FULL) if self.history.fence is None else self.history.fence
        return np.where(self.history.kind == FENCE, kinds, 0)

    @cached_property
    def sources(self) -> Column:
        """The source of every read, OPEN where there are several, THIN_AIR elsewhere.

        Found by sorting origins and reads on (location, value).
        """
        history = self.history
        storing, loading = np.flatnonzero(self.storing), np.flatnonzero(self.loading)
        location = np.concatenate([np.arange(len(history.locations)), history.location[storing],
                                   history.location[loading]])
        value = np.concatenate([history.initial, history.written[storing], history.read[loading]])
        origin = np.concatenate([np.full(len(history.locations), INITIAL), storing, np.full(len(loading), THIN_AIR)])
        order = in_order(value.view(np.uint64))
        order = order[in_order(location[order])]
        same = (np.diff(location[order]) == 0) & (np.diff(value[order]) == 0)
        group = np.empty(len(order), dtype=np.int64)
        group[order] = np.concatenate([[0], np.cumsum(~same)])[:len(order)]
        wrote = np.flatnonzero(origin != THIN_AIR)
        count = np.bincount(group[wrote], minlength=len(order))
        origin_of = np.full(len(order), THIN_AIR)
        origin_of[group[wrote]] = origin[wrote]
        asked = group[len(order) - len(loading):]
        sources = np.full(len(history), THIN_AIR, dtype=np.int64)
        open_ones = (count[asked] > 1) | self._anything[history.location[loading]]
        sources[loading] = np.where(open_ones, OPEN, origin_of[asked])
        for reader, write in self.named:
            sources[reader] = write
        return sources

    @property
    def leaves_open(self) -> bool:
        """Is it open of any read which write it returned?"""
        return bool((self.sources == OPEN).any())


def _settled(history: History) -> tuple[History, Column]:
    """With what memory held where nobody knows it: the first value that is read, or demanded at the end, and nobody
    wrote. And the locations where there is no such value: there, memory may have held any."""
    anything = np.zeros(len(history.locations), dtype=bool)
    if history.unknown is None:
        return history, anything
    anything |= history.unknown
    initial = history.initial.copy()
    stores, loads = np.isin(history.kind, (WRITE, RMW)), np.isin(history.kind, (READ, RMW))
    wrote = {*zip(history.location[stores].tolist(), history.written[stores].tolist(), strict=True)}
    ends = np.flatnonzero(history.final_line >= 0)
    seen = [*zip(history.location[loads].tolist(), history.read[loads].tolist(), strict=True),
            *zip(ends.tolist(), history.final_value[ends].tolist(), strict=True)]
    for location, value in seen:
        if anything[location] and (location, value) not in wrote:
            initial[location], anything[location] = value, False
    return replace(history, initial=initial), anything


def supposing(history: History, held: Iterable[tuple[int, int]]) -> History:
    """Where nobody knows what memory held, this: any value may have been there."""
    if history.unknown is None:
        require(not tuple(held), "what memory held is known")
        return history
    initial = history.initial.copy()
    for location, value in held:
        require(0 <= location < len(initial) and bool(history.unknown[location]), "what memory held there is known")
        initial[location] = value
    return replace(history, initial=initial, unknown=None)
