"""A difference between two models, told: the test, why one side forbids the outcome, how the other reaches it."""

from __future__ import annotations

from gradual.contrast.litmus import program
from gradual.contrast.search import Difference
from gradual.contrast.sides import ByMachine, Side
from gradual.machines.code import Code
from gradual.machines.components import COHERENCE, Machine
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
        lines: list[str] = []
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
                return [f"on its machine: {side.machine}", *_Run(self.program, side.machine).lines(run)]
        assert self._execution is not None
        return execution_lines(self.program, self._execution, 1)[1:]


class _Run:
    """A run, a line per step that others notice; a store stands where it leaves its buffer."""

    def __init__(self, program: Program, machine: Machine) -> None:
        self._program = program
        self._machine = machine
        self._stores = [event for event in program.events if event.writes]
        self._latest: dict[str | None, int] = {}
        """What each location was given last."""
        self._arrived: set[int] = set()

    def lines(self, run: list[Happening]) -> list[str]:
        lines = [f"  {self._line(step)}" for step in run]
        left = [self._text(value) for value in range(1, len(self._stores) + 1) if value not in self._arrived]
        return [*lines, *([f"  after that: {', '.join(left)}"] if left else [])]

    def _text(self, value: int) -> str:
        return event_text(self._program, self._stores[value - 1], Execution((), {}, {}))

    def _line(self, step: Happening) -> str:
        thread = self._program.threads[step.thread].name
        if step.what == "passes":
            return f"the fence of {thread} passes"
        if step.what == "arrives":
            self._arrived.add(step.number)
            self._latest[self._stores[step.number - 1].location] = step.number
            return f"{self._text(step.number)} " + (
                "leaves its buffer" if self._machine.has(COHERENCE) else "reaches memory")
        load = self._program.loads[step.number]
        return f"R {load.location}={step.value} ({thread}){self._whence(step, load.location)}"

    def _whence(self, step: Happening, location: str | None) -> str:
        if step.what == "foretold":
            return ", foretold"
        if step.value and step.value not in self._arrived:
            return ", from its own buffer"
        if step.value == (latest := self._latest.get(location, 0)):
            return ""
        return (f", which {self._text(latest)} has not reached" if self._machine.has(COHERENCE)
                else ", an older value, still in its read set")
