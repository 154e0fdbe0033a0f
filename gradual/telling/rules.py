"""What the text of a model calls a pair: the innermost name there is for a relation that holds it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from gradual.deciding.engine.parts import Parts
from gradual.evidence.events import Events, SomeOrder
from gradual.evidence.observed import Observed
from gradual.evidence.text import Text
from gradual.evidence.verdict import Cycle, Edge, Evidence, Origin, Path, Refutation, Scope
from gradual.history import READ, RMW, WRITE, History
from gradual.models import Model
from gradual.models.regular import alternatives
from gradual.models.syntax import Check, Expression, Name, Named, Plus, Union
from gradual.telling.words import one_buffer

PROGRAM_ORDER, AT_ONE_LOCATION = "po", "po-loc"
PLAIN = (PROGRAM_ORDER, AT_ONE_LOCATION, "ppo")
"""Names that say no more than that a thread's operations follow one another."""
DRAINS = "an rmw drains the store buffer"

Holds = Callable[[Expression], bool]


def named(evidence: Evidence | None, history: History, model: Model) -> Evidence | None:
    """The evidence with each edge of program order called as the model's text does."""
    cycles: tuple[object, ...] = evidence.cases if isinstance(evidence, Refutation) else (evidence,)
    if all(edge.rule for cycle in cycles if isinstance(cycle, Cycle) for edge in _program_order(cycle)):
        return evidence
    return _Naming(history, model).evidence(evidence)


def innermost(expression: Expression, holds: Holds) -> str:
    """The name furthest inside of what holds, or the words that the file has for it; empty where it has none."""
    if isinstance(expression, Union):
        return innermost(expression.left, holds) or innermost(expression.right, holds)
    if isinstance(expression, Named) and holds(expression):
        return expression.words or innermost(expression.of, holds) or expression.name
    return expression.name if isinstance(expression, Name) and holds(expression) else ""


def check_of(model: Model, axiom: Scope) -> Check:
    return next(check for check in model.checks if check.name == axiom)


def _program_order(cycle: Cycle) -> Iterator[Edge]:
    for path in (cycle.edges, *(step.path for step in cycle.steps)):
        yield from (edge for edge in path if edge.kind == "po")


class _Naming:
    def __init__(self, history: History, model: Model) -> None:
        self._history = history
        self._model = model
        self._origins: tuple[Origin, ...] = ()
        self._text: Text | None = None

    def evidence(self, evidence: Evidence | None) -> Evidence | None:
        if isinstance(evidence, Refutation):
            cases = tuple(self._cycle(case) if isinstance(case, Cycle) else case for case in evidence.cases)
            return replace(evidence, cases=cases)
        return self._cycle(evidence) if isinstance(evidence, Cycle) else evidence

    def _cycle(self, cycle: Cycle) -> Cycle:
        if cycle.origins != self._origins:
            self._origins, self._text = cycle.origins, None
        steps = tuple(replace(step, path=self._path(step.path, step.scope)) for step in cycle.steps)
        return replace(cycle, edges=self._path(cycle.edges, cycle.scope), steps=steps)

    def _path(self, path: Path, scope: Scope) -> Path:
        return tuple(replace(edge, rule=self._rule(edge, scope)) if edge.kind == "po" else edge for edge in path)

    def _rule(self, edge: Edge, scope: Scope) -> str:
        expression = check_of(self._model, scope).expression
        while isinstance(expression, Plus):
            expression = expression.of
        if Name(PROGRAM_ORDER) in alternatives(expression):
            return PROGRAM_ORDER
        found = innermost(expression, lambda of: self._has(of, edge)) or PROGRAM_ORDER
        return DRAINS if found in PLAIN and found != AT_ONE_LOCATION and self._drains(edge) else found

    def _drains(self, edge: Edge) -> bool:
        """Does an rmw keep the two in order by draining the one store buffer of its thread, where a store and a load
        could pass each other?"""
        kinds = tuple(self._history.kind[[edge.start, edge.end]].tolist())
        return one_buffer(self._model) and kinds in ((WRITE, RMW), (RMW, READ))

    def _has(self, expression: Expression, edge: Edge) -> bool:
        if self._text is None:  # it takes a pass over the history
            events = Events(Observed(self._history, self._origins))
            self._text = Text(events, SomeOrder(events, []))
        parts = Parts(self._history)
        return any(self._text.has(expression, a, b) for a in parts.of(edge.start) for b in parts.of(edge.end))
