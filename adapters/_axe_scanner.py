"""axe's text at the speed of the disk: a compiled scanner finds the statements, and many histories are made at once.

What it passes over as odd, and what breaks a rule, is given back as text, to be read statement by statement.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from gradual import compiler
from gradual.compiler.waiting import in_time
from gradual.deadline import Deadline, share
from gradual.history import FENCE, NO_TICK, RMW, WRITE, Column, History, InputError, Options, Skipped

from . import _axe_kernels as kernels
from ._cells import Integers, Words
from ._rows import COLUMNS
from ._text import Text

if TYPE_CHECKING:
    from collections.abc import Callable

BLOCK = 1 << 20
"""Bytes that are read at a time, at first: while a history goes on, what is read doubles, and so it is copied twice."""
ROOM = 1 << 17
"""Statements that are found at a time."""
_OPS = ("R", "W", "RMW", "F", "final")


Item = History | InputError | Text
"""Of each history one: made, not wanted, or its text for the reader who has the words."""


@cache
def load() -> Callable[..., int]:
    """The compiled scanner."""
    return compiler.compiled("scan", (kernels,), {"Scan": _tables(np.zeros(1, dtype=np.uint8))})


def _tables(text: Column) -> kernels.Scan:
    rows = {name: np.zeros(1 if name == "now" else ROOM, dtype=np.dtype(kernels.FIELDS[name], align=True))
            for name in ("statement", "history", "now")}
    return kernels.Scan(text.view(np.dtype(kernels.FIELDS["text"])), **rows)


class Scanner:
    """Reads the rest of a stream, of which `text` is known already."""

    def __init__(self, text: Text, number: int, file: str, options: Options) -> None:
        self._data = text.data
        self._number = number
        """Of the next history, counted from 0."""
        self._file, self._options = file, options
        self._found: list[Column] = []
        """Statements of the history that goes on."""
        self._scan = in_time(load, Deadline(options.timeout))
        self._tables = _tables(np.zeros(0, dtype=np.uint8))
        self._now = self._tables.now[0]
        self._now["line"] = self._now["first_line"] = text.line

    def items(self, stream: BinaryIO, name: Callable[[bytes, int], str]) -> Iterator[Item]:
        """The histories as they come; `name` calls one by its text and number."""
        while not self._now["last"]:
            self._read(stream)
            tables = self._tables._replace(text=np.frombuffer(self._data, dtype=kernels.FIELDS["text"]))
            more = kernels.MORE_ROOM
            while more == kernels.MORE_ROOM:
                more = self._scan(tables)
                yield from self._made(name)
            self._forget()

    def _read(self, stream: BinaryIO) -> None:
        """Take what is there, and of a file, more."""
        wanted, pieces = max(BLOCK, len(self._data)), [self._data]
        waits = self._file == "-"
        while wanted > 0:
            piece = stream.read1(wanted)  # type: ignore[attr-defined]
            pieces.append(piece)
            wanted = 0 if waits else wanted - len(piece)
            if not piece:
                self._now["last"] = 1
                break
        self._data = b"".join(pieces)

    def _forget(self) -> None:
        """The text of the histories that are made."""
        done = int(self._now["first"])
        self._data = self._data[done:]
        self._now["at"] -= done
        self._now["first"] = 0

    def _made(self, name: Callable[[bytes, int], str]) -> Iterator[Item]:
        """The histories that the scanner has found the end of."""
        count, found = int(self._now["histories"]), int(self._now["statements"])
        before = sum(map(len, self._found))
        self._found.append(self._tables.statement[:found].copy())
        self._now["histories"] = self._now["statements"] = 0
        if not count:
            return
        ended = self._tables.history[:count]
        statements = np.concatenate(self._found)
        ends = before + ended["statements"]
        self._found = [statements[ends[-1]:].copy()]
        first, self._number = self._number, self._number + count
        bounds = np.concatenate([[0], ends])
        wanted = np.array([self._options.share.has(first + at) for at in range(count)])
        plain = wanted & (ended["odd"] == 0) & (np.diff(bounds) > 0)
        names = [name(self._data[start:past], first + at) if plain[at] else "" for at, (start, past)
                 in enumerate(zip(ended["first"].tolist(), ended["past"].tolist(), strict=True))]
        share(count)
        made = _histories(statements, bounds, plain, names, self._file, self._options)
        del statements
        for at in range(count):
            if not wanted[at]:
                yield Skipped("", self._file)
            elif plain[at] and (history := next(made)) is not None:
                yield history
            else:
                start, past, line = (int(ended[at][column]) for column in ("first", "past", "line"))
                yield Text(self._data[start:past], line)


def _histories(statements: Column, bounds: Column, plain: Column, names: list[str], file: str,
               options: Options) -> Iterator[History | InputError | None]:
    """The plain histories, None for one that breaks a rule."""
    from ._columns import Operations

    run = np.repeat(np.arange(len(plain)), np.diff(bounds))
    if not plain.all():
        statements, run = (column[: bounds[-1]][plain[run]] for column in (statements, run))
        run = np.cumsum(plain)[run] - 1
    runs = int(plain.sum())
    if not runs:
        return
    bounds = np.searchsorted(run, np.arange(runs + 1))
    statements = statements[: bounds[-1]]
    late = _breaks_clocks(run, statements, runs)
    operations = Operations(_cells(statements), bounds, statements["line"].astype(np.int64), options)
    made = operations.histories([name for name, wanted in zip(names, plain, strict=True) if wanted], file)
    several = operations.odd.tolist()
    del statements, run, operations  # a large history is decided while this waits
    for odd, breaks in zip(several, late.tolist(), strict=True):
        history = None if odd else next(made)
        yield None if breaks else history


def _cells(statements: Column) -> list[Integers | Words | None]:
    """The statements as the columns of the common table."""
    kind = statements["kind"]
    cells: dict[str, Integers | Words] = {
        "thread": _integers(statements["thread"]),
        "op": Words(kind, _OPS),
        "address": _integers(statements["address"], kind != FENCE),
        "value": _integers(np.where(kind == kernels.READ, statements["read"], statements["written"])),
    }
    if (kind == RMW).any():
        cells["read"] = _integers(statements["read"])
    for name in ("begin", "end"):
        if (given := statements[name] != kernels.NEVER).any():
            cells[name] = _integers(statements[name], given)
    return [cells.get(name) for name in COLUMNS]


def _integers(column: Column, given: Column | None = None) -> Integers:
    return Integers(np.ascontiguousarray(column), given)


def _breaks_clocks(run: Column, statements: Column, runs: int) -> Column:
    """In which histories times break axe's rules: begins increase in a thread, stores have no ends, what ends has
    begun. `axe.py` says the same, one operation after the other."""
    broken = np.zeros(runs, dtype=bool)
    timed = (statements["begin"] != NO_TICK) | (statements["end"] != NO_TICK)
    if not timed.any():
        return broken
    rows = np.flatnonzero(timed)
    rows = rows[np.lexsort((statements["thread"][rows], run[rows]))]
    of, kind, thread, begin, end = run[rows], *(statements[name][rows] for name in ("kind", "thread", "begin", "end"))
    changes = np.concatenate([[True], (of[1:] != of[:-1]) | (thread[1:] != thread[:-1])])
    group = np.cumsum(changes) - 1
    begun = np.flatnonzero(begin != NO_TICK)
    back = (group[begun][1:] == group[begun][:-1]) & (begin[begun][1:] <= begin[begun][:-1])
    broken[of[begun[1:][back]]] = True
    # Where begins increase, the last one is the latest: among those of no syncs, thread by thread.
    latest = np.where(kind == FENCE, NO_TICK, begin)
    spread = int(latest.max(initial=0)) + 2
    latest = np.maximum.accumulate(latest + group * spread) - group * spread
    began = np.where(begin != NO_TICK, begin, latest)
    broken[of[(end != NO_TICK) & ((kind == WRITE) | (end <= began))]] = True
    return broken


__all__ = ["BLOCK", "Item", "Scanner", "load"]
