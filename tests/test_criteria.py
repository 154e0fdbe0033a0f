"""The criteria on bit sets against the clingo programs."""

from __future__ import annotations

from random import Random

import pytest
from random_histories import random_history
from theory import HISTORIES, parse

from gradual.compiler import can_compile
from gradual.deadline import Deadline
from gradual.deciding import criteria, ladder, many, pipeline
from gradual.deciding.engine.run import Run
from gradual.deciding.observations import impossible_observation
from gradual.history import History
from gradual.models import load
from gradual.models.fit import fit

pytestmark = pytest.mark.skipif(not can_compile(), reason="there is no LLVM")


def random_ones(seed: int, count: int) -> list[History]:
    rng = Random(seed)
    found: list[History] = []
    while len(found) < count:
        history = random_history(rng, max_operations=rng.choice((6, 10, 14, 24)))
        if not impossible_observation(history, ""):
            found.append(history)
    return found


def by_clingo(history: History, model: str) -> tuple[str | None, int, str]:
    for answer in ladder.climb(history, load(model), Deadline()):
        if answer.failed:
            break
    return (answer.failed or (None,))[0], answer.ordered_pairs, answer.rung.program


@pytest.mark.parametrize("model", ["sc", "tso", "pso"])
def test_bit_sets_and_clingo(model: str) -> None:
    known = [parse(entry.text, name) for name, entry in HISTORIES.items()]
    histories = [*random_ones(7, 120), *(history for history in known if not impossible_observation(history, ""))]
    found = [(climbed.failed, climbed.ordered, climbed.rung.program)
             for climbed in criteria.climb(Run(histories, fit(load(model)), True), load(model))]
    assert found == [by_clingo(history, model) for history in histories]
    assert len({failed for failed, _, _ in found}) == (5 if model == "sc" else 2)


@pytest.mark.parametrize("model", ["sc", "tso", "pso"])
def test_many_together_are_told_as_one_alone(model: str) -> None:
    rng = Random(3)
    histories = [random_history(rng, max_operations=12) for _ in range(80)]
    told = [(verdict.verdict, verdict.decided_by, verdict.write_pairs, verdict.unordered_pairs, verdict.ordered_by)
            for verdict in many.decide(histories, load(model)) if verdict is not None]
    alone = [(verdict.verdict, verdict.decided_by, verdict.write_pairs, verdict.unordered_pairs, verdict.ordered_by)
             for verdict in (pipeline.check(history, model) for history in histories if len(history))]
    assert told == alone


def test_a_large_one_among_them_is_left_to_clingo() -> None:
    rng = Random(5)
    large = next(history for history in (random_history(rng, max_operations=900) for _ in range(300))
                 if len(history) > criteria.LARGEST and not impossible_observation(history, "coherence"))
    verdicts = many.decide([large, *random_ones(1, 3)], load("sc"))
    assert verdicts[0] is None or verdicts[0].verdict == "consistent"
    assert None not in verdicts[1:]
