"""Checks a refutation: case by case, then by unit propagation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from gradual.deadline import Deadline
from gradual.evidence.axioms import Axioms, ModelText, check_named
from gradual.evidence.cycles import Walk
from gradual.evidence.errors import CertificateError, require
from gradual.evidence.events import Events, SomeOrder, StoreOrder, Stores, closed
from gradual.evidence.observed import Observed
from gradual.evidence.text import Text, grows_with_co
from gradual.evidence.verdict import Broken, Cycle, Pair, Refutation
from gradual.models.syntax import Check


def check_refutation(observed: Observed, axioms: Axioms, model: ModelText | None, refutation: Refutation,
                     deadline: Deadline) -> None:
    """`model` is its text, for cases that say no more than that an axiom fails."""
    clauses = _Clauses(observed)
    for case in refutation.cases:
        deadline.check()
        if isinstance(case, Cycle):
            Walk(observed, axioms, case).check()
        else:
            _check_broken(observed, model, case)
        clauses.add([(after, before) for before, after in case.assumed])
    for lemma in refutation.lemmas:
        deadline.check()
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

    A write that must come last comes before no other. What follows from the clauses alone is kept, so that only what a
    lemma adds to it has to be propagated.
    """

    def __init__(self, observed: Observed) -> None:
        self._observed = observed
        self._watched: dict[Pair, list[list[Pair]]] = defaultdict(list)
        """Each clause by its first two pairs, one of which must be false before there is anything to do about it."""
        self._settled = _Order()
        self._contradictory = False

    def add(self, clause: Iterable[Pair]) -> None:
        pairs = {(a, b) for a, b in clause if not self._observed.comes_last(a)}
        if self._contradictory or any(pair in self._settled for pair in pairs):
            return
        possible = [(a, b) for a, b in pairs if (b, a) not in self._settled]
        if len(possible) > 1:
            self._watched[possible[0]].append(possible)
            self._watched[possible[1]].append(possible)
        else:
            self._contradictory = not possible or not self._settled.add(*possible[0]) or self._propagate(self._settled)

    def implies(self, clause: Iterable[Pair]) -> bool:
        """Does assuming the negation of `clause` lead to a conflict by unit propagation alone?"""
        order = _Order(self._settled)
        if self._contradictory or any(self._observed.comes_last(b) or not order.add(b, a) for a, b in clause):
            return True
        return self._propagate(order)

    def _propagate(self, order: _Order) -> bool:
        """Add what the clauses force now that the fresh pairs hold, and what that forces. True when that cannot be."""
        while order.fresh:
            a, b = order.fresh.pop()
            false = b, a
            watching, self._watched[false] = self._watched[false], []
            while watching:
                clause = watching.pop()
                if not self._look(clause, false, order):
                    self._watched[false] += watching
                    return True
        return False

    def _look(self, clause: list[Pair], false: Pair, order: _Order) -> bool:
        """One of the two watched pairs of a clause is false: watch another, or the other one must hold. False when that
        cannot be."""
        if clause[0] == false:
            clause[0], clause[1] = clause[1], clause[0]
        if clause[0] not in order:
            for place in range(2, len(clause)):
                x, y = clause[place]
                if (y, x) not in order:
                    clause[1], clause[place] = clause[place], clause[1]
                    self._watched[x, y].append(clause)
                    return True
        self._watched[false].append(clause)
        return clause[0] in order or order.add(*clause[0])


class _Order:
    """Pairs of writes that hold, with all that follows by transitivity: on top of those that `below` has."""

    def __init__(self, below: _Order | None = None) -> None:
        self._below = below
        self._pairs: set[Pair] = set()
        self.fresh: list[Pair] = []
        """Pairs that nobody has looked at yet."""
        self._after: dict[int, set[int]] = defaultdict(set)
        self._before: dict[int, set[int]] = defaultdict(set)

    def __contains__(self, pair: Pair) -> bool:
        return pair in self._pairs or (self._below is not None and pair in self._below)

    def add(self, a: int, b: int) -> bool:
        """False if that cannot be."""
        if (b, a) in self:
            return False
        for first in (a, *self.before(a)):
            for then in (b, *self.after(b)):
                if (first, then) not in self:
                    self._pairs.add((first, then))
                    self.fresh.append((first, then))
                    self._after[first].add(then)
                    self._before[then].add(first)
        return True

    def before(self, write: int) -> set[int]:
        own = self._before.get(write, set())
        return own | self._below.before(write) if self._below else own

    def after(self, write: int) -> set[int]:
        own = self._after.get(write, set())
        return own | self._below.after(write) if self._below else own
