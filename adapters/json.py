"""JSON: a list of operations, a history, or a document of many."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from gradual.history import History, InputError, Options

from ._objects import HISTORIES, as_text, begins_document, begins_lines, histories, parse, unpacked
from ._text import decode, encode

SUMMARY = "JSON: a list of operations with the columns of CSV, or objects with history, initial, operations and final"
EXTENSIONS = ("json",)
EXAMPLE = """\
{"histories": [
 {"history": "MP", "operations": [
  {"thread": 0, "op": "W", "address": "x", "value": 1},
  {"thread": 0, "op": "F"},
  {"thread": 0, "op": "W", "address": "y", "value": 1},
  {"thread": 1, "op": "R", "address": "y", "value": 1},
  {"thread": 1, "op": "R", "address": "x", "value": 0}
 ]},
 {"history": "swap", "initial": {"x": 5}, "final": {"x": 6}, "operations": [
  {"thread": 0, "op": "RMW", "address": "x", "read": 5, "value": 6}
 ]},
 {"history": "for weak models", "operations": [
  {"thread": 0, "op": "W", "address": "x", "value": 1, "begin": 10},
  {"thread": 0, "op": "F", "fence": "w.w"},
  {"thread": 0, "op": "W", "address": "y", "value": 1, "aqrl": "rl"},
  {"thread": 1, "op": "LR", "address": "y", "value": 1, "aqrl": "aq", "begin": 20, "end": 25},
  {"thread": 1, "op": "R", "address": "x", "value": 1, "addr": [1]},
  {"thread": 1, "op": "SC", "address": "y", "value": 2, "data": [1], "ctrl": [1, 2], "pair": 1}
 ]}
]}
"""

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


class _Object(dict[str, Any]):
    """A JSON object that knows the line it begins on."""

    __slots__ = ("line",)
    line: int


def _lines(text: str) -> Iterator[int]:
    """The line each object begins on, in the order the objects end: so the parser hands them over.

    A string holds no line end in JSON, so the lines are the same without the strings.
    """
    begun = []
    for number, line in enumerate(_STRING.sub("", text).split("\n"), 1):
        for brace in re.findall(r"[{}]", line):
            if brace == "{":
                begun.append(number)
            elif begun:
                yield begun.pop()


def recognise(head: bytes) -> bool:
    return begins_document(head) and not begins_lines(head)


def read(stream: BinaryIO, file: str, options: Options) -> Iterator[History | InputError]:
    text = decode(stream.read())
    beginnings = _lines(text)

    def placed(members: dict[str, Any]) -> _Object:
        found = _Object(members)
        found.line = next(beginnings, 0)
        return found

    try:
        document = parse(text, 1, file, object_hook=placed)
    except InputError as error:
        yield InputError(error.message, file, error.line)
    else:
        yield from histories(unpacked(document, 1, file), file, options)


def write(histories: Iterable[History], stream: BinaryIO, *, lines: bool = False) -> None:
    stream.write(encode(f'{{"{HISTORIES}": ['))
    separator = "\n "
    for history in histories:
        stream.write(encode(separator + as_text(history, "\n  ", lines)))
        separator = ",\n "
    stream.write(b"\n]}\n")
