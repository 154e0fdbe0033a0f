"""The evidence of a violation as prose: from what was observed, step by step, to the contradiction.

A sentence per edge. It opens with the words for its kind and names the operation it leads to "at line N", so the
evidence can be read back from the text; the tests do, and certify what they read.
"""

from __future__ import annotations

from collections.abc import Iterator

from gradual.deciding.engine.parts import Parts
from gradual.deciding.engine.proof import premise
from gradual.evidence.verdict import Broken, Cycle, Edge, Evidence, Pair, Path, Refutation, Step
from gradual.history import INITIAL, RMW, History, value_text, visible
from gradual.models import Model
from gradual.telling.arrows import broken
from gradual.telling.names import Names, capital
from gradual.telling.observations import Observation, final_line, observed
from gradual.telling.passage import Part, Passage, Sentence
from gradual.telling.rules import AT_ONE_LOCATION, PLAIN, named
from gradual.telling.shorten import length
from gradual.telling.words import (
    buffers_stores,
    by_clock,
    by_trace,
    edge_bytes,
    held_pair,
    is_given,
    opening,
    origin_text,
    pairs_tried,
    read_as,
    readers_tried,
    rotated,
)

CASES = 6
"""Cases of a search that are told one by one."""

RIVAL = ("ww", "rw")
"""Kinds of edges that lead to a store from what it is newer than."""
RULES = {
    "same location": "program order at one location: no machine turns that around",
    "reads-from": "reads-from: a value is there to be read only after it was written",
    "from-reads": "from-reads: a load that returns a value sees no newer store",
    "store order": "store order: the stores to one location follow one another, the same for all threads",
    "last store": "last store: memory is left with it",
    "given": "given: the trace tells in which order these stores reached memory",
    "real time": "real time: an access takes place between its begin and its end",
    "newest store": "newest store: a load returns the newest store there is",
    "atomicity": "atomicity: nobody else stores between what such a load read and its store",
}


def told(evidence: Evidence | None, history: History, model: Model) -> list[Part]:
    """The explanation, part by part; nothing for a verdict without a violation."""
    if isinstance(evidence, Observation):
        return list(map(Sentence, observed(evidence, history)))
    found = named(evidence, history, model)
    if isinstance(found, Cycle):
        return list(Teller(history, model).violation(found))
    return list(Teller(history, model).refutation(found)) if isinstance(found, Refutation) else []


