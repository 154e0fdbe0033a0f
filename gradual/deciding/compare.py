"""How much of the store order each criterion finds, side by side."""

from __future__ import annotations

from gradual.deadline import Deadline, OutOfTime
from gradual.deciding.engine.run import Run
from gradual.deciding.ladder import climb
from gradual.deciding.observations import impossible_observation, write_pairs
from gradual.deciding.saturation import Saturation
from gradual.history import History
from gradual.models import Model, load
from gradual.models.fit import General, fit


def unordered_percent(history: History, model: str | Model, timeout: float | None = None) -> dict[str, float]:
    """Per partial store order below the model, the pairs of writes to one location that it leaves open, in percent.

    The criteria of the model's ladder that have a store order, and saturation. Nothing for what the time limit cuts
    off, for saturation that ends in a contradiction halfway, for a history that no model allows, or where several
    writes of one value leave open what was read.
    """
    chosen, deadline = load(model), Deadline(timeout)
    history = chosen.takes(history)
    pairs = write_pairs(history)
    try:
        fits = fit(chosen)
    except General:
        return {}
    if history.ambiguous or history.whole is not None or impossible_observation(history, fits.coherence) or not pairs:
        return {}
    found: dict[str, int] = {}
    try:
        for answer in climb(history, chosen, deadline):
            found[answer.rung.criteria[-1]] = answer.ordered_pairs
        saturation = Saturation(Run([history], fits), Deadline(timeout))
        if not saturation.contradicted():
            found["saturation"] = min(saturation.ordered_pairs(), pairs)
    except (OutOfTime, MemoryError):
        pass
    return {name: 100.0 * (pairs - ordered) / pairs for name, ordered in found.items()}
