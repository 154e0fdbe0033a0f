"""Many small histories at once: one set of tables, one compiled call, one replay of all that are consistent."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from gradual.deadline import Deadline
from gradual.deciding import engine, saturation
from gradual.deciding.compiler import can_compile
from gradual.deciding.compiler.waiting import in_time
from gradual.deciding.engine.proof import evidence
from gradual.deciding.observations import impossible_observation, write_pairs
from gradual.deciding.pipeline import CYCLE, SCHEDULE, SEARCH
from gradual.deciding.saturation import Saturation
from gradual.evidence import certificate
from gradual.evidence.verdict import Cycle, Verdict, Witness
from gradual.history import History
from gradual.models import Model
from gradual.models.fit import Fit, General, fit


def prepare(deadline: Deadline) -> None:
    """Have ready what is compiled. TimeoutError where that takes longer."""
    if can_compile():
        in_time(engine.load, deadline)
        in_time(saturation.load, deadline)


def decide(histories: Sequence[History], model: Model, *, violations: bool = True) -> list[Verdict | None]:
    """The verdict of each history, certified; None for those that need a search of their own, or another way.

    violations  tell them too; otherwise they are left out as well
    """
    try:
        fits = fit(model)
    except General:
        return [None] * len(histories)
    if model.splits_rmws or not can_compile():
        return [None] * len(histories)
    started = time.perf_counter()
    chosen = [h for h, history in enumerate(histories) if _is_plain(history, fits)]
    found: list[Verdict | None] = [None] * len(histories)
    if chosen:
        plain = [histories[h] for h in chosen]
        for h, verdict in zip(chosen, _decided(plain, model, fits, violations), strict=True):
            found[h] = verdict
    seconds = (time.perf_counter() - started) / max(len(histories), 1)
    return [None if verdict is None else replace(verdict, seconds=seconds) for verdict in found]


def _is_plain(history: History, fits: Fit) -> bool:
    """Is there something to schedule, and nothing that the engine leaves to others?"""
    return bool(len(history)) and not fits.others and impossible_observation(history, fits.coherence) is None


def _decided(histories: list[History], model: Model, fits: Fit, violations: bool) -> list[Verdict | None]:
    outcomes = engine.decide_many(histories, fits, Deadline(None))
    consistent = [h for h, outcome in enumerate(outcomes) if outcome.status == engine.CONSISTENT]
    verdicts: list[Verdict | None] = [None] * len(histories)
    if consistent:
        ordered = Saturation([histories[h] for h in consistent], fits, Deadline(None))
        certificate.check_runs([histories[h] for h in consistent], model, [outcomes[h].order for h in consistent])
        for place, h in enumerate(consistent):
            pairs = write_pairs(histories[h])
            forced = min(ordered.ordered_pairs(place), pairs)
            verdicts[h] = Verdict(model.name, "consistent", SCHEDULE, Witness(outcomes[h].order.tolist()), "", pairs,
                                  pairs - forced, "saturation", conflicts=outcomes[h].conflicts)
    if violations:
        for h, outcome in enumerate(outcomes):
            if outcome.status == engine.VIOLATED:
                verdicts[h] = _violation(histories[h], model, fits, outcome)
    return verdicts


def _violation(history: History, model: Model, fits: Fit, outcome: engine.Outcome) -> Verdict:
    found = evidence(history, fits, outcome)
    certificate.check(history, model, found)
    return Verdict(model.name, "violation", CYCLE if isinstance(found, Cycle) else SEARCH, found, "",
                   write_pairs(history), conflicts=outcome.conflicts)
