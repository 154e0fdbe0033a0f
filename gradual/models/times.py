"""When accesses were issued and answered, as far as time dependencies look at it."""

from __future__ import annotations

import numpy as np

from gradual.history import FENCE, NO_TICK, READ, RMW, Column, History

NEVER = np.iinfo(np.int64).max


def ends(history: History) -> Column:
    """When each operation was answered: NEVER for what is no read, or where nobody knows."""
    reads = (history.kind == READ) | (history.kind == RMW)
    if history.end is None:
        return np.full(len(history), NEVER)
    return np.where(reads & (history.end != NO_TICK), history.end, NEVER)


def by_thread(history: History) -> Column:
    """The operations thread by thread. Small numbers are sorted much faster."""
    return np.argsort(history.thread.astype(np.min_scalar_type(len(history.threads))), kind="stable")


def known_begins(history: History) -> Column:
    """For each access a time at which it had begun, for sure: its own, or the last that is given before it in its
    thread. Where times go back, none that is later than one that comes after. NO_TICK where there is none, and of
    fences, whose times count for nothing."""
    accesses = history.kind != FENCE
    if history.begin is None:
        return np.full(len(history), NO_TICK)
    order = by_thread(history)
    begin = np.where(accesses, history.begin, NO_TICK)[order]
    known = np.empty(len(begin), dtype=np.int64)
    for thread in np.split(np.arange(len(begin)), np.flatnonzero(np.diff(history.thread[order])) + 1):
        given = begin[thread] != NO_TICK
        least = np.minimum.accumulate(np.where(given, begin[thread], NEVER)[::-1])[::-1]
        known[order[thread]] = np.maximum.accumulate(np.where(given, least, NO_TICK))
    return np.where(accesses, known, NO_TICK)
