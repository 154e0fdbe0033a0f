"""The evidence of a violation in short, as `gradual check` prints it: the arrows of a cycle, and why they hold."""

from __future__ import annotations

from collections.abc import Iterator

from gradual.deciding.engine.parts import Parts
from gradual.evidence.verdict import Broken, Cycle, Edge, Evidence, Path, Refutation, Step
from gradual.history import INITIAL, History
from gradual.models import Model
from gradual.telling.broken import event_text, failure
from gradual.telling.observations import Observation, final_line, observed
from gradual.telling.rules import PLAIN, named
from gradual.telling.words import (
    by_clock,
    by_trace,
    edge_bytes,
    held_pair,
    is_given,
    opening,
    origin_text,
    pairs_tried,
    read_as,
    reader_text,
    readers_tried,
    rotated,
    walk,
)

SHOWN = 12
"""Pairs and values of a search that are named one by one."""
EACH = 4
"""Cases that are all shown, where they are what a value can have come from."""


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
    part = edge_bytes(edge, history)
    if edge.kind == "wr":
        return f"reads {part.removesuffix(' of ')} from it" if part else "reads that value"
    if edge.kind == "rt":
        return f"began after that had ended, {by_clock(edge.start, edge.end, history)}"
    if edge.kind == "ww":
        at = int(history.location[edge.end])
        if is_given(edge, history):
            return f"is stored later, {by_trace(edge.start, edge.end, history)}"
        if history.final[at] == edge.end:
            return f"is stored last: {history.locations[at]} is left with it{final_line(at, history)}"
        return "is stored later"
    if history.source[edge.start] == INITIAL:
        return f"overwrites the initial value{_at(part)} that was read"
    source = int(history.source[edge.start])
    told = f": stored later, {by_trace(source, edge.end, history)}" if is_given(edge, history) else ""
    return f"overwrites the value{_at(part)} that was read{told}"


def _at(part: str) -> str:
    """Of some bytes, as `edge_bytes` has them."""
    return f" of {part.removesuffix(' of ')}" if part else ""


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
    if not Parts(history).same(step.path[-1].end, step.after):
        text += f", which read {history.what(step.after)} and nothing newer"
    return text


def _refutation(refutation: Refutation, history: History, model: Model) -> Iterator[str]:
    pairs, readers = pairs_tried(refutation), readers_tried(refutation)
    if pairs or readers:
        yield f"{opening(refutation)}; {'the pairs' if not readers else 'these'}:"
    tried = [*(f"  {reader_text(reader, history)}" for reader in readers),
             *(f"  {history.describe(a)}  and  {history.describe(b)}" for a, b in pairs)]
    yield from tried[:SHOWN]
    if len(tried) > SHOWN:
        yield f"  and {len(tried) - SHOWN} more"
    every = readers and len(refutation.cases) <= EACH
    for case in refutation.cases if every else [min(refutation.cases, key=_length)]:
        yield from _case(case, read_as(history, case), model, "if" if every else "for example, if")


def _case(case: Cycle | Broken, history: History, model: Model, opening: str) -> Iterator[str]:
    supposed = [*(origin_text(origin, history) for origin in case.origins),
                *(f"{history.what(a)} is stored before {history.what(b)}" for a, b in case.assumed)]
    if supposed:
        yield f"{opening} {' and '.join(supposed)}:"
    if isinstance(case, Cycle):
        yield from _cycle(rotated(case.edges), history)
        yield from _because(case, history)
    else:
        yield from broken(case, history, model)


def _length(case: Cycle | Broken) -> int:
    return len(case.edges) + len(case.steps) if isinstance(case, Cycle) else len(case.assumed)


def broken(case: Broken, history: History, model: Model) -> Iterator[str]:
    """What a check of the model does not allow under the pairs that are assumed."""
    found = failure(history, model, case)
    yield found.opening
    yield f"       {event_text(history, found.arrows[0].start)}"
    for arrow in found.arrows:
        yield f"  {arrow.rule} → {event_text(history, arrow.end)}"
