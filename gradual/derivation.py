"""How each ordered pair of writes was found, and the proof that comes of it.

An engine records the edges it adds in the order in which it adds them. A pair derived as the
n-th thing follows from edges recorded before it, so a proof is rebuilt backwards on demand: the
shortest path among the older edges, then the same for every derived edge on that path.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from gradual.history import FENCE, INITIAL, READ, WRITE, History
from gradual.models import Model
from gradual.verdict import Cycle, Edge, EdgeKind, Pair, Path, Scope, Step

Time = int
_State = tuple[int, bool]
"""An operation, and whether it was reached by po."""


@dataclass(frozen=True)
class _Reason:
    """(before, after) was derived at `time` by a path to `target`; `path` where it is known already."""

    time: Time
    target: int
    path: Path = ()


class Derivation:
    """The record of one saturation. Everything recorded can be taken back, last first."""

    def __init__(self, history: History, model: Model) -> None:
        self._model = model
        self._kind: list[int] = history.kind.tolist()
        self._location: list[int] = history.location.tolist()
        self._source: list[int] = history.source.tolist()
        self._out: list[list[tuple[EdgeKind, int, Time]]] = [[] for _ in range(len(history))]
        self._edges: list[int] = []
        self._reasons: dict[Pair, _Reason] = {}
        self._reasoned: list[Pair] = []
        self._assumed: dict[Pair, Time] = {}
        self._now = 0
        self._last = frozenset(w for w in history.final.tolist() if w >= 0)

    def mark(self) -> tuple[int, int, int]:
        return len(self._edges), len(self._reasoned), len(self._assumed)

    def undo(self, mark: tuple[int, int, int]) -> None:
        while len(self._edges) > mark[0]:
            self._out[self._edges.pop()].pop()
        while len(self._reasoned) > mark[1]:
            del self._reasons[self._reasoned.pop()]
        while len(self._assumed) > mark[2]:
            self._assumed.popitem()

    def edge(self, kind: EdgeKind, start: int, end: int) -> None:
        self._now += 1
        self._out[start].append((kind, end, self._now))
        self._edges.append(start)

    def infer(self, before: int, after: int, target: int) -> None:
        """`before` precedes `after`, because a path of the edges so far leads from it to `target`."""
        self._reason(before, after, _Reason(self._next(), target))

    def given(self, before: int, after: int, path: Path) -> None:
        """`before` precedes `after`, because of `path` on their location."""
        self._reason(before, after, _Reason(self._next(), path[-1].end, path))

    def assume(self, before: int, after: int) -> None:
        if not self.knows(before, after):
            self._assumed[before, after] = self._next()

    def knows(self, before: int, after: int) -> bool:
        pair = before, after
        return pair in self._reasons or pair in self._assumed or after in self._last

    def _next(self) -> Time:
        self._now += 1
        return self._now

    def _reason(self, before: int, after: int, reason: _Reason) -> None:
        if not self.knows(before, after):
            self._reasons[before, after] = reason
            self._reasoned.append((before, after))

    def cycle(self, kind: EdgeKind, start: int, end: int) -> Cycle:
        """The proof that `start` → `end` closes a cycle: a shortest way back, and why each edge holds."""
        edges = (Edge(kind, start, end), *self._path(end, start, self._now + 1)) if start != end else (
            Edge(kind, start, end),)
        return self.prove(edges, "global")

    def prove(self, edges: Path, scope: Scope) -> Cycle:
        """The cycle `edges` with the steps its store order rests on, in an order that proves them."""
        steps: dict[Pair, tuple[Time, Step]] = {}
        assumed: list[Pair] = []
        todo = _pairs(edges, self._source)
        while todo:
            pair = todo.pop()
            if pair in steps or pair in assumed or pair[1] in self._last:
                continue
            if pair in self._assumed:
                assumed.append(pair)
                continue
            reason = self._reasons[pair]
            path = reason.path or self._path(pair[0], reason.target, reason.time)
            steps[pair] = reason.time, Step(*pair, path, "location" if reason.path else "global")
            todo += _pairs(path, self._source)
        in_order = tuple(step for _, step in sorted(steps.values(), key=lambda timed: timed[0]))
        return Cycle(edges, scope, in_order, tuple(sorted(assumed)))

    def _path(self, start: int, end: int, before: Time) -> Path:
        """A shortest path of edges older than `before`, a run of po counting as one edge."""
        first = start, False
        came: dict[_State, tuple[_State, Edge]] = {}
        length = {first: 0}
        queue = deque([first])
        while queue:
            state = queue.popleft()
            node, by_po = state
            if node == end and node != start:
                return self._merge(_trace(came, state))
            for kind, following, time in self._out[node]:
                reached = following, kind == "po"
                cost = length[state] + (not by_po or kind != "po")
                if time < before and cost < length.get(reached, len(self._out) + 1):
                    length[reached] = cost
                    came[reached] = state, Edge(kind, node, following)
                    if cost == length[state]:
                        queue.appendleft(reached)
                    else:
                        queue.append(reached)
        raise AssertionError(f"no path from {start} to {end}")

    def _merge(self, path: list[Edge]) -> Path:
        """One po edge for a run of them, as far as the model preserves it."""
        merged: list[Edge] = []
        for edge in path:
            last = merged[-1] if merged else None
            if last and last.kind == edge.kind == "po" and self._keeps(last.start, edge.end):
                merged[-1] = Edge("po", last.start, edge.end)
            else:
                merged.append(edge)
        return tuple(merged)

    def _keeps(self, a: int, b: int) -> bool:
        """Is (a, b), which a path of preserved po implies, preserved as a pair?"""
        if self._model.keeps_write_read or self._kind[a] != WRITE or FENCE in (self._kind[a], self._kind[b]):
            return True
        if self._kind[b] == READ:
            return False
        return self._model.keeps_write_write or self._location[a] == self._location[b]


def _trace(came: dict[_State, tuple[_State, Edge]], state: _State) -> list[Edge]:
    path: list[Edge] = []
    while state in came:
        state, edge = came[state]
        path.append(edge)
    return path[::-1]


def _pairs(edges: Path, source: list[int]) -> list[Pair]:
    """The ordered pairs of writes that the edges rest on."""
    pairs = []
    for edge in edges:
        if edge.kind == "ww":
            pairs.append((edge.start, edge.end))
        elif edge.kind == "rw" and source[edge.start] != INITIAL:
            pairs.append((source[edge.start], edge.end))
    return pairs
