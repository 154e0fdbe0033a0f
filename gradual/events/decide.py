"""Decides second-order sentences by SAT, guided by counter-examples (non-prenex, after RAReQS).

What is quantified existentially is the solver's to choose. Of each ∀X φ it is only told a selector: once it has chosen
a candidate that wants ∀X φ, an X is looked for that refutes it, by deciding ∃X ¬φ; φ for that X is then demanded
wherever the selector is true. A sentence with ∃ alone is one call of the solver.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradual.events.formula import FALSE, TRUE, Formula, replaced
from gradual.events.sat import solve

Assignment = dict[int, bool]


def model(formula: Formula) -> Assignment | None:
    """Values for the free atoms, and those of the outermost ∃, with which the formula holds; None where there are
    none."""
    from pysat.solvers import Solver

    if formula is FALSE:
        return None
    with Solver(name="glucose4") as solver:
        candidate = _Candidate(solver)
        candidate.demand(formula)
        while solve(solver):
            values = candidate.values()
            if not candidate.learn(values):
                return values
    return None


def holds(sentence: Formula) -> bool:
    return model(sentence) is not None


class _Candidate:
    """What the solver is told."""

    def __init__(self, solver: Any) -> None:
        self._solver = solver
        self._number: dict[int, int] = {}
        """The solver's variables, by atom."""
        self._name: dict[int, int] = {}
        """The solver's variables for formulas, by their identity."""
        self._kept: list[Formula] = []
        self._universal: dict[int, Formula] = {}
        """Each ∀ that was met, by its selector."""
        self._count = 0
        self._true: set[int] = set()
        """The variables that the last candidate makes true."""

    def values(self) -> Assignment:
        self._true = {literal for literal in self._solver.get_model() or () if literal > 0}
        return {atom: number in self._true for atom, number in self._number.items()}

    def learn(self, values: Assignment) -> bool:
        """Looks at what the candidate wants of all X, and demands what refutes it. False: nothing does."""
        learnt = False
        for selector, part in list(self._universal.items()):
            if selector in self._true:
                refuted = model(replaced(~part.parts[0], _constants(part.free, values)))
                if refuted is not None:
                    learnt = True
                    instance = replaced(part.parts[0], _constants(part.bound, refuted))
                    self._solver.add_clause([-selector, self._literal(instance)])
        return learnt

    def demand(self, formula: Formula) -> None:
        """As clauses where it is a conjunction of such."""
        for part in formula.parts if formula.kind == "all of" else (formula,):
            if part.kind == "exists":
                self.demand(part.parts[0])
            elif part.kind == "some of":
                self._solver.add_clause([self._literal(inner) for inner in part.parts])
            elif part.kind == "all of":
                self.demand(part)
            else:
                self._solver.add_clause([self._literal(part)])

    def _fresh(self) -> int:
        self._count += 1
        return self._count

    def _literal(self, formula: Formula) -> int:
        """A literal that implies the formula: it only occurs positively."""
        if formula.kind == "literal":
            atom = abs(formula.literal)
            if atom not in self._number:
                self._number[atom] = self._fresh()
            return self._number[atom] if formula.literal > 0 else -self._number[atom]
        if formula.kind == "exists":
            return self._literal(formula.parts[0])
        if id(formula) not in self._name:
            self._kept.append(formula)
            name = self._name[id(formula)] = self._fresh()
            if formula.kind == "for all":
                self._universal[name] = formula
            elif formula.kind == "some of":
                self._solver.add_clause([-name, *map(self._literal, formula.parts)])
            else:
                for part in formula.parts:
                    self._solver.add_clause([-name, self._literal(part)])
        return self._name[id(formula)]


def _constants(atoms: Iterable[int], values: Assignment) -> dict[int, Formula]:
    """Atoms that nobody has chosen are false."""
    return {atom: TRUE if values.get(atom, False) else FALSE for atom in atoms}
