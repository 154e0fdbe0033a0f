"""Reads of which it is open what they returned, as the kernels take them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gradual.deciding.engine.plan import Plan, filled
from gradual.history import INITIAL, READ, Column, History

Candidates = Mapping[int, tuple[int, ...]]
"""What open reads may have returned; and which writes a final value may be of, under the number of operations plus that
of the location."""


def tables(plan: Plan, candidates: Candidates, plain: bool) -> tuple[Any, Any]:
    """The open reads, in ascending order, and the candidates of one behind those of the other."""
    (history,) = plan.histories
    readers = np.array(sorted(candidates), dtype=np.int64)
    counts = np.array([len(candidates[reader]) for reader in readers.tolist()], dtype=np.int64)
    reader = np.repeat(readers, counts)
    write = np.array([write for reader in readers.tolist() for write in candidates[reader]], dtype=np.int64)
    node = np.where(readers < len(history), readers, -1)
    first = np.cumsum(np.r_[0, counts])
    known = (reader < len(history)) & (write != INITIAL)
    edge = np.zeros(len(write), dtype=np.int64)
    edge[known] = plan.reads_in_order(write[known], reader[known])
    own = np.where((node >= 0) & plan.sees_own_writes, _own_writes(history)[node], -1)
    return (filled("open", np.c_[np.r_[node, -1], np.r_[own, -1], first], plain),
            filled("candidate", np.c_[write, reader, edge], plain))


def _own_writes(history: History) -> Column:
    """The last write of its thread at its location before each operation, or -1."""
    order = np.lexsort((np.arange(len(history)), history.location, history.thread))
    wrote = np.where(history.kind[order] == READ, -1, np.arange(len(order)))
    last = np.r_[-1, np.maximum.accumulate(wrote)[:-1]]
    place = np.stack([history.thread, history.location])
    same = (last >= 0) & (place[:, order[last]] == place[:, order]).all(axis=0)
    found = np.empty(len(history), dtype=np.int64)
    found[order] = np.where(same, order[last], -1)
    return found
