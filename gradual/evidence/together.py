"""Many small histories as one, threads and locations all different: together they have a run if each has."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradual.history import NO_SOURCE, Column, History
from gradual.history.annotations import FULL, annotated


def together(histories: Sequence[History]) -> History:
    """All of them side by side, without names, lines and reads-from, which a replay does not look at."""
    def joined(name: str) -> Column:
        return np.concatenate([getattr(history, name) for history in histories])

    sizes = [len(history) for history in histories]
    threads = np.cumsum([0, *(max(len(history.threads), 1) for history in histories)])
    places = np.cumsum([0, *(len(history.locations) for history in histories)])
    location = joined("location")
    nothing = np.zeros(len(location), dtype=np.int64)
    fences = [np.where(history.kind == 3, FULL, 0) if history.fence is None else history.fence for history in histories]
    pairs = [np.zeros((0, 2), dtype=np.int32) if history.pair is None else history.pair + np.int32(start)
             for history, start in zip(histories, np.cumsum([0, *sizes]), strict=False)]
    return History(
        "together", "", ("",) * int(threads[-1]), ("",) * int(places[-1]),
        joined("thread") + np.repeat(threads[:-1], sizes), joined("kind"),
        np.where(location >= 0, location + np.repeat(places[:-1], sizes), location), joined("read"), joined("written"),
        np.full(len(location), NO_SOURCE), nothing, nothing, joined("initial"), np.full(int(places[-1]), NO_SOURCE),
        joined("final_value"), joined("final_line"), (), False, (), None, False, None,
        **annotated(fence=np.concatenate(fences).astype(np.int8), pair=np.concatenate(pairs)).annotations())


def one_after_another(orders: Sequence[Column]) -> Column:
    """The runs of histories, in the numbers that their operations have together."""
    starts = np.cumsum([0, *map(len, orders)])
    return np.concatenate([np.asarray(order) + start for order, start in zip(orders, starts, strict=False)])
