"""The evidence of a violation as prose: from what was observed, step by step, to the contradiction.

A line per edge. It opens with the words for its kind and names the operation it leads to "at line N", so the
evidence can be read back from the text; the tests do, and certify what they read.
"""

from __future__ import annotations

from collections.abc import Iterator

from gradual.evidence.verdict import Cycle, Edge, Overwritten, Pair, Path, Refutation, Scope, Step, ThinAir, Verdict
from gradual.history import INITIAL, RMW, History, value_text
from gradual.report.markup import visible
from gradual.telling.names import Names
from gradual.telling.shorten import cost, pair_behind
from gradual.telling.words import counted, pairs_tried

CASES = 6
"""Cases of a search that are told one by one."""

PROGRAM_ORDER = {
    "SC": "program order: a thread's operations take place one after the other",
    "TSO": "program order: TSO keeps it, except from a store to a later load",
    "PSO": "program order: PSO keeps it, except from a store to a later load or to a later store elsewhere",
}
RULES = {
    "same location": "program order at one location: no machine turns that around",
    "reads-from": "reads-from: a value is there to be read only after it was written",
    "from-reads": "from-reads: a load that returns a value sees no newer store",
    "store order": "store order: the stores to one location follow one another, the same for all threads",
    "last store": "last store: memory is left with it",
    "newest store": "newest store: a load returns the newest store there is",
}


def lines(verdict: Verdict, history: History) -> list[str]:
    """The explanation, line by line; nothing for a verdict without a violation."""
    evidence = verdict.evidence
    teller = Teller(history, verdict.model)
    if isinstance(evidence, Cycle):
        return list(teller.violation(evidence))
    if isinstance(evidence, Refutation):
        return list(teller.refutation(evidence))
    if isinstance(evidence, ThinAir):
        return list(teller.thin_air(evidence))
    if isinstance(evidence, Overwritten):
        return list(teller.overwritten(evidence))
    return []


