"""A SAT solver proposes an order for the open pairs; their closure says which of them cannot be together.

One variable per pair that is open. Acyclicity is not encoded: every contradiction that shows in a
proposal becomes a clause over the pairs its cycle assumed.
"""

from __future__ import annotations

from collections.abc import Iterator

from gradual.deadline import Deadline
from gradual.deciding.completion.closure import Closure, Contradiction
from gradual.deciding.completion.solver import solve
from gradual.evidence.verdict import Cycle, Pair, Refutation, Witness


def complete(closure: Closure, deadline: Deadline) -> Witness | Refutation:
    return _Search(closure, deadline).run()


class _Search:
    def __init__(self, closure: Closure, deadline: Deadline) -> None:
        self.closure = closure
        self.deadline = deadline
        self.pairs = list(closure.unordered())
        self.variable = {pair: number for number, pair in enumerate(self.pairs, 1)}
        self.cases: list[Cycle] = []

    def run(self) -> Witness | Refutation:
        from pysat.solvers import Solver

        with Solver(name="glucose4") as solver:
            solver.set_phases(list(self.variable.values()))  # the order of the trace is the likely one
            while solve(solver, self.deadline):
                before = len(self.cases)
                mark = self.closure.mark()
                self.cases += self._contradictions(solver.get_model())
                if len(self.cases) == before:
                    return self.closure.witness()
                self.closure.undo(mark)
                for case in self.cases[before:]:
                    solver.add_clause(self._clause(case))
        return Refutation(tuple(self.cases), tuple(self._lemmas()))

    def _contradictions(self, model: list[int]) -> Iterator[Cycle]:
        """Order the pairs as proposed, one after the other, leaving out those that close a cycle."""
        for literal in model:
            self.deadline.check()
            pair = self._pair(literal)
            if self.closure.precedes(*pair):
                continue
            mark = self.closure.mark()
            try:
                self.closure.assume(*pair)
            except Contradiction as contradiction:
                self.closure.undo(mark)
                yield contradiction.cycle

    def _pair(self, literal: int) -> Pair:
        a, b = self.pairs[abs(literal) - 1]
        return (a, b) if literal > 0 else (b, a)

    def _clause(self, case: Cycle) -> list[int]:
        """Not all pairs the cycle assumed."""
        return [-self.variable[pair] if pair in self.variable else self.variable[pair[1], pair[0]]
                for pair in case.assumed]

    def _lemmas(self) -> Iterator[tuple[Pair, ...]]:
        """The solver's own proof that the cases exclude every order, as clauses over pairs."""
        from pysat.solvers import Solver

        clauses = [self._clause(case) for case in self.cases]
        with Solver(name="glucose4", bootstrap_with=clauses, with_proof=True) as solver:
            solver.solve()
            proof = solver.get_proof() or []
        lemmas = [line.split()[:-1] for line in proof if not line.startswith("d")]
        yield from (tuple(self._pair(int(literal)) for literal in lemma) for lemma in lemmas if lemma)
        yield ()
