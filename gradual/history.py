"""A history: the operations of a trace as columns, with program order and reads-from.

Operations are numbered in the order of the trace. The operations of one thread appear in program
order, so `po` needs no column. Reads-from (`wr`) is the column `source`, found from the values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Column = NDArray[Any]


class Kind(IntEnum):
    """What an operation is. An rmw is one event that reads and writes one location."""

    READ = 0
    WRITE = 1
    RMW = 2
    FENCE = 3


READ, WRITE, RMW, FENCE = Kind

INITIAL = -1
"""As a source: the initial write of the location."""
THIN_AIR = -2
"""As a source: nobody wrote the value."""
NO_SOURCE = -3
"""As a source: the operation reads nothing (or, in `final`, nothing is demanded)."""

NO_LOCATION = -1
NO_TICK = -1


def visible(text: str) -> str:
    """Text from a trace without characters that would move the cursor."""
    return text if text.isprintable() else "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class InputError(Exception):
    """A history that cannot be checked as it was given, in words for the person who gave it."""

    def __init__(self, message: str, file: str = "", line: int = 0, history: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        self.line = line
        self.history = history

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line) if part)
        return f"{place}: {self.message}" if place else self.message


class NoMemory(InputError):
    """A history that there is not enough memory to read."""

    def __init__(self, file: str, history: str = "", *, rest: bool = False) -> None:
        more = ", nor what follows" if rest else ""
        super().__init__(f"there is not enough memory to read it{more}", file, 0, history)
        self.rest = rest
        """Nothing more comes of this file."""


def reason(error: OSError) -> str:
    """Why the system refused, as part of a sentence."""
    return (error.strerror or str(error)).lower()


_NUMBER = re.compile(r"\s*[+-]?(0[xX][0-9a-fA-F]{1,4000}|[0-9]{1,4000})\s*", re.ASCII)


def parse_number(text: str) -> int:
    """A number as traces spell it: decimal, or hex with 0x. Raises ValueError.

    >>> parse_number("0x10"), parse_number("007"), parse_number("-1")
    (16, 7, -1)
    """
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{text!r} is not a number")
    return int(text, 16 if "x" in text or "X" in text else 10)


def word(value: int) -> int:
    """`value` as a 64-bit word in two's complement: values are compared as the memory holds them.

    >>> word(0xFFFFFFFFFFFFFFFF) == word(-1) == -1
    True
    """
    if not -(1 << 63) <= value < 1 << 64:
        shown = str(value) if abs(value) < 10**40 else "of over 40 digits"
        raise ValueError(f"value {shown} does not fit into 64 bits")
    return value - (1 << 64) if value >= 1 << 63 else value


def value_text(value: int) -> str:
    """A value for people: decimal, or hex when the top bit of the word is set."""
    return str(value) if value >= 0 else hex(int(value) + (1 << 64))


@dataclass(frozen=True, eq=False)
class History:
    """A finished history. Build one with `Builder`, or read one with `gradual.read`."""

    name: str
    file: str
    """Where it came from, as the user named it; "-" is standard input."""
    threads: tuple[str, ...]
    locations: tuple[str, ...]
    thread: Column
    """int32: index into `threads`."""
    kind: Column
    """int8: a `Kind`."""
    location: Column
    """int32: index into `locations`, NO_LOCATION for a fence."""
    read: Column
    """int64: the value a read or rmw returned."""
    written: Column
    """int64: the value a write or rmw stored."""
    source: Column
    """int32: the write each read or rmw reads from, or INITIAL, THIN_AIR, NO_SOURCE."""
    line: Column
    """int64: where the operation stands in the file, 0 where that is unknown."""
    tick: Column
    """int64: its time in the trace, NO_TICK where there is none. Never used to order anything."""
    initial: Column
    """int64 per location: its value before any write."""
    final: Column
    """int32 per location: the write that must be last, or INITIAL, THIN_AIR, NO_SOURCE."""
    final_value: Column
    final_line: Column
    size: Column | None = field(default=None, repr=False)
    """int32 bytes per operation, where the trace has them."""

    def __len__(self) -> int:
        return len(self.kind)

    @property
    def reads(self) -> Column:
        """Operations that read: reads and rmws."""
        return np.flatnonzero((self.kind == READ) | (self.kind == RMW))

    @property
    def writes(self) -> Column:
        """Operations that write: writes and rmws."""
        return np.flatnonzero((self.kind == WRITE) | (self.kind == RMW))

    def address(self, operation: int) -> str:
        return self.locations[int(self.location[operation])]

    def what(self, operation: int) -> str:
        """The operation as engineers write it: `W x=1`, `R x=1`, `RMW x: 1→2`, `fence`."""
        kind = self.kind[operation]
        if kind == FENCE:
            return "fence"
        read, written = value_text(self.read[operation]), value_text(self.written[operation])
        if kind == RMW:
            return f"RMW {visible(self.address(operation))}: {read}→{written}"
        name, value = ("W", written) if kind == WRITE else ("R", read)
        return f"{name} {visible(self.address(operation))}={value}"

    def where(self, operation: int) -> str:
        """Where the operation stands: thread, line and tick, as far as the trace has them."""
        thread = visible(self.threads[int(self.thread[operation])])
        parts = [f"thread {thread}" if thread.isdigit() else thread]
        if len(self) > 1 and self.line[0] == self.line[-1]:  # a whole history on one line
            parts.append(f"operation {operation + 1}")
        elif self.line[operation] > 0:
            parts.append(f"line {self.line[operation]}")
        if self.tick[operation] != NO_TICK:
            parts.append(f"tick {self.tick[operation]}")
        return ", ".join(parts)

    def describe(self, operation: int) -> str:
        return f"{self.what(operation)} ({self.where(operation)})"


class Addresses:
    """The address ranges a user selected, half-open. No range keeps everything."""

    def __init__(self, ranges: Iterable[tuple[int, int]] = ()) -> None:
        self.ranges = tuple(ranges)

    @classmethod
    def parse(cls, texts: Iterable[str]) -> Addresses:
        return cls(cls._range(text) for text in texts)

    @staticmethod
    def _range(text: str) -> tuple[int, int]:
        low, colon, high = text.partition(":")
        try:
            bounds = parse_number(low), parse_number(high)
        except ValueError:
            colon = ""
        if not colon or bounds[0] >= bounds[1]:
            raise ValueError(f"{text!r} is not an address range; write LO:HI, for example 0x1000:0x2000")
        return bounds

    def __bool__(self) -> bool:
        return bool(self.ranges)

    def __contains__(self, address: int) -> bool:
        return any(low <= address < high for low, high in self.ranges)

    def __str__(self) -> str:
        return ", ".join(f"{low:#x}:{high:#x}" for low, high in self.ranges)


BLOCK = 256
"""Histories of one file that stay together when several readers share it."""


class Share(NamedTuple):
    """Of the histories of a file, every so many blocks."""

    place: int = 0
    of: int = 1

    def has(self, number: int) -> bool:
        return number // BLOCK % self.of == self.place


EVERY = Share()


class Skipped(InputError):
    """In the place of a history that is not in the reader's share."""