class Teller:
    """Tells evidence. Knows which rules the reader has met."""

    def __init__(self, history: History, model: str) -> None:
        self._history = history
        self._model = model
        self._names = Names(history)
        self._met: set[str] = set()
        self._numbers: dict[Pair, int] = {}
        self._assumed: frozenset[Pair] = frozenset()

    # --- each kind of evidence

    def violation(self, cycle: Cycle) -> Iterator[str]:
        if cycle.scope == "global" and self._model != "SC":
            yield f"Under {self._model} a store takes place when it leaves its thread's store buffer."
        yield from self._proof(cycle)

    def refutation(self, refutation: Refutation) -> Iterator[str]:
        pairs, cases = pairs_tried(refutation), refutation.cases
        yield (f"No single cycle tells: {counted(len(pairs), 'pair')} of stores may come either way round, and each "
               f"of the {len(cases)} cases ends in a contradiction.")
        if len(cases) > CASES:
            yield f"The shortest of the cases (gradual check --json has all {len(cases)}):"
            cases = (min(refutation.cycles, key=cost),) if refutation.cycles else cases[:1]
        for number, case in enumerate(cases, 1):
            suppose = ", and ".join(f"{self._names.store(a)} is stored before {self._names.store(b)}"
                                    for a, b in case.assumed)
            yield f"Case {number}: suppose {suppose}."
            self._numbers, self._assumed = {}, frozenset(case.assumed)
            told = self._proof(case) if isinstance(case, Cycle) else [f"{case.axiom} does not hold then."]
            yield from (f"  {line}" for line in told)
        if len(refutation.cases) <= CASES:
            yield "One of these cases would have to hold, whichever way round the stores come, and none can."

    def thin_air(self, evidence: ThinAir) -> Iterator[str]:
        at, history = evidence.location, self._history
        address, initial = visible(history.locations[at]), value_text(history.initial[at])
        if evidence.operation is None:
            yield f"{address} is left with {value_text(history.final_value[at])}{self._final_line(at)}."
            value = history.final_value[at]
        else:
            yield f"{_capital(self._names.deed(evidence.operation))}."
            value = history.read[evidence.operation]
        stores = history.writes[history.location[history.writes] == at]
        yield (f"Nobody ever wrote {value_text(value)} to {address}: the trace has {counted(len(stores), 'store')} "
               f"there, none of this value, and {address} was {initial} before any of them.")
        yield "So the value came out of thin air, which no memory model allows."
        yield f"(If {address} did not start at {initial}, say so with --initial.)"

    def overwritten(self, evidence: Overwritten) -> Iterator[str]:
        at, history = evidence.location, self._history
        address = visible(history.locations[at])
        yield (f"{address} is left with {value_text(history.final_value[at])}{self._final_line(at)}, the value it had "
               "before any store.")
        yield f"But {self._names.deed(evidence.write)}, and no store brought the first value back."
        yield f"So the store {self._names.store(evidence.write)} was lost, which no memory model allows."

    def _final_line(self, at: int) -> str:
        line = self._history.final_line[at]
        return f" (line {line})" if line > 0 else ""

    # --- cycles

    def _proof(self, cycle: Cycle) -> Iterator[str]:
        if cycle.steps:
            yield "In which order the stores must have come:"
        for step in cycle.steps:
            yield from (f"  {line}" for line in self._step(step))
        edges = rotated(cycle.edges)
        yield "The contradiction:" if cycle.scope == "global" else "The contradiction, at one location:"
        yield f"    {_capital(self._names.deed(edges[0].start))}."
        for edge in edges:
            back = ": where this began" if edge is edges[-1] else ""
            yield f"    {self._edge(edge, cycle.scope, back)}"
        start = edges[0].start
        operation = f"{self._names.short(start)} of {self._names.thread(start)} ({self._names.place(start)})"
        yield f"  So {operation} would have to come before itself: {self._model} does not allow what was observed."

    def _step(self, step: Step) -> Iterator[str]:
        pair = step.before, step.after
        number = self._numbers.setdefault(pair, len(self._numbers) + 1)
        yield f"({number}) {self._names.store(step.before)} is stored before {self._names.store(step.after)}:"
        yield f"    {_capital(self._names.deed(step.before))}."
        for edge in step.path:
            yield f"    {self._edge(edge, step.scope)}"
        if step.path[-1].end != step.after:
            yield (f"    This returned {self._names.store(step.after)}: so that store is newer than "
                   f"{self._names.store(step.before)}.{self._rule('newest store')}")

    def _edge(self, edge: Edge, scope: Scope, back: str = "") -> str:
        end = self._names.deed(edge.end)
        if edge.kind == "po":
            if scope == "coherence" and self._model != "SC":
                return f"Later in its program, at the same location, {end}{back}.{self._rule('same location')}"
            return f"Later in its program, {end}{back}.{self._rule('program order')}"
        if edge.kind == "wr":
            return f"From this store, {end}{back}.{self._rule('reads-from')}"
        if edge.kind == "ww":
            rule = "store order" if pair_behind(edge, self._history) else "last store"
            return f"{_capital(self._premise(edge))}, {end} only after that{back}.{self._rule(rule)}"
        return self._from_reads(edge, end, back)

    def _from_reads(self, edge: Edge, end: str, back: str) -> str:
        source = int(self._history.source[edge.start])
        verb = "It found" if self._history.kind[edge.start] == RMW else "This returned"
        if source == INITIAL:
            return f"{verb} the initial value: {end} only after that{back}.{self._rule('from-reads')}"
        newer = f"{self._names.address(edge.end)}={value_text(self._history.written[edge.end])}"
        return (f"{verb} {self._names.store(source)}, {self._premise(edge)} older than {newer}: {end} only after "
                f"that{back}.{self._rule('from-reads')}")

    def _premise(self, edge: Edge) -> str:
        """What the order of the writes behind an edge rests on."""
        pair = pair_behind(edge, self._history)
        if pair is None:
            at = int(self._history.location[edge.end])
            left = f"{visible(self._history.locations[at])}={value_text(self._history.final_value[at])}"
            return f"as memory is left with {left}{self._final_line(at)}"
        return "as supposed" if pair in self._assumed else f"by ({self._numbers[pair]})"

    def _rule(self, name: str) -> str:
        """The rule in words when it is met first, then nothing: the opening of the line says which it is."""
        if name in self._met:
            return ""
        self._met.add(name)
        return f"   [{PROGRAM_ORDER[self._model] if name == 'program order' else RULES[name]}]"


def rotated(edges: Path) -> Path:
    """The same cycle from a load that missed a store: from what was observed, where there is such an edge."""
    starts = [place for place, edge in enumerate(edges) if edge.kind == "rw"]
    first = max(starts, key=lambda place: edges[place].start, default=0)
    return (*edges[first:], *edges[:first])


def _capital(text: str) -> str:
    """A sentence; but names of threads stay as they are."""
    return text[:1].upper() + text[1:] if text.startswith(("thread ", "by (", "as ")) else text
