"""Every way to a verdict against brute force and the operational machines.

`gradual.deciding.pipeline.check` certifies whatever it returns, so each verdict here has been replayed or walked.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from brute import MODELS, brute_model
from explore import explore
from hypothesis import given, settings
from random_histories import histories, random_history

import gradual
from gradual.deciding.completion import AUTO, COMPLETIONS, DIRECT
from gradual.deciding.pipeline import check
from gradual.history import History
from gradual.machines import MACHINES

ROUTES = [("schedule", AUTO), ("datalog", AUTO), *(("datalog", completion) for completion in COMPLETIONS),
          ("auto", DIRECT)]
"""A completion starts from the ladder's order, whichever engine is named."""


def _agree(history: History, model: str, expected: bool) -> None:
    for engine, completion in ROUTES:
        verdict = check(history, model, engine=engine, completion=completion)
        assert verdict.verdict == ("consistent" if expected else "violation"), (engine, completion)
        assert verdict.evidence is not None


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("seed", range(2))
def test_routes_agree_with_brute_force(model: str, seed: int) -> None:
    rng = Random(seed)
    for _ in range(100):
        history = random_history(rng)
        _agree(history, model, brute_model(history, model))


@pytest.mark.parametrize("model", MODELS)
def test_routes_agree_with_the_machines(model: str) -> None:
    """Larger histories than brute force can take, decided by exploring every run of the machine."""
    rng = Random(5)
    for _ in range(60):
        history = random_history(rng, max_threads=4, min_operations=6, max_operations=11)
        _agree(history, model, explore(history, model))


@settings(max_examples=40, deadline=None)
@given(histories())
def test_routes_agree_shrinking(history: History) -> None:
    for model in MODELS:
        _agree(history, model, brute_model(history, model))


@pytest.mark.parametrize("machine", MACHINES)
def test_routes_agree_on_longer_histories(machine: str) -> None:
    """Too long for any oracle: the routes against each other, and sound machines against their model."""
    for seed in range(4):
        history = gradual.generate(machine, threads=3, operations=50, locations=4, seed=seed)
        for model in MODELS:
            verdicts = {check(history, model, engine=engine, completion=name).verdict for engine, name in ROUTES}
            assert len(verdicts) == 1
            if machine in ("sc", "tso", "pso") and MODELS.index(machine.upper()) <= MODELS.index(model):
                assert verdicts == {"consistent"}


@pytest.mark.parametrize("history", [
    pytest.param([], id="empty"),
    pytest.param([("W", "x", 1), ("R", "x", 1)], id="one thread"),
    pytest.param([("W", "x", 1), ("W", "x", 2)], id="no reads"),
    pytest.param([("R", "x", 0), ("R", "y", 0)], id="no writes"),
    pytest.param([("F",), ("F",)], id="only fences"),
])
def test_small_histories_are_fine(history: list[tuple[str, ...]]) -> None:
    builder = gradual.Builder("small", "")
    for kind, *access in history:
        if kind == "F":
            builder.fence("0")
        else:
            (builder.write if kind == "W" else builder.read)("0", *access)  # type: ignore[arg-type]
    built = builder.build()
    for model in MODELS:
        _agree(built, model, True)
    assert all(gradual.classify(built).values())


def test_the_python_interface(tmp_path: Path) -> None:
    file = tmp_path / "sb.csv"
    file.write_text("thread,op,address,value\n0,W,x,1\n0,R,y,0\n1,W,y,1\n1,R,x,0\n")
    verdict = gradual.check(file, model="sc")
    assert not verdict
    assert "R x=0 (thread 1, line 5)" in verdict.message
    (history,) = gradual.read(file)
    assert isinstance(history, History)
    assert "would have to come before itself" in gradual.explain(verdict, history)
    assert gradual.check(str(file), model="TSO")
    assert gradual.explain(gradual.check(history, "tso"), history) == ""
    assert gradual.classify(file)["TSO"]
    gradual.write([history, history], tmp_path / "two.jsonl")
    with pytest.raises(gradual.InputError, match="more than one history"):
        gradual.check(tmp_path / "two.jsonl")
    with pytest.raises(gradual.InputError):
        gradual.check(tmp_path / "none.csv")
    for wrong in ({"model": "arm"}, {"engine": "magic"}, {"completion": "magic"}):
        with pytest.raises(ValueError, match="there are"):
            gradual.check(history, **wrong)  # type: ignore[arg-type]


def test_unknown_is_neither_true_nor_false() -> None:
    verdict = gradual.check(gradual.generate(operations=20), timeout=0)
    assert verdict.verdict == "unknown"
    with pytest.raises(ValueError, match="neither consistent nor a violation"):
        bool(verdict)


def test_an_explanation_is_of_the_verdicts_own_history() -> None:
    def history(*rows: tuple[str, str, str, int]) -> gradual.History:
        builder = gradual.Builder("", "")
        for thread, kind, address, value in rows:
            (builder.write if kind == "W" else builder.read)(thread, address, value)
        return builder.build()

    own = history(("0", "W", "x", 1), ("0", "R", "y", 0), ("1", "W", "y", 1), ("1", "R", "x", 0))
    verdict = gradual.check(own)
    assert gradual.explain(verdict, own)
    for other in (history(("0", "W", "x", 1)), gradual.generate(operations=50),
                  history(("0", "W", "x", 1), ("0", "R", "y", 0), ("1", "W", "y", 1), ("1", "R", "x", 1))):
        with pytest.raises(ValueError, match="not about this history"):
            gradual.explain(verdict, other)
