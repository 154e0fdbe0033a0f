"""The format of the axe checker of the CHERI project, which rocket-chip's trace generator writes too.

    0: M[3] := 7                    thread 0 writes 7          v3 is short for M[3]
    1: M[3] == 7 @ 10:20            thread 1 reads 7; began at time 10, ended at 20
    1: { M[3] == 7; M[3] := 8 }     an rmw; < … > in axe's manual
    0: sync                         a fence
    final M[3] == 8                 what the location is left with
    check                           the end of this history

White space, line ends included, may stand between any two of these signs; comments begin with `#`.
Every location starts with 0. axe itself takes decimal numbers of up to nine digits; hex is read here
as well, since that is how a value with its top bit set is written.

Times, begin:end, each optional, become the columns `begin` and `end`; they are refused where axe refuses them.
axe knows nothing else that weak models look at: acquire, release and dependencies are not written, and a history with
weak fences or load-reserveds is refused, since it would become another.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, partial
from itertools import count
from typing import BinaryIO, NamedTuple

import numpy as np

from gradual.compiler import can_compile
from gradual.history import (
    FENCE,
    NO_TICK,
    READ,
    RMW,
    WRITE,
    Builder,
    History,
    InputError,
    NoMemory,
    Options,
    Skipped,
    location_key,
    value_text,
)
from gradual.history.builder import More

from . import _lines
from ._lines import BY_COLUMNS
from ._rows import final_values, number, tick
from ._rows import lines as came_from
from ._text import Pieces, Text, decode, encode, is_text, shown, stem

SUMMARY = "axe (CHERI) and rocket-chip's converted traces: `0: M[3] := 7`, histories ended by `check`"
EXTENSIONS = ("axe",)
_AT_THE_END = re.compile(rb"\bcheck\s*\Z")


def _checked(text: bytes) -> bool:
    """Is `check` the last that is no comment?"""
    end = len(text)
    while end > 0:
        start = text.rfind(b"\n", 0, end) + 1
        code = text[start:end].partition(b"#")[0]
        if code.strip():
            return _AT_THE_END.search(code) is not None
        end = start - 1
    return False


PIECES = Pieces(headed=False, named=False, ends=_checked)
EXAMPLE = """\
# SB
0: M[0] := 1
0: M[1] == 0
1: M[1] := 1
1: M[0] == 0
check
# swap
0: { M[0] == 0; M[0] := 1 }
0: sync
1: v0 == 1 @ 10:20
final M[0] == 1
check
"""

# The grammar. A statement is a sequence of signs; the same sequences read it and say what it lacks.


class _Sign(NamedTuple):
    pattern: str
    name: str


def _sign(text: str) -> _Sign:
    return _Sign(re.escape(text), f"`{text}`")


_NUMBER = r"-?(?:0[xX][0-9a-fA-F]+|\d+)\b"
_THREAD = _Sign(r"(\d+)\b", "a thread number")
_COLON = _Sign(r":(?!=)", "`:`")
_ADDRESS = _Sign(rf"(M\s*\[\s*{_NUMBER}\s*\]|v{_NUMBER})", "an address such as M[3]")
_VALUE = _Sign(rf"({_NUMBER})", "a value")
_READS, _WRITES = _sign("=="), _sign(":=")
_END_TIME = r"(?:[ \t]*(\d+)\b(?![ \t]*:(?!=)))?"  # on the same line, and not the next operation's thread
_TIME = rf"(?:\s*@\s*(?:(\d+)\b|(?=:))(?:[ \t]*:{_END_TIME})?)?"
_HEADING = re.compile(rb"(?:(?:\xef\xbb\xbf)?[ \t\r\x0b\x0c]*(?:#([^\n]*))?(?:\n|\Z))*")
"""The lines without code that a text begins with, and the last comment there."""
_CHECK = re.compile(rb"\bcheck\b")
_SMALL = 40_000
"""Bytes from which on the compiled scanner pays: to load it takes as long as to read so much without."""


class _Form:
    """One form of statement: its signs, and the pattern they make together, compiled when it is met."""

    def __init__(self, *signs: _Sign, timed: bool = True) -> None:
        self.signs = signs
        self._time = _TIME if timed else ""

    @cached_property
    def match(self) -> Callable[[str, int], re.Match[str] | None]:
        return re.compile("".join(rf"\s*{sign.pattern}" for sign in self.signs) + self._time).match

    def fails(self, text: str, at: int) -> tuple[int, str]:
        """How far `text` follows this form, and which sign it lacks there."""
        for sign in self.signs:
            if (found := re.compile(rf"\s*{sign.pattern}").match(text, at)) is None:
                return at, sign.name
            at = found.end()
        return at, ""


def _rmw_form(begin: str, end: str) -> _Form:
    return _Form(_THREAD, _COLON, _sign(begin), _ADDRESS, _READS, _VALUE, _sign(";"),
                 _ADDRESS, _WRITES, _VALUE, _sign(end))


_ACCESS = _Form(_THREAD, _COLON, _ADDRESS, _Sign(r"(==|:=)", "`==` or `:=`"), _VALUE)
_SYNC = _Form(_THREAD, _COLON, _Sign(r"sync\b", "`sync`"))
_RMWS = (_rmw_form("{", "}"), _rmw_form("<", ">"))
_FINAL = _Form(_Sign(r"(final)\b", "`final`"), _ADDRESS, _READS, _VALUE, timed=False)
_FORMS = (_ACCESS, _SYNC, *_RMWS, _FINAL)


def _statement(text: str, at: int = 0) -> tuple[_Form, re.Match[str]] | None:
    return next(((form, found) for form in _FORMS if (found := form.match(text, at))), None)


# Reading


def recognise(head: bytes) -> bool:
    text = re.sub(r"#.*", "", decode(head)).lstrip()
    return re.match(r"check\s*(\n|$)", text) is not None or _statement(text) is not None


def read(stream: BinaryIO, file: str, options: Options) -> Iterator[History | InputError]:
    """The histories as they come: the first few statement by statement, those after them by the scanner."""
    number, left = 0, Text(b"", 1)
    for text, ended in _texts(stream):
        if not ended:
            left = text
            break
        yield _history(text, number, file, options)
        number += 1
    else:
        return
    from ._axe_scanner import Scanner

    for item in Scanner(left, number, file, options).items(stream, partial(_called, file)):
        yield _history(item, number, file, options) if isinstance(item, Text) else item
        number += 1


def _texts(stream: BinaryIO) -> Iterator[tuple[Text, bool]]:
    """Each history's text, as soon as its `check` is read; in the end, or once the scanner pays, what is left."""
    parts: list[bytes] = []
    first, begun, size = 1, False, 0
    for at, line in enumerate(stream, 1):
        size += len(line)
        while (check := _check(line)) is not None:
            yield Text(b"".join((*parts, line[: check.start()])), first), True
            line = line[check.end():]
            parts, first, begun = [], at, False
        parts.append(line)
        begun = begun or bool(line.partition(b"#")[0].strip())
        if size > _SMALL and can_compile():
            yield Text(b"".join(parts), first), False
            return
    if begun:
        yield Text(b"".join(parts), first), True


