"""Verdicts on event structures in words and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from gradual.events.execution import Execution
from gradual.events.missing import Missing
from gradual.events.structure import INITIAL, EventStructure, members
from gradual.events.verdict import Verdict
from gradual.history import value_text
from gradual.programs.unfolding import values_text

OTHER = {"label": "visible", "visible": "label"}
MANY = 12
"""Threads of a run that are told."""


def event_text(structure: EventStructure, number: int, thread: bool = False) -> str:
    """`R x=1 (P0, line 4)`."""
    event = structure.events[number]
    if event.thread == INITIAL:
        return f"initial {event.location}={value_text(event.value)}"
    what = f"fence {event.mode}" if event.kind == "F" else f"{event.kind} {event.location}={value_text(event.value)}"
    place = ([_name(structure, event.thread)] if thread else []) + ([f"line {event.line}"] if event.line else [])
    return f"{what} ({', '.join(place)})" if place else what


def _with_thread(structure: EventStructure, number: int) -> str:
    return event_text(structure, number, thread=True)


def _name(structure: EventStructure, thread: int) -> str:
    return structure.program.threads[thread].name


def lines(verdict: Verdict) -> list[str]:
    structure, condition = verdict.structure, verdict.structure.condition
    reading = "" if verdict.model.executions else f" (justifies: {verdict.goal.justifies})"
    return [f"Model {verdict.model}{reading}",
            f"Test {structure.program.name} {condition.kind}",
            f"Structure {len(structure)} events, {structure.configurations} configurations, values "
            f"{values_text(structure.values)}",
            "Ok" if verdict.holds else "No",
            f"Condition {condition}",
            *evidence(verdict),
            *(f"Note: {note}" for note in [*other_reading(verdict), *structure.program.notes]),
            f"Time {structure.program.name} {verdict.seconds:.3f}"]


def other_reading(verdict: Verdict) -> Iterator[str]:
    if verdict.other is not None and verdict.other != verdict.allowed:
        says = "allows" if verdict.other else "forbids"
        yield (f"with the other reading of justification (--justifies {OTHER[verdict.goal.justifies]}) {verdict.model} "
               f"{says} it")


def evidence(verdict: Verdict) -> list[str]:
    asked = "an outcome without it" if verdict.structure.condition.quantifier == "forall" else "the outcome"
    if verdict.racy:
        return [f"Allowed: {verdict.model} promises nothing, as the program is racy; one execution with a race:",
                *_execution(verdict.structure, verdict.execution)]
    if verdict.play is not None:
        moves = len(verdict.play) - 1
        return [f"Allowed: {asked} is justified in {moves} move{'' if moves == 1 else 's'} (each was replayed against "
                "all that the other threads can do):", *_play(verdict)]
    if verdict.execution is not None:
        return [f"Allowed: one execution with {asked} (checked by the definitions):",
                *_execution(verdict.structure, verdict.execution)]
    return [f"Forbidden: {asked} is out of reach ({_by(verdict)})", *_why_not(verdict)]


def _by(verdict: Verdict) -> str:
    if len(verdict.engines) > 1:
        return f"decided by {' and '.join(verdict.engines)}"
    return f"decided by {verdict.engines[0]} alone: this is too large for another engine to repeat it"


def _play(verdict: Verdict) -> Iterator[str]:
    structure = verdict.structure
    justifying = structure.justifies(verdict.goal.justifies)
    for number, (p, q) in enumerate(pairwise(verdict.play or [])):
        yield f"    {number + 1}. {_run(structure, q & ~p)}"
        for read in members(q & ~p & structure.reads):
            there = justifying[read] & p
            whose = _choices(structure, there or justifying[read])
            how = "is there" if there else "is sure to come, whatever the other threads do"
            yield f"         {event_text(structure, read)} is justified: {whose} {how}"


def _choices(structure: EventStructure, events: int) -> str:
    """Writes, each line once, however many ways lead there."""
    return " or ".join(dict.fromkeys(_with_thread(structure, event) for event in members(events)))


def _run(structure: EventStructure, events: int) -> str:
    """What each thread does."""
    threads: dict[int, list[str]] = {}
    for event in members(events & ~structure.initial):
        threads.setdefault(structure.events[event].thread, []).append(event_text(structure, event))
    told = [f"{_name(structure, thread)}: {', '.join(done)}" for thread, done in threads.items()]
    return "; ".join(told[:MANY]) + (f"; and {len(told) - MANY} threads more" if len(told) > MANY else "") or "nothing"


def _why_not(verdict: Verdict) -> list[str]:
    if verdict.missing is not None:
        return list(_missing(verdict.structure, verdict.missing))
    if verdict.broken is None:
        return [] if not verdict.model.executions else ["    no execution gives these values at all"]
    execution, axiom = verdict.broken
    return [f"    every execution with these values breaks an axiom; in this one, {axiom}:",
            *_execution(verdict.structure, execution)]


def _missing(structure: EventStructure, found: Missing) -> Iterator[str]:
    if found.ending is None:
        yield "    no way through the program ends so, whatever its loads return"
        return
    if not found.justified:
        for read, _ in found.reads:
            yield f"    {_with_thread(structure, read)} has no store to read from where the threads end so"
        return
    if found.played != structure.initial:
        yield f"    it can be justified that {_run(structure, found.played)}; but then:"
    for terminal in dict.fromkeys(terminal for _, terminal in found.reads):
        for event in (structure.events[read] for read, other in found.reads if other == terminal):
            yield (f"    {_with_thread(structure, event.number)} is not justified: the threads can go on so that "
                   f"nobody stores {value_text(event.value)} to {event.location}:")
        yield f"        {_run(structure, terminal)}"


def _execution(structure: EventStructure, execution: Execution | None) -> list[str]:
    assert execution is not None
    told = [f"    {_run(structure, execution.events)}"]
    told += [f"    rf  {_with_thread(structure, write)} → {_with_thread(structure, read)}"
             for read, write in sorted(execution.rf.items())]
    writes = {a for pair in execution.co for a in pair if structure.events[a].thread != INITIAL}
    for location in dict.fromkeys(structure.events[write].location for write in sorted(writes)):
        here = [write for write in writes if structure.events[write].location == location]
        here.sort(key=lambda write: sum((other, write) in execution.co for other in here))
        if len(here) > 1:
            told.append(f"    co  {' → '.join(_with_thread(structure, write) for write in here)}")
    return told


def record(verdict: Verdict) -> dict[str, Any]:
    """For programs."""
    structure = verdict.structure
    program = structure.program
    found: dict[str, Any] = {
        "program": program.name, "source": program.file, "model": verdict.model.key,
        "condition": str(structure.condition), "holds": verdict.holds,
        "verdict": "allowed" if verdict.allowed else "forbidden", "racy": verdict.racy,
        "events": len(structure), "configurations": structure.configurations, "values": list(structure.values),
        "values_left_out": list(program.left_out), "cut": program.cut, "decided_by": list(verdict.engines)}
    if not verdict.model.executions:
        found |= {"justifies": verdict.goal.justifies, "moves": _moves(verdict)}
    if verdict.other is not None:
        found["other_reading"] = "allowed" if verdict.other else "forbidden"
    return found | {"evidence": evidence(verdict), "notes": [*other_reading(verdict), *program.notes], "complete": True,
                    "seconds": round(verdict.seconds, 6)}


def _moves(verdict: Verdict) -> list[list[str]] | None:
    if verdict.play is None:
        return None
    return [[_with_thread(verdict.structure, event) for event in members(q & ~p)] for p, q in pairwise(verdict.play)]
