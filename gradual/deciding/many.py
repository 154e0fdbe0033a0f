"""Many small histories at once: one set of columns, one compiled call, one replay.

A history is decided here when its greedy schedule goes through at once, as it does for nearly every
consistent one. The others are left to `pipeline.check`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from gradual.deciding import kernels
from gradual.deciding.saturation import MODEL_NUMBER, operation_table
from gradual.evidence import certificate
from gradual.evidence.verdict import Verdict, Witness
from gradual.history import INITIAL, THIN_AIR, Column, History
from gradual.models.model import Model


def decide(histories: Sequence[History], model: Model) -> list[Verdict | None]:
    """The verdict of each history that is seen at once to be consistent, certified; None for the others."""
    if not histories:
        return []
    started = time.perf_counter()
    flock = _Flock(histories)
    run, ordered, scheduled = flock.decide(model)
    scheduled &= flock.possible
    certificate.replay(flock.whole(scheduled), model.name, flock.renumbered(run, scheduled))
    seconds = (time.perf_counter() - started) / max(len(histories), 1)
    verdicts: list[Verdict | None] = []
    for h, pairs in enumerate(flock.write_pairs().tolist()):
        low, high = int(flock.starts[h]), int(flock.starts[h + 1])
        verdicts.append(Verdict(
            model.name, "consistent", "greedy", Witness((run[low:high] - low).tolist()), "", pairs,
            pairs - int(ordered[h]), "saturation", seconds) if scheduled[h] else None)
    return verdicts


class _Flock:
    """Histories side by side, threads and locations all different: as one history they are consistent if each is."""

    def __init__(self, histories: Sequence[History]) -> None:
        self.sizes = np.array([len(history) for history in histories])
        self.starts = np.concatenate([[0], np.cumsum(self.sizes)])
        self.threads = np.array([max(len(history.threads), 1) for history in histories])
        self.locations = np.array([max(len(history.locations), 1) for history in histories])
        self.finals = np.concatenate([[0], np.cumsum([len(history.locations) for history in histories])])
        self.of = np.repeat(np.arange(len(histories)), self.sizes)
        for name in ("thread", "kind", "location", "source", "read", "written", "final", "initial", "final_value",
                     "final_line"):
            setattr(self, name, np.concatenate([getattr(history, name) for history in histories]))
        self.possible = ~self._impossible()

    thread: Column
    kind: Column
    location: Column
    source: Column
    read: Column
    written: Column
    final: Column
    initial: Column
    final_value: Column
    final_line: Column

    def _impossible(self) -> Column:
        """Per history: does it hold an observation that no model allows (`pipeline.impossible_observation`)?"""
        start = self.starts[self.of]
        source = np.maximum(self.source, 0) + start
        own_future = (source >= np.arange(len(source))) & (self.source >= 0)
        own_future &= self.thread[source] == self.thread
        wrong = np.bincount(self.of[own_future | (self.source == THIN_AIR)], minlength=len(self.sizes)) > 0
        owner = np.repeat(np.arange(len(self.sizes)), np.diff(self.finals))
        lost = (self.final == THIN_AIR) | ((self.final == INITIAL) & (self._writes_at() > 0))
        wrong_end = np.bincount(owner[lost], minlength=len(self.sizes)) > 0
        impossible: Column = wrong | wrong_end
        return impossible

    def _writes_at(self) -> Column:
        writes = (self.kind == kernels.WRITE) | (self.kind == kernels.RMW)
        places = (self.location + self.finals[self.of])[writes]
        return np.bincount(places, minlength=int(self.finals[-1])).astype(np.int64)

    def write_pairs(self) -> Column:
        """Per history, the pairs of writes to one location."""
        counts = self._writes_at()
        totals = np.concatenate([[0], np.cumsum(counts * (counts - 1) // 2)])
        pairs: Column = totals[self.finals[1:]] - totals[self.finals[:-1]]
        return pairs

    def decide(self, model: Model) -> tuple[Column, Column, Column]:
        """Run, ordered pairs and whether it was scheduled, by the compiled kernels."""
        from gradual.deciding import compiled

        n, t, x = int(self.sizes.max(initial=1)), int(self.threads.max(initial=1)), int(self.locations.max(initial=1))
        total = int(self.starts[-1])
        chains = 2 * t if model.name == "TSO" else t
        run = np.zeros(total, dtype=np.int32)
        ordered, scheduled = np.zeros(len(self.sizes), dtype=np.int64), np.zeros(len(self.sizes), dtype=np.bool_)

        def new(length: int) -> Column:
            return np.zeros(length + 1, dtype=np.int32)

        compiled.decide_many(  # type: ignore[attr-defined]
            MODEL_NUMBER[model.name], self.starts, self.threads, self.locations, operation_table(self),
            self.final.astype(np.int32), self.finals,
            new((n + 1) * 4 * t), new((n * (n + 8) + 64) * kernels.EDGE_FIELDS),
            new(t * x + 1), new((n + 1) * kernels.SLOT_FIELDS), new(n * kernels.READER_FIELDS),
            new((n + 1) * kernels.EVENT_FIELDS + t * x), new(n), new(n),
            new(max((chains + t) * (x + 1) + 3 * t, n)), new(4), new(kernels.COUNTS), new(n), new(n), new(n),
            new(n + x), new(n + x), new(n + x), new(n), new(2), run, ordered, scheduled)
        return run, ordered, scheduled

    def whole(self, chosen: Column) -> History:
        """The chosen histories as one."""
        keep, places = chosen[self.of], np.repeat(chosen, np.diff(self.finals))
        threads = np.concatenate([[0], np.cumsum(self.threads)])
        count = int(keep.sum())
        nothing = np.zeros(count, dtype=np.int64)
        new_place = np.cumsum(places) - 1
        location = np.where(self.location >= 0, new_place[np.minimum(self.location + self.finals[self.of],
                                                                     len(new_place) - 1)], -1)
        return History(
            "flock", "", tuple("" for _ in range(int(threads[-1]))), tuple("" for _ in range(int(places.sum()))),
            (self.thread + threads[self.of])[keep], self.kind[keep], location[keep], self.read[keep],
            self.written[keep], nothing, nothing, nothing, self.initial[places], np.full(int(places.sum()), INITIAL),
            self.final_value[places], self.final_line[places])

    def renumbered(self, run: Column, chosen: Column) -> Column:
        """The runs of the chosen histories, in the numbers they have in `whole`."""
        keep = chosen[self.of]
        number = np.cumsum(keep) - 1
        renumbered: Column = number[run[keep]]
        return renumbered
