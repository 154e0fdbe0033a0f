"""Operations in an order: the places they have, and what comes before them in groups."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradual.evidence.errors import require
from gradual.history import Column


def place_of(events: Column) -> Column:
    place = np.empty(len(events), dtype=np.int64)
    place[events] = np.arange(len(events))
    return place


class Groups:
    """Operations in some order, those with equal keys in one group."""

    def __init__(self, order: Column, key: Column) -> None:
        small = key[order].astype(np.min_scalar_type(int(key.max(initial=0))))  # small numbers are sorted much faster
        self._order = order[np.argsort(small, kind="stable")]  # stable: the order stays within groups
        self._group = np.cumsum(np.diff(key[self._order], prepend=-1) != 0)

    def latest(self, chosen: Column, number: Column) -> Column:
        """For each operation the greatest number of the chosen ones before it in its group, or -1."""
        higher = self._group * (len(chosen) + 1)  # than any number of the group before
        given = np.where(chosen, number, -1)[self._order] + higher
        before = np.r_[[-1], np.maximum.accumulate(given)[:-1]] if len(given) else given
        found = np.empty(len(chosen), dtype=np.int64)
        found[self._order] = np.maximum(before - higher, -1)
        return found


def each_once(order: Sequence[int] | Column, count: int) -> Column:
    """`order` as a column, which must hold the numbers below `count`, each once."""
    column = np.asarray(order, dtype=np.int64).reshape(-1)
    once = len(column) == count and (not count or (
        column.min() >= 0 and column.max() < count and bool((np.bincount(column) == 1).all())))
    require(once, "an order must hold every operation once")
    return column
