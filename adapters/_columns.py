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
from gradual.history.image import Image
from gradual.history.reads_from import Values, noted, sources
from gradual.history.sizes import low_bytes

from ._cells import Integers, Words
from ._rows import EXCLUSIVES, LINE, OP_NAMES, OPS, SIZES, Groups, Op, Row, dependencies, number
from ._text import stem

if TYPE_CHECKING:
    import pyarrow as pa

Cells = Sequence["pa.Array | Integers | Words | None"]
"""One array per column that `header` chose, None where the table has no such column."""
Rows = Callable[[int, int], Iterator[Row | InputError]]
"""Rows of the table, from one (counted from 0) up to another, as the row path wants them."""

_ODD, _INIT, _FINAL = -1, 4, 5
"""Kinds of rows besides those of operations; odd is what only the row path understands."""
_STATEMENTS = {"init": _INIT, "final": _FINAL, "unknown": _ODD, "": _ODD}
_UNKNOWN = Op("")
_FEW = 50_000
"""Rows up to which numpy sorts before Arrow, which hashes, is loaded."""
_LONG = 1 << 30
"""Bytes of text in one array: beyond twice that, an array needs wide offsets."""


_HIGH = (1 << 64) - (1 << 32)
"""Below it an address and a size can be added as uint64."""


class Declined(Exception):
    """This table has to be read row by row."""


# Cells


def joined(pieces: list[pa.Array]) -> pa.Array | None:
    """The pieces of one column as one array of text, int64 or uint64; None when all of it is null. Raises Declined."""
    import pyarrow as pa

    plain = [_plain(piece) for piece in pieces]
    of = plain[0].type
    if pa.types.is_null(of):
        return None
    if all(map(_is_coded, plain)):
        return pa.chunked_array(plain).unify_dictionaries().combine_chunks()
    plain = [piece.dictionary_decode() if _is_coded(piece) else piece for piece in plain]
    if pa.types.is_string(of) and sum(piece.nbytes for piece in plain) > _LONG:
        plain = [piece.cast(pa.large_string()) for piece in plain]
    return plain[0] if len(plain) == 1 else pa.concat_arrays(plain)


def _plain(piece: pa.Array) -> pa.Array:
    import pyarrow as pa

    try:
        piece.validate(full=True)
        if _is_coded(piece):
            return piece
        if pa.types.is_dictionary(piece.type):
            piece = piece.dictionary_decode()
        elif pa.types.is_binary(piece.type) or pa.types.is_large_binary(piece.type):
            piece = piece.cast(pa.large_string())
    except pa.ArrowException:
        raise Declined from None
    of = piece.type
    if pa.types.is_float32(of) or pa.types.is_float64(of):
        return _whole(piece.to_numpy(zero_copy_only=False))
    if pa.types.is_integer(of) and of != pa.uint64():
        return piece.cast(pa.int64())
    if pa.types.is_string(of) or pa.types.is_large_string(of) or pa.types.is_null(of) or of == pa.uint64():
        return piece
    raise Declined


def _is_coded(piece: pa.Array) -> bool:
    """Does it have numbers for words?"""
    import pyarrow as pa

    return bool(pa.types.is_dictionary(piece.type) and pa.types.is_string(piece.type.value_type)
                and not piece.dictionary.null_count)


def _whole(floats: Column) -> pa.Array:
    """Floats that stand for integers, because their column has gaps."""
    import pyarrow as pa

    absent = np.isnan(floats)
    if not (absent | ((np.abs(floats) <= 1 << 53) & (floats == np.floor(floats)))).all():
        raise Declined
    return pa.array(np.where(absent, 0, floats).astype(np.int64), mask=absent)


def _distinct(array: pa.Array | Integers | Words) -> tuple[Column, list[Any]]:
    """For each row the number of its cell among the distinct ones, -1 for null; and these cells."""
    if isinstance(array, Words):
        return array.code, list(array.words)
    if isinstance(array, Integers):
        numbers = _dense(array.value)
        cells = array.value[_first(numbers)].tolist()
        return numbers if array.given is None else np.where(array.given, numbers, -1), cells
    encoded = array if _is_coded(array) else array.dictionary_encode()
    return _filled(encoded.indices, -1), encoded.dictionary.to_pylist()


