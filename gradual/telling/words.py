"""A verdict in a line: how it ended, how large the history is, and what the evidence comes down to."""

from __future__ import annotations

from collections.abc import Mapping

from gradual.evidence.verdict import (
    Broken,
    Cycle,
    Edge,
    Evidence,
    Origin,
    Overwritten,
    Path,
    Refutation,
    Step,
    ThinAir,
    Verdict,
)
from gradual.history import INITIAL, REAL_TIME, STORE_ORDER, WRITE, History, value_text, visible
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
    "store-order": " against the trace's own store order", "real-time": " in real time",
    "store-order+real-time": " against the trace's own store order and real time together",
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


def one_buffer(model: Model) -> bool:
    """Does its machine have one store buffer per thread, whatever the location?"""
    return (model.machine or "").split(",")[0] == "store buffer per thread"


def summary(verdict: Verdict, history: History) -> str:
    """The verdict line, without the history's name."""
    by = (decided(verdict.decided_by) if verdict.decided_by else "") + besides(verdict)
    counts = ((history.operations, "operation"), (len(history.threads), "thread"), (len(history.locations), "location"))
    size = ", ".join(counted(count, noun) for count, noun in counts)
    pairs = ""
    if verdict.write_pairs and verdict.ordered_by and verdict.unordered_percent is None:
        pairs = f", {verdict.ordered_by} stopped at the first contradiction"
    elif verdict.write_pairs and verdict.ordered_by:
        pairs = f", {verdict.unordered_percent:.1f} % of write pairs left unordered by {verdict.ordered_by}"
    elif verdict.write_pairs and verdict.verdict == "consistent" and not history.ambiguous:
        pairs = ", write pairs left unordered not counted: --unordered does"
    reason = f": {verdict.message}" if verdict.verdict == "unknown" else ""
    return f"{verdict.model} {verdict.verdict}{by} ({size}{pairs}, {verdict.seconds:.2f} s){reason}"


KEEPS = {STORE_ORDER: "keeps the store order that the trace tells", REAL_TIME: "keeps real time"}
"""What a run does with what a history knows."""


def besides(verdict: Verdict) -> str:
    """What the model has to do with a verdict on a history that knows more than its values."""
    if verdict.verdict == "consistent":
        return "".join(f" and {KEEPS[name]}" for name in verdict.given)
    if verdict.without == "consistent":
        return f": {verdict.model} holds without it"
    return "" if verdict.without is None else f": not known whether {verdict.model} holds without it"


def told(verdict: Verdict, history: History) -> Verdict:
    """The verdict with its message, where it has none."""
    if verdict.message:
        return verdict
    line = in_a_line(verdict.evidence, history)
    if verdict.without is not None:
        line = f"{decided(verdict.decided_by or '').strip()}{besides(verdict)}: {line}"
    return verdict.but(message=line) if line else verdict


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


def is_given(edge: Edge, history: History) -> bool:
    """Does an edge rest on the store order that the trace tells?"""
    if edge.kind not in ("ww", "rw"):
        return False
    before = edge.start if edge.kind == "ww" else int(history.source[edge.start])
    return before >= 0 and history.tells(before, edge.end)


def by_trace(before: int, after: int, history: History) -> str:
    """What the trace tells of the order of two stores."""
    assert history.order is not None
    return f"as the trace tells (order {history.order[before]} and {history.order[after]})"


def by_clock(before: int, after: int, history: History) -> str:
    """What their times tell of two accesses."""
    assert history.begin is not None and history.end is not None
    return f"at {history.begin[after]} after {history.end[before]}"


def walk(path: Path, history: History) -> str:
    told = {o: history.describe(o) for o in {path[0].start, *(edge.end for edge in path)}}
    return told[path[0].start] + "".join(f" {edge.kind} → {told[edge.end]}" for edge in path)


def opening(refutation: Refutation) -> str:
    """What a search came to: without pairs to try, a check fails whatever the store order."""
    pairs, readers, cases = pairs_tried(refutation), readers_tried(refutation), len(refutation.cases)
    in_general = any(isinstance(case, Broken) for case in refutation.cases)
    end = "a check of the model fails" if in_general else "there is a cycle"
    if not pairs and not readers:
        return f"in any store order, {end}"
    ways = [f"let {counted(len(readers), 'value')} come from every store that wrote it"] if readers else []
    ways += [f"ordered {counted(len(pairs), 'pair')} of stores both ways"] if pairs else []
    return f"no single cycle tells: search {' and '.join(ways)}, and in each of the {counted(cases, 'case')} {end}"


def pairs_tried(refutation: Refutation) -> list[tuple[int, int]]:
    """The pairs of writes that the search ordered, each once."""
    return sorted({(min(pair), max(pair)) for case in refutation.cases for pair in case.assumed})


def readers_tried(refutation: Refutation) -> list[int]:
    """The reads, and final values, whose origin the search had to try."""
    return sorted({origin.reader for case in refutation.cases for origin in case.origins})


def reader_text(reader: int, history: History) -> str:
    """A read; or the final value of a location, which has the number of operations plus its own."""
    if reader < len(history):
        return f"{bytes_text(reader, history)}{history.describe(reader)}"
    at = reader - len(history)
    return f"the final value {history.locations[at]}={value_text(history.final_value[at])}"


def origin_text(origin: Origin, history: History) -> str:
    """What is supposed of a value that several wrote."""
    if origin.reader >= len(history):
        return f"{reader_text(origin.reader, history)} is that of {history.describe(origin.write)}"
    written = "the initial value" if origin.write == INITIAL else history.describe(origin.write)
    return f"{bytes_text(origin.reader, history)}{history.describe(origin.reader)} read {written}"


def bytes_text(event: int, history: History) -> str:
    """Which bytes of an access are spoken of, where it has others: `0x80..0x83 of `."""
    whole, row = history.access(event)
    here = history.address(event)
    return "" if whole is history or whole.address(row) == here else f"{visible(here)} of "


def edge_bytes(edge: Edge, history: History) -> str:
    """The bytes that an edge is about, where its accesses have others: `0x80..0x83 of `."""
    return bytes_text(edge.end, history) or bytes_text(edge.start, history)


def read_as(history: History, case: Cycle | Broken) -> History:
    """The history as a case sees it: every value that it speaks of has one origin."""
    return history.read_as((origin.reader, origin.write) for origin in case.origins) if case.origins else history
