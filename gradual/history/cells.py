"""Accesses of different sizes to common bytes, as events.

A *cell* is a stretch of bytes that no access cuts: each access takes all of it or nothing. An access is as many events
as it has cells, each with its part of the value, least significant byte first. The events of one access happen at
once; program order leads from all of them to all of the next, and not from one to the other. Bytes of a misaligned
access that the architecture tears (`TORN`) are cells each, and each happens when it does.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from gradual.history.annotations import PAIRS, TORN, Column
from gradual.history.columns import NO_LOCATION, NO_SOURCE, History
from gradual.history.reads_from import by_values
from gradual.history.values import first_byte, span_text

WIDEST = 8
"""Bytes of a value."""


class Span(NamedTuple):
    """The bytes from `start` to before `end`; the name of a location alone, where it is accessed in one way only."""

    start: int
    end: int
    name: str = ""

    def overlaps(self, other: Span) -> bool:
        return self.start < other.end and other.start < self.end

    @property
    def text(self) -> str:
        return self.name or span_text(self.start, self.end - self.start)


def clusters(spans: Iterable[Span]) -> Iterator[list[Span]]:
    """Spans that hang together by common bytes, each once."""
    found: list[Span] = []
    end = 0
    for span in sorted({*spans}):
        if found and span.start >= end:
            yield found
            found = []
        end = max(end, span.end) if found else span.end
        found.append(span)
    if found:
        yield found


def widest(location: Column, size: Column, locations: int) -> Column:
    """How many bytes the widest of some accesses to each location has; the last one is for fences."""
    found = np.zeros(locations + 1, dtype=np.int64)
    np.maximum.at(found, location, size)
    return found


def some_bits(values: Column, first: Column, count: Column) -> Column:
    """So many bits of each value, from one on."""
    unused = np.uint64(64) - count
    return ((values.astype(np.int64).view(np.uint64) >> first) << unused >> unused).view(np.int64)


def split(history: History) -> History:
    """The events of a history whose accesses mix sizes: rows by access, and by address within one."""
    return _Splitting(history).events()


class _Splitting:
    def __init__(self, history: History) -> None:
        self._history = history
        self._address = [first_byte(name) for name in history.locations]
        self._size = history.size if history.size is not None else np.zeros(len(history), dtype=np.int32)
        self._widest = widest(history.location, self._size, len(history.locations))
        torn = np.zeros(len(history), dtype=bool) if history.marks is None else (history.marks & TORN) != 0
        rows = np.stack([history.location, self._size, torn], axis=1)
        self._shapes, self._shape = np.unique(rows, axis=0, return_inverse=True)
        self._shape = self._shape.reshape(-1)
        self._spans = [self._span(location, size) for location, size, _ in self._shapes.tolist()]
        self._cells = self._cells_of_shapes()

    def _span(self, location: int, size: int) -> Span:
        if location == NO_LOCATION:
            return Span(-1, -1)
        address = self._address[location]
        return Span(address, address + size) if address is not None and size else self._named(location)

    def _named(self, location: int) -> Span:
        return Span(-1, -1, self._history.locations[location])

    def _cells_of_shapes(self) -> list[list[Span]]:
        """The cells of each shape of access; none of fences."""
        cuts: dict[Span, list[int]] = {}
        torn = {span for span, (_, _, is_torn) in zip(self._spans, self._shapes.tolist(), strict=True) if is_torn}
        for cluster in clusters(span for span in self._spans if span.start >= 0):
            marks = {mark for span in cluster
                     for mark in (range(span.start, span.end + 1) if span in torn else span[:2])}
            for span in cluster:
                cuts[span] = sorted(mark for mark in marks if span.start <= mark <= span.end)
        found: list[list[Span]] = []
        for span, (location, _, _) in zip(self._spans, self._shapes.tolist(), strict=True):
            if location == NO_LOCATION:
                found.append([])
            elif span.start < 0:
                found.append([span])
            else:
                found.append([Span(low, high) for low, high in pairwise(cuts[span])])
        return found

    def events(self) -> History:
        history = self._history
        counts = np.array([max(len(cells), 1) for cells in self._cells], dtype=np.int64)[self._shape]
        row = np.repeat(np.arange(len(history)), counts)
        first = np.cumsum(counts) - counts
        within = np.arange(len(row)) - first[row]
        numbers: dict[Span, int] = {}
        location = np.full(len(row), NO_LOCATION, dtype=np.int32)
        first_bit, bits = np.zeros(len(row), dtype=np.uint64), np.full(len(row), 64, dtype=np.uint64)
        for event, (shape, part) in enumerate(zip(self._shape[row].tolist(), within.tolist(), strict=True)):
            if cells := self._cells[shape]:
                cell = cells[part]
                location[event] = numbers.setdefault(cell, len(numbers))
                if len(cells) > 1:
                    first_bit[event] = 8 * (cell.start - self._spans[shape].start)
                    bits[event] = 8 * (cell.end - cell.start)
        read, written = (some_bits(column[row], first_bit, bits) for column in (history.read, history.written))
        initial, unknown, final_value, final_line = self._ends(numbers)
        columns: dict[str, Any] = {name: column[row] for name, column in history.annotations().items()
                                   if name not in PAIRS}
        columns["operation"] = row.astype(np.int32) if history.operation is None else columns["operation"]
        columns["part_of"] = row.astype(np.int32)
        found = replace(
            history, locations=tuple(cell.text for cell in numbers), thread=history.thread[row], kind=history.kind[row],
            location=location, read=read, written=written, source=np.full(len(row), NO_SOURCE, dtype=np.int32),
            line=history.line[row], tick=history.tick[row], initial=initial,
            final=np.full(len(numbers), NO_SOURCE, dtype=np.int32), final_value=final_value, final_line=final_line,
            unknown=None if history.unknown is None else unknown, mixed=False, whole=history,
            **(columns | self._pairs(first, counts, location)))
        return by_values(found).read_in(history.reading)

    def _ends(self, numbers: dict[Span, int]) -> tuple[Column, Column, Column, Column]:
        """What each cell starts with, where that is not known, and what it ends with. Locations that nobody accesses
        get a cell each."""
        history = self._history
        spans = []
        for at in range(len(history.locations)):
            spans.append(self._span(at, int(self._widest[at])))
            if spans[-1].name:
                numbers.setdefault(spans[-1], len(numbers))
        initial, final_value = np.zeros(len(numbers), dtype=np.int64), np.zeros(len(numbers), dtype=np.int64)
        final_line, unknown = np.full(len(numbers), -1, dtype=np.int64), np.ones(len(numbers), dtype=bool)
        cells = sorted(numbers)
        for at, span in enumerate(spans):
            here = [span] if span.name else cells[bisect_left(cells, (span.start,)):bisect_left(cells, (span.end,))]
            for cell in here:
                number = numbers[cell]
                if history.unknown is None or not history.unknown[at]:
                    initial[number], unknown[number] = _part(history.initial[at], span, cell), False
                if history.final_line[at] >= 0:
                    final_value[number] = _part(history.final_value[at], span, cell)
                    final_line[number] = history.final_line[at]
        return initial, unknown, final_value, final_line

    def _pairs(self, first: Column, counts: Column, location: Column) -> dict[str, Column]:
        """Dependencies lead from every event to every event; a load-reserved's to those of its store-conditional in
        the same cell."""
        found = {}
        for name in PAIRS:
            given = getattr(self._history, name)
            if given is None:
                continue
            pairs = [(a, b) for start, end in given.tolist() for a in range(first[start], first[start] + counts[start])
                     for b in range(first[end], first[end] + counts[end])
                     if name != "pair" or location[a] == location[b]]
            found[name] = np.array(pairs, dtype=np.int32).reshape(-1, 2)
        return found


def _part(value: int, span: Span, cell: Span) -> int:
    """The bytes of a cell, out of the value of a span."""
    if cell == span:
        return int(value)
    return (int(value) >> 8 * (cell.start - span.start)) & (1 << 8 * (cell.end - cell.start)) - 1


def wholes(history: History) -> Column:
    """The first event of the access that each event is part of."""
    events = np.arange(len(history))
    if history.part_of is None:
        return events
    torn = np.zeros(len(history), dtype=bool) if history.marks is None else (history.marks & TORN) != 0
    return np.where(torn, events, np.searchsorted(history.part_of, history.part_of))
