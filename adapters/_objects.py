"""Histories as JSON objects: what a JSON document and a line of JSON Lines have in common.

An object is a row of the common table, or a whole history: `operations`, a list of rows, with a
name (`history`) and the values that locations start with (`initial`) and are left with (`final`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import count, groupby
from typing import Any

from gradual.history import Builder, History, InputError, NoMemory, Options, Skipped, value_text

from ._rows import (
    COLUMNS,
    LINE,
    UNKNOWN,
    Groups,
    Operation,
    Row,
    add,
    chosen,
    described,
    final_values,
    initial_values,
    lines,
    name,
    number,
    operations,
)
from ._text import decode, stem

OPERATIONS, HISTORIES = "operations", "histories"
_LISTS = frozenset({"addr", "data", "ctrl"})


class LostHistory(InputError):
    """A whole history that is no JSON, and so is no row of the history before or after it."""


Item = tuple[int, dict[str, Any]] | InputError
"""An object and the line it stands on, or why there is none."""


def parse(text: str, line: int, file: str, **hooks: Any) -> object:
    """The JSON value that `text` is, `line` being its first. Raises InputError."""
    try:
        return json.loads(text, **hooks)
    except json.JSONDecodeError as error:
        line += error.lineno - 1
        message = f"this is not JSON: {error.msg.removesuffix(' at')} at column {error.colno}"
    except ValueError as error:
        message = f"this is not JSON gradual can read: {error}"
    except RecursionError:
        message = "this JSON is nested too deeply for a trace"
    except MemoryError:  # of how many histories, nobody knows
        raise NoMemory(file, rest=HISTORIES in text or not text.startswith("{")) from None
    raise (LostHistory if OPERATIONS in text else InputError)(message, file, line)


_BEGINNING = re.compile(r"\s*(?:\{|\[\s*(?:[\[{\"]|-?\d+\s*,|\]?\s*\Z))")


def begins_document(head: bytes) -> bool:
    """Is this the beginning of JSON: an object or a list? Many a log begins with a time or a name in brackets."""
    return _BEGINNING.match(decode(head)) is not None


def begins_lines(head: bytes) -> bool:
    """Is this the beginning of JSON Lines: an object that ends on the line it begins?

    A document of many histories may stand on one line as well; its name for them tells. A first line
    longer than `head` counts as one, for JSON Lines can be read either way if it is the only one.
    """
    first, newline, _ = decode(head).lstrip().partition("\n")
    if not first.startswith("{") or re.search(rf'"{HISTORIES}"\s*:', first.partition(f'"{OPERATIONS}"')[0]):
        return False
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        return not newline
    return True


def unpacked(value: object, line: int, file: str) -> Iterator[Item]:
    """The objects a JSON value consists of: its items when it is a list of them, else itself."""
    if isinstance(value, dict) and HISTORIES in value:
        value = value[HISTORIES]
    for item in value if isinstance(value, list) else [value]:
        at = _line(item, line)
        if isinstance(item, dict):
            yield at, item
        else:
            yield InputError(f"expected an object, an operation or a history, found {described(item)}", file, at)


def _line(value: object, line: int) -> int:
    """Where a JSON value stands: an object may know it better than the one it is part of."""
    return getattr(value, "line", line)


def histories(items: Iterable[Item], file: str, options: Options) -> Iterator[History | InputError]:
    """The histories of a sequence of objects. Whole ones are yielded before the next is asked for."""
    groups, unnamed, numbers = Groups(file, options), (f"{stem(file)}#{k}" for k in count(1)), count()
    for whole, run in groupby(items, _is_whole):
        if not whole:
            for history, _ in zip(groups.histories(_row(item, file) for item in run), numbers, strict=False):
                yield history
            continue
        for item, otherwise in zip(run, unnamed, strict=False):
            if not options.share.has(next(numbers)):
                yield Skipped("", file)
                continue
            try:
                history = _whole(item, otherwise, file, options)
            except InputError as error:
                history = error
            except MemoryError:
                history = NoMemory(file, otherwise)
            yield history


def _is_whole(item: Item) -> bool:
    return isinstance(item, LostHistory | NoMemory) if isinstance(item, InputError) else OPERATIONS in item[1]


def _row(item: Item, file: str) -> Row | InputError:
    if isinstance(item, InputError):
        return item
    line, value = item
    try:
        return line, _cells(value)
    except ValueError as error:
        return InputError(str(error), file, line)


@lru_cache(maxsize=64)
def _columns(keys: tuple[str, ...]) -> tuple[str | None, ...]:
    return chosen(keys)


def _cells(value: object) -> list[object]:
    if not isinstance(value, dict):
        raise ValueError(f"expected an object such as {{\"op\": \"W\", …}}, found {described(value)}")
    return [None if key is None else value[key] for key in _columns(tuple(value))]


def _whole(item: Item, otherwise: str, file: str, options: Options) -> History:
    """The history an object describes, called `otherwise` if it has no name."""
    if isinstance(item, InputError):
        raise item
    line, value = item
    called = value.get("history")
    builder = Builder(otherwise, file, options)
    try:
        if called not in (None, ""):
            builder.name = name(called, "history")
        _state_initial(builder, value.get("initial"), line)
        _add_all(builder, value[OPERATIONS], line)
        _state_final(builder, value.get("final"), line)
    except ValueError as error:
        raise builder.error(str(error), line) from None
    return builder.build()


def _add_all(builder: Builder, rows: object, line: int) -> None:
    if not isinstance(rows, list):
        raise ValueError(f"{OPERATIONS} is not a list but {described(rows)}")
    for index, row in enumerate(rows, 1):
        at = _line(row, line)
        try:
            add(builder, at, _cells(row))
        except (InputError, ValueError) as error:
            message = error.message if isinstance(error, InputError) else error
            raise builder.error(f"operation {index}: {message}", at) from None


def _state_initial(builder: Builder, values: object, line: int) -> None:
    if isinstance(values, dict):
        for address, value in values.items():
            builder.initial(name(address, "address"), _held(value, f"initial value of {address}"),
                            line=_line(values, line))
    elif values is not None:
        builder.initial(None, _held(values, "initial"), line=line)


def _held(value: object, what: str) -> int | None:
    return None if value == UNKNOWN else number(value, what)


def _state_final(builder: Builder, values: object, line: int) -> None:
    if values is None:
        return
    if not isinstance(values, dict):
        raise ValueError(f"final is not an object of addresses and values but {described(values)}")
    for address, value in values.items():
        builder.final(name(address, "address"), number(value, f"final value of {address}"),
                      line=_line(values, line))


# Histories to objects


def _number(value: int) -> int | str:
    """A value in JSON: beyond 2^53 as text, since many programs would read such a number as a float."""
    return value if 0 <= value <= 1 << 53 else value_text(value)


def _numbers(values: Mapping[str, int | None]) -> dict[str, int | str]:
    return {address: UNKNOWN if value is None else _number(value) for address, value in values.items()}


def _operation(row: Operation) -> dict[str, Any]:
    return {column: _number(cell) if isinstance(cell, int) else _numbers_of(cell) if column in _LISTS else cell
            for column, cell in zip(COLUMNS, row, strict=False) if cell is not None}


def _numbers_of(cell: str) -> list[int]:
    return [int(number) for number in cell.split()]


def as_text(history: History, between: str, with_lines: bool) -> str:
    """A history as a JSON object, with `between` before each operation and after the last."""
    def text(value: object) -> str:
        return json.dumps(value, ensure_ascii=False)

    head, tail = f'"history": {text(history.name)}, ', ""
    if initial := initial_values(history):
        head += f'"initial": {text(_numbers(initial))}, '
    if final := final_values(history):
        tail = f', "final": {text(_numbers(final))}'
    objects: Iterable[dict[str, Any]] = map(_operation, operations(history))
    if with_lines:
        objects = (row | ({LINE: line} if line else {}) for row, line in zip(objects, lines(history), strict=True))
    rows = ",".join(between + text(row) for row in objects)
    return f'{{{head}"{OPERATIONS}": [{rows}{between}]{tail}}}'
