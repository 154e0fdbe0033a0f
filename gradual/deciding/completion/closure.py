"""A partial store order with all that follows from it, kept as plain sets: small, obvious and slow.

What saturation does on clocks is done here on sets of operations, edge by edge, so that a search may assume a pair of
writes, see what follows, and take it back. Edges are numbered as they are found; `proof.py` tells why from that.
"""

from __future__ import annotations

from collections.abc import Iterator

from gradual.deciding.engine import kernels, static_edges
from gradual.deciding.engine.proof import location_cycle
from gradual.deciding.saturation import all_write_pairs
from gradual.evidence.verdict import Cycle, EdgeKind, Pair, Witness
from gradual.history import INITIAL, Column, History
from gradual.models.fit import Fit

ASSUMED = -2
"""As the end of a path: a search tries this pair, nothing shows it."""
FACT = -1
"""Nothing has to show this edge, or coherence does."""
KINDS: dict[int, EdgeKind] = {kernels.PO: "po", kernels.WR: "wr", kernels.WW: "ww", kernels.TIMED: "rt"}

Link = tuple[EdgeKind, int, int, int]
"""Kind, start, end; of an inferred pair of writes, where the path that shows it leads."""


class Contradiction(Exception):
    """No store order is possible under what was assumed; `cycle` proves it."""

    def __init__(self, cycle: Cycle) -> None:
        super().__init__("contradiction")
        self.cycle = cycle


class Closure:
    """The order of a history without impossible observations. `infer` draws every consequence. Both raise
    Contradiction where there is no order left."""

    def __init__(self, history: History, fit: Fit) -> None:
        self.history = history
        self.fit = fit
        self.links: list[Link] = []
        self.out: list[list[int]] = [[] for _ in range(len(history))]
        self._before: list[int] = []
        """Per operation, a set of bits: those that come before it."""
        self.readers: dict[int, list[int]] = {}
        for r in history.reads.tolist():
            self.readers.setdefault(int(history.source[r]), []).append(r)
        edges, bad = static_edges(history, fit)
        if bad >= 0:
            raise Contradiction(location_cycle(history, bad, fit))
        for kind, a, b in between_operations(edges, len(history)):
            self._add((KINDS[kind], a, b, FACT))

    def _add(self, link: Link) -> None:
        self.out[link[1]].append(len(self.links))
        self.links.append(link)

    # --- questions

    def precedes(self, a: int, b: int) -> bool:
        return bool(self._before[b] >> a & 1)

    def unordered(self) -> Iterator[Pair]:
        """The pairs of writes to one location that are still open, in trace order."""
        for v, w in all_write_pairs(self.history):
            if v < w and not self.precedes(v, w) and not self.precedes(w, v):
                yield v, w

    def witness(self) -> Witness:
        """A run, once every pair is ordered."""
        order = self._sorted()
        assert order is not None and not any(self.unordered()), "a total store order"
        return Witness(order)

    # --- assuming and taking back

    def mark(self) -> int:
        return len(self.links)

    def undo(self, mark: int) -> None:
        """Forget every edge since the mark."""
        while len(self.links) > mark:
            self.out[self.links.pop()[1]].pop()
        self._close()

    def assume(self, before: int, after: int) -> None:
        self._add(("ww", before, after, ASSUMED))
        self.infer()

    # --- consequences

    def infer(self) -> None:
        known = -1
        while known < len(self.links):
            known = len(self.links)
            if not self._close():
                from gradual.deciding.completion.proof import prove

                raise Contradiction(prove(self))
            self._infer_before_sources()
            self._infer_after_readers()

    def _close(self) -> bool:
        """What comes before each operation. False when something would come before itself."""
        order = self._sorted()
        if order is None:
            return False
        self._before = [0] * len(self.history)
        for a in order:
            for number in self.out[a]:
                self._before[self.links[number][2]] |= self._before[a] | 1 << a
        return True

    def _sorted(self) -> list[int] | None:
        waits = [0] * len(self.history)
        for _, _, b, _ in self.links:
            waits[b] += 1
        order = [a for a, count in enumerate(waits) if count == 0]
        for a in order:  # which grows meanwhile
            for number in self.out[a]:
                b = self.links[number][2]
                waits[b] -= 1
                if waits[b] == 0:
                    order.append(b)
        return order if len(order) == len(waits) else None

    def _infer_before_sources(self) -> None:
        """A write before a read goes before the one that the read returned."""
        for v, w in all_write_pairs(self.history):
            for r in self.readers.get(w, ()):
                if v != r and self.precedes(v, r) and not self.precedes(v, w):
                    self._add(("ww", v, w, r))
                    self._before[w] |= 1 << v

    def _infer_after_readers(self) -> None:
        """The readers of a write go before all later writes; those of the initial value before all."""
        for w, u in all_write_pairs(self.history):
            for r in self.readers.get(w, ()):
                if r != u and self.precedes(w, u) and not self.precedes(r, u):
                    self._add(("rw", r, u, FACT))
                    self._before[u] |= 1 << r
        location = self.history.location
        for r in self.readers.get(INITIAL, ()):
            for u in self.history.writes.tolist():
                if r != u and location[r] == location[u] and not self.precedes(r, u):
                    self._add(("rw", r, u, FACT))
                    self._before[u] |= 1 << r


def between_operations(edges: Column, operations: int) -> Iterator[tuple[int, int, int]]:
    """The static edges as kind, start and end: virtual nodes give way to the pairs that they stand for."""
    out: dict[int, list[tuple[int, int]]] = {}
    for a, b, by in edges.tolist():
        out.setdefault(a, []).append((b, by))
    for a in range(operations):
        todo, met = list(out.get(a, ())), set[int]()
        while todo:
            b, by = todo.pop()
            if b < operations:
                yield by, a, b
            elif b not in met:
                met.add(b)
                todo += out.get(b, ())
