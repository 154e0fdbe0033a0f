"""A history: the operations of a trace as columns, with program order and reads-from.

Operations are numbered in the order of the trace. The operations of one thread appear in program
order, so `po` needs no column. Reads-from (`wr`) is the column `source`, found from the values.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

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
    reading: float = field(default=0.0, init=False, repr=False)
    """Seconds that reading it took, its share where many were read together; 0 where nobody looked."""

    def __len__(self) -> int:
        return len(self.kind)

    def read_in(self, seconds: float) -> History:
        """The same, with the time it took to read it."""
        found = copy(self)
        object.__setattr__(found, "reading", seconds)
        return found

    def to_pandas(self) -> Any:
        """A DataFrame with a row per operation, which `gradual.check` takes again. As in CSV, what locations start
        with (where it is not 0) and end with are rows too, `init` and `final`."""
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
        before = [{"op": "init", "address": self.locations[at], "value": int(self.initial[at])}
                  for at in np.flatnonzero(self.initial)]
        after = [{"op": "final", "address": self.locations[at], "value": int(self.final_value[at])}
                 for at in np.flatnonzero(self.final_line >= 0)]
        parts = [pd.DataFrame(part, columns=rows.columns).astype(rows.dtypes) for part in (before, after)]
        return pd.concat([parts[0], rows, parts[1]], ignore_index=True) if before or after else rows

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

    def what(self, operation: int, address: str | None = None) -> str:
        """The operation as engineers write it: `W x=1`, `R.aq x=1`, `RMW x: 1→2`, `LR x=0`, `fence`, `fence w.w`.

        `address` is what to call its location instead, where there is little room.
        """
        kind = self.kind[operation]
        if kind == FENCE:
            orders = FULL if self.fence is None else int(self.fence[operation])
            return "fence" if orders == FULL else f"fence {fence_name(orders)}"
        marks = 0 if self.marks is None else int(self.marks[operation])
        order = f".{order_name(marks)}" if order_name(marks) else ""
        read, written = value_text(self.read[operation]), value_text(self.written[operation])
        at = visible(self.address(operation)) if address is None else address
        if kind == RMW:
            return f"RMW{order} {at}: {read}→{written}"
        plain, exclusive, value = ("W", "SC", written) if kind == WRITE else ("R", "LR", read)
        return f"{exclusive if marks & EXCLUSIVE else plain}{order} {at}={value}"

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
