"""Parts of histories: some of the operations, as a history of their own."""

from __future__ import annotations

import numpy as np

from gradual.history.annotations import Column
from gradual.history.cells import widest
from gradual.history.columns import INITIAL, NO_LOCATION, NO_SOURCE, THIN_AIR, History
from gradual.history.reads_from import by_values
from gradual.history.sizes import low_bytes


def part(history: History, operations: Column, finals: Column) -> History:
    """The history of some operations and final values only (masks), values and lines as they were.

    A read whose source is left out reads from thin air; of an ambiguous one, the writes that are left count. Threads
    and locations are those that are left, in the order in which they come up: so a reader of the written file numbers
    them too. Where sizes mix, initial and final values have as many bytes as the widest access that is left; a final
    value of more is left out.
    """
    initial = history.initial
    if history.mixed and history.size is not None:
        whole, left = (widest(history.location[some], history.size[some], len(initial))[:-1]
                       for some in (np.ones_like(operations), operations))
        finals = finals & (whole == left)
        initial = low_bytes(initial, left)[0]
    places = locations_of(history, operations, finals)
    threads = _first(history.thread[operations])
    number = np.append(np.cumsum(operations) - 1, [0, 0, 0, 0])  # room for the sources that are no operations
    kept = np.append(operations, [False] * 4)

    def renumbered(sources: Column) -> Column:
        lost = (sources >= 0) & ~kept[sources]
        return np.where(lost, THIN_AIR, np.where(sources >= 0, number[sources], sources)).astype(np.int32)

    final = renumbered(history.final[places])
    final[(final == THIN_AIR) & (history.final_value[places] == initial[places])] = INITIAL
    found = History(
        history.name, history.file, tuple(history.threads[t] for t in threads),
        tuple(history.locations[x] for x in places),
        _index(threads, len(history.threads))[history.thread[operations]], history.kind[operations],
        np.append(_index(places, len(history.locations)), np.int32(NO_LOCATION))[history.location[operations]],
        history.read[operations], history.written[operations], renumbered(history.source[operations]),
        history.line[operations], history.tick[operations], initial[places],
        np.where(finals[places], final, NO_SOURCE).astype(np.int32),
        np.where(finals[places], history.final_value[places], 0),
        np.where(finals[places], history.final_line[places], -1), history.notes,
        history.real_time, tuple(history.files[t] for t in threads) if history.files else (),
        None if history.unknown is None else history.unknown[places], history.mixed, None,
        **(history.some(operations).annotations() | _control(history, operations)))
    return by_values(found) if found.ambiguous or found.unknown is not None else found


def _control(history: History, operations: Column) -> dict[str, Column]:
    """Control dependencies: what comes after an operation that has one has it too, so that is told of the next one."""
    if history.ctrl is None:
        return {}
    order = np.argsort(history.thread, kind="stable")[::-1]
    left, last = np.full(len(order), -1), dict[int, int]()
    for operation in order.tolist():
        thread = int(history.thread[operation])
        if operations[operation]:
            last[thread] = operation
        left[operation] = last.get(thread, -1)
    source, target = history.ctrl[:, 0], left[history.ctrl[:, 1]]
    kept = operations[source] & (target >= 0)
    number = np.cumsum(operations) - 1
    pairs = np.unique(np.stack([number[source[kept]], number[target[kept]]], axis=1), axis=0).astype(np.int32)
    return {"ctrl": pairs} if len(pairs) else {}


def locations_of(history: History, operations: Column, finals: Column) -> Column:
    """The locations that a part has, in the order in which they come up."""
    at = history.location[operations]
    return _first(np.concatenate([at[at != NO_LOCATION], np.flatnonzero(finals)]))


def _first(numbers: Column) -> Column:
    """Each number once, in the order of first appearance."""
    distinct, first = np.unique(numbers, return_index=True)
    ordered: Column = distinct[np.argsort(first)].astype(np.int64)
    return ordered


def _index(chosen: Column, count: int) -> Column:
    """For each of `count` numbers its place among the chosen ones, NO_LOCATION when it has none."""
    index = np.full(count, NO_LOCATION, dtype=np.int32)
    index[chosen] = np.arange(len(chosen), dtype=np.int32)
    return index
