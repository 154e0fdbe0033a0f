"""python-sat's solvers under a deadline."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Timer
from typing import Any

from gradual.deadline import Deadline, OutOfTime


def solve(solver: Any, deadline: Deadline, assumptions: Sequence[int] = ()) -> bool:
    """Is the formula satisfiable? Raises OutOfTime when the deadline passes first."""
    deadline.check()
    if deadline.seconds_left is None:
        return bool(solver.solve(assumptions=assumptions))
    timer = Timer(deadline.seconds_left, solver.interrupt)
    timer.start()
    try:
        answer = solver.solve_limited(assumptions=assumptions, expect_interrupt=True)
    finally:
        timer.cancel()
        solver.clear_interrupt()
    if answer is None:
        raise OutOfTime
    return bool(answer)
