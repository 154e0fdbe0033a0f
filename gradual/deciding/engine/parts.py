"""The events of accesses, where these are several: which of them an arrow between two accesses is about."""

from __future__ import annotations

from collections.abc import Iterator

from gradual.evidence.verdict import Edge, Pair
from gradual.history import History, wholes


class Parts:
    """Of a history without mixed sizes every event is an access of its own."""

    def __init__(self, history: History) -> None:
        self._history = history
        self.mixed = history.part_of is not None
        self._whole = wholes(history).tolist() if self.mixed else []

    def whole(self, event: int) -> int:
        """The first event of its access, which stands for that."""
        return int(self._whole[event]) if self.mixed else event

    def same(self, a: int, b: int) -> bool:
        """Are they events of one access?"""
        return self.whole(a) == self.whole(b)

    def of(self, event: int) -> list[int]:
        """All events of its access."""
        if not self.mixed:
            return [event]
        first = past = self.whole(event)
        while past < len(self._whole) and self._whole[past] == first:
            past += 1
        return list(range(first, past))

    def pair(self, pair: Pair) -> Pair:
        return self.whole(pair[0]), self.whole(pair[1])

    def shared(self, a: int, b: int) -> Iterator[Pair]:
        """The events of two accesses that are at one location."""
        if not self.mixed:
            yield a, b
            return
        location = self._history.location
        for one in self.of(a):
            for other in self.of(b):
                if location[one] == location[other] >= 0:
                    yield one, other

    def beside(self, event: int, other: int) -> int:
        """The event of an access at the location of another."""
        location = self._history.location
        return next((one for one in self.of(event) if location[one] == location[other]), event)

    def exact(self, edge: Edge) -> Edge:
        """The edge between the events that it is about."""
        if not self.mixed:
            return edge
        start, end = edge.start, edge.end
        if edge.kind == "wr":
            source = self._history.source
            start, end = next((w, r) for w, r in self.shared(start, end) if source[r] == w)
        elif edge.kind == "ww" and not edge.rule:
            start, end = next(self.shared(start, end))
        elif edge.kind in ("rw", "ww"):
            start = self.beside(start, end)
        return Edge(edge.kind, start, end, edge.rule)
