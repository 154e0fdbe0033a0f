"""Completing the store order: search, its limits, and its way back."""

from __future__ import annotations

import pytest
from brute import MODELS, brute_model
from searching import searched

import gradual
from gradual.deadline import Deadline, OutOfTime
from gradual.deciding.completion import AUTO, COMPLETIONS, DIRECT, completion, direct
from gradual.deciding.pipeline import check
from gradual.evidence.verdict import Refutation
from gradual.models import load
from gradual.models.fit import fit

ROUTES = (*COMPLETIONS, DIRECT)
DECIDED_BY = {AUTO: "search"} | {name: name for name in ROUTES}


@pytest.mark.parametrize("name", (AUTO, *ROUTES))
@pytest.mark.parametrize("model", MODELS)
def test_a_violation_that_only_search_finds(name: str, model: str) -> None:
    plain, fenced = searched(), searched(fenced=True)
    assert gradual.classify(plain)["CCM"]
    assert isinstance(check(fenced, model, completion=name).evidence, Refutation)
    verdict = check(plain, model, completion=name)
    assert verdict.verdict == ("violation" if model == "SC" else "consistent")
    assert verdict.decided_by == ("schedule" if verdict and name == AUTO else DECIDED_BY[name])


def test_what_search_finds_is_so() -> None:
    assert not brute_model(searched(), "SC")
    assert brute_model(searched(), "TSO")
    assert not brute_model(searched(fenced=True), "PSO")


@pytest.mark.parametrize("name", ROUTES)
def test_a_time_limit_gives_unknown(name: str) -> None:
    history = gradual.generate("sc", threads=4, operations=300, locations=2, seed=3)
    verdict = check(history, "sc", engine="datalog", completion=name, timeout=0.001)
    assert verdict.verdict == "unknown"
    assert "time" in verdict.message
    assert verdict.evidence is None


def test_a_time_limit_interrupts_the_solver() -> None:
    history = gradual.generate("sc", threads=4, operations=250, locations=2, seed=3)
    with pytest.raises(OutOfTime):
        direct.complete(history, fit(load("sc")), Deadline(0.5))


@pytest.mark.parametrize("name", ["enumerate", "sat"])
def test_several_searches_in_one_history(name: str) -> None:
    """The search does not multiply over parts that have nothing to do with each other."""
    evidence = check(searched(copies=3), "sc", completion=name).evidence
    assert isinstance(evidence, Refutation)


def test_an_unknown_completion_is_refused() -> None:
    with pytest.raises(ValueError, match="no completion called 'magic'"):
        completion("magic")