def _check(line: bytes) -> re.Match[bytes] | None:
    """The word that ends a history."""
    return _CHECK.search(line.partition(b"#")[0]) if b"check" in line else None


def _history(text: Text, number: int, file: str, options: Options) -> History | InputError:
    if not options.share.has(number):
        return Skipped("", file)
    builder = Builder(_called(file, text.data, number), file, options)
    try:
        _add_all(builder, text)
        return builder.build()
    except InputError as error:
        return error
    except MemoryError:
        return NoMemory(file, builder.name)


def _called(file: str, data: bytes, number: int) -> str:
    """The history's name: the last comment before it on a line of its own, if that is a single word."""
    heading = _HEADING.match(data)
    name = None
    if heading and heading[1] and (not number or b"\n" in data[:heading.start(1)]):  # else of the last `check`
        name = _name(decode(heading[1]))
    return name or f"{stem(file)}#{number + 1}"


def _name(comment: str) -> str | None:
    """The history's name, if a comment at its beginning is one: a single word."""
    words = comment.split()
    return words[0] if len(words) == 1 and is_text(words[0]) else None


def _add_all(builder: Builder, chunk: Text) -> None:
    text, line, counted, at = _code(chunk), chunk.line, 0, 0
    end, clock = len(text.rstrip()), _Clock()
    while at < end:
        found = _statement(text, at)
        if found is None:
            raise _misread(builder, text, chunk.line, at)
        form, match = found
        line += text.count("\n", counted, match.start(1))
        counted, at = match.start(1), match.end()
        try:
            _add(builder, form, match.groups(), line, clock)
        except ValueError as error:
            raise builder.error(str(error), line) from None


