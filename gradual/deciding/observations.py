"""What no store order could explain, seen without any search."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gradual.evidence.verdict import Cycle, Edge, Evidence, Overwritten, ThinAir
from gradual.history import INITIAL, THIN_AIR, History


def impossible_observation(history: History, coherence: str | None) -> tuple[str, Evidence] | None:
    """A thin-air read, an own-future read (where the model has an axiom that makes locations coherent), a lost final
    value: its name and the evidence."""
    for r in np.flatnonzero(history.source == THIN_AIR).tolist():
        return "thin-air", ThinAir(r, int(history.location[r]))
    for cycle in own_future(history, coherence) if coherence else ():
        return "own-future", cycle
    for at in np.flatnonzero(history.final == THIN_AIR).tolist():
        return "final", ThinAir(None, at)
    for at in np.flatnonzero(history.final == INITIAL).tolist():
        writes = history.writes[history.location[history.writes] == at]
        if len(writes):
            return "final", Overwritten(at, int(writes[0]))
    return None


def own_future(history: History, scope: str) -> Iterator[Cycle]:
    """Reads whose source lies later in their own thread (for an rmw: is the rmw itself)."""
    reads = history.reads
    source = history.source[reads]
    late = source >= reads
    late[late] = history.thread[source[late]] == history.thread[reads[late]]
    for r, w in zip(reads[late].tolist(), source[late].tolist(), strict=True):
        yield Cycle((Edge("po", r, w), Edge("wr", w, r)) if w != r else (Edge("wr", w, r),), scope)


def write_pairs(history: History) -> int:
    """Pairs of non-initial writes to one location."""
    counts = np.bincount(history.location[history.writes], minlength=1)
    return int((counts * (counts - 1) // 2).sum())