def _given(array: pa.Array | Integers) -> Column:
    """Which cells are not null."""
    if isinstance(array, Integers):
        return np.ones(len(array), dtype=bool) if array.given is None else array.given
    bits = array.buffers()[0]
    if bits is None or not array.null_count:
        return np.ones(len(array), dtype=bool)
    found = np.unpackbits(np.frombuffer(bits, dtype=np.uint8), bitorder="little")
    return found[array.offset:array.offset + len(array)].astype(bool)


def _filled(array: pa.Array, value: int) -> Column:
    """The cells of a column of integers, `value` where they are null (pyarrow's own way loads pandas)."""
    import pyarrow as pa

    unsigned = pa.types.is_unsigned_integer(array.type)
    width = f"{'u' if unsigned else 'i'}{array.type.bit_width // 8}"
    if not len(array):
        return np.zeros(0, dtype=width)
    cells: Column = np.frombuffer(array.buffers()[1], dtype=width)[array.offset:array.offset + len(array)]
    return cells if not array.null_count else np.where(_given(array), cells, np.array(value, dtype=width))


def _is_whole(array: pa.Array | Integers | Words | None) -> bool:
    """Is it a column of integers?"""
    if array is None or isinstance(array, Integers | Words):
        return isinstance(array, Integers)
    import pyarrow as pa

    return bool(pa.types.is_integer(array.type))


def _names(array: pa.Array | Integers | Words | None, rows: int) -> tuple[Column, list[str]]:
    """For each row the number of its name, -1 where there is none; and the names."""
    if array is None:
        return np.full(rows, -1), []
    codes, cells = _distinct(array)
    names: dict[str, int] = {}
    known = [names.setdefault(text, len(names)) if (text := str(cell).strip()) else -1 for cell in cells]
    return np.array([*known, -1], dtype=np.int32)[codes], list(names)


def has_gaps(array: pa.Array | None) -> bool:
    """Is there a row without a name here? Without an op, a row of CSV may be a blank one."""
    return array is None or bool((_names(array, len(array))[0] < 0).any())


def _ops(array: pa.Array | Words | None, rows: int) -> tuple[Column, Column, Column]:
    """Of every row its kind, what a fence orders (0: not told), and the marks that the op has."""
    codes, names = _names(array, rows)
    ops = [OPS.get(name.lower(), _UNKNOWN) for name in names]
    kinds = [int(op.kind) if isinstance(op.kind, Kind) else _STATEMENTS[op.kind] for op in ops]
    columns = [*kinds, _ODD], [*(op.orders for op in ops), 0], [*(op.marks for op in ops), 0]
    kind, orders, marks = (np.array(column, dtype=np.int8)[codes] for column in columns)
    return kind, orders, marks


def _words(array: pa.Array | None, known: dict[str, int]) -> Column | None:
    """A column of such words as int8: 0 where there is none, _ODD where it is none of them; None without any."""
    if array is None or array.null_count == len(array):
        return None
    codes, names = _names(array, len(array))
    return np.array([*(known.get(name.lower(), _ODD) for name in names), 0], dtype=np.int8)[codes]


@dataclass
class _Numbers:
    """A column of numbers, as 64-bit words."""

    value: Column
    given: Column
    """bool: there is one, and it can be read."""
    absent: Column
    """bool: the cell is empty."""

    def within(self, bits: int) -> Column:
        """Where the row path would find the cell empty, or not negative and of so many bits."""
        inside: Column = self.given & (self.value >= 0) & (self.value <= (1 << bits) - 1)
        return self.absent | inside


def _numbers(array: pa.Array | Integers | None, rows: int) -> _Numbers:
    if array is None:
        return _Numbers(np.zeros(rows, dtype=np.int64), np.zeros(rows, dtype=bool), np.ones(rows, dtype=bool))
    if isinstance(array, Integers):
        return _Numbers(array.value, given := _given(array), ~given)
    if not _is_whole(array):
        import pyarrow as pa

        cells: pa.Array = array.dictionary_decode() if _is_coded(array) else array
        for wanted in (pa.int64(), pa.uint64()):  # Arrow reads a part of what `number` does, hex too, alike
            try:
                array = cells.cast(wanted)
                break
            except pa.ArrowInvalid:
                pass
        else:
            return _spelled(cells)
    given = _given(array)
    return _Numbers(_filled(array, 0).view(np.int64), given, ~given)


