"""Which gatherers the transitions along po and po-loc need: who is taken up, and who comes after those.

Fewer edges come out where a set that others make up (M is R and W) is taken apart: then an operation comes once after
all that was taken up, and is taken up once for all that comes after it.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, reduce
from operator import or_
from typing import NamedTuple

import numpy as np

from gradual.deciding.engine import static
from gradual.history import FENCE, READ, RMW, WRITE
from gradual.history.annotations import FENCES
from gradual.models.regular import Transition
from gradual.models.sets import Labels, members, of_lists
from gradual.models.syntax import Expression

ALONG = {"po": static.ALONG_PO, "po-loc": static.ALONG_PO_LOC}


class Members(NamedTuple):
    """The operations of a set, in a state of the automaton."""

    state: int
    set: Expression


Some = tuple[Members, ...]
Related = dict[Members, Some]


class Gatherer(NamedTuple):
    along: int
    gathered: Some
    targets: Some


MARKS = 64
OFTEN, AT_TIMES = 1000, 1
"""How many operations may be plain reads or writes, for one that is anything else."""


@cache
def gatherers(transitions: tuple[Transition, ...]) -> list[Gatherer]:
    """For all transitions along po and po-loc, whatever the histories are."""
    gathering, found = _Gathering(), []
    for relation, along in ALONG.items():
        pairs = [(Members(t.end, t.after), Members(t.start, t.before))
                 for t in transitions if t.step.relation == relation]
        found += gathering.gatherers(along, pairs)
    return found


@cache
def _all_there_are() -> Labels:
    """An operation of each kind that sets can tell apart."""
    accesses = [(kind, 0, marks) for marks in range(MARKS) for kind in (READ, WRITE, RMW)]
    kind, fence, marks = np.array([*accesses, *((FENCE, orders, 0) for orders in FENCES.values())]).T
    return Labels(kind, fence, marks, ())


class _Gathering:
    """Sets as bits, one of each kind of operations."""

    def __init__(self) -> None:
        self._bits: dict[Expression, int] = {}

    def gatherers(self, along: int, pairs: Iterable[tuple[Members, Members]]) -> list[Gatherer]:
        """Given who comes after whom."""
        after = _turned(self._taken_apart(_related(pairs)))
        before = _turned(self._taken_apart(after))
        return self._shared([Gatherer(along, gathered, targets) for gathered, targets in _alike(before)])

    def _taken_apart(self, related: Related) -> Related:
        """Without sets that others make up: each of these has what they had."""
        for whole in sorted(related, key=self._weight_of, reverse=True):
            parts = self._parts((whole,), [(other,) for other in related if other != whole])
            if parts:
                those = related.pop(whole)
                for [part] in parts:
                    related[part] = _united(related[part], those)
        return related

    def _shared(self, gatherers: list[Gatherer]) -> list[Gatherer]:
        """Without those of what others gather among them, unless so many come after it that it is worth it."""
        for gathered in sorted((gatherer.gathered for gatherer in gatherers), key=self._weight, reverse=True):
            [whole] = [gatherer for gatherer in gatherers if gatherer.gathered == gathered]
            others = [gatherer for gatherer in gatherers if gatherer is not whole]
            parts = self._parts(whole.gathered, [gatherer.gathered for gatherer in others])
            if parts and self._weight(whole.gathered) > (len(parts) - 1) * self._weight(whole.targets):
                gatherers = [gatherer._replace(targets=_united(gatherer.targets, whole.targets))
                             if gatherer.gathered in parts else gatherer for gatherer in others]
        return gatherers

    def _parts(self, whole: Some, others: list[Some]) -> list[Some]:
        """Some of the others that are the whole together, the largest first; none where there are no such."""
        parts: list[Some] = []
        for other in sorted(others, key=self._weight, reverse=True):
            if self._lies_in(other, [whole]) and not self._lies_in(other, parts):
                parts.append(other)
        return parts if self._lies_in(whole, parts) else []

    def _lies_in(self, some: Some, others: list[Some]) -> bool:
        """Is every operation of some sets, in its state, in one of others?"""
        return all(self._of(members.set) & ~reduce(or_, (
            self._of(other.set) for those in others for other in those if other.state == members.state), 0) == 0
            for members in some)

    def _weight(self, some: Some) -> int:
        return sum(map(self._weight_of, some))

    def _weight_of(self, members: Members) -> int:
        """How many operations it may have."""
        plain = self._of(members.set) & ((1 << READ) | (1 << WRITE))
        return OFTEN * plain.bit_count() + AT_TIMES * self._of(members.set).bit_count()

    def _of(self, test: Expression) -> int:
        """A set; one that names do not tell has a bit of its own."""
        if test not in self._bits:
            every = _all_there_are()
            self._bits[test] = 1 << (len(every.kind) + len(self._bits)) if of_lists(test) else sum(
                1 << k for k in members(every, test).nonzero()[0].tolist())
        return self._bits[test]


def _united(some: Some, others: Iterable[Members]) -> Some:
    return tuple(dict.fromkeys((*some, *others)))


def _related(pairs: Iterable[tuple[Members, Members]]) -> Related:
    related: Related = {}
    for one, other in pairs:
        related[one] = _united(related.get(one, ()), (other,))
    return related


def _turned(related: Related) -> Related:
    """The other way round."""
    return _related((other, one) for one, those in related.items() for other in those)


def _alike(related: Related) -> list[tuple[Some, Some]]:
    """Who is related to the same ones, after these."""
    found: dict[frozenset[Members], list[Members]] = {}
    for one, those in related.items():
        found.setdefault(frozenset(those), []).append(one)
    return [(related[alike[0]], tuple(alike)) for alike in found.values()]
