"""The common table: one row per operation, whatever file the rows stand in.

Columns are `thread, op, address, value` and, where there is more to say, `read` (the value an rmw
read), `time`, `size` (in bytes; accesses of different sizes may share some) and `history`. Besides
operations a row may state what a location starts with (`init`) or must be left with (`final`). A trace
that knows its store order says so with

    order             of a write: its place in the store order of its location: 0 or more, the lower one first; writes
                      with equal numbers, or without one, are left open

and for weak memory models there may be

    fence             what a fence orders, before.after: `rw.rw` (or nothing: full), `r.r`, `w.rw`, …, `tso`, `i` (of
                      instructions). `F.w.w` as the op says the same
    aqrl              of an access: `aq`, `rl` or `aqrl`; with `.pc` behind it RCpc, otherwise RCsc
    begin, end        when the operation was issued and answered
    addr, data, ctrl  what it depends on: numbers of earlier operations of its thread, counted from 1, with spaces or
                      `;` between; JSON may have a list. Beside `address` and `value`, for which they stand otherwise
    pair              of a successful store-conditional: the number of its load-reserved. `LR` and `SC` are ops too
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import lru_cache
from itertools import chain, repeat
from typing import NamedTuple

import numpy as np

from gradual.history import (
    AQRL,
    EXCLUSIVE,
    FENCES,
    FULL,
    NO_LOCATION,
    NO_PLACE,
    NO_TICK,
    Builder,
    History,
    InputError,
    Kind,
    Options,
    as_hex,
    parse_number,
)
from gradual.history.annotations import PAIRS, aqrl_name, fence_name
from gradual.history.builder import More

from ._text import is_text, shortened, shown, stem

ANNOTATIONS = ("fence", "aqrl", "begin", "end", "order", "addr", "data", "ctrl", "pair")
SIZES = (1, 2, 4, 8)
"""Bytes that an access may have."""
COLUMNS = ("thread", "op", "address", "value", "read", "time", "size", *ANNOTATIONS, "history")
NUMBERS = {"value", "read", "time", "size", "begin", "end", "order", "pair"}
"""Those of them that hold a number each."""
_PLAIN = tuple(column for column in COLUMNS if column not in ANNOTATIONS)
"""The columns of nearly every table: fewer cells to carry."""
REQUIRED = 4
"""The first of them: a table without these is none."""
_SYNONYMS = {
    "tid": "thread", "core": "thread", "cpu": "thread",
    "kind": "op", "type": "op", "operation": "op",
    "addr": "address", "location": "address", "loc": "address",
    "data": "value", "val": "value",
    "expected": "read", "old": "read",
    "tick": "time", "cycle": "time",
}

_INIT, _FINAL = "init", "final"
UNKNOWN = "unknown"
"""As an op, and in JSON as an initial value: nobody knows what memory held."""
_FENCE_WORDS = "f fence sync mfence barrier"
_SPELLINGS: dict[Kind | str, str] = {
    Kind.READ: "r read ld load lr",
    Kind.WRITE: "w write st store sc",
    Kind.RMW: "rmw swap amo cas atomic",
    Kind.FENCE: _FENCE_WORDS,
    _INIT: _INIT,
    _FINAL: _FINAL,
    UNKNOWN: UNKNOWN,
}


class Op(NamedTuple):
    """What the cell `op` says."""

    kind: Kind | str
    orders: int = 0
    """Of a fence, if its kind is told."""
    marks: int = 0


OPS = {spelling: Op(op, marks=EXCLUSIVE * (spelling in ("lr", "sc")))
       for op, spellings in _SPELLINGS.items() for spelling in spellings.split()}
OPS |= {f"{word}.{name}": Op(Kind.FENCE, orders) for word in _FENCE_WORDS.split() for name, orders in FENCES.items()}
OP_NAMES = ("R", "W", "RMW", "F", "LR", "SC")
EXCLUSIVES = 4
"""How much further in OP_NAMES an exclusive read and write stand."""
LINE = "line"
"""One more column, where it is asked for: the line of another trace that the row comes from. Readers pass over it."""

Cells = Sequence[object]
"""One cell per column of COLUMNS, as the file spells it; None or an empty text where there is none. Those of
ANNOTATIONS may be left out altogether."""
Row = tuple[int, Cells]
"""A row and the line it stands on."""


# Columns


def chosen(names: Sequence[str]) -> tuple[str | None, ...]:
    """For each of COLUMNS the one of `names` that gives it, or None. Raises ValueError.

    ANNOTATIONS are among them only where there are any.

    A column's own name wins over its synonyms: a table with both `thread` and `cpu` is usual.

    >>> chosen(["Op", "cpu", "addr", "value", "colour"])[:4]
    ('cpu', 'Op', 'addr', 'value')
    """
    own: dict[str, list[str]] = {}
    other: dict[str, list[str]] = {}
    for name in names:
        plain = name.strip().lower()
        if plain in COLUMNS:
            own.setdefault(plain, []).append(name)
        if plain in _SYNONYMS:
            other.setdefault(_SYNONYMS[plain], []).append(name)
    for name in ("addr", "data"):  # which are dependencies only where the column they may stand for is there too
        if _SYNONYMS[name] not in own:
            own.pop(name, None)
    columns = COLUMNS if any(column in own for column in ANNOTATIONS) else _PLAIN
    return tuple(_only(column, own.get(column) or other.get(column)) for column in columns)


def _only(column: str, names: list[str] | None) -> str | None:
    if not names:
        return None
    if len(names) > 1:
        raise ValueError(f"the columns {' and '.join(map(shown, names))} both give the {column}; keep one")
    return names[0]


def header(names: Sequence[str]) -> tuple[str | None, ...]:
    """`chosen` for a file that names its columns once, where none may be missing."""
    columns = chosen(names)
    for column, name in zip(COLUMNS[:REQUIRED], columns, strict=False):
        if name is None:
            has = shortened(", ".join(map(str.strip, names))) or "no names"
            raise ValueError(f"missing column {column!r}; the header has {has}; expected are "
                             f"{', '.join(COLUMNS[:REQUIRED])} and optionally {', '.join((*_PLAIN[4:], *ANNOTATIONS))}")
    return columns


def noted(names: Sequence[str], items: Iterator[History | InputError]) -> Iterator[History | InputError]:
    """Histories of a table, each with a note where a name nearly is that of a column the table has not."""
    taken = chosen(names)
    there = {column for column, name in zip(called(taken), taken, strict=True) if name is not None}
    wanting = [column for column in COLUMNS if column not in there]
    near = ((name, get_close_matches(name.strip().lower(), wanting, 1, 0.8)) for name in names if name not in taken)
    notes = [f"no column is called {shown(name)}, so it was not read: is {found[0]} meant?"
             for name, found in near if found]
    return (replace(item, notes=(*item.notes, *notes)) if isinstance(item, History) else item
            for item in items) if notes else items


def called(columns: Sequence[object]) -> tuple[str, ...]:
    """Which of COLUMNS those are that `header` chose."""
    return COLUMNS if len(columns) == len(COLUMNS) else _PLAIN


def is_header(names: Sequence[str]) -> bool:
    """Do these look like the column names of the common table?"""
    try:
        thread, op, *_ = chosen(names)
    except ValueError:
        return False
    return thread is not None and op is not None


# Cells


def _absent(cell: object) -> bool:
    """Is there nothing in this cell? A float column spells that NaN."""
    return cell is None or cell != cell or (isinstance(cell, str) and not cell.strip())


def described(cell: object) -> str:
    """What stands in a cell or a JSON value, for a message."""
    if isinstance(cell, str):
        return shown(cell)
    if isinstance(cell, list | dict):
        return "a list" if isinstance(cell, list) else "an object"
    return "null" if cell is None else shortened(str(cell).lower())


def number(cell: object, column: str) -> int:
    """A cell as a number. Raises ValueError.

    Floats are taken where they are whole: programs that know no missing integers (pandas) write a
    column with gaps as `1.0`. Beyond 2^53 a float no longer says which integer was meant.
    """
    if isinstance(cell, str):
        if cell.isdecimal() and len(cell) < 20:  # nearly every number, and quickly
            return int(cell)
        try:
            return parse_number(cell)
        except ValueError:
            if whole := re.fullmatch(r"\s*(-?\d{1,15})\.0*\s*", cell):
                return int(whole[1])
    elif isinstance(cell, int) and not isinstance(cell, bool):
        return cell
    if _absent(cell):
        raise ValueError(f"{column} is missing")
    if isinstance(cell, float):
        if cell.is_integer() and abs(cell) <= 1 << 53:
            return int(cell)
        raise ValueError(f"{column} {cell} is not a whole number, or too large for a float to hold")
    hint = "; --hex reads hex without 0x" if isinstance(cell, str) and as_hex(cell) != cell else ""
    raise ValueError(f"{column} {described(cell)} is not a number{hint}")


def name(cell: object, column: str) -> str:
    """A cell as the name of a thread, location or history; numbers are names too. Raises ValueError."""
    if isinstance(cell, str):
        return _name(cell, column)
    if _absent(cell):
        raise ValueError(f"{column} is missing")
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return str(number(cell, column))
    raise ValueError(f"{column} {described(cell)} is neither a name nor a number")


@lru_cache(maxsize=1 << 12)  # a trace has few names and repeats them in every row
def _name(cell: str, column: str) -> str:
    text = cell.strip()
    if not text:
        raise ValueError(f"{column} is missing")
    if not is_text(text):
        raise ValueError(f"{column} {shown(text)} is not UTF-8 text")
    return text


def _within(cell: object, column: str, bits: int, missing: int) -> int:
    if cell is None or cell == "" or _absent(cell):  # the first two save a call for nearly every row
        return missing
    found = number(cell, column)
    if not 0 <= found < 1 << bits:
        raise ValueError(f"{column} {described(cell)} is not between 0 and 2^{bits}")
    return found


def _bytes(cell: object) -> int:
    """A cell as the size of an access, 0 where there is none. Raises ValueError."""
    if cell is None or cell == "" or _absent(cell):
        return 0
    found = number(cell, "size")
    if found not in SIZES:
        raise ValueError(f"size {described(cell)} is not 1, 2, 4 or 8 bytes; leave it out where it is not known")
    return found


def tick(cell: object, column: str = "time") -> int:
    """A cell as a time, NO_TICK where there is none. Raises ValueError."""
    return _within(cell, column, 63, NO_TICK)


def fence_kind(cell: object) -> int:
    """What a fence orders, 0 where that is not told. Raises ValueError."""
    return _one_of(FENCES, cell, "fence")


def aqrl(cell: object) -> int:
    """Acquire and release as marks, 0 where that is not told. Raises ValueError."""
    return _one_of(AQRL, cell, "aqrl")


def place(cell: object) -> int:
    """A place in the store order, NO_PLACE where that is not told. Raises ValueError."""
    if isinstance(cell, str) and cell.strip().lower() in AQRL:
        raise ValueError(f"order {described(cell)} is no place in the store order; acquire and release stand in the "
                         "column aqrl")
    return _within(cell, "order", 63, NO_PLACE)


def _one_of(known: dict[str, int], cell: object, column: str) -> int:
    if _absent(cell):
        return 0
    found = known.get(name(cell, column).lower())
    if found is None:
        raise ValueError(f"{column} {described(cell)} is not one of {', '.join(known)}")
    return found


def numbers(cell: object, column: str) -> list[int]:
    """A cell as numbers of operations. Raises ValueError."""
    if _absent(cell):
        return []
    cells = re.split(r"[\s;]+", cell.strip()) if isinstance(cell, str) else cell if isinstance(cell, list) else [cell]
    return [number(one, column) for one in cells]


def _op(cell: object) -> Op:
    spelling = name(cell, "op").lower()
    if spelling not in OPS:
        if spelling.startswith("f."):
            fence_kind(spelling.removeprefix("f."))
        raise ValueError(f"op {described(cell)} is not one of R, W, RMW, F (or read, write, rmw, fence, ld, st, "
                         "load, store, swap, amo, cas, atomic, sync, mfence, barrier), LR, SC, init, unknown, final")
    return OPS[spelling]


# Rows to histories


def add(builder: Builder, line: int, cells: Cells) -> None:
    """Add what one row says. Raises InputError."""
    try:
        _add(builder, line, cells)
    except ValueError as error:
        raise builder.error(str(error), line) from None


def _add(builder: Builder, line: int, cells: Cells) -> None:
    thread, op, address, value, read, time, size, *others, _ = cells
    if builder.options.hex:
        address, value, read = (as_hex(cell) if isinstance(cell, str) else cell for cell in (address, value, read))
    kind, orders, marks = _op(op)
    if kind in (_INIT, UNKNOWN):
        where = None if _absent(address) else name(address, "address")
        if kind == UNKNOWN and not _absent(value):
            raise ValueError("nobody knows the value of an unknown location; leave the value out, or write init")
        builder.initial(where, None if kind == UNKNOWN else number(value, "value"), line=line, size=_bytes(size))
        return
    if kind == _FINAL:
        builder.final(name(address, "address"), number(value, "value"), line=line, size=_bytes(size))
        return
    more: More = {"marks": marks} if marks else {}
    if others and others.count(None) + others.count("") < len(others):
        orders, more = _annotations(kind, orders, marks, others)
    if kind == Kind.FENCE:
        builder.fence(name(thread, "thread"), orders or FULL, line=line, tick=tick(time), **more)
        return
    who, place, what = name(thread, "thread"), name(address, "address"), number(value, "value")
    when, width = tick(time), _bytes(size)
    if kind == Kind.READ:
        builder.read(who, place, what, line=line, tick=when, size=width, **more)
    elif kind == Kind.WRITE:
        builder.write(who, place, what, line=line, tick=when, size=width, **more)
    elif _absent(read):
        raise ValueError("an rmw needs the value it read, in the column 'read' (or 'expected')")
    else:
        builder.rmw(who, place, number(read, "read"), what, line=line, tick=when, size=width, **more)


def _annotations(kind: Kind | str, orders: int, marks: int, cells: Cells) -> tuple[int, More]:
    """What the cells of ANNOTATIONS say, beside what the op said already: of a fence, and of any operation."""
    fence, ordering, begin, end, order, addr, data, ctrl, pair = cells
    told = fence_kind(fence)
    if told and kind != Kind.FENCE:
        raise ValueError(f"fence {described(fence)} says what a fence orders, and this is none")
    if told and orders and told != orders:
        raise ValueError(f"op and fence say that this fence orders different things; keep fence {described(fence)}")
    more: More = {
        "marks": marks | aqrl(ordering), "begin": tick(begin, "begin"), "end": tick(end, "end"),
        "order": place(order),
        "addr": numbers(addr, "addr"), "data": numbers(data, "data"), "ctrl": numbers(ctrl, "ctrl")}
    if not _absent(pair):
        more["pair"] = number(pair, "pair")
    return told or orders, more


REMEMBERED = 10_000
"""Histories whose rows are recognised when more of them come later."""


class Groups:
    """Rows become histories: a new one begins whenever the history column changes.

    Only the history under way is held, so a stream is read as it comes.
    """

    def __init__(self, file: str, options: Options) -> None:
        self._file = file
        self._options = options
        self._seen: dict[str, None] = {}
        """The names of the last histories, in their order: a stream may never end."""
        self._name: str | None = None
        self._builder: Builder | None = None
        """Of the history under way; None when that is spoilt."""
        self._unread: InputError | None = None
        """The row just before, if it could not be read."""

    def begins(self, name: str) -> bool:
        """Is this the first history of that name? It begins then, and whoever asks has its rows."""
        if name in self._seen:
            return False
        self._remember(name)
        return True

    def _remember(self, name: str) -> None:
        self._seen[name] = None
        if len(self._seen) > REMEMBERED:
            del self._seen[next(iter(self._seen))]

    def histories(self, rows: Iterable[Row | InputError]) -> Iterator[History | InputError]:
        """The histories of `rows`; an InputError among them is a row that could not be read."""
        last: object = self
        empty = True
        for row in rows:
            empty = False
            if isinstance(row, InputError):
                yield from self._spoil(row)
                last = self
                continue
            line, cells = row
            if cells[-1] != last:
                yield from self._turn(cells[-1], line)
                last = self if self._builder is None else cells[-1]
            if self._builder is not None:
                try:
                    add(self._builder, line, cells)
                except InputError as error:
                    self._builder = None
                    yield error
        if empty:  # a table without rows is a history without operations
            self._builder = Builder(stem(self._file), self._file, self._options)
        yield from self._close()
        self._name = self._unread = None

    def _spoil(self, error: InputError) -> Iterator[InputError]:
        """A row is lost, and with it the history it belonged to: that is told once."""
        if self._builder is not None or (self._name is None and self._unread is None):
            error.history = self._name or ""
            yield error
        self._builder = None
        self._unread = error

    def _turn(self, cell: object, line: int) -> Iterator[History | InputError]:
        try:
            called = stem(self._file) if _absent(cell) else name(cell, "history")
        except ValueError as error:
            yield from self._spoil(InputError(str(error), self._file, line))
            return
        before, unread, self._unread = self._name, self._unread, None
        if called == before:
            return
        yield from self._close()
        self._name = called
        if called in self._seen:
            yield InputError(f"history {shown(called)} comes back after another began; sort the file by "
                             "history", self._file, line, called)
        elif unread is None:
            self._builder = Builder(called, self._file, self._options)
        elif before is not None:
            yield InputError(f"line {unread.line} could not be read and may belong to this history",
                             self._file, line, called)
        self._remember(called)

    def _close(self) -> Iterator[History | InputError]:
        builder, self._builder = self._builder, None
        if builder is not None:
            try:
                history = builder.build()
            except InputError as error:
                yield error
            else:
                yield history


# Histories to rows


Operation = tuple[str | int | None, ...]
"""The cells of a row to write, in the order of COLUMNS, without the history; those of ANNOTATIONS may be left out."""


def operations(history: History) -> Iterator[Operation]:
    """A row for each operation, in trace order."""
    names = np.where((history.marks & EXCLUSIVE) > 0, history.kind + EXCLUSIVES, history.kind) if (
        history.marks is not None) else history.kind
    sizes = [0] * len(history) if history.size is None else history.size.tolist()
    for thread, kind, op, location, read, written, time, size, others in zip(
            history.thread.tolist(), history.kind.tolist(), names.tolist(), history.location.tolist(),
            history.read.tolist(), history.written.tolist(), history.tick.tolist(), sizes, _others(history),
            strict=True):
        accesses = location != NO_LOCATION
        yield (history.threads[thread], OP_NAMES[op], history.locations[location] if accesses else None,
               (read if kind == Kind.READ else written) if accesses else None,
               read if kind == Kind.RMW else None, None if time == NO_TICK else time, size or None, *others)


def _others(history: History) -> Iterator[Operation]:
    """The cells of ANNOTATIONS of each operation, or none at all."""
    if not needed(history):
        yield from repeat((), len(history))
        return
    columns = [repeat(None, len(history)) if column is None else map(spelled, column.tolist()) for column, spelled in (
        (history.fence, _fence_cell), (history.marks, _aqrl_cell), (history.begin, _number_cell),
        (history.end, _number_cell), (history.order, _number_cell))]
    depend = dependencies(history)
    columns += [map(depend.get(name, {}).get, range(len(history))) for name in PAIRS]
    yield from zip(*columns, strict=True)


def needed(history: History) -> set[str]:
    """The columns of ANNOTATIONS that a history has something in."""
    found = {*ANNOTATIONS} & {*history.annotations()}
    return found | {"aqrl"} if history.marks is not None and (history.marks & ~EXCLUSIVE).any() else found


AHEAD = 1 << 18
"""Operations of plain histories that a table holds back, lest it needs columns for a later one."""


class Tabled:
    """Histories for a table that names its columns once, and those of COLUMNS that it needs.

    The next histories are looked at before the first is given. When they are too many for that, an annotated
    history among the later ones may have to be refused.
    """

    def __init__(self, histories: Iterable[History]) -> None:
        self._rest = iter(histories)
        self._held: list[History] = []
        found: set[str] = set()
        size = 0
        for history in self._rest:
            self._held.append(history)
            found |= needed(history)
            size += len(history) + 1
            if size > AHEAD:
                found = {*ANNOTATIONS} if found else found
                break
        self.columns = tuple(column for column in COLUMNS if column in found or column not in ANNOTATIONS)
        self._places = [COLUMNS.index(column) for column in self.columns[:-1]]

    def __iter__(self) -> Iterator[History]:
        yield from self._held
        for history in self._rest:
            if lost := needed(history).difference(self.columns):
                raise InputError(f"this history has {', '.join(sorted(lost))}, for which the table that was begun has "
                                 "no column; write it first, to a file of its own, or as JSON Lines", history.file, 0,
                                 history.name)
            yield history

    def cells(self, row: Operation) -> Operation:
        """A row with the table's columns only."""
        if self.columns == _PLAIN:
            return row
        row += (None,) * (len(COLUMNS) - 1 - len(row))
        return tuple(row[place] for place in self._places)


