"""A program as data: threads of loads, stores of constants, rmws and fences, and a question about their end.

Values are constants, so an execution is known from its reads-from and its store order alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from math import factorial, prod
from typing import Literal

from gradual.programs.condition import Condition, Place, Register

Class = Literal["any", "ld", "st"]
"""What a fence speaks of: loads, stores, both. An rmw is both."""


@dataclass(frozen=True)
class Load:
    location: str
    register: str
    line: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Store:
    location: str
    value: int
    line: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Rmw:
    """Stores `value` and puts what it replaced into `register`, in one step."""

    location: str
    value: int
    register: str
    line: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Fence:
    """Keeps what is of class `before` ahead of what is of class `after`; or is of one of two kinds that do not."""

    before: Class = "any"
    after: Class = "any"
    line: int = field(default=0, compare=False)
    special: Literal["", "tso", "i"] = ""
    """tso: loads before everything, stores before stores. i: of instruction fetches, orders no accesses."""

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


@dataclass(frozen=True)
class Thread:
    name: str
    instructions: tuple[Instruction, ...]
    constants: dict[str, int] = field(default_factory=dict)
    """Registers that end with a constant: never loaded into, or overwritten since."""


@dataclass(frozen=True)
class Event:
    """An instruction and the thread (by number) that executes it. Events are numbered thread by thread."""

    number: int
    thread: int
    instruction: Instruction

    @property
    def location(self) -> str | None:
        return None if isinstance(self.instruction, Fence) else self.instruction.location

    @property
    def reads(self) -> bool:
        return isinstance(self.instruction, Load | Rmw)

    @property
    def writes(self) -> bool:
        return isinstance(self.instruction, Store | Rmw)


@dataclass(frozen=True)
class Program:
    """A litmus test."""

    name: str
    threads: tuple[Thread, ...]
    initial: dict[str, int] = field(default_factory=dict)
    """Of the locations that do not start with 0."""
    condition: Condition | None = None
    locations_shown: tuple[Place, ...] = ()
    """What the outcome tells besides what the condition speaks of (herd's `locations`)."""
    dialect: str = field(default="", compare=False)
    """What it was written in: X86, LISA, Generic; "" for the plain form."""
    file: str = field(default="", compare=False)

    @cached_property
    def events(self) -> tuple[Event, ...]:
        pairs = [(number, instruction) for number, thread in enumerate(self.threads)
                 for instruction in thread.instructions]
        return tuple(Event(at, number, instruction) for at, (number, instruction) in enumerate(pairs))

    @cached_property
    def locations(self) -> tuple[str, ...]:
        """Every location that is accessed, asked about or given a value."""
        named = [event.location for event in self.events if event.location is not None]
        asked = [place for place in self._asked() if isinstance(place, str)]
        return tuple(dict.fromkeys([*named, *asked, *self.initial]))

    def _asked(self) -> list[Place]:
        return [*(self.condition.places if self.condition else ()), *self.locations_shown]

    @cached_property
    def loads(self) -> tuple[Event, ...]:
        """Events that read: loads and rmws."""
        return tuple(event for event in self.events if event.reads)

    def stores(self, location: str) -> list[Event]:
        """Events that write a location: stores and rmws."""
        return self._stores.get(location, [])

    @cached_property
    def _stores(self) -> dict[str | None, list[Event]]:
        found: dict[str | None, list[Event]] = {}
        for event in self.events:
            if event.writes:
                found.setdefault(event.location, []).append(event)
        return found

    @cached_property
    def registers(self) -> dict[Register, int | None]:
        """Each register's last load, by event; None where the register ends with a constant."""
        last: dict[Register, int | None] = {
            Register(event.thread, event.instruction.register): event.number
            for event in self.events if isinstance(event.instruction, Load | Rmw)}
        for number, thread in enumerate(self.threads):
            last.update((Register(number, name), None) for name in thread.constants)
        return last

    @property
    def observed(self) -> list[Place]:
        """What an outcome consists of: what is asked about, or every register where nothing is."""
        return sorted(set(self._asked() or self.registers), key=_by_thread)

    @property
    def has_rmws(self) -> bool:
        return any(isinstance(event.instruction, Rmw) for event in self.events)

    @property
    def size(self) -> int:
        """Its executions without any model: a source for each load, an order of the stores for each location."""
        stores = Counter(event.location for event in self.events if event.writes)
        sources = prod(stores[event.location] + (not event.writes) for event in self.loads)
        return sources * prod(factorial(count) for count in stores.values())

    def program_order(self) -> Iterator[tuple[int, int]]:
        """Each event and the next one of its thread."""
        for a, b in zip(self.events, self.events[1:], strict=False):
            if a.thread == b.thread:
                yield a.number, b.number


def _by_thread(place: Place) -> tuple[int, str]:
    return (place.thread, place.name) if isinstance(place, Register) else (1 << 30, place)
