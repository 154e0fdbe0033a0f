"""A history: the operations of a trace as columns, with program order and reads-from.

Operations are numbered in the order of the trace. The operations of one thread appear in program
order, so `po` needs no column. Reads-from (`wr`) is the column `source`, found from the values.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from gradual.history.annotations import EXCLUSIVE, FULL, NO_TICK, Annotations, Column, fence_name, order_name
from gradual.history.values import value_text, visible


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
    notes: tuple[str, ...] = ()
    """What is legal and unusual about it, or was not known, in words."""

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
        """The operation as engineers write it: `W x=1`, `R.aq x=1`, `RMW x: 1→2`, `LR x=0`, `fence`, `fence w.w`."""
        kind = self.kind[operation]
        if kind == FENCE:
            orders = FULL if self.fence is None else int(self.fence[operation])
            return "fence" if orders == FULL else f"fence {fence_name(orders)}"
        marks = 0 if self.marks is None else int(self.marks[operation])
        order = f".{order_name(marks)}" if order_name(marks) else ""
        read, written = value_text(self.read[operation]), value_text(self.written[operation])
        if kind == RMW:
            return f"RMW{order} {visible(self.address(operation))}: {read}→{written}"
        plain, exclusive, value = ("W", "SC", written) if kind == WRITE else ("R", "LR", read)
        return f"{exclusive if marks & EXCLUSIVE else plain}{order} {visible(self.address(operation))}={value}"

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
        if times := self.times(operation):
            parts.append(f"time {times}")
        return ", ".join(parts)

    def describe(self, operation: int) -> str:
        return f"{self.what(operation)} ({self.where(operation)})"
