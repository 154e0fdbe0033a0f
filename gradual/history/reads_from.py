"""Reads-from, found from the values: the only place that does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gradual.history.annotations import EXCLUSIVE, NO_TICK, NOTHING, Annotations, Column
from gradual.history.columns import FENCE, INITIAL, NO_SOURCE, READ, RMW, THIN_AIR, WRITE, History
from gradual.history.errors import InputError
from gradual.history.values import value_text

AMBIGUOUS = -4
"""As a source: it may be one of several writes. No history has it."""


def history_from_columns(
    name: str, file: str, threads: Sequence[str], locations: Sequence[str], thread: Column, kind: Column,
    location: Column, read: Column, written: Column, line: Column, tick: Column, initial: Column,
    final_value: Column, final_line: Column, more: Annotations = NOTHING,
    notes: tuple[str, ...] = (),
) -> History:
    """A history from its columns; `final_line` is -1 where a location has no final value."""
    source, final = sources(Values(kind, location, read, written, initial, final_value, final_line >= 0))
    history = History(
        name, file, tuple(threads), tuple(locations), thread, kind, location, read, written, source.astype(np.int32),
        line, tick, initial, final.astype(np.int32), final_value, final_line, notes, **more.annotations())
    _refuse_ambiguity(history)
    return noted(history)


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
        yield (f"{len(back)} accesses begin before one that stands before them in their thread, "
               f"{history.describe(int(back.min()))} first: an access counts as begun when it and all after it had")


def _unusual_pairs(history: History) -> Iterator[str]:
    """Store-conditionals that are legal, and unusual."""
    if history.marks is None:
        return
    load, store = (np.zeros((0, 2), dtype=np.int32) if history.pair is None else history.pair).T
    alone = (history.kind == WRITE) & ((history.marks & EXCLUSIVE) != 0)
    alone[store] = False
    if alone.any():
        first = history.describe(int(np.flatnonzero(alone)[0]))
        yield f"{alone.sum()} store-conditionals have no load-reserved, {first} first: nothing makes them atomic"
    apart = store[history.location[load] != history.location[store]]
    if len(apart):
        yield (f"{len(apart)} store-conditionals have a load-reserved of another address, "
               f"{history.describe(int(apart.min()))} first: nothing makes them atomic")


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


def by_sorting(codes: Column) -> Column:
    """Equal codes get equal numbers, from 0 on."""
    numbers: Column = np.unique(codes, return_inverse=True)[1]
    return numbers


def sources(values: Values, numbered: Callable[[Column], Column] = by_sorting) -> tuple[Column, Column]:
    """The source of every operation and of every final value, as in `History`, or AMBIGUOUS.

    `numbered` gives equal codes equal numbers: who has something faster than sorting passes it.
    """
    writes = np.flatnonzero((values.kind == WRITE) | (values.kind == RMW))
    reads = np.flatnonzero((values.kind == READ) | (values.kind == RMW))
    ends = np.flatnonzero(values.has_final)
    at = np.concatenate([values.location[writes], values.location[reads], ends]).astype(np.int64)
    value = np.concatenate([values.written[writes], values.read[reads], values.final_value[ends]])
    codes = numbered(value)
    pairs = numbered(at * (int(codes.max(initial=0)) + 1) + codes)
    written, wanted = pairs[: len(writes)], pairs[len(writes):]
    count = int(pairs.max(initial=-1)) + 1
    writers, writer = np.bincount(written, minlength=count)[wanted], np.full(count, THIN_AIR)
    writer[written] = writes
    starts = value[len(writes):] == values.initial[at[len(writes):]]
    found = np.where(starts, INITIAL, writer[wanted])
    found[writers + starts > 1] = AMBIGUOUS
    source, final = np.full(len(values.kind), NO_SOURCE), np.full(len(values.initial), NO_SOURCE)
    source[reads], final[ends] = found[: len(reads)], found[len(reads):]
    return source, final


def _refuse_ambiguity(history: History) -> None:
    """Raise when a value that somebody observed could have come from two writes."""
    observed = np.flatnonzero(history.source == AMBIGUOUS)
    if len(observed):
        reader = int(observed[0])
        at, value = int(history.location[reader]), int(history.read[reader])
        seen = f"{history.describe(reader)} may have read either"
        line = int(history.line[reader])
    else:
        ends = np.flatnonzero(history.final == AMBIGUOUS)
        if not len(ends):
            return
        at = int(ends[0])
        value, line = int(history.final_value[at]), int(history.final_line[at])
        seen = f"the final value {history.locations[at]}={value_text(value)} (line {line}) may be either"
    writers = [w for w in history.writes if history.location[w] == at and history.written[w] == value]
    candidates = [history.describe(w) for w in writers]
    if history.initial[at] == value:
        candidates.insert(0, f"the initial value {history.locations[at]}={value_text(value)}")
    raise InputError(
        f"the value {value_text(value)} of {history.locations[at]} has two origins: {candidates[0]} and "
        f"{candidates[1]}; {seen}. Give every write to a location its own value, different from the "
        "initial one", history.file, line, history.name)
