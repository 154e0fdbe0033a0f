"""Completing the store order: search, its limits, and its way back."""

from __future__ import annotations

from random import Random

import pytest
from brute import brute_model
from random_histories import random_history
from searching import searched

import gradual
from gradual.closure import Closure, Contradiction
from gradual.completion import COMPLETIONS, completion
from gradual.deadline import Deadline
from gradual.models import MODELS, SC, TSO, Model
from gradual.pipeline import check
from gradual.verdict import Refutation, Witness


@pytest.mark.parametrize("name", COMPLETIONS)
@pytest.mark.parametrize("model", MODELS)
def test_a_violation_that_only_search_finds(name: str, model: str) -> None:
    plain, fenced = searched(), searched(fenced=True)
    assert gradual.classify(plain)["CCM"]
    assert isinstance(check(fenced, model, completion=name).evidence, Refutation)
    verdict = check(plain, model, completion=name)
    assert verdict.verdict == ("violation" if model == "SC" else "consistent")
    assert verdict.decided_by == name


def test_what_search_finds_is_so() -> None:
    assert not brute_model(searched(), "SC")
    assert brute_model(searched(), "TSO")
    assert not brute_model(searched(fenced=True), "PSO")


@pytest.mark.parametrize("name", COMPLETIONS)
def test_a_time_limit_gives_unknown(name: str) -> None:
    history = gradual.generate("sc", threads=4, operations=300, locations=2, seed=3)
    verdict = check(history, "sc", completion=name, timeout=0.001)
    assert verdict.verdict == "unknown"
    assert "time" in verdict.message
    assert verdict.evidence is None


def test_a_time_limit_interrupts_the_solver() -> None:
    history = gradual.generate("sc", threads=4, operations=250, locations=2, seed=3)
    with pytest.raises(TimeoutError):
        completion("direct")(history, SC, Deadline(0.5))


@pytest.mark.parametrize("name", ["enumerate", "sat"])
def test_several_searches_in_one_history(name: str) -> None:
    """The search does not multiply over parts that have nothing to do with each other."""
    evidence = check(searched(copies=3), "sc", completion=name).evidence
    assert isinstance(evidence, Refutation)


@pytest.mark.parametrize("model", MODELS.values(), ids=str)
def test_taking_back_restores_everything(model: Model) -> None:
    rng = Random(9)
    for _ in range(200):
        history = random_history(rng, max_operations=12, max_threads=4, thin_air=0)
        try:
            closure = Closure(history, model)
        except Contradiction:
            continue
        before = closure.pairs()
        for pair in list(closure.unordered()):
            for assumed in (pair, pair[::-1]):
                mark = closure.mark()
                try:
                    closure.assume(*assumed)
                    assert assumed in closure.pairs()
                except Contradiction as contradiction:
                    assert contradiction.cycle.assumed == (assumed,)
                closure.undo(mark)
                assert closure.pairs() == before


def test_assuming_step_by_step_is_assuming_at_once() -> None:
    """Incremental saturation draws the consequences that a fresh one draws."""
    history = gradual.generate("sc", threads=3, operations=40, locations=3, seed=4)
    closure = Closure(history, TSO)
    assumed = []
    while (pair := next(closure.unordered(), None)) is not None:
        closure.assume(*pair)
        assumed.append(pair)
        fresh = Closure(history, TSO)
        for other in reversed(assumed):
            fresh.assume(*other)
        assert fresh.pairs() == closure.pairs()
    assert assumed


def test_completions_find_the_same_kind_of_answer() -> None:
    history = gradual.generate("tso", threads=4, operations=60, locations=4, seed=2)
    for name in COMPLETIONS:
        assert isinstance(completion(name)(history, TSO, Deadline()), Witness)


def test_an_unknown_completion_is_refused() -> None:
    with pytest.raises(ValueError, match="no completion called 'magic'"):
        completion("magic")
