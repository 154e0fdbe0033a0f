"""Why a model forbids an outcome: one way of reaching it, and the cycle it closes."""

from __future__ import annotations

from gradual.deciding import pipeline
from gradual.evidence.certificate import CertificateError
from gradual.evidence.verdict import Verdict
from gradual.history import History
from gradual.models import Model, load, shipped, weaker
from gradual.programs.axioms import Arrow, Axioms
from gradual.programs.condition import Proposition, places
from gradual.programs.executions import Arrival, Execution, Executions, Node, refusal
from gradual.programs.program import Program
from gradual.programs.trace import event_text, history_of
from gradual.telling import brief
from gradual.telling.broken import FAILS

NO_WAY = "no way through the program ends with these values%s, whatever the loads in it return"
FILTERED = " and as its filter demands"
SEVERAL = "loads can get there from different stores; every way is forbidden, and this is one:"


Violation = tuple[Verdict, History]
"""A history with the forbidden outcome, and the verdict on it."""


def explain(program: Program, model: str | Model, proposition: Proposition) -> tuple[list[str], Violation | None]:
    """Why no execution of the model satisfies the proposition: line by line, and as a violation where `check` can tell
    one."""
    lines, violation = _explain(program, load(model), proposition)
    return [_with_names(program, line) for line in lines], violation


def _with_names(program: Program, line: str) -> str:
    """Histories have addresses as numbers."""
    for pointer in program.pointers:
        line = line.replace(str(int(pointer)), str(pointer))
    return line


def _explain(program: Program, chosen: Model, proposition: Proposition) -> tuple[list[str], Violation | None]:
    execution = _elsewhere(program, chosen, proposition)
    if execution is None:
        return [NO_WAY % ("" if program.only is None else FILTERED)], None
    several = [SEVERAL] if _anything(program).reads_otherwise(proposition, execution) else []
    final = [place for place in places(proposition) if isinstance(place, str)]
    history = history_of(program, execution, final=final)
    verdict = _verdict(history, chosen)
    if verdict is not None and verdict.verdict == "violation":
        return [*several, *brief(verdict, history, chosen).splitlines()], (verdict, history)
    return [*several, *_failure(program, chosen, execution)], None


def _elsewhere(program: Program, model: Model, proposition: Proposition) -> Execution | None:
    """An execution that satisfies the proposition, under the strongest model that has one: an execution that the
    next model allows shows best what this one forbids."""
    found = (Executions(program, other).satisfying(proposition) for other in weaker(model)
             if not refusal(program, other))
    return next((execution for execution in found if execution is not None), None)


def _anything(program: Program) -> Executions:
    """All executions, by the weakest model: it forbids none."""
    return Executions(program, shipped()[-1])


def _verdict(history: History, model: Model) -> Verdict | None:
    """None where stores share a value: from their values alone nobody could tell who read which. And for a model that
    no trace is checked against."""
    if model.has_views:
        return None
    try:
        return pipeline.check(history, model)
    except CertificateError:
        return None


def _failure(program: Program, model: Model, execution: Execution) -> list[str]:
    """For one execution: its store order is fixed, so the cycle needs no reasons."""
    failure = Axioms(program, model).failure(execution)
    assert failure is not None, "the model forbids this execution"
    return [f"in one execution with this outcome, {FAILS[failure.kind]} ({failure.axiom}):",
            f"       {_text(program, execution, failure.arrows[0].start)}",
            *(_arrow(program, execution, arrow) for arrow in failure.arrows)]


def _arrow(program: Program, execution: Execution, arrow: Arrow) -> str:
    return f"  {arrow.kind} → {_text(program, execution, arrow.end)}"


def _text(program: Program, execution: Execution, event: Node) -> str:
    if isinstance(event, Arrival):
        return f"{_text(program, execution, event.store)} reaching {program.threads[event.thread].name}"
    if event < 0:
        return f"initial {program.locations[-1 - event]}"
    return event_text(program, program.events[event], execution)
