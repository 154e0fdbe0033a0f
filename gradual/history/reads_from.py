"""Reads-from, found from the values: the only place that does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gradual.history.annotations import EXCLUSIVE, NO_TICK, NOTHING, Annotations, Column
from gradual.history.columns import AMBIGUOUS, FENCE, INITIAL, NO_SOURCE, READ, RMW, THIN_AIR, WRITE, History


def history_from_columns(
    name: str, file: str, threads: Sequence[str], locations: Sequence[str], thread: Column, kind: Column,
    location: Column, read: Column, written: Column, line: Column, tick: Column, initial: Column,
    final_value: Column, final_line: Column, more: Annotations = NOTHING,
    notes: tuple[str, ...] = (), unknown: Column | None = None,
) -> History:
    """A history from its columns; `final_line` is -1 where a location has no final value."""
    values = Values(kind, location, read, written, initial, final_value, final_line >= 0).supposing(unknown)
    source, final = sources(values)
    return noted(History(
        name, file, tuple(threads), tuple(locations), thread, kind, location, read, written, source,
        line, tick, values.initial, final, final_value, final_line, notes, False, (), unknown,
        False, None,
        **more.annotations()))


def noted(history: History) -> History:
    """With what is legal and unusual about it among its notes."""
    if history.marks is None and history.begin is None:
        return history
    unusual = (*_unusual_pairs(history), *_unusual_times(history))
    return replace(history, notes=(*history.notes, *unusual)) if unusual else history


def _unusual_times(history: History) -> Iterator[str]:
    if history.begin is None:
        return
    timed = np.flatnonzero((history.begin != NO_TICK) & (history.kind != FENCE))
    timed = timed[np.argsort(history.thread[timed], kind="stable")]
    back = timed[1:][(np.diff(history.thread[timed]) == 0) & (np.diff(history.begin[timed]) < 0)]
    if len(back):
        first = history.describe(int(back.min()))
        yield (f"{_counted(len(back), 'access begins', 'accesses begin')} before one that stands before it in its "
               f"thread, {first} first: an access counts as begun when it and all after it had")


CONDITIONALS = ("store-conditional has", "store-conditionals have")


def _unusual_pairs(history: History) -> Iterator[str]:
    """Store-conditionals that are legal, and unusual."""
    if history.marks is None:
        return
    load, store = (np.zeros((0, 2), dtype=np.int32) if history.pair is None else history.pair).T
    alone = (history.kind == WRITE) & ((history.marks & EXCLUSIVE) != 0)
    alone[store] = False
    if alone.any():
        first = history.describe(int(np.flatnonzero(alone)[0]))
        yield f"{_counted(int(alone.sum()), *CONDITIONALS)} no load-reserved, {first} first: nothing makes it atomic"
    apart = store[history.location[load] != history.location[store]]
    if len(apart):
        yield (f"{_counted(len(apart), *CONDITIONALS)} a load-reserved of another address, "
               f"{history.describe(int(apart.min()))} first: nothing makes it atomic")


def _counted(count: int, one: str, several: str) -> str:
    return f"{count} {one if count == 1 else several}"


class Values(NamedTuple):
    """What reads-from follows from: of one history, or of many whose locations are numbered through."""

    kind: Column
    location: Column
    read: Column
    written: Column
    initial: Column
    """Per location, as the rest."""
    final_value: Column
    has_final: Column
    anything: Column | None = None
    """Where memory may have held any value, as in `History`."""

    def supposing(self, unknown: Column | None) -> Values:
        """With initial values where nobody knows them (a mask), as `History.unknown` has them."""
        if unknown is None:
            return self
        seen = _seen(self, by_sorting)
        first = np.flatnonzero((seen.writers == 0) & unknown[seen.at])[::-1]  # of several at a location it comes last
        initial, anything = self.initial.copy(), unknown.copy()
        initial[unknown] = _unused(np.concatenate([seen.value, self.written]))
        initial[seen.at[first]], anything[seen.at[first]] = seen.value[first], False
        return self._replace(initial=initial, anything=anything)


class _Seen(NamedTuple):
    """The values that were read, and then those that are demanded at the end."""

    reads: Column
    ends: Column
    """The operations, and the locations."""
    at: Column
    value: Column
    writers: Column
    """How many wrote each."""
    writer: Column
    """One of them, or THIN_AIR."""


def _seen(values: Values, numbered: Callable[[Column], Column]) -> _Seen:
    writes = np.flatnonzero((values.kind == WRITE) | (values.kind == RMW)).astype(np.int32)
    reads = np.flatnonzero((values.kind == READ) | (values.kind == RMW))
    ends = np.flatnonzero(values.has_final)
    at = np.concatenate([values.location[reads], ends])
    value = np.concatenate([values.read[reads], values.final_value[ends]])
    where = values.location[writes]
    own, wanted, count = _coded(values.written[writes], value, numbered)
    writer = _last(own, writes, count)
    if (writer[own] == writes).all():  # each value was written once
        found = np.where(_last(own, where, count)[wanted] == at, writer[wanted], np.int32(THIN_AIR))
        return _Seen(reads, ends, at, value, found != THIN_AIR, found)
    own, wanted, count = _coded(where.astype(np.int64) * count + own, at * count + wanted, numbered)
    return _Seen(reads, ends, at, value, np.bincount(own, minlength=count)[wanted], _last(own, writes, count)[wanted])


def _coded(written: Column, wanted: Column, numbered: Callable[[Column], Column]) -> tuple[Column, Column, int]:
    """Numbers from 0 on, equal ones for equal ones, and how many there may be."""
    low = int(min(written.min(initial=0), wanted.min(initial=0)))
    count = int(max(written.max(initial=0), wanted.max(initial=0))) - low + 1
    if count <= 4 * (len(written) + len(wanted)):
        return written - low, wanted - low, count
    codes = numbered(np.concatenate([written, wanted]))
    return codes[: len(written)], codes[len(written):], int(codes.max(initial=-1)) + 1


def _last(codes: Column, what: Column, count: int) -> Column:
    """What the last one with each code has, or THIN_AIR."""
    found = np.full(count, THIN_AIR, dtype=np.int32)
    found[codes] = what
    return found


def _unused(values: Column) -> int:
    """The least number from 0 on that is not among these."""
    taken = np.unique(values[(values >= 0) & (values <= len(values))])
    return int(np.flatnonzero(np.append(taken, -1) != np.arange(len(taken) + 1))[0])


def by_sorting(codes: Column) -> Column:
    """Equal codes get equal numbers, from 0 on."""
    numbers: Column = np.unique(codes, return_inverse=True)[1]
    return numbers


def sources(values: Values, numbered: Callable[[Column], Column] = by_sorting) -> tuple[Column, Column]:
    """The source of every operation and of every final value, as in `History`. An initial value that somebody wrote
    again is not the last one.

    `numbered` gives equal codes equal numbers: who has something faster than sorting passes it.
    """
    seen = _seen(values, numbered)
    reads, ends = seen.reads, seen.ends
    starts = seen.value == values.initial[seen.at]
    if values.anything is not None:
        starts |= values.anything[seen.at]
    starts[len(reads):] &= seen.writers[len(reads):] == 0
    found = np.where(starts, np.int32(INITIAL), seen.writer)
    found[seen.writers > np.where(starts, 0, 1)] = AMBIGUOUS
    source = np.full(len(values.kind), NO_SOURCE, dtype=np.int32)
    final = np.full(len(values.initial), NO_SOURCE, dtype=np.int32)
    source[reads], final[ends] = found[: len(reads)], found[len(reads):]
    return source, final


def by_values(history: History) -> History:
    """The same, with reads-from found again; where sizes mix, all that is read is open."""
    if history.mixed:
        read, last = (history.kind == READ) | (history.kind == RMW), history.final_line >= 0
        return replace(history, source=np.where(read, AMBIGUOUS, NO_SOURCE).astype(np.int32),
                       final=np.where(last, AMBIGUOUS, NO_SOURCE).astype(np.int32))
    values = Values(history.kind, history.location, history.read, history.written, history.initial,
                    history.final_value, history.final_line >= 0).supposing(history.unknown)
    source, final = sources(values)
    return replace(history, source=source, final=final, initial=values.initial)


def supposed(history: History) -> History:
    """The same, taking `initial` for what memory held: one way it can have been."""
    return history if history.unknown is None else by_values(replace(history, unknown=None))


def candidates(history: History) -> dict[int, tuple[int, ...]]:
    """The writes that an ambiguous read or rmw may have returned, INITIAL first; and, under the number of operations
    plus that of the location, those that an ambiguous final value may be of.

    Of one location where memory may have held anything, all that is read from INITIAL is one value.
    """
    writers: dict[tuple[int, int], list[int]] = {}
    for write in history.writes.tolist():
        writers.setdefault((int(history.location[write]), int(history.written[write])), []).append(write)
    found = {}
    anything = history.anything
    for read in np.flatnonzero(history.source == AMBIGUOUS).tolist():
        at, value = int(history.location[read]), int(history.read[read])
        starts = history.initial[at] == value or (anything is not None and anything[at])
        found[read] = (*[INITIAL] * bool(starts), *writers.get((at, value), ()))
    for at in np.flatnonzero(history.final == AMBIGUOUS).tolist():
        found[len(history) + at] = tuple(writers[at, int(history.final_value[at])])
    return found
