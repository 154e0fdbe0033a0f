"""The relations of a small history as matrices: every pair of events, true or false.

For what cannot be a regular expression, for the general way of deciding, and for short proofs. Events are the
operations, then an initial write per location.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from gradual.history import INITIAL, READ, RMW, Column, History
from gradual.models.regular import is_static
from gradual.models.sets import members
from gradual.models.syntax import (
    SETS,
    Complement,
    Difference,
    Domain,
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
    Range,
    Sequence,
    Star,
    Union,
    Variable,
)
from gradual.models.times import ends, known_begins

LARGEST = 3000
"""Events beyond which there are too many pairs."""

Matrix = Column
"""bool: a row per event, a column per event; of a set, one row."""


class TooLarge(Exception):
    """A history of too many operations for what a model asks of each pair."""


class Matrices:
    """The base relations of one history, and what expressions make of them."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.size = len(history) + len(history.locations)
        if self.size > LARGEST:
            raise TooLarge(f"this model's relations are looked at pair by pair, which goes up to {LARGEST} operations "
                           "and locations; `gradual shrink` or --addresses leave fewer")
        self._known: dict[Expression, Matrix] = {}
        self._base = self._relations()

    def order_stores(self, pairs: Iterable[tuple[int, int]]) -> None:
        """From now on, co holds these pairs, the initial writes before all others, and what follows."""
        n, co = len(self.history), self._empty()
        for x in range(len(self.history.locations)):
            co[n + x, self.history.writes[self.history.location[self.history.writes] == x]] = True
        for a, b in pairs:
            co[a, b] = True
        co = _closure(co)
        within, across = self._base["int"], self._base["ext"]
        fr = _compose(self._base["rf"].T, co) & ~np.eye(self.size, dtype=bool)
        self._base |= {"co": co, "coi": co & within, "coe": co & across, "fr": fr, "fri": fr & within,
                       "fre": fr & across}
        self._known = {expression: known for expression, known in self._known.items() if is_static(expression)}

    def of(self, expression: Expression) -> Matrix:
        """The set or relation that an expression is."""
        if expression not in self._known:
            self._known[expression] = self._value(expression, {})
        return self._known[expression]

    def _empty(self) -> Matrix:
        return np.zeros((self.size, self.size), dtype=bool)

    def _relations(self) -> dict[str, Matrix]:
        history, n = self.history, len(self.history)
        initial = np.arange(len(history.locations))
        thread = np.concatenate([history.thread, -1 - initial])
        location = np.concatenate([history.location, initial])
        same = (thread[:, None] == thread[None, :]) & (thread[:, None] >= 0)  # an initial write has no thread
        one_place = (location[:, None] == location[None, :]) & (location[:, None] >= 0)
        place = np.arange(self.size)
        po = same & (place[:, None] < place[None, :])
        if history.part_of is not None:  # events of one access come at once
            po[:n, :n] &= history.part_of[:, None] != history.part_of[None, :]
        rf = self._empty()
        for r in np.flatnonzero((history.kind == READ) | (history.kind == RMW)).tolist():
            source = int(history.source[r])
            if source >= INITIAL:
                rf[source if source >= 0 else n + history.location[r], r] = True
        found = {"id": np.eye(self.size, dtype=bool), "int": same, "ext": ~same, "loc": one_place, "po": po,
                 "po-loc": po & one_place, "rf": rf, "rfi": rf & same, "rfe": rf & ~same}
        for name, pairs in (("addr", history.addr), ("data", history.data), ("ctrl", history.ctrl),
                            ("rmw", history.pair)):
            found[name] = self._empty()
            if pairs is not None and len(pairs):
                found[name][pairs[:, 0], pairs[:, 1]] = True
        if history.ctrl is not None:
            found["ctrl"] |= _compose(found["ctrl"], po)
        found["tdep"] = self._empty()
        if history.end is not None and history.begin is not None:
            found["tdep"][:n, :n] = po[:n, :n] & (ends(history)[:, None] < known_begins(history)[None, :])
        return found

    def _value(self, expression: Expression, variables: dict[str, Matrix]) -> Matrix:
        def value(of: Expression) -> Matrix:
            return self._value(of, variables) if variables else self.of(of)

        match expression:
            case Named(_, of):
                return value(of)
            case Name(name):
                return self._set(name) if name in SETS else self._base[name]
            case Variable(name):
                return variables[name]
            case Nothing():
                return self._empty()
            case Union(left, right):
                return _fit(value(left), value(right), np.logical_or)
            case Intersection(left, right):
                return _fit(value(left), value(right), np.logical_and)
            case Difference(left, right):
                return _fit(value(left), ~value(right), np.logical_and)
            case Complement(of):
                return ~value(of)
            case Sequence(left, right):
                return _compose(value(left), value(right))
            case Product(left, right):
                return np.logical_and.outer(_row(value(left)), _row(value(right)))
            case Identity(of):
                return np.diag(_row(value(of)))
            case Inverse(of):
                return value(of).T
            case Plus(of):
                return _closure(value(of))
            case Star(of):
                return _closure(value(of)) | self._base["id"]
            case Maybe(of):
                return value(of) | self._base["id"]
            case Domain(of):
                return np.asarray(value(of).any(axis=1))
            case Range(of):
                return np.asarray(value(of).any(axis=0))
            case Fixpoint(name, definitions):
                return self._fixpoint(definitions, variables)[name]
        raise AssertionError(expression)

    def _fixpoint(self, definitions: tuple[tuple[str, Expression], ...],
                  variables: dict[str, Matrix]) -> dict[str, Matrix]:
        found = {name: self._empty() for name, _ in definitions}
        while True:
            again = {name: self._value(body, variables | found) for name, body in definitions}
            if all((again[name] == found[name]).all() for name in found):
                return again
            found = again

    def _set(self, name: str) -> Matrix:
        initial = np.full(len(self.history.locations), name in ("_", "W", "M", "IW"))
        return np.concatenate([members(self.history, Name(name)), initial])


def _row(matrix: Matrix) -> Matrix:
    """A set, where nothing was written as the empty relation."""
    return matrix if matrix.ndim == 1 else np.asarray(matrix.any(axis=0))


def _fit(left: Matrix, right: Matrix, operation: np.ufunc) -> Matrix:
    """Both sets or both relations: the empty one may have been taken for the other sort."""
    if left.ndim != right.ndim:
        left, right = _row(left), _row(right)
    return np.asarray(operation(left, right))


def _compose(left: Matrix, right: Matrix) -> Matrix:
    return np.asarray((left.astype(np.float32) @ right.astype(np.float32)) > 0)


def _closure(matrix: Matrix) -> Matrix:
    closed = matrix.copy()
    while True:
        more = closed | _compose(closed, closed)
        if (more == closed).all():
            return closed
        closed = more
