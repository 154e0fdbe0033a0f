"""Formulas over atoms, with quantifiers over sets of atoms: what second-order sentences become on a finite structure.

An atom says that an event is in a set, or a pair in a relation. Negation is pushed down to the atoms, and equal
formulas are one object, so that what is shared is looked at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import count
from typing import Literal

Kind = Literal["literal", "all of", "some of", "exists", "for all"]
_DUAL: dict[Kind, Kind] = {"all of": "some of", "some of": "all of", "exists": "for all", "for all": "exists"}


class Formula:
    """kind     what it is
    literal  of a literal: the atom's number, negative where it is negated
    parts    of a conjunction or disjunction; of a quantifier, the one formula below it
    bound    of a quantifier: its atoms
    """

    __slots__ = ("_free", "bound", "kind", "literal", "negation", "parts")

    def __init__(self, kind: Kind, literal: int, parts: tuple[Formula, ...], bound: tuple[int, ...]) -> None:
        self.kind = kind
        self.literal = literal
        self.parts = parts
        self.bound = bound
        self.negation: Formula | None = None
        self._free: frozenset[int] | None = None

    @property
    def free(self) -> frozenset[int]:
        """The atoms that no quantifier within it binds."""
        if self._free is None:
            own = (abs(self.literal),) if self.kind == "literal" else ()
            self._free = frozenset(own).union(*(part.free for part in self.parts)).difference(self.bound)
        return self._free

    def __and__(self, other: Formula) -> Formula:
        return all_of((self, other))

    def __or__(self, other: Formula) -> Formula:
        return some_of((self, other))

    def __invert__(self) -> Formula:
        if self.negation is None:
            if self.kind == "literal":
                self.negation = literal(-self.literal)
            else:
                self.negation = _made(_DUAL[self.kind], tuple(~part for part in self.parts), self.bound)
            self.negation.negation = self
        return self.negation

    def implies(self, other: Formula) -> Formula:
        return ~self | other


_KNOWN: dict[tuple[object, ...], Formula] = {}
_NUMBERS = count(1)


def _key(kind: Kind, number: int, parts: tuple[Formula, ...], bound: tuple[int, ...]) -> tuple[object, ...]:
    return kind, number, frozenset(map(id, parts)), bound


def _intern(kind: Kind, number: int, parts: tuple[Formula, ...], bound: tuple[int, ...]) -> Formula:
    key = _key(kind, number, parts, bound)
    found = _KNOWN.get(key)
    if found is None:
        found = _KNOWN[key] = Formula(kind, number, parts, bound)
    return found


def _made(kind: Kind, parts: Iterable[Formula], bound: tuple[int, ...] = ()) -> Formula:
    if kind == "all of":
        return all_of(parts)
    if kind == "some of":
        return some_of(parts)
    return _quantified(kind, bound, next(iter(parts)))


def literal(number: int) -> Formula:
    return _intern("literal", number, (), ())


def atoms(number: int) -> list[Formula]:
    """New ones."""
    return [literal(next(_NUMBERS)) for _ in range(number)]


def all_of(parts: Iterable[Formula]) -> Formula:
    """No part at all: true."""
    return _joined("all of", parts)


def some_of(parts: Iterable[Formula]) -> Formula:
    """No part at all: false."""
    return _joined("some of", parts)


def _joined(kind: Kind, parts: Iterable[Formula]) -> Formula:
    found: list[Formula] = []
    dual = _DUAL[kind]
    for part in parts:
        if part.kind == kind:
            found += part.parts
        elif part.kind == dual and not part.parts:
            return part
        else:
            found.append(part)
    once = tuple(dict.fromkeys(found))
    return once[0] if len(once) == 1 else _intern(kind, 0, once, ())


TRUE, FALSE = all_of(()), some_of(())


def forget() -> None:
    """Makes room, between sentences that have nothing to do with each other."""
    _KNOWN.clear()
    _KNOWN.update({_key(formula.kind, 0, (), ()): formula for formula in (TRUE, FALSE)})


def exists(bound: Iterable[Formula], body: Formula) -> Formula:
    return _quantified("exists", tuple(atom.literal for atom in bound), body)


def for_all(bound: Iterable[Formula], body: Formula) -> Formula:
    return _quantified("for all", tuple(atom.literal for atom in bound), body)


def _quantified(kind: Kind, bound: tuple[int, ...], body: Formula) -> Formula:
    if body.kind == kind:
        return _intern(kind, 0, body.parts, (*bound, *body.bound))
    return _intern(kind, 0, (body,), bound) if bound else body


def replaced(formula: Formula, by: Mapping[int, Formula]) -> Formula:
    """The formula with other formulas for some of its free atoms; its quantifiers get new atoms, so that the same
    sentence can be used several times."""
    known: dict[int, Formula] = {}

    def look(part: Formula) -> Formula:
        found = known.get(id(part))
        if found is None:
            found = known[id(part)] = _look(part)
        return found

    def _look(part: Formula) -> Formula:
        if part.kind == "literal":
            other = by.get(abs(part.literal))
            return part if other is None else other if part.literal > 0 else ~other
        if part.kind in ("all of", "some of"):
            return _made(part.kind, [look(inner) for inner in part.parts])
        renamed = dict(zip(part.bound, atoms(len(part.bound)), strict=True))
        body = replaced(part.parts[0], {**by, **renamed})
        return _quantified(part.kind, tuple(atom.literal for atom in renamed.values()), body)

    return look(formula)
