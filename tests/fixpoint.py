"""Saturation by its definition: the least store order ww with R_WW ∪ cf[R] ⊆ ww for the closure R of every axiom.

Relations are matrices of pairs of events, recomputed from the text of the model until nothing changes: slow and plain.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from gradual.evidence.verdict import Pair
from gradual.history import History
from gradual.models import Model
from gradual.models.matrix import Matrices

Matrix = npt.NDArray[np.bool_]


def saturated(history: History, model: Model, assumed: Iterable[Pair] = ()) -> set[Pair] | None:
    """The pairs of writes that every store order has; None where there is no store order."""
    matrices, n = Matrices(history), len(history)
    ww = np.zeros((n, n), dtype=bool)
    for before, after in [*assumed, *_last(history)]:
        ww[before, after] = True
    while True:
        matrices.order_stores([(int(a), int(b)) for a, b in np.argwhere(ww)])
        relations = [closed(matrices.of(check.expression)) for check in model.checks]
        if any(relation.diagonal().any() for relation in relations):
            return None
        more = np.logical_or.reduce([ww, *(_forced(history, relation) for relation in relations)])
        if (more == ww).all():
            return {(int(a), int(b)) for a, b in np.argwhere(ww)}
        ww = more


def _last(history: History) -> Iterable[Pair]:
    """A demanded final value: every other write comes before that one."""
    for at, last in enumerate(history.final.tolist()):
        yield from ((w, last) for w in history.writes.tolist() if last >= 0 and history.location[w] == at and w != last)


def _forced(history: History, relation: Matrix) -> Matrix:
    """R_WW, and cf[R]: a write before a read goes before what the read returned."""
    n, found = len(history), np.zeros((len(history), len(history)), dtype=bool)
    for v in history.writes.tolist():
        for e in range(n):
            if relation[v, e] and history.location[v] == history.location[e]:
                if e in history.writes:
                    found[v, e] = True
                w = int(history.source[e])
                if e in history.reads and w >= 0 and w != v:
                    found[v, w] = True
    return found


def closed(matrix: Matrix) -> Matrix:
    """The transitive closure."""
    matrix = matrix.copy()
    for k in range(len(matrix)):
        matrix |= np.logical_and.outer(matrix[:, k], matrix[k])
    return matrix
