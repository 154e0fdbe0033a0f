"""The general way: any model whatever, by SAT over the store order, its axioms looked at one store order at a time.

One variable per pair of writes to one location; clauses make each location's order transitive. A store order that the
solver proposes is put into the text of the model: every check that fails becomes a clause over the pairs it failed
for. Small histories only.
"""

from __future__ import annotations

from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from itertools import combinations, permutations

import numpy as np

from gradual.deadline import Deadline
from gradual.deciding.completion.solver import solve
from gradual.evidence.verdict import Broken, Pair, Refutation, Witness
from gradual.history import NO_SOURCE, Column, History
from gradual.models import Model
from gradual.models.matrix import Matrices
from gradual.models.regular import grows_with_store_order, is_static
from gradual.models.syntax import Check


def decide(history: History, model: Model, deadline: Deadline) -> Witness | Refutation:
    """A store order that satisfies every check, or why there is none. Raises TooLarge."""
    return _Search(history, model, deadline).run()


class _Search:
    def __init__(self, history: History, model: Model, deadline: Deadline) -> None:
        self._history = history
        self._model = model
        self._deadline = deadline
        self._matrices = Matrices(history)
        location = history.location.tolist()
        self._at: dict[int, list[int]] = {}
        for w in history.writes.tolist():
            self._at.setdefault(location[w], []).append(w)
        pairs = [pair for writes in self._at.values() for pair in combinations(writes, 2)]
        self._variable = {pair: number for number, pair in enumerate(pairs, 1)}

    def run(self) -> Witness | Refutation:
        from pysat.solvers import Solver

        cases: list[Broken] = []
        with Solver(name="glucose4", bootstrap_with=list(self._given())) as solver:
            solver.set_phases(list(self._variable.values()))  # the order of the trace is the likely one
            while solve(solver, self._deadline):
                orders = self._orders(solver.get_model() or [])
                failed = self._failed(orders)
                if failed is None:
                    return self._witness(orders)
                cases.append(self._case(failed, orders))
                solver.add_clause([-self._literal(*pair) for pair in cases[-1].assumed])
        return Refutation(tuple(cases), tuple(self._lemmas(cases)))

    # --- pairs as literals

    def _literal(self, a: int, b: int) -> int:
        return self._variable[a, b] if a < b else -self._variable[b, a]

    def _given(self) -> Iterator[list[int]]:
        """Each location's order is one, and ends as the history demands."""
        for at, writes in self._at.items():
            for a, b, c in permutations(writes, 3):
                yield [-self._literal(a, b), -self._literal(b, c), self._literal(a, c)]
            last = int(self._history.final[at])
            if last != NO_SOURCE:
                yield from ([self._literal(w, last)] for w in writes if w != last)

    def _orders(self, model: list[int]) -> list[list[int]]:
        """Per location, its writes as the solver has them."""
        true = set(model)
        found: list[list[int]] = [[] for _ in self._history.locations]
        for at, writes in self._at.items():
            before = {w: sum(v != w and self._literal(v, w) in true for v in writes) for w in writes}
            found[at] = sorted(writes, key=before.__getitem__)
        return found

    # --- the text

    def _failed(self, orders: list[list[int]]) -> Check | None:
        self._matrices.order_stores(_pairs(orders))
        return next((check for check in self._model.checks if not self._holds(check)), None)

    def _holds(self, check: Check) -> bool:
        matrix = self._matrices.of(check.expression)
        if check.kind == "empty":
            return not matrix.any()
        if check.kind == "irreflexive":
            return not matrix.diagonal().any()
        return _topological(matrix) is not None

    def _case(self, check: Check, orders: list[list[int]]) -> Broken:
        """The check fails for these pairs: of a check that more pairs cannot mend, as few as it takes."""
        self._deadline.check()
        assumed = [] if is_static(check.expression) else list(_pairs(orders))
        size = len(assumed) if grows_with_store_order(check.expression) else 0
        while size > 0:
            for start in range(0, len(assumed), size):
                fewer = assumed[:start] + assumed[start + size:]
                self._matrices.order_stores(fewer)
                if len(fewer) < len(assumed) and not self._holds(check):
                    assumed = fewer
                    break
            else:
                size //= 2
        return Broken(check.name, tuple(sorted(assumed)))

    def _witness(self, orders: list[list[int]]) -> Witness:
        n = len(self._history)
        topological = [_topological(self._matrices.of(check.expression)) or []
                       for check in self._model.checks if check.kind == "acyclic"]
        return Witness((), orders, [[event for event in order if event < n] for order in topological])

    def _lemmas(self, cases: list[Broken]) -> Iterator[tuple[Pair, ...]]:
        """The solver's own proof that the cases exclude every order, as clauses over pairs."""
        from pysat.solvers import Solver

        pair = {number: pair for pair, number in self._variable.items()}
        clauses = [*self._given(), *([-self._literal(*pair) for pair in case.assumed] for case in cases)]
        with Solver(name="glucose4", bootstrap_with=clauses, with_proof=True) as solver:
            solver.solve()
            proof = solver.get_proof() or []
        for line in proof:
            lemma = line.split()[:-1]
            if lemma and not line.startswith("d"):
                yield tuple(pair[number] if number > 0 else pair[-number][::-1] for number in map(int, lemma))
        yield ()


def _pairs(orders: list[list[int]]) -> Iterator[Pair]:
    for writes in orders:
        yield from combinations(writes, 2)


def _topological(matrix: Column) -> list[int] | None:
    """The events in an order in which all pairs go forward."""
    sorter: TopologicalSorter[int] = TopologicalSorter(dict.fromkeys(range(len(matrix)), ()))
    for a, b in np.argwhere(matrix).tolist():
        sorter.add(b, a)
    try:
        return list(sorter.static_order())
    except CycleError:
        return None
