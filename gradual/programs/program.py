"""A program as data: threads of instructions, and a question about their end.

Its events are those of all ways the threads can take (`unfolding.py`), values and all: so an execution is known from
the ways that were taken, its reads-from and its store order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from math import factorial, prod
from operator import or_

from gradual.programs.condition import Condition, Equal, Or, Place, Proposition, Register, comparisons, rewritten
from gradual.programs.expressions import OPERATORS, Address, Known, Pointer, Reg, number_of, parts
from gradual.programs.instructions import (
    CLASSES,
    FENCES,
    Access,
    Class,
    Failed,
    Fence,
    Instruction,
    Load,
    Move,
    Rmw,
    Step,
    Store,
    Thread,
    named,
    sets,
)
from gradual.programs.scan import ProgramError
from gradual.programs.unfolding import (
    NO_BOUNDS,
    Bounds,
    Domain,
    End,
    Event,
    Returned,
    Unfoldable,
    Unfolding,
    unfold,
    values_text,
)

__all__ = ["CLASSES", "FENCES", "Bounds", "Class", "End", "Event", "Fence", "Instruction", "Load", "Program", "Rmw",
           "Step", "Store", "Thread"]


RISCV, INT = "RISCV", 4
"""The dialect in which numbers have bytes, and how many where nobody says."""


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
    bounds: Bounds = NO_BOUNDS
    only: Proposition | None = None
    """Executions that end otherwise do not count (herd's `filter`)."""

    # --- the ways through it

    @property
    def computes(self) -> bool:
        """Is there data flow: anything but constants that are stored, one instruction after the other?"""
        return any(not isinstance(step, Instruction) for thread in self.threads for step in thread.instructions)

    def unfolded(self, every: bool) -> tuple[Unfolding, tuple[int, ...]]:
        """With `every`, each load has an event for each value; and what loads may return. Raises ProgramError."""
        start = {self.initial.get(at, 0) for at in self.named} if every else None
        domain = Domain(self.initial, self.bounds.values, start)
        try:
            found = unfold(self.threads, domain, self.bounds, every)
            asked = {part for proposition in self.propositions for part in comparisons(proposition)
                     if not self._without_sign(part)}
            domain.ask({part.value for part in asked if every or not self._can_be(part, found, domain)})
            if any(event.returns is not None for event in found.events):
                found = unfold(self.threads, domain, self.bounds, every)
        except Unfoldable as error:
            raise ProgramError(str(error), self.file, error.line) from None
        self._one_size(found)
        return found, domain.all(self._locations(found))

    @staticmethod
    def _can_be(part: Equal, found: Unfolding, domain: Domain) -> bool:
        """Can this come about by what is stored? Else it would be out of thin air, and so would others be."""
        def can_be(held: Known | Returned) -> bool:
            if not isinstance(held, Returned):
                return part.value == number_of(held)
            load = found.events[held.load]
            return part.value in domain.returned(load.location or "", load.load)

        if not isinstance(part.place, Register):
            return part.value in domain.ways(part.place)
        return any(map(can_be, {end.registers.get(part.place.name, 0) for end in found.ends[part.place.thread]}))

    def _one_size(self, unfolding: Unfolding) -> None:
        """A location is one cell: what overlaps it is not told of."""
        first: dict[str, Load | Store | Rmw] = {}
        for event in unfolding.events:
            if isinstance(here := event.instruction, Load | Store | Rmw):
                there = first.setdefault(here.location, here)
                if there.size != here.size:
                    raise ProgramError(f"{here.location} is accessed with {here.size} bytes here and with {there.size} "
                                       f"in line {there.line}: programs here have one size for each location",
                                       self.file, here.line)

    @cached_property
    def _unfolded(self) -> tuple[Unfolding, tuple[int, ...]]:
        return self.unfolded(every=False)

    @property
    def values(self) -> tuple[int, ...]:
        """What a load that somebody looks at may return. Raises ProgramError."""
        return self._unfolded[1]

    @property
    def events(self) -> tuple[Event, ...]:
        """Those of all ways that the threads can take. Raises ProgramError where it does not unfold."""
        return self._unfolded[0].events

    @property
    def ends(self) -> tuple[tuple[End, ...], ...]:
        """The ways in which each thread can end."""
        return self._unfolded[0].ends

    @property
    def branches(self) -> bool:
        """Do the values that loads return decide what takes place?"""
        return any(not event.certain for event in self.events)

    @property
    def cut(self) -> bool:
        """Does a thread end only because its loop went round as often as it was let?"""
        return any(end.cut for ends in self.ends for end in ends)

    @property
    def left_out(self) -> tuple[int, ...]:
        """Values that are stored, or there from the start, and that no load is let return (they were not given)."""
        if self.bounds.values is None:
            return ()
        there = self._unfolded[0].written() | {self.initial.get(at, 0) for at in self.locations}
        return tuple(sorted(there - set(self.bounds.values)))

    @property
    def notes(self) -> list[str]:
        """What is to be said beside every answer: that its bounds leave something out."""
        found = []
        if self.left_out:
            found.append(f"{values_text(self.left_out)} is there too, stored or from the start, but --values "
                         f"{values_text(self.values)} lets no load return it: with it the answer may be another one")
        if self.cut:
            found.append(f"threads that would go round a loop more often than --unroll {self.bounds.unroll} end there: "
                         "with a larger one the answer may be another one")
        return found

    # --- what it speaks of

    @cached_property
    def locations(self) -> tuple[str, ...]:
        """Every location that is accessed, asked about or given a value."""
        return self._locations(self._unfolded[0])

    def _locations(self, unfolding: Unfolding) -> tuple[str, ...]:
        named = [event.location for event in unfolding.events if event.location is not None]
        asked = [place for place in self._asked() if isinstance(place, str)]
        return tuple(dict.fromkeys([*named, *asked, *self.initial]))

    @property
    def mentioned(self) -> tuple[str, ...]:
        """The locations that its threads and initial values speak of; others are computed."""
        inside = [name for thread in self.threads for step in thread.instructions for name in named(step)]
        given = [value.base for thread in self.threads for value in thread.constants.values()
                 if isinstance(value, Address)]
        pointed = [value.address.base for value in self.initial.values() if isinstance(value, Pointer)]
        return tuple(dict.fromkeys([*inside, *given, *pointed, *self.initial]))

    def speaks_of(self, pointer: Pointer) -> bool:
        """Does anything stand in it that it may be the address of?"""
        moved = (part for thread in self.threads for step in thread.instructions if isinstance(step, Move)
                 for part in parts(step.value))
        return pointer.address.base in {*(name.split("+")[0] for name in self.mentioned),
                                        *(part.base for part in moved if isinstance(part, Address))}

    @property
    def named(self) -> tuple[str, ...]:
        """The locations that stand in its text."""
        asked = [place for place in self._asked() if isinstance(place, str)]
        return tuple(dict.fromkeys([*self.mentioned, *asked]))

    @cached_property
    def _sizes(self) -> dict[str | None, int]:
        """How many bytes locations have, as far as accesses in the text say; None: those of all others."""
        found: dict[str | None, int] = {}
        others = set[int]()
        for thread in self.threads:
            for step in thread.instructions:
                if isinstance(step, Load | Store | Rmw):
                    found[step.location] = step.size
                elif isinstance(step, Access):
                    at = thread.constants.get(step.address.name) if isinstance(step.address, Reg) else step.address
                    if isinstance(at, Address):
                        found[str(at)] = step.size
                    else:
                        others.add(step.size)
        if self.dialect == RISCV and len(others) <= 1:
            found[None] = others.pop() if others else INT
        return found

    def held(self, place: Place, value: int) -> int:
        """A number as it is held: by a location as loads get it, with its bytes and a sign."""
        size = self._sizes.get(place, self._sizes.get(None, 0)) if isinstance(place, str) else 0
        return OPERATORS["signed"](value, 8 * size) if size and not isinstance(value, Pointer) else value

    def meant(self, part: Equal) -> Proposition:
        """What a comparison says: words of registers may be told with a sign, or without."""
        same = Equal(part.place, self.held(part.place, part.value))
        return Or((same, Equal(part.place, part.value - (1 << INT * 8)))) if self._without_sign(part) else same

    def _without_sign(self, part: Equal) -> bool:
        is_word = isinstance(part.place, Register) and not isinstance(part.value, Pointer) and self.dialect == RISCV
        return is_word and 1 << INT * 8 - 1 <= part.value < 1 << INT * 8

    def as_held(self) -> Program:
        """The same, with all numbers that are said of locations so."""
        asked, only = self.condition, self.only
        return replace(
            self, initial={at: self.held(at, value) for at, value in self.initial.items()},
            condition=asked and replace(asked, proposition=rewritten(asked.proposition, self.meant)),
            only=only and rewritten(only, self.meant))

    @property
    def propositions(self) -> list[Proposition]:
        """What is asked and demanded of the end."""
        asked = self.condition.proposition if self.condition else None
        return [part for part in (asked, self.only) if part is not None]

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
    def registers(self) -> tuple[Register, ...]:
        """Every register that a number is put into."""
        found: dict[Register, None] = {}
        for number, thread in enumerate(self.threads):
            names = [name for step in thread.instructions if (name := sets(step))]
            numbers = [name for name, value in thread.constants.items() if isinstance(value, int)]
            found |= {Register(number, name): None for name in (*names, *numbers)}
        return tuple(found)

    @property
    def observed(self) -> list[Place]:
        """What an outcome consists of: what is asked about, or every register where nothing is."""
        return sorted(set(self._asked() or self.registers), key=_by_thread)

    @property
    def pointers(self) -> set[Pointer]:
        """The addresses that memory can hold."""
        return {value for value in (*self._unfolded[0].written(), *self.initial.values()) if isinstance(value, Pointer)}

    @property
    def has_rmws(self) -> bool:
        return any(isinstance(event.instruction, Rmw) for event in self.events)

    @cached_property
    def size(self) -> int:
        """Its executions without any model: a source for each load, an order of the stores for each location. Of a
        program that branches, a bound: as if each location had all the stores that any way of each thread has."""
        threads = [[self._way(end) for end in ends] for ends in self.ends]
        stores, values = _most(threads, lambda event: event.location), _most(threads, _put)

        def sources(load: Event) -> int:
            if load.returns is None:
                return stores[load.location] + (not load.writes)
            there = (load.location, load.returns)
            own = load.writes and _put(load) == there
            return values[there] + (self.initial.get(load.location or "", 0) == load.returns) - own

        ways = (sum(prod(sources(event) for event in way if event.reads) for way in thread) for thread in threads)
        return prod(ways) * prod(map(factorial, stores.values()))

    def _way(self, end: End) -> list[Event]:
        """What takes place on the way to an end."""
        found, at = list[Event](), end.event
        while at is not None:
            found.append(self.events[at])
            at = self.events[at].before
        return found

    def seen(self, events: Iterable[int]) -> list[int]:
        """Those of some events that memory sees: all but store-conditionals that fail."""
        return [event for event in events if not isinstance(self.events[event].instruction, Failed)]

    def previous(self, event: Event) -> int | None:
        """The one that memory sees before it in program order."""
        before = event.before
        while before is not None and isinstance(self.events[before].instruction, Failed):
            before = self.events[before].before
        return before


def _put(store: Event) -> tuple[str | None, int]:
    """What it leaves, and where."""
    return store.location, store.instruction.value  # type: ignore[union-attr]


def _most(threads: Iterable[Iterable[list[Event]]], key: Callable[[Event], Hashable]) -> Counter[Hashable]:
    """How many stores of a kind there can be: of each thread, those of the way that has most of it."""
    found = Counter[Hashable]()
    for ways in threads:
        found += reduce(or_, (Counter(key(event) for event in way if event.writes) for way in ways))
    return found


def _by_thread(place: Place) -> tuple[int, str]:
    return (place.thread, place.name) if isinstance(place, Register) else (1 << 30, place)
