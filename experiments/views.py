"""Views per thread as they are defined: a total order per thread, found by SAT. The graph of `contrast/views.py` is
held against it, and the axioms of NPSO as they were found stage by stage."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations

from gradual.contrast.subject import Subject
from gradual.machines.code import FULL_FENCE, LOAD, STORE, Outcome
from gradual.models import load
from gradual.models.masks import masked
from gradual.models.syntax import Check


@dataclass(frozen=True)
class Stage:
    """Which axioms there are, besides what is kept in every view, coherence, and what loads return."""

    causality: str = "all"
    """all: a read before a write in the writer's view is so in every view; own: at one location, in the reader's own
    view; none."""
    fences: str = "all"
    """Which pairs with a fence in them all views order alike: all, those of two fences (`fences`), none."""


class Views:
    """A model with one `views` check, by its definition."""

    def __init__(self, model: str, stage: Stage = Stage()) -> None:
        (check,) = load(model).checks
        self._kept = masked((Check("empty", check.expression, check.name),))
        self._stage = stage
        self.name = model

    def outcomes(self, subject: Subject) -> frozenset[Outcome]:
        from pysat.solvers import Minisat22

        kept = self._kept.checks[0].relation(self._kept.static(subject.events), subject.events, 0, 0, 0)
        question = _Question(subject, kept, self._stage)
        found = set()
        with Minisat22(bootstrap_with=list(question.clauses())) as solver:
            while solver.solve():
                true = set(solver.get_model() or ())
                chosen = [next(source for source in sources if source[0] in true) for sources in question.sources]
                outcome = [0] * subject.code.loads
                for (_, value), number in zip(chosen, question.places, strict=True):
                    outcome[number] = value
                found.add(tuple(outcome))
                if not chosen:
                    break
                solver.add_clause([-literal for literal, _ in chosen])
        return frozenset(found)


class _Question:
    """The clauses for one program. A literal says that a view has one event before another."""

    def __init__(self, subject: Subject, kept: int, stage: Stage) -> None:
        self._subject, self._kept, self._stage = subject, kept, stage
        self._events = range(len(subject.kind))
        self._views = range(len(subject.code.threads))
        self._variables = 0
        self._before: dict[tuple[int, int, int], int] = {}
        for view in self._views:
            for a in self._events:
                for b in range(a + 1, len(self._events)):
                    self._before[view, a, b] = self._new()
                    self._before[view, b, a] = -self._before[view, a, b]
        self.sources: list[list[tuple[int, int]]] = []
        """Per load: a literal for each value it may return."""
        self.places: list[int] = []
        """Per load: its place in the outcome."""

    def _new(self) -> int:
        self._variables += 1
        return self._variables

    def clauses(self) -> Iterator[list[int]]:
        before, views = self._before, self._views
        for view in views:
            for a, b, c in permutations(self._events, 3):
                if a == min(a, b, c):
                    yield [-before[view, a, b], -before[view, b, c], -before[view, c, a]]
        for a, b in permutations(self._events, 2):
            if self._kept >> a * self._subject.events.width + b & 1:
                yield from ([before[view, a, b]] for view in views)
            if self._alike(a, b):
                yield from ([-before[0, a, b], before[view, a, b]] for view in views)
            for told in self._caused(a, b):
                yield [-before[self._subject.thread[b], a, b], before[told, a, b]]
        yield from self._values()

    def _alike(self, a: int, b: int) -> bool:
        kind, address = self._subject.kind, self._subject.address
        if kind[a] == kind[b] == STORE:
            return address[a] == address[b]
        fences = [kind[a], kind[b]].count(FULL_FENCE)
        return fences >= {"all": 1, "fences": 2, "none": 3}[self._stage.fences]

    def _caused(self, a: int, b: int) -> list[int]:
        """The views in which a read stands before a write, because it does in the writer's."""
        subject = self._subject
        if subject.kind[a] != LOAD or subject.kind[b] != STORE or self._stage.causality == "none":
            return []
        if self._stage.causality == "own":
            return [subject.thread[a]] if subject.address[a] == subject.address[b] else []
        return list(self._views)

    def _values(self) -> Iterator[list[int]]:
        """A read of a thread returns the latest, in its view, of the writes before it there or in the thread."""
        subject = self._subject
        for load_ in (event for event in self._events if subject.kind[event] == LOAD):
            view = subject.thread[load_]
            stores = [event for event in self._events
                      if subject.kind[event] == STORE and subject.address[event] == subject.address[load_]]
            own = {store for store in stores if subject.thread[store] == view and store < load_}
            sources = [(self._new(), subject.value.get(source, 0), source) for source in (-1, *stores)]
            for literal, _, source in sources:
                if source >= 0 and source not in own:
                    yield [-literal, self._before[view, source, load_]]
                for other in stores:
                    if other != source:
                        after = [] if other in own else [self._before[view, load_, other]]
                        earlier = [] if source < 0 else [self._before[view, other, source]]
                        yield [-literal, *after, *earlier]
            yield [literal for literal, _, _ in sources]
            self.sources.append([(literal, value) for literal, value, _ in sources])
        place = dict(_loads(subject))
        self.places = [place[event] for event in self._events if subject.kind[event] == LOAD]


def _loads(subject: Subject) -> Iterator[tuple[int, int]]:
    event = 0
    for thread, steps in enumerate(subject.code.threads):
        for place, (kind, _) in enumerate(steps):
            if kind == LOAD:
                yield event, subject.code.numbers[thread][place]
            event += 1
