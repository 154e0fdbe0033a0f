"""Why a model forbids an outcome: one way of reaching it, and the cycle it closes."""

from __future__ import annotations

from gradual.history import History
from gradual.programs import axioms
from gradual.programs.condition import Proposition, places
from gradual.programs.executions import Execution, Executions
from gradual.programs.program import Program
from gradual.programs.trace import event_text, has_history, history_of
from gradual.verdict import Verdict

WEAKER = {"sc": ("tso", "pso", "generic"), "tso": ("pso", "generic"), "pso": ("generic",), "generic": ()}
"""Where to look for the outcome: an execution that the next model allows shows best what this one forbids."""

SEVERAL = "loads can get there from different stores; every way is forbidden, and this is one:"


def explain(program: Program, model: str, proposition: Proposition) -> list[str]:
    """Why no execution of the model satisfies the proposition, line by line."""
    execution = _elsewhere(program, model, proposition)
    if execution is None:
        return ["no load can return these values and no location can end with them, whatever the order: nobody stores "
                "them"]
    several = Executions(program, "generic").reads_otherwise(proposition, execution)
    return [*([SEVERAL] if several else []), *_why_not(program, model, execution, proposition)]


def svg(program: Program, model: str, proposition: Proposition) -> str | None:
    """The same as a picture; None where no history can show it."""
    from gradual import explanation

    execution = _elsewhere(program, model, proposition)
    if execution is None:
        return None
    verdict, history = _checked(program, model, execution, proposition)
    return None if verdict else explanation.svg(explanation.shortened(verdict, history), history)


def _elsewhere(program: Program, model: str, proposition: Proposition) -> Execution | None:
    """An execution that satisfies the proposition, under the strongest model that has one."""
    found = (Executions(program, weaker).satisfying(proposition) for weaker in WEAKER[model])
    return next((execution for execution in found if execution is not None), None)


def _checked(program: Program, model: str, execution: Execution, proposition: Proposition) -> tuple[Verdict, History]:
    import gradual

    final = [place for place in places(proposition) if isinstance(place, str)]
    history = history_of(program, execution, model, final=final)
    return gradual.check(history, model), history


def _why_not(program: Program, model: str, execution: Execution, proposition: Proposition) -> list[str]:
    import gradual

    verdict, history = _checked(program, model, execution, proposition)
    if not verdict:
        return gradual.explain(verdict, history).splitlines()
    assert not has_history(program, model), "only a fence that a history cannot hold may forbid this"
    return _cycle(program, model, execution)


def _cycle(program: Program, model: str, execution: Execution) -> list[str]:
    """For one execution: its store order is fixed, so the cycle needs no reasons."""
    arrows = axioms.cycle(program, execution, model)
    text = [event_text(program, program.events[arrow.end], execution) for arrow in arrows]
    return ["in one execution with this outcome, these cannot all come one after the other:", f"       {text[-1]}",
            *(f"  {arrow.kind} → {end}" for arrow, end in zip(arrows, text, strict=True))]
