"""Rmws as two events, a load and a store, as some models take them.

The store follows its load in the thread with nothing between, and the two are a pair, as a load-reserved and its
store-conditional are. What the address depends on both depend on, what the value does the store; what depended on the
rmw depends on its load. It acquires by its load and releases by its store.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gradual.history.annotations import ACQUIRE, ATOMIC, NO_PLACE, NO_TICK, PAIRS, RCPC, RELEASE, Column
from gradual.history.columns import NO_SOURCE, READ, RMW, WRITE, History


def events_of(operations: Column, kinds: Column) -> Column:
    """The operations of these kinds, an rmw twice: what is halved has its events in this order."""
    return np.repeat(operations, 1 + (kinds == RMW))


def halved(history: History) -> History:
    """The same history with two events for each rmw, which know whose they are (`History.operation`)."""
    if not (history.kind == RMW).any():
        return history
    operation = events_of(np.arange(len(history)), history.kind)
    again = np.diff(operation, prepend=-1) == 0
    load, store = np.append(again[1:], False), again
    first, last = np.flatnonzero(~store), np.flatnonzero(~load)

    def written(sources: Column) -> Column:
        return np.where(sources >= 0, last[np.maximum(sources, 0)], sources).astype(np.int32)

    kind = np.where(load, READ, np.where(store, WRITE, history.kind[operation])).astype(np.int8)
    columns: dict[str, Any] = {name: column[operation] for name, column in history.annotations().items()
                               if name not in PAIRS}
    columns["marks"] = _marks(columns.get("marks", np.zeros(len(operation), dtype=np.int8)), load, store)
    for name, half, nothing in (("end", store, NO_TICK), ("order", load, NO_PLACE)):
        if name in columns:
            columns[name][half] = nothing
    found = replace(
        history, thread=history.thread[operation], kind=kind, location=history.location[operation],
        read=np.where(store, 0, history.read[operation]), written=np.where(load, 0, history.written[operation]),
        source=np.where(store, NO_SOURCE, written(history.source)[operation]).astype(np.int32),
        line=history.line[operation], tick=history.tick[operation], final=written(history.final),
        operation=operation.astype(np.int32), **(columns | _pairs(history, first, last)))
    return found.read_in(history.reading)


def _marks(marks: Column, load: Column, store: Column) -> Column:
    """Each half keeps what it does of acquire and release."""
    lost = np.where(load, RELEASE, np.where(store, ACQUIRE, 0))
    kept = np.where(load | store, (marks & ~lost) | ATOMIC, marks)
    plain = (load | store) & ((kept & (ACQUIRE | RELEASE)) == 0)
    return np.where(plain, kept & ~RCPC, kept).astype(np.int8)


def _pairs(history: History, first: Column, last: Column) -> dict[str, Column]:
    """The pairs of operations as pairs of events."""
    def between(name: str, *ends: Column) -> Column:
        given = getattr(history, name)
        start, end = (np.zeros((0, 2), dtype=np.int32) if given is None else given).T
        both = [np.stack([first[start], there[end]], axis=1) for there in ends]
        return np.unique(np.concatenate(both), axis=0).astype(np.int32)

    found = {"addr": between("addr", first, last), "data": between("data", last), "ctrl": between("ctrl", first)}
    rmws = np.flatnonzero(history.kind == RMW)
    own = np.stack([first[rmws], last[rmws]], axis=1)
    found = {name: pairs for name, pairs in found.items() if len(pairs)}
    return found | {"pair": np.unique(np.concatenate([between("pair", last), own]), axis=0).astype(np.int32)}
