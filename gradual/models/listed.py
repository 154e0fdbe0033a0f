"""Relations that a history has as lists of pairs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradual.history import Column, History

READING = {"rf": (1, 1), "rfi": (1, 0), "rfe": (0, 1)}
"""Reads-from: within a thread, across threads."""
GIVEN = {"addr": "addr", "data": "data", "ctrl": "ctrl", "rmw": "pair"}
"""What a trace says; of `ctrl` the first operations that have a control dependency."""


def listed(histories: Sequence[History], relation: str) -> Column:
    """The pairs of such a relation, without those of initial writes; operations are numbered through all histories."""
    starts = np.cumsum([0, *map(len, histories)])
    return np.concatenate([_pairs(history, relation).astype(np.int64).reshape(-1, 2) + start
                           for history, start in zip(histories, starts, strict=False)])


def _pairs(history: History, relation: str) -> Column:
    if relation in READING:
        reads = history.reads
        sources = history.source[reads]
        within, across = READING[relation]
        same = history.thread[np.maximum(sources, 0)] == history.thread[reads]
        kept = (sources >= 0) & np.where(same, within == 1, across == 1)
        return np.stack([sources[kept], reads[kept]], axis=1)
    pairs: Column | None = getattr(history, GIVEN[relation])
    return np.zeros((0, 2), dtype=np.int32) if pairs is None else pairs
