"""A verdict in a line: how it ended, how large the history is, and what the evidence comes down to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gradual.evidence.verdict import Broken, Cycle, Evidence, Overwritten, Path, Refutation, Step, ThinAir, Verdict
from gradual.history import WRITE, History
from gradual.models import Model


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def tallied(verdicts: Mapping[str, int]) -> str:
    """How many of each: `3 consistent, 2 errors, 1 violation`."""
    nouns = ("error", "violation")
    return ", ".join(counted(count, verdict) if verdict in nouns else f"{count} {verdict}"
                     for verdict, count in sorted(verdicts.items()))


IN_WORDS = {
    "schedule": ", a run explains every value", "cycle": " by a cycle", "search": " by a cycle in every store order",
    "thin-air": " by a value that nobody wrote", "own-future": " by a read of its own thread's future",
    "final": " by a final value", "general": " by trying store orders", "enumerate": " by enumerating store orders",
    "sat": " by SAT from the ladder's order", "direct": " by the plain SAT encoding",
}
"""What decided, for people; JSON and tables have the names. Criteria are called by their names everywhere."""


def decided(by: str) -> str:
    """What decided, as it goes on after the verdict."""
    return IN_WORDS.get(by, f" by {by}")


def buffers_stores(model: Model) -> bool:
    """Does its machine let stores wait before they reach memory?"""
    return (model.machine or "").startswith("store buffer")


def summary(verdict: Verdict, history: History) -> str:
    """The verdict line, without the history's name."""
    by = decided(verdict.decided_by) if verdict.decided_by else ""
    counts = ((len(history), "operation"), (len(history.threads), "thread"), (len(history.locations), "location"))
    size = ", ".join(counted(count, noun) for count, noun in counts)
    pairs = ""
    if verdict.write_pairs and verdict.ordered_by and verdict.unordered_percent is None:
        pairs = f", {verdict.ordered_by} stopped at the first contradiction"
    elif verdict.write_pairs and verdict.ordered_by:
        pairs = f", {verdict.unordered_percent:.1f} % of write pairs left unordered by {verdict.ordered_by}"
    elif verdict.write_pairs and verdict.verdict == "consistent":
        pairs = ", write pairs left unordered not counted: --unordered does"
    reason = f": {verdict.message}" if verdict.verdict == "unknown" else ""
    return f"{verdict.model} {verdict.verdict}{by} ({size}{pairs}, {verdict.seconds:.2f} s){reason}"


def told(verdict: Verdict, history: History) -> Verdict:
    """The verdict with its message, where it has none."""
    return replace(verdict, message=verdict.message or in_a_line(verdict.evidence, history))


def in_a_line(evidence: Evidence | None, history: History) -> str:
    """The evidence of a violation as one line, for tables and JSON; empty for any other verdict."""
    if isinstance(evidence, Cycle):
        return walk(rotated(evidence.edges), history)
    if isinstance(evidence, Refutation):
        return opening(evidence)
    if isinstance(evidence, ThinAir | Overwritten):
        from gradual.telling.observations import observed

        return " ".join(observed(evidence, history)[:2])
    return ""


def rotated(edges: Path) -> Path:
    """The same cycle from a load that missed a store: from what was observed, where there is such an edge."""
    starts = [place for place, edge in enumerate(edges) if edge.kind == "rw"]
    first = max(starts, key=lambda place: edges[place].start, default=0)
    return (*edges[first:], *edges[:first])


def held_pair(step: Step, history: History) -> tuple[int, int] | None:
    """Of a step by atomicity, the load-reserved and the store-conditional between which no other thread stores."""
    end = step.path[-1].end
    by_load, by_store = step.path[0].start != step.before, end != step.after and history.kind[end] == WRITE
    if history.pair is None or not (by_load or by_store):
        return None
    store = step.before if by_load else end
    return int(history.pair[history.pair[:, 1] == store][0, 0]), store


def walk(path: Path, history: History) -> str:
    return history.describe(path[0].start) + "".join(f" {edge.kind} → {history.describe(edge.end)}" for edge in path)


def opening(refutation: Refutation) -> str:
    """What a search came to: without pairs to try, a check fails whatever the store order."""
    pairs, cases = pairs_tried(refutation), len(refutation.cases)
    in_general = any(isinstance(case, Broken) for case in refutation.cases)
    end = "a check of the model fails" if in_general else "there is a cycle"
    if not pairs:
        return f"in any store order, {end}"
    return (f"no single cycle tells: search ordered {counted(len(pairs), 'pair')} of stores both ways, and in each of "
            f"the {counted(cases, 'case')} {end}")


def pairs_tried(refutation: Refutation) -> list[tuple[int, int]]:
    """The pairs of writes that the search ordered, each once."""
    return sorted({(min(pair), max(pair)) for case in refutation.cases for pair in case.assumed})
