"""The evidence of a violation in short, as `gradual check` prints it: the arrows of a cycle, and why they hold."""

from __future__ import annotations

from collections.abc import Iterator

from gradual.evidence.verdict import Broken, Cycle, Edge, Evidence, Path, Refutation, Step
from gradual.history import INITIAL, History
from gradual.models import Model
from gradual.telling.broken import event_text, failure
from gradual.telling.observations import Observation, observed
from gradual.telling.rules import PLAIN, named
from gradual.telling.words import held_pair, opening, pairs_tried, rotated, walk

SHOWN = 12
"""Pairs of a search that are named one by one."""


def lines(evidence: Evidence | None, history: History, model: Model) -> list[str]:
    """Line by line; nothing for any other verdict."""
    if isinstance(evidence, Observation):
        return observed(evidence, history)
    found = named(evidence, history, model)
    if isinstance(found, Cycle):
        return [*_cycle(rotated(found.edges), history), *_because(found, history)]
    return list(_refutation(found, history, model)) if isinstance(found, Refutation) else []


def _cycle(edges: Path, history: History) -> Iterator[str]:
    yield "these cannot all come one after the other:"
    yield f"       {history.describe(edges[0].start)}"
    for edge in edges:
        back = ": back at the start" if edge is edges[-1] else ""
        yield f"  {edge.kind} → {history.describe(edge.end)}   {_reason(edge, history)}{back}"


def _reason(edge: Edge, history: History) -> str:
    if edge.kind == "po":
        return "later in the same thread" + ("" if edge.rule in PLAIN else f", {edge.rule}")
    if edge.kind == "wr":
        return "reads that value"
    if edge.kind == "ww":
        at = int(history.location[edge.end])
        if history.final[at] == edge.end:
            return f"is stored last: {history.locations[at]} is left with it (line {history.final_line[at]})"
        return "is stored later"
    if history.source[edge.start] == INITIAL:
        return "overwrites the initial value that was read"
    return "overwrites the value that was read"


def _because(cycle: Cycle, history: History) -> Iterator[str]:
    if cycle.steps:
        yield "where the store order follows, step by step:"
    for step in cycle.steps:
        yield f"  {history.what(step.before)} is stored before {history.what(step.after)}, because"
        yield f"    {_path(step, history)}"


def _path(step: Step, history: History) -> str:
    text = walk(step.path, history)
    if pair := held_pair(step, history):
        load, store = map(history.what, pair)
        return f"{text}, and no other thread stores between what {load} read and {store}"
    if step.path[-1].end != step.after:
        text += f", which read {history.what(step.after)} and nothing newer"
    return text


def _refutation(refutation: Refutation, history: History, model: Model) -> Iterator[str]:
    pairs = pairs_tried(refutation)
    if pairs:
        yield f"{opening(refutation)}; the pairs:"
    for a, b in pairs[:SHOWN]:
        yield f"  {history.describe(a)}  and  {history.describe(b)}"
    if len(pairs) > SHOWN:
        yield f"  and {len(pairs) - SHOWN} more"
    shortest = min(refutation.cases, key=_length)
    if shortest.assumed:
        assumed = ", ".join(f"{history.what(a)} before {history.what(b)}" for a, b in shortest.assumed)
        yield f"for example, with {assumed}"
    if isinstance(shortest, Cycle):
        yield from _cycle(rotated(shortest.edges), history)
        yield from _because(shortest, history)
    else:
        yield from broken(shortest, history, model)


def _length(case: Cycle | Broken) -> int:
    return len(case.edges) + len(case.steps) if isinstance(case, Cycle) else len(case.assumed)


def broken(case: Broken, history: History, model: Model) -> Iterator[str]:
    """What a check of the model does not allow under the pairs that are assumed."""
    found = failure(history, model, case)
    yield found.opening
    yield f"       {event_text(history, found.arrows[0].start)}"
    for arrow in found.arrows:
        yield f"  {arrow.rule} → {event_text(history, arrow.end)}"
