"""Reads-from, found from the values: the only place that does."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradual.history.columns import INITIAL, NO_SOURCE, READ, RMW, THIN_AIR, WRITE, Column, History
from gradual.history.errors import InputError
from gradual.history.values import value_text


def history_from_columns(
    name: str, file: str, threads: Sequence[str], locations: Sequence[str], thread: Column, kind: Column,
    location: Column, read: Column, written: Column, line: Column, tick: Column, initial: Column,
    final_value: Column, final_line: Column, size: Column | None = None,
) -> History:
    """A history from its columns; `final_line` is -1 where a location has no final value."""
    source, final = _reads_from(kind, location, read, written, initial, final_value, final_line >= 0)
    history = History(
        name, file, tuple(threads), tuple(locations), thread, kind, location, read, written,
        np.where((kind == READ) | (kind == RMW), source, NO_SOURCE).astype(np.int32), line, tick, initial,
        np.where(final_line >= 0, final, NO_SOURCE).astype(np.int32), final_value, final_line, size)
    _refuse_ambiguity(history)
    return history


AMBIGUOUS = -4


def _reads_from(kind: Column, location: Column, read: Column, written: Column, initial: Column,
                final_value: Column, has_final: Column) -> tuple[Column, Column]:
    """The source of every read and of every final value, by sorting writes on (location, value)."""
    writes = np.flatnonzero((kind == WRITE) | (kind == RMW))
    reads = np.flatnonzero((kind == READ) | (kind == RMW))
    ends = np.flatnonzero(has_final)
    at = np.concatenate([location[reads], ends]).astype(np.int64)
    value = np.concatenate([read[reads], final_value[ends]])
    distinct, code = np.unique(np.concatenate([written[writes], value]), return_inverse=True)
    key = location[writes].astype(np.int64) * (len(distinct) + 1) + code[: len(writes)]
    order = np.argsort(key, kind="stable")
    key, wanted = key[order], at * (len(distinct) + 1) + code[len(writes):]
    first, past = np.searchsorted(key, wanted, "left"), np.searchsorted(key, wanted, "right")
    found = np.full(len(wanted), THIN_AIR, dtype=np.int64)
    starts = value == initial[at] if len(at) else np.zeros(0, dtype=bool)
    found[starts] = INITIAL
    one = past > first
    found[one] = writes[order[first[one]]]
    found[(past - first) + starts > 1] = AMBIGUOUS
    source = np.full(len(kind), NO_SOURCE, dtype=np.int64)
    source[reads] = found[: len(reads)]
    final = np.full(len(initial), NO_SOURCE, dtype=np.int64)
    final[ends] = found[len(reads):]
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
