"""Runs each thread of a program for every value that its loads might return: a tree of events per thread.

A load has one event for each value that its location can hold, and each goes on with its own registers; where nobody
looks at what it returned, one event serves for all, unless every load is to be told apart. A store or a fence is one
event, a store-conditional has one where it stores and one where it fails; moves and jumps are none. A program without
data flow unfolds into itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from gradual.history import parse_number
from gradual.history.annotations import EXCLUSIVE
from gradual.programs.expressions import Address, Known, Old, Pointer, Reg, Uncomputable, Value, evaluate, parts
from gradual.programs.instructions import (
    Access,
    Branch,
    Failed,
    Fence,
    Instruction,
    Label,
    Load,
    Move,
    Rmw,
    Store,
    Thread,
    looks_at,
    reads,
    sets,
)

MOST_EVENTS = 100_000
"""An unfolding that would have more is refused."""
MOST_VALUES = 16
"""Values that are found by themselves; where there are more, they must be given."""
MOST_GIVEN = 1000
"""Values of a range that is given."""


STORED, FAILED = 0, 1
"""What a store-conditional says."""


class Unfoldable(Exception):
    """A program that does not unfold, with the line that is to blame, where one is."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True)
class Event:
    """An instruction with its values, and the thread (by number) that executes it. Events are numbered thread by
    thread, each before all that follows it."""

    number: int
    thread: int
    instruction: Instruction | Failed
    before: int | None = None
    """The event before it in its thread."""
    returns: int | None = None
    """Of a load with an event for each value: this one's."""
    certain: bool = True
    """It takes place whatever the loads return."""
    addr: tuple[int, ...] = ()
    """The loads that its address depends on; `data` the same of its value, `ctrl` of whether it takes place."""
    data: tuple[int, ...] = ()
    ctrl: tuple[int, ...] = ()
    pair: int | None = None
    """Of a store-conditional that stores: its load-reserved."""
    step: tuple[int, ...] = ()
    """Which step of its thread it is, by number, and the jumps back that were taken before."""

    @property
    def load(self) -> tuple[int, ...]:
        """The load that it is, whatever it returns."""
        return (self.thread, *self.step)

    @property
    def location(self) -> str | None:
        return None if isinstance(self.instruction, Fence | Failed) else self.instruction.location

    @property
    def marks(self) -> int:
        return 0 if isinstance(self.instruction, Fence | Failed) else self.instruction.marks

    @property
    def reads(self) -> bool:
        return isinstance(self.instruction, Load | Rmw)

    @property
    def writes(self) -> bool:
        return isinstance(self.instruction, Store | Rmw)


@dataclass(frozen=True)
class Returned:
    """In the place of a value: what the load returns, whatever that is."""

    load: int


@dataclass(frozen=True)
class End:
    """A way in which a thread ends: its last event, if there is any, and what its registers hold then."""

    event: int | None
    registers: Mapping[str, Known | Returned]
    cut: bool = False
    """It would have gone round a loop once more."""


@dataclass(frozen=True)
class Unfolding:
    events: tuple[Event, ...]
    ends: tuple[tuple[End, ...], ...]
    """Of each thread."""

    def written(self) -> set[int]:
        """The values that stores write."""
        return {event.instruction.value for event in self.events if isinstance(event.instruction, Store | Rmw)}


@dataclass(frozen=True)
class Bounds:
    """How far to unfold."""

    values: tuple[int, ...] | None = None
    """What loads may return; None: what is found from the program."""
    unroll: int | None = None
    """Copies of a loop's body; None: no loops."""


NO_BOUNDS = Bounds()


Loads = frozenset[tuple[int, ...]]
"""Loads that must have taken place, by thread and step."""
Ways = set[Loads]
"""The ways of getting at a value, none of which has all the loads of another."""
FREELY: Ways = {frozenset()}
MOST_WAYS = 64
"""Where there are more, what they have in common stands for all."""


