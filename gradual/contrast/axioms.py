"""The outcomes of a small program by the axioms of a model: every store order, and sources load by load.

What a check forbids is cut off as soon as the sources chosen so far show it. Most checks are linear: with the store order
given, the pairs that several sources make are those that each makes, so that a choice is one `|` and one look for a cycle.
"""

from __future__ import annotations

from collections.abc import Iterator

from gradual.contrast.subject import Order, Source, Subject
from gradual.contrast.views import Views
from gradual.models import Model
from gradual.models.masks import MaskedCheck, cyclic, masked


class Axioms:
    """A model, ready for programs."""

    def __init__(self, model: Model) -> None:
        self.model = model
        compiled = masked(tuple(check for check in model.checks if check.kind != "views"))
        self._static = compiled.static
        self._graphs = [check for check in compiled.checks if check.linear and check.kind == "acyclic"]
        self._filters = [check for check in compiled.checks if check.linear and check.kind != "acyclic"]
        self._others = [check for check in compiled.checks if not check.linear]
        self._views = [Views(check) for check in model.checks if check.kind == "views"]

    def packed(self, subject: Subject) -> set[int]:
        """The outcomes that the model allows, packed."""
        found: set[int] = set()
        static = self._static(subject.events)
        views = [view.of(subject) for view in self._views]
        for orders in subject.orders():
            search = _Search(self, subject, static, orders)
            if search.possible:
                outcomes = search.outcomes()
                if not views:
                    found.update(outcome for outcome, _ in outcomes)
                    continue
                seen = [view.under(orders) for view in views]
                found.update(outcome for outcome, sources in outcomes
                             if outcome not in found and all(view.allows(sources) for view in seen))
        return found


class _Search:
    """The sources under one store order."""

    def __init__(self, axioms: Axioms, subject: Subject, static: tuple[int, ...], orders: tuple[Order, ...]) -> None:
        self._axioms = axioms
        self._events = subject.events
        self._static = static
        self._co = 0
        for order in orders:
            self._co |= order.co
        self._width = subject.events.width
        self._base = [check.relation(static, self._events, 0, self._co, 0) for check in axioms._graphs]
        self.possible = not any(cyclic(graph, self._width) for graph in self._base)
        self._choices: list[list[tuple[Source, list[int]]]] = []
        if self.possible:
            for order in orders:
                for sources in order.sources:
                    choices = [choice for source in sources if (choice := self._choice(source)) is not None]
                    self.possible = self.possible and bool(choices)
                    self._choices.append(choices)
        if self.possible and not self._choices:
            self.possible = all(self._holds(check, 0, 0) for check in (*axioms._filters, *axioms._others))

    def _choice(self, source: Source) -> tuple[Source, list[int]] | None:
        """The source with the pairs that it makes, if it alone breaks nothing."""
        static, events, co = self._static, self._events, self._co
        for check in self._axioms._filters:
            if not self._holds(check, source.rf, source.fr):
                return None
        graphs = []
        for check in self._axioms._graphs:
            graph = check.relation(static, events, source.rf, co, source.fr)
            if cyclic(graph, self._width):
                return None
            graphs.append(graph)
        return source, graphs

    def _holds(self, check: MaskedCheck, rf: int, fr: int) -> bool:
        relation = check.relation(self._static, self._events, rf, self._co, fr)
        if check.kind == "acyclic":
            return not cyclic(relation, self._width)
        return not (relation if check.kind == "empty" else relation & self._events.id)

    def outcomes(self) -> Iterator[tuple[int, tuple[Source, ...]]]:
        if not self._choices:
            yield 0, ()
        elif self._axioms._others:
            yield from self._from(0, self._base, 0, 0, 0, ())
        elif len(self._base) == 2:
            yield from self._two(0, *self._base, 0, ())
        else:
            yield from self._linear(0, self._base, 0, ())

    def _two(self, at: int, first: int, second: int, bits: int,
             before: tuple[Source, ...]) -> Iterator[tuple[int, tuple[Source, ...]]]:
        """As `_linear`, for the two graphs that most models have."""
        width, last = self._width, at + 1 == len(self._choices)
        for source, (one, other) in self._choices[at]:
            one |= first
            if cyclic(one, width):
                continue
            other |= second
            if cyclic(other, width):
                continue
            if last:
                yield bits | source.bits, (*before, source)
            else:
                yield from self._two(at + 1, one, other, bits | source.bits, (*before, source))

    def _linear(self, at: int, graphs: list[int], bits: int,
                before: tuple[Source, ...]) -> Iterator[tuple[int, tuple[Source, ...]]]:
        width, last = self._width, at + 1 == len(self._choices)
        for source, more in self._choices[at]:
            joined = [graph | new for graph, new in zip(graphs, more, strict=True)]
            if any(cyclic(graph, width) for graph in joined):
                continue
            if last:
                yield bits | source.bits, (*before, source)
            else:
                yield from self._linear(at + 1, joined, bits | source.bits, (*before, source))

    def _from(self, at: int, graphs: list[int], rf: int, fr: int, bits: int,
              before: tuple[Source, ...]) -> Iterator[tuple[int, tuple[Source, ...]]]:
        """With checks that have to be looked at anew; those that may hold again only once all sources are chosen."""
        last = at + 1 == len(self._choices)
        for source, more in self._choices[at]:
            joined = [graph | new for graph, new in zip(graphs, more, strict=True)]
            reading, overwritten = rf | source.rf, fr | source.fr
            if any(cyclic(graph, self._width) for graph in joined) or not all(
                    self._holds(check, reading, overwritten) for check in self._axioms._others if last or check.grows):
                continue
            if last:
                yield bits | source.bits, (*before, source)
            else:
                yield from self._from(at + 1, joined, reading, overwritten, bits | source.bits, (*before, source))
