"""The verdict of a model on an event structure: no allowed outcome without evidence that has been checked, no forbidden
one without a second engine that says so too (unless the structure is too large for it, which is told)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal

from gradual.events.certificate import Certificate
from gradual.events.execution import Execution
from gradual.events.goal import Goal
from gradual.events.missing import Missing, missing
from gradual.events.models import RC11, EventModel
from gradual.events.structure import EventStructure, Justifies, unfold
from gradual.programs.condition import Not
from gradual.programs.instructions import Access, Rmw
from gradual.programs.program import Program
from gradual.programs.scan import ProgramError
from gradual.programs.unfolding import values_text

CONFIGURATIONS = 10_000
"""Up to here the explicit search goes first; beyond, SAT."""
REPEATED = 50_000
"""Up to here the explicit search repeats what SAT says to be forbidden."""
EVENTS = 40
"""Up to here sentences go first; beyond, clingo, which needs no closures."""

RULES = 3_000_000
"""About how many ground rules clingo is given at the most: a few seconds, and some hundred megabytes."""

Engine = Literal["explicit search", "CEGAR", "sentence", "clingo"]


@dataclass(frozen=True)
class Verdict:
    model: EventModel
    goal: Goal
    allowed: bool
    engines: tuple[Engine, ...]
    """Those that say so."""
    racy: bool = False
    """Allowed because of a race alone, or also: C++ promises nothing then."""
    play: list[int] | None = None
    """Of J+R: the moves, as masks."""
    execution: Execution | None = None
    broken: tuple[Execution, str] | None = None
    """Of a forbidden outcome: an execution with it, and what it breaks."""
    missing: Missing | None = None
    other: bool | None = None
    """Of J+R: whether the other reading of `justifies` allows it."""
    seconds: float = field(default=0.0, compare=False)

    @property
    def structure(self) -> EventStructure:
        return self.goal.structure

    @property
    def holds(self) -> bool:
        """Does the program's condition hold?"""
        return self.allowed == (self.structure.condition.quantifier == "exists")


class Disagreement(Exception):
    """Two engines, or an engine and the certificate, that say different things: a fault of ours."""


def decide(program: Program, model: EventModel, justifies: Justifies = "label", explained: bool = True) -> Verdict:
    """What the model says about the outcome that the program's condition asks about. Raises ProgramError."""
    started = time.perf_counter()
    _suits(program, model)
    goal = goal_of(program, "label" if model.executions else justifies)
    verdict = _executions(goal, model) if model.executions else _game(goal, model, explained)
    return replace(verdict, seconds=time.perf_counter() - started)


def goal_of(program: Program, justifies: Justifies = "label") -> Goal:
    """The outcome whose being reached decides the condition: of `forall`, one without it."""
    if program.condition is None:
        raise ProgramError("there is no condition to answer (exists, ~exists or forall)", program.file)
    proposition = program.condition.proposition
    return Goal(unfold(program), Not(proposition) if program.condition.quantifier == "forall" else proposition,
                justifies)


def _suits(program: Program, model: EventModel) -> None:
    if model.executions or program.condition is None:
        return
    for place in program.condition.places:
        if isinstance(place, str):
            raise ProgramError(f"{model} has no store order and cannot tell what {place} ends with; ask of registers",
                               program.file, program.condition.line)
    for thread in program.threads:
        for step in thread.instructions:
            if isinstance(step, Rmw) or (isinstance(step, Access) and None not in (step.value, step.register)):
                raise ProgramError(f"{model} has no rmw ({thread.name})", program.file, step.line)


# --- J+R


def _game(goal: Goal, model: EventModel, explained: bool) -> Verdict:
    play, engine = _played(goal)
    other = replace(goal, justifies="visible" if goal.justifies == "label" else "label")
    verdict = Verdict(model, goal, play is not None, (engine,), play=play, other=_played(other)[0] is not None)
    if play is not None:
        Certificate(goal).play(play)
        return verdict
    return replace(verdict, engines=_repeated(goal, engine), missing=missing(goal) if explained else None)


