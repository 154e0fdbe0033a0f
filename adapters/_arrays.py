"""Arrow's arrays as columns of integers and of words: what they held can go then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

import numpy as np
import pyarrow as pa

from gradual.history import Column
from gradual.history.annotations import PAIRS

from ._cells import Integers, Words, narrow
from ._columns import Cells, Declined
from ._rows import NUMBERS, called


def table(columns: Sequence[Sequence[pa.Array] | None]) -> Cells:
    """The columns that `header` chose, each in pieces. Raises Declined."""
    return [None if pieces is None else _cells(name, pieces)
            for name, pieces in zip(called(columns), columns, strict=True)]


def _cells(name: str, pieces: Sequence[pa.Array]) -> Integers | Words | None:
    """One of COLUMNS from its pieces; None when all of it is null. Raises Declined."""
    plain = [_plain(piece) for piece in pieces if len(piece)]
    if all(piece.null_count == len(piece) for piece in plain):
        return None
    if pa.types.is_integer(plain[0].type):
        return _integers(plain)
    numbers = [*map(_numbers, plain)] if name in NUMBERS or name in PAIRS else [None]
    return _words(plain) if None in numbers else _integers(numbers)


def _plain(piece: pa.Array) -> pa.Array:
    """The same as text, as integers, or with numbers for words."""
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
    if pa.types.is_integer(of) or pa.types.is_string(of) or pa.types.is_large_string(of) or pa.types.is_null(of):
        return piece
    raise Declined


def _is_coded(piece: pa.Array) -> bool:
    """Does it have numbers for words?"""
    return bool(pa.types.is_dictionary(piece.type) and pa.types.is_string(piece.type.value_type)
                and not piece.dictionary.null_count)


def _whole(floats: Column) -> pa.Array:
    """Floats that stand for integers, because their column has gaps."""
    absent = np.isnan(floats)
    if not (absent | ((np.abs(floats) <= 1 << 53) & (floats == np.floor(floats)))).all():
        raise Declined
    return pa.array(np.where(absent, 0, floats).astype(np.int64), mask=absent)


def _numbers(piece: pa.Array) -> pa.Array | None:
    """Text as integers, where all of it is spelled as Arrow and `_rows.number` read it alike; hex is, too."""
    text = piece.dictionary if _is_coded(piece) else piece
    for wanted in (pa.int64(), pa.uint64()):
        with suppress(pa.ArrowInvalid):
            read = text.cast(wanted)
            return read.take(piece.indices) if _is_coded(piece) else read
    return None


def _integers(pieces: Sequence[pa.Array]) -> Integers:
    rows, unsigned = sum(map(len, pieces)), pa.types.is_uint64(pieces[0].type)
    value, given = np.empty(rows, dtype=np.uint64 if unsigned else np.int64), np.ones(rows, dtype=bool)
    for piece, own in _along(pieces):
        value[own] = _raw(piece)
        if piece.null_count:
            given[own] = _given(piece)
            value[own][~given[own]] = 0
    return Integers(value, None if given.all() else given)


def _words(pieces: Sequence[pa.Array]) -> Words:
    coded = [piece if _is_coded(piece) else piece.dictionary_encode() for piece in pieces]
    words: dict[str, int] = {}
    known = [[words.setdefault(word, len(words)) for word in piece.dictionary.to_pylist()] for piece in coded]
    code = np.empty(sum(map(len, coded)), dtype=narrow(len(words)))
    for (piece, own), numbers in zip(_along(coded), known, strict=True):
        np.take(np.array([*numbers, -1], dtype=code.dtype), _raw(piece.indices), out=code[own], mode="clip")
        if piece.null_count:
            code[own][~_given(piece.indices)] = -1
    return Words(code, tuple(words))


def _along(pieces: Sequence[pa.Array]) -> Iterator[tuple[pa.Array, slice]]:
    """The pieces, and where each is when they follow each other."""
    at = 0
    for piece in pieces:
        yield piece, slice(at, at + len(piece))
        at += len(piece)


def _raw(array: pa.Array) -> Column:
    """The cells of a column of integers, anything where they are null (pyarrow's own way loads pandas)."""
    width = f"{'u' if pa.types.is_unsigned_integer(array.type) else 'i'}{array.type.bit_width // 8}"
    return np.frombuffer(array.buffers()[1], dtype=width)[array.offset:array.offset + len(array)]


def _given(array: pa.Array) -> Column:
    """Which cells are not null, where some are."""
    found = np.unpackbits(np.frombuffer(array.buffers()[0], dtype=np.uint8), bitorder="little",
                          count=array.offset + len(array))
    return found[array.offset:].astype(bool)
