"""A program as data: threads of instructions, and a question about their end.

Its events are those of all ways the threads can take (`unfolding.py`), values and all: so an execution is known from
the ways that were taken, its reads-from and its store order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from math import factorial, prod

from gradual.programs.condition import Condition, Place, Register, values
from gradual.programs.instructions import (
    CLASSES,
    FENCES,
    Class,
    Fence,
    Instruction,
    Load,
    Rmw,
    Step,
    Store,
    Thread,
    named,
    sets,
)
from gradual.programs.scan import ProgramError
from gradual.programs.unfolding import NO_BOUNDS, Bounds, End, Event, Unfoldable, Unfolding, domain, unfold, values_text

__all__ = ["CLASSES", "FENCES", "Bounds", "Class", "End", "Event", "Fence", "Instruction", "Load", "Program", "Rmw",
           "Step", "Store", "Thread"]


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

    # --- the ways through it

    @cached_property
    def values(self) -> tuple[int, ...]:
        """What a load that somebody looks at may return. Raises ProgramError."""
        try:
            return domain(self.threads, self.bounds, self._from_the_start())
        except Unfoldable as error:
            raise ProgramError(str(error), self.file, error.line) from None

    def _from_the_start(self) -> set[int]:
        named = {step.location for thread in self.threads for step in thread.instructions
                 if isinstance(step, Load | Store | Rmw)}
        plain = {0} if named - set(self.initial) or self.computes else set()
        return {*plain, *self.initial.values(), *(values(self.condition.proposition) if self.condition else ())}

    @property
    def computes(self) -> bool:
        """Is there data flow: anything but constants that are stored, one instruction after the other?"""
        return any(not isinstance(step, Instruction) for thread in self.threads for step in thread.instructions)

    def unfolded(self, every: bool) -> Unfolding:
        """With `every`, each load has an event for each value. Raises ProgramError."""
        try:
            return unfold(self.threads, self.values if every or self.computes else (), self.bounds, every)
        except Unfoldable as error:
            raise ProgramError(str(error), self.file, error.line) from None

    @cached_property
    def _unfolding(self) -> Unfolding:
        return self.unfolded(every=False)

    @property
    def events(self) -> tuple[Event, ...]:
        """Those of all ways that the threads can take. Raises ProgramError where it does not unfold."""
        return self._unfolding.events

    @property
    def ends(self) -> tuple[tuple[End, ...], ...]:
        """The ways in which each thread can end."""
        return self._unfolding.ends

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
        there = self._unfolding.written() | {self.initial.get(at, 0) for at in self.locations}
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
        named = [event.location for event in self.events if event.location is not None]
        asked = [place for place in self._asked() if isinstance(place, str)]
        return tuple(dict.fromkeys([*named, *asked, *self.initial]))

    @property
    def named(self) -> tuple[str, ...]:
        """The locations that stand in its text; others are computed."""
        inside = [name for thread in self.threads for step in thread.instructions for name in named(step)]
        asked = [place for place in self._asked() if isinstance(place, str)]
        return tuple(dict.fromkeys([*inside, *asked, *self.initial]))

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
        """Every register that something is put into."""
        found: dict[Register, None] = {}
        for number, thread in enumerate(self.threads):
            names = [name for step in thread.instructions if (name := sets(step)) is not None]
            numbers = [name for name, value in thread.constants.items() if isinstance(value, int)]
            found |= {Register(number, name): None for name in (*names, *numbers)}
        return tuple(found)

    @property
    def observed(self) -> list[Place]:
        """What an outcome consists of: what is asked about, or every register where nothing is."""
        return sorted(set(self._asked() or self.registers), key=_by_thread)

    @property
    def has_rmws(self) -> bool:
        return any(isinstance(event.instruction, Rmw) for event in self.events)

    @property
    def size(self) -> int:
        """Its executions without any model: a source for each load, an order of the stores for each location. Of a
        program that branches, a bound: as if the events of all ways took place."""
        stores = Counter(event.location for event in self.events if event.writes)
        sources = prod(stores[event.location] + (not event.writes) for event in self.loads)
        return sources * prod(factorial(count) for count in stores.values())

    def program_order(self) -> Iterator[tuple[int, int]]:
        """Each event and the next one of its thread."""
        return ((event.before, event.number) for event in self.events if event.before is not None)


def _by_thread(place: Place) -> tuple[int, str]:
    return (place.thread, place.name) if isinstance(place, Register) else (1 << 30, place)