class Domain:
    """What loads may return: of each location the values that are given, or what is there from the start and all that
    is then stored there. No load returns what only comes of its returning that; but for what the condition asks about,
    numbers where there are numbers, addresses where there are addresses. With `anywhere`, the values that are there
    from the start at all, every load may return whatever is stored anywhere, out of thin air or not."""

    def __init__(self, initial: Mapping[str, int], given: tuple[int, ...] | None,
                 anywhere: Iterable[int] | None = None) -> None:
        self._initial = initial
        self._given = given
        self._anywhere = None if anywhere is None else {*anywhere}
        self._stored: dict[str, dict[int, Ways]] = {}
        self._asked: set[int] = set()

    def ask(self, values: set[int]) -> None:
        self._asked = values

    def ways(self, location: str) -> dict[int, Ways]:
        """The values there, and how each can come about."""
        there = self._there(location)
        addresses = any(isinstance(value, Pointer) for value in there)
        if self._given is not None and not addresses:
            return dict.fromkeys(self._given, FREELY)
        asked = (value for value in self._asked if isinstance(value, Pointer) == addresses)
        return there | dict.fromkeys(asked, FREELY)

    def _there(self, location: str) -> dict[int, Ways]:
        if self._anywhere is None:
            return self._stored.get(location, {}) | {self._initial.get(location, 0): FREELY}
        stored = (value for values in self._stored.values() for value in values)
        return dict.fromkeys([*self._anywhere, *stored], FREELY)

    def returned(self, location: str, load: tuple[int, ...]) -> list[int]:
        """What a load may return."""
        return sorted(value for value, ways in self.ways(location).items() if any(load not in way for way in ways))

    def all(self, locations: Iterable[str]) -> tuple[int, ...]:
        """The values of all these locations together."""
        return tuple(sorted({value for location in locations for value in self.ways(location)}))

    def take_in(self, unfolding: Unfolding) -> bool:
        """Adds what is stored; was any of it new? Raises Unfoldable where there is too much."""
        new = False
        happens: list[Ways] = []
        for event in unfolding.events:
            happens.append(self._happens(event, unfolding.events, happens))
            if isinstance(event.instruction, Store | Rmw):
                stored = self._stored.setdefault(event.instruction.location, {})
                ways = stored.setdefault(event.instruction.value, set())
                more = _fewest(ways | happens[-1])
                new |= more != ways
                stored[event.instruction.value] = more
        for location, values in self._stored.items():
            if self._given is None and len(values) > MOST_VALUES:
                known = ", ".join(map(str, sorted(values)[:6]))
                raise Unfoldable(f"loads might return more than {MOST_VALUES} values of {location} ({known}, …): say "
                                 "which to look at, as in --values 0..2")
        return new

    def _happens(self, event: Event, events: Sequence[Event], happens: Sequence[Ways]) -> Ways:
        """How it can come about that an event takes place, with the values it has."""
        found = FREELY
        if self._anywhere is not None:
            return found
        for load in {*event.addr, *event.data, *event.ctrl}:
            if events[load].returns is not None:
                found = _fewest({one | other for one in found for other in happens[load]})
        if event.returns is not None:
            ways = self.ways(event.location or "")[event.returns]
            found = _fewest({one | way | {event.load} for one in found for way in ways if event.load not in way})
        return found


def _fewest(ways: Ways) -> Ways:
    """Those that do not have all the loads of another."""
    if len(ways) > MOST_WAYS:
        return {frozenset.intersection(*ways)}
    return ways if len(ways) < 2 else {way for way in ways if not any(other < way for other in ways)}


def unfold(threads: Sequence[Thread], domain: Domain, bounds: Bounds, every: bool = False) -> Unfolding:
    """Lets the domain grow until it has all that is stored. With `every`, each load has an event per value, even where
    nobody looks at it. Raises Unfoldable."""
    while True:
        events: list[Event] = []
        ends = tuple(tuple(_Unfolder(number, thread, domain, bounds, every, events).run())
                     for number, thread in enumerate(threads))
        found = Unfolding(tuple(events), ends)
        if all(event.returns is None for event in events) or not domain.take_in(found):
            return found


@dataclass(frozen=True)
class _Held:
    """What a register holds, and the loads that it comes from."""

    value: Known | Returned
    loads: frozenset[int] = frozenset()


