"""What the axioms of a model say of one pair of operations: by the model's text, or written down a second time."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Protocol

from gradual.evidence.errors import CertificateError, require
from gradual.evidence.events import Events, SomeOrder
from gradual.evidence.machine import preserved
from gradual.evidence.observed import Observed
from gradual.evidence.text import Text, alternatives, bare, grows_with_co, grows_with_rf, is_about_sources, keeps_to
from gradual.evidence.verdict import Edge, Pair
from gradual.history import INITIAL
from gradual.models.syntax import Check, Expression, Nothing, Plus, Union


class ModelText(Protocol):
    """A model, as far as the certificate looks at it."""

    @property
    def name(self) -> str: ...

    @property
    def checks(self) -> tuple[Check, ...]: ...

    @property
    def splits_rmws(self) -> bool:
        """Does it take an rmw for two events?"""


class Axioms(Protocol):
    """The axioms of a model over one history."""

    def require_edge(self, axiom: str, edge: Edge, pairs: Iterable[Pair]) -> None:
        """Raise unless the axiom called `axiom` wants `edge.start` before `edge.end`, these pairs of writes ordered."""

    def require_everywhere(self, axiom: str) -> None:
        """Raise unless the axiom orders accesses whatever their location: what real time adds to."""

    def orders_accesses(self, axiom: str) -> bool:
        """Does it order accesses, whose events happen at once? One that speaks of single locations orders events."""

    def wants_nothing(self, axiom: str) -> bool:
        """Is the axiom about a relation that must be empty?"""

    def require_broken(self, axiom: str, pairs: Iterable[Pair]) -> None:
        """Raise unless such an axiom fails when these pairs of writes are ordered so, whatever else is."""


class SecondOpinion:
    """SC, TSO and PSO, from the manuals."""

    def __init__(self, observed: Observed, model: str) -> None:
        self._observed = observed
        self._model = model

    def require_edge(self, axiom: str, edge: Edge, pairs: Iterable[Pair]) -> None:
        require(axiom in ("global", "coherence"), f"{self._model} has no axiom called {axiom}")
        observed, a, b = self._observed, edge.start, edge.end
        if edge.kind == "po":
            require(a < b, "po must follow the program")
            if axiom == "coherence":
                require(observed.location[a] == observed.location[b] >= 0, "both must access one location")
            else:
                require(preserved(observed, self._model, a, b),
                        f"{self._model} does not preserve this program order")
        elif edge.kind == "wr":
            own = observed.thread[a] == observed.thread[b]
            require(self._model == "SC" or axiom == "coherence" or not own,
                    "a thread's read of its own write orders nothing globally")

    def require_everywhere(self, axiom: str) -> None:
        require(axiom == "global", f"real time has no place in {axiom}")

    def orders_accesses(self, axiom: str) -> bool:
        return axiom == "global"

    def wants_nothing(self, axiom: str) -> bool:
        return axiom == "atomicity"

    def require_broken(self, axiom: str, pairs: Iterable[Pair]) -> None:
        """Another thread's write between what a load-reserved read and its store-conditional."""
        observed, known = self._observed, set(pairs)
        thread = observed.history.thread
        between = {write for pair in known for write in pair}

        def before(a: int, b: int) -> bool:
            return observed.is_pair(a, b) and ((a, b) in known or observed.comes_last(b))

        for load, store in observed.pairs_of({int(observed.history.location[write]) for write in between}):
            if observed.is_open(load):
                continue
            source = observed.source(load)
            others = [write for write in between if thread[write] != thread[load] and before(write, store)]
            if any(source == INITIAL or before(source, write) for write in others):
                return
        raise CertificateError("nothing comes between a load-reserved and its store-conditional")


class ByText:
    """Any model, by its text."""

    def __init__(self, observed: Observed, model: ModelText) -> None:
        self._events = Events(observed)
        self._model = model

    def require_edge(self, axiom: str, edge: Edge, pairs: Iterable[Pair]) -> None:
        text = Text(self._events, SomeOrder(self._events, pairs))
        require(text.has(self._sure(self._acyclic(axiom), edge), edge.start, edge.end),
                f"the axiom {axiom} of {self._model.name} does not order these two")

    def _sure(self, expression: Expression, edge: Edge) -> Expression:
        """The terms of a union that have this pair, if they do, whatever open reads returned."""
        observed = self._events.observed
        if not observed.leaves_open:
            return expression
        known = not any(observed.reads(end) and observed.is_open(end) for end in (edge.start, edge.end))
        nothing: Expression = Nothing()
        return reduce(Union, (term for term in alternatives(expression)
                              if grows_with_rf(term) or (known and is_about_sources(term))), nothing)

    def require_everywhere(self, axiom: str) -> None:
        require(axiom in everywhere(self._model), f"real time has no place in {axiom} of {self._model.name}")

    def orders_accesses(self, axiom: str) -> bool:
        return axiom in everywhere(self._model)

    def wants_nothing(self, axiom: str) -> bool:
        return check_named(self._model, axiom).kind == "empty"

    def require_broken(self, axiom: str, pairs: Iterable[Pair]) -> None:
        expression = check_named(self._model, axiom).expression
        require(grows_with_co(expression), f"{axiom} asks what the store order does not hold: some of it shows nothing")
        require(grows_with_rf(expression) or not self._events.observed.leaves_open, "the origins leave something open")
        known = list(pairs)
        text, observed = Text(self._events, SomeOrder(self._events, known)), self._events.observed
        coupled = observed.pairs_of({int(self._events.location[write]) for pair in known for write in pair})
        require(any(text.has(expression, load, store) for load, store in coupled) or not text.is_empty(expression),
                f"the axiom {axiom} of {self._model.name} may hold then")

    def _acyclic(self, axiom: str) -> Expression:
        """What the axiom wants acyclic; more of the store order must not take pairs away from it."""
        check = check_named(self._model, axiom)
        expression = bare(check.expression)
        if check.kind == "irreflexive" and isinstance(expression, Plus):
            expression = bare(expression.of)
        else:
            require(check.kind == "acyclic", f"{axiom} forbids no cycles")
        require(grows_with_co(expression), f"{axiom} asks what the store order does not hold: no cycle shows that")
        return expression


def everywhere(model: ModelText) -> set[str]:
    """The acyclic axioms that order accesses whatever their location; all, where they speak of single locations."""
    acyclic = {check.name: keeps_to(check.expression) for check in model.checks if check.kind != "empty"}
    return {name for name, kept in acyclic.items() if "loc" not in kept} or {*acyclic}


def check_named(model: ModelText, name: str) -> Check:
    for check in model.checks:
        if check.name == name:
            return check
    raise CertificateError(f"{model.name} has no axiom called {name}")
