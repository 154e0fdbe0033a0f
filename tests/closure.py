"""Saturation on bit sets: a second opinion, slow and plain.

The least ww with R = (ppo ∪ wr_e ∪ ww ∪ rw)⁺ and R_WW ∪ cf[R] ⊆ ww, where all of it is fed back.
Reachability is one bit set per operation.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from gradual.evidence.verdict import Pair
from gradual.history import INITIAL, History
from gradual.models import order
from gradual.models.model import Model


class Contradiction(Exception):
    """No store order is possible."""


def _bits(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


class Closure:
    """The saturated order of a history without thin-air reads. Raises Contradiction when there is none."""

    def __init__(self, history: History, model: Model) -> None:
        self.history = history
        self.model = model
        self._source: list[int] = history.source.tolist()
        self._location: list[int] = history.location.tolist()
        self._reach = [0] * len(history)
        self._queue: deque[Pair] = deque()
        self._readers: list[list[int]] = [[] for _ in range(len(history))]
        self._reads_at = [0] * len(history.locations)
        self._writes_at = [0] * len(history.locations)
        self._writes = set(history.writes.tolist())
        self._index()
        self._start()
        self._saturate()

    def _index(self) -> None:
        for w in self._writes:
            self._writes_at[self._location[w]] |= 1 << w
        for r in self.history.reads.tolist():
            self._reads_at[self._location[r]] |= 1 << r
            if self._source[r] >= 0:
                self._readers[self._source[r]].append(r)

    def _start(self) -> None:
        """The edges that hold before anything is derived."""
        history, model = self.history, self.model
        thread = history.thread.tolist()
        internal_counts = model.keeps_write_read
        for a, b in order.ppo(history, model):
            self._queue.append((a, b))
        for r in history.reads.tolist():
            w = self._source[r]
            if w >= 0 and (internal_counts or thread[w] != thread[r]):
                self._queue.append((w, r))
            if w == INITIAL:
                self._queue.extend((r, v) for v in _bits(self._writes_at[self._location[r]]) if v != r)
        for last in history.final.tolist():
            if last >= 0:
                writes = _bits(self._writes_at[self._location[last]])
                self._queue.extend((v, last) for v in writes if v != last)
        if not internal_counts:
            for before, after in order.seen_successively(history):
                if after == INITIAL:
                    raise Contradiction
                self._queue.append((before, after))

    def pairs(self) -> list[Pair]:
        """The partial store order, transitively closed."""
        return [(v, w) for v in sorted(self._writes)
                for w in _bits(self._reach[v] & self._writes_at[self._location[v]])]

    def assume(self, before: int, after: int) -> None:
        """Put `before` first and draw every consequence."""
        self._queue.append((before, after))
        self._saturate()

    # --- the fixpoint

    def _saturate(self) -> None:
        while self._queue:
            self._link(*self._queue.popleft())

    def _link(self, a: int, b: int) -> None:
        reach = self._reach
        if a == b or reach[b] >> a & 1:
            raise Contradiction
        beyond = reach[b] | 1 << b
        for x, old in enumerate(reach):
            if (x == a or old >> a & 1) and (new := beyond & ~old):
                reach[x] = old | new
                if x in self._writes:
                    self._notice(x, new)

    def _notice(self, v: int, new: int) -> None:
        """Write `v` has come to precede the operations in `new`: what follows for the store order?"""
        at = self._location[v]
        for r in _bits(new & self._reads_at[at]):
            w = self._source[r]
            if w not in (INITIAL, v):  # a read of the initial value precedes v already: a cycle, found there
                self._queue.append((v, w))
        for w in _bits(new & self._writes_at[at]):
            self._queue.extend((r, w) for r in self._readers[v] if r != w)
