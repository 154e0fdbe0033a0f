"""The tables of the engine: rows of named fields, as records when compiled and as small objects when plain."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

MEMORY = 4 << 30
"""Bytes that any one table may take: beyond it the answer is unknown."""

FIELDS: dict[str, str] = {
    # per node, and one more: an operation, or a virtual node that stands for a set of them
    "node": "kind location slot out out_literal rank waits place state replaced parked",
    # per slot (a write; behind all operations the initial value of each location), and one more
    "slot": "unread readers",
    # per location: the slot it holds, the writes that wait there
    "place": "current parked",
    # per node, and one more, once there was a conflict: static edges into it, literals into it, and the walk
    "search": "into in_literal walked looked before by literal",
    # per static edge into a node, by the node: where it comes from, and by which kind of edge
    "origin": "node by",
    # per pair of writes that was a choice once: its two writes, and what is known of it
    "pair": "low high value position reason level activity:f8",
    # two per pair: low before high, high before low; also edges, chained by their ends
    "literal": "edge linked next_out next_in occurs",
    # the literals of all clauses, chained by literal
    "held": "literal clause next",
    # the log, and the nodes of its paths with the arrows into them
    "entry": "kind before after first past",
    "passage": "node by",
    # nodes on the way back from a write
    "queue": "node came by",
    # the one row of numbers that change all the time
    "now": ("operations nodes locations performed stacked heaped phase indexed buckets edges cycle choices stamp pairs "
            "assigned levels clauses held fresh followed learnt falsified proved entries passages seed:i8 bump:f8 "
            "budget:i8 conflicts:i8 known:i8 taken_back:i8"),
}


Entry = tuple[int, int, int, list[tuple[int, int]]]
"""An entry of the log: kind, before, after, and operations with the arrows into them, from the last one backwards."""


class Tables(NamedTuple):
    """Everything the kernels work on."""

    node: Any
    slot: Any
    place: Any
    edge: Any
    """The static edges as they were made."""
    to: Any
    """Static edges by the node they leave: node[a].out is the first one's place."""
    reader: Any
    """Reads by the slot they read: slot[s].readers is the first one's place."""
    run: Any
    stack: Any
    heap: Any
    search: Any
    origin: Any
    pair: Any
    literal: Any
    bucket: Any
    """Pairs, by a hash of their writes."""
    trail: Any
    level: Any
    fresh: Any
    learnt: Any
    clause: Any
    """Where the literals of each clause begin in `held`."""
    held: Any
    entry: Any
    passage: Any
    queue: Any
    now: Any


@cache
def _record(fields_text: str) -> np.dtype[Any]:
    fields = [(field, of or "i4") for field, _, of in (text.partition(":") for text in fields_text.split())]
    return np.dtype(fields, align=True)


@cache
def _row(name: str, fields_text: str) -> type:
    fields = tuple(text.partition(":")[0] for text in fields_text.split())

    def start(self: Any) -> None:
        for field in fields:
            setattr(self, field, 0)

    return type(name, (), {"__slots__": fields, "__init__": start})


def rows(name: str, length: int, plain: bool, of: dict[str, str] = FIELDS) -> Any:
    """A table of so many rows, all zero."""
    if plain:
        row = _row(name, of[name])
        return [row() for _ in range(length)]
    record = _record(of[name])
    if length * record.itemsize > MEMORY:
        raise MemoryError
    return np.zeros(length, dtype=record)


def numbers(length: int, plain: bool) -> Any:
    """A column of so many numbers, all zero."""
    return [0] * length if plain else np.zeros(length, dtype=np.int32)


def longer(table: Any, name: str, length: int, of: dict[str, str] = FIELDS) -> Any:
    """The same table with more rows; a column of numbers has no name."""
    if isinstance(table, list):
        return table + (rows(name, length - len(table), True, of) if name else [0] * (length - len(table)))
    if length * table.itemsize > MEMORY:
        raise MemoryError
    grown = np.zeros(length, dtype=table.dtype)
    grown[:len(table)] = table
    return grown


def get(row: Any, field: str) -> int:
    """A field of a row, outside of kernels."""
    return int(row[field] if isinstance(row, np.void) else getattr(row, field))


def put(row: Any, **values: int) -> None:
    """Set fields of a row, outside of kernels."""
    for field, value in values.items():
        if isinstance(row, np.void):
            row[field] = value
        else:
            setattr(row, field, value)
