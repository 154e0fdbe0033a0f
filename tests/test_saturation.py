"""Saturation against its definition, brute force and itself."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from brute import MODELS, brute_store_orders, store_order_pairs
from fixpoint import saturated
from hypothesis import given, settings
from random_histories import EVERY_KIND, histories, random_history

import gradual
from gradual.deadline import Deadline
from gradual.deciding.completion.closure import Closure, Contradiction
from gradual.deciding.engine.run import Run
from gradual.deciding.observations import impossible_observation, write_pairs
from gradual.deciding.pipeline import check
from gradual.deciding.saturation import Saturation, all_write_pairs
from gradual.history import Builder, History
from gradual.models import Model, load
from gradual.models.fit import fit

EVERY_MODEL = pytest.mark.parametrize("model", [load(name) for name in MODELS], ids=str)
RELAXED = """Relaxed "TSO that also gives up write→write to other locations, and keeps what it reads from itself"
let ppo = [R];po;[M] | [W];po-loc;[W] | [AMO];po
acyclic po-loc | rf | co | fr       as coherence
acyclic ppo | fence | rf | co | fr  as global
"""


@pytest.fixture
def relaxed(tmp_path: Path) -> Model:
    (tmp_path / "relaxed.cat").write_text(RELAXED)
    return load(str(tmp_path / "relaxed.cat"))


def forced(history: History, model: Model, compiled: bool | None = None) -> set[tuple[int, int]] | None:
    """The pairs that saturation orders; None where it ends in a contradiction."""
    saturation = Saturation(Run([history], fit(model), compiled), Deadline())
    if saturation.contradicted():
        return None
    found = {pair for pair in all_write_pairs(history) if saturation.precedes(*pair)}
    assert saturation.ordered_pairs() == len(found)
    return found


def possible_histories(seed: int, count: int, **options: Any) -> list[History]:
    rng = Random(seed)
    found: list[History] = []
    while len(found) < count:
        history = random_history(rng, **options)
        if not impossible_observation(history, "coherence"):
            found.append(history)
    return found


@EVERY_MODEL
@pytest.mark.parametrize("seed", range(2))
def test_it_is_the_least_fixpoint(model: Model, seed: int) -> None:
    drawn = possible_histories(seed, 300, max_threads=4, max_operations=14, fence=0.12, fences=EVERY_KIND)
    found = [forced(history, model) for history in drawn]
    assert found == [saturated(history, model) for history in drawn]
    assert min(sum(pairs is None for pairs in found), sum(bool(pairs) for pairs in found)) > 30


def test_it_is_the_least_fixpoint_of_a_users_model(relaxed: Model) -> None:
    for history in possible_histories(7, 300, max_threads=4, max_operations=14, rmw=0.2):
        assert forced(history, relaxed) == saturated(history, relaxed)


@settings(deadline=None)
@given(histories(max_operations=10))
def test_it_is_the_least_fixpoint_shrinking(history: History) -> None:
    if not impossible_observation(history, "coherence"):
        for model in map(load, MODELS):
            assert forced(history, model) == saturated(history, model)


@EVERY_MODEL
def test_it_contradicts_what_a_cycle_of_facts_does(model: Model) -> None:
    """So nothing has to be counted there."""
    drawn = possible_histories(9, 150, max_threads=4, max_operations=14, fence=0.12, fences=EVERY_KIND)
    refuted = [history for history in drawn if check(history, model, engine="schedule").decided_by == "cycle"]
    assert len(refuted) > 20
    for history in refuted:
        assert forced(history, model) is None
        found = check(history, model, engine="schedule")
        assert (found.ordered_by, found.unordered_pairs) == ("saturation", None)


@EVERY_MODEL
def test_it_lies_in_every_store_order(model: Model) -> None:
    """What the ladder orders lies in it: tests/test_ladder.py."""
    compared = 0
    for history in possible_histories(8, 400, fence=0.12, fences=EVERY_KIND):
        orders = [store_order_pairs(order) for order in brute_store_orders(history, model.name)]
        found = forced(history, model)
        assert found is not None or not orders
        for order in orders:
            compared += 1
            assert found is not None and found <= order
    assert compared > 100


@EVERY_MODEL
def test_compiled_and_plain_kernels_agree(model: Model) -> None:
    longer = [gradual.generate(machine, threads=4, operations=300, locations=6, seed=seed)
              for machine in ("sc", "tso", "pso", "broken") for seed in range(2)]
    drawn = [history for history in possible_histories(21, 100, max_threads=4, max_operations=12) + longer
             if not impossible_observation(history, "coherence")]
    plain = [Saturation(Run([history], fit(model), False), Deadline()) for history in drawn]
    together = Saturation(Run(drawn, fit(model)), Deadline())
    for place, (history, alone) in enumerate(zip(drawn, plain, strict=True)):
        assert together.contradicted(place) == alone.contradicted()
        assert together.ordered_pairs(place) == together.all_ordered_pairs()[place] == alone.ordered_pairs()
        if not alone.contradicted():
            assert forced(history, model, True) == forced(history, model, False)


# --- assuming, for completions


def closure_of(history: History, model: Model) -> Closure | None:
    try:
        closure = Closure(history, fit(model))
        closure.infer()
    except Contradiction:
        return None
    return closure


def ordered(closure: Closure) -> set[tuple[int, int]]:
    return {pair for pair in all_write_pairs(closure.history) if closure.precedes(*pair)}


@EVERY_MODEL
def test_a_closure_is_saturated(model: Model) -> None:
    for history in possible_histories(5, 150, max_operations=12, max_threads=4):
        closure = closure_of(history, model)
        assert (closure and ordered(closure)) == forced(history, model)


@EVERY_MODEL
def test_taking_back_restores_everything(model: Model) -> None:
    tried = 0
    for history in possible_histories(9, 80, max_operations=12, max_threads=4):
        closure = closure_of(history, model)
        if closure is None:
            continue
        before, links = ordered(closure), list(closure.links)
        for pair in list(closure.unordered()):
            for assumed in (pair, pair[::-1]):
                tried += 1
                mark = closure.mark()
                try:
                    closure.assume(*assumed)
                    assert ordered(closure) == saturated(history, model, [assumed])
                except Contradiction as contradiction:
                    assert contradiction.cycle.assumed == (assumed,)
                    assert saturated(history, model, [assumed]) is None
                closure.undo(mark)
                assert ordered(closure) == before
                assert closure.links == links
    assert tried > 50


@EVERY_MODEL
def test_assuming_step_by_step_is_assuming_at_once(model: Model) -> None:
    history = gradual.generate("sc", threads=3, operations=40, locations=3, seed=4)
    closure = closure_of(history, model)
    assert closure is not None
    assumed: list[tuple[int, int]] = []
    while (pair := next(closure.unordered(), None)) is not None:
        closure.assume(*pair)
        assumed.append(pair)
        assert ordered(closure) == saturated(history, model, assumed)
    assert assumed


# --- what the verdict says of it


def test_it_is_counted_where_that_is_cheap_or_asked_for() -> None:
    small = gradual.generate("tso", threads=4, operations=200, locations=4, seed=1)
    large = gradual.generate("tso", threads=4, operations=20_001, locations=64, seed=1)
    for history, unordered, counted in ((small, None, True), (small, False, False), (large, None, False),
                                        (large, True, True)):
        verdict = check(history, "tso", unordered=unordered)
        assert verdict.verdict == "consistent"
        assert verdict.write_pairs == write_pairs(history)
        assert (verdict.ordered_by == "saturation") == counted
        assert (verdict.unordered_pairs is not None) == (verdict.unordered_percent is not None) == counted


@EVERY_MODEL
def test_degenerate_shapes(model: Model) -> None:
    """One location without reads, a thread per operation, a location per operation: quick, and consistent."""
    for operations, threads, locations in ((2000, 4, 1), (1500, 300, 3), (2000, 2, 2000)):
        builder = Builder("shape", "")
        for number in range(operations):
            builder.write(str(number % threads), number % locations, number + 1)
        verdict = check(builder.build(), model, engine="schedule", timeout=60)
        assert verdict.verdict == "consistent" and verdict.ordered_by == "saturation"
