"""Shorter evidence for the same violation: few inferred steps, few edges.

The engine stops at the first contradiction it meets, which need not be the simplest one. Here the cheapest
proof is computed among the operations around it (of a small history: among all): shortest paths in the
relations the model wants acyclic, where an edge that rests on a pair of ordered writes costs as much as the
cheapest proof of that pair. Whatever comes out is checked by the certificate before it is used.
"""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from gradual.deciding.proof import edge_kinds
from gradual.evidence import certificate
from gradual.evidence.verdict import Cycle, Edge, Pair, Path, Refutation, Scope, Step, Verdict
from gradual.history import FENCE, INITIAL, READ, RMW, WRITE, Column, History
from gradual.models.model import MODELS, Model

AROUND = 150
"""Operations among which the cheapest proof is looked for."""
AT_MOST = 250
"""Operations of an evidence beyond which it is only pruned."""
SECONDS = 20.0
"""A safety net: the bounds above and below are on the work, so that equal histories are told equally."""
STEP = 4.0
"""What an inferred step costs in edges: a reader has to turn back for it."""
LARGE = 300_000
"""Operations beyond which nothing is looked for elsewhere than near the evidence."""
CASES = 20
"""Cases of a search beyond which they are only pruned: nobody reads them all."""
NEVER = np.inf


def shortened(verdict: Verdict, history: History, seconds: float = SECONDS) -> Verdict:
    """The verdict with evidence that is as short as could be found in the time."""
    evidence, until = verdict.evidence, time.monotonic() + seconds
    if isinstance(evidence, Cycle):
        return replace(verdict, evidence=shorter(history, verdict.model, evidence, until))
    if isinstance(evidence, Refutation):
        until = until if len(evidence.cases) <= CASES else 0.0
        cases = tuple(shorter(history, verdict.model, case, until) if isinstance(case, Cycle) else case
                      for case in evidence.cases)
        # assuming nothing, one case is enough
        alone = [case for case in cases if isinstance(case, Cycle) and not case.assumed]
        candidate = min(alone, key=cost) if alone else Refutation(cases, evidence.lemmas)
        if _certified(history, verdict.model, candidate):
            return replace(verdict, evidence=_fewer(history, verdict.model, candidate))
    return verdict


def _fewer(history: History, model: str, evidence: Cycle | Refutation) -> Cycle | Refutation:
    """Without the cases of a search that the others make needless: the longest go first."""
    if isinstance(evidence, Refutation) and len(evidence.cases) <= CASES:
        for case in sorted(evidence.cycles, key=cost, reverse=True):
            rest = tuple(other for other in evidence.cases if other is not case)
            if _certified(history, model, Refutation(rest, evidence.lemmas)):
                evidence = Refutation(rest, evidence.lemmas)
    return evidence


def shorter(history: History, model: str, cycle: Cycle, until: float) -> Cycle:
    """The shortest of: the cycle without needless steps, the cheapest one around it."""
    best = pruned(history, cycle)
    if cost(best) > 2 and len(involved(best)) <= AT_MOST and time.monotonic() < until:
        around = _around(history, MODELS[model], best)
        found = _Cheapest(history, MODELS[model], around, best.assumed, until).cycle()
        if found is not None and cost(found) < cost(best):
            best = found
    return best if best.assumed or _certified(history, model, best) else cycle


def cost(cycle: Cycle) -> float:
    return len(cycle.edges) + sum(STEP + len(step.path) for step in cycle.steps)


def involved(cycle: Cycle) -> list[int]:
    """The operations that the evidence speaks of, sources and both ends of steps included."""
    paths = [cycle.edges, *(step.path for step in cycle.steps)]
    ends = {end for path in paths for edge in path for end in (edge.start, edge.end)}
    return sorted(ends | {w for step in cycle.steps for w in (step.before, step.after)})


def pair_behind(edge: Edge, history: History) -> Pair | None:
    """The ordered pair of writes that an edge rests on, where it needs a reason: not for last and first writes."""
    if edge.kind == "ww":
        pair = edge.start, edge.end
    elif edge.kind == "rw" and history.source[edge.start] != INITIAL:
        pair = int(history.source[edge.start]), edge.end
    else:
        return None
    return None if history.final[history.location[pair[1]]] == pair[1] else pair


