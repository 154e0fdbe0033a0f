"""Every criterion of a history, weak to strong."""

from __future__ import annotations

from gradual.deadline import Deadline
from gradual.deciding.ladder import climb
from gradual.deciding.pipeline import check, impossible_observation
from gradual.history import History
from gradual.models.model import PSO, SC, TSO, Model

CRITERIA = ("CC", "CCv", "CM", "CCM", "SC", "wCCM", "TSO", "PSO")

Truth = bool | None


def classify(history: History, *, timeout: float | None = None) -> dict[str, Truth]:
    """Which criteria hold; None where the time limit (per ladder and per model) came first."""
    impossible = impossible_observation(history)
    if impossible:
        truths: dict[str, Truth] = dict.fromkeys(CRITERIA, False)
        if impossible[0] == "final":  # a matter of the store order, which these two do not have
            ladder = _ladder(history, SC, timeout)
            truths |= {name: ladder.get(name) for name in ("CC", "CM")}
        return truths
    truths = {**_ladder(history, SC, timeout), **_ladder(history, TSO, timeout)}
    for model, below in ((SC, "CCM"), (TSO, "wCCM"), (PSO, None)):
        refuted = below is not None and truths.get(below) is False
        truths[model.name] = False if refuted else _model(history, model, timeout)
    return {name: truths.get(name) for name in CRITERIA}


def _ladder(history: History, model: Model, timeout: float | None) -> dict[str, Truth]:
    truths: dict[str, Truth] = {}
    try:
        for answer in climb(history, model, Deadline(timeout)):
            truths |= {name: name not in answer.failed for name in answer.rung.criteria}
            if answer.failed:  # the upper criterion of a rung includes the lower one
                truths[answer.rung.criteria[-1]] = False
    except TimeoutError:
        pass
    return truths


def _model(history: History, model: Model, timeout: float | None) -> Truth:
    verdict = check(history, model, timeout=timeout).verdict
    return {"consistent": True, "violation": False}.get(verdict)
