"""The checks of a model on one execution: the one that fails, with a shortest cycle, or a run that satisfies them."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from gradual.models import Model
from gradual.models.clingo import derived
from gradual.programs.executions import Arrival, Execution, Executions, Node
from gradual.programs.program import Program

GLOBAL = "global"
"""The check that orders all events of a machine's run."""


@dataclass(frozen=True)
class Arrow:
    """`start` before `end`, by a rule of the model: its name there, or po, rf, co, fr."""

    kind: str
    start: Node
    end: Node


@dataclass(frozen=True)
class Failure:
    """A check that fails: the cycle, or the one pair that should not be."""

    axiom: str
    kind: str
    """acyclic, irreflexive, empty or views."""
    arrows: tuple[Arrow, ...]


class Axioms:
    """The checks of a model, to be looked at in the executions of one program."""

    def __init__(self, program: Program, model: str | Model) -> None:
        self._executions = Executions(program, model, compiled=derived)
        self.model = self._executions.model
        self.program = program

    def failure(self, execution: Execution) -> Failure | None:
        """A shortest reason for which the model forbids the execution; None where it allows it."""
        arrows = self._arrows(execution)
        failures = [Failure(check.name, check.kind, tuple(found)) for check in self.model.checks
                    if (found := _failing(check.kind, arrows[check.name]))]
        return min(failures, key=lambda failure: len(failure.arrows), default=None)

    def run(self, execution: Execution) -> list[int] | None:
        """The events in the order in which memory sees them, for the certificate to replay; None if there is none,
        or one for each thread."""
        arrows = self._arrows(execution)
        if any(_failing(check.kind, arrows[check.name]) for check in self.model.checks) or self.model.has_views:
            return None
        sorter: TopologicalSorter[Node] = TopologicalSorter(
            dict.fromkeys(self.program.seen(execution.events), ()))
        for arrow in arrows[GLOBAL]:
            if isinstance(arrow.start, int) and arrow.start >= 0:
                sorter.add(arrow.end, arrow.start)
        try:
            return [event for event in sorter.static_order() if isinstance(event, int)]
        except CycleError:
            return None

    def _arrows(self, execution: Execution) -> dict[str, list[Arrow]]:
        found: dict[str, list[Arrow]] = defaultdict(list)
        for axiom, rule, start, end in sorted(self._executions.edges(execution), key=_place):
            found[axiom].append(Arrow(rule, start, end))
        return found


def _place(edge: tuple[str, str, Node, Node]) -> tuple[str, str, tuple[int, int], tuple[int, int]]:
    axiom, rule, start, end = edge
    return axiom, rule, _number(start), _number(end)


def _number(node: Node) -> tuple[int, int]:
    return node if isinstance(node, Arrival) else (node, -1)


def _failing(kind: str, arrows: list[Arrow]) -> list[Arrow]:
    if kind in ("acyclic", "views"):
        return _shortest_cycle(arrows)
    return [arrow for arrow in arrows if kind == "empty" or arrow.start == arrow.end][:1]


def _shortest_cycle(arrows: Iterable[Arrow]) -> list[Arrow]:
    following = defaultdict(list)
    for arrow in arrows:
        following[arrow.start].append(arrow)
    cycles = [path for start in sorted(following, key=_number) if (path := _back_to(start, following))]
    return min(cycles, key=len, default=[])


def _back_to(start: Node, following: dict[Node, list[Arrow]]) -> list[Arrow]:
    """Breadth first, so that the way back is a shortest one."""
    reached: dict[Node, list[Arrow]] = {start: []}
    todo = deque([start])
    while todo:
        at = todo.popleft()
        for arrow in following.get(at, ()):
            if arrow.end == start:
                return [*reached[at], arrow]
            if arrow.end not in reached:
                reached[arrow.end] = [*reached[at], arrow]
                todo.append(arrow.end)
    return []
