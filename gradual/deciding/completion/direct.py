"""The standard SAT encoding, from scratch and with no ladder: the baseline to beat.

One variable per pair of operations says which comes first in a total order; clauses make it
transitive (cubic), put program order and reads-from into it, and keep every other write out
from between a write and its reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from gradual.deadline import Deadline
from gradual.deciding import engine
from gradual.deciding.completion.closure import between_operations
from gradual.deciding.completion.solver import solve
from gradual.deciding.engine.proof import evidence
from gradual.evidence.verdict import Cycle, Refutation, Witness
from gradual.history import INITIAL, History
from gradual.models.fit import Fit
from gradual.models.matrix import TooLarge

Clause = list[int]

CLAUSE = 24
"""Bytes of a clause in the solver, as measured."""
LARGEST = 800
"""Operations: some 4 GB."""
PORTION = 100_000
"""Variables that the solver makes room for between looks at the deadline."""


def complete(history: History, fit: Fit, deadline: Deadline) -> Witness | Cycle | Refutation:
    from pysat.solvers import Solver

    n = len(history)
    if n > LARGEST:
        raise TooLarge(f"the plain encoding of {n} operations has {n ** 3 / 3:.0e} clauses, which takes about "
                       f"{n ** 3 / 3 * CLAUSE / 1e9:.0f} GB; it goes up to {LARGEST} operations. Without "
                       "--completion direct any size is decided")
    with Solver(name="glucose4") as solver:
        for variable in range(PORTION, n * n, PORTION):
            solver.add_clause([variable, -variable])
            deadline.check()
        for count, clause in enumerate(clauses(history, fit)):
            solver.add_clause(clause)
            if count % 4096 == 0:
                deadline.check()
        if solve(solver, deadline):
            return Witness(run(solver, n))
    # Unsatisfiable says nothing anybody could check; the engine gives the proof.
    outcome = engine.decide(history, fit, deadline)
    assert outcome.status == engine.VIOLATED, "the engine and the plain encoding disagree"
    return evidence(history, fit, outcome)


def run(solver: Any, n: int) -> list[int]:
    """The total order that the solver found."""
    positive = {literal for literal in solver.get_model() or () if literal > 0}
    earlier = [0] * n
    for a, b in combinations(range(n), 2):
        earlier[b if before(a, b, n) in positive else a] += 1
    return sorted(range(n), key=earlier.__getitem__)


def before(a: int, b: int, n: int) -> int:
    """The literal "a comes before b"."""
    return a * n + b + 1 if a < b else -(b * n + a + 1)


def clauses(history: History, fit: Fit) -> Iterator[Clause]:
    n = len(history)
    edges, bad = engine.static_edges(history, fit)
    if bad >= 0:
        yield []
    for _, a, b in between_operations(edges, n):
        yield [before(a, b, n)]
    location, source = history.location.tolist(), history.source.tolist()
    writes_at: dict[int, list[int]] = {}
    for w in history.writes.tolist():
        writes_at.setdefault(location[w], []).append(w)
    for r in history.reads.tolist():
        w = source[r]
        for other in writes_at.get(location[r], ()):
            if other not in (w, r):
                later = [before(r, other, n)]
                yield later if w == INITIAL else [before(other, w, n), *later]
    for a in range(n):
        for b in range(a + 1, n):
            ab = a * n + b + 1
            for c in range(b + 1, n):
                bc, ac = b * n + c + 1, a * n + c + 1
                yield [-ab, -bc, ac]
                yield [ab, bc, -ac]
