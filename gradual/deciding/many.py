"""Many small histories at once: one set of tables, one compiled call, one replay of all that are consistent."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

from gradual.compiler import can_compile
from gradual.compiler.waiting import in_time
from gradual.deadline import Deadline
from gradual.deciding import criteria, engine, saturation
from gradual.deciding.crowd import Crowd
from gradual.deciding.engine.proof import evidence
from gradual.deciding.engine.run import Run
from gradual.deciding.ladder import LADDERS
from gradual.deciding.observations import impossible_observation
from gradual.deciding.pipeline import CYCLE, SCHEDULE, SEARCH
from gradual.deciding.saturation import Saturation
from gradual.evidence import certificate
from gradual.evidence.verdict import Cycle, Evidence, Verdict, Witness
from gradual.history import History
from gradual.models import Model
from gradual.models.fit import Fit, General, fit


class _One(NamedTuple):
    """A history of many."""

    trace: History
    """What the certificate looks at."""
    taken: History
    """The same, as the model takes it."""
    write_pairs: int


def prepare(deadline: Deadline) -> None:
    """Have ready what is compiled. OutOfTime where that takes longer."""
    if can_compile():
        in_time(engine.load, deadline)
        in_time(saturation.load, deadline)
        in_time(criteria.load, deadline)
        in_time(certificate.load, deadline)


def decide(histories: Sequence[History], model: Model, *, named: bool = True) -> list[Verdict | None]:
    """The verdict of each history, certified; None for those that need a search of their own, or another way.

    named  violations tell the criterion that fails, where the model has a ladder
    """
    try:
        fits = fit(model)
    except General:
        return [None] * len(histories)
    if not can_compile() or not histories:
        return [None] * len(histories)
    started = time.perf_counter()
    taken = [model.takes(history) for history in histories]
    crowd = Crowd(taken)
    ones = [_One(*one) for one in zip(histories, taken, crowd.write_pairs(), strict=True)]
    found: list[Verdict | None] = [None] * len(histories)
    chosen: list[int] = []
    for h, (ambiguous, doubtful) in enumerate(zip(crowd.ambiguous(), crowd.doubtful(), strict=True)):
        if not ambiguous and _is_plain(taken[h], fits):
            impossible = impossible_observation(taken[h], fits.coherence) if doubtful else None
            if impossible is None:
                chosen.append(h)
            else:
                found[h] = _certified(ones[h], model, *impossible)
    if chosen:
        run = Run([taken[h] for h in chosen], fits, True, patience=engine.PATIENCE)
        decided = _decided(run, [ones[h] for h in chosen], model, fits)
        if named and model.key in LADDERS:
            _name(decided, run, model)
        for h, verdict in zip(chosen, decided, strict=True):
            found[h] = verdict
    seconds = (time.perf_counter() - started) / max(len(histories), 1)
    return [None if verdict is None else verdict.but(seconds=seconds) for verdict in found]


def _is_plain(history: History, fits: Fit) -> bool:
    """Is there something to schedule, and nothing, in values that have one origin each, that the engine leaves to
    others?"""
    return bool(len(history)) and not (history.given or history.mixed or history.whole or fits.others)


def _name(found: list[Verdict | None], run: Run, model: Model) -> None:
    """Of each violation the first criterion that fails; a larger history is left to clingo."""
    small: list[int] = []
    for h, verdict in enumerate(found):
        if verdict is not None and verdict.verdict == "violation":
            if len(run.histories[h]) <= criteria.LARGEST:
                small.append(h)
            else:
                found[h] = None
    for h, climbed in zip(small, criteria.climb(run.of(small), model) if small else (), strict=True):
        verdict = found[h]
        assert verdict is not None
        found[h] = verdict.but(
            decided_by=climbed.failed or verdict.decided_by, unordered_pairs=verdict.write_pairs - climbed.ordered,
            ordered_by=climbed.rung.criteria[-1])


def _decided(run: Run, ones: list[_One], model: Model, fits: Fit) -> list[Verdict | None]:
    outcomes = engine.decide_many(run, Deadline(None))
    consistent = [h for h, outcome in enumerate(outcomes) if outcome.status == engine.CONSISTENT]
    verdicts: list[Verdict | None] = [None] * len(ones)
    if consistent:
        ordered = Saturation(run.of(consistent), Deadline(None))
        certificate.check_runs([ones[h].trace for h in consistent], model, [outcomes[h].order for h in consistent])
        explained = Verdict(model.name, "consistent", SCHEDULE, ordered_by="saturation")
        for h, forced in zip(consistent, ordered.all_ordered_pairs(), strict=True):
            pairs = ones[h].write_pairs
            verdicts[h] = explained.but(evidence=Witness(outcomes[h].order.tolist()), write_pairs=pairs,
                                        unordered_pairs=max(pairs - forced, 0), conflicts=outcomes[h].conflicts)
    for h, outcome in enumerate(outcomes):
        if outcome.status == engine.VIOLATED:
            found = evidence(ones[h].taken, fits, outcome)
            by = CYCLE if isinstance(found, Cycle) else SEARCH
            verdicts[h] = _certified(ones[h], model, by, found, outcome.conflicts)
    return verdicts


def _certified(one: _One, model: Model, by: str, found: Evidence, conflicts: int = 0) -> Verdict:
    """A violation."""
    certificate.check(one.trace, model, found)
    return Verdict(model.name, "violation", by, found, "", one.write_pairs, conflicts=conflicts)
