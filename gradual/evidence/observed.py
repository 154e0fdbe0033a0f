"""What a history shows: operations, their kinds, and reads-from, found from the values once more.

Nothing is taken from `History.source` and `History.final`: those are the input's own reading of the values.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from gradual.evidence.errors import require
from gradual.history import INITIAL, THIN_AIR, Column, History, Kind

READ, WRITE, RMW, FENCE = (int(kind) for kind in Kind)  # plain numbers compare faster
FULL = 15


class Observed:
    """A history as the certificate sees it."""

    def __init__(self, history: History) -> None:
        self.history = history
        self._sources: dict[int, int] = {}
        self._last: dict[int, int] = {}

    def writes(self, operation: int) -> bool:
        self.require_operation(operation)
        return bool(self.history.kind[operation] in (WRITE, RMW))

    def reads(self, operation: int) -> bool:
        self.require_operation(operation)
        return bool(self.history.kind[operation] in (READ, RMW))

    def require_operation(self, operation: int) -> None:
        require(0 <= operation < len(self.history), f"there is no operation {operation}")

    def source(self, read: int) -> int:
        """The only write of the location that wrote the value, INITIAL, or THIN_AIR."""
        require(self.reads(read), "only reads have a source")
        if read not in self._sources:
            self._sources[read] = self._origin(int(self.history.location[read]), int(self.history.read[read]))
        return self._sources[read]

    def last(self, location: int) -> int | None:
        """The write whose value the location must be left with (or INITIAL, THIN_AIR); None where none is demanded."""
        history = self.history
        require(0 <= location < len(history.locations), f"there is no location {location}")
        if history.final_line[location] < 0:
            return None
        if location not in self._last:
            self._last[location] = self._origin(location, int(history.final_value[location]))
        return self._last[location]

    def _origin(self, location: int, value: int) -> int:
        history = self.history
        here = self.storing & (history.location == location) & (history.written == value)
        origins = np.flatnonzero(here).tolist() + [INITIAL] * int(history.initial[location] == value)
        require(len(origins) <= 1, "a value that several writes wrote tells nothing")
        return int(origins[0]) if origins else THIN_AIR

    def pairs_of(self, locations: set[int]) -> list[tuple[int, int]]:
        """The load-reserveds at some locations, each with its store-conditional."""
        pairs = self.history.pair
        if pairs is None:
            return []
        here = np.isin(self.history.location[pairs[:, 0]], [*locations])
        return [(int(load), int(store)) for load, store in pairs[here]]

    def is_pair(self, before: int, after: int) -> bool:
        """Two writes of one location, which some store order may order so?"""
        return (self.writes(before) and self.writes(after) and before != after
                and bool(self.history.location[before] == self.history.location[after]))

    def comes_last(self, write: int) -> bool:
        """Does the history demand that this write is the last of its location?"""
        return self.last(int(self.history.location[write])) == write

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
        """The source of every read, THIN_AIR elsewhere, by sorting origins and reads on (location, value)."""
        history = self.history
        storing, loading = np.flatnonzero(self.storing), np.flatnonzero(self.loading)
        location = np.concatenate([np.arange(len(history.locations)), history.location[storing],
                                   history.location[loading]])
        value = np.concatenate([history.initial, history.written[storing], history.read[loading]])
        origin = np.concatenate([np.full(len(history.locations), INITIAL), storing, np.full(len(loading), THIN_AIR)])
        order = np.lexsort((value, location))
        same = (np.diff(location[order]) == 0) & (np.diff(value[order]) == 0)
        group = np.empty(len(order), dtype=np.int64)
        group[order] = np.concatenate([[0], np.cumsum(~same)])[:len(order)]
        wrote = np.flatnonzero(origin != THIN_AIR)
        count = np.bincount(group[wrote], minlength=len(order))
        origin_of = np.full(len(order), THIN_AIR)
        origin_of[group[wrote]] = origin[wrote]
        asked = group[len(order) - len(loading):]
        require(bool((count[asked] <= 1).all()), "a value that several writes wrote tells nothing")
        sources = np.full(len(history), THIN_AIR, dtype=np.int64)
        sources[loading] = origin_of[asked]
        return sources
