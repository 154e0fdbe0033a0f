"""Where to look for a shorter proof of a violation: the operations around the evidence there is."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from heapq import nlargest
from itertools import pairwise

import numpy as np

from gradual.deciding.engine import static_edges
from gradual.evidence.verdict import Cycle, Pair
from gradual.history import FENCE, INITIAL, READ, RMW, WRITE, History
from gradual.models.fit import Fit

AROUND = 150
"""Operations among which the cheapest proof is looked for."""
LARGE = 300_000
"""Operations beyond which nothing is looked for elsewhere than near the evidence."""
PACE = 50_000
"""Operations that can be looked through in a second."""
REACH = 5_000
"""Nodes that one search for a short cycle looks at."""
VISITS = 400_000
"""Nodes that all of them look at."""
WAYS = 8
"""Paths of the evidence for which a more direct one is looked for."""
READERS = 20
"""Of one write, that are looked at."""
NOBODY = -1
"""The thread of a node that stands for a set of operations of several."""


def near(history: History, fit: Fit, cycle: Cycle, involved: Iterable[int], seconds: float) -> list[int]:
    """All operations of a small history; of a large one those of the evidence, of a plain cycle, and what is near.

    `seconds` bounds the work by the size of the history rather than by the clock: equal histories are told equally.
    """
    if len(history) <= AROUND:
        return list(range(len(history)))
    chosen = set(involved)
    if not cycle.assumed and len(history) <= min(LARGE, PACE * seconds):  # a case of a search is no cycle of facts
        facts = Facts(history, fit)
        chosen |= _plain_cycle(facts) | _shortcuts(history, facts, cycle)
    chosen |= _sources(history, chosen)
    room = AROUND - len(chosen)
    if room > 0:
        chosen |= set(_nearest(history, sorted(chosen), room // 2))
        chosen |= _sources(history, chosen)
    return sorted(chosen)


def _sources(history: History, operations: Iterable[int]) -> set[int]:
    return {int(history.source[o]) for o in operations if history.source[o] >= 0}


def _nearest(history: History, chosen: list[int], count: int) -> list[int]:
    """Accesses to the same locations, close by in the trace."""
    same = np.flatnonzero(np.isin(history.location, history.location[chosen]))
    places = np.array(chosen)
    right = np.searchsorted(places, same).clip(0, len(places) - 1)
    distance = np.minimum(abs(places[right] - same), abs(same - places[np.maximum(right - 1, 0)]))
    nearest: list[int] = same[np.argsort(distance, kind="stable")[:count]].tolist()
    return nearest


# --- what is known from the start


class Facts:
    """What comes after what by the model's static edges, by reads of initial values, and by what each thread saw at one
    location. Nodes behind the operations stand for sets of them."""

    def __init__(self, history: History, fit: Fit) -> None:
        self.operations = len(history)
        edges = static_edges(history, fit)[0][:, :2]
        self.overwrites = max(self.operations, int(edges.max(initial=0)) + 1)
        """The node of a location's writes, from the first location's on."""
        self.out: list[list[int]] = [[] for _ in range(self.overwrites + len(history.locations))]
        self.thread = history.thread.tolist() + [NOBODY] * (len(self.out) - self.operations)
        for start, end in edges.tolist():
            self.out[start].append(end)
            if end >= self.operations:  # it stands for operations of this thread
                self.thread[end] = self.thread[start]
        self._read_initially(history)
        if fit.coherence is not None:
            self._see_successively(history)

    def _read_initially(self, history: History) -> None:
        """Who read an initial value comes before all writes there."""
        at = history.location.tolist()
        for write in history.writes.tolist():
            self.out[self.overwrites + at[write]].append(write)
        for reader in np.flatnonzero((history.source == INITIAL) & (history.kind == READ)).tolist():
            self.out[reader].append(self.overwrites + at[reader])
        swaps = np.flatnonzero((history.source == INITIAL) & (history.kind == RMW)).tolist()
        for swap in swaps[:READERS]:  # which is one of these writes itself
            self.out[swap] += [write for write in self.out[self.overwrites + at[swap]] if write != swap]

    def _see_successively(self, history: History) -> None:
        readers: dict[int, list[int]] = defaultdict(list)
        reads = history.reads
        for reader, source in zip(reads.tolist(), history.source[reads].tolist(), strict=True):
            readers[source].append(reader)
        for before, after in _seen(history):
            self.out[before].append(after)
            for reader in readers[before][-READERS:]:
                if reader != after:
                    self.out[reader].append(after)

    def only_operations(self, nodes: Iterable[int]) -> list[int]:
        return [node for node in nodes if node < self.operations]


def _seen(history: History) -> set[Pair]:
    """Pairs of writes that a thread saw one after the other at their location."""
    last: dict[tuple[int, int], int] = {}
    pairs = set()
    columns = (history.thread, history.location, history.kind, history.source)
    for operation, (thread, at, kind, source) in enumerate(zip(*(c.tolist() for c in columns), strict=True)):
        for write in (source if kind in (READ, RMW) else -1, operation if kind in (WRITE, RMW) else -1):
            if write >= 0:
                before = last.get((thread, at), write)
                if before != write:
                    pairs.add((before, write))
                last[thread, at] = write
    return pairs


# --- short cycles


def _plain_cycle(facts: Facts) -> set[int]:
    """The operations of a short cycle of facts, where there is one."""
    core = _on_cycles(facts.out)
    best: list[int] = []
    left = VISITS
    for start, end in sorted(_backward(facts.out, core), key=lambda edge: edge[0] - edge[1]):
        found, visits = _shortest_back(start, end, facts.out, core, len(best))
        best = found or best
        left -= visits
        if left < 0:
            break
    return set(facts.only_operations(best))


def _backward(out: list[list[int]], core: dict[int, None]) -> Iterator[Pair]:
    """Edges against the order of the trace: every cycle has one, and a trace is seldom far off the truth."""
    for start in core:
        for end in out[start]:
            if end <= start and end in core:
                yield start, end


def _on_cycles(out: list[list[int]]) -> dict[int, None]:
    """The nodes on cycles or between two of them, in order: the others fall off from the start."""
    incoming = [0] * len(out)
    for ends in out:
        for end in ends:
            incoming[end] += 1
    free = [node for node, count in enumerate(incoming) if count == 0]
    for node in free:  # which grows meanwhile
        for end in out[node]:
            incoming[end] -= 1
            if incoming[end] == 0:
                free.append(end)
    gone = set(free)
    return dict.fromkeys(node for node in range(len(out)) if node not in gone)


def _shortest_back(start: int, end: int, out: list[list[int]], core: dict[int, None],
                   less_than: int) -> tuple[list[int], int]:
    """A shortest cycle through an edge, if it has fewer nodes than the best so far (0: there is none yet).

    And how many nodes were looked at.
    """
    came = {end: end}
    depth = {end: 1}
    queue = deque([end])
    while queue and len(came) < REACH:
        node = queue.popleft()
        if less_than and depth[node] >= less_than:
            break
        if node == start:
            return _back(came, node, end), len(came)
        for following in out[node]:
            if following in core and following not in came:
                came[following] = node
                depth[following] = depth[node] + 1
                queue.append(following)
    return [], len(came)


def _back(came: dict[int, int], node: int, start: int) -> list[int]:
    nodes = [node]
    while nodes[-1] != start:
        nodes.append(came[nodes[-1]])
    return nodes


# --- more direct ways


def _shortcuts(history: History, facts: Facts, cycle: Cycle) -> set[int]:
    """The operations on the most direct ways, by facts alone, where the evidence goes a longer one."""
    thread, fence = facts.thread, (history.kind == FENCE).tolist()
    ways = [(step.path[0].start, step.path[-1].end) for step in cycle.steps if len(step.path) > 1]
    ways += [(edge.start, edge.end) for edge in cycle.edges if edge.kind == "ww"]
    found: set[int] = set()
    for start, end in ways[:WAYS] + _stalest(facts):
        path = facts.only_operations(_fewest_threads(start, end, facts))
        turns = (b for (a, b), (_, c) in pairwise(pairwise(path))
                 if fence[b] or not thread[a] == thread[b] == thread[c])
        found |= {*turns, start, end} if path else set()
    return found


def _stalest(facts: Facts) -> list[Pair]:
    """Where edges go far back against the order of the trace: the stalest reads, most likely. From end to start."""
    late: list[tuple[int, int, int]] = []
    for start in range(facts.operations):
        for end in facts.out[start]:
            if end < start:
                late.append((start - end, start, end))
            elif end >= facts.operations:
                late += [(start - e, start, e) for e in facts.out[end][:READERS] if e < start]
    return [(end, start) for _, start, end in nlargest(WAYS, late)]


def _fewest_threads(start: int, end: int, facts: Facts) -> list[int]:
    """A path that goes from one thread to another as seldom as possible; nothing where there is none."""
    thread = facts.thread
    came = {start: start}
    now, later = [start], list[Pair]()
    while now and end not in came:
        for node in now:  # which grows meanwhile
            if end in came:
                break
            for following in facts.out[node]:
                if following not in came:
                    if thread[following] == thread[node] or thread[node] == NOBODY:
                        came[following] = node
                        now.append(following)
                    else:
                        later.append((node, following))
        now = []
        for node, following in later:
            if following not in came:
                came[following] = node
                now.append(following)
        later = []
    return _back(came, end, start)[::-1] if end in came else []
