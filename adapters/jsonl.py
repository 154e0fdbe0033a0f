"""JSON Lines: one history per line, or one operation per line. The format to stream in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO

from gradual.history import History, InputError, NoMemory, Options

from ._objects import Item, as_text, begins_lines, histories, parse, unpacked
from ._text import Pieces, encode
from ._text import lines as text_lines

SUMMARY = "JSON Lines: an object per history, checked as soon as its line ends, or one per operation"
EXTENSIONS = ("jsonl", "ndjson")
PIECES = Pieces(headed=False, named=True)
EXAMPLE = """\
{"thread": 0, "op": "W", "address": "x", "value": 1, "history": "SB"}
{"thread": 0, "op": "R", "address": "y", "value": 0, "history": "SB"}
{"thread": 1, "op": "W", "address": "y", "value": 1, "history": "SB"}
{"thread": 1, "op": "R", "address": "x", "value": 0, "history": "SB"}
{"history": "swap", "initial": 5, "operations": [{"thread": 0, "op": "RMW", "address": "x", "read": 5, "value": 6}]}
"""


def recognise(head: bytes) -> bool:
    return begins_lines(head)


def read(stream: BinaryIO, file: str, options: Options) -> Iterator[History | InputError]:
    yield from histories(_items(stream, file), file, options)


def _items(stream: BinaryIO, file: str) -> Iterator[Item]:
    for number, line in text_lines(stream):
        if not line.strip():
            continue
        try:
            value = parse(line.strip(), number, file)
        except InputError as error:
            yield error
            if isinstance(error, NoMemory) and error.rest:
                return  # what follows cannot be numbered
        else:
            yield from unpacked(value, number, file)


def write(histories: Iterable[History], stream: BinaryIO, *, lines: bool = False) -> None:
    for history in histories:
        stream.write(encode(as_text(history, "", lines) + "\n"))
