"""Runs each thread of a program for every value that its loads might return: a tree of events per thread.

A load has one event for each value, and each goes on with its own registers; where nobody looks at what it
returned, one event serves for all, unless every load is to be told apart. A store or a fence is one event; moves and
jumps are none. A program without data flow unfolds into itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from gradual.history import parse_number
from gradual.programs.expressions import Address, Known, Old, Uncomputable, Value, evaluate, operands
from gradual.programs.instructions import (
    Access,
    Branch,
    Fence,
    Instruction,
    Label,
    Load,
    Move,
    Rmw,
    Store,
    Thread,
    looks_at,
    sets,
)

MOST_EVENTS = 100_000
"""An unfolding that would have more is refused."""
MOST_VALUES = 16
"""Values that are found by themselves; where there are more, they must be given."""
MOST_GIVEN = 1000
"""Values of a range that is given."""


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
    instruction: Instruction
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


def domain(threads: Sequence[Thread], bounds: Bounds, start: Iterable[int]) -> tuple[int, ...]:
    """The values that loads may return: those given, or the least set with `start` and all that is then stored."""
    if bounds.values is not None:
        return bounds.values
    values = set(start)
    while True:
        new = unfold(threads, tuple(sorted(values)), bounds).written() - values
        if not new:
            return tuple(sorted(values))
        values |= new
        if len(values) > MOST_VALUES:
            known = ", ".join(map(str, sorted(values)[:6]))
            raise Unfoldable(f"loads might return more than {MOST_VALUES} values ({known}, …): say which to look at, "
                             "as in --values 0..2")


def unfold(threads: Sequence[Thread], values: tuple[int, ...], bounds: Bounds, every: bool = False) -> Unfolding:
    """With `every`, each load has an event per value, even where nobody looks at it. Raises Unfoldable."""
    events: list[Event] = []
    ends = tuple(tuple(_Unfolder(number, thread, values, bounds, every, events).run())
                 for number, thread in enumerate(threads))
    return Unfolding(tuple(events), ends)


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

    def value(self, value: Value, old: int = 0) -> Known:
        return evaluate(value, _Values(self.registers), old)

    def loads(self, value: Value) -> frozenset[int]:
        names = [operand.name for operand in operands(value) if not isinstance(operand, Old)]
        return frozenset().union(*(self.registers[name].loads for name in names if name in self.registers))


class _Values(dict[str, Known]):
    """What registers hold, as expressions see them: nobody looks at a value that is left open."""

    def __init__(self, registers: Mapping[str, _Held]) -> None:
        super().__init__({name: held.value for name, held in registers.items()
                          if not isinstance(held.value, Returned)})


class _Unfolder:
    """One thread."""

    def __init__(self, number: int, thread: Thread, values: tuple[int, ...], bounds: Bounds, every: bool,
                 events: list[Event]) -> None:
        self.number = number
        self.thread = thread
        self.values = values
        self.bounds = bounds
        self.events = events
        self.steps = thread.instructions
        self.labels = {step.name: at for at, step in enumerate(self.steps) if isinstance(step, Label)}
        operands = {operand for step in self.steps for operand in looks_at(step)}
        self.looked_at = {str(operand) for operand in operands}
        self.split = [every or sets(step) in self.looked_at or Old() in looks_at(step) for step in self.steps]

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
        reads = isinstance(step, Load | Rmw) or (isinstance(step, Access) and step.register is not None)
        if not reads or not self.split[state.at]:
            return [state]
        return [replace(state, returns=value, certain=False) for value in self.values]

    def _event(self, state: _State) -> _State:
        """Carries out the step, which is an event."""
        step = self.steps[state.at]
        assert not isinstance(step, Move | Branch | Label)
        number = len(self.events)
        if number >= MOST_EVENTS:
            raise Unfoldable(f"there are more than {MOST_EVENTS} events for the values {values_text(self.values)}: "
                             "every load multiplies what follows it; look at fewer values, as in --values 0..1")
        instruction, addr, data = self._carried_out(state, step)
        self.events.append(Event(number, self.number, instruction, state.before, state.returns, state.certain,
                                 addr, data, tuple(sorted(state.ctrl))))
        registers = state.registers
        if isinstance(instruction, Load | Rmw):
            value = Returned(number) if state.returns is None else state.returns
            registers = {**registers, instruction.register: _Held(value, frozenset({number}))}
        return replace(state, at=state.at + 1, registers=registers, before=number, returns=None)

    def _carried_out(self, state: _State,
                     step: Instruction | Access) -> tuple[Instruction, tuple[int, ...], tuple[int, ...]]:
        """The instruction with its values, and the loads that its address and its value depend on."""
        if not isinstance(step, Access):
            return step, (), ()
        try:
            address, value = state.value(step.address), state.value(step.value or 0, state.returns or 0)
        except Uncomputable as error:
            raise Unfoldable(f"{self.thread.name}: {error}", step.line) from None
        if not isinstance(address, Address):
            raise Unfoldable(f"{self.thread.name} would access the number {address}, which is no location", step.line)
        if not isinstance(value, int):
            raise Unfoldable(f"{self.thread.name} would store the address {value}: only numbers can be stored here",
                             step.line)
        return (step.done(str(address), value), tuple(sorted(state.loads(step.address))),
                tuple(sorted(state.loads(step.value or 0))))


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