def _spelled(array: pa.Array) -> _Numbers:
    """Numbers in every spelling there is."""
    codes, cells = _distinct(array)
    values, given = [0] * (len(cells) + 1), [False] * (len(cells) + 1)
    for at, cell in enumerate(cells):
        with suppress(ValueError):
            values[at], given[at] = word(number(cell, "")), True
    blank = [*(not cell.strip() for cell in cells), True]
    return _Numbers(np.array(values, dtype=np.int64)[codes], np.array(given)[codes], np.array(blank)[codes])


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
        codes = np.where(codes < 0, names.index(nameless) if nameless in names else len(names), codes)
        names.append(nameless)
        self.bounds: Column = np.flatnonzero(np.concatenate([[True], codes[1:] != codes[:-1], [True]]))
        share(len(self.bounds) - 1)
        """Where histories begin, and where the last one ends."""
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
        whole = _is_whole(where)
        self._keys: dict[int | str, int] = {}
        """Locations by what identifies them: of one, the spellings may differ."""
        known = [self._keys.setdefault(int(text) if whole else location_key(text), len(self._keys))
                 for text in self._spellings]
        key = np.array([*known, -1], dtype=np.int32)[spelled]
        values, reads, times, sizes = (_numbers(column, rows) for column in (value, read, time, width))
        located, operates, rmws = kind != FENCE, kind <= FENCE, kind == RMW
        accesses = located & operates
        odd = (kind == _ODD) | (located & ((spelled < 0) | ~values.given)) | (rmws & ~reads.given)
        odd |= operates & ((thread < 0) | ~times.within(63))
        odd |= accesses & ~(sizes.absent | (sizes.given & np.isin(sizes.value, SIZES)))
        size = np.where(accesses & sizes.given, sizes.value, 0)
        said, strange = _annotations(others, kind, orders, marks)
        odd |= operates & strange
        run = np.repeat(np.arange(runs), np.diff(bounds))
        kept = ~odd
        if options.addresses:
            kept &= self._selected(key, located, run, odd, options)
        self.odd: Column = np.bincount(run[odd], minlength=runs) > 0
        """Which histories have to be read row by row."""
        if size.any():
            self._refuse_overlaps(run, key, size, kept)
        for statement in (_INIT, _FINAL):
            at = np.flatnonzero(kept & (kind == statement))
            numbers, first, _ = _numbered(run[at], key[at], runs)
            two = values.value[at] != values.value[at[first[numbers]]]  # values for one location
            self.odd[run[at[two]]] = True
        kept &= ~self.odd[run]
        if size.any():
            self._cut((values, reads), (run, key, size), kept & located, options)
            kept &= ~self.odd[run]

        def only(column: Column) -> Column:
            return column if everything else column[kept]

        everything = bool(kept.all())
        self._run, self._kind, self._value = only(run), only(kind), only(values.value)
        self._read = only(np.where(kind == READ, values.value, np.where(rmws, reads.value, 0)))
        self._written = only(np.where((kind == WRITE) | rmws, values.value, 0))
        self._tick = only(np.where(times.given, times.value, NO_TICK))
        self._line = only(lines)
        self._said = {name: only(column) for name, column in {"size": size.astype(np.int32), **said}.items()}
        self._thread, self._spelled, self._key = only(thread), only(spelled), only(key)
        self._options = options

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
        _, first, _ = _numbered(run[rows], _dense(key[rows].astype(np.int64) << 31 | size[rows]), len(self.odd))
        rows = rows[first]
        at, width, of = start[key[rows]], size[rows].astype(np.uint64), run[rows]
        order = np.lexsort((width, at, of))
        at, width, of = at[order], width[order], of[order]
        self.odd[of[1:][(of[1:] == of[:-1]) & (at[1:] < at[:-1] + width[:-1])]] = True

    def _cut(self, columns: tuple[_Numbers, ...], rows: tuple[Column, Column, Column], kept: Column,
             options: Options) -> None:
        """Take values as the bytes that they are in memory. Where one is too large its history becomes odd."""
        at = np.flatnonzero(kept)
        run, key, size = (column[at] for column in rows)
        numbers, first, _ = _numbered(run, key, len(self.odd))
        wide = np.zeros(len(first), dtype=np.int64)
        np.maximum.at(wide, numbers, size)
        for column in columns:
            column.value = column.value.copy()
            column.value[at], large = low_bytes(column.value[at], np.where(size > 0, size, wide[numbers]))
            self.odd[run[large & column.given[at]]] = True
        for address, value in options.initial_at.items():
            here = key[first] == self._keys.get(address, -1)
            self.odd[run[first[here & low_bytes(np.full(len(first), word(value)), wide)[1]]]] = True

    def histories(self, names: Sequence[str], file: str) -> Iterator[History | InputError]:
        """The histories that are not odd."""
        odd, made = self.odd, self._made()
        del self  # a large history is decided while this waits: nothing else may stay
        for one in np.flatnonzero(~odd).tolist():
            yield made.history(one, names[one], file)

    def _made(self) -> _Made:
        runs = len(self.odd)
        at = np.flatnonzero(self._kind != FENCE)
        numbers, first, bounds = _numbered(self._run[at], self._key[at], runs)
        of, places = self._run[at[first]], bounds.tolist()
        everywhere = np.full(len(self._kind), NO_LOCATION, dtype=np.int64)
        everywhere[at] = numbers
        locations = [self._spellings[code] for code in self._spelled[at[first]].tolist()]
        initial, unknown = self._starts(everywhere, self._key[at[first]])
        final_value, final_line = np.zeros(len(of), dtype=np.int64), np.full(len(of), -1, dtype=np.int64)
        ends = np.flatnonzero(self._kind == _FINAL)[::-1]  # the first of several comes last, and stays
        final_value[everywhere[ends]], final_line[everywhere[ends]] = self._value[ends], self._line[ends]

        operates = self._kind <= FENCE

        def only(column: Column) -> Column:
            return column if everything else column[operates]

        everything = bool(operates.all())
        run, kind, read, written = only(self._run), only(self._kind), only(self._read), only(self._written)
        line, tick, codes, everywhere = map(only, (self._line, self._tick, self._thread, everywhere))
        location = np.where(kind == FENCE, NO_LOCATION, everywhere - bounds[run]).astype(np.int32)
        numbers, first, bounds = _numbered(run, codes, runs)
        thread, people = (numbers - bounds[run]).astype(np.int32), bounds.tolist()
        threads = [self._threads[code] for code in codes[first].tolist()]
        said = [(name, column, told) for name, column in zip(self._said, map(only, self._said.values()), strict=True)
                if (told := np.bincount(run[says_anything(name, column)], minlength=runs) > 0).any()]
        begin = np.searchsorted(run, np.arange(runs + 1))
        values = Values(kind, everywhere, read, written, initial, final_value, final_line >= 0)
        values = values.supposing(unknown if self._options.unknown else None)
        source, final = sources(values, _dense)
        source = np.where(source >= 0, source - begin[run], source).astype(np.int32)
        final = np.where(final >= 0, final - begin[of], final).astype(np.int32)
        return _Made(begin.tolist(), people, threads, places, locations,
                     {"thread": thread, "kind": kind, "location": location, "read": read, "written": written,
                      "source": source, "line": line, "tick": tick},
                     {"initial": values.initial, "final": final, "final_value": final_value, "final_line": final_line},
                     said, unknown if self._options.unknown else None)

    def _starts(self, everywhere: Column, key: Column) -> tuple[Column, Column]:
        """What every location starts with, and where nobody says so; `key` has the key of each."""
        initial, unsaid = np.full(len(key), word(self._options.initial), dtype=np.int64), np.ones(len(key), dtype=bool)
        if self._options.image is not None:
            self._held(self._options.image, everywhere, key, initial, unsaid)
        given = np.flatnonzero(self._kind == _INIT)
        initial[everywhere[given]], unsaid[everywhere[given]] = self._value[given], False
        for address, value in self._options.initial_at.items():
            if address in self._keys:
                here = key == self._keys[address]
                initial[here], unsaid[here] = word(value), False
        if self._said["size"].any():
            initial, _ = low_bytes(initial, self._wide(everywhere, len(key)))
        return initial, unsaid

    def _wide(self, everywhere: Column, count: int) -> Column:
        """The most bytes that an access to each location has."""
        found = np.zeros(count + 1, dtype=np.int64)  # the last one is for fences
        np.maximum.at(found, everywhere, self._said["size"])
        return found[:-1]

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

    def history(self, one: int, name: str, file: str) -> History:
        own, its = slice(self.rows[one], self.rows[one + 1]), slice(self.places[one], self.places[one + 1])
        columns: dict[str, Any] = {name: column[own] for name, column in self.of_rows.items()}
        columns |= {name: column[its] for name, column in self.of_places.items()}
        more: dict[str, Any] = {name: column[own] for name, column, told in self.said if told[one]} if self.said else {}
        if self.unknown is not None and self.unknown[its].any():
            more["unknown"] = self.unknown[its]
        history = History(name, file, tuple(self.threads[self.people[one]:self.people[one + 1]]),
                          tuple(self.locations[its]), **columns, **more)
        return noted(history) if more else history


