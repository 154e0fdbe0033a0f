"""What the sizes of accesses say of a history that is being built: do they mix, and can that be decided?"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from gradual.history.annotations import Column
from gradual.history.cells import WIDEST, Span, clusters
from gradual.history.columns import NO_LOCATION
from gradual.history.errors import InputError
from gradual.history.values import bytes_text, first_byte, span_text

Error = Callable[[str, int], InputError]
ADDRESSES = 1 << 64
"""How many there are."""


class Shape(NamedTuple):
    """Where an access starts, and its bytes (0: nobody says)."""

    location: int
    size: int


class Sizes:
    """The shapes of all accesses, each with the line where it is first met."""

    def __init__(self, keys: Sequence[int | str], rows: tuple[Column, Column, Column], tears: bool,
                 error: Error) -> None:
        location, size, line = rows
        self._keys = keys
        self._start = [first_byte(key) for key in keys]
        self._tears = tears
        self._error = error
        accesses = np.flatnonzero(location != NO_LOCATION)
        radix = int(size.max()) + 1
        shapes, first = np.unique(location[accesses] * radix + size[accesses], return_index=True)
        self._line = {Shape(*divmod(shape, radix)): met
                      for shape, met in zip(shapes.tolist(), line[accesses[first]].tolist(), strict=True)}
        self._spans = {shape: Span(start, start + shape.size) for shape in self._line
                       if shape.size and (start := self._start[shape.location]) is not None}
        self._stretches = list(clusters(self._spans.values()))
        """Spans that hang together, from low to high; there is no byte between those of one."""
        self._clusters = [cluster for cluster in self._stretches if len(cluster) > 1]
        self._widest: dict[int, int] = {}
        for shape in self._line:
            self._widest[shape.location] = max(self._widest.get(shape.location, 0), shape.size)
        self.torn = [shape for shape, span in self._spans.items() if tears and _misaligned(span)]
        """The shapes that are several accesses."""

    @property
    def mixed(self) -> bool:
        return bool(self._clusters or self.torn)

    def refuse_names(self) -> None:
        """A name has no bytes: all accesses to it must be of one size."""
        met: dict[int, Shape] = {}
        for shape in sorted(self._line, key=self._line.__getitem__):
            name = self._keys[shape.location]
            if self._start[shape.location] is None and shape.size:
                before = met.setdefault(shape.location, shape)
                if before != shape:
                    raise self._error(
                        f"{name} is accessed with {shape.size} bytes here and with {before.size} in line "
                        f"{self._line[before]}; which bytes these have in common only a number as address tells",
                        self._line[shape])

    def refuse_wraps(self) -> None:
        """No access goes on at the other end of the address space."""
        for shape, span in self._spans.items():
            if span.start < ADDRESSES < span.end:
                raise self._error(f"this access of {shape.size} bytes at {span.start:#x} goes beyond the last address, "
                                  f"{ADDRESSES - 1:#x}", self._line[shape])

    def refuse_other_widths(self, told: Iterable[tuple[int, int, int]]) -> None:
        """An initial or final value has as many bytes as the widest access that begins where it is."""
        for location, size, line in told:
            if size and (widest := self.widest(location)) and size != widest:
                raise self._error(f"this value is said to have {bytes_text(size)}, and the widest access that begins "
                                  f"at {self._at(location)} has {bytes_text(widest)}; give it that many, and a value "
                                  "of its own to each location", line)

    def refuse_unmet(self, told: Iterable[tuple[int, int, int | None, int]], what: str) -> None:
        """Values of locations with so many bytes (0: nobody says), by their lines, must begin where accesses do that
        have bytes of theirs."""
        for location, size, value, line in told:
            start = self._start[location]
            if start is not None and not self.widest(location):
                least = max(1, (max(value or 0, 0).bit_length() + 7) // 8)
                for byte in range(start, start + min(size or least, WIDEST)):
                    self._refuse_unmet(start, byte, line, what)

    def _refuse_unmet(self, start: int, byte: int, line: int, what: str) -> None:
        for span in self._around(byte)[:1]:
            raise self._error(f"no access starts at {start:#x}, so the bytes of its {what} value are not known; "
                              f"give that of {span_text(span.start, span.end - span.start)}", line)

    def refuse_what_is_not_defined(self) -> None:
        """Of a history that mixes sizes. Raises InputError."""
        line = {span: self._line[shape] for shape, span in self._spans.items()}
        for cluster in self._clusters:
            for span in cluster:
                size = span.end - span.start
                if size > WIDEST:
                    raise self._error(f"this access of {size} bytes at {span.start:#x} shares bytes with another one, "
                                      f"and values have {WIDEST} bytes at most; {SELECT}", line[span])
                if _misaligned(span) and not self._tears:
                    other = next(other for other in cluster if other != span and other.overlaps(span))
                    raise self._error(
                        f"this access of {size} bytes at {span.start:#x} is not aligned, and one of "
                        f"{other.end - other.start} bytes at {other.start:#x} (line {line[other]}) shares bytes with "
                        "it: whether it is one access or several, this format does not tell. Write one row per "
                        "aligned part, or select other addresses", line[span])
        for shape in self._line:
            key = self._start[shape.location]
            if not shape.size and key is not None and self._around(key):
                raise self._error(f"the size of this access at {key:#x} is not known, and accesses of different sizes "
                                  "overlap in this history; give it in the column size", self._line[shape])

    def _around(self, byte: int) -> list[Span]:
        """The spans that hang together around a byte; none where nobody accesses it."""
        place = bisect_right(self._stretches, byte, key=lambda spans: spans[0].start)
        found = self._stretches[place - 1] if place else []
        return found if any(byte < span.end for span in found) else []

    def fitting(self, values: Column, location: Column, size: Column, line: Column) -> Column:
        """The values as bytes: zero-extended, where the size is known. Raises InputError for a larger one."""
        wide = np.append(self._wide(), 0)  # the last one is for fences
        kept, large = low_bytes(values, np.where(size > 0, size, wide[location]))
        wrong = np.flatnonzero(large & (size > 0))
        if len(wrong):
            row = int(wrong[0])
            value = hex(int(values[row]) & (1 << 64) - 1)
            raise self._error(f"the value {value} does not fit into the size {size[row]} of this access at "
                              f"{self._at(int(location[row]))}", int(line[row]))
        return np.where(large, values, kept)

    def _wide(self) -> Column:
        return np.array([self.widest(location) for location in range(len(self._keys))], dtype=np.int64)

    def _at(self, location: int) -> str:
        start = self._start[location]
        return str(self._keys[location]) if start is None else f"{start:#x}"

    # --- what memory starts and ends with

    def held(self, values: Column, told: Mapping[int, int], what: str) -> Column:
        """What locations hold, as bytes; `told` has the lines of those that somebody gave a value of their own, which
        must fit. Raises InputError."""
        kept, large = low_bytes(values, self._wide())
        for location, line in told.items():
            if large[location]:
                raise self._error(f"the {what} value {int(values[location]) & (1 << 64) - 1:#x} does not fit into the "
                                  f"{self.widest(location)} bytes at {self._at(location)}", line)
        return kept

    def memory(self, told: Mapping[int, int], line: Callable[[int], int], what: str) -> dict[int, int]:
        """The bytes that values of some locations say, by address. Raises InputError where they contradict."""
        held: dict[int, int] = {}
        for location, value in told.items():
            for byte, number in self._bytes(location, value, line(location), what):
                if held.setdefault(byte, number) != number:
                    raise self._error(f"byte {byte:#x} is given two {what} values", line(location))
        return held

    def _bytes(self, location: int, value: int, line: int, what: str) -> Iterator[tuple[int, int]]:
        key = self._start[location]
        if key is not None and not self.widest(location):
            self._refuse_unmet(key, key, line, what)
        yield from zip(self.bytes_of(location), (value & (1 << 64) - 1).to_bytes(8, "little"), strict=False)

    def bytes_of(self, location: int) -> range:
        """The addresses of the bytes that a location has, as far as values have any."""
        start = self._start[location]
        return range(0) if start is None else range(start, start + min(self.widest(location), WIDEST))

    def widest(self, location: int) -> int:
        return self._widest.get(location, 0)


SELECT = "select other addresses (--addresses)"


def low_bytes(values: Column, size: Column) -> tuple[Column, Column]:
    """The values as memory has them in so many bytes (0: nobody says): zero-extended. And which are too large, that is
    neither zero- nor sign-extended."""
    sized = (size > 0) & (size < WIDEST)
    bits = np.where(sized, 8 * size.astype(np.int64), 63)
    kept = np.where(sized, values & ((np.int64(1) << bits) - 1), values)
    return kept, sized & (kept != values) & (values >> (bits - 1) != -1)


def _misaligned(span: Span) -> bool:
    size = span.end - span.start
    return size & (size - 1) != 0 or span.start % size != 0