def _played(goal: Goal) -> tuple[list[int] | None, Engine]:
    from gradual.events.cegar import Cegar
    from gradual.events.explicit import Explicit

    if goal.structure.configurations <= CONFIGURATIONS:
        return Explicit(goal).play(), "explicit search"
    return Cegar(goal).play(), "CEGAR"


def _repeated(goal: Goal, first: Engine) -> tuple[Engine, ...]:
    """A forbidden goal, put to the other engine."""
    from gradual.events.cegar import Cegar
    from gradual.events.explicit import Explicit

    if first == "CEGAR" and goal.structure.configurations > REPEATED:
        return (first,)
    second: Engine = "explicit search" if first == "CEGAR" else "CEGAR"
    play = Explicit(goal).play() if first == "CEGAR" else Cegar(goal).play()
    if play is not None:
        raise Disagreement(f"{first} finds no play, {second} does")
    return first, second


# --- SC, RA, C++


def _executions(goal: Goal, model: EventModel) -> Verdict:
    _small_enough(goal, model)
    engines = _engines(goal, model)
    names = tuple(engines)
    certificate = Certificate(goal)
    if model.races and _may_race(goal):
        found = _both(engines, racy=True)
        if found is not None:
            certificate.execution(found, model.key, racy=True)
            return Verdict(model, goal, True, names[:1], racy=True, execution=found)
    found = _both(engines, racy=False)
    if found is not None:
        certificate.execution(found, model.key)
        return Verdict(model, goal, True, names[:1], execution=found)
    return Verdict(model, goal, False, names, broken=_broken(goal, model))


def _small_enough(goal: Goal, model: EventModel) -> None:
    from gradual.events.answer_sets import rules_expected

    if rules_expected(goal, closure=model.key != "sc") > RULES:
        raise ProgramError(f"the event structure ({len(goal.structure)} events) is too large for {model}: fewer values "
                           f"make it smaller (--values; now {values_text(goal.structure.values)})",
                           goal.structure.program.file)


def _may_race(goal: Goal) -> bool:
    return any(event.mode == "na" and event.thread >= 0 for event in goal.structure.events)


Search = Callable[[bool], Execution | None]
"""Looks for an execution that the model allows: with the outcome, or with a race."""


def _engines(goal: Goal, model: EventModel) -> dict[Engine, Search]:
    from gradual.events.answer_sets import some_execution

    def clingo(racy: bool) -> Execution | None:
        options = [*(["partial"] if racy else []), *(["no_thin_air"] if model == RC11 else [])]
        return some_execution(goal, "cpp" if model.races else model.key, *options)

    def sentence(racy: bool) -> Execution | None:
        from gradual.events.decide import model as model_of
        from gradual.events.formula import forget
        from gradual.events.sentences import Sentences

        forget()
        sentences = Sentences(goal)
        values = model_of(sentences.of(model, racy))
        return None if values is None else sentences.execution_of(values)

    return {"sentence": sentence, "clingo": clingo} if len(goal.structure) <= EVENTS else {"clingo": clingo}


def _both(engines: dict[Engine, Search], racy: bool) -> Execution | None:
    """An execution, from the first engine; where that finds none, no other may find one."""
    for name, search in engines.items():
        found = search(racy)
        if found is not None:
            if name != next(iter(engines)):
                raise Disagreement(f"{next(iter(engines))} finds no execution, {name} does")
            return found
    return None


def _broken(goal: Goal, model: EventModel) -> tuple[Execution, str] | None:
    """An execution with the outcome, whatever the model says, and what it breaks."""
    from gradual.events.answer_sets import some_execution

    found = some_execution(goal, "")
    return None if found is None else (found, Certificate(goal).breaks(found, model.key))