@dataclass(frozen=True)
class Options:
    """What a user asks of every adapter."""

    addresses: Addresses = field(default_factory=Addresses)
    """Only accesses inside these ranges are kept (fences always are)."""
    initial: int = 0
    """The value every location starts with, unless the trace or `initial_at` says otherwise."""
    initial_at: dict[int | str, int] = field(default_factory=dict)
    """Initial values of single locations, by address."""
    share: Share = EVERY
    """The histories that are wanted. An adapter may give `Skipped` for others: where that is much faster."""


DEFAULT = Options()


def location_key(address: int | str) -> int | str:
    """What identifies a location: 0x10, "0x10" and 16 are one; any other text stands for itself."""
    if isinstance(address, str):
        try:
            return parse_number(address)
        except ValueError:
            return address.strip()
    return int(address)


class Builder:
    """Collects the operations of one history in trace order and closes it with `build`.

    Every method raises InputError with the line that was wrong.
    """

    def __init__(self, name: str, file: str, options: Options = DEFAULT) -> None:
        self.name = name
        self.file = file
        self.options = options
        self._threads: dict[str, int] = {}
        self._locations: dict[int | str, int] = {}
        self._location_names: list[str] = []
        self._spelled: dict[int | str, int] = {}
        """Locations by the spellings met so far: most accesses need no second look."""
        self._rows: list[tuple[int, int, int, int, int, int, int, int]] = []
        self._initial: dict[int, int] = {}
        self._initial_default = options.initial
        self._final: dict[int, tuple[int, int]] = {}
        self._left_out: tuple[int, int] | None = None

    def __len__(self) -> int:
        return len(self._rows)

    def error(self, message: str, line: int = 0) -> InputError:
        return InputError(message, self.file, line, self.name)

    def read(self, thread: str, address: int | str, value: int, *, line: int = 0, tick: int = NO_TICK,
             size: int = 0) -> None:
        self._add(thread, READ, address, value, 0, line, tick, size)

    def write(self, thread: str, address: int | str, value: int, *, line: int = 0, tick: int = NO_TICK,
              size: int = 0) -> None:
        self._add(thread, WRITE, address, 0, value, line, tick, size)

    def rmw(self, thread: str, address: int | str, read: int, written: int, *, line: int = 0,
            tick: int = NO_TICK, size: int = 0) -> None:
        self._add(thread, RMW, address, read, written, line, tick, size)

    def fence(self, thread: str, *, line: int = 0, tick: int = NO_TICK) -> None:
        self._rows.append((self._thread(thread), FENCE, NO_LOCATION, 0, 0, line, tick, 0))

    def initial(self, address: int | str | None, value: int, *, line: int = 0) -> None:
        """The value of a location before any write; of every location where `address` is None."""
        value = self._word(value, line)
        if address is None:
            self._initial_default = value
        elif (location := self._location(address, line)) != NO_LOCATION and (
                self._initial.setdefault(location, value) != value):
            raise self.error(f"{self._location_names[location]} is given two initial values", line)

    def final(self, address: int | str, value: int, *, line: int = 0) -> None:
        """The value a location must be left with: a constraint on its last write."""
        location = self._location(address, line)
        if location == NO_LOCATION:
            return
        value = self._word(value, line)
        if self._final.setdefault(location, (value, line))[0] != value:
            raise self.error(f"{self._location_names[location]} is given two final values", line)

    def _add(self, thread: str, kind: Kind, address: int | str, read: int, written: int, line: int,
             tick: int, size: int) -> None:
        location = self._location(address, line)
        if location != NO_LOCATION:
            self._rows.append((self._thread(thread), kind, location, self._word(read, line),
                               self._word(written, line), line, tick, size))

    def _word(self, value: int, line: int) -> int:
        try:
            return word(value)
        except ValueError as error:
            raise self.error(str(error), line) from None

    def _thread(self, thread: str) -> int:
        return self._threads.setdefault(thread, len(self._threads))

    def _location(self, address: int | str, line: int) -> int:
        known = self._spelled.get(address)
        if known is None:
            known = self._spelled[address] = self._new_location(address, line)
        return known

    def _new_location(self, address: int | str, line: int) -> int:
        key = location_key(address)
        if key in self._locations:
            return self._locations[key]
        if self.options.addresses:
            if isinstance(key, str):
                raise self.error(f"address {key!r} is not a number, so --addresses cannot select it", line)
            if key not in self.options.addresses:
                low, high = self._left_out or (key, key)
                self._left_out = min(low, key), max(high, key)
                return NO_LOCATION
        self._locations[key] = len(self._location_names)
        self._location_names.append(address.strip() if isinstance(address, str) else str(address))
        return self._locations[key]

    def build(self) -> History:
        """The history, with reads-from found from the values."""
        if self._left_out and not self._locations:
            low, high = self._left_out
            raise self.error(f"no access falls inside --addresses {self.options.addresses}; "
                             f"this trace touches {low:#x} to {high:#x}")
        rows = np.array(self._rows, dtype=np.int64).reshape(-1, 8)
        thread, kind, location, read, written, line, tick, size = rows.T
        if size.any():
            self._refuse_overlaps(location, size, line)
        initial = np.full(len(self._locations), word(self._initial_default), dtype=np.int64)
        for at, value in self._initial.items():
            initial[at] = value
        for key, value in self.options.initial_at.items():
            if key in self._locations:
                initial[self._locations[key]] = word(value)
        final_value = np.zeros(len(self._locations), dtype=np.int64)
        final_line = np.full(len(self._locations), -1, dtype=np.int64)
        for at, (value, at_line) in self._final.items():
            final_value[at], final_line[at] = value, at_line
        return history_from_columns(
            self.name, self.file, tuple(self._threads), tuple(self._location_names),
            thread.astype(np.int32), kind.astype(np.int8), location.astype(np.int32), read.copy(),
            written.copy(), line.copy(), tick.copy(), initial, final_value, final_line,
            size.astype(np.int32) if size.any() else None)

    def _refuse_overlaps(self, location: Column, size: Column, line: Column) -> None:
        """Accesses of different widths to common bytes have no single reads-from: say so."""
        accesses: dict[tuple[int, int], int] = {}
        addresses = {index: key for key, index in self._locations.items()}
        for at, width, row_line in zip(location.tolist(), size.tolist(), line.tolist(), strict=True):
            key = addresses.get(at)
            if width and isinstance(key, int):
                accesses.setdefault((key, width), row_line)
        last: tuple[int, int] | None = None
        for start, width in sorted(accesses):
            if last and start < last[0] + last[1]:
                raise self.error(
                    f"accesses of different width overlap: {last[1]} bytes at {last[0]:#x} (line "
                    f"{accesses[last]}) and {width} bytes at {start:#x} (line {accesses[start, width]}); "
                    "select addresses that are always accessed with one width", accesses[start, width])
            last = (start, width)


