"""A history: the operations of a trace as columns, with program order and reads-from.

Operations are numbered in the order of the trace. The operations of one thread appear in program
order, so `po` needs no column. Reads-from (`wr`) is the column `source`, found from the values.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import cached_property
from typing import Any

import numpy as np

from gradual.history.annotations import (
    ATOMIC,
    EXCLUSIVE,
    FULL,
    NO_PLACE,
    NO_TICK,
    TORN,
    Annotations,
    Column,
    aqrl_name,
    fence_name,
)
from gradual.history.values import first_byte, span_text, value_text, visible


class Kind(IntEnum):
    """What an operation is. An rmw is one event that reads and writes one location."""

    READ = 0
    WRITE = 1
    RMW = 2
    FENCE = 3


READ, WRITE, RMW, FENCE = (int(kind) for kind in Kind)  # plain numbers compare faster

INITIAL = -1
"""As a source: the initial write of the location."""
THIN_AIR = -2
"""As a source: nobody wrote the value."""
NO_SOURCE = -3
"""As a source: the operation reads nothing (or, in `final`, nothing is demanded)."""
AMBIGUOUS = -4
"""As a source: one of several writes of the same value; `reads_from.candidates` says which."""

NO_LOCATION = -1

STORE_ORDER, REAL_TIME = "store-order", "real-time"
"""What a trace may know besides the values: in which order its stores reached memory, and that its times are those of
one clock."""


@dataclass(frozen=True, eq=False)
class History(Annotations):
    """A finished history. Build one with `Builder`, or read one with `gradual.read`.

    What only some traces say about operations is inherited, and None in the others.
    """

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
    """int32: the write each read or rmw reads from, or INITIAL, THIN_AIR, AMBIGUOUS, NO_SOURCE."""
    line: Column
    """int64: where the operation stands in the file, 0 where that is unknown."""
    tick: Column
    """int64: its time in the trace, NO_TICK where there is none. Never used to order anything."""
    initial: Column
    """int64 per location: its value before any write."""
    final: Column
    """int32 per location: the write that must be last, or INITIAL, THIN_AIR, AMBIGUOUS, NO_SOURCE."""
    final_value: Column
    final_line: Column
    notes: tuple[str, ...] = ()
    """What is legal and unusual about it, or was not known, in words."""
    real_time: bool = False
    """Are its times those of one clock, between which accesses took place? Then one that ended before another began
    came first, whatever the threads."""
    elsewhere: int | None = field(default=None, init=False, repr=False)
    """What the trace says that all other locations start with, where it says so."""
    files: tuple[str, ...] = ()
    """Of a history that was joined from several files, the one that each thread came from."""
    unknown: Column | None = field(default=None, repr=False)
    """bool per location: nobody knows what memory held there. `initial` has then what was read, or demanded at the end,
    and nobody wrote; where there is no such value, one that nobody reads or writes."""
    reading: float = field(default=0.0, init=False, repr=False)
    """Seconds that reading it took, its share where many were read together; 0 where nobody looked."""
    mixed: bool = False
    """Do accesses of different sizes share bytes, or are some torn? Then its locations are where accesses start, it is
    open what was read, and `cells.split` has its events."""
    whole: History | None = field(default=None, repr=False)
    """Of such events: the history whose accesses they are part of (`part_of`)."""

    @classmethod
    def of(cls, columns: dict[str, Any]) -> History:
        """One of these columns, and of nothing else, as a call has it; of many small ones, that takes too long."""
        found = object.__new__(cls)
        vars(found).update(columns)
        return found

    def __len__(self) -> int:
        return len(self.kind)

    @property
    def operations(self) -> int:
        """The operations of the trace: an rmw that is two events here is one there."""
        return len(self) if self.operation is None else int(np.count_nonzero(np.diff(self.operation, prepend=-1)))

    def number(self, operation: int) -> int:
        """The number that the trace has for it, from 0."""
        return int(operation if self.operation is None else self.operation[operation])

    def numbers(self, operations: Sequence[int] | Column) -> list[int]:
        """The numbers that the trace has for these: both events of an rmw have one."""
        given = np.asarray(operations, dtype=np.int64)
        found: list[int] = (given if self.operation is None else self.operation[given]).tolist()
        return found

    def read_in(self, seconds: float) -> History:
        """The same, with the time it took to read it."""
        found = copy(self)
        object.__setattr__(found, "reading", seconds)
        return found

    def starting_with(self, elsewhere: int | None) -> History:
        """The same, with what the trace says that all other locations start with."""
        found = copy(self)
        object.__setattr__(found, "elsewhere", elsewhere)
        return found

    def further_down(self, lines: int) -> History:
        """The same, so many lines further down."""
        found = copy(self)
        object.__setattr__(found, "line", self.line + lines)
        object.__setattr__(found, "final_line", np.where(self.final_line >= 0, self.final_line + lines, -1))
        return found

    def is_half(self, operation: int) -> bool:
        """Is it the load or the store of an rmw that is two events?"""
        return self.marks is not None and bool(self.marks[operation] & ATOMIC)

    @property
    def given(self) -> tuple[str, ...]:
        """What it knows besides the values: STORE_ORDER, REAL_TIME."""
        return (STORE_ORDER,) * (self.order is not None) + (REAL_TIME,) * self.real_time

    def knowing(self, given: Container[str]) -> History:
        """The same, with no more than this of what it knows besides the values."""
        if all(name in given for name in self.given):
            return self
        return replace(self, order=self.order if STORE_ORDER in given else None,
                       real_time=self.real_time and REAL_TIME in given).read_in(self.reading)

    def tells(self, before: int, after: int) -> bool:
        """Does the trace tell that one write of a location was stored before another?"""
        return self.order is not None and bool(NO_PLACE < self.order[before] < self.order[after])

    def to_pandas(self) -> Any:
        """A DataFrame with a row per operation, which `gradual.check` takes again. As in CSV, what locations start
        with (where it is not 0) and end with are rows too, `init` (`unknown` where nobody knows) and `final`."""
        import pandas as pd

        kind, nowhere = self.kind, self.location == NO_LOCATION
        names = np.array([*self.locations, None], dtype=object)
        rows = pd.DataFrame({
            "thread": np.array(self.threads, dtype=object)[self.thread],
            "op": np.array(["R", "W", "RMW", "F"], dtype=object)[kind], "address": names[self.location],
            "value": pd.array(np.where(kind == READ, self.read, self.written), dtype="Int64"),
            "read": pd.array(self.read, dtype="Int64"),
            "time": pd.array(self.tick, dtype="Int64"), "line": pd.array(self.line, dtype="Int64")})
        rows.loc[nowhere, "value"] = pd.NA
        rows.loc[kind != RMW, "read"] = pd.NA
        rows.loc[self.tick == NO_TICK, "time"] = pd.NA
        rows.loc[self.line == 0, "line"] = pd.NA
        unknown = np.zeros(len(self.locations), dtype=bool) if self.unknown is None else self.unknown
        before = [{"op": "unknown", "address": self.locations[at]} if unknown[at] else
                  {"op": "init", "address": self.locations[at], "value": int(self.initial[at])}
                  for at in np.flatnonzero((self.initial != 0) | unknown)]
        after = [{"op": "final", "address": self.locations[at], "value": int(self.final_value[at])}
                 for at in np.flatnonzero(self.final_line >= 0)]
        if self.mixed and self.size is not None:
            rows["size"] = pd.array(self.size, dtype="Int64")
            rows.loc[self.size == 0, "size"] = pd.NA
        parts = [pd.DataFrame(part, columns=rows.columns).astype(rows.dtypes) for part in (before, after)]
        return pd.concat([parts[0], rows, parts[1]], ignore_index=True) if before or after else rows

    def _repr_html_(self) -> str:
        """For notebooks: its size, and the beginning and the end as a table."""
        from html import escape

        size = f"{len(self)} operations, {len(self.threads)} threads, {len(self.locations)} locations"
        rows = self.to_pandas().dropna(axis=1, how="all")
        table = rows.to_html(max_rows=20, na_rep="", border=0)
        return f"<p><b>{escape(visible(self.name))}</b>: {size}</p>{table}"

    @property
    def anything(self) -> Column | None:
        """bool per location: memory may have held any value, as somebody wrote all that is read there. None: nowhere,
        or sizes mix: `cells.split` tells"""
        if self.unknown is None or self.mixed:
            return None
        found = self.unknown.copy()
        reads = self.reads[self.read[self.reads] == self.initial[self.location[self.reads]]]
        found[self.location[reads]] = False
        found[(self.final_line >= 0) & (self.final_value == self.initial)] = False
        return found

    @property
    def ambiguous(self) -> bool:
        """May any read, or final value, come from several writes?"""
        return self.mixed or bool((self.source == AMBIGUOUS).any() or (self.final == AMBIGUOUS).any())

    def read_as(self, origins: Iterable[tuple[int, int]]) -> History:
        """The same, each of these readers (a read; the number of operations plus that of a location for its final
        value) having read from that write, or INITIAL."""
        source, final = self.source.copy(), self.final.copy()
        for reader, write in origins:
            if reader < len(self):
                source[reader] = write
            else:
                final[reader - len(self)] = write
        return replace(self, source=source, final=final)

    @property
    def reads(self) -> Column:
        """Operations that read: reads and rmws."""
        return np.flatnonzero((self.kind == READ) | (self.kind == RMW))

    @property
    def writes(self) -> Column:
        """Operations that write: writes and rmws."""
        return np.flatnonzero((self.kind == WRITE) | (self.kind == RMW))

    @cached_property
    def on_one_line(self) -> bool:
        """Does all of it stand on one line, or is that unknown?"""
        return self.operations > 1 and not self.files and bool(
            self.line[0] == self.line[-1] and (self.line == self.line[0]).all())

    def access(self, operation: int) -> tuple[History, int]:
        """The access that an event is part of, and its history: itself, but where sizes mix."""
        if self.whole is None or self.part_of is None or self.is_torn(operation):
            return self, operation
        return self.whole, int(self.part_of[operation])

    def is_torn(self, operation: int) -> bool:
        """Is it a misaligned access whose bytes are accessed one by one?"""
        return self.marks is not None and bool(self.marks[operation] & TORN)

    def address(self, operation: int) -> str:
        """Its location as the trace calls it; where sizes mix, all bytes of it."""
        name: str = self.locations[self.location.item(operation)]
        if not self.mixed or self.size is None or not self.size[operation] or (start := first_byte(name)) is None:
            return name
        return span_text(start, int(self.size[operation]))

    def what(self, operation: int, address: str | None = None) -> str:
        """The operation as engineers write it: `W x=1`, `R.aq x=1`, `RMW x: 1→2`, `LR x=0`, `fence`, `fence w.w`;
        of an rmw that is two events, `RMW R x=1` and `RMW W x=2`.

        `address` is what to call its location instead, where there is little room.
        """
        whole, row = self.access(operation)
        if whole is not self:
            return whole.what(row, address)
        kind = self.kind.item(operation)
        if kind == FENCE:
            orders = FULL if self.fence is None else int(self.fence[operation])
            return "fence" if orders == FULL else f"fence {fence_name(orders)}"
        marks = 0 if self.marks is None else int(self.marks[operation])
        order = f".{name}" if marks and (name := aqrl_name(marks)) else ""
        at = visible(self.address(operation)) if address is None else address
        value = self.value_text((self.written if kind == WRITE else self.read).item(operation))
        if kind == RMW:
            return f"RMW{order} {at}: {value}→{self.value_text(self.written.item(operation))}"
        plain, exclusive = ("W", "SC") if kind == WRITE else ("R", "LR")
        name = exclusive if marks & EXCLUSIVE else f"RMW {plain}" if self.is_half(operation) else plain
        torn = ""
        if self.whole is not None and self.part_of is not None:
            torn = f" of {self.whole.address(int(self.part_of[operation]))}"
        return f"{name}{order} {at}={value}{torn}"

    def value_text(self, value: int) -> str:
        """A value for people: in hex where it may be looked at byte by byte."""
        return hex(value & (1 << 64) - 1) if value > 9 and (self.mixed or self.whole is not None) else value_text(value)

    def file_of(self, operation: int) -> str:
        """The file that the operation came from."""
        return self.files[int(self.thread[operation])] if self.files else self.file

    def at_line(self, operation: int) -> str:
        """`line 3`, or, of several files, `line 3 of hart1.log`."""
        line = f"line {self.line.item(operation)}"
        if not self.files:
            return line
        file, names = self.file_of(operation), {*map(os.path.basename, self.files)}
        return f"{line} of {visible(os.path.basename(file) if len(names) == len({*self.files}) else file)}"

    def where(self, operation: int) -> str:
        """Where the operation stands: thread, line and tick, as far as the trace has them."""
        thread = visible(self.threads[self.thread.item(operation)])
        parts = [f"thread {thread}" if thread.isdigit() else thread]
        if self.on_one_line:
            parts.append(f"operation {self.number(operation) + 1}")
        elif self.line.item(operation) > 0:
            parts.append(self.at_line(operation))
        if self.tick.item(operation) != NO_TICK:
            parts.append(f"tick {self.tick[operation]}")
        if times := self.times(operation):
            parts.append(f"time {times}")
        return ", ".join(parts)

    def describe(self, operation: int) -> str:
        return f"{self.what(operation)} ({self.where(operation)})"
