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
    kind, starts = joined("kind"), np.cumsum([0, *sizes]).tolist()
    nothing, fences = np.zeros(len(location), dtype=np.int64), np.where(kind == 3, FULL, 0).astype(np.int8)
    pairs = [np.zeros((0, 2), dtype=np.int32)]
    for history, start in zip(histories, starts, strict=False):
        if history.fence is not None:
            fences[start:start + len(history)] = history.fence
        if history.pair is not None:
            pairs.append(history.pair + np.int32(start))
    return History(
        "together", "", ("",) * int(threads[-1]), ("",) * int(places[-1]),
        joined("thread") + np.repeat(threads[:-1], sizes), kind,
        np.where(location >= 0, location + np.repeat(places[:-1], sizes), location), joined("read"), joined("written"),
        np.full(len(location), NO_SOURCE), nothing, nothing, joined("initial"), np.full(int(places[-1]), NO_SOURCE),
        joined("final_value"), joined("final_line"), (), False, (), None, False, None,
        **annotated(fence=fences, pair=np.concatenate(pairs)).annotations())


def one_after_another(orders: Sequence[Column]) -> Column:
    """The runs of histories, in the numbers that their operations have together."""
    sizes = [len(order) for order in orders]
    return np.asarray(np.concatenate(orders) + np.repeat(np.cumsum([0, *sizes[:-1]]), sizes))
