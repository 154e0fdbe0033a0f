"""The question at the end of a program: exists, ~exists or forall, over registers and locations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from gradual.programs.expressions import Address, Pointer
from gradual.programs.scan import Cursor

Quantifier = Literal["exists", "~exists", "forall"]


class Register(NamedTuple):
    thread: int
    name: str

    def __str__(self) -> str:
        return f"{self.thread}:{self.name}"


Place = Register | str
"""A register of a thread, or a location by its name."""


@dataclass(frozen=True)
class Equal:
    place: Place
    value: int

    def __str__(self) -> str:
        return f"{self.place}={self.value!s}"


@dataclass(frozen=True)
class Not:
    operand: Proposition

    def __str__(self) -> str:
        return f"~{_inside(self.operand)}"


@dataclass(frozen=True)
class And:
    """No operand at all: true."""

    operands: tuple[Proposition, ...]

    def __str__(self) -> str:
        return " /\\ ".join(map(_inside, self.operands)) or "true"


@dataclass(frozen=True)
class Or:
    """No operand at all: false."""

    operands: tuple[Proposition, ...]

    def __str__(self) -> str:
        return " \\/ ".join(map(_inside, self.operands)) or "false"


Proposition = Equal | Not | And | Or


def _inside(part: Proposition) -> str:
    return f"({part})" if isinstance(part, And | Or) and part.operands else str(part)


def places(part: Proposition) -> tuple[Place, ...]:
    if isinstance(part, Equal):
        return (part.place,)
    if isinstance(part, Not):
        return places(part.operand)
    return tuple(dict.fromkeys(place for operand in part.operands for place in places(operand)))


def comparisons(part: Proposition) -> set[Equal]:
    """What it consists of."""
    if isinstance(part, Equal):
        return {part}
    inner = (part.operand,) if isinstance(part, Not) else part.operands
    return {found for operand in inner for found in comparisons(operand)}


def rewritten(part: Proposition, change: Callable[[Equal], Proposition]) -> Proposition:
    """The same of other comparisons."""
    if isinstance(part, Equal):
        return change(part)
    if isinstance(part, Not):
        return Not(rewritten(part.operand, change))
    return type(part)(tuple(rewritten(operand, change) for operand in part.operands))


def holds(part: Proposition, outcome: Mapping[Place, int]) -> bool:
    if isinstance(part, Equal):
        return outcome[part.place] == part.value
    if isinstance(part, Not):
        return not holds(part.operand, outcome)
    if isinstance(part, And):
        return all(holds(operand, outcome) for operand in part.operands)
    return any(holds(operand, outcome) for operand in part.operands)


@dataclass(frozen=True)
class Condition:
    quantifier: Quantifier
    proposition: Proposition
    line: int = field(default=0, compare=False)

    @property
    def places(self) -> tuple[Place, ...]:
        return places(self.proposition)

    @property
    def kind(self) -> str:
        """What is claimed of the outcome, in herd's words."""
        return {"exists": "Allowed", "~exists": "Forbidden", "forall": "Required"}[self.quantifier]

    def answer(self, reached: bool, missed: bool) -> bool:
        """Does it hold, given whether some outcome satisfies the proposition and whether some does not?"""
        return {"exists": reached, "~exists": not reached, "forall": not missed}[self.quantifier]

    def __str__(self) -> str:
        return f"{self.quantifier} ({self.proposition})"


# --- reading -----------------------------------------------------------------------------------

AND, OR, NOT = ("/\\", "&&", "and", "∧"), ("\\/", "or", "∨"), ("~", "not", "!", "¬")
Resolve = Callable[[str, Cursor], int]
"""The number of the thread called so."""


def starts(cursor: Cursor) -> bool:
    negated = cursor.sees(*NOT) and cursor.ahead(1).lower() == "exists"
    return negated or cursor.sees("exists", "forall", "locations", "filter", "final", "observed")


def parse(cursor: Cursor, thread: Resolve) -> Condition:
    """`exists (0:r0=0 /\\ x=1)` and the like; \\/ binds less than /\\."""
    line = cursor.here.line
    negated = cursor.take(*NOT)
    word = cursor.take("exists", "forall")
    if word is None:
        raise cursor.error(f"expected exists, ~exists or forall, found {cursor.here.text!r}")
    quantifier: Quantifier = "~exists" if negated else "forall" if word.text.lower() == "forall" else "exists"
    return Condition(quantifier, parse_proposition(cursor, thread), line)


def parse_place(cursor: Cursor, thread: Resolve) -> Place:
    """`0:r0`, `P0:r0`, `x` or `[x]`."""
    if cursor.take("["):
        location = cursor.place()
        cursor.expect("]", "after the location")
        return location
    if cursor.ahead(1) == ":":
        number = thread(cursor.here.text, cursor)
        cursor.at += 2
        return Register(number, cursor.name("a register"))
    return cursor.place("a register (0:r0) or a location")


def parse_proposition(cursor: Cursor, thread: Resolve) -> Proposition:
    parts = [_and(cursor, thread)]
    while cursor.take(*OR):
        parts.append(_and(cursor, thread))
    return parts[0] if len(parts) == 1 else Or(tuple(parts))


def _and(cursor: Cursor, thread: Resolve) -> Proposition:
    parts = [_not(cursor, thread)]
    while cursor.take(*AND):
        parts.append(_not(cursor, thread))
    return parts[0] if len(parts) == 1 else And(tuple(parts))


def _not(cursor: Cursor, thread: Resolve) -> Proposition:
    if cursor.take(*NOT):
        return Not(_not(cursor, thread))
    if cursor.take("("):
        inner = parse_proposition(cursor, thread)
        cursor.expect(")", "to close the parenthesis")
        return inner
    if cursor.sees("true", "false") and cursor.ahead(1) not in (":", "="):
        return And(()) if cursor.next().text.lower() == "true" else Or(())
    place = parse_place(cursor, thread)
    unequal = cursor.take("!=", "<>")
    if not unequal:
        cursor.expect("=", f"after {place}")
    equal = Equal(place, parse_value(cursor))
    return Not(equal) if unequal else equal


def parse_value(cursor: Cursor) -> int:
    """A number, or the address of a location: `x`, `&x`."""
    if cursor.take("&") or cursor.here.is_name:
        base, _, offset = cursor.place().partition("+")
        return Pointer(Address(base, int(offset or 0)))
    return cursor.number("the value, a number or a location")
