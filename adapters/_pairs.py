"""Dependencies and pairs of the operations of a table, as its columns say them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from gradual.history import EXCLUSIVE, FENCE, READ, RMW, WRITE, Column

from ._cells import Integers, Words
from ._rows import number, numbers


class Known(NamedTuple):
    """What there is to know of every row."""

    who: Column
    """A number for each thread of each history; -1 where the row is no operation."""
    kind: Column
    marks: Column


def pairs_of(columns: Mapping[str, Integers | Words], rows: Known) -> tuple[dict[str, Column], Column]:
    """For each of PAIRS rows of two operations, an earlier and a later one of its thread, sorted, each pair once. And
    the rows that only the row path understands."""
    own = _Own(rows.who)
    said = {name: own.said(*_listed(name, column)) for name, column in columns.items()}
    named = (rows.kind == READ) | (rows.kind == RMW) | ((rows.marks & EXCLUSIVE) > 0)
    if "pair" in said:
        named[said["pair"][1]] = True
    found, odd = {}, []
    for name, (earlier, later) in said.items():
        met, names = earlier >= 0, rows.kind == READ if name == "pair" else named
        odd.append(later[~(met & names[earlier] & _depends(name, rows.kind[later]))])
        found[name] = _sorted(earlier[met], later[met], len(rows.kind))
    if "pair" in found:
        earlier, later = found["pair"].T
        odd.append(later[1:][earlier[1:] == earlier[:-1]])  # it has its store-conditional already
    return found, np.concatenate(odd)


def _depends(name: str, kind: Column) -> Column:
    """May operations of these kinds say so?"""
    if name == "addr":
        return np.asarray(kind != FENCE)
    writes = kind == WRITE
    return writes if name == "pair" else writes | (kind == RMW) if name == "data" else np.ones_like(writes)


def _sorted(earlier: Column, later: Column, rows: int) -> Column:
    return np.column_stack(np.divmod(np.unique(earlier.astype(np.int64) * rows + later), rows))


class _Own:
    """The operations of each thread, as it counts them."""

    def __init__(self, who: Column) -> None:
        self._who = who
        self._rows = np.argsort(who, kind="stable")
        count = np.bincount(who.astype(np.int64) + 1)
        self._start, self._count = np.cumsum(count)[:-1], count[1:]

    def said(self, later: Column, number: Column) -> tuple[Column, Column]:
        """The operations that rows name by number, -1 where there is no such earlier one; and these rows, if they are
        operations themselves."""
        operates = self._who[later] >= 0
        later, number = later[operates], number[operates]
        of = self._who[later]
        known = (number > 0) & (number <= self._count[of])
        row = self._rows[self._start[of] + np.where(known, number, 1) - 1]
        return np.where(known & (row < later), row, -1), later


def _listed(name: str, column: Integers | Words) -> tuple[Column, Column]:
    """The rows that name operations, once for each, and their numbers: 0 for what is none."""
    if isinstance(column, Integers):
        rows = np.arange(len(column)) if column.given is None else np.flatnonzero(column.given)
        return rows, column.value[rows].view(np.int64)
    cells = [_read(name, cell) for cell in column.words]
    count, flat = np.array([len(cell) for cell in cells]), np.array([one for cell in cells for one in cell])
    rows = np.flatnonzero(column.code >= 0)
    code = column.code[rows]
    each = count[code]
    place = np.arange(each.sum()) - np.repeat(np.cumsum(each) - each, each)
    return np.repeat(rows, each), flat.astype(np.int64)[np.repeat((np.cumsum(count) - count)[code], each) + place]


def _read(name: str, cell: str) -> list[int]:
    try:
        found = [number(cell, name)] if name == "pair" and cell.strip() else numbers(cell, name)
    except ValueError:
        return [0]
    return [one if 0 < one < 1 << 31 else 0 for one in found]
