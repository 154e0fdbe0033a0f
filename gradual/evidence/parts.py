"""Accesses of different sizes to common bytes: the certificate's own reading of a trace, byte by byte.

An access is as many events as it has runs of bytes that the same accesses touch; the bytes of a torn one are events
each. Events are numbered access by access, upwards in memory; locations, runs of bytes here, as they come up.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np

from gradual.history import NO_SOURCE, TORN, Column, History, location_key

Cell = tuple[int, int] | str
"""From a byte to before another; or the name of a location whose bytes nobody knows."""


def in_parts(history: History) -> History:
    """The events of a history that mixes sizes; reads-from is left out, as nobody here looks at it."""
    return _Reading(history).events() if history.mixed else history


class _Reading:
    def __init__(self, history: History) -> None:
        self._history = history
        self._size = [0] * len(history) if history.size is None else history.size.tolist()
        self._keys = [key if isinstance(key := location_key(name), int) and key >= 0 else name
                      for name in history.locations]
        self._touched: dict[int, set[tuple[int, int]]] = {}
        self._alone: set[int] = set()
        """Bytes that are events each."""
        self._cells: dict[Cell, int] = {}
        self._row: list[int] = []
        self._location: list[int] = []
        self._values: list[tuple[int, int]] = []
        for row in range(len(history)):
            start, size = self._bytes(row)
            for byte in range(start, start + size):
                self._touched.setdefault(byte, set()).add((start, size))
                if history.marks is not None and history.marks[row] & TORN:
                    self._alone.add(byte)

    def _bytes(self, row: int) -> tuple[int, int]:
        """Where an access starts, and its bytes: none of a fence, and where nobody knows."""
        at = int(self._history.location[row])
        key = self._keys[at] if at >= 0 else ""
        return (key, self._size[row]) if isinstance(key, int) else (0, 0)

    def events(self) -> History:
        history = self._history
        for access in range(len(history)):
            self._add(access)
        starts, ends, lines, unknown = self._at_both_ends()
        row = np.array(self._row, dtype=np.int64)
        read, written = (np.array([pair[side] for pair in self._values], dtype=np.int64) for side in (0, 1))
        columns: dict[str, Any] = {name: column[row] for name in ("size", "fence", "marks", "begin", "end", "order")
                                   if (column := getattr(history, name)) is not None}
        return replace(
            history, mixed=False, locations=tuple(map(str, self._cells)), thread=history.thread[row],
            kind=history.kind[row], location=np.array(self._location, dtype=np.int64), read=read, written=written,
            source=np.full(len(row), NO_SOURCE), line=history.line[row], tick=history.tick[row],
            initial=starts, final=np.full(len(self._cells), NO_SOURCE), final_value=ends, final_line=lines, part_of=row,
            unknown=None if history.unknown is None else unknown,
            whole=history, **(columns | self._pairs()))

    def _add(self, row: int) -> None:
        history = self._history
        start, size = self._bytes(row)
        read, written = int(history.read[row]), int(history.written[row])
        at = int(history.location[row])
        if not size:
            name = "" if at < 0 else history.locations[at]
            self._event(row, self._number(name) if name else -1, read, written)
            return
        for _, bytes_here in groupby(range(start, start + size), self._label):
            run = list(bytes_here)
            low, count = run[0] - start, len(run)
            self._event(row, self._number((run[0], run[-1] + 1)), _cut(read, low, count), _cut(written, low, count))

    def _label(self, byte: int) -> object:
        """What bytes of one event have in common."""
        return byte if byte in self._alone else frozenset(self._touched[byte])

    def _number(self, cell: Cell) -> int:
        return self._cells.setdefault(cell, len(self._cells))

    def _event(self, row: int, location: int, read: int, written: int) -> None:
        self._row.append(row)
        self._location.append(location)
        self._values.append((read, written))

    def _at_both_ends(self) -> tuple[Column, Column, Column, Column]:
        """What memory holds at first, what it must hold at last, and the lines that say so (or -1); and where nobody
        knows the first."""
        history = self._history
        first: dict[int, int] = {}
        last: dict[int, tuple[int, int]] = {}
        named: dict[str, int] = {}
        for at, key in enumerate(self._keys):
            wide = max((size for start, size in self._touched.get(key, ()) if start == key), default=0) if isinstance(
                key, int) else 0
            if not wide:
                self._number(history.locations[at])
                named[history.locations[at]] = at
            for byte in range(wide):
                if history.unknown is None or not history.unknown[at]:
                    first[int(key) + byte] = _cut(int(history.initial[at]), byte, 1)
                if history.final_line[at] >= 0:
                    last[int(key) + byte] = _cut(int(history.final_value[at]), byte, 1), int(history.final_line[at])
        starts, ends = (np.zeros(len(self._cells), dtype=np.int64) for _ in range(2))
        lines, unknown = np.full(len(self._cells), -1, dtype=np.int64), np.zeros(len(self._cells), dtype=bool)
        for cell, number in self._cells.items():
            if isinstance(cell, str):
                at = named[cell]
                starts[number], ends[number] = history.initial[at], history.final_value[at]
                lines[number] = history.final_line[at]
                unknown[number] = history.unknown is not None and bool(history.unknown[at])
                continue
            low, high = cell
            unknown[number] = low not in first
            starts[number] = _put_together([first.get(byte, 0) for byte in range(low, high)])
            if low in last:
                ends[number] = _put_together([last[byte][0] for byte in range(low, high)])
                lines[number] = last[low][1]
        return starts, ends, lines, unknown

    def _pairs(self) -> dict[str, Column | None]:
        """Every event of an access depends on what the access depends on; a load-reserved and its store-conditional are
        paired run by run."""
        history = self._history
        events: dict[int, list[int]] = {}
        for event, row in enumerate(self._row):
            events.setdefault(row, []).append(event)
        found: dict[str, Column | None] = {}
        for name in ("addr", "data", "ctrl", "pair"):
            given = getattr(history, name)
            if given is not None:
                pairs = [(a, b) for before, after in given.tolist() for a in events[before] for b in events[after]
                         if name != "pair" or self._location[a] == self._location[b]]
                found[name] = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        return found


def _cut(value: int, low: int, count: int) -> int:
    """Some bytes of a value, as a word."""
    return _put_together((value & (1 << 64) - 1).to_bytes(8, "little")[low:low + count])


def _put_together(held: bytes | list[int]) -> int:
    return int.from_bytes(bytes(held).ljust(8, b"\0"), "little", signed=True)


class Accesses:
    """Which events are one access: each its own, but for those of a history in parts."""

    def __init__(self, history: History) -> None:
        self.several = history.part_of is not None
        self._location = history.location
        self._first: list[int] = []
        self._events: dict[int, list[int]] = {}
        if history.part_of is None:
            return
        torn = np.zeros(len(history), dtype=bool) if history.marks is None else (history.marks & TORN) != 0
        rows: dict[int, int] = {}
        for event, row in enumerate(history.part_of.tolist()):
            first = event if torn[event] else rows.setdefault(row, event)
            self._first.append(first)
            self._events.setdefault(first, []).append(event)

    def first(self, event: int) -> int:
        """The event that stands for the access of an event."""
        return self._first[event] if self.several else event

    def same(self, a: int, b: int) -> bool:
        return a == b or (self.several and self._first[a] == self._first[b])

    def events(self, event: int) -> list[int]:
        return self._events[self._first[event]] if self.several else [event]

    def shared(self, a: int, b: int) -> list[tuple[int, int]]:
        """Events of the two accesses at one location."""
        return [(one, other) for one in self.events(a) for other in self.events(b)
                if self._location[one] == self._location[other] >= 0]
