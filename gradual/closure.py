"""Saturation on bit sets: what every store order must contain, with proofs, kept up to date.

The least ww with R = (ppo ∪ wr_e ∪ ww ∪ rw)⁺ and R_WW ∪ cf[R] ⊆ ww, where all of it is fed back.
It contains pww (SC) and wpww (TSO). Reachability is one bit set per operation: quadratic in memory,
meant for histories of up to a few thousand operations and for search on top of it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from gradual import order
from gradual.derivation import Derivation
from gradual.history import INITIAL, READ, RMW, WRITE, History
from gradual.models import Model
from gradual.verdict import Cycle, Edge, EdgeKind, Pair, Path


class Contradiction(Exception):
    """No store order is possible under what was assumed; `cycle` proves it."""

    def __init__(self, cycle: Cycle) -> None:
        super().__init__("contradiction")
        self.cycle = cycle


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
        self.derivation = Derivation(history, model)
        self._source: list[int] = history.source.tolist()
        self._location: list[int] = history.location.tolist()
        self._reach = [0] * len(history)
        self._trail: list[tuple[int, int]] = []
        self._queue: deque[tuple[EdgeKind, int, int]] = deque()
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
            self._queue.append(("po", a, b))
        for r in history.reads.tolist():
            w = self._source[r]
            if w >= 0 and (internal_counts or thread[w] != thread[r]):
                self._queue.append(("wr", w, r))
            if w == INITIAL:
                self._queue.extend(("rw", r, v) for v in _bits(self._writes_at[self._location[r]]) if v != r)
        for last in history.final.tolist():
            if last >= 0:
                writes = _bits(self._writes_at[self._location[last]])
                self._queue.extend(("ww", v, last) for v in writes if v != last)
        if not internal_counts:
            for cycle in per_location_cycles(history):
                raise Contradiction(cycle)
            for before, after, path in per_location(history):
                self.derivation.given(before, after, path)
                self._queue.append(("ww", before, after))

    # --- questions

    def ordered(self, a: int, b: int) -> bool:
        return bool((self._reach[a] >> b | self._reach[b] >> a) & 1)

    def precedes(self, a: int, b: int) -> bool:
        return bool(self._reach[a] >> b & 1)

    def pairs(self) -> list[Pair]:
        """The partial store order, transitively closed."""
        return [(v, w) for v in sorted(self._writes)
                for w in _bits(self._reach[v] & self._writes_at[self._location[v]])]

    def unordered(self) -> Iterator[Pair]:
        """The pairs of writes to one location that are still open, in trace order."""
        for v in sorted(self._writes):
            later = self._writes_at[self._location[v]] >> v + 1 << v + 1
            for w in _bits(later & ~self._reach[v]):
                if not self._reach[w] >> v & 1:
                    yield v, w

    # --- assuming and taking back

    def mark(self) -> tuple[int, tuple[int, int, int]]:
        return len(self._trail), self.derivation.mark()

    def undo(self, mark: tuple[int, tuple[int, int, int]]) -> None:
        while len(self._trail) > mark[0]:
            operation, reach = self._trail.pop()
            self._reach[operation] = reach
        self.derivation.undo(mark[1])
        self._queue.clear()

    def assume(self, before: int, after: int) -> None:
        """Put `before` first and draw every consequence."""
        self.derivation.assume(before, after)
        self._queue.append(("ww", before, after))
        self._saturate()

    # --- the fixpoint

    def _saturate(self) -> None:
        while self._queue:
            self._link(*self._queue.popleft())

    def _link(self, kind: EdgeKind, a: int, b: int) -> None:
        reach = self._reach
        if a == b or reach[b] >> a & 1:
            raise Contradiction(self.derivation.cycle(kind, a, b))
        if reach[a] >> b & 1:
            return
        self.derivation.edge(kind, a, b)
        beyond = reach[b] | 1 << b
        bit = 1 << a
        for x, old in enumerate(reach):
            if (x == a or old & bit) and (new := beyond & ~old):
                self._trail.append((x, old))
                reach[x] = old | new
                if x in self._writes:
                    self._notice(x, new)

    def _notice(self, v: int, new: int) -> None:
        """Write `v` has come to precede the operations in `new`: what follows for the store order?"""
        at = self._location[v]
        for r in _bits(new & self._reads_at[at]):
            w = self._source[r]
            if w not in (INITIAL, v):  # a read of the initial value precedes v already: a cycle, found there
                self.derivation.infer(v, w, r)
                self._queue.append(("ww", v, w))
        for w in _bits(new & self._writes_at[at]):
            readers = [r for r in self._readers[v] if r != w]
            if readers:
                self.derivation.infer(v, w, w)
                self._queue.extend(("rw", r, w) for r in readers)


def per_location(history: History) -> Iterator[tuple[int, int, Path]]:
    """What the per-location axiom says of the store order, in one pass: pairs, each with its path.

    Of each thread and location remember the write last seen, written or read from. It precedes the
    next one seen, whether that is written (a path to it) or read from (a path to its read).
    """
    for last, write, path in _successively_seen(history):
        if write != INITIAL:
            yield last, write, path


def per_location_cycles(history: History) -> Iterator[Cycle]:
    """What the per-location axiom forbids at once: reading one's own future, or the initial value too late."""
    yield from own_future(history)
    for last, write, path in _successively_seen(history):
        if write == INITIAL:
            yield Cycle((*path, Edge("rw", path[-1].end, last)), "location")


def own_future(history: History) -> Iterator[Cycle]:
    """Reads whose source lies later in their own thread (for an rmw: is the rmw itself)."""
    reads = history.reads
    source = history.source[reads]
    for r, w in zip(reads[source >= reads].tolist(), source[source >= reads].tolist(), strict=True):
        if history.thread[w] == history.thread[r]:
            yield Cycle((Edge("po", r, w), Edge("wr", w, r)) if w != r else (Edge("wr", w, r),), "location")


def _successively_seen(history: History) -> Iterator[tuple[int, int, Path]]:
    """(the write last seen, the write seen next, the path between) for each thread and location."""
    seen: dict[tuple[int, int], tuple[int, int]] = {}
    columns = zip(history.thread.tolist(), history.location.tolist(), history.kind.tolist(), history.source.tolist(),
                  strict=True)
    for operation, (thread, location, kind, source) in enumerate(columns):
        writes = [source] * (kind in (READ, RMW)) + [operation] * (kind in (WRITE, RMW))
        for write in writes:
            last, at = seen.get((thread, location), (INITIAL, -1))
            if last not in (INITIAL, write):
                observed = (Edge("wr", last, at),) if last != at else ()
                along = (Edge("po", at, operation),) if at != operation else ()
                yield last, write, (*observed, *along)
            seen[thread, location] = write, operation
