"""The sets of a model, as masks over the operations of histories."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from gradual.history import FENCE, READ, RMW, WRITE, Column, History
from gradual.history.annotations import ACQUIRE, ATOMIC, EXCLUSIVE, FENCES, FULL, RCPC, RELEASE
from gradual.models.listed import listed
from gradual.models.syntax import (
    SETS,
    Complement,
    Difference,
    Domain,
    Expression,
    Identity,
    Intersection,
    Inverse,
    Name,
    Named,
    Nothing,
    Range,
    Union,
)
from gradual.models.syntax import Sequence as Composition

LISTED = ("addr", "data", "rmw", "rfi")


class Labels(NamedTuple):
    """What sets are made of, of the operations of several histories: as `History` has it of one."""

    kind: Column
    fence: Column | None
    marks: Column | None
    histories: Sequence[History]


def labels(histories: Sequence[History]) -> Labels:
    """Of all of them, one behind the other."""
    def joined(name: str, otherwise: Callable[[History], Column]) -> Column | None:
        columns = [getattr(history, name) for history in histories]
        if all(column is None for column in columns):
            return None
        return np.concatenate([otherwise(history) if column is None else column
                               for history, column in zip(histories, columns, strict=True)])

    return Labels(np.concatenate([history.kind for history in histories]),
                  joined("fence", lambda history: np.where(history.kind == FENCE, FULL, 0)),
                  joined("marks", lambda history: np.zeros_like(history.kind)), histories)


def members(history: History | Labels, expression: Expression) -> Column:
    """Which operations are in a set. Raises KeyError unless `is_known`."""
    match expression:
        case Named(_, of):
            return members(history, of)
        case Name(name):
            return _NAMED[name](history)
        case Nothing():
            return np.zeros(len(history.kind), dtype=bool)
        case Union(left, right):
            return members(history, left) | members(history, right)
        case Intersection(left, right):
            return members(history, left) & members(history, right)
        case Difference(left, right):
            return members(history, left) & ~members(history, right)
        case Complement(of):
            return ~members(history, of)
        case Range(of) | Domain(of):
            everything = np.ones(len(history.kind), dtype=bool)
            return _image(history, of, everything, inverse=isinstance(expression, Domain))
    raise KeyError(expression)


def of_lists(expression: Expression) -> bool:
    """Does a set, which is known, depend on what relations lead to: is it more than its names tell?"""
    match expression:
        case Named(_, of) | Complement(of):
            return of_lists(of)
        case Union(left, right) | Intersection(left, right) | Difference(left, right):
            return of_lists(left) or of_lists(right)
        case Range(_) | Domain(_):
            return True
    return False


def is_known(expression: Expression) -> bool:
    """Is a set made of names, and of what relations lead to that a history has as lists?"""
    match expression:
        case Named(_, of) | Complement(of):
            return is_known(of)
        case Name(name):
            return name in SETS
        case Nothing():
            return True
        case Union(left, right) | Intersection(left, right) | Difference(left, right):
            return is_known(left) and is_known(right)
        case Range(of) | Domain(of):
            return _is_listed(of)
    return False


def _is_listed(expression: Expression) -> bool:
    """Is a relation made of lists, none of which may lead from or to initial writes: those are no operations?"""
    match expression:
        case Named(_, of) | Inverse(of):
            return _is_listed(of)
        case Name(name):
            return name in LISTED
        case Identity(of):
            return is_known(of)
        case Nothing():
            return True
        case Union(left, right) | Composition(left, right):
            return _is_listed(left) and _is_listed(right)
    return False


def _image(history: History | Labels, expression: Expression, of: Column, inverse: bool = False) -> Column:
    """The events that a relation leads to from some events (a mask); or that lead to these. Raises KeyError."""
    match expression:
        case Named(_, inner):
            return _image(history, inner, of, inverse)
        case Inverse(inner):
            return _image(history, inner, of, not inverse)
        case Identity(inner):
            return of & members(history, inner)
        case Nothing():
            return np.zeros_like(of)
        case Union(left, right):
            return _image(history, left, of, inverse) | _image(history, right, of, inverse)
        case Composition(left, right):
            first, then = (right, left) if inverse else (left, right)
            return _image(history, then, _image(history, first, of, inverse), inverse)
        case Name(name):
            pairs = listed(history.histories if isinstance(history, Labels) else [history], name)
            pairs = pairs[:, ::-1 if inverse else 1]
            found = np.zeros_like(of)
            found[pairs[of[pairs[:, 0]], 1]] = True
            return found
    raise KeyError(expression)


def _reads(history: History | Labels) -> Column:
    return np.asarray((history.kind == READ) | (history.kind == RMW))


def _writes(history: History | Labels) -> Column:
    return np.asarray((history.kind == WRITE) | (history.kind == RMW))


def _marked(history: History | Labels, wanted: int, of: int) -> Column:
    """Accesses whose marks are `wanted`, as far as the bits `of` go."""
    if history.marks is None:
        return np.full(len(history.kind), wanted == 0)
    return np.asarray((history.marks & of) == wanted)


def _atomic(history: History | Labels) -> Column:
    """Rmws, and their halves."""
    return np.asarray(history.kind == RMW) | _marked(history, ATOMIC, ATOMIC)


def _fences(history: History | Labels, bits: int) -> Column:
    """Fences that order just these pairs."""
    fences = history.kind == FENCE
    if history.fence is None:
        return np.asarray(fences) if bits == FULL else np.zeros(len(history.kind), dtype=bool)
    return np.asarray(fences & (history.fence == bits))


def _fence(bits: int) -> Callable[[History | Labels], Column]:
    return lambda history: _fences(history, bits)


BOTH = ACQUIRE | RELEASE
_NAMED: dict[str, Callable[[History | Labels], Column]] = {
    "_": lambda history: np.ones(len(history.kind), dtype=bool),
    "R": _reads,
    "W": _writes,
    "M": lambda history: history.kind != FENCE,
    "F": lambda history: history.kind == FENCE,
    "IW": lambda history: np.zeros(len(history.kind), dtype=bool),
    "AMO": _atomic,
    "EX": lambda history: _marked(history, EXCLUSIVE, EXCLUSIVE),
    "X": lambda history: _atomic(history) | _marked(history, EXCLUSIVE, EXCLUSIVE),
    "Acq": lambda history: _marked(history, ACQUIRE, BOTH),
    "Rel": lambda history: _marked(history, RELEASE, BOTH),
    "AcqRel": lambda history: _marked(history, BOTH, BOTH),
    "A": lambda history: _reads(history) & _marked(history, ACQUIRE, ACQUIRE | RCPC),
    "Q": lambda history: _reads(history) & _marked(history, ACQUIRE | RCPC, ACQUIRE | RCPC),
    "L": lambda history: _writes(history) & _marked(history, RELEASE, RELEASE),
    **{f"Fence.{kind}": _fence(bits) for kind, bits in FENCES.items()},
}
