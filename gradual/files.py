"""Traces as files: opened, decompressed, recognised, read; and written without halves."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import select
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeAlias, cast

from gradual import adapters
from gradual.adapters._memory import LARGE, give_back
from gradual.deadline import OutOfTime, alarm, shared_by
from gradual.history import TORN, History, InputError, NoAccess, NoMemory, NotInTime, Options, joined, reason, visible

if TYPE_CHECKING:
    import pandas

    Source: TypeAlias = History | str | os.PathLike[str] | pandas.DataFrame | Sequence[Mapping[str, object]]
    """What can be checked: a history, a trace file, a table with the columns of CSV."""

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

    def readall(self) -> bytes:
        head, self._head = self._head, b""
        return head + self._rest.read()

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


def format_of(file: str, likely: str | None = None) -> str | None:
    """The format as which a file begins, if it does as some trace does. A `likely` one is asked first."""
    try:
        with open(file, "rb") as raw:
            head, _ = _unzipped(raw)
            first = () if likely is None else (likely,)
            return next((name for name in (*first, *adapters.names()) if adapters.adapter(name).recognise(head)), None)
    except (OSError, EOFError, zlib.error):
        return None


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


def text(file: str, most: int | None = None) -> str:
    """What a text file holds, unzipped, or the first of it. Raises InputError."""
    try:
        with _opened(file) as raw:
            _, stream = _unzipped(raw)
            return (stream.read() if most is None else stream.read(most)).decode("utf-8", "replace")
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"the file is damaged: {error}", file) from None
    except OSError as error:
        raise InputError(reason(error), file) from None


def _opened(file: str) -> BinaryIO:
    if file != "-":
        return open(file, "rb")
    if sys.stdin is None or sys.stdin.closed:
        raise InputError("standard input is closed", file)
    return sys.stdin.buffer


def histories(source: Source, format: str | None, options: Options) -> Iterator[History | InputError]:
    """The histories of whatever can be checked."""
    if isinstance(source, History):
        return iter([source])
    if isinstance(source, str | os.PathLike):
        return read(source, format, options)
    if isinstance(source, list) and not source:  # no column is missing then
        return iter([InputError(NO_OPERATIONS)])
    return adapters.table(source, options)


def read(path: str | os.PathLike[str], format: str | None, options: Options, *,
         through: Callable[[BinaryIO], BinaryIO] | None = None) -> Iterator[History | InputError]:
    """The histories of one file, as they come; what cannot be read, as an InputError in its place.

    through  what to make of the unzipped text before an adapter sees it
    """
    file = os.fspath(path)
    return _told(_histories(file, format, options, through), file)


def _told(items: Iterator[History | InputError], file: str) -> Iterator[History | InputError]:
    """The items, and last what ended them before their time."""
    try:
        yield from items
    except InputError as error:
        yield error
    except IsADirectoryError:
        yield InputError("this is a folder; name the trace files in it, or --join them into one history", file)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        yield InputError(f"the file is damaged: {error}", file)
    except MemoryError:
        yield NoMemory(file, rest=True)
    except OSError as error:
        yield InputError(reason(error), file)


def _histories(file: str, format: str | None, options: Options,
               through: Callable[[BinaryIO], BinaryIO] | None) -> Iterator[History | InputError]:
    empty = True
    with _opened(file) as raw:
        head, stream = _unzipped(raw)
        if through is not None:
            head, stream = _peek(through(stream))
        if not head:
            raise InputError("there is nothing in it", file)
        if head.startswith(UTF16):
            head, stream = _peek(_as_utf8(stream, file))
        adapter = adapters.adapter(format or adapters.recognise(head, file))
        for item in _timed(adapter.read(stream, file, options), file, options.timeout):
            empty = False
            if isinstance(item, History) and len(item) > LARGE:
                give_back()
            if isinstance(item, History) and not len(item) and not options.allow_empty:
                item = InputError(NO_OPERATIONS, file, 0, item.name)
            yield in_real_time(item) if options.real_time and isinstance(item, History) else item
        if empty:
            raise InputError("there is no history in it", file)


def in_real_time(history: History) -> History | InputError:
    """The same, its times taken for those of one clock."""
    if history.begin is None or history.end is None:
        return InputError("--real-time needs times, and this history has no accesses with `begin` and with `end`",
                          history.file, 0, history.name)
    return replace(history, real_time=True).read_in(history.reading)


LINES = 6000
"""Lines of a stream that are read together, if so many have come."""
MOMENT, AT_LEAST = 0.05, 0.2
"""Seconds to wait for more of them; and how often, at least, what has come is handed on."""


def pieces(path: str | os.PathLike[str], format: str | None, options: Options) -> Iterator[History | InputError]:
    """One history as it comes, some operations at a time: each piece a history of its own, its lines numbered through.
    What cannot be read, as an InputError, which is the last."""
    file = os.fspath(path)
    return _told(_pieces(file, format, options), file)


def _pieces(file: str, format: str | None, options: Options) -> Iterator[History | InputError]:
    with _opened(file) as raw:
        head, stream = _unzipped(raw)
        if not head:
            raise InputError("there is nothing in it", file)
        if head.startswith(UTF16):
            raise InputError("UTF-16 cannot be read as a stream; `iconv -f UTF-16 -t UTF-8` makes it UTF-8", file)
        yield from _parts(_whole_lines(stream, raw), format or adapters.recognise(head, file), file, options)


def _parts(texts: Iterator[tuple[int, bytes]], name: str, file: str, options: Options) -> Iterator[History]:
    """The pieces of a history from their lines, each with how many came before."""
    how = adapters.pieces(name)
    if how is None:
        can = ", ".join(n for n in adapters.names() if adapters.pieces(n))
        raise InputError(f"{name} cannot be read as a stream; these can: {can} (`gradual convert` writes them)", file)
    header, called, closed = b"", "", False
    for before, text in texts:
        if how.headed and not header:
            header, skipped, text = _header(text)
            before += skipped
        shift = before - 1 if how.headed else before
        ended = closed
        for item in _read_part(name, header, text, file, options):
            if isinstance(item, NoAccess):
                continue
            if isinstance(item, InputError):
                raise InputError(item.message, file, item.line + shift if item.line else 0, item.history)
            if not len(item) and not item.locations and item.elsewhere is None:
                continue
            called = called or item.name
            if item.name != called if how.named else ended:
                comes = visible(item.name) if how.named else "more"
                raise InputError(f"a stream is one history, and after {visible(called)} comes {comes}; leave --stream "
                                 "out", file, int(item.line[0]) + shift if len(item) else 0)
            yield item.further_down(shift)
            ended = True  # for whatever else these lines have
        closed = closed or bool(called and how.ends and how.ends(text))


def _read_part(name: str, header: bytes, text: bytes, file: str, options: Options) -> Iterator[History | InputError]:
    """What some lines say; where the first of it is an error, what the lines before that say comes first."""
    read = adapters.adapter(name).read
    for number, item in enumerate(read(io.BytesIO(header + text), file, options)):
        good = item.line - 1 - bool(header) if isinstance(item, InputError) and not number else 0
        if good > 0:
            before = b"".join(text.splitlines(keepends=True)[:good])
            yield from (part for part in read(io.BytesIO(header + before), file, options) if isinstance(part, History))
        yield item


def _header(text: bytes) -> tuple[bytes, int, bytes]:
    """The first line that is neither blank nor a comment, how many lines end with it, and what follows."""
    lines = text.splitlines(keepends=True)
    at = next((at for at, line in enumerate(lines) if line.strip() and not line.lstrip().startswith(b"#")), len(lines))
    return b"".join(lines[at:at + 1]), at + 1, b"".join(lines[at + 1:])


def _whole_lines(stream: BinaryIO, raw: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """What has come, up to the end of a line, and the number of lines before."""
    rest, count = b"", 0
    while piece := cast(io.BufferedReader, stream).read1(HEAD):
        held, lines, until = [rest, piece], piece.count(b"\n"), time.monotonic() + AT_LEAST
        while lines < LINES and time.monotonic() < until and _more(raw) and (
                piece := cast(io.BufferedReader, stream).read1(HEAD)):
            held.append(piece)
            lines += piece.count(b"\n")
        data = b"".join(held)
        end = data.rfind(b"\n") + 1
        if end:
            yield count, data[:end]
        rest, count = data[end:], count + lines
    if rest:
        yield count, rest


def _more(raw: BinaryIO) -> bool:
    """Does more come within a moment?"""
    return bool(select.select([raw], [], [], MOMENT)[0])


def read_joined(paths: Sequence[str], format: str | None, options: Options, called: str = "",
                ) -> Iterator[History | InputError]:
    """One history of all these files, or of the traces in a folder if that is the only path; called by the pattern
    that they match, unless there is a better name."""
    try:
        whole = _joined(paths, format, options, called or _together(paths))
        yield in_real_time(whole) if options.real_time else whole
    except InputError as error:
        yield error


def _joined(paths: Sequence[str], format: str | None, options: Options, file: str) -> History:
    parts, nothing = list[History](), list[NoAccess]()
    if len(paths) == 1 and os.path.isdir(paths[0]):
        paths, format = traces_in(paths[0], format)
    for path in paths:
        found = list(read(path, format, replace(options, allow_empty=True, real_time=False)))
        for item in found:
            if isinstance(item, NoAccess):
                nothing.append(item)
            elif isinstance(item, InputError):
                raise item
        if len(found) != 1:
            raise InputError(f"--join takes files of one history each, and there are {len(found)} in this", path)
        parts += [item for item in found if isinstance(item, History)]
    if nothing and not any(map(len, parts)):
        raise nothing[0]
    whole = joined(adapters.stem(os.path.abspath(file)), file, parts, options)
    if not len(whole) and not options.allow_empty:
        raise InputError(NO_OPERATIONS, file)
    return whole


def _together(paths: Sequence[str]) -> str:
    """The pattern that several files match."""
    if len(paths) == 1:
        return paths[0]
    before = os.path.commonprefix([*paths])  # noqa: RUF071 - of characters
    after = os.path.commonprefix([path[len(before):][::-1] for path in paths])[::-1]  # noqa: RUF071
    return f"{before}*{after}"


def traces_in(folder: str, format: str | None) -> tuple[list[str], str]:
    """The traces in a folder, by name, and their format. With those of another format beside them, nobody knows which
    are meant. Raises InputError."""
    formats: dict[str, str] = {}
    try:
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            if not name.startswith(".") and os.path.isfile(path) and (found := format or format_of(path)):
                formats[path] = found
    except OSError as error:
        raise InputError(reason(error), folder) from None
    if not formats:
        raise InputError("there is no trace in this folder", folder)
    examples = {name: os.path.basename(path) for path, name in formats.items()}
    if len(examples) > 1:
        told = " and ".join(f"{file} ({name})" for name, file in sorted(examples.items())[:2])
        raise InputError(f"there are traces of different formats in this folder, {told}; name those to join, or choose "
                         "by --format", folder)
    return [*formats], next(iter(examples))


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
        except OutOfTime:
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
          lines: bool = False) -> list[str]:
    """Write to `path`; a file appears only once it is whole. ValueError, InputError or OSError otherwise. Returns what
    of the histories the format has no room for.

    lines  also tell the line each operation came from: as a column, a field or a comment
    """
    file = os.fspath(path)
    name = format or adapters.by_extension(file)
    if name is None:
        can = ", ".join(n for n in adapters.names() if hasattr(adapters.adapter(n), "write"))
        raise ValueError(f"{file}: its name says no format; choose one of {can} with --to (or --format, to generate)")
    adapter = adapters.writer(name)
    told = {"lines": True} if lines else {}
    lost: dict[str, None] = {}
    histories = _noting(map(_whole, histories), getattr(adapter, "left_out", None), lost)
    if file == "-":
        adapter.write(histories, sys.stdout.buffer, **told)
        sys.stdout.buffer.flush()
    else:
        with appearing(file) as stream:
            adapter.write(histories, stream, **told)
    return [*lost]


def _noting(histories: Iterable[History], left_out: Callable[[History], list[str]] | None,
            lost: dict[str, None]) -> Iterator[History]:
    """The same, and what each loses."""
    for history in histories:
        lost.update(dict.fromkeys(left_out(history) if left_out else ()))
        yield history


def _whole(history: History) -> History:
    """The same, but for accesses that no format that is written has. Raises InputError."""
    torn = [] if history.marks is None else (history.marks & TORN).nonzero()[0].tolist()
    for operation in torn[:1]:
        raise InputError(f"this misaligned access, {history.what(operation)}, is several in that log, which the "
                         "formats that are written cannot say; select other addresses (--addresses)", history.file,
                         int(history.line[operation]), history.name)
    return history


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
    except BaseException:
        Path(unfinished).unlink(missing_ok=True)
        raise
