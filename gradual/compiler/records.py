"""Tables of kernels: rows of named fields, as records when compiled and as small objects when plain."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

MEMORY = 4 << 30
"""Bytes that any one table may take: beyond it the answer is unknown."""
UNSIGNED = {"i1": "u1", "b1": "u1"}
"""How kernels take small numbers, none of which are negative."""


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


def rows(name: str, length: int, plain: bool, of: dict[str, str]) -> Any:
    """A table of so many rows, all zero."""
    if plain:
        row = _row(name, of[name])
        return [row() for _ in range(length)]
    record = _record(of[name])
    if length * record.itemsize > MEMORY:
        raise MemoryError
    return np.zeros(length, dtype=record)


def column(name: str, numbers: Any, plain: bool) -> Any:
    """A table of one field, a column of a history: nothing is copied when compiled, if its numbers have that type."""
    if plain:
        row = _row(name, name)
        made = [row() for _ in range(len(numbers))]
        for each, number in zip(made, numbers.tolist(), strict=True):
            setattr(each, name, number)
        return made
    return np.ascontiguousarray(numbers).view(np.dtype([(name, UNSIGNED.get(numbers.dtype.str[1:], numbers.dtype))]))


def longer(table: Any, name: str, length: int, of: dict[str, str]) -> Any:
    """The same table with more rows."""
    if isinstance(table, list):
        return table + rows(name, length - len(table), True, of)
    if length * table.itemsize > MEMORY:
        raise MemoryError
    grown = np.zeros(length, dtype=table.dtype)
    grown[:len(table)] = table
    return grown


def get(row: Any, field: str) -> int:
    """A field of a row, outside of kernels."""
    return int(row[field] if isinstance(row, np.void) else getattr(row, field))


def told(rows: Any) -> list[tuple[int, ...]]:
    """All fields of some rows, outside of kernels."""
    if isinstance(rows, np.ndarray):
        return rows.tolist()  # type: ignore[no-any-return]
    return [tuple(getattr(row, field) for field in row.__slots__) for row in rows]


def put(row: Any, **values: int) -> None:
    """Set fields of a row, outside of kernels."""
    for field, value in values.items():
        if isinstance(row, np.void):
            row[field] = value
        else:
            setattr(row, field, value)
