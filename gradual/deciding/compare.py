"""How much of the store order each criterion finds, side by side."""

from __future__ import annotations

from gradual.deadline import Deadline
from gradual.deciding.ladder import climb
from gradual.deciding.pipeline import impossible_observation, write_pairs
from gradual.deciding.saturation import Saturation
from gradual.history import History
from gradual.models import Model
from gradual.models.model import model_named


def unordered_percent(history: History, model: str | Model, timeout: float | None = None) -> dict[str, float]:
    """Per partial store order below the model, the pairs of writes to one location that it leaves open, in percent.

    CCv and CCM under SC, wCCM under TSO, and saturation. Nothing for what the time limit cuts off, for saturation
    that ends in a contradiction halfway, or for a history that no model allows.
    """
    chosen = model_named(model)
    pairs = write_pairs(history)
    if impossible_observation(history) or not pairs:
        return {}
    found: dict[str, int] = {}
    try:
        for answer in climb(history, chosen, Deadline(timeout)):
            found[answer.rung.criteria[-1]] = answer.ordered_pairs
    except TimeoutError:
        pass
    saturation = Saturation(history, chosen)
    if saturation.run() is None:
        found["saturation"] = min(saturation.ordered_pairs(), pairs)
    return {name: 100.0 * (pairs - ordered) / pairs for name, ordered in found.items()}