class Teller:
    """Tells evidence. Knows which rules the reader has met."""

    def __init__(self, history: History, model: Model) -> None:
        self._whole = self._history = history
        self._model = model
        self._names = Names(history)
        self._met: set[str] = set()
        self._numbers: dict[Pair, int] = {}
        self._assumed: frozenset[Pair] = frozenset()
        self._parts = Parts(history)

    # --- each kind of evidence

    def violation(self, cycle: Cycle) -> Iterator[Part]:
        if buffers_stores(self._model) and not self._at_one_location(cycle.edges):
            yield Sentence(f"Under {self._model} a store takes place when it leaves its store buffer.")
        yield from self._proof(cycle)

    def refutation(self, refutation: Refutation) -> Iterator[Part]:
        cases: tuple[Cycle | Broken, ...] = refutation.cases
        sentence = opening(refutation)
        yield Sentence(f"{sentence[0].upper()}{sentence[1:]}.")
        if len(cases) > CASES:
            yield Sentence(f"The shortest of the cases (gradual check --json has the pairs of all {len(cases)}):")
            cases = (min(refutation.cases, key=length),)
        for number, case in enumerate(cases, 1):
            suppose = ", and ".join([*(origin_text(origin, self._history) for origin in case.origins),
                                     *(f"{self._names.store(a)} is stored before {self._names.store(b)}"
                                       for a, b in case.assumed)])
            yield Passage(f"Case {number}: suppose {suppose}." if suppose else "", tuple(self._case(case)))
        if len(refutation.cases) <= CASES and readers_tried(refutation):
            yield Sentence("One of these cases would have to hold, whichever store each value came from: none can.")
        elif len(refutation.cases) <= CASES and pairs_tried(refutation):
            yield Sentence("One of these cases would have to hold, whichever way round the stores come, and none can.")

    def _case(self, case: Cycle | Broken) -> Iterator[Part]:
        self._numbers, self._assumed = {}, frozenset(map(self._parts.pair, case.assumed))
        self._history = read_as(self._whole, case)
        if isinstance(case, Cycle):
            yield from self._proof(case)
        else:
            first, *others = broken(case, self._history, self._model)
            yield Passage(f"Then {self._model} has a check that fails: {first}", tuple(map(Sentence, others)))

    # --- cycles

    def _proof(self, cycle: Cycle) -> Iterator[Part]:
        if cycle.steps:
            yield Passage("In which order the stores must have come:", tuple(map(self._step, cycle.steps)))
        edges = rotated(cycle.edges)
        start = edges[0].start
        sentences = [self._begin(start), *(self._edge(edge) for edge in edges[:-1]),
                     self._edge(edges[-1], ": where this began")]
        operation = f"{self._names.short(start)} of {self._names.thread(start)} ({self._names.place(start)})"
        so = (f"So {operation} would have to come before itself: {self._model} does not allow what was observed (axiom "
              f"{cycle.scope}).")
        yield Passage("The contradiction, at one location:" if self._at_one_location(edges) else "The contradiction:",
                      tuple(sentences), so)

    def _begin(self, operation: int) -> Sentence:
        return Sentence(f"{capital(self._names.deed(operation))}.")

    def _at_one_location(self, edges: Path) -> bool:
        places = {int(self._history.location[edge.start]) for edge in edges}
        return len(places) == 1 and min(places) >= 0

    def _step(self, step: Step) -> Passage:
        pair = self._parts.pair((step.before, step.after))
        number = self._numbers.setdefault(pair, len(self._numbers) + 1)
        sentences = [self._begin(step.path[0].start), *map(self._edge, step.path)]
        seen = step.path[-1].end
        if held := held_pair(step, self._history):
            load, store = held
            first, last = (f"{self._names.short(half)} at {self._names.place(half)}" for half in (load, store))
            text = f"No other thread may store between what {first} read and {last}."
            sentences.append(Sentence(text, self._rule("atomicity")))
        elif not self._parts.same(seen, step.after):
            seen = self._parts.beside(seen, step.after)
            text = (f"This returned {self._names.store(step.after)}: so that store is newer than "
                    f"{self._names.store(step.before)}.")
            sentences.append(Sentence(text, self._rule("newest store"), Edge("wr", step.after, seen)))
        return Passage(f"({number}) {self._names.store(step.before)} is stored before {self._names.store(step.after)}:",
                       tuple(sentences))

    def _edge(self, edge: Edge, back: str = "") -> Sentence:
        text, rule = self._words(edge, self._names.deed(edge.end) + (" only after that" if edge.kind in RIVAL else ""))
        return Sentence(f"{text}{back}.", self._rule(rule), edge)

    def _words(self, edge: Edge, end: str) -> tuple[str, str]:
        """What leads to the end of an edge, and the rule."""
        if edge.kind == "po" and edge.rule == AT_ONE_LOCATION:
            return f"Later in its program, at the same location, {end}", "same location"
        if edge.kind == "po":
            by = "" if edge.rule in PLAIN else f" ({edge.rule})"
            return f"Later in its program{by}, {end}", "program order"
        if edge.kind == "wr":
            return f"From {edge_bytes(edge, self._history)}this store, {end}", "reads-from"
        if edge.kind == "rt":
            return f"Begun {by_clock(edge.start, edge.end, self._history)}, when this had ended, {end}", "real time"
        if edge.kind == "ww":
            told = "given" if is_given(edge, self._history) else "last store"
            return f"{capital(self._premise(edge))}, {end}", "store order" if premise(edge, self._history) else told
        return f"{self._missed(edge)}: {end}", "from-reads"

    def _missed(self, edge: Edge) -> str:
        """What a load returned that missed a store."""
        source = int(self._history.source[edge.start])
        verb = "It found" if self._history.kind[edge.start] == RMW else "This returned"
        part = edge_bytes(edge, self._history)
        if source == INITIAL:
            return f"{verb} the initial value{part and ' of ' + part.removesuffix(' of ')}"
        value = self._history.value_text(int(self._history.written[edge.end]))
        newer = f"{visible(self._history.address(edge.end))}={value}"
        return f"{verb} {part}{self._names.store(source)}, {self._premise(edge)} older than {newer}"

    def _premise(self, edge: Edge) -> str:
        """What the order of the writes behind an edge rests on."""
        pair = premise(edge, self._history)
        if is_given(edge, self._history):
            before = edge.start if edge.kind == "ww" else int(self._history.source[edge.start])
            return by_trace(before, edge.end, self._history)
        if pair is None:
            at = int(self._history.location[edge.end])
            left = f"{visible(self._history.locations[at])}={value_text(self._history.final_value[at])}"
            return f"as memory is left with {left}{final_line(at, self._history)}"
        pair = self._parts.pair(pair)
        return "as supposed" if pair in self._assumed else f"by ({self._numbers[pair]})"

    def _rule(self, name: str) -> str:
        """The rule in words when it is met first, then nothing: the opening of the line says which it is."""
        if name in self._met:
            return ""
        self._met.add(name)
        return self._kept() if name == "program order" else RULES[name]

    def _kept(self) -> str:
        kept = f"program order, as far as {self._model} keeps it"
        return f"{kept}: {self._model.sentence}" if self._model.sentence else kept
