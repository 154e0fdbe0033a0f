"""Arrow: the common table as an IPC file, which is what Feather is too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, BinaryIO

from gradual.history import History, InputError, Options

from . import _batches

SUMMARY = "Arrow IPC file (Feather) with the columns of CSV, rows of one history together"
EXTENSIONS = ("arrow", "feather", "ipc")
EXAMPLE = _batches.TABLE


def recognise(head: bytes) -> bool:
    return head.startswith(b"ARROW1")


def _open(source: Any) -> _batches.Opened:
    from pyarrow.ipc import open_file

    file = open_file(source)
    return file.schema.names, map(file.get_batch, range(file.num_record_batches))


def read(stream: BinaryIO, file: str, options: Options) -> Iterator[History | InputError]:
    yield from _batches.read(stream, file, options, _open, "Arrow")


def write(histories: Iterable[History], stream: BinaryIO, *, lines: bool = False) -> None:
    from pyarrow.ipc import new_file

    _batches.write(histories, partial(new_file, stream), lines)
