"""The common table by columns: they become histories without a Python object per operation.

A history that has anything unusual in it (a cell that is missing or cannot be read, accesses that overlap,
a name that came before) goes through its rows instead: `_rows` knows what that means and the words
for it. `Declined` sends the whole table there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gradual.history import (
    AMBIGUOUS,
    FENCE,
    INITIAL,
    NO_LOCATION,
    NO_SOURCE,
    NO_TICK,
    READ,
    RMW,
    THIN_AIR,
    WRITE,
    Column,
    History,
    InputError,
    Kind,
    Options,
    history_from_columns,
    location_key,
    word,
)

from ._rows import OP_NAMES, OPS, Groups, Row, number
from ._text import stem

if TYPE_CHECKING:
    import pyarrow as pa

Cells = Sequence["pa.Array | None"]
"""One array per column of COLUMNS, None where the table has no such column."""
Rows = Callable[[int, int], Iterator[Row | InputError]]
"""Rows of the table, from one (counted from 0) up to another, as the row path wants them."""

_ODD, _INIT, _FINAL = -1, 4, 5
"""Kinds of rows besides those of operations; odd is what only the row path understands."""
_STATEMENTS = {"init": _INIT, "final": _FINAL, "": _ODD}
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
    if pa.types.is_string(of) and sum(piece.nbytes for piece in plain) > _LONG:
        plain = [piece.cast(pa.large_string()) for piece in plain]
    return plain[0] if len(plain) == 1 else pa.concat_arrays(plain)


def _plain(piece: pa.Array) -> pa.Array:
    import pyarrow as pa

    try:
        piece.validate(full=True)
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


def _whole(floats: Column) -> pa.Array:
    """Floats that stand for integers, because their column has gaps."""
    import pyarrow as pa

    absent = np.isnan(floats)
    if not (absent | ((np.abs(floats) <= 1 << 53) & (floats == np.floor(floats)))).all():
        raise Declined
    return pa.array(np.where(absent, 0, floats).astype(np.int64), mask=absent)


def _distinct(array: pa.Array) -> tuple[Column, list[Any]]:
    """For each row the number of its cell among the distinct ones, -1 for null; and these cells."""
    encoded = array.dictionary_encode()
    return _filled(encoded.indices, -1), encoded.dictionary.to_pylist()


def _given(array: pa.Array) -> Column:
    """Which cells are not null."""
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


def _names(array: pa.Array | None, rows: int) -> tuple[Column, list[str]]:
    """For each row the number of its name, -1 where there is none; and the names."""
    if array is None:
        return np.full(rows, -1), []
    codes, cells = _distinct(array)
    names: dict[str, int] = {}
    known = [names.setdefault(text, len(names)) if (text := str(cell).strip()) else -1 for cell in cells]
    return np.array([*known, -1])[codes], list(names)


def has_gaps(array: pa.Array | None) -> bool:
    """Is there a row without a name here? Without an op, a row of CSV may be a blank one."""
    return array is None or bool((_names(array, len(array))[0] < 0).any())


def _kinds(array: pa.Array | None, rows: int) -> Column:
    codes, names = _names(array, rows)
    kinds = [OPS.get(name.lower(), "") for name in names]
    return np.array([*(int(kind) if isinstance(kind, Kind) else _STATEMENTS[kind] for kind in kinds), _ODD],
                    dtype=np.int8)[codes]


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


def _numbers(array: pa.Array | None, rows: int) -> _Numbers:
    import pyarrow as pa

    if array is None:
        return _Numbers(np.zeros(rows, dtype=np.int64), np.zeros(rows, dtype=bool), np.ones(rows, dtype=bool))
    if not pa.types.is_integer(array.type):
        for wanted in (pa.int64(), pa.uint64()):  # Arrow reads a part of what `number` does, hex too, alike
            try:
                array = array.cast(wanted)
                break
            except pa.ArrowInvalid:
                pass
        else:
            return _spelled(array)
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
        """Where histories begin, and where the last one ends."""
        self._names = [names[code] for code in codes[self.bounds[:-1]].tolist()]

    def histories(self, count: int, groups: Groups, rows: Rows) -> Iterator[History | InputError]:
        """The first `count` histories; `groups` knows those before."""
        bounds = self.bounds[: count + 1]
        operations = _Operations(self._cells, bounds, self._line, self._options)
        made = operations.histories(self._names, self._file)
        for at, (name, start, stop) in enumerate(zip(self._names, bounds[:-1].tolist(), bounds[1:].tolist(),
                                                     strict=False)):
            found = None if operations.odd[at] else next(made)
            if found is not None and groups.begins(name):
                yield found
            else:
                yield from groups.histories(rows(start, stop))


class _Operations:
    """The operations of a table as in `History`, but numbered through all of its histories."""

    def __init__(self, cells: Cells, bounds: Column, line: int, options: Options) -> None:
        import pyarrow as pa

        rows, runs = int(bounds[-1]), len(bounds) - 1
        who, op, where, value, read, time, width, _ = (cell if cell is None else cell.slice(0, rows) for cell in cells)
        kind = _kinds(op, rows)
        thread, self._threads = _names(who, rows)
        spelled, self._spellings = _names(where, rows)
        whole = where is not None and pa.types.is_integer(where.type)
        self._keys: dict[int | str, int] = {}
        """Locations by what identifies them: of one, the spellings may differ."""
        known = [self._keys.setdefault(int(text) if whole else location_key(text), len(self._keys))
                 for text in self._spellings]
        key = np.array([*known, -1])[spelled]
        values, reads, times, sizes = (_numbers(column, rows) for column in (value, read, time, width))
        located, operates, rmws = kind != FENCE, kind <= FENCE, kind == RMW
        accesses = located & operates
        odd = (kind == _ODD) | (located & ((spelled < 0) | ~values.given)) | (rmws & ~reads.given)
        odd |= (operates & ((thread < 0) | ~times.within(63))) | (accesses & ~sizes.within(31))
        size = np.where(accesses & sizes.given, sizes.value, 0)
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

        def only(column: Column) -> Column:
            return column if everything else column[kept]

        everything = bool(kept.all())
        self._run, self._kind, self._value = only(run), only(kind), only(values.value)
        self._read = only(np.where(kind == READ, values.value, np.where(rmws, reads.value, 0)))
        self._written = only(np.where((kind == WRITE) | rmws, values.value, 0))
        self._tick = only(np.where(times.given, times.value, NO_TICK))
        self._line = only(np.arange(line, line + rows))
        self._size = only(size).astype(np.int32)
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
        """Where accesses of a history share some bytes and not all, it becomes odd."""
        named = np.array([isinstance(address, str) for address in self._keys], dtype=bool)
        small = np.array([isinstance(address, int) and 0 <= address < _HIGH for address in self._keys], dtype=bool)
        start = np.array([address if fits else 0 for address, fits in zip(self._keys, small, strict=True)],
                         dtype=np.uint64)
        rows = np.flatnonzero(kept & (size > 0))
        self.odd[run[rows[~(named | small)[key[rows]]]]] = True
        rows = rows[small[key[rows]]]
        _, first, _ = _numbered(run[rows], _dense(key[rows] << 31 | size[rows]), len(self.odd))
        rows = rows[first]
        at, width, of = start[key[rows]], size[rows].astype(np.uint64), run[rows]
        order = np.lexsort((width, at, of))
        at, width, of = at[order], width[order], of[order]
        self.odd[of[1:][(of[1:] == of[:-1]) & (at[1:] < at[:-1] + width[:-1])]] = True

    def histories(self, names: Sequence[str], file: str) -> Iterator[History | InputError]:
        """The histories that are not odd."""
        runs = len(self.odd)
        at = np.flatnonzero(self._kind != FENCE)
        numbers, first, bounds = _numbered(self._run[at], self._key[at], runs)
        of, places = self._run[at[first]], bounds.tolist()
        everywhere = np.full(len(self._kind), NO_LOCATION, dtype=np.int64)
        everywhere[at] = numbers
        locations = [self._spellings[code] for code in self._spelled[at[first]].tolist()]
        initial = self._starts(everywhere, self._key[at[first]])
        final_value, final_line = np.zeros(len(of), dtype=np.int64), np.full(len(of), -1, dtype=np.int64)
        ends = np.flatnonzero(self._kind == _FINAL)[::-1]  # the first of several comes last, and stays
        final_value[everywhere[ends]], final_line[everywhere[ends]] = self._value[ends], self._line[ends]

        operates = self._kind <= FENCE

        def only(column: Column) -> Column:
            return column if everything else column[operates]

        everything = bool(operates.all())
        run, kind, read, written = only(self._run), only(self._kind), only(self._read), only(self._written)
        line, tick, size, codes, everywhere = map(only, (self._line, self._tick, self._size, self._thread, everywhere))
        location = np.where(kind == FENCE, NO_LOCATION, everywhere - bounds[run]).astype(np.int32)
        numbers, first, bounds = _numbered(run, codes, runs)
        thread, people = (numbers - bounds[run]).astype(np.int32), bounds.tolist()
        threads = [self._threads[code] for code in codes[first].tolist()]
        sized = np.bincount(run[size > 0], minlength=runs) > 0
        begin = np.searchsorted(run, np.arange(runs + 1))
        rows = begin.tolist()
        source, final = _sources(kind, everywhere, read, written, initial, final_value, final_line >= 0)
        clear = (np.bincount(run[source == AMBIGUOUS], minlength=runs)
                 + np.bincount(of[final == AMBIGUOUS], minlength=runs)) == 0
        source = np.where(source >= 0, source - begin[run], source).astype(np.int32)
        final = np.where(final >= 0, final - begin[of], final).astype(np.int32)
        for one in np.flatnonzero(~self.odd).tolist():
            own, its = slice(rows[one], rows[one + 1]), slice(places[one], places[one + 1])
            what = (names[one], file, tuple(threads[people[one]:people[one + 1]]), tuple(locations[its]), thread[own],
                    kind[own], location[own], read[own], written[own])
            when = line[own], tick[own], initial[its]
            end = final_value[its], final_line[its], size[own] if sized[one] else None
            if clear[one]:
                yield History(*what, source[own], *when, final[its], *end)
                continue
            try:  # which knows what to say
                yield history_from_columns(*what, *when, *end)
            except InputError as error:
                yield error

    def _starts(self, everywhere: Column, key: Column) -> Column:
        """What every location starts with; `key` has the key of each."""
        initial = np.full(len(key), word(self._options.initial), dtype=np.int64)
        given = np.flatnonzero(self._kind == _INIT)
        initial[everywhere[given]] = self._value[given]
        for address, value in self._options.initial_at.items():
            if address in self._keys:
                initial[key == self._keys[address]] = word(value)
        return initial


def _sources(kind: Column, location: Column, read: Column, written: Column, initial: Column, final_value: Column,
             has_final: Column) -> tuple[Column, Column]:
    """The source of every operation and of every final value, as in `History`, or AMBIGUOUS.

    `history_from_columns` finds the same by sorting; this is for tables, whose histories come all at once.
    """
    writes = np.flatnonzero((kind == WRITE) | (kind == RMW))
    reads = np.flatnonzero((kind == READ) | (kind == RMW))
    ends = np.flatnonzero(has_final)
    at = np.concatenate([location[writes], location[reads], ends])
    value = np.concatenate([written[writes], read[reads], final_value[ends]])
    codes = _dense(value)
    pairs = _dense(at * (int(codes.max(initial=0)) + 1) + codes)
    written_pairs, wanted = pairs[: len(writes)], pairs[len(writes):]
    count = int(pairs.max(initial=-1)) + 1
    writers, writer = np.bincount(written_pairs, minlength=count)[wanted], np.full(count, THIN_AIR)
    writer[written_pairs] = writes
    starts = value[len(writes):] == initial[at[len(writes):]]
    found = np.where(starts, INITIAL, writer[wanted])
    found[writers + starts > 1] = AMBIGUOUS
    source, final = np.full(len(kind), NO_SOURCE), np.full(len(initial), NO_SOURCE)
    source[reads], final[ends] = found[: len(reads)], found[len(reads):]
    return source, final


def _dense(codes: Column) -> Column:
    """The same codes, numbered in the order of their first appearance."""
    import pyarrow as pa

    codes = np.ascontiguousarray(codes, dtype=np.int64)
    column = pa.Array.from_buffers(pa.int64(), len(codes), [None, pa.py_buffer(codes)])
    return _filled(column.dictionary_encode().indices, -1)


def _numbered(run: Column, code: Column, runs: int) -> tuple[Column, Column, Column]:
    """The codes of every run, numbered in the order of their first appearance, on through all runs.

    Returns for each row its number, for each number its first row, and for each run its first number.
    """
    numbers = _dense(run * (int(code.max(initial=0)) + 1) + code).astype(np.int64)
    first = np.zeros(int(numbers.max(initial=-1)) + 1, dtype=np.int64)
    first[numbers[::-1]] = np.arange(len(numbers) - 1, -1, -1)
    return numbers, first, np.searchsorted(run[first], np.arange(runs + 1))


# Histories to tables


def record_batch(history: History, name: str, those: slice, schema: pa.Schema) -> pa.RecordBatch:
    """Some operations of a history, as `_rows.operations` gives them, with its name."""
    import pyarrow as pa

    def text(codes: Column, names: Sequence[str], absent: Column | None = None) -> pa.Array:
        return pa.array(names, pa.string()).take(pa.array(codes, mask=absent))

    kind, location, time = history.kind[those], history.location[those], history.tick[those]
    read, written = history.read[those], history.written[those]
    size = np.zeros(len(kind), dtype=np.int32) if history.size is None else history.size[those]
    nowhere = location == NO_LOCATION
    return pa.record_batch([
        text(history.thread[those], history.threads),
        text(kind, OP_NAMES),
        text(location, history.locations, nowhere),
        pa.array(np.where(kind == READ, read, written), mask=nowhere),
        pa.array(read, mask=kind != RMW),
        pa.array(time, mask=time == NO_TICK),
        pa.array(size, mask=size == 0),
        pa.array([name]).take(pa.array(np.zeros(len(kind), dtype=np.int8))),
    ], schema=schema)
