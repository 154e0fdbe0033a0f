"""Does a model fit the engine, and what is static in it?

The engine finds an order of all operations along static edges in which each read comes before its value is
overwritten. So it decides a model whose checks that depend on the store order are

    coherence   acyclic po-loc | rf | co | fr, or without pairs of reads: po-loc \\ ((R\\W)*(R\\W)) instead of po-loc
    atomicity   empty rmw & (fre;coe)
    global      one check, acyclic (or irreflexive of a closure) of a union of static terms, co and fr, rfe (or rf)
                among the static ones

after names are replaced by what they stand for. Any other model raises `General`, with the reason: it takes the
general way.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple, Protocol

from gradual.models.regular import (
    Irregular,
    Transition,
    alternatives,
    automaton,
    is_static,
    regular_closed,
    transitive,
    union_of,
)
from gradual.models.syntax import (
    Check,
    Difference,
    Expression,
    Fixpoint,
    Intersection,
    Name,
    Named,
    Nothing,
    Plus,
    Product,
    Sequence,
    Union,
)


class Checked(Protocol):
    """What is read of a model."""

    @property
    def checks(self) -> tuple[Check, ...]: ...


class General(Exception):
    """Why a model does not fit the engine."""


class Fit(NamedTuple):
    """What the engine takes from a model."""

    axiom: str
    """The global check."""
    coherence: str | None
    """The check that makes each location coherent, if one does."""
    reads_apart: bool
    """Does coherence leave pairs of reads alone?"""
    atomicity: str | None
    transitions: tuple[Transition, ...]
    """The static terms of the global check, as an automaton."""
    irregular: Expression
    """The union of those terms that no automaton has."""
    others: tuple[Check, ...]
    """Checks that do not depend on the store order."""


ID, CO, FR, RF, RFE, PO, PO_LOC = (Name(name) for name in ("id", "co", "fr", "rf", "rfe", "po", "po-loc"))
READS_ONLY = Difference(Name("R"), Name("W"))
PO_LOC_BUT_READS = Difference(PO_LOC, Product(READS_ONLY, READS_ONLY))
COHERENCE = (frozenset({PO_LOC, RF, CO, FR}), frozenset({PO_LOC_BUT_READS, RF, CO, FR}))
ATOMIC = Intersection(Name("rmw"), Sequence(Name("fre"), Name("coe")))


def fit(model: Checked) -> Fit:
    """The model as the engine takes it. Raises General."""
    return _fit(model.checks)


@cache
def _fit(checks: tuple[Check, ...]) -> Fit:
    coherence = atomicity = None
    reads_apart = False
    everywhere: list[tuple[Check, frozenset[Expression]]] = []
    others = []
    for check in checks:
        if is_static(check.expression):
            others.append(check)
        elif is_atomicity(check):
            atomicity = check.name
        else:
            terms = frozenset(acyclic_terms(check))
            _require_store_order(check, terms)
            if terms in COHERENCE:
                coherence, reads_apart = check.name, terms == COHERENCE[1]
            everywhere.append((check, terms))
    if len(everywhere) > 1:
        everywhere = [(check, terms) for check, terms in everywhere if terms not in COHERENCE]
    if len(everywhere) != 1:
        raise General(f"{len(everywhere) or 'none'} of its checks is about the store order everywhere, and the engine "
                      "takes one")
    check, terms = everywhere[0]
    static = frozenset(term for term in terms if is_static(term))
    if not static & {RF, RFE}:
        raise General(f"the check {check.name} has no rfe in it")
    if coherence is None and RF in static and static & {PO, PO_LOC}:
        coherence = check.name
    return Fit(check.name, coherence, reads_apart, atomicity, *_edges(static), tuple(others))


def bare(expression: Expression) -> Expression:
    """Without names, and without identities that change nothing."""
    if isinstance(expression, Named):
        return bare(expression.of)
    found = type(expression)(**{name: bare(value) if isinstance(value, Expression) else value
                                for name, value in vars(expression).items()})
    if isinstance(found, Sequence) and ID in (found.left, found.right):
        return found.left if found.right == ID else found.right
    if isinstance(found, Union) and Nothing() in (found.left, found.right):
        return found.left if found.right == Nothing() else found.right
    return found


def is_atomicity(check: Check) -> bool:
    return check.kind == "empty" and bare(check.expression) == ATOMIC


def acyclic_terms(check: Check) -> Iterator[Expression]:
    """The terms whose union the check wants acyclic. Raises General."""
    expression = bare(check.expression)
    if check.kind == "irreflexive" and not _is_closure(expression):
        raise General(f"the check {check.name} is about pairs that are no closure")
    if check.kind == "empty":
        raise General(f"the check {check.name} asks for an empty relation that depends on the store order")
    yield from _terms(expression)


def _is_closure(expression: Expression) -> bool:
    """Is it transitive by the way it is written?"""
    if not isinstance(expression, Fixpoint):
        return isinstance(expression, Plus)
    try:
        transitive(expression)
    except Irregular:
        return False
    return True


def _terms(expression: Expression) -> Iterator[Expression]:
    for term in alternatives(expression):
        if isinstance(term, Plus):
            yield from _terms(term.of)
        elif isinstance(term, Fixpoint) and _is_closure(term):
            yield from _terms(bare(transitive(term)))
        else:
            yield term


def _require_store_order(check: Check, terms: frozenset[Expression]) -> None:
    dynamic = [term for term in terms if not is_static(term)]
    if not {CO, FR} <= set(dynamic):
        raise General(f"the check {check.name} has not all of co and fr in it")
    if len(dynamic) > 2:
        raise General(f"the check {check.name} uses the store order for more than co and fr")


def _edges(static: frozenset[Expression]) -> tuple[tuple[Transition, ...], Expression]:
    found: list[Expression] = []
    irregular: list[Expression] = []
    for term in sorted(static, key=repr):
        try:
            automaton(regular_closed(term))
            found.append(regular_closed(term))
        except Irregular:
            irregular.append(term)
    transitions = automaton(union_of(found)) if found else []
    return tuple(transitions), union_of(irregular)
