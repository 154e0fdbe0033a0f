"""Checks a refutation: case by case, then by unit propagation."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from gradual.deadline import Deadline
from gradual.evidence.axioms import Axioms, ModelText, check_named
from gradual.evidence.cycles import Walk
from gradual.evidence.errors import CertificateError, require
from gradual.evidence.events import Events, SomeOrder, StoreOrder, Stores, closed
from gradual.evidence.observed import Observed
from gradual.evidence.text import Text, grows_with_co, grows_with_rf
from gradual.evidence.verdict import Broken, Claim, Cycle, Origin, Pair, Refutation
from gradual.history import INITIAL, History
from gradual.models.syntax import Check

SMALL = 500
"""Operations up to which all that a history tells of its store order is looked at."""


def check_refutation(history: History, axioms: Callable[[Observed], Axioms], model: ModelText | None,
                     refutation: Refutation, deadline: Deadline) -> None:
    """`model` is its text, for cases that say no more than that an axiom fails."""
    observed = Observed(history)
    clauses = _Clauses(observed)
    for pair in _told(observed, refutation):
        clauses.add([pair])
    cases = _Cases(history, axioms, model)
    for case in refutation.cases:
        deadline.check()
        cases.check(case)
        clauses.add([*((after, before) for before, after in case.assumed), *map(negated, case.origins)])
    for lemma in refutation.lemmas:
        deadline.check()
        require(clauses.implies(lemma), "a lemma does not follow")
        clauses.add(lemma)
    require(bool(refutation.lemmas) and not refutation.lemmas[-1], "the refutation does not end in a contradiction")


class _Cases:
    """Checks cases; those with the same origins see the history alike."""

    def __init__(self, history: History, axioms: Callable[[Observed], Axioms], model: ModelText | None) -> None:
        self._history = history
        self._axioms = axioms
        self._model = model
        self._seen: dict[tuple[Origin, ...], tuple[Observed, Axioms]] = {}

    def check(self, case: Cycle | Broken) -> None:
        if case.origins not in self._seen:
            observed = Observed(self._history, case.origins)
            self._seen[case.origins] = observed, self._axioms(observed)
        observed, axioms = self._seen[case.origins]
        if isinstance(case, Cycle):
            Walk(observed, axioms, case).check()
        else:
            _check_broken(observed, self._model, case)


def _told(observed: Observed, refutation: Refutation) -> Iterator[Pair]:
    """The pairs that the history tells: each write to those of the next place. Of a large history, only of the writes
    that the refutation speaks of."""
    order = observed.history.order
    if order is None:
        return
    claims = [*(pair for case in refutation.cases for pair in case.assumed), *itertools.chain(*refutation.lemmas)]
    writes = {write for pair in claims if not isinstance(pair, Origin) for write in pair}
    if len(order) <= SMALL:
        writes = {*np.flatnonzero(observed.storing).tolist()}
    at: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for write in writes:
        if observed.writes(write) and order[write] >= 0:
            at[int(observed.history.location[write])][int(order[write])].append(write)
    for places in at.values():
        for before, after in itertools.pairwise(sorted(places)):
            yield from itertools.product(places[before], places[after])


def _check_broken(observed: Observed, model: ModelText | None, case: Broken) -> None:
    if model is None:
        raise CertificateError("without the text of a model nobody can see that an axiom fails")
    check = check_named(model, case.axiom)
    require(grows_with_rf(check.expression) or not observed.leaves_open,
            "the axiom asks what was not read, and the origins leave that open")
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


def negated(claim: Claim) -> Claim:
    if isinstance(claim, Origin):
        return claim._replace(holds=not claim.holds)
    return claim[1], claim[0]


class _Clauses:
    """Clauses over ordered pairs and origins; the negation of (a, b) is (b, a), and a < b < c makes a < c. Every value
    came from one of those who wrote it.

    A write that must come last comes before no other. What follows from the clauses alone is kept, so that only what a
    lemma adds to it has to be propagated.
    """

    def __init__(self, observed: Observed) -> None:
        self._observed = observed
        self._watched: dict[Claim, list[list[Claim]]] = defaultdict(list)
        """Each clause by its first two claims, one of which must be false before there is anything to do about it."""
        self._settled = _Known(observed)
        self._contradictory = False
        self._readers: set[int] = set()
        """Those whose values are known to come from somewhere."""
        self._initially: list[int] = []
        """Those of them that may have returned what memory held."""

    def _by_access(self, clause: Iterable[Claim]) -> list[Claim]:
        """The claims of a clause, pairs as those of the accesses that happen at once."""
        accesses = self._observed.accesses
        if not accesses.several:
            return list(clause)
        for claim in (clause := list(clause)):
            self._meet(claim)
        return [claim if isinstance(claim, Origin) else (accesses.first(claim[0]), accesses.first(claim[1]))
                for claim in clause]

    def add(self, clause: Iterable[Claim]) -> None:
        claims = {claim for claim in self._by_access(clause) if not self._is_false(claim)}
        for claim in claims:
            self._meet(claim)
        if self._contradictory or any(claim in self._settled for claim in claims):
            return
        possible = [claim for claim in claims if negated(claim) not in self._settled]
        if len(possible) > 1:
            self._watched[possible[0]].append(possible)
            self._watched[possible[1]].append(possible)
        else:
            self._contradictory = not possible or not self._settled.add(possible[0]) or self._propagate(self._settled)

    def _is_false(self, claim: Claim) -> bool:
        """Does it say that something comes after what must come last?"""
        return not isinstance(claim, Origin) and self._observed.is_after(*claim)

    def _meet(self, claim: Claim) -> None:
        """Raise unless the claim makes sense; of a new reader, somebody wrote what it read."""
        if not isinstance(claim, Origin):
            require(self._observed.is_pair(*claim), "the store order is between two writes of one location")
            return
        candidates = self._observed.candidates(claim.reader)
        require(claim.write in candidates, "nobody can have read that there")
        if claim.reader not in self._readers:
            self._readers.add(claim.reader)
            self.add([Origin(claim.reader, write) for write in candidates])
            if INITIAL in candidates and claim.reader < len(self._observed.history):
                self._hold_one_value(claim.reader)

    def _hold_one_value(self, reader: int) -> None:
        """Where memory may have held anything, it held one value."""
        for other in self._initially:
            if self._observed.excludes(reader, other):
                self.add([Origin(reader, INITIAL, False), Origin(other, INITIAL, False)])
        self._initially.append(reader)

    def implies(self, clause: Iterable[Claim]) -> bool:
        """Does assuming the negation of `clause` lead to a conflict by unit propagation alone?"""
        known = _Known(self._observed, self._settled)
        clause = self._by_access(clause)
        for claim in clause:
            self._meet(claim)
        if self._contradictory or any(self._is_false(negated(claim)) or not known.add(negated(claim))
                                      for claim in clause):
            return True
        return self._propagate(known)

    def _propagate(self, known: _Known) -> bool:
        """Add what the clauses force now that the fresh claims hold, and what that forces. True when that cannot be."""
        while known.fresh:
            false = negated(known.fresh.pop())
            watching, self._watched[false] = self._watched[false], []
            while watching:
                clause = watching.pop()
                if not self._look(clause, false, known):
                    self._watched[false] += watching
                    return True
        return False

    def _look(self, clause: list[Claim], false: Claim, known: _Known) -> bool:
        """One of the two watched claims of a clause is false: watch another, or the other one must hold. False when
        that cannot be."""
        if clause[0] == false:
            clause[0], clause[1] = clause[1], clause[0]
        if clause[0] not in known:
            for place in range(2, len(clause)):
                if negated(clause[place]) not in known:
                    clause[1], clause[place] = clause[place], clause[1]
                    self._watched[clause[1]].append(clause)
                    return True
        self._watched[false].append(clause)
        return clause[0] in known or known.add(clause[0])


class _Known:
    """Claims that hold, with all that follows by transitivity: on top of those that `below` has."""

    def __init__(self, observed: Observed, below: _Known | None = None) -> None:
        self._observed = observed
        self._below = below
        self._claims: set[Claim] = set()
        self.fresh: list[Claim] = []
        """Claims that nobody has looked at yet."""
        self._after: dict[int, set[int]] = defaultdict(set)
        self._before: dict[int, set[int]] = defaultdict(set)

    def __contains__(self, claim: Claim) -> bool:
        return claim in self._claims or (self._below is not None and claim in self._below)

    def add(self, claim: Claim) -> bool:
        """False if that cannot be."""
        if isinstance(claim, Origin):
            return negated(claim) not in self and (claim in self or self._add_origin(claim))
        a, b = map(self._observed.accesses.first, claim)
        if (b, a) in self:
            return False
        for first in (a, *self.before(a)):
            for then in (b, *self.after(b)):
                if (first, then) not in self:
                    self._hold((first, then))
                    self._after[first].add(then)
                    self._before[then].add(first)
        return True

    def _hold(self, claim: Claim) -> None:
        self._claims.add(claim)
        self.fresh.append(claim)

    def _add_origin(self, origin: Origin) -> bool:
        """Of a final value: all others come before that write."""
        self._hold(origin)
        if not origin.holds or origin.reader < len(self._observed.history):
            return True
        others = self._observed.writes_of(origin.reader - len(self._observed.history))
        return all(self.add((other, origin.write)) for other in others if other != origin.write)

    def before(self, write: int) -> set[int]:
        own = self._before.get(write, set())
        return own | self._below.before(write) if self._below else own

    def after(self, write: int) -> set[int]:
        own = self._after.get(write, set())
        return own | self._below.after(write) if self._below else own