@dataclass(frozen=True)
class _State:
    """A thread before one of its steps."""

    at: int
    registers: Mapping[str, _Held]
    before: int | None = None
    returns: int | None = None
    """What the load that is next returns, where that has been chosen."""
    certain: bool = True
    ctrl: frozenset[int] = frozenset()
    rounds: tuple[int, ...] = ()
    """The jumps back that were taken, by their places."""
    reserved: tuple[int, str] | None = None
    """The load-reserved that a store-conditional would belong to, and its location."""

    @property
    def step(self) -> tuple[int, ...]:
        return (self.at, *self.rounds)

    def value(self, value: Value, old: Known = 0) -> Known:
        return evaluate(value, _Values(self.registers), old)

    def loads(self, value: Value) -> frozenset[int]:
        names = [part.name for part in parts(value) if isinstance(part, Reg)]
        return frozenset().union(*(self.registers[name].loads for name in names if name in self.registers))


class _Values(dict[str, Known]):
    """What registers hold, as expressions see them: nobody looks at a value that is left open."""

    def __init__(self, registers: Mapping[str, _Held]) -> None:
        super().__init__({name: held.value for name, held in registers.items()
                          if not isinstance(held.value, Returned)})


class _Unfolder:
    """One thread."""

    def __init__(self, number: int, thread: Thread, domain: Domain, bounds: Bounds, every: bool,
                 events: list[Event]) -> None:
        self.number = number
        self.thread = thread
        self.domain = domain
        self.bounds = bounds
        self.events = events
        self.steps = thread.instructions
        self.labels = {step.name: at for at, step in enumerate(self.steps) if isinstance(step, Label)}
        self.idle = [isinstance(step, Branch) and self._comes_next(at, step) for at, step in enumerate(self.steps)]
        operands = {operand for step, idle in zip(self.steps, self.idle, strict=True) if not idle
                    for operand in looks_at(step)}
        self.looked_at = {str(operand) for operand in operands}
        self.split = [reads(step) and (every or sets(step) in self.looked_at or Old() in looks_at(step))
                      for step in self.steps]

    def _comes_next(self, at: int, jump: Branch) -> bool:
        """Does a jump lead where the thread goes anyway, so that it only makes for a dependency?"""
        target = self.labels[jump.target]
        return target > at and all(isinstance(step, Label) for step in self.steps[at + 1:target])

    def run(self) -> list[End]:
        ends: list[End] = []
        start = {name: _Held(value) for name, value in self.thread.constants.items()}
        todo = self._ways(_State(0, start), ends)[::-1]
        while todo:
            todo += self._ways(self._event(todo.pop()), ends)[::-1]  # values from low to high
        return ends

    def _ways(self, state: _State, ends: list[End]) -> list[_State]:
        """Goes on to the next event: a state for each value of a load that is split, none where the thread ends."""
        while state.at < len(self.steps):
            step = self.steps[state.at]
            try:
                if isinstance(step, Move):
                    held = _Held(state.value(step.value), state.loads(step.value))
                    state = replace(state, at=state.at + 1, registers={**state.registers, step.register: held})
                elif isinstance(step, Branch):
                    taken = self._jump(state, step)
                    if taken is None:
                        ends.append(_end(state, cut=True))
                        return []
                    state = taken
                elif isinstance(step, Label):
                    state = replace(state, at=state.at + 1)
                else:
                    return self._split(state, step)
            except Uncomputable as error:
                raise Unfoldable(f"{self.thread.name}: {error}", step.line) from None
        ends.append(_end(state))
        return []

    def _jump(self, state: _State, step: Branch) -> _State | None:
        """After a jump; None where the loop has gone round often enough."""
        ctrl = state.ctrl | state.loads(step.condition)
        if self.idle[state.at]:
            return replace(state, at=state.at + 1, ctrl=ctrl)
        target = self.labels[step.target]
        if target < state.at and self.bounds.unroll is None:
            raise Unfoldable(f"{self.thread.name} jumps back to {step.target}: loops need a bound, as in --unroll 2",
                             step.line)
        if state.value(step.condition) == 0:
            return replace(state, at=state.at + 1, ctrl=ctrl)
        if target > state.at:
            return replace(state, at=target, ctrl=ctrl)
        if state.rounds.count(state.at) + 1 >= (self.bounds.unroll or 0):
            return None
        return replace(state, at=target, ctrl=ctrl, rounds=(*state.rounds, state.at))

    def _split(self, state: _State, step: Instruction | Access) -> list[_State]:
        """The values that a load can return, or the status of a store-conditional: a state for each."""
        if isinstance(step, Access) and step.conditional:
            alone = state.reserved is None or state.reserved[1] != self._location(state, step)
            return [replace(state, returns=FAILED)] if alone else [
                replace(state, returns=status, certain=False) for status in (STORED, FAILED)]
        if not self.split[state.at]:
            return [state]
        values = self.domain.returned(self._location(state, step), (self.number, *state.step))
        return [replace(state, returns=value, certain=False) for value in values]

    def _location(self, state: _State, step: Instruction | Access) -> str:
        assert not isinstance(step, Fence)
        if not isinstance(step, Access):
            return step.location
        address = state.value(step.address)
        if not isinstance(address, Address):
            raise Unfoldable(f"{self.thread.name} would access the number {address}, which is no location", step.line)
        return str(address)

    def _event(self, state: _State) -> _State:
        """Carries out the step, which is an event."""
        step = self.steps[state.at]
        assert not isinstance(step, Move | Branch | Label)
        number = len(self.events)
        if number >= MOST_EVENTS:
            raise Unfoldable(f"there are more than {MOST_EVENTS} events: every load multiplies what follows it; look "
                             "at fewer values, as in --values 0..1")
        conditional = isinstance(step, Access) and step.conditional
        if conditional and state.returns == FAILED:
            self.events.append(Event(number, self.number, Failed(step.line), state.before, None, state.certain))
            return self._after(state, number, step, _Held(FAILED))
        instruction = self._carried_out(state, step)
        addr, data = (state.loads(step.address), state.loads(step.value or 0)) if isinstance(step, Access) else ((), ())
        self.events.append(Event(
            number, self.number, instruction, state.before, None if conditional else state.returns, state.certain,
            tuple(sorted(addr)), tuple(sorted(data)), tuple(sorted(state.ctrl)),
            state.reserved[0] if conditional and state.reserved else None, state.step))
        if isinstance(instruction, Load) and instruction.marks & EXCLUSIVE:
            state = replace(state, reserved=(number, instruction.location))
        value = Returned(number) if state.returns is None else _held(state.returns)
        return self._after(state, number, step, _Held(value, frozenset({number})))

    def _after(self, state: _State, number: int, step: Instruction | Access, result: _Held) -> _State:
        """With what the step puts into its register."""
        register = sets(step)
        registers = {**state.registers, register: result} if register else state.registers
        reserved = None if isinstance(step, Access) and step.conditional else state.reserved
        return replace(state, at=state.at + 1, registers=registers, before=number, returns=None, reserved=reserved)

    def _carried_out(self, state: _State, step: Instruction | Access) -> Instruction:
        """The instruction with its values."""
        if not isinstance(step, Access):
            return step
        try:
            location, value = self._location(state, step), state.value(step.value or 0, _held(state.returns or 0))
        except Uncomputable as error:
            raise Unfoldable(f"{self.thread.name}: {error}", step.line) from None
        return step.done(location, Pointer(value) if isinstance(value, Address) else value)


def _held(value: int) -> Known:
    """A value of memory in a register."""
    return value.address if isinstance(value, Pointer) else value


def _end(state: _State, cut: bool = False) -> End:
    return End(state.before, {name: held.value for name, held in state.registers.items()}, cut)


def values_of(text: str) -> tuple[int, ...]:
    """The values of `0..2`, `0,1,42` or `0..2,42`. Raises ValueError."""
    found: set[int] = set()
    for part in text.split(","):
        low, dots, high = part.partition("..")
        first = parse_number(low)
        last = parse_number(high) if dots else first
        if last < first or last - first >= MOST_GIVEN:
            raise ValueError(f"{part!r} is no range of up to {MOST_GIVEN} values, from low to high")
        found |= set(range(first, last + 1))
    return tuple(sorted(found))


def values_text(values: Sequence[int]) -> str:
    """`0..2`, `0, 42`."""
    whole = len(values) > 1 and list(values) == list(range(values[0], values[-1] + 1))
    return f"{values[0]}..{values[-1]}" if whole else ", ".join(map(str, values))
