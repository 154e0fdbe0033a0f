"""The partial store orders of the ladder as matrices, and the ways of counting what they leave open.

Written from the definitions, apart from the checker: relation[a, b] says that operation a comes before b. Cubic in the
operations, which is nothing for the 200 of a published history. Initial writes are operations here, one per location.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradual.deadline import Deadline
from gradual.deciding.engine.run import Run
from gradual.deciding.observations import write_pairs
from gradual.deciding.saturation import Saturation
from gradual.history import INITIAL, History
from gradual.models import load
from gradual.models.fit import fit

Flags = NDArray[np.bool_]
Relation = NDArray[np.bool_]

PAIRS = ("one location", "one location, initial writes too", "all writes")
READINGS = {
    "cf": "conflict order alone, cf[R]",
    "cf+": "conflict order, closed, cf[R]⁺",
    "R": "R alone, on writes",
    "once": "R or cf[R], not closed",
    "ww": "store order, (R on one location ∪ cf[R])⁺",
    "whole": "all that follows, (po ∪ wr ∪ ww ∪ rw[ww])⁺",
}
"""What may be meant by two writes being ordered; R is co for CCv, hb for CCM."""


def column(criterion: str, reading: str, pairs: str) -> str:
    return f"{criterion}: {reading}, {pairs}"


def unordered(history: History) -> dict[str, float]:
    """Percent of the pairs left open, per criterion, reading and choice of pairs; and what saturation leaves."""
    given = relations(history)
    causal = closure(given.observed)
    chosen = dict(zip(PAIRS, _pairs(given), strict=True))
    found = {column(criterion, reading, name): _percent(ordered, pairs)
             for criterion, before in (("CCv", causal), ("CCM", happens_before(given, causal)))
             for reading, ordered in _readings(given, before).items() for name, pairs in chosen.items()}
    saturation = Saturation(Run([history], fit(load("sc"))), Deadline())
    total = write_pairs(history)
    return found | {"saturation": 100 * (1 - saturation.ordered_pairs() / total) if total else 0.0}


class Relations(NamedTuple):
    """A history as matrices."""

    location: NDArray[np.int32]
    writes: Flags
    initial: Flags
    po: Relation
    wr: list[tuple[int, int]]
    last: tuple[int, ...]
    """The last operation of each thread."""

    @property
    def observed(self) -> Relation:
        """po ∪ wr."""
        found = self.po.copy()
        for write, read in self.wr:
            found[write, read] = True
        return found

    @property
    def same_location(self) -> Relation:
        """Two different writes to one location."""
        return _distinct(self.writes) & (self.location[:, None] == self.location)


def relations(history: History) -> Relations:
    n, places = len(history), len(history.locations)
    location = np.concatenate([history.location, np.arange(places, dtype=np.int32)])
    initial = np.arange(n + places) >= n
    writes = initial.copy()
    writes[history.writes] = True
    program = np.zeros((n + places, n + places), dtype=bool)
    program[:n, :n] = np.triu(history.thread[:, None] == history.thread[None, :], 1)
    program[n:, :n] = True  # initial writes come before everything
    sources = ((int(history.source[read]), read) for read in history.reads.tolist())
    wr = [(n + int(location[read]) if source == INITIAL else source, read) for source, read in sources]
    last = {int(thread): operation for operation, thread in enumerate(history.thread)}
    return Relations(location, writes, initial, program, wr, tuple(last.values()))


def closure(relation: Relation) -> Relation:
    """The least transitive relation that contains it, after Warshall. (Products of matrices would want all cores.)"""
    closed = relation.copy()
    for middle in range(len(closed)):
        closed[closed[:, middle]] |= closed[middle]
    return closed


def conflict(given: Relations, before: Relation) -> Relation:
    """cf: v comes before w when it comes before a read of w."""
    found = np.zeros_like(before)
    for write, read in given.wr:
        found[:, write] |= before[:, read]
    return found & given.same_location


def store_order(given: Relations, before: Relation) -> Relation:
    """(before on one location ∪ cf[before])⁺: with co the one of CCv, with hb the one of CCM."""
    return closure((before & given.same_location) | conflict(given, before))


def happens_before(given: Relations, causal: Relation) -> Relation:
    """hb. The last operation of a thread sees the most, so one view per thread is enough."""
    threads = closure(given.po)
    whole = causal.copy()
    for end in given.last:
        whole |= _view(given, causal, _up_to(causal, end), _up_to(threads, end))
    return closure(whole)


def _up_to(before: Relation, end: int) -> Flags:
    past = before[:, end].copy()
    past[end] = True
    return past


def _view(given: Relations, causal: Relation, seen: Flags, own: Flags) -> Relation:
    """hb_o: co of what is seen, and v before w whenever v comes before one of the thread's own reads of w."""
    mine = given._replace(wr=[(write, read) for write, read in given.wr if own[read]])
    view = causal & np.outer(seen, seen)
    while not ((larger := closure(view | conflict(mine, view))) == view).all():
        view = larger
    return view


def _readings(given: Relations, before: Relation) -> dict[str, Relation]:
    cf, ww = conflict(given, before), store_order(given, before)
    rw = np.zeros_like(ww)
    for write, read in given.wr:
        rw[read] |= ww[write]
    return {"cf": cf, "cf+": closure(cf), "R": before, "once": (before & given.same_location) | cf, "ww": ww,
            "whole": closure(given.observed | ww | rw)}


def _pairs(given: Relations) -> tuple[Relation, ...]:
    """As named in PAIRS."""
    proper = given.writes & ~given.initial
    return given.same_location & np.outer(proper, proper), given.same_location, _distinct(proper)


def _distinct(some: Flags) -> Relation:
    return np.outer(some, some) & ~np.eye(len(some), dtype=bool)


def _percent(ordered: Relation, pairs: Relation) -> float:
    """Each pair stands twice among the pairs, once each way."""
    total = int(pairs.sum())
    return 100.0 * (1 - int(((ordered | ordered.T) & pairs).sum()) / total) if total else 0.0
