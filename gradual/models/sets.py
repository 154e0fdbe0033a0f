"""The sets of a model, as masks over the operations of a history."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gradual.history import FENCE, READ, RMW, WRITE, Column, History
from gradual.history.annotations import ACQUIRE, EXCLUSIVE, FENCES, FULL, RCPC, RELEASE
from gradual.models.syntax import Complement, Difference, Expression, Intersection, Name, Named, Nothing, Union


def members(history: History, expression: Expression) -> Column:
    """Which operations are in a set. Raises KeyError for what is not made of names alone."""
    match expression:
        case Named(_, of):
            return members(history, of)
        case Name(name):
            return _NAMED[name](history)
        case Nothing():
            return np.zeros(len(history), dtype=bool)
        case Union(left, right):
            return members(history, left) | members(history, right)
        case Intersection(left, right):
            return members(history, left) & members(history, right)
        case Difference(left, right):
            return members(history, left) & ~members(history, right)
        case Complement(of):
            return ~members(history, of)
    raise KeyError(expression)


def _reads(history: History) -> Column:
    return np.asarray((history.kind == READ) | (history.kind == RMW))


def _writes(history: History) -> Column:
    return np.asarray((history.kind == WRITE) | (history.kind == RMW))


def _marked(history: History, wanted: int, of: int) -> Column:
    """Accesses whose marks are `wanted`, as far as the bits `of` go."""
    if history.marks is None:
        return np.full(len(history), wanted == 0)
    return np.asarray((history.marks & of) == wanted)


def _fences(history: History, bits: int) -> Column:
    """Fences that order just these pairs."""
    fences = history.kind == FENCE
    if history.fence is None:
        return np.asarray(fences) if bits == FULL else np.zeros(len(history), dtype=bool)
    return np.asarray(fences & (history.fence == bits))


def _fence(bits: int) -> Callable[[History], Column]:
    return lambda history: _fences(history, bits)


BOTH = ACQUIRE | RELEASE
_NAMED: dict[str, Callable[[History], Column]] = {
    "_": lambda history: np.ones(len(history), dtype=bool),
    "R": _reads,
    "W": _writes,
    "M": lambda history: history.kind != FENCE,
    "F": lambda history: history.kind == FENCE,
    "IW": lambda history: np.zeros(len(history), dtype=bool),
    "AMO": lambda history: history.kind == RMW,
    "EX": lambda history: _marked(history, EXCLUSIVE, EXCLUSIVE),
    "X": lambda history: (history.kind == RMW) | _marked(history, EXCLUSIVE, EXCLUSIVE),
    "Acq": lambda history: _marked(history, ACQUIRE, BOTH),
    "Rel": lambda history: _marked(history, RELEASE, BOTH),
    "AcqRel": lambda history: _marked(history, BOTH, BOTH),
    "A": lambda history: _reads(history) & _marked(history, ACQUIRE, ACQUIRE | RCPC),
    "Q": lambda history: _reads(history) & _marked(history, ACQUIRE | RCPC, ACQUIRE | RCPC),
    "L": lambda history: _writes(history) & _marked(history, RELEASE, RELEASE),
    **{f"Fence.{kind}": _fence(bits) for kind, bits in FENCES.items()},
}
