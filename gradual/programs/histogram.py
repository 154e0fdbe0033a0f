"""What litmus7 and klitmus print about the runs of tests: how often each state was seen. Many tests may be in one log.

    Test SB Allow
    Histogram (3 states)
    6     *>0:x2=1; 0:x9=0; 1:x7=0;
    999994:>0:x2=1; 0:x9=1; 1:x7=0;
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from gradual.history import InputError
from gradual.models import Model
from gradual.programs.condition import And, Equal, Place, Register, parse_place, parse_value
from gradual.programs.executions import Executions
from gradual.programs.expressions import Pointer
from gradual.programs.finish import has
from gradual.programs.forbidden import explain
from gradual.programs.litmus import REGISTERS
from gradual.programs.program import Program
from gradual.programs.scan import Cursor, ProgramError, tokens
from gradual.programs.text import thread_number

_TEST = re.compile(r"Test (\S+)")
_HISTOGRAM = re.compile(r"Histogram \((\d+) states?\)")
_HASH = re.compile(r"Hash=(\w+)")
_STATE = re.compile(r"\s*(\d+)\s*[:*]>(.*)")


@dataclass(frozen=True)
class State:
    """A line of a histogram."""

    text: str
    times: int
    line: int


@dataclass(frozen=True)
class Histogram:
    test: str
    file: str
    states: tuple[State, ...]
    hash: str = ""
    """What litmus7 and herd7 tell versions of a test apart by."""

    @property
    def times(self) -> int:
        return sum(state.times for state in self.states)


def recognises(head: str) -> bool:
    """Does a text begin as such a log does?"""
    return any(_HISTOGRAM.match(line) for line in head.splitlines())


def parse(lines: Iterable[str], file: str) -> Iterator[Histogram]:
    """The histograms of a log, by their tests. Raises InputError for one without a test, or that is not all there."""
    found: Histogram | None = None
    test, missing, number = "", 0, 0
    for number, line in enumerate(lines, 1):
        if found is not None and missing:
            state = _STATE.match(line)
            if state is None:
                raise _cut_off(found, missing, number)
            missing -= 1
            found = replace(found, states=(*found.states, State(state[2].strip(), int(state[1]), number)))
        elif named := _TEST.match(line):
            if found is not None:
                yield found
            test, found = named[1], None
        elif counted := _HISTOGRAM.match(line):
            if not test or found is not None:
                raise InputError("this histogram belongs to no test: a line `Test NAME` would stand before it", file,
                                 number)
            found, missing = Histogram(test, file, ()), int(counted[1])
        elif found is not None and (hashed := _HASH.match(line)):
            found = replace(found, hash=hashed[1])
    if found is not None and missing:
        raise _cut_off(found, missing, number)
    if found is not None:
        yield found


def _cut_off(found: Histogram, missing: int, line: int) -> InputError:
    states = len(found.states) + missing
    return InputError(f"the histogram of {found.test} has {states} states, and {len(found.states)} of them stand here: "
                      "the log is damaged, or ends too soon", found.file, line)


@dataclass
class Judged:
    """A state that was seen, which models allow it, and why the others do not."""

    state: State
    allowed: list[Model] = field(default_factory=list)
    why_not: dict[str, list[str]] = field(default_factory=dict)


class Judge:
    """A program under some models, asked about states."""

    def __init__(self, program: Program, models: Sequence[Model]) -> None:
        self.program = program
        self._executions = [Executions(program, model) for model in models]

    def states(self, histogram: Histogram) -> list[Judged]:
        """Raises InputError where a state speaks of what the program has not."""
        told = [[*state_values(self.program, state, histogram.file)] for state in histogram.states]
        for state, values in zip(histogram.states, told, strict=True):
            if dict(values).keys() != dict(told[0]).keys():
                raise InputError("this state tells other registers and locations than the first one of its histogram: "
                                 "the log is damaged", histogram.file, state.line, self.program.name)
        return [self._state(*one) for one in zip(histogram.states, told, strict=True)]

    def _state(self, state: State, values: Iterable[tuple[Place, int]]) -> Judged:
        proposition = And(tuple(self.program.meant(Equal(*said)) for said in values))
        found = Judged(state)
        for executions in self._executions:
            if executions.satisfying(proposition) is not None:
                found.allowed.append(executions.model)
        if not found.allowed:
            found.why_not = {executions.model.name: explain(self.program, executions.model, proposition)[0]
                             for executions in self._executions}
        return found


def state_values(program: Program, state: State, file: str) -> Iterator[tuple[Place, int]]:
    """What a state says, of a program. Raises InputError where that has no such register or location."""
    cursor = Cursor(tokens(state.text, file), file)
    if program.dialect in REGISTERS:
        cursor.rename(REGISTERS[program.dialect])
    try:
        while cursor.here.text:
            place = parse_place(cursor, lambda name, at: thread_number(name, at, list(program.threads)))
            if not (has(program, place) if isinstance(place, Register) else place in program.locations):
                raise cursor.error(f"the program has no {place}")
            cursor.expect("=", f"after {place}")
            value = parse_value(cursor)
            if isinstance(value, Pointer) and not program.speaks_of(value):
                raise cursor.error(f"the program has no {value}")
            yield place, value
            if cursor.here.text:
                cursor.expect(";", "after the value")
    except ProgramError as error:
        raise InputError(error.message, file, state.line, program.name) from None
