"""Values that instructions compute: from numbers, registers, addresses and the value that an rmw replaces."""

from __future__ import annotations

import operator
import zlib
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


class Pointer(int):
    """An address as memory and outcomes hold it: a number, far from those that programs count with, that knows what it
    is the address of."""

    address: Address

    def __new__(cls, address: Address) -> Pointer:
        made = super().__new__(cls, (1 << 62) + (zlib.crc32(address.base.encode()) << 24) + address.offset)
        made.address = address
        return made

    def __str__(self) -> str:
        return str(self.address)


def number_of(held: int | Address) -> int:
    """What a register holds, as outcomes have it."""
    return Pointer(held) if isinstance(held, Address) else held


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
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "ge": operator.ge, "min": min, "max": max,
    "signed": lambda value, bits: (value + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1),
    "unsigned": lambda value, bits: value % (1 << bits),
}
"""Over integers without bounds; a comparison gives 0 or 1, `signed` and `unsigned` what so many low bits say."""


WORD = 64
"""Bits of an address."""


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
    """The registers (and the replaced value) whose values make a difference to it: none in `(xor r1 r1)`, which depends
    on r1 all the same."""
    if isinstance(value, Apply):
        if not _vanishes(value):
            yield from operands(value.left)
            yield from operands(value.right)
    elif isinstance(value, Reg | Old):
        yield value


def _vanishes(value: Apply) -> bool:
    """Is it 0 whatever its registers hold?"""
    if value.operator in ("xor", "sub"):
        return value.left == value.right
    return value.operator in ("and", "mul") and 0 in (value.left, value.right)


def applied(name: str, left: Value, right: Value) -> Value:
    """`(name left right)`, worked out where both are known. What has no value stays as it is, to be told of when the
    program runs into it."""
    if not isinstance(left, int | Address) or not isinstance(right, int | Address):
        return Apply(name, left, right)
    try:
        return _apply(name, left, right)
    except Uncomputable:
        return Apply(name, left, right)


def evaluate(value: Value, registers: Mapping[str, Known], old: Known = 0) -> Known:
    """What it comes to. Registers that nothing was put into hold 0. Raises Uncomputable."""
    if isinstance(value, Reg):
        return registers.get(value.name, 0)
    if isinstance(value, Old):
        return old
    if isinstance(value, Apply):
        if _vanishes(value):
            return 0
        return _apply(value.operator, evaluate(value.left, registers, old), evaluate(value.right, registers, old))
    return value


def _apply(name: str, left: Known, right: Known) -> Known:
    if isinstance(left, int) and isinstance(right, int):
        return int(OPERATORS[name](left, right))
    if name in ("eq", "ne"):
        return int((left == right) == (name == "eq"))
    if name in ("xor", "sub") and left == right:
        return 0
    if name in ("add", "or", "xor") and isinstance(left, int):
        left, right = right, left
    if name in ("or", "xor") and right == 0:
        return left
    if name == "signed" and right == WORD:
        return left
    if name in ("add", "sub") and isinstance(left, Address) and isinstance(right, int):
        return Address(left.base, left.offset + (right if name == "add" else -right))
    raise Uncomputable(f"{name} of {left} and {right}: an address can only be moved by a number")
