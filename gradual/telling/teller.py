"""The evidence of a violation as prose: from what was observed, step by step, to the contradiction.

A line per edge. It opens with the words for its kind and names the operation it leads to "at line N", so the
evidence can be read back from the text; the tests do, and certify what they read.
"""

from __future__ import annotations

from collections.abc import Iterator

from gradual.deciding.engine.proof import premise
from gradual.evidence.verdict import Broken, Cycle, Edge, Evidence, Pair, Path, Refutation, Step
from gradual.history import INITIAL, RMW, History, value_text
from gradual.models import Model
from gradual.telling.arrows import broken
from gradual.telling.markup import visible
from gradual.telling.names import Names, capital
from gradual.telling.observations import Observation, final_line, observed
from gradual.telling.rules import AT_ONE_LOCATION, PLAIN, named
from gradual.telling.shorten import length
from gradual.telling.words import buffers_stores, held_pair, opening, pairs_tried, rotated

CASES = 6
"""Cases of a search that are told one by one."""

RULES = {
    "same location": "program order at one location: no machine turns that around",
    "reads-from": "reads-from: a value is there to be read only after it was written",
    "from-reads": "from-reads: a load that returns a value sees no newer store",
    "store order": "store order: the stores to one location follow one another, the same for all threads",
    "last store": "last store: memory is left with it",
    "newest store": "newest store: a load returns the newest store there is",
    "atomicity": "atomicity: nobody else stores between what a load-reserved read and its store-conditional",
}


def lines(evidence: Evidence | None, history: History, model: Model) -> list[str]:
    """The explanation, line by line; nothing for a verdict without a violation."""
    if isinstance(evidence, Observation):
        return observed(evidence, history)
    found = named(evidence, history, model)
    if isinstance(found, Cycle):
        return list(Teller(history, model).violation(found))
    return list(Teller(history, model).refutation(found)) if isinstance(found, Refutation) else []


class Teller:
    """Tells evidence. Knows which rules the reader has met."""

    def __init__(self, history: History, model: Model) -> None:
        self._history = history
        self._model = model
        self._names = Names(history)
        self._met: set[str] = set()
        self._numbers: dict[Pair, int] = {}
        self._assumed: frozenset[Pair] = frozenset()

    # --- each kind of evidence

    def violation(self, cycle: Cycle) -> Iterator[str]:
        if buffers_stores(self._model) and not self._at_one_location(cycle.edges):
            yield f"Under {self._model} a store takes place when it leaves its store buffer."
        yield from self._proof(cycle)

    def refutation(self, refutation: Refutation) -> Iterator[str]:
        cases: tuple[Cycle | Broken, ...] = refutation.cases
        sentence = opening(refutation)
        yield f"{sentence[0].upper()}{sentence[1:]}."
        if len(cases) > CASES:
            yield f"The shortest of the cases (gradual check --json has the pairs of all {len(cases)}):"
            cases = (min(refutation.cases, key=length),)
        for number, case in enumerate(cases, 1):
            suppose = ", and ".join(f"{self._names.store(a)} is stored before {self._names.store(b)}"
                                    for a, b in case.assumed)
            if suppose:
                yield f"Case {number}: suppose {suppose}."
            yield from (f"  {line}" for line in self._case(case))
        if pairs_tried(refutation) and len(refutation.cases) <= CASES:
            yield "One of these cases would have to hold, whichever way round the stores come, and none can."

    def _case(self, case: Cycle | Broken) -> Iterator[str]:
        self._numbers, self._assumed = {}, frozenset(case.assumed)
        if isinstance(case, Cycle):
            yield from self._proof(case)
        else:
            first, *others = broken(case, self._history, self._model)
            yield f"Then {self._model} has a check that fails: {first}"
            yield from others

    # --- cycles

    def _proof(self, cycle: Cycle) -> Iterator[str]:
        if cycle.steps:
            yield "In which order the stores must have come:"
        for step in cycle.steps:
            yield from (f"  {line}" for line in self._step(step))
        edges = rotated(cycle.edges)
        yield "The contradiction, at one location:" if self._at_one_location(edges) else "The contradiction:"
        yield f"    {capital(self._names.deed(edges[0].start))}."
        for edge in edges:
            back = ": where this began" if edge is edges[-1] else ""
            yield f"    {self._edge(edge, back)}"
        start = edges[0].start
        operation = f"{self._names.short(start)} of {self._names.thread(start)} ({self._names.place(start)})"
        yield (f"  So {operation} would have to come before itself: {self._model} does not allow what was observed "
               f"(axiom {cycle.scope}).")

    def _at_one_location(self, edges: Path) -> bool:
        places = {int(self._history.location[edge.start]) for edge in edges}
        return len(places) == 1 and min(places) >= 0

    def _step(self, step: Step) -> Iterator[str]:
        pair = step.before, step.after
        number = self._numbers.setdefault(pair, len(self._numbers) + 1)
        yield f"({number}) {self._names.store(step.before)} is stored before {self._names.store(step.after)}:"
        yield f"    {capital(self._names.deed(step.path[0].start))}."
        for edge in step.path:
            yield f"    {self._edge(edge)}"
        if held := held_pair(step, self._history):
            load, store = held
            first, last = (f"{self._names.short(half)} at {self._names.place(half)}" for half in (load, store))
            yield f"    No other thread may store between what {first} read and {last}.{self._rule('atomicity')}"
        elif step.path[-1].end != step.after:
            yield (f"    This returned {self._names.store(step.after)}: so that store is newer than "
                   f"{self._names.store(step.before)}.{self._rule('newest store')}")

    def _edge(self, edge: Edge, back: str = "") -> str:
        end = self._names.deed(edge.end)
        if edge.kind == "po":
            return self._program_order(edge, f"{end}{back}")
        if edge.kind == "wr":
            return f"From this store, {end}{back}.{self._rule('reads-from')}"
        if edge.kind == "ww":
            rule = "store order" if premise(edge, self._history) else "last store"
            return f"{capital(self._premise(edge))}, {end} only after that{back}.{self._rule(rule)}"
        return self._from_reads(edge, end, back)

    def _program_order(self, edge: Edge, end: str) -> str:
        if edge.rule == AT_ONE_LOCATION:
            return f"Later in its program, at the same location, {end}.{self._rule('same location')}"
        by = "" if edge.rule in PLAIN else f" ({edge.rule})"
        return f"Later in its program{by}, {end}.{self._rule('program order')}"

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
        pair = premise(edge, self._history)
        if pair is None:
            at = int(self._history.location[edge.end])
            left = f"{visible(self._history.locations[at])}={value_text(self._history.final_value[at])}"
            return f"as memory is left with {left}{final_line(at, self._history)}"
        return "as supposed" if pair in self._assumed else f"by ({self._numbers[pair]})"

    def _rule(self, name: str) -> str:
        """The rule in words when it is met first, then nothing: the opening of the line says which it is."""
        if name in self._met:
            return ""
        self._met.add(name)
        return f"   [{self._kept() if name == 'program order' else RULES[name]}]"

    def _kept(self) -> str:
        kept = f"program order, as far as {self._model} keeps it"
        return f"{kept}: {self._model.sentence}" if self._model.sentence else kept
