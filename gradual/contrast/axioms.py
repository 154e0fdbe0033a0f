"""The outcomes of a small program by the axioms of a model.

Most checks are linear: the pairs that make a cycle are the union of what each source and each part of the store order
contributes. For such models locations are looked at one by one: their store orders and sources, without those that
close a cycle by themselves; then one choice of each location is put to one of every other. Any other model is searched
store order by store order and load by load, and what a check forbids is cut off as soon as more pairs cannot mend it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import NamedTuple

from gradual.contrast.subject import Order, Subject
from gradual.contrast.views import OrderedViews, Views
from gradual.models import Model
from gradual.models.masks import MaskedCheck, cyclic, masked


class _Choice(NamedTuple):
    """What some locations are like, store orders and sources: what that adds to the outcome, and to each check."""

    bits: int
    graphs: tuple[int, ...]


class Axioms:
    """A model, ready for programs."""

    def __init__(self, model: Model) -> None:
        self.model = model
        compiled = masked(tuple(check for check in model.checks if check.kind != "views"))
        self._static = compiled.static
        self._checks = compiled.checks
        self._views = [Views(check) for check in model.checks if check.kind == "views"]
        self._linear = not self._views and all(check.linear and check.grows for check in self._checks)
        self._everywhere = [at for at, check in enumerate(self._checks) if not check.local and check.kind == "acyclic"]
        """The checks that one location alone does not settle."""

    def packed(self, subject: Subject) -> set[int]:
        """The outcomes that the model allows, packed."""
        static = self._static(subject.events)
        if self._linear:
            return self._by_location(subject, static)
        views = [view.of(subject) for view in self._views]
        return {outcome for orders in product(*subject.orders)
                for outcome in self._under(subject, static, orders, [view.under(orders) for view in views])}

    def _holds(self, check: MaskedCheck, relation: int, subject: Subject) -> bool:
        if check.kind == "acyclic":
            return not cyclic(relation, subject.events.width)
        return not (relation if check.kind == "empty" else relation & subject.events.id)

    # --- linear models

    def _by_location(self, subject: Subject, static: tuple[int, ...]) -> set[int]:
        if not subject.orders:
            return {0}
        width = subject.events.width
        first, *others = sorted((list(self._choices(subject, static, address))
                                 for address in range(len(subject.orders))), key=len)
        for choices in others:
            first = [_Choice(bits | more, graphs) for bits, before in first for more, new in choices
                     if (graphs := _acyclic_union(before, new, width)) is not None]
        return {choice.bits for choice in first}

    def _choices(self, subject: Subject, static: tuple[int, ...], address: int) -> Iterator[_Choice]:
        """What one location can be like, as far as it alone tells."""
        events, checks = subject.events, self._checks
        for order in subject.orders[address]:
            base = tuple([check.relation(static, events, 0, order.co, 0) for check in checks])
            found = [_Choice(0, base)]
            if not all(self._holds(check, graph, subject) for check, graph in zip(checks, base, strict=True)):
                continue
            for sources in order.sources(subject.initial(address)):
                further = [_Choice(source.bits, graphs) for source in sources
                           if (graphs := self._joined(subject, base, [check.relation(
                               static, events, source.rf, 0, source.fr) for check in checks])) is not None]
                found = further if len(found) == 1 and found[0].graphs is base else [
                    _Choice(bits | more, graphs) for bits, before in found for more, new in further
                    if (graphs := self._joined(subject, before, new)) is not None]
            yield from (_Choice(bits, tuple([graphs[at] for at in self._everywhere])) for bits, graphs in found)

    def _joined(self, subject: Subject, before: tuple[int, ...], new: Iterable[int]) -> tuple[int, ...] | None:
        """Both together, if nothing breaks."""
        width, graphs = subject.events.width, []
        for check, one, other in zip(self._checks, before, new, strict=True):
            graph = one | other
            if cyclic(graph, width) if check.kind == "acyclic" else not self._holds(check, graph, subject):
                return None
            graphs.append(graph)
        return tuple(graphs)

    # --- any model

    def _under(self, subject: Subject, static: tuple[int, ...], orders: tuple[Order, ...],
               views: list[OrderedViews]) -> Iterator[int]:
        """The outcomes under one store order."""
        if not all(view.possible for view in views):
            return
        co = 0
        for order in orders:
            co |= order.co
        loads = [(sources, load) for address, order in enumerate(orders) for sources, load in zip(
            order.sources(subject.initial(address)), subject.loads(address), strict=True)]

        def possible(rf: int, fr: int, whole: bool) -> bool:
            return all(self._holds(check, check.relation(static, subject.events, rf, co, fr), subject)
                       for check in self._checks if whole or check.grows)

        def further(at: int, rf: int, fr: int, bits: int, views: list[OrderedViews]) -> Iterator[int]:
            if at == len(loads):
                if all(view.fences() for view in views):
                    yield bits
                return
            sources, load = loads[at]
            for source in sources:
                reading, overwriting = rf | source.rf, fr | source.fr
                seen = [new for view in views if (new := view.reading(load, source)) is not None]
                if len(seen) == len(views) and possible(reading, overwriting, at + 1 == len(loads)):
                    yield from further(at + 1, reading, overwriting, bits | source.bits, seen)

        if possible(0, 0, not loads):
            yield from further(0, 0, 0, 0, views)



def _acyclic_union(ones: tuple[int, ...], others: tuple[int, ...], width: int) -> tuple[int, ...] | None:
    """Pair by pair, if no union has a cycle."""
    found = []
    for one, other in zip(ones, others, strict=True):
        if cyclic(one | other, width):
            return None
        found.append(one | other)
    return tuple(found)
