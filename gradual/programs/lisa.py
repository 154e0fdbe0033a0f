"""LISA instructions, the generic assembly of herd: r[] w[] f[] rmw[] mov b[].

    r[] r1 x      w[] x (add r1 1)      mov r2 (ne r1 1)      b[] r2 E      rmw[] r3 (add r3 1) x      f[]
"""

from __future__ import annotations

import re

from gradual.programs.assembly import Assembly
from gradual.programs.expressions import OPERATORS, Apply, Old, Reg, Value, applied
from gradual.programs.instructions import (
    MODES,
    Access,
    Branch,
    Fence,
    Label,
    Load,
    Mode,
    Move,
    Step,
    Store,
    Thread,
    sets,
)
from gradual.programs.scan import Cursor, Token

FULL = ("mb", "fence", "mfence", "sync")
"""Annotations of a full fence, besides none."""
FENCES = {"": Fence(), **{name: Fence(mode="sc") for name in (*FULL, "sc")}, "acq": Fence("ld", "any", mode="acq"),
          "rel": Fence("any", "st", mode="rel"), "ar": Fence(special="tso", mode="ar")}
"""What each annotation orders, for models that know nothing of C++."""
ALIASES = {"neq": "ne"}
WORDS = ("r", "w", "f", "rmw", "mov", "b")


def instruction(cursor: Cursor, into: Assembly) -> None:
    word = cursor.here
    name = word.text.lower()
    if name not in WORDS:
        raise cursor.error(f"no instruction called {word.text!r} here; of LISA there are r[], w[], f[], rmw[], mov and "
                           "b[]")
    cursor.next()
    if name == "mov":
        register = cursor.name("a register")
        into.set(register, _value(cursor, into), word.line)
    elif name == "b":
        _branch(cursor, into, word)
    elif name == "f":
        into.add(_fence(cursor, word))
    else:
        _access(cursor, into, word)


def _access(cursor: Cursor, into: Assembly, word: Token) -> None:
    mode, name = _mode(cursor, word), word.text.lower()
    if name == "r":
        register = cursor.name("a register")
        into.access(Access(_address(cursor, into), None, register, word.line, mode))
    elif name == "w":
        address = _address(cursor, into)
        into.access(Access(address, _value(cursor, into), None, word.line, mode))
    else:
        register = cursor.name("a register")
        value = _value(cursor, into, register)
        into.access(Access(_address(cursor, into), value, register, word.line, mode))


def _branch(cursor: Cursor, into: Assembly, word: Token) -> None:
    """`b[] r1 L` jumps where r1 is not 0, `b[] L` always."""
    _annotation(cursor)
    first = cursor.here
    cursor.name("a register or a label")
    if not cursor.here.is_name:
        into.branch(1, first.text, word.line)
        return
    condition = into.value(cursor, first)
    into.branch(condition, cursor.name("a label"), word.line)


def _fence(cursor: Cursor, word: Token) -> Fence:
    at, annotation = cursor.here, _annotation(cursor)
    kind = FENCES.get(annotation.lower())
    if kind is None:
        raise cursor.error(f"{word.text}[{annotation}] is not understood; there are f[] and "
                           f"{', '.join(f'f[{name}]' for name in FENCES if name)}", at)
    return Fence(kind.before, kind.after, word.line, kind.special, kind.mode)


def _mode(cursor: Cursor, word: Token) -> Mode:
    at, annotation = cursor.here, _annotation(cursor).lower()
    mode = "" if annotation == "once" else annotation
    if mode not in MODES:
        raise cursor.error(f"{word.text}[{annotation}] is not understood; there are {word.text}[] and "
                           f"{', '.join(f'{word.text}[{name}]' for name in MODES if name)}", at)
    return mode


def _annotation(cursor: Cursor) -> str:
    cursor.expect("[", "after the instruction")
    parts: list[Token] = []
    while not cursor.take("]"):
        if not cursor.here.text:
            raise cursor.error("expected ']' after the annotation")
        parts.append(cursor.next())
    return "".join(token.text for token in parts)


# --- operands


def _address(cursor: Cursor, into: Assembly) -> Value:
    """`x`, `x+1`, `x+r1`; a register that holds an address."""
    base = into.address(cursor.address())
    if cursor.here.is_number and cursor.here.text[0] in "+-":
        return applied("add", base, cursor.number())
    return applied("add", base, _value(cursor, into)) if cursor.take("+") else base


def _value(cursor: Cursor, into: Assembly, own: str | None = None) -> Value:
    """A register, a number, or `(op v v)`. In the value of an rmw, its `own` register is what it replaces."""
    if cursor.here.is_name:
        token = cursor.next()
        return Old() if token.text == own else into.value(cursor, token)
    if cursor.take("("):
        word = cursor.here
        name = cursor.name("an operator").lower()
        name = ALIASES.get(name, name)
        if name not in OPERATORS:
            raise cursor.error(f"no operator called {word.text!r}; there are {', '.join(OPERATORS)}", word)
        left = _value(cursor, into, own)
        right = _value(cursor, into, own)
        cursor.expect(")", "after the operands")
        return applied(name, left, right)
    return cursor.number("a number, a register, or (add r1 1)")


# --- writing


def show(step: Step) -> list[str]:
    if isinstance(step, Label):
        return [f"{step.name}:"]
    if isinstance(step, Move):
        return [f"mov {step.register} {step.value}"]
    if isinstance(step, Branch):
        return [f"b[] {step.target}" if step.condition == 1 else f"b[] {step.condition} {step.target}"]
    if isinstance(step, Fence):
        return [f"f[{step.mode}]"]
    at = _place(step.address) if isinstance(step, Access) else step.location
    register = sets(step)
    if isinstance(step, Load) or (isinstance(step, Access) and step.value is None):
        return [f"r[{step.mode}] {register} {at}"]
    value = str(step.value).replace(str(Old()), register or "")
    return [f"w[{step.mode}] {at} {value}" if register is None else f"rmw[{step.mode}] {register} {value} {at}"]


def _place(address: Value) -> str:
    if isinstance(address, Apply):
        return f"{address.left}+{address.right}"
    return str(address)


def can_show(thread: Thread) -> bool:
    """Is everything in this thread LISA: fences that it has, registers called r0, r1, …, branches on registers?"""
    registers = (sets(step) for step in thread.instructions if not isinstance(step, Store))
    return all(name is None or re.fullmatch(r"r\d+", name) is not None for name in registers) and all(
        step in FENCES.values() if isinstance(step, Fence) else
        not isinstance(step, Branch) or step.condition == 1 or isinstance(step.condition, Reg)
        for step in thread.instructions)
