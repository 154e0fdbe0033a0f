"""An event structure: all executions of a program in one graph.

A load has an event for each value it might return; these are in *immediate conflict*, and conflict is inherited by all
that follows. `≤`: initial writes before everything, ancestors before descendants. A *configuration* is a set without
conflict that is closed downwards: some events of each thread, on one way. Sets of events are bit masks here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Literal

from gradual.programs.condition import Condition, Register
from gradual.programs.expressions import Address
from gradual.programs.instructions import Failed, Fence, Load, Mode, Rmw
from gradual.programs.program import Program
from gradual.programs.scan import ProgramError
from gradual.programs.unfolding import End

Kind = Literal["R", "W", "F"]
Justifies = Literal["label", "visible"]
"""label: same location, same value. visible: moreover the read can see the write (`EventStructure.justifies`)."""
INITIAL = -1
"""The thread of initial writes."""
DEFAULT_MODE: Mode = "rlx"


@dataclass(frozen=True)
class Event:
    number: int
    thread: int
    kind: Kind
    location: str = ""
    value: int = 0
    mode: Mode = DEFAULT_MODE
    before: int | None = None
    """The event before it in its thread."""
    pair: int | None = None
    """Of the write of an rmw: its read."""
    line: int = field(default=0, compare=False)

    def __str__(self) -> str:
        return f"{self.kind}{self.location}{self.value}" if self.kind != "F" else f"F{self.mode}"


@dataclass(frozen=True)
class Leaf:
    """Where a thread ends: its last event, if it has any, and its registers."""

    event: int | None
    registers: dict[str, int]


@dataclass(frozen=True)
class EventStructure:
    program: Program
    events: tuple[Event, ...]
    leaves: tuple[tuple[Leaf, ...], ...]
    """Of each thread."""
    values: tuple[int, ...]
    """What loads may return."""

    def __len__(self) -> int:
        return len(self.events)

    @property
    def condition(self) -> Condition:
        assert self.program.condition is not None
        return self.program.condition

    @cached_property
    def initial(self) -> int:
        """The initial writes."""
        return mask(event.number for event in self.events if event.thread == INITIAL)

    @cached_property
    def reads(self) -> int:
        return mask(event.number for event in self.events if event.kind == "R")

    @cached_property
    def below(self) -> list[int]:
        """Of each event, those before it: `<`."""
        found: list[int] = []
        for event in self.events:
            if event.thread == INITIAL:
                found.append(0)
            else:
                found.append(self.initial if event.before is None else found[event.before] | 1 << event.before)
        return found

    @cached_property
    def conflicts(self) -> list[int]:
        """Of each event, those in conflict with it: of its thread, on other ways. An event that goes on from another is
        not in conflict with it."""
        above = [0] * len(self)
        for event in self.events:
            for earlier in members(self.below[event.number]):
                above[earlier] |= 1 << event.number
        threads = [mask(event.number for event in self.events if event.thread == thread)
                   for thread in range(len(self.leaves))]
        return [0 if event.thread == INITIAL else
                threads[event.thread] & ~(above[event.number] | self.below[event.number] | 1 << event.number)
                for event in self.events]

    @cached_property
    def children(self) -> dict[tuple[int, int | None], list[int]]:
        """The events that may come next in a thread, after an event or at its start."""
        found: dict[tuple[int, int | None], list[int]] = {}
        for event in self.events:
            if event.thread != INITIAL:
                found.setdefault((event.thread, event.before), []).append(event.number)
        return found

    def justifies(self, reading: Justifies) -> list[int]:
        """Of each read, the writes that justify it (0 for events that are no reads).

        label: same location, same value. visible: moreover not r < w, not w # r, and no write b of that location with
        w < b < r.
        """
        return [self._justifying(read, reading) if read.kind == "R" else 0 for read in self.events]

    def _justifying(self, read: Event, reading: Justifies) -> int:
        same = [write.number for write in self.events
                if write.kind == "W" and (write.location, write.value) == (read.location, read.value)]
        if reading == "visible":
            same = [write for write in same if self._visible(write, read.number)]
        return mask(same)

    def _visible(self, write: int, read: int) -> bool:
        if self.below[write] >> read & 1 or self.conflicts[read] >> write & 1:
            return False
        location = self.events[read].location
        return not any(self.events[b].kind == "W" and self.events[b].location == location
                       and self.below[b] >> write & 1 for b in members(self.below[read]))

    def upto(self, event: int | None) -> int:
        """The configuration of one thread, and the initial writes."""
        return self.initial if event is None else self.below[event] | 1 << event

    @property
    def configurations(self) -> int:
        """How many there are: a node of each thread's tree, its root included."""
        count = 1
        for thread in range(len(self.leaves)):
            count *= 1 + sum(event.thread == thread for event in self.events)
        return count

    def ends(self) -> Iterator[tuple[Leaf, ...]]:
        """Every way in which all threads can end."""
        return product(*self.leaves)

    @property
    def most_reads(self) -> int:
        """The sum over the threads of the most loads on a way: bounds how many steps a play needs."""
        return sum(max((self.upto(leaf.event) & self.reads).bit_count() for leaf in leaves) for leaves in self.leaves)


