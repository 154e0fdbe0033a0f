"""The proof behind a contradiction: a short cycle, and why each pair of writes on it is ordered.

An engine adds edges one after the other. An edge inferred as the n-th follows from a path of edges
older than it, so proofs are rebuilt backwards, on demand: a shortest path among the older edges,
then the same for every inferred edge on that path.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Protocol

from gradual.deciding.kernels import ASSUMED
from gradual.evidence.verdict import Cycle, Edge, EdgeKind, Pair, Path, Step
from gradual.history import FENCE, INITIAL, READ, RMW, WRITE, History
from gradual.models.model import Model

Time = int
edge_kinds: tuple[EdgeKind, ...] = ("po", "wr", "ww", "rw")


class Contradiction(Exception):
    """No store order is possible under what was assumed; `cycle` proves it."""

    def __init__(self, cycle: Cycle) -> None:
        super().__init__("contradiction")
        self.cycle = cycle


class Graph(Protocol):
    """The edges of an engine. Their numbers are the times at which they were added."""

    history: History
    model: Model

    @property
    def base_edges(self) -> int:
        """How many edges were there before anything was inferred."""

    def out(self, operation: int) -> Iterator[tuple[int, int, Time]]:
        """The edges out of an operation: kind (as in `edge_kinds`), end, time."""

    def via(self, edge: Time) -> int:
        """Of an inferred ww edge: the read (of its end) that its path leads to. ASSUMED for an assumption."""

    def knows_to_reach(self, a: int, b: int) -> bool:
        """Is b known to come after a, or a an operation of which that is not recorded?"""


_Timed = tuple[Edge, Time]
_State = tuple[int, bool]
"""An operation, and whether it was reached by po."""


def prove(graph: Graph, kind: EdgeKind, start: int, end: int) -> Cycle:
    """Why `start` → `end`, which the graph has, closes a cycle."""
    return _Prover(graph).cycle(kind, start, end)


class _Prover:
    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._kind: list[int] = graph.history.kind.tolist()
        self._source: list[int] = graph.history.source.tolist()
        self._last = frozenset(w for w in graph.history.final.tolist() if w >= 0)
        self._steps: dict[Pair, tuple[Time, Step]] = {}
        self._assumed: set[Pair] = set()

    def cycle(self, kind: EdgeKind, start: int, end: int) -> Cycle:
        closing = min((time for k, to, time in self._graph.out(start) if to == end and edge_kinds[k] == kind))
        walk = self._round(Edge(kind, start, end), closing, start)
        newest = max(walk, key=lambda timed: timed[1])
        if newest[1] >= self._graph.base_edges:  # the edge found last may close a shorter one
            walk = min(walk, self._round(*newest, start), key=len)
        self._justify(walk)
        steps = tuple(step for _, step in sorted(self._steps.values(), key=lambda timed: timed[0]))
        return Cycle(self._merge(walk), "global", steps, tuple(sorted(self._assumed)))

    def _round(self, edge: Edge, time: Time, within: int) -> list[_Timed]:
        """A shortest cycle through `edge`, preferably of operations known to reach `within`."""
        return [(edge, time), *self._path(edge.end, edge.start, within, None)]

    def _justify(self, walk: list[_Timed]) -> None:
        """Steps for the pairs of writes that a path rests on, and for those that their paths rest on."""
        todo = list(walk)
        while todo:
            edge, time = todo.pop()
            pair = self._pair(edge)
            if pair is None or pair in self._assumed or pair[1] in self._last:
                continue
            if pair in self._steps and self._steps[pair][0] <= time:
                continue  # proved already, and in time
            ww, via = self._inferred(pair, time)
            if via == ASSUMED:
                self._assumed.add(pair)
            elif ww < self._graph.base_edges:
                path = location_path(self._graph.history, pair[0], via)
                self._steps[pair] = ww, Step(*pair, path, "coherence")
            else:
                path_there = self._path(pair[0], via, via, ww)
                self._steps[pair] = ww, Step(*pair, self._merge(path_there), "global")
                todo += path_there

    def _pair(self, edge: Edge) -> Pair | None:
        """The ordered pair of writes that an edge rests on."""
        if edge.kind == "ww":
            return edge.start, edge.end
        if edge.kind == "rw" and self._source[edge.start] != INITIAL:
            return self._source[edge.start], edge.end
        return None

    def _inferred(self, pair: Pair, time: Time) -> tuple[Time, int]:
        """When the pair came to be ordered, and the end of the path that shows it.

        A ww edge says so itself. Behind an rw edge there may be none: then a path was enough.
        """
        for kind, end, at in self._graph.out(pair[0]):
            if end == pair[1] and edge_kinds[kind] == "ww" and at <= time:
                return at, self._graph.via(at)
        return time, pair[1]

    def _path(self, start: int, end: int, within: int, before: Time | None) -> list[_Timed]:
        """A shortest path of edges older than `before`, a run of po counting as one edge.

        First only operations known to reach `within` are looked at: a small part of a long history. When
        a contradiction is met the engine has not told everybody everything yet, so that may not do.
        """
        path = self._search(start, end, within, before) or self._search(start, end, None, before)
        if path is None:
            raise AssertionError(f"no path from {start} to {end}")
        return path

    def _search(self, start: int, end: int, within: int | None, before: Time | None) -> list[_Timed] | None:
        first = start, False
        came: dict[_State, tuple[_State, _Timed]] = {}
        length = {first: 0}
        queue = deque([first])
        while queue:
            state = queue.popleft()
            node, by_po = state
            if node == end and node != start:
                return _trace(came, state)
            for kind, following, time in self._graph.out(node):
                if before is not None and time >= before:
                    continue
                if within is not None and not self._graph.knows_to_reach(following, within):
                    continue
                reached = following, kind == 0
                cost = length[state] + (not by_po or kind != 0)
                if cost < length.get(reached, cost + 1):
                    length[reached] = cost
                    came[reached] = state, (Edge(edge_kinds[kind], node, following), time)
                    if cost == length[state]:
                        queue.appendleft(reached)
                    else:
                        queue.append(reached)
        return None

    def _merge(self, walk: list[_Timed]) -> Path:
        """One po edge for a run of them, as far as the model preserves it."""
        merged: list[Edge] = []
        for edge, _ in walk:
            last = merged[-1] if merged else None
            if last and last.kind == edge.kind == "po" and self._keeps(last.start, edge.end):
                merged[-1] = Edge("po", last.start, edge.end)
            else:
                merged.append(edge)
        return tuple(merged)

    def _keeps(self, a: int, b: int) -> bool:
        """Is (a, b), which a path of preserved po implies, preserved as a pair?"""
        model, location = self._graph.model, self._graph.history.location
        if model.keeps_write_read or self._kind[a] != WRITE or self._kind[b] == FENCE:
            return True
        if self._kind[b] == READ:
            return False
        return model.keeps_write_write or bool(location[a] == location[b])


def _trace(came: dict[_State, tuple[_State, _Timed]], state: _State) -> list[_Timed]:
    path: list[_Timed] = []
    while state in came:
        state, timed = came[state]
        path.append(timed)
    return path[::-1]


# --- what the per-location axiom says, as paths


def location_path(history: History, write: int, operation: int) -> Path:
    """From the write that a thread saw last at a location to its next access there, `operation`.

    The thread wrote it, or read it, with the access just before; an rmw sees its source itself.
    """
    if history.kind[operation] == RMW and history.source[operation] == write:
        return (Edge("wr", write, operation),)
    last = _access_before(history, operation)
    seen = () if last == write else (Edge("wr", write, last),)
    return (*seen, Edge("po", last, operation))


def _access_before(history: History, operation: int) -> int:
    """The last access of the same thread to the same location."""
    mine = history.location[:operation] == history.location[operation]
    mine &= history.thread[:operation] == history.thread[operation]
    return int(mine.nonzero()[0][-1])


def location_cycle(history: History, read: int) -> Cycle:
    """`read` returns the initial value, though its thread saw a write there before."""
    last = _access_before(history, read)
    write = last if history.kind[last] in (WRITE, RMW) else int(history.source[last])
    return Cycle((*location_path(history, write, read), Edge("rw", read, write)), "coherence")


def own_future(history: History) -> Iterator[Cycle]:
    """Reads whose source lies later in their own thread (for an rmw: is the rmw itself)."""
    reads = history.reads
    source = history.source[reads]
    for r, w in zip(reads[source >= reads].tolist(), source[source >= reads].tolist(), strict=True):
        if history.thread[w] == history.thread[r]:
            yield Cycle((Edge("po", r, w), Edge("wr", w, r)) if w != r else (Edge("wr", w, r),), "coherence")
