"""From the engine's log to evidence: a cycle with its steps, or a refutation where clauses were needed.

The log is in the order in which things were found, so an entry rests on earlier ones alone. Evidence is made
backwards from the last entry: only what it rests on is told.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from itertools import pairwise

from gradual.deciding.engine import Outcome, kernels
from gradual.deciding.engine.parts import Parts
from gradual.deciding.engine.tables import Entry
from gradual.evidence.verdict import Claim, Cycle, Edge, EdgeKind, Origin, Pair, Path, Refutation, Step
from gradual.history import AMBIGUOUS, INITIAL, READ, RMW, WRITE, History
from gradual.models.fit import Fit
from gradual.models.sets import members
from gradual.models.syntax import Expression

KINDS: dict[int, EdgeKind] = {kernels.PO: "po", kernels.WR: "wr", kernels.WW: "ww", kernels.FACT: "ww",
                              kernels.RW: "rw", kernels.ASSUMED: "ww", kernels.ATOMIC: "ww", kernels.TIMED: "rt",
                              kernels.READ_FROM: "wr"}
STATIC = (kernels.PO, kernels.WR, kernels.WW, kernels.TIMED)
ATOMIC = "atomicity"
"""The rule of an edge from a store-conditional to the write that it holds off."""
LONG = 200
"""Arrows of a path beyond which no shortcuts are looked for."""
CLOSE, NEAR = 64, 4096
"""Operations among which the last access to a location is looked for first, one by one and side by side."""
FACTS = (kernels.UNIT, kernels.CLOSED, kernels.HELD)


def evidence(history: History, fit: Fit, outcome: Outcome) -> Cycle | Refutation:
    """What the log of a violation proves."""
    if outcome.bad >= 0:
        return location_cycle(history, outcome.bad, fit)
    log = outcome.log
    proof = Proof(history, fit, log)
    cycle = proof.cycle(len(log) - 1) if log[-1][0] == kernels.CYCLE else None
    return cycle or proof.refutation()


class Proof:
    """What the entries of a log prove. `candidates` are what open reads may have returned, as the log numbers them."""

    def __init__(self, history: History, fit: Fit, log: Sequence[Entry], candidates: Sequence[Origin] = ()) -> None:
        self._history = history
        self._fit = fit
        self._log = log
        self._candidates = candidates
        self._parts = Parts(history)
        self._shortcuts = Shortcuts(history, fit)
        self._sights = Sights(history, fit)
        self._returned: tuple[Origin, ...] = ()
        """What open reads returned, in the case at hand."""
        self._shown: dict[Pair, list[int]] = {}
        """For each pair, the entries that show its order."""
        for place, (kind, before, after, _) in enumerate(log):
            if kind in (*FACTS, kernels.KNOWN):
                self._shown.setdefault(self._parts.pair((before, after)), []).append(place)

    def _reasons(self, path: Path, place: int, kinds: tuple[int, ...]) -> tuple[tuple[Step, ...], set[Pair]]:
        """Steps for the pairs that a path of an entry rests on, and for those that their paths rest on: by coherence,
        by atomicity, or by earlier entries of these kinds. And the pairs for which there are none."""
        steps: dict[Pair, tuple[float, tuple[Step, ...]]] = {}
        missing: set[Pair] = set()
        todo: list[tuple[Edge, float]] = [(edge, place) for edge in path]
        while todo:
            edge, before = todo.pop()
            exact = premise(edge, self._history)
            if exact is None:
                continue
            pair = self._parts.pair(exact)
            if pair in missing or (pair in steps and steps[pair][0] < before):
                continue
            reason = self._reason(edge, exact, before, kinds)
            if reason is None:
                missing.add(pair)
                continue
            at, rests_on, shown = reason
            steps[pair] = at, shown
            todo += [(premised, at) for premised in rests_on]
        ordered = sorted(steps.items(), key=lambda found: found[1][0])
        return tuple(step for pair, (_, shown) in ordered if pair not in missing for step in shown), missing

    def _reason(self, edge: Edge, pair: Pair, place: float,
                kinds: tuple[int, ...]) -> tuple[float, Path, tuple[Step, ...]] | None:
        """Why a pair is in this order, by what came before a place in the log: since when, what it rests on, steps."""
        for shared in self._parts.shared(*pair):
            seen = self._sights.path(shared) or self._before_returned(*shared)
            if seen is not None:
                return -1, (), (Step(*shared, seen, self._fit.coherence or ""),)
            last = Edge("ww", *shared)
            if premise(last, self._history) is None:  # at another of their locations this is the last one
                return -1, (), (Step(*shared, (last,), self._fit.axiom),)
        if edge.rule == ATOMIC:
            overwritten = (Edge("rw", self._partner(pair[0]), pair[1]),)
            return place - 0.5, overwritten, (Step(*pair, overwritten, self._fit.atomicity or ""),)
        shown = self._shown.get(self._parts.pair(pair), ())
        earlier = [at for at in shown if at < place and self._log[at][0] in kinds]
        if not earlier:
            return None
        way = self._shortcuts.along(self._arrows(earlier[0]))
        kind, first, then, _ = self._log[earlier[0]]
        if kind != kernels.HELD:
            return earlier[0], way, (Step(first, then, way, self._fit.axiom),)
        end = self._parts.beside(way[-1].end, then)
        held = Step(first, end, way, self._fit.axiom)
        return earlier[0], way, (held, Step(first, then, (Edge("ww", first, end),), self._fit.atomicity or ""))

    def _before_returned(self, own: int, write: int) -> Path | None:
        """A thread's own write, and behind it a read of a write: coherence has them in that order."""
        thread, location = self._history.thread, self._history.location
        for reader, returned, _ in self._returned:
            if (returned == write and own < reader and thread[own] == thread[reader]
                    and location[own] == location[reader]):
                return (Edge("po", own, reader),)
        return None

    def _partner(self, store: int) -> int:
        """The load-reserved of a store-conditional."""
        pairs = self._history.pair
        assert pairs is not None
        return int(pairs[pairs[:, 1] == store][0, 0])

    # --- a cycle whose steps are all shown by paths

    def cycle(self, place: int) -> Cycle | None:
        """The cycle of an entry, where it rests on no clause."""
        edges = self._shortcuts.along(self._round(place), closed=True)
        steps, missing = self._reasons(edges, place, (*FACTS, kernels.KNOWN))
        return None if missing else Cycle(edges, self._fit.axiom, steps)

    # --- a refutation

    def refutation(self) -> Refutation:
        """Every cycle that was met is a case, and every clause that was resolved a lemma."""
        cases, lemmas = [], []
        for place, (kind, _, _, passages) in enumerate(self._log):
            if kind == kernels.LEMMA:
                nodes = [node for node, _ in passages]
                lemmas.append(tuple(zip(nodes[::2], nodes[1::2], strict=True)))
            elif kind != kernels.KNOWN:
                cases.append(self.case(place))
        if not lemmas or lemmas[-1]:
            lemmas.append(())
        return Refutation(tuple(cases), tuple(lemmas))

    def case(self, place: int) -> Cycle:
        """A cycle under all that it rests on, but for pairs that coherence or a path of its own shows."""
        origins = self.origins(place)
        if origins:
            return replace(self._under(origins)._case(place), origins=origins)
        return self._case(place)

    def _case(self, place: int) -> Cycle:
        edges = self._round(place)
        steps, missing = self._reasons(edges, place, (kernels.KNOWN,))
        return Cycle(edges, self._fit.axiom, steps, tuple(sorted(missing)))

    # --- where it is open what was read

    def _under(self, origins: Iterable[Origin]) -> Proof:
        """The same, with what some reads returned. What coherence says without that holds then, too."""
        found = copy(self)
        found._history = self._history.read_as((origin.reader, origin.write) for origin in origins)
        found._parts = Parts(found._history)
        found._returned = tuple(origins)
        return found

    @property
    def cases(self) -> list[int]:
        """The entries that exclude something."""
        return [place for place, entry in enumerate(self._log) if entry[0] not in (kernels.KNOWN, kernels.LEMMA)]

    def origins(self, place: int) -> tuple[Origin, ...]:
        """What reads returned, as an entry has it."""
        numbers = {by // kernels.BY - 1 for _, by in self._log[place][3]} - {-1}
        return tuple(self._candidates[number] for number in sorted(numbers))

    def rests_on(self, place: int) -> set[Claim]:
        """What does not go together, by an entry: pairs of writes, and what was read."""
        origins = self.origins(place)
        source = {origin.reader: origin.write for origin in origins}
        found: set[Claim] = {*origins}
        todo = [(edge, place) for edge in self._ordered(place, True)]
        while todo:
            edge, before = todo.pop()
            pair = premise(edge, self._history, source.get(edge.start))
            if pair is None:
                continue
            pair = self._parts.pair(pair)
            known = [at for at in self._shown.get(pair, ()) if at < before and self._log[at][0] == kernels.KNOWN]
            if known:
                todo += [(edge, known[0]) for edge in self._ordered(known[0], False)]
            else:
                found.add(pair)
        return found

    def _ordered(self, place: int, closed: bool) -> Iterator[Edge]:
        """The edges of an entry's path, or cycle, that rest on the order of two writes which is not static."""
        kind, before, _, passages = self._log[place]
        arrows = [(by, a, b) for (b, by), (a, _) in pairwise(passages) if by not in STATIC]
        if closed and kind in (kernels.CYCLE, kernels.CASE):
            arrows.append((passages[-1][1], passages[0][0], passages[-1][0]))
        elif closed:
            by = {kernels.UNIT: kernels.RW, kernels.HELD: kernels.ATOMIC}.get(kind, kernels.ASSUMED)
            arrows.append((by, passages[0][0], before))
        for by, a, b in arrows:
            if by % kernels.BY in (kernels.FACT, kernels.ASSUMED, kernels.RW):
                yield self._edges(by, a, b)[0]
            elif by == kernels.ATOMIC:
                held = self._edges(by, a, b)[0]
                yield Edge("rw", self._partner(held.start), held.end)

    # --- paths of the log

    def _arrows(self, place: int) -> Path:
        """The path of an entry, forwards."""
        passages = self._log[place][3]
        if self._candidates and not self._parts.mixed:  # there are too many to look for shortcuts
            passages = self._shortened(passages)
        passages = passages[::-1]
        return tuple(edge for (a, _), (b, by) in pairwise(passages) for edge in self._edges(by, a, b))

    def _shortened(self, passages: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Without what program order passes over in one step."""
        last = len(passages) - 1
        ends = [place for place, (_, by) in enumerate(passages) if by != kernels.PO or place == last]
        found, start = list[tuple[int, int]](), 0
        for end in ends:
            if end > start + 1 and self._shortcuts.keeps(passages[end][0], passages[start][0]):
                found.append(passages[start])
            else:
                found += passages[start:end]
            found.append(passages[end])
            start = end + 1
        return found

    def _edges(self, by: int, start: int, end: int) -> Path:
        """An arrow as edges: one, unless it rests on what coherence says of a source."""
        number, by = by // kernels.BY - 1, by % kernels.BY
        if by == kernels.SEEN:
            reader, write, _ = self._candidates[number]
            return Edge("ww", self._parts.beside(start, write), write), Edge("wr", write, reader)
        return (self._parts.exact(Edge(KINDS[by], start, end, ATOMIC if by == kernels.ATOMIC else "")),)

    def _round(self, place: int) -> Path:
        """The cycle of an entry. That of a fact goes back from the end of its path by what it excludes."""
        kind, before, _, passages = self._log[place]
        path = self._arrows(place)
        if kind in (kernels.CYCLE, kernels.CASE):
            start, by = passages[-1]
            return (*path, *self._edges(by, passages[0][0], start))
        by = {kernels.UNIT: kernels.RW, kernels.HELD: kernels.ATOMIC}.get(kind, kernels.WW)
        return (*path, *self._edges(by, path[-1].end, before))


def premises(path: Path, history: History) -> list[Pair]:
    """The pairs of writes that a path rests on."""
    return [pair for edge in path if (pair := premise(edge, history)) is not None]


def premise(edge: Edge, history: History, source: int | None = None) -> Pair | None:
    """The pair of writes that an edge rests on, where it needs a reason: not for last and first writes, nor where the
    trace tells its store order. `source` is what a read returned of which the history leaves that open."""
    if edge.kind == "ww":
        pair = edge.start, edge.end
    elif edge.kind == "rw":
        pair = int(history.source[edge.start]) if source is None else source, edge.end
    else:
        return None
    if pair[0] == INITIAL:
        return None
    return None if history.final[history.location[pair[1]]] == pair[1] or history.tells(*pair) else pair


# --- shorter paths


class Shortcuts:
    """Shortens paths by the program order that a model keeps in one step."""

    def __init__(self, history: History, fit: Fit) -> None:
        self._history = history
        self._thread, self._location = history.thread.data, history.location.data
        self._fit = fit
        self._kept: dict[Pair, bool] = {}

    @cached_property
    def _steps(self) -> list[tuple[bool, memoryview, memoryview]]:
        """The single terms: wherever in the thread or at one location only, from and to which operations."""
        return [(t.step.relation == "po", self._mask(t.before), self._mask(t.after)) for t in self._fit.transitions
                if t.start == t.end == 0 and t.step.relation in ("po", "po-loc") and not t.step.inverse]

    def _mask(self, test: Expression) -> memoryview:
        return members(self._history, test).data

    def keeps(self, a: int, b: int) -> bool:
        """Does the model keep a before b, of one thread, by a single term?"""
        if a >= b or self._thread[a] != self._thread[b]:
            return False
        known = self._kept.get((a, b))
        if known is None:
            one_place = self._location[a] == self._location[b] >= 0
            known = self._kept[a, b] = any((anywhere or one_place) and before[a] and after[b]
                                           for anywhere, before, after in self._steps)
        return known

    def along(self, path: Path, *, closed: bool = False) -> Path:
        """A shortest path (or cycle) along its arrows and program order between its operations."""
        if len(path) > LONG or self._history.part_of is not None:
            return self._merged(path)
        if closed:
            found = (self._between(edge.end, edge.start, path, edge) for edge in path if edge.kind != "po")
            return min((cycle for cycle in found if cycle), key=len, default=path)
        return self._between(path[0].start, path[-1].end, path, None)

    def _between(self, start: int, end: int, path: Path, closing: Edge | None) -> Path:
        """From start to end along the arrows of a path, and back by a closing one."""
        out: dict[int, list[Edge]] = {}
        for edge in path:
            out.setdefault(edge.start, []).append(edge)
        nodes = sorted({edge.start for edge in path} | {path[-1].end})
        came: dict[int, Edge | None] = {start: None}
        queue = deque([start])
        while queue and end not in came:
            node = queue.popleft()
            for edge in out.get(node, ()):
                if edge.end not in came:
                    came[edge.end] = edge
                    queue.append(edge.end)
            for other in nodes:
                if other not in came and self.keeps(node, other):
                    came[other] = Edge("po", node, other)
                    queue.append(other)
        return (*walked(came, end), *([closing] if closing else []))

    def _merged(self, path: Path) -> Path:
        merged: list[Edge] = []
        for edge in path:
            last = merged[-1] if merged else None
            if last and last.kind == edge.kind == "po" and self.keeps(last.start, edge.end):
                merged[-1] = Edge("po", last.start, edge.end)
            else:
                merged.append(edge)
        return tuple(merged)


def walked(came: dict[int, Edge | None], end: int) -> Path:
    """The way to a node, from how each node on it was reached."""
    found: list[Edge] = []
    edge = came.get(end)
    while edge is not None:
        found.append(edge)
        edge = came[edge.start]
    return tuple(reversed(found))


# --- what coherence says, as paths


class Sights:
    """The pairs of writes that a thread saw one after the other at a location, with the paths that show them."""

    def __init__(self, history: History, fit: Fit) -> None:
        self._history = history
        self._coherent = fit.coherence is not None
        self._reads_apart = fit.reads_apart
        self._at: dict[int, dict[Pair, int | Path]] = {}
        """Per location, for each pair the access that saw the second write, or the path."""

    def path(self, pair: Pair) -> Path | None:
        """Why coherence has the pair in this order; None where it has not."""
        location = int(self._history.location[pair[0]])
        if location not in self._at:
            seen: Iterator[tuple[Pair, int | Path]] = (
                self._around_writes(location) if self._reads_apart else self._successive(location))
            self._at[location] = dict(seen) if self._coherent else {}
        path = self._at[location].get(pair)
        return path if not isinstance(path, int) else location_path(self._history, pair[0], path)

    def _around_writes(self, location: int) -> Iterator[tuple[Pair, Path]]:
        """What a thread reads lies between its own writes before and behind."""
        history = self._history
        last: dict[int, int] = {}
        reads: dict[int, list[int]] = {}
        for operation in (history.location == location).nonzero()[0].tolist():
            thread, kind, source = int(history.thread[operation]), history.kind[operation], history.source[operation]
            own = (Edge("po", last[thread], operation),) if thread in last else ()
            if kind != WRITE and own and source not in (AMBIGUOUS, INITIAL, last[thread]):
                yield (last[thread], int(source)), own
            if kind == READ and source >= 0:
                reads.setdefault(thread, []).append(operation)
            if kind != READ:
                if own:
                    yield (last[thread], operation), own
                for read in reads.pop(thread, ()):
                    write = int(history.source[read])
                    if write not in (operation, last.get(thread)):
                        yield (write, operation), (Edge("wr", write, read), Edge("po", read, operation))
                last[thread] = operation

    def _successive(self, location: int) -> Iterator[tuple[Pair, int]]:
        last: dict[int, int] = {}
        here = (self._history.location == location).nonzero()[0]
        columns = (column[here].tolist() for column in (self._history.thread, self._history.kind, self._history.source))
        for operation, thread, kind, source in zip(here.tolist(), *columns, strict=True):
            seen = [source] if kind != WRITE and source != AMBIGUOUS else []
            for write in seen + ([operation] if kind in (WRITE, RMW) else []):
                before = last.get(thread, INITIAL)
                if before not in (INITIAL, write):
                    yield (before, write), operation
                last[thread] = write


def location_path(history: History, write: int, operation: int) -> Path:
    """From the write that a thread saw last at a location to its next access there, `operation`.

    The thread wrote it, or read it, with the access just before; an rmw sees its source itself.
    """
    if history.kind[operation] == RMW and history.source[operation] == write:
        return (Edge("wr", write, operation),)
    return _by_the_last(write, _access_before(history, operation), operation)


def _by_the_last(write: int, last: int, operation: int) -> Path:
    """The same, by the access just before."""
    seen = () if last == write else (Edge("wr", write, last),)
    return (*seen, Edge("po", last, operation))


def _access_before(history: History, operation: int, *, wrote: bool = False) -> int:
    """The last access of the same thread to the same location of which the write it saw is known; or the last that
    wrote there."""
    thread, location = history.thread.data, history.location.data
    kind, source = history.kind.data, history.source.data
    for last in range(operation - 1, max(-1, operation - 1 - CLOSE), -1):  # one by one, which soon ends in most cases
        if thread[last] == thread[operation] and location[last] == location[operation] and (
                kind[last] != READ or not (wrote or source[last] == AMBIGUOUS)):
            return last
    width = NEAR
    while True:
        low = max(0, operation - width)
        mine = history.location[low:operation] == history.location[operation]
        mine &= (history.kind[low:operation] != READ) | (history.source[low:operation] != AMBIGUOUS)
        mine &= history.thread[low:operation] == history.thread[operation]
        if wrote:
            mine &= history.kind[low:operation] != READ
        if low == 0 or mine.any():
            return low + int(mine.nonzero()[0][-1])
        width *= 8


def location_cycle(history: History, read: int, fit: Fit) -> Cycle:
    """`read` returns the initial value, though its thread saw a write there before."""
    last = _access_before(history, read, wrote=fit.reads_apart)
    write = last if history.kind[last] in (WRITE, RMW) else int(history.source[last])
    path = (Edge("po", last, read),) if fit.reads_apart else _by_the_last(write, last, read)
    return Cycle((*path, Edge("rw", read, write)), fit.coherence or "")
