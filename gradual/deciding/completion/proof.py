"""The proof behind a contradiction of a closure: a short cycle, and why each pair of writes on it is ordered.

An edge inferred as the n-th follows from a path of edges older than it, so proofs are rebuilt backwards: a shortest
path among the older edges, then the same for every inferred edge on that path.
"""

from __future__ import annotations

from collections import deque

from gradual.deciding.completion.closure import ASSUMED, Closure
from gradual.deciding.engine.proof import Shortcuts, premises, seen_successively, walked
from gradual.evidence.verdict import Cycle, Edge, Pair, Path, Step


def prove(closure: Closure) -> Cycle:
    """Why there is no order: a cycle, through the oldest edge that closes one."""
    return _Prover(closure).cycle()


class _Prover:
    def __init__(self, closure: Closure) -> None:
        self._closure = closure
        self._history = closure.history
        self._shortcuts = Shortcuts(closure.history, closure.fit)
        self._steps: dict[Pair, tuple[int, Step]] = {}
        self._assumed: set[Pair] = set()

    def cycle(self) -> Cycle:
        number, edges = next((number, (Edge(kind, start, end), *way_back))
                             for number, (kind, start, end, _) in enumerate(self._closure.links)
                             if (way_back := self._path(end, start, number)) is not None)
        edges = self._shortcuts.along(edges, closed=True)
        self._justify(edges, number + 1)
        steps = tuple(step for _, step in sorted(self._steps.values(), key=lambda found: found[0]))
        return Cycle(edges, self._closure.fit.axiom, steps, tuple(sorted(self._assumed)))

    def _justify(self, path: Path, before: int) -> None:
        """Steps for the pairs of writes that a path rests on, and for those that their paths rest on."""
        todo = [(pair, before) for pair in premises(path, self._history)]
        while todo:
            pair, time = todo.pop()
            if pair in self._assumed or (pair in self._steps and self._steps[pair][0] < time):
                continue
            seen = seen_successively(self._history, *pair) if self._closure.fit.coherence else None
            found, end = self._inferred(pair, time)
            if seen is not None:
                self._steps[pair] = -1, Step(*pair, seen, self._closure.fit.coherence or "")
            elif end == ASSUMED:
                self._assumed.add(pair)
            else:
                way = self._path(pair[0], end, found)
                assert way is not None, "an inferred pair has a path"
                way = self._shortcuts.along(way)
                self._steps[pair] = found, Step(*pair, way, self._closure.fit.axiom)
                todo += [(premise, found) for premise in premises(way, self._history)]

    def _inferred(self, pair: Pair, before: int) -> tuple[int, int]:
        """When the pair came to be ordered, and the end of the path that shows it: behind rw there may be no edge of
        its own, then a path was enough."""
        for number in self._closure.out[pair[0]]:
            kind, _, end, via = self._closure.links[number]
            if end == pair[1] and kind == "ww" and number < before and via != -1:
                return number, via
        return before, pair[1]

    def _path(self, start: int, end: int, before: int) -> Path | None:
        """A shortest path of edges older than `before`."""
        came: dict[int, Edge | None] = {start: None}
        queue = deque([start])
        while queue:
            node = queue.popleft()
            if node == end:
                break
            for number in self._closure.out[node]:
                kind, _, following, _ = self._closure.links[number]
                if number < before and following not in came:
                    came[following] = Edge(kind, node, following)
                    queue.append(following)
        return walked(came, end) or None
