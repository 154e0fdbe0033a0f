"""The second-order language: sets and relations of events, and what is said of them.

A set is a formula for each event, a relation one for each pair; where there is none, it is false. So a variable only
has atoms where it can hold at all, and every definition below, written as on paper, comes to a formula without
first-order quantifiers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product

from gradual.events.formula import FALSE, Formula, all_of, atoms, some_of
from gradual.events.formula import exists as exists_atoms
from gradual.events.formula import for_all as for_all_atoms

Pair = tuple[int, int]


class Set:
    """Events, each with the formula that says it is in the set."""

    def __init__(self, members: Mapping[int, Formula]) -> None:
        self.members = {event: formula for event, formula in members.items() if formula is not FALSE}

    def __call__(self, event: int) -> Formula:
        return self.members.get(event, FALSE)

    def __and__(self, other: Set) -> Set:
        return Set({event: formula & other(event) for event, formula in self.members.items()})

    def __or__(self, other: Set) -> Set:
        return Set({event: self(event) | other(event) for event in {**self.members, **other.members}})

    def __sub__(self, other: Set) -> Set:
        return Set({event: formula & ~other(event) for event, formula in self.members.items()})

    def atoms(self) -> Iterator[Formula]:
        """Of a variable."""
        return iter(self.members.values())


class Relation:
    """Pairs of events, each with the formula that says it is in the relation."""

    def __init__(self, pairs: Mapping[Pair, Formula]) -> None:
        self.pairs = {pair: formula for pair, formula in pairs.items() if formula is not FALSE}

    def __call__(self, a: int, b: int) -> Formula:
        return self.pairs.get((a, b), FALSE)

    def __and__(self, other: Relation) -> Relation:
        return Relation({pair: formula & other(*pair) for pair, formula in self.pairs.items()})

    def __or__(self, other: Relation) -> Relation:
        return Relation({pair: self(*pair) | other(*pair) for pair in {**self.pairs, **other.pairs}})

    def __sub__(self, other: Relation) -> Relation:
        return Relation({pair: formula & ~other(*pair) for pair, formula in self.pairs.items()})

    def atoms(self) -> Iterator[Formula]:
        """Of a variable."""
        return iter(self.pairs.values())


def some_set(within: Iterable[int]) -> Set:
    """A variable."""
    events = list(within)
    return Set(dict(zip(events, atoms(len(events)), strict=True)))


def some_relation(within: Iterable[Pair]) -> Relation:
    """A variable that holds of no other pairs."""
    pairs = list(within)
    return Relation(dict(zip(pairs, atoms(len(pairs)), strict=True)))


def exists(*variables: Set | Relation, such_that: Formula) -> Formula:
    return exists_atoms((atom for variable in variables for atom in variable.atoms()), such_that)


def for_all(*variables: Set | Relation, it_holds: Formula) -> Formula:
    return for_all_atoms((atom for variable in variables for atom in variable.atoms()), it_holds)


# --- what is said of sets and relations


def sub(p: Set | Relation, q: Set | Relation) -> Formula:
    """∀x̄ (P x̄ → Q x̄)."""
    if isinstance(p, Set) and isinstance(q, Set):
        return all_of(formula.implies(q(event)) for event, formula in p.members.items())
    assert isinstance(p, Relation) and isinstance(q, Relation)
    return all_of(formula.implies(q(*pair)) for pair, formula in p.pairs.items())


def eq(p: Set, q: Set) -> Formula:
    return sub(p, q) & sub(q, p)


def inv(p: Relation) -> Relation:
    """P(y, x)."""
    return Relation({(b, a): formula for (a, b), formula in p.pairs.items()})


def ident(p: Set) -> Relation:
    """[P]: each event of a set with itself."""
    return Relation({(event, event): formula for event, formula in p.members.items()})


def seq(*parts: Relation) -> Relation:
    """∃y (P(x, y) ∧ Q(y, z)); of several, from left to right."""
    first, *others = parts
    for other in others:
        first = _seq(first, other)
    return first


def _seq(p: Relation, q: Relation) -> Relation:
    after: dict[int, list[tuple[int, Formula]]] = {}
    for (b, c), formula in q.pairs.items():
        after.setdefault(b, []).append((c, formula))
    found: dict[Pair, list[Formula]] = {}
    for (a, b), formula in p.pairs.items():
        for c, other in after.get(b, ()):
            found.setdefault((a, c), []).append(formula & other)
    return Relation({pair: some_of(ways) for pair, ways in found.items()})


def maybe(p: Relation, events: Set) -> Relation:
    """P?, on these events."""
    return ident(events) | p


def irrefl(p: Relation) -> Formula:
    """∀x ¬P(x, x)."""
    return all_of(~formula for (a, b), formula in p.pairs.items() if a == b)


def empty(p: Relation) -> Formula:
    return all_of(~formula for formula in p.pairs.values())


def trans(p: Relation) -> Formula:
    """sub(seq(P, P), P), a clause for each x, y, z."""
    after: dict[int, list[tuple[int, Formula]]] = {}
    for (a, b), formula in p.pairs.items():
        after.setdefault(a, []).append((b, formula))
    return all_of(some_of((~first, ~second, p(a, c))) for (a, b), first in p.pairs.items()
                  for c, second in after.get(b, ()))


def inj(p: Relation) -> Formula:
    """sub(seq(P, inv P), =) for rf from write to read, as the reads have it: no two writes for one read."""
    before: dict[int, list[Formula]] = {}
    for (_, b), formula in p.pairs.items():
        before.setdefault(b, []).append(formula)
    return all_of(~first | ~second for sources in before.values()
                  for at, first in enumerate(sources) for second in sources[:at])


Together = Callable[[int, int], bool]
"""Can two events take place in one execution?"""


def closed(p: Relation, together: Together) -> tuple[Relation, Formula]:
    """A variable X, and that it is a transitive superset of P without a loop: sub(P, X) ∧ trans(X) ∧ irrefl(X). X only
    has atoms where P's pairs lead, and none for events that never take place together."""
    x = some_relation((a, b) for a, b in _reachable(p) if a != b and together(a, b))
    return x, sub(p, x) & trans(x)


