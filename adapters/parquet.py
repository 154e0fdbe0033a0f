"""Parquet: the common table, typed and compressed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, BinaryIO

from gradual.history import History, InputError, Options

from . import _batches

SUMMARY = "Parquet with the columns of CSV, rows of one history together"
EXTENSIONS = ("parquet", "pq")
EXAMPLE = _batches.TABLE
_AT_ONCE = 1 << 18
"""Rows of a batch: each one costs something of its own."""


def recognise(head: bytes) -> bool:
    return head.startswith(b"PAR1")


def _open(source: Any) -> _batches.Opened:
    from pyarrow import string
    from pyarrow.parquet import ParquetFile

    first = ParquetFile(source)
    words = [column.name for column in first.schema_arrow if column.type == string()]
    file = ParquetFile(source, metadata=first.metadata, read_dictionary=words)  # as it has them: a number for each
    return _batches.Opened(file.schema_arrow.names, partial(file.iter_batches, _AT_ONCE, None), _empty(file.metadata))


def _empty(metadata: Any) -> frozenset[str]:
    """The columns that are known to hold nothing but nulls."""
    left = set(range(metadata.num_columns))
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        told = {at: group.column(at).statistics for at in left}
        left = {at for at, said in told.items() if said is not None and said.null_count == group.num_rows}
    return frozenset(metadata.schema.column(at).path for at in left)


def read(stream: BinaryIO, file: str, options: Options) -> Iterator[History | InputError]:
    yield from _batches.read(stream, file, options, _open, "Parquet")


def write(histories: Iterable[History], stream: BinaryIO, *, lines: bool = False) -> None:
    from pyarrow.parquet import ParquetWriter

    _batches.write(histories, partial(ParquetWriter, stream), lines)
