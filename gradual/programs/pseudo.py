"""Instructions in pseudo-code: `st x 1`, `ld x r0`, `rmw x 1 r0`, `f(any,any)`, `f(tso)`. Registers may be left out."""

from __future__ import annotations

from typing import Literal, cast

from gradual.programs.assembly import Assembly
from gradual.programs.instructions import CLASSES, Class, Fence, Load, Rmw, Step, Store
from gradual.programs.scan import Cursor

WORDS = ("st", "ld", "rmw", "f", "fence")


def instruction(cursor: Cursor, into: Assembly, ends: tuple[str, ...]) -> None:
    """One instruction; `ends` are the texts that may follow, so that a register is not taken for one."""
    word = cursor.here
    if not cursor.sees(*WORDS):
        raise cursor.error(f"no instruction called {word.text!r}; there are st, ld, rmw and f" if word.is_name else
                           f"expected an instruction (st, ld, rmw or f), found {word.text or 'the end'!r}")
    kind = cursor.next().text.lower()
    if kind in ("f", "fence"):
        into.add(fence(cursor, word.line))
        return
    location = cursor.address("the location")
    if kind == "ld":
        into.add(Load(location, _register(cursor, ends), word.line))
        return
    cursor.take("=")
    value = cursor.number("the value to store, a number")
    into.add(Store(location, value, word.line) if kind == "st" else
             Rmw(location, value, _register(cursor, ends), word.line))


def fence(cursor: Cursor, line: int) -> Fence:
    """What follows the word: nothing, (C,D), (tso) or (i)."""
    if not cursor.take("("):
        return Fence(line=line)
    if special := cursor.take("tso", "i"):
        cursor.expect(")", "after the kind of the fence")
        return Fence(line=line, special=cast(Literal["tso", "i"], special.text.lower()))
    before = _class(cursor)
    cursor.expect(",", "between the two classes of the fence")
    after = _class(cursor)
    cursor.expect(")", "after the classes of the fence")
    return Fence(before, after, line)


def _class(cursor: Cursor) -> Class:
    if not cursor.sees(*CLASSES):
        raise cursor.error(f"a fence is between any, ld and st (or f(tso), f(i)), not {cursor.here.text!r}")
    return cast(Class, cursor.next().text.lower())


def _register(cursor: Cursor, ends: tuple[str, ...]) -> str:
    if not cursor.here.is_name or cursor.here.text.lower() in ends or cursor.ahead(1) == ":":
        return ""
    return cursor.next().text


def show(instruction: Step) -> str:
    if isinstance(instruction, Load):
        return f"ld {instruction.location} {instruction.register}"
    if isinstance(instruction, Store):
        return f"st {instruction.location} {instruction.value}"
    if isinstance(instruction, Rmw):
        return f"rmw {instruction.location} {instruction.value} {instruction.register}"
    if isinstance(instruction, Fence):
        return str(instruction)
    raise ValueError("a program with data flow cannot be written as pseudo-code")