def _annotations(cells: Sequence[Any], kind: Column, orders: Column, marks: Column) -> tuple[dict[str, Column], Column]:
    """The annotations of every row that a column of `Annotations` has, and where only the row path understands them.

    `orders` and `marks` are those that the ops have.
    """
    fence, aqrl, begin, end, order, *pairs = cells or [None] * 5
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
        if array is not None and array.null_count < len(array):
            told = _numbers(array, len(kind))
            odd |= ~told.within(63)
            found[name] = np.where(told.given, told.value, ABSENT[name])
    if "order" in found:
        odd |= (found["order"] != NO_PLACE) & (kind != WRITE) & (kind != RMW)
    if found.keys() >= {"begin", "end"}:
        odd |= (found["end"] != NO_TICK) & (found["end"] < found["begin"])
    for array in pairs:  # dependencies and pairs are rare
        if array is not None:
            odd |= _given(array)
    return found, odd


def _dense(codes: Column) -> Column:
    """The same codes, numbered in the order of their first appearance."""
    if len(codes) <= _FEW:
        _, first, sorted_number = np.unique(codes, return_index=True, return_inverse=True)
        number = np.empty(len(first), dtype=np.int64)
        number[np.argsort(first)] = np.arange(len(first))
        return number[sorted_number]
    import pyarrow as pa

    codes = np.ascontiguousarray(codes, dtype=np.int64)
    column = pa.Array.from_buffers(pa.int64(), len(codes), [None, pa.py_buffer(codes)])
    return _filled(column.dictionary_encode().indices, -1)