class _Clock:
    """The times of each thread as they come, held to axe's rules: they make time dependencies follow program order."""

    def __init__(self) -> None:
        self._last: dict[str, int] = {}
        self._began: dict[str, int] = {}
        """The same without syncs, whose times count for nothing."""

    def hold(self, thread: str, kind: int, begin: int, end: int) -> More:
        """What is said of an operation by its times. Raises ValueError."""
        if begin != NO_TICK and begin <= (last := self._last.get(thread, NO_TICK)):
            raise ValueError(f"begin times must increase in a thread: {begin} comes after {last}")
        if begin != NO_TICK:
            self._last[thread] = begin
            if kind != FENCE:
                self._began[thread] = begin
        if end != NO_TICK and kind == WRITE:
            raise ValueError(f"axe knows no end times of stores; leave out the {end}")
        began = begin if begin != NO_TICK else self._began.get(thread, NO_TICK)
        if NO_TICK < end <= began:
            raise ValueError(f"an operation ends after it begins: {end} is not after {began}")
        more: More = {"begin": begin, "end": end}
        return more if begin != end else {}


def _add(builder: Builder, form: _Form, signs: tuple[str, ...], line: int, clock: _Clock) -> None:
    if form is _FINAL:
        _, address, value = signs
        builder.final(_address(address), number(value, "value"), line=line)
        return
    digits, *rest, begin, end = signs
    thread, times = _thread(digits), (tick(begin), tick(end))
    if form is _ACCESS:
        address, sign, value = rest
        access, kind = (builder.read, READ) if sign == "==" else (builder.write, WRITE)
        access(thread, _address(address), number(value, "value"), line=line, **clock.hold(thread, kind, *times))
    elif form is _SYNC:
        builder.fence(thread, line=line, **clock.hold(thread, FENCE, *times))
    else:
        address, value, target, written = rest
        if _address(address) != _address(target):
            raise ValueError(f"an rmw reads and writes one address; this reads {address} and writes {target}")
        builder.rmw(thread, _address(address), number(value, "value"), number(written, "value"), line=line,
                    **clock.hold(thread, RMW, *times))


def _thread(digits: str) -> str:
    return digits.lstrip("0") or "0"


def _address(text: str) -> int:
    return number(text.strip("Mv[] \t\r\n"), "address")


def _code(chunk: Text) -> str:
    """The text without its comments."""
    return re.sub("#[^\n]*", "", decode(chunk.data))


def _misread(builder: Builder, text: str, line: int, at: int) -> InputError:
    """What the text lacks where it stops following the grammar."""
    fails = [form.fails(text, at) for form in _FORMS]
    far = max(position for position, _ in fails)
    wanted = list(dict.fromkeys(name for position, name in fails if position == far))
    if far == at:
        wanted.append("`check`")
    text = text.rstrip()
    rest = text[far:].lstrip()
    if rest.startswith("@"):
        wanted = ["a time such as @ 10:20"]
    found = shown(rest.partition("\n")[0].rstrip()) if rest else "the end of the history"
    line += text.count("\n", 0, len(text) - len(rest))
    return builder.error(f"expected {' or '.join(wanted)}, found {found}", line)


# Writing


def write(histories: Iterable[History], stream: BinaryIO, *, lines: bool = False) -> None:
    for history in histories:
        _refuse(history)
        threads, renamed = _numbered(history.threads, _thread_number)
        stream.write(encode("".join(f"# thread {threads[name]} is {_word(name)}\n" for name in renamed)))
        places, renamed = _numbered(history.locations, _address_number)
        stream.write(encode("".join(f"# M[{places[name]}] is {_word(name)}\n" for name in renamed)))
        stream.write(encode("".join(f"# left out: {what}\n" for what in left_out(history))))
        stream.write(encode(f"# {_word(history.name)}\n"))
        operations = _by_columns if len(history) >= BY_COLUMNS else _one_by_one
        for text in operations(history, [str(threads[name]) for name in history.threads],
                               [f"M[{places[name]}]" for name in history.locations], lines):
            stream.write(text)
        for address, value in final_values(history).items():
            stream.write(f"final M[{places[address]}] == {value_text(value)}\n".encode())
        stream.write(b"check\n")


def _one_by_one(history: History, threads: list[str], places: list[str], with_lines: bool) -> Iterator[bytes]:
    for operation, line in enumerate(came_from(history)):
        times = f" @ {times}" if (times := history.times(operation)) else ""
        comment = f"  # line {line}" if with_lines and line else ""
        spelled = _spelled(history, operation, places)
        yield f"{threads[history.thread[operation]]}: {spelled}{times}{comment}\n".encode()


