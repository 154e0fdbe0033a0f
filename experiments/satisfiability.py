"""3-SAT as histories: SC, TSO and PSO each allow the history exactly when the formula can be satisfied.

Deciding SC is NP-complete (Gibbons and Korach, 1997; Cantin, Lipasti and Smith, 2005). In this reduction a truth value
is the order of two writes. Threads are one write or two reads, so the three models agree.

*Variable* x: two threads, `W x=1` and `W x=2`. It is true when x=1 comes first. Of a literal, let u and w be the writes
that come in the order u, w when it is *false*.

*Occurrence* of a literal: a location y of its own with writes u', w' in two threads, which copies the order one way by

    R y=u'; R x=u        R x=w; R y=w'

If u precedes w, then u' precedes w': otherwise u' → R y=u' → R x=u → w → R x=w → R y=w' → u' is a cycle
(wr, po, rw, wr, po, rw).

*Clause*: its occurrences in a ring, a thread from each to the next, `R y=w'; R z=u'` with z the next one's location. If
all are false, each R z=u' → w' of z → R z=w' → the next ring thread's second read leads once round: a cycle. So a
consistent history gives a satisfying assignment, the order of the writes of each variable.

Conversely, take a satisfying assignment, order each variable's writes by it and every copy like its variable. Run the
first writes everywhere, then all threads as far as they read first values. Run the second writes of the variables. Each
ring has a true occurrence, whose thread onwards has read its w'. If the next one is false, the thread has also read the
u' there, as has the copying thread, so that w' can be written, and the next thread goes on in the same way, until the
ring meets a true occurrence. Now write the u' of the true ones. All other reads want the last value of their location,
and come at the end. This is an SC run.

Per variable 2 operations in 2 threads, per clause 24 in 15: 4 160 in 2 630 at 40 variables and 170 clauses.
"""

from __future__ import annotations

from itertools import count
from random import Random

from gradual.history import Builder, History

RATIO = 4.26
"""Clauses per variable at which about half of all random formulas can be satisfied: the hardest ones."""
FIRST_IF_TRUE, FIRST_IF_FALSE = 1, 2
"""The values of the two writes of a location."""

Clause = tuple[int, ...]
"""Literals as in DIMACS: the number of a variable, from 1 on, negative where it is negated."""


def random_formula(variables: int, seed: int, ratio: float = RATIO) -> list[Clause]:
    """Clauses of three different variables each, drawn uniformly."""
    rng = Random(seed)
    return [tuple(rng.choice((-1, 1)) * variable for variable in rng.sample(range(1, variables + 1), 3))
            for _ in range(round(variables * ratio))]


def satisfiable(formula: list[Clause]) -> bool:
    """What a SAT solver says."""
    from pysat.solvers import Solver

    with Solver(name="cadical153", bootstrap_with=formula) as solver:
        return bool(solver.solve())


def first_formula(variables: int, wanted: bool) -> list[Clause]:
    """The first random formula that can, or cannot, be satisfied."""
    return next(formula for formula in (random_formula(variables, seed) for seed in count(1))
                if satisfiable(formula) == wanted)


def history_of(formula: list[Clause], name: str = "") -> History:
    """The history that is consistent exactly when the formula can be satisfied."""
    return _Reduction(name).history(formula)


class _Reduction:
    def __init__(self, name: str) -> None:
        self._builder = Builder(name, "")
        self._threads = 0

    def history(self, formula: list[Clause]) -> History:
        for variable in sorted({abs(literal) for clause in formula for literal in clause}):
            self._writes(f"x{variable}")
        for number, clause in enumerate(formula):
            self._clause(clause, [f"y{number}.{place}" for place in range(len(clause))])
        return self._builder.build()

    def _clause(self, clause: Clause, copies: list[str]) -> None:
        for literal, copy in zip(clause, copies, strict=True):
            self._writes(copy)
            self._copy(literal, copy)
        for at, copy in enumerate(copies):
            following = (at + 1) % len(copies)
            self._reads((copy, _last_if_false(clause[at])), (copies[following], _first_if_false(clause[following])))

    def _copy(self, literal: int, copy: str) -> None:
        """The copy uses the values of its variable."""
        variable, first, last = f"x{abs(literal)}", _first_if_false(literal), _last_if_false(literal)
        self._reads((copy, first), (variable, first))
        self._reads((variable, last), (copy, last))

    def _writes(self, location: str) -> None:
        for value in (FIRST_IF_TRUE, FIRST_IF_FALSE):
            self._builder.write(self._thread(), location, value)

    def _reads(self, *reads: tuple[str, int]) -> None:
        thread = self._thread()
        for location, value in reads:
            self._builder.read(thread, location, value)

    def _thread(self) -> str:
        self._threads += 1
        return f"T{self._threads}"


def _first_if_false(literal: int) -> int:
    return FIRST_IF_FALSE if literal > 0 else FIRST_IF_TRUE


def _last_if_false(literal: int) -> int:
    return FIRST_IF_TRUE if literal > 0 else FIRST_IF_FALSE
