"""LISA instructions, the generic assembly of herd: r[] w[] f[] rmw[] mov."""

from __future__ import annotations

import re

from gradual.programs.assembly import Assembly
from gradual.programs.program import Fence, Instruction, Load, Rmw, Store, Thread
from gradual.programs.scan import Cursor, Token

FULL = ("", "mb", "fence", "mfence", "sync")
"""Annotations of a full fence."""
PLAIN = ("", "once")
"""Annotations of accesses that say nothing."""


def instruction(cursor: Cursor, into: Assembly) -> None:
    word = cursor.here
    name = word.text.lower()
    if name not in ("r", "w", "f", "rmw", "mov"):
        raise cursor.error(f"no instruction called {word.text!r} here; of LISA there are r[], w[], f[], rmw[] and mov")
    cursor.next()
    if name == "mov":
        register = cursor.name("a register")
        into.set(register, _value(cursor, into))
        return
    known = FULL if name == "f" else PLAIN
    at, annotation = cursor.here, _annotation(cursor)
    if annotation.lower() not in known:
        raise cursor.error(f"{word.text}[{annotation}] is not understood; use {word.text}[]", at)
    if name == "f":
        into.add(Fence(line=word.line))
    elif name == "r":
        register = cursor.name("a register")
        into.add(Load(into.location(cursor.address()), register, word.line))
    elif name == "w":
        location = into.location(cursor.address())
        into.add(Store(location, _value(cursor, into), word.line))
    else:
        register = cursor.name("a register")
        value = _value(cursor, into)
        into.add(Rmw(into.location(cursor.address()), value, register, word.line))


def _annotation(cursor: Cursor) -> str:
    cursor.expect("[", "after the instruction")
    parts: list[Token] = []
    while not cursor.take("]"):
        if not cursor.here.text:
            raise cursor.error("expected ']' after the annotation")
        parts.append(cursor.next())
    return "".join(token.text for token in parts)


def _value(cursor: Cursor, into: Assembly) -> int:
    """A constant, or a register that holds one."""
    if cursor.here.is_name:
        return into.constant(cursor, cursor.next())
    if cursor.sees("("):
        raise cursor.error("this computes a value: programs here store constants only")
    return cursor.number("a constant, or a register that holds one")


def show(instruction: Instruction) -> list[str]:
    if isinstance(instruction, Load):
        return [f"r[] {instruction.register} {instruction.location}"]
    if isinstance(instruction, Store):
        return [f"w[] {instruction.location} {instruction.value}"]
    if isinstance(instruction, Rmw):
        return [f"rmw[] {instruction.register} {instruction.value} {instruction.location}"]
    return ["f[]"]


def can_show(thread: Thread) -> bool:
    """Is everything in this thread LISA: full fences, registers called r0, r1, …?"""
    return all(i == Fence() if isinstance(i, Fence) else
               not isinstance(i, Load | Rmw) or re.fullmatch(r"r\d+", i.register) is not None
               for i in thread.instructions)
