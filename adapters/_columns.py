"""The common table by columns: they become histories without a Python object per operation.

A history that has anything unusual in it (a cell that is missing or cannot be read, accesses that overlap,
a name that came before) goes through its rows instead: `_rows` knows what that means and the words
for it. `Declined` sends the whole table there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradual.deadline import share
from gradual.history import (
    AQRL,
    EXCLUSIVE,
    FENCE,
    FENCES,
    FULL,
    NO_LOCATION,
    NO_PLACE,
    NO_TICK,
    READ,
    RMW,
    WRITE,
    Column,
    History,
    InputError,
    Kind,
    Options,
    location_key,
    word,
)
from gradual.history.annotations import ABSENT, PAIRS, says_anything
from gradual.history.cells import widest
from gradual.history.image import Image
from gradual.history.reads_from import Values, by_sorting, noted, sources
from gradual.history.sizes import low_bytes

from ._cells import Integers, Words, narrow
from ._pairs import Known, pairs_of
from ._rows import EXCLUSIVES, LINE, NUMBERS, OP_NAMES, OPS, SIZES, Groups, Op, Row, dependencies, number
from ._text import stem

if TYPE_CHECKING:
    import pyarrow as pa

Cells = Sequence[Integers | Words | None]
"""One per column that `header` chose, None where the table has no such column, or nothing in it."""
Rows = Callable[[int, int], Iterator[Row | InputError]]
"""Rows of the table, from one (counted from 0) up to another, as the row path wants them."""

_ODD, _INIT, _FINAL = -1, 4, 5
"""Kinds of rows besides those of operations; odd is what only the row path understands."""
_STATEMENTS = {"init": _INIT, "final": _FINAL, "unknown": _ODD, "": _ODD}
_UNKNOWN = Op("")
_FEW = 50_000
"""Rows up to which numpy sorts before Arrow, which hashes, is loaded."""
_BLOCK = 1 << 16
"""Rows among which nearly every code is met."""
_HIGH = (1 << 64) - (1 << 32)
"""Below it an address and a size can be added as uint64."""


class Declined(Exception):
    """This table has to be read row by row."""


# Cells


def _distinct(array: Integers) -> tuple[Column, list[int]]:
    """For each row the number of its cell among the distinct ones, -1 for null; and these cells."""
    low, high = array.value.min(), array.value.max()
    near = int(high) - int(low) < len(array)
    codes = (array.value - low).astype(np.int64, copy=False) if near else _hashed(array.value)
    numbers, first = _dense(codes if array.given is None else np.where(array.given, codes, -1))
    return numbers, array.value[first].tolist()


def _names(array: Integers | Words | None, rows: int) -> tuple[Column, list[str]]:
    """For each row the number of its name, -1 where there is none; and the names."""
    if array is None:
        return np.full(rows, -1, dtype=np.int8), []
    codes, cells = (array.code, array.words) if isinstance(array, Words) else _distinct(array)
    names: dict[str, int] = {}
    known = [names.setdefault(text, len(names)) if (text := str(cell).strip()) else -1 for cell in cells]
    return _mapped(codes, known), list(names)


def _mapped(codes: Column, known: Sequence[int]) -> Column:
    """What each code is known as, -1 for -1."""
    if known == [*range(len(known))]:
        return codes
    return np.array([*known, -1], dtype=narrow(len(known)))[codes]


def has_gaps(array: Integers | Words | None) -> bool:
    """Is there a row without a name here? Without an op, a row of CSV may be a blank one."""
    return array is None or bool((_names(array, len(array))[0] < 0).any())


def _ops(array: Integers | Words | None, rows: int) -> tuple[Column, Column, Column]:
    """Of every row its kind, what a fence orders (0: not told), and the marks that the op has."""
    codes, names = _names(array, rows)
    ops = [OPS.get(name.lower(), _UNKNOWN) for name in names]
    kinds = [int(op.kind) if isinstance(op.kind, Kind) else _STATEMENTS[op.kind] for op in ops]
    columns = [*kinds, _ODD], [*(op.orders for op in ops), 0], [*(op.marks for op in ops), 0]
    kind, orders, marks = (_told(column, codes) for column in columns)
    return kind, orders, marks


def _told(column: Sequence[int], codes: Column) -> Column:
    """What a column of few small numbers has for each code."""
    return np.array(column, dtype=np.int8)[codes] if any(column) else np.zeros(len(codes), dtype=np.int8)


def _words(array: Integers | Words | None, known: dict[str, int]) -> Column | None:
    """A column of such words as int8: 0 where there is none, _ODD where it is none of them; None without any."""
    if array is None:
        return None
    codes, names = _names(array, len(array))
    return _told([*(known.get(name.lower(), _ODD) for name in names), 0], codes)


@dataclass
class _Numbers:
    """A column of numbers, as 64-bit words."""

    value: Column
    given: Column
    """bool: there is one, and it can be read."""
    absent: Column
    """bool: the cell is empty."""

    @property
    def natural(self) -> Column:
        """Where the row path would find the cell empty, or not negative and of 63 bits."""
        inside: Column = self.given & (self.value >= 0)
        return self.absent | inside


def _numbers(array: Integers | Words | None, rows: int) -> _Numbers:
    if array is None:
        return _Numbers(*(np.broadcast_to(all_of_them, rows) for all_of_them in (np.int64(0), np.False_, np.True_)))
    if isinstance(array, Words):
        return _spelled(array)
    given = np.ones(rows, dtype=bool) if array.given is None else array.given
    return _Numbers(array.value.view(np.int64), given, ~given)


def _spelled(array: Words) -> _Numbers:
    """Numbers in every spelling there is."""
    values, given = [0] * (len(array.words) + 1), [False] * (len(array.words) + 1)
    for at, cell in enumerate(array.words):
        with suppress(ValueError):
            values[at], given[at] = word(number(cell, "")), True
    blank = [*(not cell.strip() for cell in array.words), True]
    return _Numbers(np.array(values, dtype=np.int64)[array.code], np.array(given)[array.code],
                    np.array(blank)[array.code])


# Histories


class Table:
    """A table as columns. Raises Declined when it has to be read row by row."""

    def __init__(self, cells: Cells, rows: int, line: int, file: str, options: Options) -> None:
        self._cells = cells
        self._line = line
        self._file = file
        self._options = options
        codes, names = _names(cells[-1], rows)
        nameless = stem(file)
        if (codes < 0).any():
            own = names.index(nameless) if nameless in names else len(names)
            codes = np.where(codes < 0, np.int64(own), codes)  # which may not fit into what holds the others
            names.append(nameless)
        self.bounds: Column = np.flatnonzero(np.concatenate([[True], codes[1:] != codes[:-1], [True]]))
        """Where histories begin, and where the last one ends."""
        share(len(self.bounds) - 1)
        self._names = [names[code] for code in codes[self.bounds[:-1]].tolist()]

    def histories(self, count: int, groups: Groups, rows: Rows) -> Iterator[History | InputError]:
        """The first `count` histories; `groups` knows those before."""
        bounds = self.bounds[: count + 1]
        lines = np.arange(self._line, self._line + int(bounds[-1]))
        operations = Operations(self._cells, bounds, lines, self._options)
        self._cells = ()
        odd, made = operations.odd, operations.histories(self._names, self._file)
        del operations, lines
        left: Rows | None = rows
        del rows
        for at, (name, start, stop) in enumerate(zip(self._names, bounds[:-1].tolist(), bounds[1:].tolist(),
                                                     strict=False)):
            found = None if odd[at] else next(made)
            assert left is not None
            if found is not None and groups.begins(name):
                if at == count - 1:  # the last one may be large, and it is decided while this waits
                    left = None
                yield found
            else:
                yield from groups.histories(left(start, stop))


class Operations:
    """The operations of a table as in `History`, but numbered through all of its histories."""

    def __init__(self, cells: Cells, bounds: Column, lines: Column, options: Options) -> None:
        rows, runs = int(bounds[-1]), len(bounds) - 1
        who, op, where, value, read, time, width, *others, _ = (
            cell if cell is None else cell.slice(0, rows) for cell in cells)
        kind, orders, marks = _ops(op, rows)
        thread, self._threads = _names(who, rows)
        spelled, self._spellings = _names(where, rows)
        whole = isinstance(where, Integers)
        self._keys: dict[int | str, int] = {}
        """Locations by what identifies them: of one, the spellings may differ."""
        known = [self._keys.setdefault(int(text) if whole else location_key(text), len(self._keys))
                 for text in self._spellings]
        key = _mapped(spelled, known)
        values, reads, times = (_numbers(column, rows) for column in (value, read, time))
        located, operates, rmws = kind != FENCE, kind <= FENCE, kind == RMW
        odd = (kind == _ODD) | (located & ((spelled < 0) | ~values.given)) | (rmws & ~reads.given)
        odd |= operates & ((thread < 0) | ~times.natural)
        size, unfit = _sizes(width, located & operates, located & ~operates)
        annotations, columns = others[:-len(PAIRS)] or [None] * 5, others[-len(PAIRS):]
        said, strange = _annotations(annotations, kind, orders, marks)
        odd |= unfit | (operates & strange)
        run = np.repeat(np.arange(runs, dtype=narrow(runs)), np.diff(bounds))
        self._pairs: dict[str, Column] = {}
        """Rows that depend on each other, as in `Annotations`."""
        if depend := {name: column for name, column in zip(PAIRS, columns, strict=False) if column is not None}:
            own = _numbered(run, np.where(operates, thread, -1), runs)[0]
            self._pairs, unclear = pairs_of(depend, Known(own, kind, marks))
            odd[unclear] = True
        if "pair" in self._pairs:
            said.setdefault("marks", np.zeros(rows, dtype=np.int8))[self._pairs["pair"]] |= EXCLUSIVE
        kept = ~odd
        if options.addresses:
            kept &= self._selected(key, located, run, odd, options)
        self.odd: Column = np.bincount(run[odd], minlength=runs) > 0
        """Which histories have to be read row by row."""
        if size is not None:
            self._refuse_overlaps(run, key, size, kept)
        for statement in (_INIT, _FINAL):
            at = np.flatnonzero(kept & (kind == statement))
            numbers, first, _ = _numbered(run[at], key[at], runs)
            two = values.value[at] != values.value[at[first[numbers]]]  # values for one location
            self.odd[run[at[two]]] = True
        if size is not None:
            said["size"] = size
            self._leave_odd_out(kept, run)
            self._cut((values, reads), (run, key, size), kept & located, kind >= _INIT, options)
        self._leave_odd_out(kept, run)
        self._written = np.where(located & (kind != READ), values.value, 0)
        """Of a statement, its value."""
        self._read = np.where(kind == READ, values.value, 0)
        np.copyto(self._read, reads.value, where=rmws)
        self._run, self._kind, self._line, self._said = run, kind, lines, said
        self._thread, self._spelled = thread, spelled
        self._key = np.where(located, key, -1)
        """-1 for a fence."""
        self._tick = np.where(times.given, times.value, NO_TICK)
        self._options = options
        self._keep(kept)

    def _leave_odd_out(self, kept: Column, run: Column) -> None:
        if self.odd.any():
            kept &= ~self.odd[run]

    def _keep(self, kept: Column) -> None:
        """Have these rows and no others."""
        if kept.all():
            return
        those = _places(kept)
        self._run, self._kind, self._line = self._run[those], self._kind[those], self._line[those]
        self._thread, self._spelled, self._key = self._thread[those], self._spelled[those], self._key[those]
        self._read, self._written, self._tick = self._read[those], self._written[those], self._tick[those]
        self._said = {name: column[those] for name, column in self._said.items()}
        if self._pairs:
            number = np.cumsum(kept) - 1
            self._pairs = {name: number[rows[kept[rows].all(axis=1)]] for name, rows in self._pairs.items()}

    def _selected(self, key: Column, located: Column, run: Column, odd: Column, options: Options) -> Column:
        """Where --addresses keeps the row. What it cannot select, or leaves empty, becomes odd."""
        named = np.array([*(isinstance(address, str) for address in self._keys), False])
        inside = np.array([*(isinstance(address, int) and address in options.addresses for address in self._keys),
                           False])[key]
        odd |= located & named[key]
        left_out = located & ~inside
        touched = np.bincount(run[located & inside], minlength=int(run[-1]) + 1)
        odd |= left_out & (touched[run] == 0)
        kept: Column = ~left_out
        return kept

    def _refuse_overlaps(self, run: Column, key: Column, size: Column, kept: Column) -> None:
        """Where accesses of a history share some bytes and not all, or a name has several sizes, it becomes odd."""
        named = np.array([isinstance(address, str) for address in self._keys], dtype=bool)
        small = np.array([isinstance(address, int) and 0 <= address < _HIGH for address in self._keys], dtype=bool)
        start = np.array([address if fits else 0 for address, fits in zip(self._keys, small, strict=True)],
                         dtype=np.uint64)
        rows = np.flatnonzero(kept & (size > 0))
        self.odd[run[rows[~(named | small)[key[rows]]]]] = True
        called = rows[named[key[rows]]]
        called = called[np.lexsort((size[called], key[called], run[called]))]
        again = (np.diff(run[called]) == 0) & (np.diff(key[called]) == 0) & (np.diff(size[called]) != 0)
        self.odd[run[called[1:][again]]] = True
        rows = rows[small[key[rows]]]
        _, first, _ = _numbered(run[rows], key[rows].astype(np.int64) * (max(SIZES) + 1) + size[rows], len(self.odd))
        rows = rows[first]
        at, width, of = start[key[rows]], size[rows].astype(np.uint64), run[rows]
        order = np.lexsort((width, at, of))
        at, width, of = at[order], width[order], of[order]
        self.odd[of[1:][(of[1:] == of[:-1]) & (at[1:] < at[:-1] + width[:-1])]] = True

    def _cut(self, columns: tuple[_Numbers, ...], rows: tuple[Column, Column, Column], kept: Column,
             statements: Column, options: Options) -> None:
        """Take values as the bytes that they are in memory. Where one is too large its history becomes odd."""
        at = np.flatnonzero(kept)
        run, key, size = (column[at] for column in rows)
        numbers, first, _ = _numbered(run, key, len(self.odd))
        wide = widest(numbers, size, len(first))[:-1]
        for column in columns:
            column.value = column.value.copy()
            column.value[at], large = low_bytes(column.value[at], np.where(size > 0, size, wide[numbers]))
            self.odd[run[large & column.given[at]]] = True
        sized = np.bincount(run[size > 0], minlength=len(self.odd)) > 0
        self.odd[run[statements[at] & (wide[numbers] == 0) & sized[run]]] = True  # may be about bytes of other places
        said, told = self._told(options)
        here = key[first]
        self.odd[run[first[told[here] & low_bytes(said[here], wide)[1]]]] = True

    def _told(self, options: Options) -> tuple[Column, Column]:
        """What the options have some addresses start with, whatever their width, by the keys of all; and of which."""
        image, given = options.image, options.initial_at
        if image is None and not given:
            return np.zeros(len(self._keys), dtype=np.int64), np.zeros(len(self._keys), dtype=bool)
        said = [given[address] if address in given else image.value(address) if image and image.tells(address) else None
                for address in self._keys]
        return np.array([word(value or 0) for value in said], dtype=np.int64), np.array(
            [value is not None for value in said], dtype=bool)

    def histories(self, names: Sequence[str], file: str) -> Iterator[History | InputError]:
        """The histories that are not odd."""
        odd, made = self.odd, self._made()
        del self  # a large history is decided while this waits: nothing else may stay
        for one in np.flatnonzero(~odd).tolist():
            yield made.history(one, names[one], file)

    def _made(self) -> _Made:
        runs = len(self.odd)
        everywhere, first, bounds = _numbered(self._run, self._key, runs)
        of, places = self._run[first], bounds.tolist()
        locations = [self._spellings[code] for code in self._spelled[first].tolist()]
        initial, unknown = self._starts(everywhere, self._key[first])
        final_value, final_line = np.zeros(len(of), dtype=np.int64), np.full(len(of), -1, dtype=np.int64)
        ends = np.flatnonzero(self._kind == _FINAL)[::-1]  # the first of several comes last, and stays
        final_value[everywhere[ends]], final_line[everywhere[ends]] = self._written[ends], self._line[ends]
        operates = self._kind <= FENCE
        self._keep(operates)
        everywhere = everywhere[_places(operates)]
        kind, run = self._kind, self._run
        begin = np.searchsorted(run, np.arange(runs + 1))
        each = np.diff(begin)
        location = everywhere.astype(np.int32) - np.repeat(bounds[:-1].astype(np.int32), each)
        location[kind == FENCE] = NO_LOCATION
        numbers, first, bounds = _numbered(run, self._thread, runs)
        thread, people = numbers.astype(np.int32) - np.repeat(bounds[:-1].astype(np.int32), each), bounds.tolist()
        threads = [self._threads[code] for code in self._thread[first].tolist()]
        said = [(name, column, told) for name, column in self._said.items()
                if (told := np.bincount(run[says_anything(name, column)], minlength=runs) > 0).any()]
        values = Values(kind, everywhere, self._read, self._written, initial, final_value, final_line >= 0)
        values = values.supposing(unknown if self._options.unknown else None)
        source, final = sources(values, _hashed)
        np.subtract(source, np.repeat(begin[:-1].astype(np.int32), each), out=source, where=source >= 0)
        final = np.where(final >= 0, final - begin[of], final).astype(np.int32)
        return _Made(begin.tolist(), people, threads, places, locations,
                     {"thread": thread, "kind": kind, "location": location, "read": self._read,
                      "written": self._written, "source": source, "line": self._line, "tick": self._tick},
                     {"initial": values.initial, "final": final, "final_value": final_value, "final_line": final_line},
                     said, unknown if self._options.unknown else None, self._pairs)

    def _starts(self, everywhere: Column, key: Column) -> tuple[Column, Column]:
        """What every location starts with, and where nobody says so; `key` has the key of each."""
        initial, unsaid = np.full(len(key), word(self._options.initial), dtype=np.int64), np.ones(len(key), dtype=bool)
        if self._options.image is not None:
            self._held(self._options.image, everywhere, key, initial, unsaid)
        given = np.flatnonzero(self._kind == _INIT)
        initial[everywhere[given]], unsaid[everywhere[given]] = self._written[given], False
        for address, value in self._options.initial_at.items():
            if address in self._keys:
                here = key == self._keys[address]
                initial[here], unsaid[here] = word(value), False
        if "size" in self._said:
            initial, _ = low_bytes(initial, self._wide(everywhere, len(key)))
        return initial, unsaid

    def _wide(self, everywhere: Column, count: int) -> Column:
        """The most bytes that an access to each location has."""
        if "size" not in self._said:
            return np.zeros(count, dtype=np.int64)
        return widest(everywhere, self._said["size"], count)[:-1]

    def _held(self, image: Image, everywhere: Column, key: Column, initial: Column, unsaid: Column) -> None:
        """Fill in what an image says of the locations."""
        addresses = [*self._keys]
        for at, (code, size) in enumerate(zip(key.tolist(), self._wide(everywhere, len(key)).tolist(), strict=True)):
            if (held := image.value(addresses[code], size)) is not None:
                initial[at], unsaid[at] = held, False


class _Made(NamedTuple):
    """The columns of histories, one behind the other: where each begins, and what it has."""

    rows: list[int]
    people: list[int]
    threads: list[str]
    places: list[int]
    locations: list[str]
    of_rows: dict[str, Column]
    of_places: dict[str, Column]
    said: list[tuple[str, Column, Column]]
    """Annotations, and which histories have them."""
    unknown: Column | None
    """Of which locations nobody knows what they held."""
    pairs: dict[str, Column]

    def history(self, one: int, name: str, file: str) -> History:
        own, its = slice(self.rows[one], self.rows[one + 1]), slice(self.places[one], self.places[one + 1])
        columns: dict[str, Any] = {
            "name": name, "file": file, "threads": tuple(self.threads[self.people[one]:self.people[one + 1]]),
            "locations": tuple(self.locations[its])}
        columns |= {name: column[own] for name, column in self.of_rows.items()}
        columns |= {name: column[its] for name, column in self.of_places.items()}
        more: dict[str, Any] = {name: column[own] for name, column, told in self.said if told[one]} if self.said else {}
        for what, pairs in self.pairs.items():
            if len(here := pairs[slice(*np.searchsorted(pairs[:, 0], (own.start, own.stop)))]):
                more[what] = (here - own.start).astype(np.int32, order="C")
        if self.unknown is not None and self.unknown[its].any():
            more["unknown"] = self.unknown[its]
        history = History.of(columns | more)
        return noted(history) if more else history


def _annotations(cells: Sequence[Any], kind: Column, orders: Column, marks: Column) -> tuple[dict[str, Column], Column]:
    """The annotations of every row that a column of `Annotations` has, and where only the row path understands them.

    `orders` and `marks` are those that the ops have.
    """
    fence, aqrl, begin, end, order = cells
    fence, aqrl = _words(fence, FENCES), _words(aqrl, AQRL)
    found: dict[str, Column] = {}
    fences, odd = kind == FENCE, np.zeros(len(kind), dtype=bool)
    if fence is not None:
        odd |= (fence == _ODD) | ((fence != 0) & (~fences | ((orders != 0) & (orders != fence))))
        orders = np.where(fence != 0, fence, orders)
    if orders.any():
        found["fence"] = np.where(fences & (orders == 0), FULL, orders).astype(np.int8)
    if aqrl is not None:
        odd |= (aqrl == _ODD) | (fences & (aqrl != 0))
        marks = marks | aqrl
    if marks.any():
        found["marks"] = marks
    for name, array in (("begin", begin), ("end", end), ("order", order)):
        if array is not None:
            told = _numbers(array, len(kind))
            odd |= ~told.natural
            found[name] = np.where(told.given, told.value, ABSENT[name])
    if "order" in found:
        odd |= (found["order"] != NO_PLACE) & (kind != WRITE) & (kind != RMW)
    if found.keys() >= {"begin", "end"}:
        odd |= (found["end"] != NO_TICK) & (found["end"] < found["begin"])
    return found, odd


def _sizes(array: Integers | Words | None, accesses: Column, statements: Column) -> tuple[Column | None, Column]:
    """How many bytes each access has, 0 where nobody says, None where nobody does at all; and where no access has so
    many, or a statement says any."""
    if array is None:
        return None, np.broadcast_to(np.False_, len(accesses))
    told = _numbers(array, len(accesses))
    size = np.where(accesses & told.given, told.value, 0)
    unfit = accesses & ~(told.absent | (told.given & np.isin(told.value, SIZES))) | (statements & ~told.absent)
    return (size.astype(np.int32) if size.any() else None), unfit


def _places(mask: Column) -> slice | Column:
    """Where a mask is true: a slice if that is one stretch, which saves copies."""
    count = int(np.count_nonzero(mask))
    start = int(mask.argmax()) if count else 0
    return slice(start, start + count) if mask[start:start + count].all() else np.flatnonzero(mask)


def _hashed(codes: Column) -> Column:
    """Small numbers for large ones, equal ones for equal ones."""
    if len(codes) <= _FEW:
        return by_sorting(codes)
    import pyarrow as pa

    codes = np.ascontiguousarray(codes, dtype=np.int64)
    column = pa.Array.from_buffers(pa.int64(), len(codes), [None, pa.py_buffer(codes)])
    return np.frombuffer(column.dictionary_encode().indices.buffers()[1], dtype=np.int32)[: len(codes)]


def _dense(codes: Column) -> tuple[Column, Column]:
    """The same codes, numbered in the order of their first appearance, and where that is; -1 stays."""
    count = int(codes.max(initial=-1)) + 1
    if count > 4 * len(codes):
        codes = np.where(codes < 0, -1, _hashed(codes))
        count = int(codes.max(initial=-1)) + 1
    first = _first(codes, count)
    met = np.flatnonzero(first < len(codes))
    met = met[np.argsort(first[met])]
    known = np.full(count + 1, -1, dtype=narrow(count))
    known[met] = np.arange(len(met))
    return codes if (met == np.arange(count)[: len(met)]).all() else known[codes], first[met]


def _first(codes: Column, count: int) -> Column:
    """The first row of each of so many codes; the number of rows for one that nobody has."""
    first = np.full(count + 1, len(codes))  # the last one is for -1
    together = max(_BLOCK, 4 * count)
    for start in range(0, len(codes), together):
        block = codes[start:start + together]
        found = np.full(count + 1, len(codes))
        found[block[::-1]] = np.arange(start + len(block) - 1, start - 1, -1)
        np.minimum(first, found, out=first)
        if (first[:-1] < len(codes)).all():
            break
    return first[:-1]


def _numbered(run: Column, code: Column, runs: int) -> tuple[Column, Column, Column]:
    """The codes of every run, numbered in the order of their first appearance, on through all runs; -1 stays.

    Returns for each row its number, for each number its first row, and for each run its first number.
    """
    if runs > 1:
        code = np.where(code < 0, -1, run.astype(np.int64) * (int(code.max(initial=0)) + 1) + code)
    numbers, first = _dense(code)
    return numbers, first, np.searchsorted(run[first], np.arange(runs + 1))


# Histories to tables


def schema_of(columns: Iterable[str]) -> pa.Schema:
    """What each column of a table holds."""
    import pyarrow as pa

    numbers = NUMBERS | {LINE}
    return pa.schema([(column, pa.int32() if column == "size" else pa.int64() if column in numbers else pa.string())
                      for column in columns])


class Columns:
    """The operations of a history as columns of a table, as `_rows.operations` gives them."""

    def __init__(self, history: History, name: str) -> None:
        self._history = history
        self._name = name
        self._dependencies = {name: (np.array(rows := sorted(cells)), [cells[row] for row in rows])
                              for name, cells in dependencies(history).items()}
        """Operations that have such a cell, in their order, and these cells."""

    def batch(self, those: slice, schema: pa.Schema) -> pa.RecordBatch:
        """Some of the operations, with the columns of `schema`."""
        import pyarrow as pa

        history = self._history
        kind, location = history.kind[those], history.location[those]
        read, written = history.read[those], history.written[those]
        marks = self._said("marks", those)
        nowhere = location == NO_LOCATION
        columns = {
            "thread": _text(history.thread[those], history.threads),
            "op": _text(np.where((marks & EXCLUSIVE) > 0, kind + EXCLUSIVES, kind), OP_NAMES),
            "address": _text(location, history.locations, nowhere),
            "value": pa.array(np.where(kind == READ, read, written), mask=nowhere),
            "read": pa.array(read, mask=kind != RMW),
            "time": _numbers_or_null(history.tick[those]),
            "size": pa.array(size := self._said("size", those), mask=size == 0),
            "history": pa.array([self._name]).take(pa.array(np.zeros(len(kind), dtype=np.int8))),
        }
        for name in (name for name in schema.names if name not in columns):
            columns[name] = self._annotation(name, those, len(kind))
        return pa.record_batch([columns[name] for name in schema.names], schema=schema)

    def _said(self, name: str, those: slice) -> Column:
        column: Column | None = getattr(self._history, name)
        return np.zeros(len(self._history.kind[those]), dtype=np.int32) if column is None else column[those]

    def _named(self, name: str, start: int, rows: int) -> pa.Array:
        """The cells that name others."""
        import pyarrow as pa

        operations, cells = self._dependencies.get(name, (np.zeros(0, dtype=np.int64), []))
        some = slice(*np.searchsorted(operations, (start, start + rows)))
        code, nothing = np.zeros(rows, dtype=np.int64), np.ones(rows, dtype=bool)
        here = operations[some] - start
        code[here], nothing[here] = np.arange(len(here)), False
        return pa.array(cells[some], pa.int64() if name == "pair" else pa.string()).take(pa.array(code, mask=nothing))

    def _annotation(self, name: str, those: slice, rows: int) -> pa.Array:
        if name in PAIRS:
            return self._named(name, those.start, rows)
        if name in ABSENT:
            column: Column | None = getattr(self._history, name)
            return _numbers_or_null(np.full(rows, ABSENT[name]) if column is None else column[those])
        column, known = ((self._said("fence", those), FENCES) if name == "fence" else
                         (self._said("marks", those) & ~EXCLUSIVE, AQRL))
        codes = np.array([*known.values()])
        told = np.isin(column, codes) & ~((column == FULL) & (name == "fence"))
        return _text(np.argmax(column[:, None] == codes, axis=1), [*known], ~told)


def _text(codes: Column, names: Sequence[str], absent: Column | None = None) -> pa.Array:
    import pyarrow as pa

    return pa.array(names, pa.string()).take(pa.array(codes, mask=absent))


def _numbers_or_null(numbers: Column) -> pa.Array:
    import pyarrow as pa

    return pa.array(numbers, mask=numbers < 0)