def _spelled(history: History, operation: int, places: list[str]) -> str:
    kind = history.kind[operation]
    if kind == FENCE:
        return "sync"
    place = places[history.location[operation]]
    reads, writes = (f"{place} {sign} {value_text(int(column[operation]))}"
                     for sign, column in (("==", history.read), (":=", history.written)))
    return f"{{ {reads}; {writes} }}" if kind == RMW else reads if kind == READ else writes


def _by_columns(history: History, threads: list[str], places: list[str], with_lines: bool) -> Iterator[bytes]:
    """The same text, many operations at a time."""
    for those in _lines.blocks(len(history)):
        kind, location, line = history.kind[those], history.location[those], history.line[those]
        reads, writes = (kind == READ) | (kind == RMW), (kind == WRITE) | (kind == RMW)
        begin, end = (np.full(len(kind), NO_TICK) if column is None else column[those]
                      for column in (history.begin, history.end))
        timed, told = (begin != NO_TICK) | (end != NO_TICK), np.full(len(kind), with_lines) & (line != 0)
        columns = [
            _lines.names(history.thread[those], threads), _lines.names(kind, [": ", ": ", ": { ", ": sync"]),
            _lines.names(location, [f"{place} == " for place in places], reads),
            _lines.values(history.read[those], reads), _lines.names(kind, ["", "", "; ", ""]),
            _lines.names(location, [f"{place} := " for place in places], writes),
            _lines.values(history.written[those], writes), _lines.names(kind, ["", "", " }", ""]),
        ]
        if timed.any():
            at, colon = (_lines.names(np.zeros_like(kind), [sign], timed) for sign in (" @ ", ":"))
            columns += [at, _lines.numbers(begin, begin != NO_TICK), colon, _lines.numbers(end, end != NO_TICK)]
        if told.any():
            columns += [_lines.names(np.zeros_like(kind), ["  # line "], told), _lines.numbers(line, told)]
        yield _lines.text(columns)


def left_out(history: History) -> list[str]:
    """What a history has that no model of axe looks at, and others do."""
    pairs = any(column is not None for column in (history.addr, history.data, history.ctrl))
    return [*(["dependencies"] * pairs), *(["acquires, releases and reservations"] * (history.marks is not None))]


def _refuse(history: History) -> None:
    """Refuse what axe would read as something else."""
    if history.mixed:
        raise InputError("axe has no sizes, and accesses of different sizes share bytes here; CSV, JSON and Parquet do",
                         history.file, 0, history.name)
    if history.unknown is not None:
        raise InputError("axe has no initial values, every location starts with 0; nobody knows what "
                         f"{history.locations[int(history.unknown.argmax())]} starts with", history.file, 0,
                         history.name)
    for at in history.initial.nonzero()[0]:
        raise InputError(f"axe has no initial values, every location starts with 0; {history.locations[at]} "
                         f"starts with {value_text(int(history.initial[at]))}", history.file, 0, history.name)
    for column, what in (
            (history.fence, "fences that order some accesses only"), (history.pair, "load-reserveds"),
            (history.order, "store orders")):
        if column is not None:
            raise InputError(f"axe has no {what}; CSV, JSON and Parquet have", history.file, 0, history.name)
    if history.begin is not None or history.end is not None:
        _refuse_times(history)


def _refuse_times(history: History) -> None:
    clock, line = _Clock(), 0
    begins, ends = (np.full(len(history), NO_TICK) if column is None else column
                    for column in (history.begin, history.end))
    try:
        for line, thread, kind, begin, end in zip(*(column.tolist() for column in (  # noqa: B007 - told below
                history.line, history.thread, history.kind, begins, ends)), strict=True):
            clock.hold(str(thread), kind, begin, end)
    except ValueError as error:
        raise InputError(f"axe would not read this: {error}", history.file, line, history.name) from None


def _word(name: str) -> str:
    """A name as it fits into a comment."""
    return " ".join(name.split())


def _thread_number(name: str) -> int | None:
    """The thread's number if that is its name; 007 is none, since 7 may be another thread."""
    return int(name) if re.fullmatch(r"0|[1-9][0-9]{0,18}", name) else None


def _address_number(name: str) -> int | None:
    key = location_key(name)
    return key if isinstance(key, int) and key >= 0 else None


def _numbered(names: Iterable[str], own: Callable[[str], int | None]) -> tuple[dict[str, int], list[str]]:
    """A number for each name, its own or else the first that is free; and the names without their own."""
    numbers = {name: found for name in names if (found := own(name)) is not None}
    renamed, taken = [name for name in names if name not in numbers], set(numbers.values())
    free = (candidate for candidate in count() if candidate not in taken)
    return numbers | dict(zip(renamed, free, strict=False)), renamed
