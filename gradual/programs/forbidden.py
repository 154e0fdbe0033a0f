"""Why a model forbids an outcome: one way of reaching it, and the cycle it closes."""

from __future__ import annotations

import gradual
from gradual.evidence.verdict import Verdict
from gradual.history import History
from gradual.programs import axioms
from gradual.programs.condition import Proposition, places
from gradual.programs.executions import Execution, Executions
from gradual.programs.program import Program
from gradual.programs.trace import event_text, has_history, history_of

WEAKER = {"sc": ("tso", "pso", "generic"), "tso": ("pso", "generic"), "pso": ("generic",), "generic": ()}
"""Where to look for the outcome: an execution that the next model allows shows best what this one forbids."""

NOBODY = "no load can return these values and no location can end with them, whatever the order: nobody stores them"
SEVERAL = "loads can get there from different stores; every way is forbidden, and this is one:"


Violation = tuple[Verdict, History]
"""A history with the forbidden outcome, and the verdict on it."""


def explain(program: Program, model: str, proposition: Proposition) -> tuple[list[str], Violation | None]:
    """Why no execution of the model satisfies the proposition: line by line, and as a violation where a history can
    show it."""
    execution = _elsewhere(program, model, proposition)
    if execution is None:
        return [NOBODY], None
    several = [SEVERAL] if Executions(program, "generic").reads_otherwise(proposition, execution) else []
    verdict, history = _checked(program, model, execution, proposition)
    if not verdict:
        return [*several, *gradual.explain(verdict, history).splitlines()], (verdict, history)
    assert not has_history(program, model), "only a fence that a history cannot hold may forbid this"
    return [*several, *_cycle(program, model, execution)], None


def _elsewhere(program: Program, model: str, proposition: Proposition) -> Execution | None:
    """An execution that satisfies the proposition, under the strongest model that has one."""
    found = (Executions(program, weaker).satisfying(proposition) for weaker in WEAKER[model])
    return next((execution for execution in found if execution is not None), None)


def _checked(program: Program, model: str, execution: Execution, proposition: Proposition) -> tuple[Verdict, History]:
    final = [place for place in places(proposition) if isinstance(place, str)]
    history = history_of(program, execution, model, final=final)
    own = history_of(program, execution, model, final=final, own_values=True)  # or equal values hide who read what
    return gradual.check(own, model), history


def _cycle(program: Program, model: str, execution: Execution) -> list[str]:
    """For one execution: its store order is fixed, so the cycle needs no reasons."""
    arrows = axioms.cycle(program, execution, model)
    text = [event_text(program, program.events[arrow.end], execution) for arrow in arrows]
    return ["in one execution with this outcome, these cannot all come one after the other:", f"       {text[-1]}",
            *(f"  {arrow.kind} → {end}" for arrow, end in zip(arrows, text, strict=True))]
