"""A difference between two models, told: the test, why one side forbids the outcome, how the other reaches it."""

from __future__ import annotations

from gradual.contrast.litmus import program
from gradual.contrast.search import Difference
from gradual.contrast.sides import ByMachine, Side
from gradual.machines.code import Code
from gradual.machines.exploring import Exploration, Happening
from gradual.programs import litmus
from gradual.programs.executions import Execution, Executions
from gradual.programs.forbidden import explain
from gradual.programs.observe import execution_lines
from gradual.programs.program import Program
from gradual.programs.trace import event_text


class NotCertified(Exception):
    """A second opinion does not agree: a fault of ours."""


class Told:
    """A difference. Making it asks clingo, which knows nothing of how the difference was found, whether it agrees."""

    def __init__(self, difference: Difference) -> None:
        self.difference = difference
        self.program = program(difference.threads, difference.outcome)
        assert self.program.condition is not None
        self._asked = self.program.condition.proposition
        self._execution = self._certified(difference.allowed_by, True)
        self._certified(difference.forbidden_by, False)

    def _certified(self, side: Side, allowed: bool) -> Execution | None:
        if isinstance(side, ByMachine):
            return None
        execution = Executions(self.program, side.model).satisfying(self._asked)
        if (execution is not None) != allowed:
            raise NotCertified(f"{self.difference.program} with {self.difference.outcome}: clingo does not agree that "
                               f"{side.name} {'allows' if allowed else 'forbids'} it")
        return execution

    @property
    def litmus(self) -> str:
        """The text of a .litmus file."""
        return litmus.write(self.program)

    def why(self) -> list[str]:
        """The cycle that forbids it; of a machine, that of its model if that forbids it as well."""
        side = self.difference.forbidden_by
        lines = []
        if isinstance(side, ByMachine):
            lines = [f"no run of its machine ends so, and every one was tried: {side.machine}"]
            if Executions(self.program, side.model).satisfying(self._asked) is not None:
                return lines
        return [*lines, *explain(self.program, side.model, self._asked)[0]]

    def how(self) -> list[str]:
        """A run of the machine; without one, who reads from whom and the store order."""
        side = self.difference.allowed_by
        if side.machine is not None:
            run = Exploration(side.machine, Code(self.difference.threads)).run(self.difference.outcome)
            if run is not None:
                return [f"on its machine: {side.machine}", *_run_lines(self.program, run)]
        assert self._execution is not None
        return execution_lines(self.program, self._execution, 1)[1:]


def _run_lines(program: Program, run: list[Happening]) -> list[str]:
    """A line per step that others notice; a store stands where it reaches memory."""
    stores = [event for event in program.events if event.writes]
    values = [value for event in stores if (value := getattr(event.instruction, "value", 0))]
    nothing = Execution({load.number: -1 for load in program.loads}, {})
    lines, arrived = [], set()
    for step in run:
        name = program.threads[step.thread].name
        if step.what == "arrives":
            arrived.add(step.number)
            lines.append(f"  {event_text(program, stores[step.number - 1], nothing)} leaves its buffer")
        elif step.what == "passes":
            lines.append(f"  the fence of {name} passes")
        else:
            load = program.loads[step.number]
            if step.value and program.events[stores[step.value - 1].number].thread == step.thread and (
                    step.value not in arrived):
                where = "from its own buffer"
            elif step.what == "foretold":
                where = "before it is stored: a prophecy, to be kept"
            else:
                where = "" if step.value in arrived or not step.value else "early"
            lines.append(f"  R {load.location}={step.value} ({name}) {where}".rstrip())
    left = [event_text(program, event, nothing) for event, value in zip(stores, values, strict=True)
            if value not in arrived]
    return [*lines, *(["  and then, in any order they may: " + ", ".join(left)] if left else [])]
