"""A run of the machine, found greedily along a saturated order.

An operation runs when everything before it has run; a write also waits until nobody needs the value it
overwrites. Where there is a choice, the order of the trace decides. Usually that succeeds at once.
"""

from __future__ import annotations

import numpy as np

from gradual.deciding import kernels
from gradual.deciding.saturation import Saturation
from gradual.evidence.verdict import Pair, Witness


class Schedule:
    """A greedy run along a saturation, which goes on where it was when the saturation learns more."""

    def __init__(self, saturation: Saturation) -> None:
        self.saturation = saturation
        self._kernels = saturation._kernels
        n, locations, new = len(saturation.history), saturation._locations, saturation._new
        self._rank, self._run, self._place, self._waiting, self._heap = (new(n) for _ in range(5))
        self._unread, self._current, self._first = (new(n + locations) for _ in range(3))
        self._done = new(2)
        order = saturation._tables.order
        if saturation._plain:
            for place, operation in enumerate(order):
                self._rank[operation] = place
        else:
            self._rank[order] = np.arange(n)
        self.restart()

    def restart(self) -> None:
        """Forget the run: edges it went by have been taken back."""
        self._kernels.start_schedule(self.saturation._shape, self.saturation._tables.op, self._place, self._waiting,
                                     self._unread, self._current, self._done)

    def run(self) -> Witness | None:
        """The whole run, or None when it is stuck."""
        t = self.saturation._tables
        ran = self._kernels.schedule(
            self.saturation._shape, t.op, t.edge, t.count, self._rank, self._run, self._place, self._waiting,
            self._unread, self._current, self._first, self._heap, self._done)
        return Witness(self._run) if ran == len(self.saturation.history) else None

    def doubtful(self) -> Pair | None:
        """Where the run is stuck: the last write that went before one which now waits, though nothing said so.

        The pair is given the way it did not go.
        """
        saturation, locations = self.saturation, self.saturation._locations
        found: tuple[int, Pair] | None = None
        for x in range(locations):
            waiting, current = self._first[x], self._current[x]
            while waiting != kernels.NONE and current < len(saturation.history):
                pair = int(waiting), int(current)
                if not saturation.precedes(pair[1], pair[0]) and (found is None or self._place[current] > found[0]):
                    found = int(self._place[current]), pair
                waiting = self._first[locations + waiting]
        return found[1] if found else None
