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
    return file.schema_arrow.names, file.iter_batches(_AT_ONCE)


def read(stream: BinaryIO, file: str, options: Options) -> Iterator[History | InputError]:
    yield from _batches.read(stream, file, options, _open, "Parquet")


def write(histories: Iterable[History], stream: BinaryIO, *, lines: bool = False) -> None:
    from pyarrow.parquet import ParquetWriter

    _batches.write(histories, partial(ParquetWriter, stream), lines)
