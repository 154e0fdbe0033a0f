"""Finds out what a program can do under a model: every outcome, or only the answer to its question."""

from __future__ import annotations

import time
from collections import Counter

from gradual import models
from gradual.deadline import OutOfTime
from gradual.models import Model
from gradual.programs.condition import Not
from gradual.programs.executions import Execution, Executions, Outcome
from gradual.programs.forbidden import explain
from gradual.programs.observation import Observation
from gradual.programs.program import Program
from gradual.programs.trace import event_text

LISTED = 10**10
"""Programs with more executions (without any model) are only asked their question, unless told otherwise."""


def outcomes(program: Program, model: str | Model, show: int = 0, explained: bool = True) -> Observation:
    """Every outcome with its executions. After Ctrl-C or an alarm, what was found so far (`complete` is false then)."""
    started = time.perf_counter()
    tally: Counter[Outcome] = Counter()
    found = Observation(program, models.load(model), tally)
    try:
        executions = Executions(program, model)
        executions.outcomes(tally)
        found.shown = [line for number, execution in zip(range(show), executions, strict=False)
                       for line in execution_lines(program, execution, number + 1)]
    except (KeyboardInterrupt, OutOfTime) as stop:
        found.complete, found.late = False, isinstance(stop, OutOfTime)
    found.reached = any(map(found.satisfies, tally))
    found.missed = not all(map(found.satisfies, tally))
    if found.complete and explained:
        _explain(found)
    found.seconds = time.perf_counter() - started
    return found


def answer(program: Program, model: str | Model, explained: bool = True) -> Observation:
    """Only whether the condition's outcome can be reached and missed: two calls of the solver."""
    assert program.condition is not None
    started = time.perf_counter()
    executions = Executions(program, model)
    proposition = program.condition.proposition
    found = Observation(program, executions.model, None, executions.satisfying(proposition) is not None,
                        executions.satisfying(Not(proposition)) is not None)
    if explained:
        _explain(found)
    found.seconds = time.perf_counter() - started
    return found


def _explain(found: Observation) -> None:
    condition = found.program.condition
    if condition is not None and condition.quantifier != "forall" and not found.reached and found.model.checks:
        found.why_not, found.violation = explain(found.program, found.model, condition.proposition)


def execution_lines(program: Program, execution: Execution, number: int) -> list[str]:
    """An execution for people: who reads from whom, and the store orders with more than one store."""
    def store(event: int, location: str) -> str:
        return event_text(program, program.events[event], execution) if event >= 0 else f"initial {location}"

    lines = [f"Execution {number}"]
    for load, source in execution.rf.items():
        event = program.events[load]
        lines.append(f"    rf  {store(source, event.location or '')} → {event_text(program, event, execution)}")
    lines += [f"    co  {' → '.join(store(event, location) for event in order)}"
              for location, order in execution.co.items() if len(order) > 1]
    return lines
