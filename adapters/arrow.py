"""Arrow: the common table as an IPC file, which is what Feather is too, or as an IPC stream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, BinaryIO

from gradual.history import History, InputError, Options

from . import _batches

SUMMARY = "Arrow IPC file (Feather) or stream with the columns of CSV, rows of one history together"
EXTENSIONS = ("arrow", "feather", "ipc")
EXAMPLE = _batches.TABLE


_FILE, _STREAM = b"ARROW1", b"\xff\xff\xff\xff"
"""How they begin: a stream with the mark of its first message."""


def recognise(head: bytes) -> bool:
    return head.startswith((_FILE, _STREAM))


def _open(source: Any) -> _batches.Opened:
    from pyarrow.ipc import open_file, open_stream

    if source.read_at(len(_STREAM), 0) == _STREAM:
        stream = open_stream(source)
        return _batches.Opened(stream.schema.names, lambda _: stream)
    file = open_file(source)
    return _batches.Opened(file.schema.names, lambda _: map(file.get_batch, range(file.num_record_batches)))


def read(stream: BinaryIO, file: str, options: Options) -> Iterator[History | InputError]:
    yield from _batches.read(stream, file, options, _open, "Arrow")


def write(histories: Iterable[History], stream: BinaryIO, *, lines: bool = False) -> None:
    from pyarrow.ipc import new_file

    _batches.write(histories, partial(new_file, stream), lines)
