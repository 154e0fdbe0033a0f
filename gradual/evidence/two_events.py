"""Rmws taken for two events, a load and its store: the certificate's own reading of a trace, for models that say so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gradual.history import ACQUIRE, ATOMIC, NO_PLACE, NO_SOURCE, NO_TICK, RCPC, RELEASE, Column, History, Kind

ACQUIRING, RELEASING = ACQUIRE | RCPC, RELEASE | RCPC


def two_events(history: History) -> History:
    """Each rmw becomes a read, and a write put in behind it; reads-from is left out, as nobody here looks at it."""
    rmws = np.flatnonzero(history.kind == Kind.RMW)
    if not len(rmws):
        return history

    def doubled(column: Column, load: Column | int, store: Column | int) -> Column:
        column = column.copy()
        column[rmws] = load
        return np.insert(column, rmws + 1, store)

    def same(column: Column) -> Column:
        return doubled(column, column[rmws], column[rmws])

    marks = np.zeros(len(history), dtype=np.int8) if history.marks is None else history.marks
    load, store = (np.where(marks[rmws] & kind, marks[rmws] & kept, 0) | ATOMIC
                   for kind, kept in ((ACQUIRE, ACQUIRING), (RELEASE, RELEASING)))
    end = None if history.end is None else doubled(history.end, history.end[rmws], NO_TICK)
    order = None if history.order is None else doubled(history.order, NO_PLACE, history.order[rmws])
    optional: dict[str, Any] = {name: same(column) for name in ("size", "fence", "begin")
                if (column := getattr(history, name)) is not None}
    return replace(
        history, thread=same(history.thread), kind=doubled(history.kind, Kind.READ, Kind.WRITE),
        location=same(history.location), read=doubled(history.read, history.read[rmws], 0),
        written=doubled(history.written, 0, history.written[rmws]), line=same(history.line), tick=same(history.tick),
        source=np.full(len(history) + len(rmws), NO_SOURCE), marks=doubled(marks, load, store), end=end, order=order,
        **(optional | _pairs(history, rmws)))


def _pairs(history: History, rmws: Column) -> dict[str, Column | None]:
    """An operation is behind the stores of all rmws before it. Nothing depends on the store of an rmw; an address is
    that of its load and of its store, a value that of its store."""
    behind = np.searchsorted(rmws, np.arange(len(history)))
    load = np.arange(len(history)) + behind
    store = load + np.isin(np.arange(len(history)), rmws)
    found: dict[str, Column | None] = {}
    for name, ends in (("addr", (load, store)), ("data", (store,)), ("ctrl", (load,)), ("pair", (store,))):
        given = getattr(history, name)
        if given is not None:
            found[name] = np.unique([(load[a], end[b]) for a, b in given for end in ends], axis=0)
    pairs = found.get("pair")
    own = np.column_stack([load[rmws], store[rmws]])
    return found | {"pair": own if pairs is None else np.concatenate([pairs, own])}
