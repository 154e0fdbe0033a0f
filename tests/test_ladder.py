"""The clingo programs against the definitions."""

from __future__ import annotations

from random import Random

import pytest
from brute import MODELS, brute_criterion, brute_pww, brute_store_orders, brute_wpww, store_order_pairs
from hypothesis import given, settings
from random_histories import histories, random_history
from theory import HISTORIES, NAMES, TABLE, parse

from gradual.deadline import Deadline, OutOfTime
from gradual.deciding import rules
from gradual.deciding.classification import classify
from gradual.deciding.engine.run import Run
from gradual.deciding.ladder import climb
from gradual.deciding.observations import impossible_observation
from gradual.deciding.saturation import Saturation, forced_pairs
from gradual.history import History
from gradual.models import Model, load
from gradual.models.fit import fit

SC, TSO, PSO = map(load, MODELS)


@pytest.mark.parametrize("name", HISTORIES)
def test_theory_table(name: str) -> None:
    entry = HISTORIES[name]
    assert classify(parse(entry.text, name)) == entry.expected


def test_the_table_is_whole() -> None:
    assert set(TABLE) == {"1a", "1b", "1c", "1d", "3", "SB", "future"}
    assert set(classify(parse("W x1"))) == set(NAMES)


def _store_order(history: History, model: Model) -> set[tuple[int, int]]:
    """The partial store order of the top rung."""
    *_, top = climb(history, model, Deadline())
    return set(top.ww)


def _agrees_with_the_definitions(history: History) -> None:
    found = classify(history)
    for name in ("CC", "CCv", "CM", "CCM", "wCCM"):
        assert found[name] == brute_criterion(history, name), name
    if found["CCM"]:
        assert _store_order(history, SC) == brute_pww(history)
    if found["wCCM"]:
        assert _store_order(history, TSO) == brute_wpww(history)


@pytest.mark.parametrize("seed", range(2))
def test_criteria_and_store_orders_are_the_defined_ones(seed: int) -> None:
    rng = Random(seed)
    for _ in range(150):
        _agrees_with_the_definitions(random_history(rng))


@settings(deadline=None)
@given(histories())
def test_criteria_are_the_defined_ones_shrinking(history: History) -> None:
    _agrees_with_the_definitions(history)


def _hierarchy(found: dict[str, bool | None]) -> None:
    for stronger, weaker in (("SC", "CCM"), ("CCM", "CM"), ("CCM", "CCv"), ("CM", "CC"), ("CCv", "CC"),
                             ("TSO", "wCCM"), ("CCM", "wCCM"), ("SC", "TSO"), ("TSO", "PSO")):
        assert not found[stronger] or found[weaker], f"{stronger} without {weaker}"


@pytest.mark.parametrize("seed", range(2))
def test_hierarchy(seed: int) -> None:
    rng = Random(1000 + seed)
    for _ in range(150):
        _hierarchy(classify(random_history(rng, max_operations=10)))


@pytest.mark.parametrize("model", (SC, TSO, PSO), ids=str)
def test_partial_store_orders_lie_in_every_store_order(model: Model) -> None:
    """And saturation lies between the ladder's order and every store order."""
    rng = Random(77)
    compared = 0
    for _ in range(400):
        history = random_history(rng)
        if impossible_observation(history, ""):
            continue
        orders = [store_order_pairs(order) for order in brute_store_orders(history, model.name)]
        ladder = _store_order(history, model)
        if Saturation(Run([history], fit(model)), Deadline()).contradicted():
            assert not orders
            continue
        saturated = set(forced_pairs(history, fit(model), Deadline()))
        assert ladder <= saturated
        for order in orders:
            compared += 1
            assert saturated <= order
    assert compared > 100


def test_joining_the_two_relations_would_be_wrong_for_pso() -> None:
    """The reason why PSO has a program of its own."""
    history = parse("W x1, R x1, W y1 ∥ R y1, W x2 ; x1")
    assert classify(history)["PSO"]
    facts = rules.facts(history, fit(PSO))
    assert rules.run("wccm_pso", facts, Deadline()).acyclic
    assert not rules.run("wccm", facts, Deadline()).acyclic


def test_trace_text_never_reaches_clingo() -> None:
    """Addresses and threads go in as numbers, whatever they are called."""
    from gradual.history import Builder

    builder = Builder('"). violated(cc). %', "x")
    builder.write('violated(cc). #script (python) %"', '"). violated(cc). %', 1)
    builder.read("t", '"). violated(cc). %', 1)
    assert all(classify(builder.build()).values())


def test_a_deadline_stops_the_grounding() -> None:
    import gradual

    history = gradual.generate("sc", threads=4, operations=4000, locations=4, seed=1)
    with pytest.raises(OutOfTime):
        rules.run("ccm", rules.facts(history, fit(SC)), Deadline(0.5))


def test_apart_and_in_process_agree() -> None:
    import gradual

    history = gradual.generate("sc", threads=4, operations=rules.IN_PROCESS + 20, locations=8, seed=1)
    facts = rules.facts(history, fit(SC))
    apart, here = rules.run("ccv", facts, Deadline(60)), rules.run("ccv", facts, Deadline())
    assert (apart.acyclic, apart.violated, sorted(apart.ww)) == (here.acyclic, here.violated, sorted(here.ww))