def pruned(history: History, cycle: Cycle) -> Cycle:
    """Without the steps that neither the cycle nor a step that it needs rests on."""
    steps: list[Step] = []
    needed = _pairs(cycle.edges, history)
    for step in reversed(cycle.steps):
        if (step.before, step.after) in needed:
            needed.discard((step.before, step.after))  # the last step for a pair is enough
            needed |= _pairs(step.path, history)
            steps.append(step)
    return Cycle(cycle.edges, cycle.scope, tuple(reversed(steps)), tuple(p for p in cycle.assumed if p in needed))


def _pairs(path: Path, history: History) -> set[Pair]:
    return {pair for edge in path if (pair := pair_behind(edge, history)) is not None}


def _certified(history: History, model: str, evidence: Cycle | Refutation) -> bool:
    try:
        certificate.check(history, model, evidence)
    except certificate.CertificateError:
        return False
    return True


# --- where to look


def _around(history: History, model: Model, cycle: Cycle) -> list[int]:
    """All operations of a small history; of a large one those of the evidence, of a plain cycle, and what is near."""
    if len(history) <= AROUND:
        return list(range(len(history)))
    chosen = set(involved(cycle))
    if not cycle.assumed and len(history) <= LARGE:  # in a case of a search, saturation met no cycle
        facts = _facts(history, model)
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


def _facts(history: History, model: Model) -> list[list[int]]:
    """For each operation, those that come after it from the start.

    By program order, reads-from, first and last writes, and what each thread saw at one location.
    """
    from gradual.deciding.saturation import Saturation

    graph = Saturation(history, model)
    graph.run()
    out = [[end for _, end, at in graph.out(o) if at < graph.base_edges] for o in range(len(history))]
    readers: dict[int, list[int]] = defaultdict(list)
    for reader in history.reads.tolist():
        readers[int(history.source[reader])].append(reader)
    for before, after in _seen(history):
        out[before].append(after)
        for reader in readers[before][-READERS:]:
            if reader != after:
                out[reader].append(after)
    return out


def _plain_cycle(out: list[list[int]]) -> set[int]:
    """The operations of a short cycle of facts, where there is one."""
    core = _on_cycles(out)
    best: list[int] = []
    left = VISITS
    for start, end in sorted(_backward(out, core), key=lambda edge: edge[0] - edge[1]):
        found, visits = _shortest_back(start, end, out, core, len(best))
        best = found or best
        left -= visits
        if left < 0:
            break
    return set(best)


def _shortcuts(history: History, out: list[list[int]], cycle: Cycle) -> set[int]:
    """The operations on the most direct ways, by facts alone, where the evidence goes a longer one."""
    thread, fence = history.thread.tolist(), (history.kind == FENCE).tolist()
    ways = [(step.path[0].start, step.path[-1].end) for step in cycle.steps if len(step.path) > 1]
    ways += [(edge.start, edge.end) for edge in cycle.edges if edge.kind == "ww"]
    late = sorted(((start - end, start, end) for start, ends in enumerate(out) for end in ends if end < start),
                  reverse=True)
    ways = ways[:WAYS] + [(end, start) for _, start, end in late[:WAYS]]  # the stalest reads, most likely
    found: set[int] = set()
    for start, end in ways:
        path = _fewest_threads(start, end, out, thread)
        turns = (b for a, b, c in zip(path, path[1:], path[2:], strict=False)
                 if fence[b] or not thread[a] == thread[b] == thread[c])
        found |= {*turns, start, end} if path else set()
    return found


def _fewest_threads(start: int, end: int, out: list[list[int]], thread: list[int]) -> list[int]:
    """A path that goes from one thread to another as seldom as possible; nothing where there is none."""
    came = {start: start}
    now, later = [start], list[Pair]()
    while now:
        for node in now:  # which grows meanwhile
            for following in out[node]:
                if following not in came:
                    if thread[following] == thread[node]:
                        came[following] = node
                        now.append(following)
                    else:
                        later.append((node, following))
        if end in came:
            return _back(came, end, start)[::-1]
        now = []
        for node, following in later:
            if following not in came:
                came[following] = node
                now.append(following)
        later = []
    return []


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


