"""How a check of a model fails under a store order: the events that show it, with what leads from one to the next.

For the cases of the general way, which say no more than that a check fails. Each arrow is called as the model's text
calls it, and what has no name there is taken apart until it does.
"""

from __future__ import annotations

from collections import deque
from itertools import islice
from typing import NamedTuple

import numpy as np

from gradual.evidence.verdict import Broken
from gradual.history import Column, History
from gradual.models import Model
from gradual.models.language import unnamed
from gradual.models.matrix import Matrices
from gradual.models.syntax import (
    Difference,
    Expression,
    Identity,
    Intersection,
    Inverse,
    Maybe,
    Name,
    Named,
    Plus,
    Sequence,
    Star,
    Union,
)
from gradual.telling.rules import check_of, innermost
from gradual.telling.words import read_as

FAILS = {"acyclic": "these cannot all come one after the other",
         "irreflexive": "this cannot come before itself", "empty": "there must be nothing like this",
         "views": "these cannot all come one after the other"}
"""What is wrong with the events that are shown, by the kind of the check."""
TRIED = 40
"""Cycles of which the shortest is shown."""


class Arrow(NamedTuple):
    rule: str
    start: int
    end: int


class Failure(NamedTuple):
    """What a check forbids, and is there. Events behind the operations are initial writes, one per location."""

    check: str
    kind: str
    arrows: list[Arrow]

    @property
    def opening(self) -> str:
        return f"{FAILS[self.kind]} ({self.check}):"


def failure(history: History, model: Model, case: Broken) -> Failure:
    """Why the check fails when the stores are ordered, and the values read, as the case assumes."""
    matrices = Matrices(read_as(history, case))
    matrices.order_stores(case.assumed)
    check = check_of(model, case.axiom)
    unfolding = _Unfolding(matrices)
    relation = matrices.of(check.expression)
    if check.kind == "acyclic":
        arrows = [arrow for a, b in _shortest_cycle(relation) for arrow in unfolding.arrows(check.expression, a, b)]
    else:
        wrong = np.diag(relation.diagonal()) if check.kind == "irreflexive" else relation
        a, b = np.argwhere(wrong)[0].tolist()
        arrows = unfolding.arrows(unnamed(check.expression), a, b) or [Arrow(check.name, a, b)]
    return Failure(check.name, check.kind, arrows)


def event_text(history: History, event: int) -> str:
    if event < len(history):
        return history.describe(event)
    return f"the initial {history.locations[event - len(history)]}"


class _Unfolding:
    """Takes pairs of a relation apart, along its expression."""

    def __init__(self, matrices: Matrices) -> None:
        self._matrices = matrices

    def arrows(self, expression: Expression, a: int, b: int) -> list[Arrow]:
        """From a to b, which are in the relation; nothing where it says that they are the same."""
        match expression:
            case Named(name, of):
                return [Arrow(innermost(of, lambda part: self._holds(part, a, b)) or name, a, b)]
            case Name(name):
                return [Arrow(name, a, b)]
            case Union(left, right):
                return self.arrows(left if self._holds(left, a, b) else right, a, b)
            case Intersection(left, _) | Difference(left, _):
                return self.arrows(left, a, b)
            case Sequence(left, right):
                middle = int(np.flatnonzero(self._matrices.of(left)[a] & self._matrices.of(right)[:, b])[0])
                return self.arrows(left, a, middle) + self.arrows(right, middle, b)
            case Plus(of) | Star(of) | Maybe(of):
                if a == b and not isinstance(expression, Plus):
                    return []
                steps = _shortest(self._matrices.of(of), a, b)
                return [arrow for start, end in steps for arrow in self.arrows(of, start, end)]
            case Inverse(of):
                return [Arrow(f"{rule}^-1", end, start) for rule, start, end in reversed(self.arrows(of, b, a))]
            case Identity():
                return []
        return [Arrow("", a, b)]

    def _holds(self, expression: Expression, a: int, b: int) -> bool:
        return bool(self._matrices.of(expression)[a, b])


def _shortest_cycle(relation: Column) -> list[tuple[int, int]]:
    """A short one, if not the shortest of all."""
    cycles = (found for start in _on_cycles(relation) if (found := _shortest(relation, start, start)))
    return min(islice(cycles, TRIED), key=len)


def _on_cycles(relation: Column) -> list[int]:
    """Events on a cycle: who is left when all that nothing leads to, and all that lead nowhere, are gone."""
    left = np.ones(len(relation), dtype=bool)
    while True:
        rest = relation & left & left[:, None]
        kept = left & rest.any(axis=0) & rest.any(axis=1)
        if (kept == left).all():
            found: list[int] = np.flatnonzero(left).tolist()
            return found
        left = kept


def _shortest(relation: Column, start: int, end: int) -> list[tuple[int, int]]:
    """A shortest path of at least one pair; nothing where there is none."""
    came: dict[int, int] = {}
    queue = deque([start])
    while queue and end not in came:
        node = queue.popleft()
        for following in np.flatnonzero(relation[node]).tolist():
            if following not in came:
                came[following] = node
                queue.append(following)
    path: list[tuple[int, int]] = []
    node = end
    while end in came and (not path or node != start):
        path.append((came[node], node))
        node = came[node]
    return path[::-1]
