"""What some traces say about operations besides kind, place and value: all that weak memory models look at.

None where a trace says nothing of the kind, so that a plain history has no column for it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

Column = NDArray[Any]

NO_TICK = -1
"""As a time: the trace has none."""
NO_PLACE = -1
"""As a place in the store order: the trace has none."""

RR, RW, WR, WW = 1, 2, 4, 8
"""Of a fence: the pairs, before and after it, that it orders."""
FULL = RR | RW | WR | WW
TSO_FENCE = RR | RW | WW
INSTRUCTIONS = 16
"""A fence of instruction fetches (fence.i, ISB): it orders no accesses by itself."""
FENCES = {
    "r.r": RR, "r.w": RW, "r.rw": RR | RW, "w.r": WR, "w.w": WW, "w.rw": WR | WW,
    "rw.r": RR | WR, "rw.w": RW | WW, "rw.rw": FULL, "tso": TSO_FENCE, "i": INSTRUCTIONS,
}
"""The kinds of fences there are, `p.s` for accesses p before it and s after it."""

ACQUIRE, RELEASE, RCPC, EXCLUSIVE, ATOMIC, TORN = 1, 2, 4, 8, 16, 32
"""Marks of an access. RCPC: its acquire and release are not ordered among each other (else RCsc). EXCLUSIVE: it is
a load-reserved, or a store-conditional that succeeded. ATOMIC: it is the load or the store of an rmw that is taken for
two events (`halves.py`); no trace says so. TORN: it is misaligned, and its bytes may be accessed one by one."""
AQRL = {
    "aq": ACQUIRE, "rl": RELEASE, "aqrl": ACQUIRE | RELEASE,
    "aq.pc": ACQUIRE | RCPC, "rl.pc": RELEASE | RCPC, "aqrl.pc": ACQUIRE | RELEASE | RCPC,
}
"""Acquire and release as traces spell them."""

PAIRS = ("addr", "data", "ctrl", "pair")
"""The annotations that are pairs of operations."""
ABSENT = {"begin": NO_TICK, "end": NO_TICK, "order": NO_PLACE}
"""What stands in those that are numbers where a trace says nothing; 0 in all others."""


def fence_name(orders: int) -> str:
    """The name in FENCES of what a fence orders."""
    return next(name for name, kind in FENCES.items() if kind == orders)


def aqrl_name(marks: int) -> str:
    """The name in AQRL of the marks of an access, empty where they say nothing of the kind."""
    return next((name for name, kind in AQRL.items() if kind == marks & (ACQUIRE | RELEASE | RCPC)), "")


@dataclass(frozen=True, eq=False, kw_only=True)
class Annotations:
    """The columns that only some histories have."""

    size: Column | None = field(default=None, repr=False)
    """int32: bytes accessed, 0 where that is unknown."""
    fence: Column | None = field(default=None, repr=False)
    """int8: which pairs a fence orders, one of FENCES; 0 for other operations. None: every fence is full."""
    marks: Column | None = field(default=None, repr=False)
    """int8: ACQUIRE, RELEASE, RCPC, EXCLUSIVE, ATOMIC, TORN."""
    begin: Column | None = field(default=None, repr=False)
    """int64: when the operation was issued, NO_TICK where that is unknown."""
    end: Column | None = field(default=None, repr=False)
    """int64: when it was answered, NO_TICK where that is unknown."""
    order: Column | None = field(default=None, repr=False)
    """int64: of a write, its place in the store order of its location as the trace tells it; NO_PLACE where it does
    not. Of two writes with different places the lower one comes first; equal places leave it open."""
    addr: Column | None = field(default=None, repr=False)
    """int32 pairs (earlier, later), sorted, both of one thread: the address of the later depends on the earlier."""
    data: Column | None = field(default=None, repr=False)
    """The same of the value written."""
    ctrl: Column | None = field(default=None, repr=False)
    """The same of whether the later takes place."""
    pair: Column | None = field(default=None, repr=False)
    """int32 pairs, sorted: a load-reserved and its successful store-conditional."""
    operation: Column | None = field(default=None, repr=False)
    """int32: the operation of the trace that each event is, where one is several of them. None: each has its own."""
    part_of: Column | None = field(default=None, repr=False)
    """int32: the access that each event is part of, in events of accesses that mix sizes (`cells.py`): a row of
    `History.whole`."""

    def annotations(self) -> dict[str, Column]:
        """The columns there are, by name."""
        names = [one.name for one in fields(Annotations)]
        return {name: column for name in names if (column := getattr(self, name)) is not None}

    def some(self, operations: Column) -> Annotations:
        """The annotations of some operations (a mask), which are numbered anew. Pairs that lose an end are lost."""
        number = np.cumsum(operations) - 1
        found = {}
        for name, column in self.annotations().items():
            if name in PAIRS:
                found[name] = number[column[operations[column].all(axis=1)]].astype(np.int32)
            else:
                found[name] = column[operations]
        return annotated(**found)

    def times(self, operation: int) -> str:
        """`10:20`, from begin to end; empty where neither is known."""
        if self.begin is None and self.end is None:
            return ""
        begin, end = ("" if column is None or column[operation] == NO_TICK else str(column[operation])
                      for column in (self.begin, self.end))
        return f"{begin}:{end}" if begin or end else ""


def annotated(**columns: Column) -> Annotations:
    """Annotations of these columns, without those that say nothing: so what is the same looks the same."""
    return Annotations(**{name: column for name, column in columns.items() if says_anything(name, column).any()})


def says_anything(name: str, column: Column) -> Column:
    """Where a column of annotations says more than its absence would."""
    if name in PAIRS:
        return np.ones(len(column), dtype=bool)
    if name == "fence":
        return np.asarray((column != 0) & (column != FULL))
    return np.asarray(column != ABSENT.get(name, 0))


NOTHING = Annotations()
