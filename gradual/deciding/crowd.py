"""Many small histories, one behind the other: what `observations.py` sees in each, looked for in all at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradual.history import AMBIGUOUS, INITIAL, RMW, THIN_AIR, WRITE, Column, History


class Crowd:
    """The columns of all of them, and of each operation and location the history that it belongs to."""

    def __init__(self, histories: Sequence[History]) -> None:
        self._histories = histories
        sizes, places = ([len(history) for history in histories], [len(history.locations) for history in histories])
        every = np.arange(len(histories))
        self._of, self._of_place = np.repeat(every, sizes), np.repeat(every, places)
        self._start, self._first_place = np.cumsum([0, *sizes]), np.cumsum([0, *places])
        self._source, self._final = self._joined("source"), self._joined("final")

    def _joined(self, name: str) -> Column:
        return np.concatenate([getattr(history, name) for history in self._histories])

    def ambiguous(self) -> list[bool]:
        """Of which may a read, or a final value, come from several writes?"""
        return self._having(self._source == AMBIGUOUS, self._final == AMBIGUOUS)

    def doubtful(self) -> list[bool]:
        """Which may have an impossible observation: a thin-air or an own-future read, or a final value that nobody
        wrote?"""
        start, thread = self._start[self._of], self._joined("thread")
        late = np.flatnonzero(self._source >= np.arange(len(start)) - start)
        reads = self._source == THIN_AIR
        reads[late] = thread[late] == thread[start[late] + self._source[late]]
        return self._having(reads, (self._final == THIN_AIR) | (self._final == INITIAL))

    def _having(self, operations: Column, locations: Column) -> list[bool]:
        """Which histories have some of these?"""
        found = np.zeros(len(self._histories), dtype=bool)
        found[self._of[operations]] = True
        found[self._of_place[locations]] = True
        flags: list[bool] = found.tolist()
        return flags

    def write_pairs(self) -> list[int]:
        """Of each, the pairs of non-initial writes to one location."""
        kind = self._joined("kind")
        at = (self._joined("location") + self._first_place[self._of])[(kind == WRITE) | (kind == RMW)]
        counts = np.bincount(at, minlength=int(self._first_place[-1]))
        up_to = np.concatenate([[0], np.cumsum(counts * (counts - 1) // 2)])
        pairs: list[int] = np.diff(up_to[self._first_place]).tolist()
        return pairs