def _fence_cell(orders: int) -> str | None:
    return None if orders in (0, FULL) else fence_name(orders)


def _aqrl_cell(marks: int) -> str | None:
    return aqrl_name(marks) or None


def _number_cell(number: int) -> int | None:
    return None if number < 0 else number


def dependencies(history: History) -> dict[str, dict[int, str | int]]:
    """The cells of dependencies and pairs, by column and operation: numbers of others, as its thread counts them."""
    columns = {name: pairs for name, pairs in history.annotations().items() if name in PAIRS}
    if not columns:
        return {}
    own, each = np.empty(len(history), dtype=np.int64), np.bincount(history.thread)
    before = np.repeat(np.cumsum(each) - each, each)
    own[np.argsort(history.thread, kind="stable")] = np.arange(1, len(history) + 1) - before
    found: dict[str, dict[int, str | int]] = {}
    for name, pairs in columns.items():
        cells: dict[int, str | int] = {}
        for number, later in zip(own[pairs[:, 0]].tolist(), pairs[:, 1].tolist(), strict=True):
            cells[later] = number if name == "pair" else f"{cells[later]} {number}" if later in cells else str(number)
        found[name] = cells
    return found


def initial_values(history: History) -> dict[str, int | None]:
    """The initial values that must be written down: all, or none when a reader assumes the same.

    They are written too where a reader would otherwise number the locations in another order.
    """
    mentioned = dict.fromkeys([*history.location.tolist(), *_ends(history)])
    mentioned.pop(NO_LOCATION, None)
    if not history.initial.any() and history.unknown is None and [*mentioned] == [*range(len(history.locations))]:
        return {}
    unknown = np.zeros(len(history.locations), dtype=bool) if history.unknown is None else history.unknown
    return {name: None if lost else value for name, value, lost
            in zip(history.locations, history.initial.tolist(), unknown.tolist(), strict=True)}


