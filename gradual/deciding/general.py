"""The general way: any model whatever, by SAT over the store order, its axioms looked at one store order at a time.

One variable per pair of writes to one location; clauses make each location's order transitive. Where several writes
wrote a value, one per write that a read of it may have returned. What the solver proposes is put into the text of the
model: every check that fails becomes a clause over the pairs, and what was read, it failed for. Small histories only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from itertools import combinations, permutations
from typing import TypeVar

import numpy as np

from gradual.deadline import Deadline
from gradual.deciding.completion.solver import solve
from gradual.evidence.verdict import Broken, Claim, Origin, Pair, Refutation, Witness
from gradual.history import AMBIGUOUS, INITIAL, NO_SOURCE, Column, History, candidates
from gradual.models import Model
from gradual.models.matrix import Matrices
from gradual.models.regular import grows_with_reads_from, grows_with_store_order, is_static
from gradual.models.syntax import Check

AnyClaim = TypeVar("AnyClaim", Pair, Origin)


def decide(history: History, model: Model, deadline: Deadline) -> Witness | Refutation:
    """A store order that satisfies every check, or why there is none. Raises TooLarge."""
    return _Search(history, model, deadline).run()


class _Search:
    def __init__(self, history: History, model: Model, deadline: Deadline) -> None:
        self._history = history
        self._model = model
        self._deadline = deadline
        self._read_as = history
        self._matrices = Matrices(history)
        location = history.location.tolist()
        self._at: dict[int, list[int]] = {}
        for w in history.writes.tolist():
            self._at.setdefault(location[w], []).append(w)
        pairs: list[Claim] = [pair for writes in self._at.values() for pair in combinations(writes, 2)]
        self._candidates = candidates(history)
        origins = [Origin(reader, write) for reader, writes in self._candidates.items() for write in writes]
        self._variable: dict[Claim, int] = {claim: number for number, claim in enumerate([*pairs, *origins], 1)}

    def run(self) -> Witness | Refutation:
        from pysat.solvers import Solver

        cases: list[Broken] = []
        with Solver(name="glucose4", bootstrap_with=list(self._given())) as solver:
            solver.set_phases(list(self._variable.values()))  # the order of the trace is the likely one
            while solve(solver, self._deadline):
                orders, origins = self._proposed(solver.get_model() or [])
                failed = self._failed(orders, origins)
                if failed is None:
                    return self._witness(orders, origins)
                cases.append(self._case(failed, orders, origins))
                solver.add_clause(self._clause(cases[-1]))
        return Refutation(tuple(cases), tuple(self._lemmas(cases)))

    # --- pairs as literals

    def _literal(self, a: int, b: int) -> int:
        return self._variable[a, b] if a < b else -self._variable[b, a]

    def _clause(self, case: Broken) -> list[int]:
        origins = [self._variable[origin] for origin in case.origins]
        return [-literal for literal in (*(self._literal(*pair) for pair in case.assumed), *origins)]

    def _given(self) -> Iterator[list[int]]:
        """Each location's order is one, and ends as the history demands; every value came from somewhere."""
        for reader, wrote in self._candidates.items():
            yield [self._variable[Origin(reader, write)] for write in wrote]
            for last in wrote if reader >= len(self._history) else ():
                not_last = -self._variable[Origin(reader, last)]
                others = self._at[reader - len(self._history)]
                yield from ([not_last, self._literal(w, last)] for w in others if w != last)
        starting = [reader for reader, wrote in self._candidates.items() if INITIAL in wrote]
        for one, other in combinations(starting, 2):  # memory held one value, where nobody knows it, too
            if (self._history.location[one] == self._history.location[other]
                    and self._history.read[one] != self._history.read[other]):
                yield [-self._variable[Origin(reader, INITIAL)] for reader in (one, other)]
        for at, writes in self._at.items():
            for a, b, c in permutations(writes, 3):
                yield [-self._literal(a, b), -self._literal(b, c), self._literal(a, c)]
            yield from ([self._literal(a, b)] for a, b in permutations(writes, 2) if self._history.tells(a, b))
            last = int(self._history.final[at])
            if last not in (NO_SOURCE, AMBIGUOUS):
                yield from ([self._literal(w, last)] for w in writes if w != last)

    def _proposed(self, model: list[int]) -> tuple[list[list[int]], list[Origin]]:
        """Per location, its writes as the solver has them; and what was read. Of several, any one will do."""
        true = set(model)
        found: list[list[int]] = [[] for _ in self._history.locations]
        for at, writes in self._at.items():
            before = {w: sum(v != w and self._literal(v, w) in true for v in writes) for w in writes}
            found[at] = sorted(writes, key=before.__getitem__)
        chosen = {claim.reader: claim for claim, number in self._variable.items()
                  if isinstance(claim, Origin) and number in true}
        return found, list(chosen.values())

    # --- the text

    def _suppose(self, pairs: Iterable[Pair], origins: Iterable[Origin]) -> None:
        """From now on the stores are ordered so, and values read from there."""
        read_as = self._history.read_as((origin.reader, origin.write) for origin in origins)
        if not np.array_equal(read_as.source, self._read_as.source):
            self._read_as, self._matrices = read_as, Matrices(read_as)
        self._matrices.order_stores(pairs)

    def _failed(self, orders: list[list[int]], origins: list[Origin]) -> Check | None:
        self._suppose(_pairs(orders), origins)
        return next((check for check in self._model.checks if not self._holds(check)), None)

    def _holds(self, check: Check) -> bool:
        matrix = self._matrices.of(check.expression)
        if check.kind == "empty":
            return not matrix.any()
        if check.kind == "irreflexive":
            return not matrix.diagonal().any()
        return _topological(matrix) is not None

    def _case(self, check: Check, orders: list[list[int]], origins: list[Origin]) -> Broken:
        """The check fails for these pairs and origins: of a check that more cannot mend, as few as it takes."""
        self._deadline.check()
        pairs = [] if is_static(check.expression) else list(_pairs(orders))
        read = [origin for origin in origins if origin.reader < len(self._history)]
        if grows_with_store_order(check.expression):
            pairs = self._fewest(pairs, lambda fewer: self._fails(check, fewer, read))
        if grows_with_reads_from(check.expression):
            read = self._fewest(read, lambda fewer: self._fails(check, pairs, fewer))
        return Broken(check.name, tuple(sorted(pairs)), tuple(sorted(read)))

    def _fails(self, check: Check, pairs: Iterable[Pair], origins: Iterable[Origin]) -> bool:
        self._suppose(pairs, origins)
        return not self._holds(check)

    @staticmethod
    def _fewest(claims: list[AnyClaim], enough: Callable[[list[AnyClaim]], bool]) -> list[AnyClaim]:
        """Without those that can be spared, halves of them first."""
        size = len(claims)
        while size > 0:
            for start in range(0, len(claims), size):
                fewer = claims[:start] + claims[start + size:]
                if len(fewer) < len(claims) and enough(fewer):
                    claims = fewer
                    break
            else:
                size //= 2
        return claims

    def _witness(self, orders: list[list[int]], origins: list[Origin]) -> Witness:
        n = len(self._history)
        topological = [_topological(self._matrices.of(check.expression)) or []
                       for check in self._model.checks if check.kind == "acyclic"]
        return Witness((), orders, [[event for event in order if event < n] for order in topological], tuple(origins))

    def _lemmas(self, cases: list[Broken]) -> Iterator[tuple[Claim, ...]]:
        """The solver's own proof that the cases exclude everything, as clauses over pairs and origins."""
        from pysat.solvers import Solver

        claims = {number: claim for claim, number in self._variable.items()}
        claims |= {-number: claim._replace(holds=False) if isinstance(claim, Origin) else (claim[1], claim[0])
                   for number, claim in claims.items()}
        clauses = [*self._given(), *map(self._clause, cases)]
        with Solver(name="glucose4", bootstrap_with=clauses, with_proof=True) as solver:
            solver.solve()
            proof = solver.get_proof() or []
        for line in proof:
            lemma = line.split()[:-1]
            if lemma and not line.startswith("d"):
                yield tuple(claims[int(number)] for number in lemma)
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
