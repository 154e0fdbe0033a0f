"""Small random histories of which any part may be odd: dependencies, times, pairs, marks, kinds of fences."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np

from gradual.history import AQRL, EXCLUSIVE, FENCE, FENCES, READ, RMW, WRITE, Builder, Column, History
from gradual.history.builder import More
from gradual.history.reads_from import by_values

LOCATIONS = "xyz"
WRITES = 4
"""Of one location, at most."""


def random_history(rng: Random, operations: int = 13) -> History:
    """Of most, the reads of each location follow some order of its writes, so that what decides lies elsewhere."""
    return _Drawing(rng, rng.randint(5, operations)).history()


class _Drawing:
    def __init__(self, rng: Random, operations: int) -> None:
        self._rng = rng
        threads, locations = rng.choice((2, 2, 2, 3, 4)), rng.choice((1, 2, 3, 3, 3))
        rmws, fences = rng.choice((0, 0, 1)), rng.choice((0, 0.3, 1))
        self._kinds = rng.choices((READ, WRITE, RMW, FENCE), (4, 3, rmws, fences), k=operations)
        self._at = [rng.randrange(locations) for _ in self._kinds]
        for at in range(locations):  # many writes have very many orders
            writes = [e for e, kind in enumerate(self._kinds) if kind in (WRITE, RMW) and self._at[e] == at]
            for e in writes[WRITES:]:
                self._kinds[e] = READ
        self._thread = [rng.randrange(threads) for _ in self._kinds]
        self._dense = rng.choice((0, 0.1, 0.4))
        self._marked = rng.choice((0, 0, 0.3))
        self._paired = rng.choice((0, 0.4, 0.8))
        self._timed = rng.choice((0, 0.5, 0.9))
        self._clock = [0] * threads
        self._own: list[list[int]] = [[] for _ in range(threads)]
        self._coherent = rng.random() < 0.85
        self._orders = [self._store_order(at) for at in range(locations)]
        self._seen: dict[tuple[int, int], int] = {}
        """By thread and location, the place in the store order of what it saw last."""
        self._reserved: list[tuple[int, int]] = [(0, -1)] * threads
        """Of each thread the number and the location of its last load-reserved."""

    def history(self) -> History:
        builder = Builder("random", "")
        for e, kind in enumerate(self._kinds):
            self._add(builder, e, kind)
        writes = [e for e, kind in enumerate(self._kinds) if kind in (WRITE, RMW)]
        if writes and self._rng.random() < 0.15:
            last = self._rng.choice(writes)
            builder.final(LOCATIONS[self._at[last]], last + 1)
        return builder.build()

    def _add(self, builder: Builder, e: int, kind: int) -> None:
        thread, location = self._thread[e], LOCATIONS[self._at[e]]
        more = self._more(e, kind)
        if kind == FENCE:
            builder.fence(str(thread), self._rng.choice([*FENCES.values()]), **more)
        elif kind == READ:
            builder.read(str(thread), location, self._value(e), **more)
        elif kind == WRITE:
            builder.write(str(thread), location, e + 1, **more)
        else:
            builder.rmw(str(thread), location, self._value(e), e + 1, **more)
        if kind in (WRITE, RMW):
            self._seen[thread, self._at[e]] = self._orders[self._at[e]].index(e)

    def _store_order(self, at: int) -> list[int]:
        """The writes of a location as they could be stored: those of each thread in order; the initial one is -1."""
        left = [[e for e, kind in enumerate(self._kinds) if kind in (WRITE, RMW) and self._at[e] == at
                 and self._thread[e] == thread] for thread in range(len(self._own))]
        order = [-1]
        while any(left):
            order.append(self._rng.choice([writes for writes in left if writes]).pop(0))
        return order

    def _value(self, e: int) -> int:
        """One that is not written later in the same thread."""
        if self._coherent:
            return self._next_value(e)
        written = [w for w, kind in enumerate(self._kinds) if kind in (WRITE, RMW) and self._at[w] == self._at[e]
                   and (w < e or self._thread[w] != self._thread[e])]
        return self._rng.choice([0, *(w + 1 for w in written)])

    def _next_value(self, e: int) -> int:
        """What comes, in the store order, after what the thread saw last, and before what it writes next."""
        order, thread, at = self._orders[self._at[e]], self._thread[e], self._at[e]
        if self._kinds[e] == RMW:
            return order[order.index(e) - 1] + 1
        low = self._seen.get((thread, at), 0)
        own = [place for place, w in enumerate(order) if w > e and self._thread[w] == thread]
        place = self._rng.randrange(low, min(own, default=len(order)))
        self._seen[thread, at] = place
        return order[place] + 1

    def _more(self, e: int, kind: int) -> More:
        rng, own = self._rng, self._own[self._thread[e]]
        sources = [place for place, other in enumerate(own, 1) if self._kinds[other] in (READ, RMW)]

        def some() -> list[int]:
            return [place for place in sources if rng.random() < self._dense]

        own.append(e)
        more: More = {"ctrl": some()}
        if kind == FENCE:
            return more
        more["addr"] = some()
        if kind != READ:
            more["data"] = some()
        if rng.random() < self._marked:
            more["marks"] = rng.choice([*AQRL.values()])
        self._times(more, e, kind)
        self._pair(more, e, kind)
        return more

    def _times(self, more: More, e: int, kind: int) -> None:
        rng, thread = self._rng, self._thread[e]
        self._clock[thread] += rng.randint(1, 9)
        if rng.random() < self._timed:
            more["begin"] = self._clock[thread]
        if rng.random() < self._timed and kind != WRITE:
            more["end"] = self._clock[thread] + rng.randint(1, 25)

    def _pair(self, more: More, e: int, kind: int) -> None:
        thread = self._thread[e]
        number, location = self._reserved[thread]
        if kind == READ and self._rng.random() < self._paired:
            more["marks"] = more.get("marks", 0) | EXCLUSIVE
            self._reserved[thread] = len(self._own[thread]), self._at[e]
        elif kind == WRITE and location == self._at[e] and self._rng.random() < self._paired:
            more["pair"] = number
            self._reserved[thread] = 0, -1


def with_values(history: History, rng: Random, count: int) -> History:
    """The same with values from so few, which several writes share; now and then memory starts with one of them, or a
    read returns another."""
    def fewer(values: Column, starts: Column) -> Column:
        return np.where(values > 0, 1 + values % count, starts)

    starts = np.array([int(rng.random() < 0.2) for _ in history.locations], dtype=np.int64)
    read = fewer(history.read, np.append(starts, 0)[history.location])
    for r in history.reads.tolist():
        if rng.random() < 0.1:
            read[r] = rng.randint(1, count)
    return by_values(replace(history, read=read, written=fewer(history.written, np.int64(0)), initial=starts,
                             final_value=fewer(history.final_value, starts)))
