"""Values that instructions compute: from numbers, registers, addresses and the value that an rmw replaces."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Reg:
    """What a register holds."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Old:
    """What an rmw replaces."""

    def __str__(self) -> str:
        return "old"


@dataclass(frozen=True)
class Address:
    """A place in memory; `x+0` is `x`, other offsets are locations of their own."""

    base: str
    offset: int = 0

    def __str__(self) -> str:
        return f"{self.base}+{self.offset}" if self.offset else self.base


@dataclass(frozen=True)
class Apply:
    """`(add a b)`."""

    operator: str
    left: Value
    right: Value

    def __str__(self) -> str:
        return f"({self.operator} {self.left} {self.right})"


Value = int | Reg | Old | Address | Apply
Known = int | Address
"""What a value comes to."""

OPERATORS: dict[str, Callable[[int, int], int]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul,
    "xor": operator.xor, "and": operator.and_, "or": operator.or_,
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "ge": operator.ge,
}
"""Over integers without bounds; a comparison gives 0 or 1."""


class Uncomputable(Exception):
    """An expression that has no value, with the reason."""


def parts(value: Value) -> Iterator[int | Reg | Old | Address]:
    """What a value is made from."""
    if isinstance(value, Apply):
        yield from parts(value.left)
        yield from parts(value.right)
    else:
        yield value


def operands(value: Value) -> Iterator[Reg | Old]:
    """The registers (and the replaced value) that a value is made from."""
    return (part for part in parts(value) if isinstance(part, Reg | Old))


def evaluate(value: Value, registers: Mapping[str, Known], old: int = 0) -> Known:
    """What it comes to. Registers that nothing was put into hold 0. Raises Uncomputable."""
    if isinstance(value, Reg):
        return registers.get(value.name, 0)
    if isinstance(value, Old):
        return old
    if isinstance(value, Apply):
        return _apply(value.operator, evaluate(value.left, registers, old), evaluate(value.right, registers, old))
    return value


def _apply(name: str, left: Known, right: Known) -> Known:
    if isinstance(left, int) and isinstance(right, int):
        return int(OPERATORS[name](left, right))
    if name in ("eq", "ne"):
        return int((left == right) == (name == "eq"))
    if name == "add" and isinstance(left, int):
        left, right = right, left
    if name in ("add", "sub") and isinstance(left, Address) and isinstance(right, int):
        return Address(left.base, left.offset + (right if name == "add" else -right))
    raise Uncomputable(f"{name} of {left} and {right}: an address can only be moved by a number")
