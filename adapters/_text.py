"""The text inside the binary streams that adapters get, and the words to quote it in a message."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePath
from typing import NamedTuple


class Pieces(NamedTuple):
    """How some lines of a trace are read as a part of its history."""

    headed: bool
    """The first line that is neither blank nor a comment must stand before them."""
    named: bool
    """Each says whose history it belongs to, if there are several."""
    ends: Callable[[bytes], bool] | None = None
    """Does a history end with these lines? Where that is said."""


class Text(NamedTuple):
    """The text of one history, and the line on which it begins."""

    data: bytes
    line: int


_BOM = b"\xef\xbb\xbf"
_QUOTED = 40


def decode(data: bytes) -> str:
    """UTF-8 text without its byte order mark.

    Bytes that are no UTF-8 become lone surrogates, so that one bad byte costs the history it stands
    in and not the whole file: `is_text` finds them.
    """
    return data.removeprefix(_BOM).decode("utf-8", "surrogateescape")


def lines(stream: Iterable[bytes]) -> Iterator[tuple[int, str]]:
    """The lines of a stream, numbered from 1, line ends kept. Never reads ahead."""
    for number, line in enumerate(stream, 1):
        yield number, decode(line) if number == 1 else line.decode("utf-8", "surrogateescape")


def is_text(text: str) -> bool:
    """Does `text` hold characters only, no undecodable bytes?"""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def encode(text: str) -> bytes:
    """UTF-8 for an output; what UTF-8 has no bytes for is written as an escape."""
    return text.encode("utf-8", "backslashreplace")


def shortened(text: str) -> str:
    """As much of `text` as fits into a message."""
    return text if len(text) <= _QUOTED else text[:_QUOTED] + "…"


def shown(text: str) -> str:
    """`text` as a message quotes it: on one line, not too long, with undecodable bytes spelled out."""
    quoted = repr(shortened(text))
    return re.sub(r"\\udc([89a-f][0-9a-f])", r"\\x\1", quoted)


def stem(file: str) -> str:
    """What a history is called when its file gives no name: the file's name without its endings."""
    return "stdin" if file == "-" else PurePath(PurePath(file).name.removesuffix(".gz")).stem
