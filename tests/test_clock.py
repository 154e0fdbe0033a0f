"""Ranks where the trace tells no times: the longest path along program order and reads-from."""

from __future__ import annotations

import pytest
from test_engine import by_thread

from gradual.deciding.engine import static
from gradual.deciding.engine.clock import tell_time
from gradual.deciding.engine.run import Run
from gradual.history import History
from gradual.machines import generate
from gradual.models import load
from gradual.models.fit import fit


def run_of(history: History) -> Run:
    return Run([history], fit(load("sc")), compiled=False)


def ranks(history: History) -> list[int]:
    run = run_of(history)
    assert static.build(run.batch, run.building, 0) == static.BUILT
    tell_time(run.batch, run.building, 0)
    return [row.rank for row in run.batch.operation]


def previous(history: History, e: int) -> list[int]:
    """The operation right before e in its thread."""
    return [other for other in range(e) if history.thread[other] == history.thread[e]][-1:]


@pytest.mark.parametrize("machine", ["sc", "tso", "pso"])
def test_the_longest_path(machine: str) -> None:
    history = by_thread(generate(machine, 4, 120, 5, seed=3))
    before = [previous(history, e) + [w for w in [int(history.source[e])] if w >= 0] for e in range(len(history))]
    longest = [0] * len(history)
    for _ in longest:
        longest = [max((longest[other] + 1 for other in those), default=0) for those in before]
    assert ranks(history) == longest


@pytest.mark.parametrize("seed", range(5))
def test_where_reads_close_cycles(seed: int) -> None:
    """Some loads overtook: every operation has a rank all the same, and no thread goes back."""
    history = generate("rvwmo", 4, 400, 3, seed)
    found = ranks(history)
    assert min(found) == 0
    assert all(found[e] > found[other] for e in range(len(history)) for other in previous(history, e))


def test_only_where_the_trace_does_not_tell() -> None:
    made = generate("sc", 4, 120, 5, seed=1)
    assert [run_of(history).batch.history[0].timeless for history in (made, by_thread(made))] == [0, 1]
