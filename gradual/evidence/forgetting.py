"""What of a history that goes on may be forgotten, once a run of what has come is known and replayed.

A stream is one history of which more and more is known. Given are the operations of a window, what memory held before
them, and an order of them that a machine can perform. The beginning of that order, the *past*, may be forgotten and
the rest be taken for a history of its own, which starts with what the past left in memory, where

    1.  no write of the past but the last of its location, and not what memory held before it, can ever be read again;
    2.  the last one, c, is followed by every write of its location that stays or is still to come, in every run; or
        it can never be read again either, and whoever reads it is in the past.

*Nothing is lost.* A run of the rest, behind the past in the order that was replayed, is a run of the whole history: so
a consistent window is a consistent stream, whatever was forgotten. *Nothing is added.* Let R be any run of the whole
history, those operations included that have not come yet. Take the past first, in the order that was replayed, and
then the rest as R has it. No edge that a model keeps leads from the rest into the past. Who reads in the rest does not
read what 1 excludes, so it reads c, or a write of the rest. The writes of the rest and c stand in that order as R has
them, unless nobody reads c in the rest: so all read what they read in R. Hence a rest without a run tells that the
whole history has none: a violation is one of all that was ever seen, not of a choice that was made too early.

*In every run* is what paths of facts tell: program order as far as the machine keeps it, reads-from across threads, the
order in which a thread saw two writes of a location, and from-reads where such a path orders the two writes. A thread
has *seen* a write when a path leads to its last load, behind which all that it will ever do must come, or when its last
access to the location was to that write or to a later one. A write can never be read again when every thread has seen
one that comes later. So a thread that stays silent keeps everything from being forgotten: it may still come from
before all of it. Who cannot wait leaves it out of `threads`, and must take violations for what they are from then on.

*In real time* an access comes after all that ended before it began, and that is a fact too. If whatever is still to
come begins at `clock` or later, every thread has seen what ended before, silent ones and those that nobody has heard of
(NEWCOMER). No edge leads from what is to come into the past as long as nothing there began after `clock`.

Each operation has a mask, with a bit per write, of what comes before it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from gradual.evidence.errors import require
from gradual.evidence.machine import MACHINES
from gradual.evidence.observed import FENCE, FULL, READ, RMW, WRITE, Observed
from gradual.evidence.order import Groups, each_once, place_of
from gradual.history import Column, History

NOBODY = -1
NEWCOMER = -1
"""As a thread: any that has not come yet."""
NO_CLOCK = -1
"""Nobody knows when what is still to come begins."""
MOMENTS = 256
"""Moments at which it is looked at what ended before, at most."""


@dataclass(frozen=True)
class Cut:
    """Where a past ends: the first `count` operations of an order."""

    count: int
    kept: Column
    """bool: the operations that stay."""
    memory: Column
    """Per location the write that the past left there, NOBODY where it wrote nothing."""


def cut_at(history: History, order: Column, count: int) -> Cut:
    """The cut behind the first `count` operations. A fence of the past stays where something before it does."""
    place = place_of(order)
    kept = place >= count
    first = np.full(len(history.threads), len(history))
    np.minimum.at(first, history.thread[kept], np.flatnonzero(kept))
    memory = np.full(len(history.locations), NOBODY)
    past = order[:count]
    stores = past[(history.kind[past] == WRITE) | (history.kind[past] == RMW)]
    memory[history.location[stores]] = stores  # of several to one location, the last stays
    late = (history.kind == FENCE) & (np.arange(len(history)) > first[history.thread])
    return Cut(count, kept | late, memory)


class Ended:
    """What ended before some moments, in real time: masks, gathered in an order that keeps it."""

    def __init__(self, history: History, clock: int) -> None:
        require(history.begin is not None and history.end is not None, "real time needs times")
        assert history.begin is not None and history.end is not None
        begun = (history.kind != FENCE) & (history.begin >= 0)
        ended = (history.kind != FENCE) & (history.end >= 0)
        moments = np.unique(history.begin[begun])
        moments = np.union1d(moments[::1 + len(moments) // MOMENTS], [clock])
        self._reached: list[int] = np.where(begun, np.searchsorted(moments, history.begin, side="right"), 0).tolist()
        """Of each operation how many moments had come when it began."""
        self._missed: list[int] = np.where(ended, np.searchsorted(moments, history.end, side="right"),
                                           len(moments)).tolist()
        """Of each how many it had not ended before."""
        self._clock = int(np.searchsorted(moments, clock, side="right"))
        self._between = [0] * (len(moments) + 1)
        """What ended between one moment and the next."""
        self._before = [0]
        """What ended before each moment: all of it is there once an operation comes that began then."""

    def take(self, operation: int, mask: int) -> None:
        """An operation, with what it comes after."""
        self._between[self._missed[operation]] |= mask

    def before(self, operation: int) -> int:
        """What an operation comes after, in real time."""
        return self._at(self._reached[operation])

    def before_what_comes(self) -> int:
        """The same of what is still to come, when all else was taken."""
        return self._at(self._clock)

    def _at(self, moment: int) -> int:
        while len(self._before) <= moment:
            self._before.append(self._before[-1] | self._between[len(self._before) - 1])
        return self._before[moment]


class Facts:
    """What comes before what in every run of a history, of which `order` is one. `marked` loads have a bit too."""

    def __init__(self, history: History, machine: str, order: Sequence[int] | Column,
                 marked: Sequence[int] | Column = (), clock: int = NO_CLOCK) -> None:
        observed = Observed(history)
        self._history = history
        self._buffers = MACHINES[machine]
        self._order = each_once(order, len(history))
        self._place = place_of(self._order)
        self._storing, self._loading, self._source = observed.storing, observed.loading, observed.sources
        waits = self._loading | (observed.fences == FULL)
        self._holding = np.ones_like(waits) if self._buffers == 0 else waits
        """Operations behind which all that follows in their thread must come."""
        self._ended = None if clock == NO_CLOCK else Ended(history, clock)
        self._in_time = len(self._order)
        """How many operations of the order come before all that began after the clock."""
        if clock != NO_CLOCK and history.begin is not None:
            late = (history.kind != FENCE) & (history.begin > clock)
            self._in_time = int(self._place[late].min(initial=self._in_time))
        self._number_writes(marked)
        self._look_at_sights()
        self._pass_on()

    def _number_writes(self, marked: Sequence[int] | Column) -> None:
        """The bit of each write: location by location, in the order of the run; then those of marked loads."""
        stores = self._order[self._storing[self._order]]
        self._writes = stores[np.argsort(self._history.location[stores], kind="stable")]
        number = np.full(len(self._history), NOBODY)
        number[self._writes] = np.arange(len(self._writes))
        number[np.asarray(marked, dtype=np.int64)] = len(self._writes) + np.arange(len(marked))
        self._number: list[int] = number.tolist()

    def _look_at_sights(self) -> None:
        """The writes that each thread saw at each location, one after the other, and the last of them."""
        history, loads, stores = self._history, np.flatnonzero(self._loading), np.flatnonzero(self._storing)
        when = np.concatenate([2 * loads, 2 * stores + 1])
        seen = np.concatenate([self._source[loads], stores])
        who = np.concatenate([loads, stores])
        group = history.thread[who].astype(np.int64) * (len(history.locations) + 1) + history.location[who]
        by_group = np.lexsort((when, group))
        seen, group, who = seen[by_group], group[by_group], who[by_group]
        same = group[1:] == group[:-1]
        after_another = same & (seen[:-1] >= 0) & (seen[1:] >= 0) & (seen[:-1] != seen[1:])
        self._earlier: dict[int, list[int]] = {}
        for a, b in zip(seen[:-1][after_another].tolist(), seen[1:][after_another].tolist(), strict=True):
            self._earlier.setdefault(b, []).append(a)
        last = np.flatnonzero(np.r_[~same, True][:len(seen)] & (seen >= 0))
        self._last_seen = {(t, x): w for t, x, w in zip(
            history.thread[who[last]].tolist(), history.location[who[last]].tolist(), seen[last].tolist(), strict=True)}

    def _pass_on(self) -> None:
        """The masks, in the order of the run: of what an operation comes after, all has its own by then."""
        history, number = self._history, self._number
        program, buffers = np.arange(len(history)), self._buffers
        held = Groups(program, history.thread).latest(self._holding, program).tolist()
        queue = (history.thread.astype(np.int64) + 1) * (len(history.locations) + 1)
        queue = queue + history.location if buffers == 2 else queue
        stored_before = Groups(program, queue).latest(self._storing, program).tolist()
        kind, thread, at, source = (column.tolist() for column in (
            history.kind, history.thread, history.location, self._source))
        holding, earlier, ended = self._holding.tolist(), self._earlier, self._ended
        mask = [0] * len(history)
        read_by = [0] * len(history)
        told_by = [0] * len(history)
        first_read_by = [0] * len(history.locations)
        current = [NOBODY] * len(history.locations)
        stored = [0] * len(history.threads)
        for o in self._order.tolist():
            what, before = kind[o], held[o]
            found = mask[before] if before >= 0 else 0
            if ended is not None:
                found |= ended.before(o)
            if what == FENCE:
                mask[o] = found | stored[thread[o]] if holding[o] else 0
                continue
            x, origin = at[o], source[o]
            if what != WRITE:
                if origin >= 0 and (buffers == 0 or thread[origin] != thread[o]):
                    found |= mask[origin]
                if origin >= 0:
                    told_by[origin] |= found
            if what != READ:
                before = stored_before[o]
                if before >= 0:
                    found |= mask[before]
                for other in earlier.get(o, ()):
                    found |= mask[other]
                found |= first_read_by[x]
                if current[x] >= 0 and found >> number[current[x]] & 1:
                    found |= read_by[current[x]]
                current[x] = o
                found |= 1 << number[o]
                stored[thread[o]] |= found
            elif number[o] >= 0:
                found |= 1 << number[o]
            mask[o] = found
            if ended is not None:
                ended.take(o, found)
            if what != WRITE:
                if origin >= 0:
                    read_by[origin] |= found
                else:
                    first_read_by[x] |= found
        self._mask = mask
        self._known = [a | b for a, b in zip(mask, told_by, strict=True)]
        """Of a write also what its readers come after: were that stored later, they would have read it."""
        self._behind = [0] * (len(history.threads) + 1)
        """Of each thread what all that it will ever do comes after, whatever the times; NEWCOMER is the last."""
        for o in np.flatnonzero(self._holding).tolist():
            self._behind[thread[o]] = mask[o]
        over = 0 if ended is None else ended.before_what_comes()
        self._frontier = [behind | over for behind in self._behind]

    def precede(self, before: int, after: int) -> bool:
        """Does a write come before another one of its location?"""
        return bool(self._known[after] >> self._number[before] & 1)

    def passed(self, load: int, threads: Collection[int], *, in_time: bool) -> bool:
        """Does all that these threads will ever do come after a load, which is marked, or an rmw? Perhaps in real
        time."""
        bit, own = 1 << self._number[load], int(self._history.thread[load])
        frontier = self._frontier if in_time else self._behind
        return all(t == own or frontier[t] & bit for t in threads)

    def cut(self, threads: Collection[int], at_most: int) -> Cut:
        """The latest one of up to so many operations after which nothing is lost or added, as long as nobody but these
        threads goes on."""
        at_most = min(at_most, self._in_time)
        bad = np.zeros(len(self._order) + 2, dtype=np.int64)
        last_read = np.full(len(self._history), NOBODY)
        reads = np.flatnonzero(self._loading & (self._source >= 0))
        np.maximum.at(last_read, self._source[reads], self._place[reads])
        bounds = np.searchsorted(self._history.location[self._writes], np.arange(len(self._history.locations) + 1))
        for x, (start, stop) in enumerate(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)):
            if start < stop:
                at_most = min(at_most, self._cut_at(x, start, stop, threads, bad, last_read))
        good = np.flatnonzero(np.cumsum(bad)[:at_most + 1] == 0)
        return cut_at(self._history, self._order, int(good[-1]))

    def _cut_at(self, x: int, start: int, stop: int, threads: Collection[int], bad: Column, last_read: Column) -> int:
        """Up to where location x, whose writes have these bits, lets the past reach; `bad` counts cuts it rules out."""
        writes, whole = self._writes[start:stop].tolist(), (1 << (stop - start)) - 1
        after = [self._known[w] >> start & whole for w in writes]
        seen = whole
        for t in threads:
            last = self._last_seen.get((t, x), NOBODY)
            seen &= (self._frontier[t] | (self._known[last] if last >= 0 else 0)) >> start
        over = 0
        """Writes that can never be read again."""
        for i, before in enumerate(after):
            if seen >> i & 1:
                over |= before & ~(1 << i)
        limit = len(self._order) if seen else int(self._place[writes[0]])
        followed = whole
        for i in reversed(range(len(writes))):
            place, read = int(self._place[writes[i]]), int(last_read[writes[i]])
            can_be_last = seen & followed
            followed &= after[i]
            if over >> i & 1:
                if not can_be_last >> i & 1 and read > place:
                    bad[place + 1] += 1
                    bad[read + 1] -= 1
                continue
            if i + 1 < len(writes):
                limit = min(limit, int(self._place[writes[i + 1]]))
            if not can_be_last >> i & 1:
                limit = min(limit, place)
        return limit
