"""Random histories with a store order that may be total, partial or wrong, and with times of one clock."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np

from experiments.axioms.histories import random_history
from gradual.history import FENCE, NO_PLACE, NO_TICK, Column, History

SHARES = (0.0, 0.3, 0.8, 1.0)


def knowing_history(rng: Random, operations: int = 10) -> History:
    """Of some operations, it knows its store order, its times, or both."""
    history = random_history(rng, operations)
    known = rng.choice(("order", "times", "both"))
    order = _order(history, rng) if known != "times" else None
    begin, end = _times(history, rng) if known != "order" else (history.begin, history.end)
    return replace(history, order=order, begin=begin, end=end, real_time=known != "order")


def _order(history: History, rng: Random) -> Column:
    """That of the trace with some pairs the other way round, some places equal, and some left out."""
    told, ties, wrong = rng.choice(SHARES), rng.choice((0.0, 0.0, 0.4)), rng.choice((0.0, 0.2, 1.0))
    places = np.full(len(history), NO_PLACE, dtype=np.int64)
    writes = sorted(history.writes.tolist(), key=lambda write: write + wrong * len(history) * rng.random())
    for place, write in enumerate(writes):
        places[write] = place // 2 if rng.random() < ties else place
        if rng.random() > told and told < 1.0:
            places[write] = NO_PLACE
    return places


def _times(history: History, rng: Random) -> tuple[Column, Column]:
    """Intervals around the places in the trace, more or less far apart; some are open."""
    spread, told = rng.choice((0, 2, 6)), rng.choice((0.6, 1.0))
    begin, end = (np.full(len(history), NO_TICK, dtype=np.int64) for _ in range(2))
    for operation in np.flatnonzero(history.kind != FENCE).tolist():
        middle = 10 + operation + rng.randint(-spread, spread)
        if rng.random() < told:
            begin[operation] = max(middle - rng.randint(0, 3), 0)
        if rng.random() < told:
            end[operation] = max(middle + rng.randint(0, 3), 0)
    return begin, end
