"""Walks the steps and the edges of a cycle: each ww edge must be traced to a step already checked."""

from __future__ import annotations

import itertools

from gradual.evidence.axioms import Axioms
from gradual.evidence.errors import CertificateError, require
from gradual.evidence.observed import Observed
from gradual.evidence.verdict import Cycle, Edge, Pair, Path, Scope, Step
from gradual.history import INITIAL


class Walk:
    """One cycle, and the pairs of writes proved on the way."""

    def __init__(self, observed: Observed, axioms: Axioms, cycle: Cycle) -> None:
        self._observed = observed
        self._axioms = axioms
        self._cycle = cycle
        self._proved: set[Pair] = {self._pair(*pair) for pair in cycle.assumed}

    def check(self) -> None:
        for pair in self._cycle.assumed:
            self._require_pair(*pair)
        for step in self._cycle.steps:
            self._check_step(step)
        edges = self._cycle.edges
        self._check_path(edges, self._cycle.scope)
        require(self._meet(edges[-1].end, edges[0].start, self._cycle.scope), "the cycle does not close")

    def _check_step(self, step: Step) -> None:
        """Were the second write the earlier one, the path would close a cycle with the store order, or with
        the read at its end, whose value the first write would overwrite. Or, with what its one edge says of the store
        order, there would be something that an axiom does not want to be."""
        before, after, pair = step.before, step.after, (step.after, step.before)
        location = self._observed.location
        self._require_pair(before, after)
        if self._axioms.wants_nothing(step.scope):
            require(len(step.path) == 1, "such a step rests on one edge")
            require(location[before] == location[after], "such a step is about one location")
            self._axioms.require_broken(step.scope, [*self._known(step.path[0]), pair])
            self._prove(before, after)
            return
        self._check_path(step.path, step.scope)
        end = step.path[-1].end
        require(self._meet(before, step.path[0].start, step.scope), "a step must start at its first write")
        if self._meet(end, after, step.scope):
            if location[before] != location[after]:
                after, before = self._observed.accesses.shared(after, before)[0]
            self._axioms.require_edge(step.scope, Edge("ww", after, before), [(after, before)])
        else:
            read = self._read_of(after, end, step.scope)
            require(read != before and location[before] == location[after],
                    "the read at the end of a step must read what the first write would overwrite")
            self._axioms.require_edge(step.scope, Edge("rw", read, before), [pair])
        self._prove(before, after)

    def _read_of(self, write: int, end: int, scope: Scope) -> int:
        """The event at the end of a path, or one of its access, that read a write."""
        for event in self._observed.accesses.events(end):
            if self._meet(end, event, scope) and self._observed.reads(event) and not self._observed.is_open(event) and (
                    self._observed.source(event) == write):
                return event
        raise CertificateError("a step must end at its second write or at a read of it")

    def _prove(self, before: int, after: int) -> None:
        self._proved.add(self._pair(before, after))

    def _pair(self, before: int, after: int) -> Pair:
        """Two writes in order: by the accesses that they belong to, which happen each at once."""
        return self._observed.accesses.first(before), self._observed.accesses.first(after)

    def _meet(self, end: int, start: int, scope: Scope) -> bool:
        """Does a path go on where an edge ended? At another event of its access, too, where the axiom orders accesses;
        one that speaks of single locations orders events."""
        return end == start or (self._observed.accesses.same(end, start) and self._axioms.orders_accesses(scope))

    def _check_path(self, path: Path, scope: Scope) -> None:
        require(len(path) > 0, "a path needs an edge")
        for edge, following in itertools.pairwise(path):
            require(self._meet(edge.end, following.start, scope), "the path is broken")
        for edge in path:
            known = self._known(edge)
            if edge.kind == "rt":
                self._axioms.require_everywhere(scope)
            elif edge.kind == "po" and self._observed.accesses.several and self._axioms.orders_accesses(scope):
                self._require_program_order(scope, edge)
            else:
                self._axioms.require_edge(scope, edge, known)

    def _require_program_order(self, scope: Scope, edge: Edge) -> None:
        """Some events of two accesses must be in order."""
        events = self._observed.accesses.events
        pairs = itertools.product(events(edge.start), events(edge.end))
        require(any(self._orders(scope, Edge("po", *pair)) for pair in pairs),
                f"the axiom {scope} does not order these two accesses")

    def _orders(self, scope: Scope, edge: Edge) -> bool:
        try:
            self._axioms.require_edge(scope, edge, [])
        except CertificateError:
            return False
        return True

    def _known(self, edge: Edge) -> list[Pair]:
        """The pair of writes that an edge rests on, if any; raises unless it is known."""
        a, b = edge.start, edge.end
        for operation in (a, b):
            self._observed.require_operation(operation)
        if edge.kind == "po":
            thread = self._observed.thread
            row = self._observed.history.part_of
            apart = a != b if row is None else bool(row[a] != row[b])
            require(apart and thread[a] == thread[b], "po is between two operations of a thread")
            return []
        if edge.kind == "rt":
            require(self._observed.came_first(a, b), "real time orders an access that ended before another began")
            return []
        if edge.kind == "wr":
            require(self._observed.reads(b) and self._observed.source(b) == a, "wr must lead from the write read from")
            return []
        if edge.kind == "rw":
            location = self._observed.location
            require(self._observed.reads(a) and self._observed.writes(b) and a != b, "rw leads from a read to a write")
            require(location[a] == location[b], "both must access one location")
            a = self._observed.source(a)
            if a == INITIAL:
                return []
        else:
            require(edge.kind == "ww", f"there are no {edge.kind} edges")
        self._require_pair(a, b)
        require(self._observed.location[a] == self._observed.location[b], "both must access one location")
        require(self._pair(a, b) in self._proved or self._observed.tells(a, b) or self._observed.comes_last(b),
                "a store order that nothing justifies")
        return [(a, b)]

    def _require_pair(self, a: int, b: int) -> None:
        require(self._observed.is_pair(a, b), "the store order is between two writes of one location")