REACH = 5_000
"""Nodes that one search for a short cycle looks at."""
VISITS = 400_000
"""Nodes that all of them look at."""
WAYS = 8
"""Paths of the evidence for which a more direct one is looked for."""
READERS = 20
"""Of one write, that are looked at."""


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


# --- the cheapest proof


class _Relation:
    """One relation that must be acyclic, as a matrix of costs, with the shortest paths through it."""

    def __init__(self, scope: Scope, facts: Column, kind: Column) -> None:
        self.scope: Scope = scope
        self._facts = facts
        self._fact_kind = kind

    def close(self, ww: Column, rw: Column, until: float) -> bool:
        """Shortest paths over facts and the pairs of writes known so far. False when time ran out."""
        weight = self._facts.copy()
        self.kind = self._fact_kind.copy()
        for number, more in ((2, ww), (3, rw)):
            better = more < weight
            weight[better] = more[better]
            self.kind[better] = number
        self.length = weight
        self._next = np.tile(np.arange(len(weight)), (len(weight), 1))
        for k in range(len(weight)):
            if k % 16 == 0 and time.monotonic() > until:
                return False
            through = self.length[:, k, None] + self.length[None, k, :]
            better = through < self.length
            self.length = np.where(better, through, self.length)
            self._next = np.where(better, self._next[:, k, None], self._next)
        return True

    def path(self, start: int, end: int) -> list[tuple[int, int, int]]:
        """Kind, start and end of each edge on a shortest path."""
        edges = []
        while True:
            following = int(self._next[start, end])
            edges.append((int(self.kind[start, following]), start, following))
            start = following
            if start == end:
                return edges