def history_from_columns(
    name: str, file: str, threads: Sequence[str], locations: Sequence[str], thread: Column, kind: Column,
    location: Column, read: Column, written: Column, line: Column, tick: Column, initial: Column,
    final_value: Column, final_line: Column, size: Column | None = None,
) -> History:
    """A history from its columns; `final_line` is -1 where a location has no final value."""
    source, final = _reads_from(kind, location, read, written, initial, final_value, final_line >= 0)
    history = History(
        name, file, tuple(threads), tuple(locations), thread, kind, location, read, written,
        np.where((kind == READ) | (kind == RMW), source, NO_SOURCE).astype(np.int32), line, tick, initial,
        np.where(final_line >= 0, final, NO_SOURCE).astype(np.int32), final_value, final_line, size)
    _refuse_ambiguity(history)
    return history


AMBIGUOUS = -4


def _reads_from(kind: Column, location: Column, read: Column, written: Column, initial: Column,
                final_value: Column, has_final: Column) -> tuple[Column, Column]:
    """The source of every read and of every final value, by sorting writes on (location, value)."""
    writes = np.flatnonzero((kind == WRITE) | (kind == RMW))
    reads = np.flatnonzero((kind == READ) | (kind == RMW))
    ends = np.flatnonzero(has_final)
    at = np.concatenate([location[reads], ends]).astype(np.int64)
    value = np.concatenate([read[reads], final_value[ends]])
    distinct, code = np.unique(np.concatenate([written[writes], value]), return_inverse=True)
    key = location[writes].astype(np.int64) * (len(distinct) + 1) + code[: len(writes)]
    order = np.argsort(key, kind="stable")
    key, wanted = key[order], at * (len(distinct) + 1) + code[len(writes):]
    first, past = np.searchsorted(key, wanted, "left"), np.searchsorted(key, wanted, "right")
    found = np.full(len(wanted), THIN_AIR, dtype=np.int64)
    starts = value == initial[at] if len(at) else np.zeros(0, dtype=bool)
    found[starts] = INITIAL
    one = past > first
    found[one] = writes[order[first[one]]]
    found[(past - first) + starts > 1] = AMBIGUOUS
    source = np.full(len(kind), NO_SOURCE, dtype=np.int64)
    source[reads] = found[: len(reads)]
    final = np.full(len(initial), NO_SOURCE, dtype=np.int64)
    final[ends] = found[len(reads):]
    return source, final


def _refuse_ambiguity(history: History) -> None:
    """Raise when a value that somebody observed could have come from two writes."""
    observed = np.flatnonzero(history.source == AMBIGUOUS)
    if len(observed):
        reader = int(observed[0])
        at, value = int(history.location[reader]), int(history.read[reader])
        seen = f"{history.describe(reader)} may have read either"
        line = int(history.line[reader])
    else:
        ends = np.flatnonzero(history.final == AMBIGUOUS)
        if not len(ends):
            return
        at = int(ends[0])
        value, line = int(history.final_value[at]), int(history.final_line[at])
        seen = f"the final value {history.locations[at]}={value_text(value)} (line {line}) may be either"
    writers = [w for w in history.writes if history.location[w] == at and history.written[w] == value]
    candidates = [history.describe(w) for w in writers]
    if history.initial[at] == value:
        candidates.insert(0, f"the initial value {history.locations[at]}={value_text(value)}")
    raise InputError(
        f"the value {value_text(value)} of {history.locations[at]} has two origins: {candidates[0]} and "
        f"{candidates[1]}; {seen}. Give every write to a location its own value, different from the "
        "initial one", history.file, line, history.name)