def final_values(history: History) -> dict[str, int]:
    """The values that locations must be left with."""
    return {history.locations[at]: int(history.final_value[at]) for at in _ends(history)}


def _ends(history: History) -> list[int]:
    return [at for at, line in enumerate(history.final_line.tolist()) if line >= 0]


def named_rows(histories: Iterable[History]) -> Iterator[tuple[str, Iterator[tuple[Operation, int | None]]]]:
    """Each history's name and rows with their lines, for a table that tells histories apart by name alone.

    A history without operations gets a row all the same.
    """
    for name, history in named(histories):
        yield name, chain(zip(statements_before(history), repeat(None)),
                          zip(operations(history), lines(history), strict=True),
                          zip(statements_after(history), final_lines(history), strict=True))


def lines(history: History) -> list[int | None]:
    """The line each operation came from, None where that is unknown."""
    return [line or None for line in history.line.tolist()]


def final_lines(history: History) -> list[int | None]:
    """The same of the final values."""
    return [line or None for line in history.final_line.tolist() if line >= 0]


def named(histories: Iterable[History]) -> Iterator[tuple[str, History]]:
    """Each history with a name of its own: one that was used before gets a number."""
    used: set[str] = set()
    for history in histories:
        unique, count = history.name, 1
        while unique in used:
            count += 1
            unique = f"{history.name}#{count}"
        used.add(unique)
        yield unique, history


def statements_before(history: History) -> Iterator[Operation]:
    """The rows before those of the operations."""
    initial = initial_values(history)
    if not len(history) and not initial and not _ends(history):
        yield None, _INIT, None, 0, None, None, None
    for address, value in initial.items():
        yield None, UNKNOWN if value is None else _INIT, address, value, None, None, None


def statements_after(history: History) -> Iterator[Operation]:
    """The rows after those of the operations."""
    for address, value in final_values(history).items():
        yield None, _FINAL, address, value, None, None, None
