"""What a thread does, step by step: loads, stores, rmws and fences, and between them moves and jumps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from gradual.history.annotations import EXCLUSIVE
from gradual.programs.expressions import Address, Known, Old, Reg, Value, operands, parts

Class = Literal["any", "ld", "st"]
"""What a fence speaks of: loads, stores, both. An rmw is both."""
Mode = Literal["", "na", "rlx", "acq", "rel", "ar", "sc"]
"""The memory order of C++, from weak to strong; "" where nothing is said, which C++ takes for rlx."""
MODES: tuple[Mode, ...] = ("", "na", "rlx", "acq", "rel", "ar", "sc")


NOWHERE = ""
"""The register of a load whose value is thrown away."""


@dataclass(frozen=True)
class Load:
    location: str
    register: str
    line: int = field(default=0, compare=False)
    mode: Mode = ""
    marks: int = 0
    """Of hardware: acquire, release, load-reserved or store-conditional, as `History.marks` has it."""
    size: int = 0
    """Bytes accessed; 0 where the dialect does not say."""


@dataclass(frozen=True)
class Store:
    location: str
    value: int
    line: int = field(default=0, compare=False)
    mode: Mode = ""
    marks: int = 0
    size: int = 0


@dataclass(frozen=True)
class Rmw:
    """Stores `value` and puts what it replaced into `register`, in one step."""

    location: str
    value: int
    register: str
    line: int = field(default=0, compare=False)
    mode: Mode = ""
    marks: int = 0
    size: int = 0


@dataclass(frozen=True)
class Fence:
    """Keeps what is of class `before` ahead of what is of class `after`; or is of one of two kinds that do not."""

    before: Class = "any"
    after: Class = "any"
    line: int = field(default=0, compare=False)
    special: Literal["", "tso", "i"] = ""
    """tso: loads before everything, stores before stores. i: of instruction fetches, orders no accesses."""
    mode: Mode = ""

    @property
    def pairs(self) -> int:
        """What it orders, as `History.fence` has it."""
        return {"": _BEFORE[self.before] & _AFTER[self.after], "tso": 11, "i": 16}[self.special]

    @property
    def set(self) -> str:
        """The set of fences that models know it by."""
        return f"Fence.{self.special or f'{_LETTERS[self.before]}.{_LETTERS[self.after]}'}"

    def __str__(self) -> str:
        return f"f({self.special or f'{self.before},{self.after}'})"


_LETTERS = {"any": "rw", "ld": "r", "st": "w"}
_BEFORE = {"any": 0b1111, "ld": 0b0011, "st": 0b1100}
_AFTER = {"any": 0b1111, "ld": 0b0101, "st": 0b1010}
CLASSES: tuple[Class, ...] = ("any", "ld", "st")
FENCES = {fence.pairs: fence for fence in (*(Fence(b, a) for b in CLASSES for a in CLASSES), Fence(special="tso"),
                                           Fence(special="i"))}
"""Every kind of fence, by what it orders."""

Instruction = Load | Store | Rmw | Fence
"""What takes place in memory, as it is once every value is known."""


@dataclass(frozen=True)
class Access:
    """A load, store or rmw whose address or value is computed."""

    address: Value
    value: Value | None = None
    """What is stored; None of a load."""
    register: str | None = None
    """What it loads into; None of a store. Of a store-conditional, what gets 0 where it stores and 1 where it fails."""
    line: int = field(default=0, compare=False)
    mode: Mode = ""
    marks: int = 0
    size: int = 0

    @property
    def conditional(self) -> bool:
        """Is it a store-conditional?"""
        return self.value is not None and bool(self.marks & EXCLUSIVE)

    def done(self, location: str, value: int) -> Load | Store | Rmw:
        """The access, once its address and its value are known."""
        if self.value is None:
            return Load(location, self.register or NOWHERE, self.line, self.mode, self.marks, self.size)
        if self.register is None or self.conditional:
            return Store(location, value, self.line, self.mode, self.marks, self.size)
        return Rmw(location, value, self.register, self.line, self.mode, self.marks, self.size)


@dataclass(frozen=True)
class Failed:
    """A store-conditional that did not store: nothing that memory or a model sees."""

    line: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Move:
    """Puts a value into a register."""

    register: str
    value: Value
    line: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Branch:
    """Goes on at a label, if the condition is not 0."""

    condition: Value
    target: str
    line: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Label:
    name: str
    line: int = field(default=0, compare=False)


Step = Instruction | Access | Move | Branch | Label
"""What a thread is written as."""


@dataclass(frozen=True)
class Thread:
    name: str
    instructions: tuple[Step, ...]
    constants: dict[str, Known] = field(default_factory=dict)
    """Registers that start with a value: given, or set before anything could look at them."""


def sets(step: Step) -> str | None:
    """The register that it puts something into."""
    return step.register if isinstance(step, Load | Rmw | Access | Move) else None


def reads(step: Step) -> bool:
    """Does it load, or replace?"""
    if isinstance(step, Access):
        return step.register is not None and not step.conditional
    return isinstance(step, Load | Rmw)


def looks_at(step: Step) -> Iterator[Reg | Old]:
    """The operands whose values decide what it does."""
    if isinstance(step, Access):
        yield from operands(step.address)
        yield from operands(step.value or 0)
    elif isinstance(step, Move):
        yield from operands(step.value)
    elif isinstance(step, Branch):
        yield from operands(step.condition)


def named(step: Step) -> Iterator[str]:
    """The locations that stand in it."""
    if isinstance(step, Load | Store | Rmw):
        yield step.location
    elif isinstance(step, Access):
        yield from (part.base for value in (step.address, step.value or 0) for part in parts(value)
                    if isinstance(part, Address))
