"""What a program can do on the machine that a model names, instead of by its axioms."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace

from gradual.history import INITIAL
from gradual.machines.code import EXCHANGE, FENCE, LOAD, STORE, Code
from gradual.machines.code import Instruction as Step
from gradual.machines.components import Machine, MachineError, machine_of
from gradual.machines.exploring import Exploration
from gradual.models import Model
from gradual.programs.condition import Place
from gradual.programs.executions import Outcome, value_of
from gradual.programs.expressions import number_of
from gradual.programs.instructions import Fence, Load, Rmw, Store
from gradual.programs.observation import Observation
from gradual.programs.program import Program
from gradual.programs.scan import ProgramError
from gradual.programs.unfolding import Returned

NAMED = "operational:"
"""Before a model's name: its machine."""


def machine_named(model: Model) -> Machine:
    """Raises MachineError where the model names none, or one that is not understood."""
    if model.machine is None:
        raise MachineError(
            f"{model} names no machine: its file would, by (* machine: memory *) or the like after the title")
    return machine_of(model.machine)


class OnMachine:
    """A program as a machine runs it. Raises ProgramError for what machines do not know."""

    def __init__(self, program: Program, machine: Machine) -> None:
        if program.computes:
            raise ProgramError("machines run programs that store constants, one instruction after the other; this one "
                               "computes or branches: ask the axioms, without --operational", program.file)
        self._program = program
        self._locations = list(program.locations)
        self._stores = [event.number for event in program.events if event.writes]
        """The event of each value, from 1 on."""
        self._loads = {event.number: at for at, event in enumerate(program.loads)}
        self.code = Code(tuple(tuple(self._steps(number)) for number in range(len(program.threads))))
        self.code.locations = len(self._locations)
        self._final = [place for place in program.observed if isinstance(place, str)]
        try:
            self.exploration = Exploration(machine, self.code, tuple(map(self._locations.index, self._final)))
        except MachineError as error:
            raise ProgramError(str(error), program.file) from None

    def _steps(self, thread: int) -> list[Step]:
        found = []
        for instruction in self._program.threads[thread].instructions:
            if isinstance(instruction, Load | Store | Rmw):
                kind = {Load: LOAD, Store: STORE}.get(type(instruction), EXCHANGE)
                found.append((kind, self._locations.index(instruction.location)))
            elif instruction == Fence():
                found.append(FENCE)
            elif isinstance(instruction, Fence) and instruction.special != "i":
                raise ProgramError(f"the machines know full fences only, and this is {instruction}",
                                   self._program.file, instruction.line)
        return found

    def outcomes(self) -> Counter[Outcome]:
        return Counter({self._outcome(values) for values in self.exploration.outcomes()})

    def _outcome(self, values: tuple[int, ...]) -> Outcome:
        return tuple(self._ends_with(place, values) for place in self._program.observed)

    def _ends_with(self, place: Place, values: tuple[int, ...]) -> int:
        """The machine ends with a number for each load, then for each location that is asked about."""
        program = self._program
        if isinstance(place, str):
            return self._value(values[self.code.loads + self._final.index(place)], place)
        (end,) = program.ends[place.thread]
        held = end.registers.get(place.name, 0)
        if isinstance(held, Returned):
            return self._value(values[self._loads[held.load]], program.events[held.load].location or "")
        return number_of(held)

    def _value(self, store: int, location: str) -> int:
        return value_of(self._program, self._stores[store - 1] if store else INITIAL, location)


def outcomes(program: Program, model: Model) -> Observation:
    """Every outcome of the program on the model's machine. Raises ProgramError, MachineError."""
    started = time.perf_counter()
    machine = machine_named(model)
    running = OnMachine(program, machine)
    found = Observation(program, replace(model, name=f"{NAMED}{model.name}"), Counter())
    try:
        found.outcomes = running.outcomes()
    except KeyboardInterrupt:
        found.complete = False
    tally = found.outcomes or Counter()
    found.reached = any(map(found.satisfies, tally))
    found.missed = not all(map(found.satisfies, tally))
    if found.complete and program.condition is not None and not found.reached:
        found.why_not = [f"no run of this machine ends so, and every one was tried: {machine}"]
    found.seconds = time.perf_counter() - started
    return found
