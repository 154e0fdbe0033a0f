"""Checks a refutation: case by case, then by unit propagation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from gradual.evidence.axioms import Axioms, ModelText, check_named
from gradual.evidence.cycles import Walk
from gradual.evidence.errors import CertificateError, require
from gradual.evidence.events import Events, SomeOrder, StoreOrder, Stores, closed
from gradual.evidence.observed import Observed
from gradual.evidence.text import Text, grows_with_co
from gradual.evidence.verdict import Broken, Cycle, Pair, Refutation
from gradual.models.syntax import Check


def check_refutation(observed: Observed, axioms: Axioms, model: ModelText | None, refutation: Refutation) -> None:
    """`model` is its text, for cases that say no more than that an axiom fails."""
    clauses = _Clauses(observed)
    for case in refutation.cases:
        if isinstance(case, Cycle):
            Walk(observed, axioms, case).check()
        else:
            _check_broken(observed, model, case)
        clauses.add([(after, before) for before, after in case.assumed])
    for lemma in refutation.lemmas:
        for pair in lemma:
            require(observed.is_pair(*pair), "the store order is between two writes of one location")
        require(clauses.implies(lemma), "a lemma does not follow")
        clauses.add(lemma)
    require(bool(refutation.lemmas) and not refutation.lemmas[-1], "the refutation does not end in a contradiction")


def _check_broken(observed: Observed, model: ModelText | None, case: Broken) -> None:
    if model is None:
        raise CertificateError("without the text of a model nobody can see that an axiom fails")
    check = check_named(model, case.axiom)
    events = Events(observed)
    pairs = closed(observed, case.assumed)
    stores: Stores = (SomeOrder(events, pairs) if grows_with_co(check.expression)
                      else StoreOrder(events, _in_order(observed, pairs)))
    require(not holds(check, Text(events, stores)), f"{case.axiom} may hold with these pairs")


def holds(check: Check, text: Text) -> bool:
    """Does a check hold, by looking at all of its relation?"""
    question = {"acyclic": text.is_acyclic, "irreflexive": text.is_irreflexive, "empty": text.is_empty}[check.kind]
    return question(check.expression)


def _in_order(observed: Observed, pairs: set[Pair]) -> list[int]:
    """The writes in the order of `pairs`, which must order those of each location totally."""
    writes = np.flatnonzero(observed.storing).tolist()
    earlier: dict[int, int] = defaultdict(int)
    for _, after in pairs:
        earlier[after] += 1
    at = observed.history.location
    places = sorted((int(at[write]), earlier[write]) for write in writes)
    require(len(set(places)) == len(places) and not any(observed.comes_last(a) for a, _ in pairs),
            "the axiom asks what the store order does not hold, and the assumed pairs leave some of it open")
    return sorted(writes, key=lambda write: earlier[write])


class _Clauses:
    """Clauses over ordered pairs; the negation of (a, b) is (b, a), and a < b < c makes a < c.

    A write that must come last comes before no other.
    """

    def __init__(self, observed: Observed) -> None:
        self._observed = observed
        self._clauses: list[frozenset[Pair]] = []
        self._with: dict[Pair, list[int]] = defaultdict(list)
        self._short: list[int] = []

    def add(self, clause: Iterable[Pair]) -> None:
        literals = frozenset((a, b) for a, b in clause if not self._observed.comes_last(a))
        if len(literals) <= 1:
            self._short.append(len(self._clauses))
        for literal in literals:
            self._with[literal].append(len(self._clauses))
        self._clauses.append(literals)

    def implies(self, clause: Iterable[Pair]) -> bool:
        """Does assuming the negation of `clause` lead to a conflict by unit propagation alone?"""
        order = _Order()
        if any(self._observed.comes_last(b) or not order.add(b, a) for a, b in clause):
            return True
        touched = list(self._short)
        while touched or order.fresh:
            if not touched:
                a, b = order.fresh.pop()
                touched = list(self._with.get((b, a), ()))
                continue
            literals = self._clauses[touched.pop()]
            if literals & order.pairs:
                continue
            possible = [(a, b) for a, b in literals if (b, a) not in order.pairs]
            if not possible or (len(possible) == 1 and not order.add(*possible[0])):
                return True
        return False


class _Order:
    """Pairs of writes that hold, with all that follows by transitivity."""

    def __init__(self) -> None:
        self.pairs: set[Pair] = set()
        self.fresh: list[Pair] = []
        """Pairs that nobody has looked at yet."""
        self._after: dict[int, set[int]] = defaultdict(set)
        self._before: dict[int, set[int]] = defaultdict(set)

    def add(self, a: int, b: int) -> bool:
        """False if that cannot be."""
        if (b, a) in self.pairs:
            return False
        for first in (a, *self._before[a]):
            for then in (b, *self._after[b]):
                if (first, then) not in self.pairs:
                    self.pairs.add((first, then))
                    self.fresh.append((first, then))
                    self._after[first].add(then)
                    self._before[then].add(first)
        return True