def mask(events: Iterable[int]) -> int:
    found = 0
    for event in events:
        found |= 1 << event
    return found


def members(events: int) -> Iterator[int]:
    """The events of a mask, from low to high."""
    while events:
        low = events & -events
        yield low.bit_length() - 1
        events ^= low


def unfold(program: Program) -> EventStructure:
    """The event structure of a program. Raises ProgramError where it does not unfold."""
    unfolding, values = program.unfolded(every=True)
    asked = {place for place in (program.condition.places if program.condition else ()) if isinstance(place, str)}
    locations = sorted({event.location for event in unfolding.events if event.location is not None}
                       | asked | set(program.initial))
    events = [Event(number, INITIAL, "W", name, program.initial.get(name, 0), "na")
              for number, name in enumerate(locations)]
    last: dict[int | None, int | None] = {None: None}
    """The event that stands for each one of the unfolding; of an rmw the later one."""
    for event in unfolding.events:
        instruction, before = event.instruction, last[event.before]
        if isinstance(instruction, Failed) or event.marks:
            raise ProgramError("acquire, release, lr and sc of hardware mean nothing to models of event structures",
                               program.file, instruction.line)
        mode = instruction.mode or DEFAULT_MODE
        at = event.location or ""
        if isinstance(instruction, Fence):
            events.append(Event(len(events), event.thread, "F", mode=mode, before=before, line=instruction.line))
        elif isinstance(instruction, Load | Rmw):
            assert event.returns is not None
            events.append(Event(len(events), event.thread, "R", at, event.returns, mode, before,
                                line=instruction.line))
            before = len(events) - 1
        if not isinstance(instruction, Fence | Load):
            pair = before if isinstance(instruction, Rmw) else None
            events.append(Event(len(events), event.thread, "W", at, instruction.value, mode, before, pair,
                                instruction.line))
        last[event.number] = len(events) - 1
    leaves = tuple(tuple(Leaf(last[end.event], _numbers(program, thread, end)) for end in ends)
                   for thread, ends in enumerate(unfolding.ends))
    return EventStructure(program, tuple(events), leaves, values)


def _numbers(program: Program, thread: int, end: End) -> dict[str, int]:
    """What the registers hold; addresses are nothing to ask about."""
    asked = {place.name for place in (program.condition.places if program.condition else ())
             if isinstance(place, Register) and place.thread == thread}
    for name in asked:
        if isinstance(end.registers.get(name), Address):
            raise ProgramError(f"{thread}:{name} ends with an address: only numbers can be asked about", program.file)
    return {name: held for name, held in end.registers.items() if isinstance(held, int)}
