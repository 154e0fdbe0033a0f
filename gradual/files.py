"""Traces as files: opened, decompressed, recognised, read; and written without halves."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import sys
import time
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from gradual import adapters
from gradual.deadline import alarm, shared_by
from gradual.history import History, InputError, NoMemory, NotInTime, Options, reason

NO_OPERATIONS = "there are no operations in it; is the monitor alive? (--allow-empty: that is all right)"
UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
HEAD = 1 << 16
"""Enough of a trace to recognise it by."""


class _Rejoined(io.RawIOBase):
    """What was read ahead, followed by the rest: standard input cannot be rewound."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self._head = head
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        wanted = len(buffer)
        if self._head:
            piece, self._head = self._head[:wanted], self._head[wanted:]
        else:
            piece = cast(io.BufferedReader, self._rest).read1(wanted)
        buffer[: len(piece)] = piece
        return len(piece)


def _peek(stream: BinaryIO) -> tuple[bytes, BinaryIO]:
    """The beginning of a stream, up to a few whole lines, and the stream as if nothing was read."""
    head = b""
    while len(head) < HEAD and not _telling(head):
        piece = cast(io.BufferedReader, stream).read1(HEAD)
        if not piece:
            break
        head += piece
    return head, cast(BinaryIO, io.BufferedReader(_Rejoined(head, stream), HEAD))


def _telling(head: bytes) -> bool:
    """Is there a whole line that is neither blank nor a comment? No reading on: a pipe may be slow."""
    return any(line.strip() and not line.lstrip().startswith(b"#") for line in head.split(b"\n")[:-1])


def _unzipped(stream: BinaryIO) -> tuple[bytes, BinaryIO]:
    head, stream = _peek(stream)
    if head[:2] == b"\x1f\x8b":
        return _peek(cast(BinaryIO, gzip.GzipFile(fileobj=stream)))
    return head, stream


def _as_utf8(stream: BinaryIO, file: str) -> BinaryIO:
    """What some programs on Windows write."""
    try:
        return io.BytesIO(stream.read().decode("utf-16").encode())
    except UnicodeError as error:
        raise InputError(f"this begins as UTF-16 text does, and is none: {error}", file) from None


def recognised(file: str, likely: str | None = None) -> bool:
    """Does the file begin as a trace of some format does? A `likely` one is asked first."""
    try:
        with open(file, "rb") as raw:
            head, _ = _unzipped(raw)
            first = () if likely is None else (likely,)
            return any(adapters.adapter(name).recognise(head) for name in (*first, *adapters.names()))
    except (OSError, EOFError, zlib.error):
        return False


def is_text(file: str) -> bool:
    """Is there something in it, and does it begin as text does?"""
    try:
        with open(file, "rb") as raw:
            head, _ = _unzipped(raw)
            return bool(head.decode("utf-8", "strict").strip("\x00"))
    except UnicodeDecodeError as error:
        return error.start > len(head) - 4  # the last character may be cut in two
    except (OSError, EOFError, zlib.error):
        return False


def _opened(file: str) -> BinaryIO:
    if file != "-":
        return open(file, "rb")
    if sys.stdin is None or sys.stdin.closed:
        raise InputError("standard input is closed", file)
    return sys.stdin.buffer


def read(path: str | os.PathLike[str], format: str | None, options: Options) -> Iterator[History | InputError]:
    """The histories of one file, as they come; what cannot be read, as an InputError in its place."""
    file = os.fspath(path)
    empty = True
    try:
        with _opened(file) as raw:
            head, stream = _unzipped(raw)
            if not head:
                raise InputError("there is nothing in it", file)
            if head.startswith(UTF16):
                head, stream = _peek(_as_utf8(stream, file))
            adapter = adapters.adapter(format or adapters.recognise(head, file))
            for item in _timed(adapter.read(stream, file, options), file, options.timeout):
                empty = False
                if isinstance(item, History) and not len(item) and not options.allow_empty:
                    item = InputError(NO_OPERATIONS, file, 0, item.name)
                yield item
            if empty:
                raise InputError("there is no history in it", file)
    except InputError as error:
        yield error
    except IsADirectoryError:
        yield InputError("this is a folder; name the trace files in it", file)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        yield InputError(f"the file is damaged: {error}", file)
    except MemoryError:
        yield NoMemory(file, rest=True)
    except OSError as error:
        yield InputError(reason(error), file)


def _timed(items: Iterator[History | InputError], file: str, limit: float | None) -> Iterator[History | InputError]:
    """Items with the time that each took. A pipe may be slow, and that is nobody's fault: it has all the time."""
    if limit is None or not os.path.isfile(file):
        yield from items
        return
    while True:
        started = time.monotonic()
        try:
            with alarm(limit):
                item = next(items, None)
                many = shared_by()
        except TimeoutError:
            yield NotInTime(file, limit)
            return
        if item is None:
            return
        seconds = (time.monotonic() - started) / many
        yield item.read_in(seconds) if isinstance(item, History) else item


def safe_name(name: str) -> str:
    """A name from a trace as part of a file's name."""
    return "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in name)[:100]


def write(histories: Iterable[History], path: str | os.PathLike[str], format: str | None = None, *,
          lines: bool = False) -> None:
    """Write to `path`; a file appears only once it is whole. ValueError, InputError or OSError otherwise.

    lines  also tell the line each operation came from: as a column, a field or a comment
    """
    file = os.fspath(path)
    name = format or adapters.by_extension(file)
    if name is None:
        can = ", ".join(n for n in adapters.names() if hasattr(adapters.adapter(n), "write"))
        raise ValueError(f"{file}: its name says no format; choose one of {can} with --to (or --format, to generate)")
    adapter = adapters.writer(name)
    told = {"lines": True} if lines else {}
    if file == "-":
        adapter.write(histories, sys.stdout.buffer, **told)
        sys.stdout.buffer.flush()
        return
    with appearing(file) as stream:
        adapter.write(histories, stream, **told)


@contextmanager
def appearing(file: str) -> Iterator[BinaryIO]:
    """A file to write that appears under its name only once it is whole. Devices and pipes are written as they are."""
    given, file = file, os.path.realpath(file)  # a link stays one
    if (os.path.exists(given) and not os.path.isfile(given)) or file.startswith(("/dev/", "/proc/")):
        with open(given, "wb") as stream:
            yield stream
        return
    unfinished = f"{file}.part"
    try:
        with gzip.open(unfinished, "wb") if file.endswith(".gz") else open(unfinished, "wb") as stream:
            yield cast(BinaryIO, stream)
        os.replace(unfinished, file)
    finally:
        Path(unfinished).unlink(missing_ok=True)