def _first(numbers: Column) -> Column:
    """The first row of each number."""
    first = np.zeros(int(numbers.max(initial=-1)) + 1, dtype=np.int64)
    first[numbers[::-1]] = np.arange(len(numbers) - 1, -1, -1)
    return first


def _numbered(run: Column, code: Column, runs: int) -> tuple[Column, Column, Column]:
    """The codes of every run, numbered in the order of their first appearance, on through all runs.

    Returns for each row its number, for each number its first row, and for each run its first number.
    """
    numbers = _dense(run * (int(code.max(initial=0)) + 1) + code).astype(np.int64)
    first = _first(numbers)
    return numbers, first, np.searchsorted(run[first], np.arange(runs + 1))


# Histories to tables


def schema_of(columns: Iterable[str]) -> pa.Schema:
    """What each column of a table holds."""
    import pyarrow as pa

    numbers = {"value", "read", "time", "begin", "end", "order", "pair", LINE}
    return pa.schema([(column, pa.int64() if column in numbers else pa.int32() if column == "size" else pa.string())
                      for column in columns])


class Columns:
    """The operations of a history as columns of a table, as `_rows.operations` gives them."""

    def __init__(self, history: History, name: str) -> None:
        self._history = history
        self._name = name
        addr, data, ctrl, pair = dependencies(history) if history.annotations().keys() & {*PAIRS} else ([],) * 4
        self._dependencies = {"addr": addr, "data": data, "ctrl": ctrl, "pair": pair}

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

    def _annotation(self, name: str, those: slice, rows: int) -> pa.Array:
        import pyarrow as pa

        if name in self._dependencies:
            cells = self._dependencies[name][those] or [None] * rows
            return pa.array(cells, pa.int64() if name == "pair" else pa.string())
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