def acyclic(p: Relation, together: Together) -> Formula:
    """∃X (sub(P, X) ∧ trans(X) ∧ irrefl(X)). Pairs that lie on no cycle of P's pairs do not matter, so X leaves them
    out."""
    there = _reachable(p)
    inner = Relation({(a, b): formula for (a, b), formula in p.pairs.items() if (b, a) in there or a == b})
    x, closure = closed(inner, together)
    return exists(x, such_that=closure)


def _reachable(p: Relation) -> set[Pair]:
    after: dict[int, set[int]] = {}
    for a, b in p.pairs:
        after.setdefault(a, set()).add(b)
    found = set()
    for start in after:
        todo, seen = [start], set()
        while todo:
            for further in after.get(todo.pop(), ()):
                if further not in seen:
                    seen.add(further)
                    todo.append(further)
        found |= {(start, end) for end in seen}
    return found


Step = Callable[[Set, Set], Formula]
"""A relation between sets."""


def tc(step: Step, number: int, events: Iterable[int], p: Set, q: Set) -> Formula:
    """TC₀(R) = eq, TCₙ₊₁(R)(P, Q) = eq(P, Q) ∨ ∃X (R(P, X) ∧ TCₙ(R)(X, Q))."""
    if number == 0:
        return eq(p, q)
    x = some_set(events)
    return eq(p, q) | exists(x, such_that=step(p, x) & tc(step, number - 1, events, x, q))


def cross(p: Set, q: Set) -> Relation:
    """All pairs from one set to the other."""
    return Relation({(a, b): p(a) & q(b) for a, b in product(p.members, q.members)})
