"""Static relations as regular expressions over po, po-loc, reads-from and dependencies, and these as automata.

Composition, union, closures, tests `[S]` and inverses are regular as they stand. `& (A*B)` and `\\ (A*B)` are tests,
`& loc`, `& int` and `& ext` choose another relation. `po-loc \\ (po-loc;[S];po-loc)` goes from access to access of a
location, none but the last being in S. What is none of this raises `Irregular`: it has to be looked at pair by pair.

The automaton is Glushkov's: a state for each occurrence of a relation, those that are followed alike being one.
State 0 is the operation itself, where pairs begin and end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from typing import NamedTuple

from gradual.models.language import parts, unnamed
from gradual.models.sets import is_known
from gradual.models.syntax import (
    CO,
    Complement,
    Difference,
    Expression,
    Fixpoint,
    Identity,
    Intersection,
    Inverse,
    Maybe,
    Name,
    Named,
    Nothing,
    Plus,
    Product,
    Sequence,
    Star,
    Union,
    Variable,
)

ALL, PO_LOC = Name("_"), Name("po-loc")
FROM_READS = frozenset({"rf", "rfi", "rfe", "fr", "fri", "fre"})
"""What depends on which write a read returned."""
STEPS = frozenset({"po", "po-loc", "rf", "rfi", "rfe", "addr", "data", "ctrl", "tdep", "rmw"})
NEXT, AGAIN, ANEW = "next access", "next read of the same write", "next read of another write"
"""Steps that no model names: from an access to the next one of its thread at its location, or to that one where both
read, from the same write or not."""


class Irregular(Exception):
    """An expression that is no regular one."""


class Step(Expression):
    """One of STEPS, or its inverse, between events that are in two sets. Of `ctrl`, the pairs that are given: what
    comes after them in program order is a step of its own."""

    relation: str
    inverse: bool = False


def regular(expression: Expression, inverse: bool = False) -> Expression:
    """The expression made of Step, Identity, Sequence, Union, Plus, Star, Maybe and Nothing alone. Raises Irregular."""
    match expression:
        case Named(_, of):
            return regular(of, inverse)
        case Name("id"):
            return Identity(ALL)
        case Name("rf" | "rfe") if inverse:
            raise Irregular  # it leads to initial writes too, which are no operations
        case Name("po" | "po-loc" | "tdep") if inverse:
            raise Irregular  # they are followed along the thread, forwards
        case Name("ctrl") if not inverse:
            return Sequence(Step("ctrl"), Maybe(Step("po")))
        case Name("ctrl"):
            raise Irregular
        case Name(name) if name in STEPS:
            return Step(name, inverse)
        case Identity(of):
            return _test(of)
        case Nothing():
            return expression
        case Union(left, right):
            return union(regular(left, inverse), regular(right, inverse))
        case Sequence(left, right):
            first, second = regular(left, inverse), regular(right, inverse)
            return sequence(second, first) if inverse else sequence(first, second)
        case Plus(of):
            return Plus(regular(of, inverse))
        case Star(of):
            return Star(regular(of, inverse))
        case Maybe(of):
            return Maybe(regular(of, inverse))
        case Inverse(of):
            return regular(of, not inverse)
        case Intersection(left, right):
            return _intersection(left, right, inverse)
        case Difference(left, right):
            return _difference(left, right, inverse)
        case Fixpoint():
            return regular(_closed(expression), inverse)
    raise Irregular


def regular_closed(expression: Expression) -> Expression:
    """A regular expression with the same closure. Raises Irregular.

    Reads of one location from different writes: it is enough to go from reads of one write to the next ones of another.
    """
    match factors(expression):
        case [Difference(left, right)] if factors(right) == [Inverse(Name("rf")), Name("rf")]:
            match factors(left):
                case [Identity(Name("R")), Difference(apart, between), Identity(Name("R"))]:
                    tests = _only_between(apart, between)
                    if tests is not None and tests[1] == Name("W"):
                        outside = Identity(Complement(Name("W")))
                        before = Star(Sequence(Step(AGAIN), outside))
                        behind = Star(Sequence(outside, Step(AGAIN)))
                        steps = Sequence(before, Sequence(Step(ANEW), behind))
                        return sequence(Identity(_both(Name("R"), tests[0])), Sequence(steps, Identity(Name("R"))))
    return regular(expression)


def factors(expression: Expression) -> list[Expression]:
    """The parts of a composition, without names, tests in brackets included."""
    plain = unnamed(expression)
    if isinstance(plain, Sequence):
        return factors(plain.left) + factors(plain.right)
    if isinstance(plain, Identity | Inverse):
        return [type(plain)(unnamed(plain.of))]
    return [plain]


def _only_between(left: Expression, right: Expression) -> tuple[Expression, Expression] | None:
    """Of `po-loc \\ (po-loc;[S];po-loc)` the set S, behind the test that the first access must pass: none, but where
    `po-loc?` stands for the first po-loc."""
    if unnamed(left) == PO_LOC:
        match factors(right):
            case [Name("po-loc"), Identity(of), Name("po-loc")]:
                return ALL, of
            case [Maybe(first), Identity(of), Name("po-loc")] if unnamed(first) == PO_LOC:
                return Complement(of), of
    return None


def union(left: Expression, right: Expression) -> Expression:
    if isinstance(left, Nothing) or isinstance(right, Nothing):
        return right if isinstance(left, Nothing) else left
    return Union(left, right)


def union_of(terms: Iterable[Expression]) -> Expression:
    nothing: Expression = Nothing()
    return reduce(union, terms, nothing)


def sequence(left: Expression, right: Expression) -> Expression:
    if isinstance(left, Nothing) or isinstance(right, Nothing):
        return Nothing()
    if isinstance(left, Identity) and isinstance(right, Identity):
        return Identity(_both(left.of, right.of))
    return Sequence(left, right)


def _test(members: Expression) -> Expression:
    if not is_known(members):
        raise Irregular
    return Identity(members)


def _both(left: Expression, right: Expression) -> Expression:
    if left == ALL or right == ALL:
        return right if left == ALL else left
    return left if left == right else Intersection(left, right)


def _either(left: Expression, right: Expression) -> Expression:
    if ALL in (left, right):
        return ALL
    return left if left == right else Union(left, right)


def _closed(fixpoint: Fixpoint) -> Expression:
    """Without recursion, where it is a closure: `let rec r = e | r;r` is e+, `let rec r = e | a;r | r;b` is a*;e;b*."""
    try:
        return Plus(transitive(fixpoint))
    except Irregular:
        me, terms = _recursion(fixpoint)
    before, base, behind = [], [], []
    for term in terms:
        match factors(term):
            case [first, *rest] if rest and first == me:
                behind.append(reduce(Sequence, rest))
            case [*rest, last] if rest and last == me:
                before.append(reduce(Sequence, rest))
            case _:
                base.append(term)
    if any(_mentions(part, me) for part in before + base + behind):
        raise Irregular
    return Sequence(Star(union_of(before)), Sequence(union_of(base), Star(union_of(behind))))


def transitive(fixpoint: Fixpoint) -> Expression:
    """Of what it is the transitive closure: of `let rec r = e | r;r`, e. Raises Irregular."""
    me, terms = _recursion(fixpoint)
    rest = [term for term in terms if [unnamed(factor) for factor in factors(term)] != [me, me]]
    if len(rest) == len(terms) or any(_mentions(term, me) for term in rest):
        raise Irregular
    return union_of(rest)


def _recursion(fixpoint: Fixpoint) -> tuple[Variable, list[Expression]]:
    """The name that is being defined and the terms of its definition, but for itself. Raises Irregular."""
    if len(fixpoint.definitions) != 1:
        raise Irregular
    name, body = fixpoint.definitions[0]
    me = Variable(name)
    return me, [term for term in alternatives(body) if term != me]


def _mentions(expression: Expression, variable: Variable) -> bool:
    return expression == variable or any(_mentions(part, variable) for part in parts(expression))


def alternatives(expression: Expression) -> Iterator[Expression]:
    """The terms of a union, without names."""
    plain = unnamed(expression)
    if isinstance(plain, Union):
        yield from alternatives(plain.left)
        yield from alternatives(plain.right)
    elif not isinstance(plain, Nothing):
        yield plain


def _intersection(left: Expression, right: Expression, inverse: bool) -> Expression:
    for one, other in ((left, right), (right, left)):
        chosen = unnamed(other)
        if isinstance(chosen, Union):
            return union(_intersection(one, chosen.left, inverse), _intersection(one, chosen.right, inverse))
        if isinstance(chosen, Product):
            first, second = _test(chosen.left), _test(chosen.right)
            if inverse:
                first, second = second, first
            return sequence(first, sequence(regular(one, inverse), second))
        if isinstance(chosen, Name) and chosen.name in _ONLY:
            return _only(regular(one, inverse), _ONLY[chosen.name])
    raise Irregular


_ONLY: dict[str, dict[str, str | None]] = {
    "loc": {"po": "po-loc", "po-loc": "po-loc", "rf": "rf", "rfi": "rfi", "rfe": "rfe", "rmw": "rmw"},
    "int": {"rf": "rfi", "rfe": None} | {name: name for name in STEPS - {"rf", "rfe"}},
    "ext": {"rf": "rfe", "rfe": "rfe"} | dict.fromkeys(STEPS - {"rf", "rfe"}),
}
"""What is left of a relation within one location, within and across threads."""


def _only(expression: Expression, chosen: dict[str, str | None]) -> Expression:
    match expression:
        case Nothing():
            return expression
        case Step(relation, inverse) if relation in chosen:
            name = chosen[relation]
            return Nothing() if name is None else Step(name, inverse)
        case Union(left, right):
            return union(_only(left, chosen), _only(right, chosen))
        case Sequence(Identity() as test, of):
            return sequence(test, _only(of, chosen))
        case Sequence(of, Identity() as test):
            return sequence(_only(of, chosen), test)
    raise Irregular


def _difference(left: Expression, right: Expression, inverse: bool) -> Expression:
    without = unnamed(right)
    if not inverse and (tests := _only_between(left, right)) is not None:
        further = Star(Sequence(_test(Complement(tests[1])), Step(NEXT)))
        return sequence(_test(tests[0]), Sequence(Step(NEXT), further))
    kept = regular(left, inverse)
    if isinstance(without, Nothing):
        return kept
    if isinstance(without, Union):
        return _difference(Difference(left, without.left), without.right, inverse)
    if isinstance(without, Product):
        first, second = (without.right, without.left) if inverse else (without.left, without.right)
        return union(sequence(_test(Complement(first)), kept), sequence(kept, _test(Complement(second))))
    if without == Name("id") and _strict(kept):
        return kept
    raise Irregular


def _strict(expression: Expression) -> bool:
    """Is no event related to itself, for sure?"""
    match expression:
        case Step() | Nothing():
            return True
        case Union(left, right):
            return _strict(left) and _strict(right)
        case Sequence(left, right):
            tests = isinstance(left, Identity) or isinstance(right, Identity)
            return tests and (_strict(left) or _strict(right))
    return False


# --- automata


class Transition(NamedTuple):
    """From an event of a set, in a state, along a relation to an event of another set, in another state."""

    start: int
    before: Expression
    step: Step
    after: Expression
    end: int


class _Position(NamedTuple):
    """An occurrence of a relation."""

    number: int
    step: Step


_Links = list[tuple[Expression, _Position]]
"""Positions that may come next (or last), each with the test on the event in between."""


class _Fragment(NamedTuple):
    first: _Links
    last: _Links
    empty: tuple[Expression, ...]
    """The tests under which it may be passed without a step."""


class _Glushkov:
    def __init__(self) -> None:
        self.positions: list[_Position] = []
        self.follow: list[tuple[_Position, Expression, _Position]] = []

    def fragment(self, expression: Expression) -> _Fragment:
        match expression:
            case Nothing():
                return _Fragment([], [], ())
            case Identity(of):
                return _Fragment([], [], (of,))
            case Step():
                position = _Position(len(self.positions), expression)
                self.positions.append(position)
                return _Fragment([(ALL, position)], [(ALL, position)], ())
            case Union(left, right):
                a, b = self.fragment(left), self.fragment(right)
                return _Fragment(a.first + b.first, a.last + b.last, a.empty + b.empty)
            case Sequence(left, right):
                return self._sequence(self.fragment(left), self.fragment(right))
            case Plus(of):
                return self._again(self.fragment(of))
            case Star(of):
                found = self._again(self.fragment(of))
                return _Fragment(found.first, found.last, (*found.empty, ALL))
            case Maybe(of):
                found = self.fragment(of)
                return _Fragment(found.first, found.last, (*found.empty, ALL))
        raise Irregular

    def _link(self, last: _Links, first: _Links) -> None:
        self.follow += [(p, _both(after, before), q) for after, p in last for before, q in first]

    def _sequence(self, a: _Fragment, b: _Fragment) -> _Fragment:
        self._link(a.last, b.first)
        first = a.first + [(_both(test, before), q) for test in a.empty for before, q in b.first]
        last = b.last + [(_both(after, test), p) for test in b.empty for after, p in a.last]
        return _Fragment(first, last, tuple(_both(x, y) for x in a.empty for y in b.empty))

    def _again(self, a: _Fragment) -> _Fragment:
        self._link(a.last, a.first)
        return a


def automaton(expression: Expression) -> list[Transition]:
    """The transitions of a regular expression. A pair of the relation is a path from state 0 to state 0."""
    glushkov = _Glushkov()
    whole = glushkov.fragment(expression)
    if whole.empty:
        raise Irregular  # an event would be related to itself
    states = _states(glushkov)
    found: set[Transition] = set()
    into: dict[int, list[tuple[int, Expression]]] = {}
    for before, q in whole.first:
        into.setdefault(q.number, []).append((0, before))
    for p, test, q in glushkov.follow:
        into.setdefault(q.number, []).append((states[p.number], test))
    for position in glushkov.positions:
        ends = [(after, 0) for after, p in whole.last if p == position]
        tests = [test for p, test, _ in glushkov.follow if p == position]
        ends += [(reduce(_either, tests), states[position.number])] if tests else []
        found |= {Transition(start, before, position.step, after, end)
                  for start, before in into.get(position.number, ()) for after, end in ends}
    return sorted(found, key=repr)


def _states(glushkov: _Glushkov) -> dict[int, int]:
    """A state for each position that is followed; the same for those that are followed alike."""
    alike: dict[frozenset[tuple[Expression, int]], int] = {}
    found = {}
    for position in glushkov.positions:
        following = frozenset((test, q.number) for p, test, q in glushkov.follow if p == position)
        found[position.number] = alike.setdefault(following, len(alike) + 1) if following else 0
    return found


def grows_with_store_order(expression: Expression) -> bool:
    """Can more pairs in the store order take no pair of the expression away?"""
    return _grows(expression, CO)


def grows_with_reads_from(expression: Expression) -> bool:
    """Can more that is known of what was read take no pair of the expression away?"""
    return _grows(expression, FROM_READS)


def _grows(expression: Expression, names: frozenset[str]) -> bool:
    match expression:
        case Complement(of):
            return not _uses(of, names)
        case Difference(left, right):
            return _grows(left, names) and not _uses(right, names)
    return all(_grows(part, names) for part in parts(expression))


def is_static(expression: Expression) -> bool:
    """Does it not depend on the store order?"""
    return not _uses(expression, CO)


def uses_reads_from(expression: Expression) -> bool:
    """Does it depend on what was read?"""
    return _uses(expression, FROM_READS)


def _uses(expression: Expression, names: frozenset[str]) -> bool:
    if isinstance(expression, Name):
        return expression.name in names
    return any(_uses(part, names) for part in parts(expression))
