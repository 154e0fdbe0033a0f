"""Walks the steps and the edges of a cycle: each ww edge must be traced to a step already checked."""

from __future__ import annotations

import itertools

from gradual.evidence.axioms import Axioms
from gradual.evidence.errors import require
from gradual.evidence.observed import Observed
from gradual.evidence.verdict import Cycle, Edge, Pair, Path, Scope, Step
from gradual.history import INITIAL


class Walk:
    """One cycle, and the pairs of writes proved on the way."""

    def __init__(self, observed: Observed, axioms: Axioms, cycle: Cycle) -> None:
        self._observed = observed
        self._axioms = axioms
        self._cycle = cycle
        self._proved: set[Pair] = set(cycle.assumed)

    def check(self) -> None:
        for pair in self._cycle.assumed:
            self._require_pair(*pair)
        for step in self._cycle.steps:
            self._check_step(step)
        edges = self._cycle.edges
        self._check_path(edges, self._cycle.scope)
        require(edges[0].start == edges[-1].end, "the cycle does not close")

    def _check_step(self, step: Step) -> None:
        """Were the second write the earlier one, the path would close a cycle with the store order, or with
        the read at its end, whose value the first write would overwrite. Or, with what its one edge says of the store
        order, there would be something that an axiom does not want to be."""
        before, after, pair = step.before, step.after, (step.after, step.before)
        self._require_pair(before, after)
        if self._axioms.wants_nothing(step.scope):
            require(len(step.path) == 1, "such a step rests on one edge")
            self._axioms.require_broken(step.scope, [*self._known(step.path[0]), pair])
            self._proved.add((before, after))
            return
        self._check_path(step.path, step.scope)
        end = step.path[-1].end
        require(step.path[0].start == before, "a step must start at its first write")
        if end == after:
            self._axioms.require_edge(step.scope, Edge("ww", after, before), [pair])
        else:
            require(self._observed.reads(end) and self._observed.source(end) == after and end != before,
                    "a step must end at its second write or at a read of it")
            self._axioms.require_edge(step.scope, Edge("rw", end, before), [pair])
        self._proved.add((before, after))

    def _check_path(self, path: Path, scope: Scope) -> None:
        require(len(path) > 0, "a path needs an edge")
        for edge, following in itertools.pairwise(path):
            require(edge.end == following.start, "the path is broken")
        for edge in path:
            self._axioms.require_edge(scope, edge, self._known(edge))

    def _known(self, edge: Edge) -> list[Pair]:
        """The pair of writes that an edge rests on, if any; raises unless it is known."""
        a, b = edge.start, edge.end
        for operation in (a, b):
            self._observed.require_operation(operation)
        if edge.kind == "po":
            thread = self._observed.history.thread
            require(bool(a != b and thread[a] == thread[b]), "po is between two operations of a thread")
            return []
        if edge.kind == "wr":
            require(self._observed.reads(b) and self._observed.source(b) == a, "wr must lead from the write read from")
            return []
        if edge.kind == "rw":
            location = self._observed.history.location
            require(self._observed.reads(a) and self._observed.writes(b) and a != b, "rw leads from a read to a write")
            require(bool(location[a] == location[b]), "both must access one location")
            a = self._observed.source(a)
            if a == INITIAL:
                return []
        else:
            require(edge.kind == "ww", f"there are no {edge.kind} edges")
        self._require_pair(a, b)
        require(self._observed.comes_last(b) or (a, b) in self._proved, "a store order that nothing justifies")
        return [(a, b)]

    def _require_pair(self, a: int, b: int) -> None:
        require(self._observed.is_pair(a, b), "the store order is between two writes of one location")
