"""Every run of a machine on a program: which outcomes it can end with, and a run for each.

A state holds no registers. What lies ahead of it, the set of future outcomes, is remembered, and a load adds its value
on the way back. An outcome is packed into one number.

Steps that other threads cannot notice are taken at once: a store enters its buffer, a fence passes when it may, a
probe leaves when it may. Taking them later only leaves less possible. The plain machine of the tests takes none early.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

from gradual.machines.code import Code, Outcome
from gradual.machines.components import COHERENCE, Machine

State = tuple[Any, ...]
Step = tuple[State, int, tuple[str, int, int]]
"""The next state, what a load adds to the outcome, and what happened: as the first three of a `Happening`."""


class Happening(NamedTuple):
    """A step of a run. `loads`: thread's load number `number` returns `value`; `arrives`: the store of that value
    reaches memory (or, with coherence queues, its place in the store order); `foretold`: a load that returns what is
    still to come; `passes`: a fence."""

    what: str
    thread: int
    number: int
    value: int = 0


class Stepping(Protocol):
    """What a machine can do with one program."""

    start: State

    def steps(self, state: State) -> Iterable[Step] | None:
        """What may happen next; None where nothing that matters is left. No step: stuck, the run does not count."""

    def end(self, state: State) -> int:
        """What a finished state adds to the outcome."""


class Exploration:
    """All runs of a machine on a program. With `final`, an outcome also has what these locations end with."""

    def __init__(self, machine: Machine, code: Code, final: tuple[int, ...] = ()) -> None:
        self.code = code
        self.length = code.loads + len(final)
        self._machine: Stepping
        if machine.has(COHERENCE):
            from gradual.machines.queues import Delivering

            self._machine = Delivering(machine, code, final)
        else:
            from gradual.machines.buffers import Buffering

            self._machine = Buffering(machine, code, final)
        self._ahead: dict[State, frozenset[int]] = {}

    def packed(self) -> frozenset[int]:
        return self._from(self._machine.start)

    def outcomes(self) -> frozenset[Outcome]:
        return frozenset(self.code.unpacked(outcome, self.length) for outcome in self.packed())

    def _from(self, state: State) -> frozenset[int]:
        found = self._ahead.get(state)
        if found is None:
            steps = self._machine.steps(state)
            if steps is None:
                found = frozenset((self._machine.end(state),))
            else:
                ahead: set[int] = set()
                for following, bits, _ in steps:
                    if bits:
                        ahead.update([outcome | bits for outcome in self._from(following)])
                    else:
                        ahead |= self._from(following)
                found = frozenset(ahead)
            self._ahead[state] = found
        return found

    def run(self, outcome: Outcome) -> list[Happening] | None:
        """A run that ends with the outcome; None if there is none."""
        wanted, state = self.code.packed(outcome), self._machine.start
        if wanted not in self._from(state):
            return None
        mask, run = (1 << self.code.bits) - 1, []
        while (steps := self._machine.steps(state)) is not None:
            state, _, (what, thread, number) = next(
                step for step in steps if any(ahead | step[1] == wanted for ahead in self._from(step[0]))
                and self._fits(step, wanted))
            value = wanted >> self.code.bits * number & mask if what in ("loads", "foretold") else 0
            run.append(Happening(what, thread, number, value))
            wanted &= ~(mask << self.code.bits * number) if what in ("loads", "foretold") else ~0
        return run

    def _fits(self, step: Step, wanted: int) -> bool:
        """A load of 0 adds no bits: then its place must be wanted empty."""
        _, bits, (what, _, number) = step
        mask = ((1 << self.code.bits) - 1) << self.code.bits * number
        return what not in ("loads", "foretold") or wanted & mask == bits


def outcomes(machine: Machine, code: Code) -> frozenset[Outcome]:
    """What a program can end with on a machine."""
    return Exploration(machine, code).outcomes()
