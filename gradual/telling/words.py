"""A verdict in words: the operations that matter, where they stand, and why they cannot be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gradual.evidence.verdict import Cycle, Edge, Evidence, Overwritten, Path, Refutation, Step, ThinAir, Verdict
from gradual.history import INITIAL, History, value_text

SHOWN = 12
"""Pairs of a search that are named one by one."""


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def summary(verdict: Verdict, history: History) -> str:
    """The verdict line, without the history's name."""
    by = f" by {verdict.decided_by}" if verdict.decided_by else ""
    counts = ((len(history), "operation"), (len(history.threads), "thread"), (len(history.locations), "location"))
    size = ", ".join(counted(count, noun) for count, noun in counts)
    pairs = ""
    if verdict.write_pairs and verdict.ordered_by:
        pairs = f", {verdict.unordered_percent:.1f} % of write pairs left unordered by {verdict.ordered_by}"
    elif verdict.write_pairs and verdict.verdict == "consistent":
        pairs = ", write pairs left unordered not counted: --unordered does"
    reason = f": {verdict.message}" if verdict.verdict == "unknown" else ""
    return f"{verdict.model} {verdict.verdict}{by} ({size}{pairs}, {verdict.seconds:.2f} s){reason}"


def explain(evidence: Evidence | None, history: History) -> list[str]:
    """The evidence of a violation, line by line; nothing for any other verdict."""
    if isinstance(evidence, ThinAir):
        return [_thin_air(evidence, history)]
    if isinstance(evidence, Overwritten):
        at = history.locations[evidence.location]
        return [f"{at} is left with its initial value (line {history.final_line[evidence.location]}), though "
                f"{history.describe(evidence.write)} replaced it"]
    if isinstance(evidence, Cycle):
        return [*_cycle(evidence.edges, history), *_because(evidence, history)]
    if isinstance(evidence, Refutation):
        return list(_refutation(evidence, history))
    return []


def told(verdict: Verdict, history: History) -> Verdict:
    """The verdict with its message, where it has none."""
    return replace(verdict, message=verdict.message or in_a_line(verdict.evidence, history))


def in_a_line(evidence: Evidence | None, history: History) -> str:
    """The same as one line, for tables and JSON."""
    if isinstance(evidence, Cycle):
        return _walk(evidence.edges, history)
    return next(iter(explain(evidence, history)), "")


def _thin_air(evidence: ThinAir, history: History) -> str:
    if evidence.operation is not None:
        return (f"{history.describe(evidence.operation)}: nobody ever wrote this value there (a thin-air read; if the "
                f"memory did not start at {value_text(history.initial[evidence.location])}, say so with --initial)")
    at = evidence.location
    return (f"{history.locations[at]} is left with {value_text(history.final_value[at])} (line "
            f"{history.final_line[at]}), a value nobody ever wrote there")


def _reason(edge: Edge, history: History) -> str:
    if edge.kind == "po":
        return "later in the same thread"
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


def _cycle(edges: Path, history: History) -> Iterator[str]:
    yield "these cannot all come one after the other:"
    yield f"       {history.describe(edges[0].start)}"
    for edge in edges:
        back = ": back at the start" if edge is edges[-1] else ""
        yield f"  {edge.kind} → {history.describe(edge.end)}   {_reason(edge, history)}{back}"


def _because(cycle: Cycle, history: History) -> Iterator[str]:
    if cycle.steps:
        yield "where the store order follows, step by step:"
    for step in cycle.steps:
        yield f"  {history.what(step.before)} is stored before {history.what(step.after)}, because"
        yield f"    {_path(step, history)}"


def _walk(path: Path, history: History) -> str:
    return history.describe(path[0].start) + "".join(f" {edge.kind} → {history.describe(edge.end)}" for edge in path)


def _path(step: Step, history: History) -> str:
    text = _walk(step.path, history)
    if step.path[-1].end != step.after:
        text += f", which read {history.what(step.after)} and nothing newer"
    return text


def _refutation(refutation: Refutation, history: History) -> Iterator[str]:
    pairs = pairs_tried(refutation)
    yield _search(refutation)
    yield "the pairs:"
    for a, b in pairs[:SHOWN]:
        yield f"  {history.describe(a)}  and  {history.describe(b)}"
    if len(pairs) > SHOWN:
        yield f"  and {len(pairs) - SHOWN} more"
    if not refutation.cycles:
        return
    shortest = min(refutation.cycles, key=lambda case: len(case.edges) + len(case.steps))
    if shortest.assumed:
        assumed = ", ".join(f"{history.what(a)} before {history.what(b)}" for a, b in shortest.assumed)
        yield f"for example, with {assumed}"
    yield from _cycle(shortest.edges, history)
    yield from _because(shortest, history)


def _search(refutation: Refutation) -> str:
    pairs = len(pairs_tried(refutation))
    return (f"no single cycle tells: search ordered {counted(pairs, 'pair')} of writes both ways and "
            f"met a cycle in each of the {len(refutation.cases)} cases")


def pairs_tried(refutation: Refutation) -> list[tuple[int, int]]:
    """The pairs of writes that the search ordered, each once."""
    return sorted({(min(pair), max(pair)) for case in refutation.cases for pair in case.assumed})
