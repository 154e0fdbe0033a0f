"""python-sat's solvers, so that Ctrl-C is heard."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

CONFLICTS = 10_000
"""A solver works in C and hears nothing: it is asked again after so many conflicts, and goes on where it was."""


def solve(solver: Any, assumptions: Iterable[int] = ()) -> bool:
    """Is what the solver has been given satisfiable?"""
    given = list(assumptions)
    while True:
        solver.conf_budget(CONFLICTS)
        answer = solver.solve_limited(assumptions=given)
        if answer is not None:
            return bool(answer)
