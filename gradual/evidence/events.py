"""The events of a history, and the sets and relations that a model's text starts from.

An event is an operation, by its number, or the initial write of location l, by the number n + l.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from gradual.evidence.errors import require
from gradual.evidence.observed import FENCE, OPEN, RMW, Observed
from gradual.evidence.relations import FOREVER, Apart, Chain, Onwards, Pairs, Relation, Same, Timed
from gradual.evidence.sorting import in_order
from gradual.evidence.verdict import Pair
from gradual.history import INITIAL, THIN_AIR, Column

ACQUIRE, RELEASE, RCPC, EXCLUSIVE, ATOMIC = 1, 2, 4, 8, 16
FENCES = {"Fence.r.r": 1, "Fence.r.w": 2, "Fence.r.rw": 3, "Fence.w.r": 4, "Fence.w.w": 8, "Fence.w.rw": 12,
          "Fence.rw.r": 5, "Fence.rw.w": 10, "Fence.rw.rw": 15, "Fence.tso": 11, "Fence.i": 16}
DEPENDENCIES = {"addr": "addr", "data": "data", "ctrl": "ctrl", "rmw": "pair"}


class Events:
    """What does not depend on the store order."""

    def __init__(self, observed: Observed) -> None:
        history = observed.history
        self.observed = observed
        self.operations = len(history)
        self.count = self.operations + len(history.locations)
        self.location = np.concatenate([history.location, np.arange(len(history.locations))]).astype(np.int64)
        self.thread = np.concatenate([history.thread, np.full(len(history.locations), -1)]).astype(np.int64)
        self.initial = np.arange(self.count) >= self.operations
        part_of = history.part_of
        self._row = None if part_of is None else np.concatenate([part_of, np.full(len(history.locations), -1)])
        self._sets: dict[str, Column] = {}
        self._relations: dict[str, Relation] = {}
        self._pairs: dict[str, frozenset[Pair]] = {}
        self._orders: dict[str, tuple[Column, Column]] = {}

    def _padded(self, column: Column, at_the_end: bool | int) -> Column:
        return np.concatenate([column, np.full(self.count - self.operations, at_the_end)])

    @property
    def in_parts(self) -> bool:
        """Are accesses several events?"""
        return self._row is not None

    @cached_property
    def source(self) -> Column:
        """The event that each event reads from, -1 where it reads nothing, a value that nobody wrote, or one that
        several wrote."""
        sources = self.observed.sources
        events = np.where(sources == INITIAL, self.location[:self.operations] + self.operations, sources)
        none = np.full(self.count - self.operations, -1)
        return np.concatenate([np.where((sources == THIN_AIR) | (sources == OPEN), -1, events), none])

    def reads_from(self, read: int) -> int:
        """The event that `read` reads from; -1 where it reads nothing, or one of several."""
        if read >= self.operations or not self.observed.reads(read) or self.observed.is_open(read):
            return -1
        source = self.observed.source(read)
        return -1 if source == THIN_AIR else source if source != INITIAL else self.operations + int(self.location[read])

    # --- sets

    def members(self, name: str) -> Column:
        """The set called `name`, as a mask."""
        if name not in self._sets:
            self._sets[name] = self._new_set(name)
        return self._sets[name]

    def _new_set(self, name: str) -> Column:
        if name == "IW":
            return self.initial
        if name in FENCES:
            return self._padded(self.observed.fences == FENCES[name], False)
        kind, marks = self.observed.history.kind, self.observed.history.marks
        reads, writes = self.observed.loading, self.observed.storing
        marked = np.zeros(self.operations, dtype=np.int8) if marks is None else marks
        marked = np.where(reads | writes, marked, 0)
        ordered = marked & (ACQUIRE | RELEASE)
        atomic = (kind == RMW) | ((marked & ATOMIC) != 0)
        sets = {
            "_": kind >= 0, "R": reads, "W": writes, "M": reads | writes, "F": kind == FENCE, "AMO": atomic,
            "EX": (marked & EXCLUSIVE) != 0, "X": atomic | ((marked & EXCLUSIVE) != 0),
            "Acq": ordered == ACQUIRE, "Rel": ordered == RELEASE, "AcqRel": ordered == ACQUIRE | RELEASE,
            "A": reads & ((marked & ACQUIRE) != 0) & ((marked & RCPC) == 0),
            "Q": reads & ((marked & ACQUIRE) != 0) & ((marked & RCPC) != 0),
            "L": writes & ((marked & RELEASE) != 0)}
        return self._padded(sets[name], name in ("_", "W", "M"))

    # --- relations

    def relation(self, name: str) -> Relation:
        """The relation called `name`, for pushing."""
        if name not in self._relations:
            self._relations[name] = self._new_relation(name)
        return self._relations[name]

    def _new_relation(self, name: str) -> Relation:
        if name == "id":
            return Pairs(np.arange(self.count), np.arange(self.count))
        if name in ("loc", "int"):
            return Same(self.location if name == "loc" else self.thread)
        if name == "ext":
            return Apart(self.thread)
        if name in ("po", "po-loc"):
            order, segment = self._in_program_order(name)
            row = self.observed.history.part_of if name == "po" else None  # events of one row come at once
            return Chain(order, segment, None if row is None else row[order])
        if name == "ctrl":
            pairs = self._dependency(name)
            return Onwards(Pairs(pairs[:, 0], pairs[:, 1]), self.relation("po"))
        if name in DEPENDENCIES:
            pairs = self._dependency(name)
            return Pairs(pairs[:, 0], pairs[:, 1])
        if name == "tdep":
            order = np.flatnonzero(self._accesses)
            order = order[in_order(self.thread[order])]
            return Timed(order, self.thread[order], self._ended[order], self._began[order])
        reads = np.flatnonzero(self.source >= 0)
        own = self.thread[reads] == self.thread[self.source[reads]]
        reads = reads[{"rf": own | ~own, "rfi": own, "rfe": ~own}[name]]
        return Pairs(self.source[reads], reads)

    def _in_program_order(self, name: str) -> tuple[Column, Column]:
        """The operations thread by thread (po), or location by location of each (po-loc), with the numbers of parts."""
        if name not in self._orders:
            events, part = np.arange(self.operations), self.thread
            if name == "po-loc":
                events = np.flatnonzero((self.location >= 0) & ~self.initial)
                part = self.thread * (len(self.observed.history.locations) + 1) + self.location
            order = events[in_order(part[events])]
            self._orders[name] = order, part[order]
        return self._orders[name]

    def torn_pairs(self, stores: StoreOrder) -> Relation:
        """rmw & (fre;coe)."""
        load, store = self._dependency("rmw").T.astype(np.int64)
        torn = stores.torn(load, store)
        return Pairs(load[torn], store[torn])

    def between(self, name: str, apart: Column, marks: Column | None = None) -> Relation:
        """The pairs of po or po-loc with none of some events strictly between them; and, where there are marks, whose
        marks differ."""
        order, segment = self._in_program_order(name)
        # each event takes from those before it, then gives: one that is apart ends what others give
        event, takes = np.repeat(order, 2), np.arange(2 * len(order)) % 2 == 0
        part = np.cumsum(np.diff(np.repeat(segment, 2), prepend=-1) != 0)
        return Chain(event, part + np.cumsum(~takes & apart[event]), None if marks is None else marks[event], ~takes)

    @cached_property
    def _accesses(self) -> Column:
        """Which events are accesses of a thread."""
        return self._padded(self.observed.loading | self.observed.storing, False)

    @cached_property
    def _ended(self) -> Column:
        """When each read was answered, FOREVER where nobody knows."""
        end = self.observed.history.end
        if end is None:
            return np.full(self.count, FOREVER)
        return self._padded(np.where(self.observed.loading & (end >= 0), end, FOREVER), FOREVER)

    @cached_property
    def _began(self) -> Column:
        """When each access began: the last time that is given up to it in its thread, or an earlier one that is given
        later; -1: nobody knows."""
        begin, found = self.observed.history.begin, np.full(self.count, -1, dtype=np.int64)
        if begin is not None:
            given = np.where(self._accesses[:self.operations], begin, -1)
            for thread in range(len(self.observed.history.threads)):
                mine = np.flatnonzero(self.thread[:self.operations] == thread)
                timed = mine[given[mine] >= 0]
                place = np.searchsorted(timed, mine, side="right") - 1
                agreed = np.minimum.accumulate(given[timed][::-1])[::-1]
                found[mine[place >= 0]] = agreed[place[place >= 0]]
        return found

    def _dependency(self, name: str) -> Column:
        pairs = getattr(self.observed.history, DEPENDENCIES[name])
        return np.zeros((0, 2), dtype=np.int64) if pairs is None else pairs

    def has(self, name: str, a: int, b: int) -> bool:
        """Is (a, b) in the relation called `name`?"""
        own = bool(self.thread[a] == self.thread[b] and self.thread[a] >= 0)
        follows = own and a < b and (self._row is None or bool(self._row[a] != self._row[b]))
        here = bool(self.location[a] == self.location[b] and self.location[a] >= 0)
        if name in DEPENDENCIES:
            if name not in self._pairs:
                self._pairs[name] = frozenset((int(x), int(y)) for x, y in self._dependency(name).tolist())
            return (a, b) in self._pairs[name] or (
                name == "ctrl" and own and any(x == a and self.has("po", y, b) for x, y in self._pairs[name]))
        if name == "tdep":
            return bool(own and a < b and self._accesses[a] and self._accesses[b] and self._ended[a] < self._began[b])
        if name in ("rf", "rfi", "rfe"):
            return self.reads_from(b) == a and (name == "rf" or own == (name == "rfi"))
        return {"id": a == b, "loc": here, "int": own, "ext": not own, "po": follows,
                "po-loc": here and follows}[name]


class StoreOrder:
    """A total order of each location's writes, after the initial one."""

    def __init__(self, events: Events, order: Sequence[int] | Column) -> None:
        """`order` holds every write once; those of one location in their order."""
        self._events = events
        storing = np.asarray(order, dtype=np.int64)
        initial = np.flatnonzero(events.initial)
        writes = np.concatenate([initial, storing])
        self._writes = writes[in_order(events.location[writes])]
        self.place = np.full(events.count, -1, dtype=np.int64)
        self.place[self._writes] = np.arange(len(self._writes))
        """Where each write stands; writes of one location in their order."""

    def has(self, a: int, b: int) -> bool:
        here = self._events.location[a] == self._events.location[b]
        return bool(here and 0 <= self.place[a] < self.place[b])

    def relation(self, name: str) -> Relation:
        """co, fr, and what of them lies within or across threads."""
        event, gives = self._writes, None
        if name.startswith("fr"):
            event, gives = self._interleaved()
        marks = event if name.startswith("fr") else None
        segment, thread = self._events.location[event], self._events.thread[event]
        if name.endswith("e"):
            marks = np.where(thread < 0, len(thread) + event, thread)
        elif name.endswith("i"):
            segment = segment * (int(thread.max(initial=0)) + 2) + thread + 1
            order = in_order(segment)
            event, segment = event[order], segment[order]
            marks, gives = None if marks is None else marks[order], None if gives is None else gives[order]
        return Chain(event, segment, marks, gives)

    def torn(self, load: Column, store: Column) -> Column:
        """Which pairs of a read and a write of one thread are in fre;coe: another thread stored between what the read
        read and the write."""
        events = self._events
        if not len(load):
            return np.zeros(0, dtype=bool)
        width = len(self.place) + 1
        source = events.source[load]
        low, high = np.where(source >= 0, self.place[source], width), self.place[store]
        own = np.sort(events.thread[self._writes] * width + self.place[self._writes])
        mine = events.thread[load] * width
        between = np.searchsorted(own, mine + high) - np.searchsorted(own, mine + low, side="right")
        here = (events.location[load] == events.location[store]) & (high > low)
        torn: Column = here & (high - low - 1 > between)
        return torn

    def _interleaved(self) -> tuple[Column, Column]:
        """The writes in their order, each followed by its reads, rmws last; and which entries are those of reads."""
        reads = np.flatnonzero(self._events.source >= 0)
        event = np.concatenate([self._writes, reads])
        gives = np.arange(len(event)) >= len(self._writes)
        last = self._events.members("W")[reads]
        key = np.concatenate([3 * self.place[self._writes], 3 * self.place[self._events.source[reads]] + 1 + last])
        order = in_order(key)
        return event[order], gives[order]