class _Cheapest:
    """The cheapest proof of a contradiction among some operations.

    A pair of writes costs a step and the cheapest path that shows it, so a proof is well-founded: what a step
    rests on costs less than the step.
    """

    def __init__(self, history: History, model: Model, operations: list[int], assumed: tuple[Pair, ...],
                 until: float) -> None:
        self._history, self._model, self._until = history, model, until
        self._operations = operations
        chosen = np.array(operations)
        self._thread, self._kind = history.thread[chosen], history.kind[chosen]
        self._location = history.location[chosen]
        index = {operation: i for i, operation in enumerate(operations)}
        self._source = np.array([index.get(int(s), -9) if s >= 0 else int(s) for s in history.source[chosen]])
        self._writes = (self._kind == WRITE) | (self._kind == RMW)
        same = (self._location[:, None] == self._location) & (self._location[:, None] >= 0)
        np.fill_diagonal(same, False)
        self._rivals = same & self._writes[:, None] & self._writes
        self._same = same
        self._pair_cost = np.where(self._rivals & self._last(chosen), 0.0, NEVER)
        self._assumed = {(index[a], index[b]) for a, b in assumed if a in index and b in index}
        for pair in self._assumed:
            self._pair_cost[pair] = 0.0
        self._relations = [self._global(), *([] if model.keeps_write_read else [self._per_location()])]

    def _last(self, chosen: Column) -> Column:
        final = self._history.final[self._location] if len(self._history.final) else np.full(len(chosen), -9)
        last: Column = (final == chosen)[None, :]
        return last

    # --- facts

    def _global(self) -> _Relation:
        n = len(self._operations)
        later = np.triu(np.ones((n, n), dtype=bool), 1) & (self._thread[:, None] == self._thread)
        reads = (self._kind == READ) | (self._kind == RMW)
        fence = self._kind == FENCE
        if not self._model.keeps_write_read:
            kept = self._model.keeps_write_write | (self._location[:, None] == self._location)
            later &= reads[:, None] | fence[:, None] | fence | (self._writes & kept)
        return _Relation("global", *self._facts(later, across_only=self._model.name != "SC"))

    def _per_location(self) -> _Relation:
        n = len(self._operations)
        later = np.triu(np.ones((n, n), dtype=bool), 1) & (self._thread[:, None] == self._thread)
        return _Relation("coherence", *self._facts(later & self._same, across_only=False))

    def _facts(self, later: Column, across_only: bool) -> tuple[Column, Column]:
        """Program order as given, reads-from, and reads of initial values before all writes: one edge each."""
        cost = np.where(later, 1.0, NEVER)
        kind = np.zeros(cost.shape, dtype=np.int8)
        for reader, source in enumerate(self._source.tolist()):
            if source >= 0 and not (across_only and self._thread[source] == self._thread[reader]):
                cost[source, reader], kind[source, reader] = 1.0, 1
            elif source == INITIAL:
                overwriting = self._same[reader] & self._writes & (cost[reader] == NEVER)
                cost[reader, overwriting], kind[reader, overwriting] = 1.0, 3
        return cost, kind

    # --- consequences

    def cycle(self) -> Cycle | None:
        """The cheapest cycle, or None where there is none or the time is up."""
        while True:
            ww, rw = self._edges()
            if not all(relation.close(ww, rw, self._until) for relation in self._relations):
                return None
            if not self._improve():
                return self._best()

    def _edges(self) -> tuple[Column, Column]:
        ww = np.where(self._rivals, self._pair_cost + 1, NEVER)
        rw = np.full(ww.shape, NEVER)
        readers = np.flatnonzero(self._source >= 0)
        rw[readers] = self._pair_cost[self._source[readers]] + 1
        rw[~(self._same & self._writes)] = NEVER
        return ww, rw

    def _improve(self) -> bool:
        """Cheaper proofs for pairs of writes, by the paths known now."""
        reach = np.minimum.reduce([self._to_write(relation) for relation in self._relations])
        cost = np.where(self._rivals, reach + STEP, NEVER)
        better = cost < self._pair_cost
        self._pair_cost = np.where(better, cost, self._pair_cost)
        return bool(better.any())

    def _to_write(self, relation: _Relation) -> Column:
        """From each operation to each write, or to a read of it."""
        reach = relation.length.copy()
        for reader, source in enumerate(self._source.tolist()):
            if source >= 0:
                reach[:, source] = np.minimum(reach[:, source], relation.length[:, reader])
        return reach

    # --- the proof, told in the numbers of the history

    def _best(self) -> Cycle | None:
        relation = min(self._relations, key=lambda r: float(r.length.diagonal().min()))
        round_trip = relation.length.diagonal()
        start = int(round_trip.argmin())
        if round_trip[start] == NEVER:
            return None
        edges = relation.path(start, start)
        steps, assumed = self._reasons(edges)
        return Cycle(self._told(edges), relation.scope, steps, assumed)

    def _reasons(self, edges: list[tuple[int, int, int]]) -> tuple[tuple[Step, ...], tuple[Pair, ...]]:
        steps: dict[Pair, Step] = {}
        assumed: set[Pair] = set()
        todo = self._resting_on(edges)
        while todo:
            pair = todo.pop()
            if pair in self._assumed:
                assumed.add((self._operations[pair[0]], self._operations[pair[1]]))
            elif pair not in steps and self._pair_cost[pair] > 0:
                steps[pair], more = self._step(*pair)
                todo += more
        ordered = sorted(steps, key=lambda pair: (self._pair_cost[pair], pair))
        return tuple(steps[pair] for pair in ordered), tuple(sorted(assumed))

    def _step(self, before: int, after: int) -> tuple[Step, list[Pair]]:
        ends = [after, *np.flatnonzero(self._source == after).tolist()]
        relation, end = min(((relation, end) for relation in self._relations for end in ends),
                            key=lambda choice: float(choice[0].length[before, choice[1]]))
        edges = relation.path(before, end)
        step = Step(self._operations[before], self._operations[after], self._told(edges), relation.scope)
        return step, self._resting_on(edges)

    def _resting_on(self, edges: list[tuple[int, int, int]]) -> list[Pair]:
        behind = [(start, end) if kind == 2 else (int(self._source[start]), end)
                  for kind, start, end in edges if kind >= 2]
        return [pair for pair in behind if pair[0] >= 0]

    def _told(self, edges: list[tuple[int, int, int]]) -> Path:
        return tuple(Edge(edge_kinds[kind], self._operations[start], self._operations[end])
                     for kind, start, end in edges)
