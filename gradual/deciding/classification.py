"""Every criterion of a history, weak to strong: those below each model, and the model itself."""

from __future__ import annotations

from collections.abc import Sequence

from gradual.deadline import Deadline, OutOfTime, alarm
from gradual.deciding.ladder import climb, criteria
from gradual.deciding.observations import impossible_observation
from gradual.deciding.pipeline import check
from gradual.history import History
from gradual.models import Model, usual

Truth = bool | None
CLIMBED = 20_000
"""Operations beyond which the ladder takes hours, and more memory than there is: nobody climbs it."""
WITHOUT_STORE_ORDER = ("CC", "CM")
"""Criteria to which it is no matter what memory is left with."""


def names(models: Sequence[Model] | None = None) -> list[str]:
    """What `classify` tells: the criteria below each model, then the model."""
    return [name for model in models or usual() for name in (*criteria(model), model.name)]


def classify(history: History, models: Sequence[Model] | None = None, *,
             timeout: float | None = None) -> dict[str, Truth]:
    """Which criteria hold, for each model and those below it; None where the time limit came first, and of criteria
    where several writes of one value leave open what was read."""
    truths: dict[str, Truth] = {}
    for model in models or usual():
        truths |= _of_one(history, model, timeout)
    return truths


def _of_one(history: History, model: Model, timeout: float | None) -> dict[str, Truth]:
    below = criteria(model)
    impossible = impossible_observation(history, model.checks[0].name) if below else None
    if impossible and impossible[0] != "final":
        return dict.fromkeys((*below, model.name), False)
    deadline = Deadline(timeout, history.reading)
    ladder = _ladder(history, model, deadline)
    if impossible:  # a lost final value is a matter of the store order
        return {name: ladder.get(name) if name in WITHOUT_STORE_ORDER else False for name in (*below, model.name)}
    refuted = any(ladder.get(name) is False for name in below)
    return {name: ladder.get(name) for name in below} | {
        model.name: False if refuted else _model(history, model, deadline.seconds_left)}


def _ladder(history: History, model: Model, deadline: Deadline) -> dict[str, Truth]:
    truths: dict[str, Truth] = {}
    if len(history) > CLIMBED or history.ambiguous:  # the criteria take reads-from for known
        return truths
    try:
        with alarm(deadline.seconds_left):
            for answer in climb(history, model, deadline):
                truths |= {name: name not in answer.failed for name in answer.rung.criteria}
                if answer.failed:  # the upper criterion of a rung includes the lower one
                    truths[answer.rung.criteria[-1]] = False
    except OutOfTime:
        pass
    return truths


def _model(history: History, model: Model, timeout: float | None) -> Truth:
    verdict = check(history, model, engine="schedule", timeout=timeout, unordered=False).verdict
    return {"consistent": True, "violation": False}.get(verdict)