class SomeOrder:
    """The part of a store order that is known: pairs, the initial writes first, the demanded last ones last."""

    def __init__(self, events: Events, pairs: Iterable[Pair]) -> None:
        self._events = events
        self._pairs = frozenset(pairs)

    def has(self, a: int, b: int) -> bool:
        events = self._events
        if a == b or events.location[a] != events.location[b] or b >= events.operations:
            return False
        if not events.observed.writes(b) or (a < events.operations and not events.observed.writes(a)):
            return False
        return a >= events.operations or (a, b) in self._pairs or events.observed.comes_last(b)

    def relation(self, name: str) -> Relation:
        events = self._events
        pairs = self._known()
        if name.startswith("fr"):
            pairs = self._from_reads(pairs)
        if name[2:]:
            own = {"i": True, "e": False}[name[2:]]
            pairs = {(a, b) for a, b in pairs if events.has("int", a, b) == own}
        return Pairs(np.array([a for a, _ in pairs]), np.array([b for _, b in pairs]))

    def _known(self) -> set[Pair]:
        events = self._events
        storing = np.flatnonzero(events.observed.storing).tolist()
        last = {at: events.observed.last(at) for at in range(events.count - events.operations)}
        known = set(self._pairs) | {(events.operations + int(events.location[w]), w) for w in storing}
        for write in storing:
            end = last[int(events.location[write])]
            if end is not None and end >= 0 and end != write:
                known.add((write, end))
        return known

    def _from_reads(self, known: set[Pair]) -> set[Pair]:
        readers: dict[int, list[int]] = {}
        for read in np.flatnonzero(self._events.source >= 0).tolist():
            readers.setdefault(int(self._events.source[read]), []).append(read)
        return {(read, after) for before, after in known for read in readers.get(before, ()) if read != after}


Stores = StoreOrder | SomeOrder


def closed(observed: Observed, pairs: Iterable[Pair]) -> set[Pair]:
    """All that follows from pairs of writes by transitivity."""
    known: set[Pair] = set()
    after: dict[int, set[int]] = {}
    before: dict[int, set[int]] = {}
    todo = list(pairs)
    while todo:
        a, b = todo.pop()
        require(observed.is_pair(a, b), "the store order is between two writes of one location")
        if (a, b) in known:
            continue
        known.add((a, b))
        after.setdefault(a, set()).add(b)
        before.setdefault(b, set()).add(a)
        require((b, a) not in known, "these pairs contradict each other")
        todo += [(a, c) for c in after.get(b, ())] + [(c, b) for c in before.get(a, ())]
    return known
