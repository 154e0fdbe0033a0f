"""Is a history consistent with a model? By the definitions: everything that reads can have read and every store order
is tried, and every check looked at.

A relation is a list of whole numbers, one per event: bit b of number a says whether (a, b) is in it. A set is one such
number. Events are the operations, then an initial write per location.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import permutations, product

from experiments.axioms.apart import apart
from gradual.history import FENCE, INITIAL, NO_SOURCE, READ, RMW, THIN_AIR, WRITE, History
from gradual.models import Model
from gradual.models import syntax as s

Relation = list[int]
FENCES = {"Fence.tso": "rr rw ww", "Fence.i": "", **{
    f"Fence.{p}.{q}": " ".join(a + b for a in p for b in q) for p in ("r", "w", "rw") for q in ("r", "w", "rw")}}
BITS = {"rr": 1, "rw": 2, "wr": 4, "ww": 8}
INSTRUCTIONS = 16


def readings(history: History) -> Iterator[History]:
    """Each way in which the values can have come about: every read from every write of its value."""
    def origins(at: int, value: int) -> list[int]:
        found = [int(w) for w in history.writes if history.location[w] == at and history.written[w] == value]
        return found + [INITIAL] * int(history.initial[at] == value) or [THIN_AIR]

    reads = {int(r): origins(int(history.location[r]), int(history.read[r])) for r in history.reads}
    ends = {len(history) + at: origins(at, int(history.final_value[at]))
            for at in range(len(history.locations)) if history.final_line[at] >= 0}
    for chosen in product(*reads.values(), *ends.values()):
        yield history.read_as(zip([*reads, *ends], chosen, strict=True))


class Brute:
    """One history, whose store orders any number of models are held against."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._n = len(history)
        self._size = self._n + len(history.locations)
        self._sets = self._named_sets()
        self._static = self._static_relations()
        self._dynamic: dict[str, Relation] = {}
        self._known: dict[int, Relation | int] = {}
        """By the identity of an expression, whose models are kept."""

    def allows(self, model: Model) -> bool:
        """Is there a store order with which every check of the model holds?"""
        if model.splits_rmws and RMW in self._history.kind:
            return Brute(apart(self._history)).allows(model)
        if (self._history.source == THIN_AIR).any() or (self._history.final == THIN_AIR).any():
            return False
        static = [check for check in model.checks if not _mentions_order(check.expression)]
        if not all(self._holds(check) for check in static):
            return False
        rest = [check for check in model.checks if check not in static]
        for order in self._store_orders():
            self._order_stores(order)
            if all(self._holds(check) for check in rest):
                return True
        return False

    # --- store orders

    def _store_orders(self) -> Iterator[list[tuple[int, ...]]]:
        """Per location its writes, the initial one first, ending as the history demands."""
        history, choices = self._history, []
        for at in range(len(history.locations)):
            writes = [int(w) for w in history.writes if history.location[w] == at]
            last = int(history.final[at])
            choices.append([(self._n + at, *order) for order in permutations(writes)
                            if (last == NO_SOURCE or (order[-1] if order else INITIAL) == last) and self._told(order)])
        yield from map(list, product(*choices))

    def _told(self, order: tuple[int, ...]) -> bool:
        """Is this as the history tells, as far as it does?"""
        if self._history.order is None:
            return True
        places = [int(self._history.order[write]) for write in order if self._history.order[write] >= 0]
        return places == sorted(places)

    def _order_stores(self, orders: Iterable[tuple[int, ...]]) -> None:
        co = [0] * self._size
        for order in orders:
            after = 0
            for write in reversed(order):
                co[write] = after
                after |= 1 << write
        fr = [0] * self._size
        for write, readers in enumerate(self._static["rf"]):
            for read in _bits(readers):
                fr[read] |= co[write] & ~(1 << read)
        own, across = self._static["int"], self._static["ext"]
        self._dynamic = {"co": co, "fr": fr}
        for name in ("co", "fr"):
            self._dynamic[name + "i"] = [row & mine for row, mine in zip(self._dynamic[name], own, strict=True)]
            self._dynamic[name + "e"] = [row & other for row, other in zip(self._dynamic[name], across, strict=True)]

    # --- what the history shows

    def _named_sets(self) -> dict[str, int]:
        history, n = self._history, self._n
        kind = history.kind.tolist()
        marks = [0] * n if history.marks is None else history.marks.tolist()
        fences = [15] * n if history.fence is None else history.fence.tolist()

        def operations(chosen: Iterable[bool]) -> int:
            return sum(1 << e for e, one in enumerate(chosen) if one)

        initial = ((1 << self._size) - 1) & ~((1 << n) - 1)
        reads = operations(k in (READ, RMW) for k in kind)
        writes = operations(k in (WRITE, RMW) for k in kind) | initial
        acquire, release, rcpc, exclusive, half = (
            operations(bool(mark & bit) for mark in marks) for bit in (1, 2, 4, 8, 16))
        amo = operations(k == RMW for k in kind) | half
        found = {
            "_": (1 << self._size) - 1, "R": reads, "W": writes, "M": reads | writes, "IW": initial, "AMO": amo,
            "F": operations(k == FENCE for k in kind), "EX": exclusive, "X": amo | exclusive,
            "Acq": acquire & ~release, "Rel": release & ~acquire, "AcqRel": acquire & release,
            "A": reads & acquire & ~rcpc, "Q": reads & acquire & rcpc, "L": writes & release}
        for name, pairs in FENCES.items():
            bits = sum(BITS[pair] for pair in pairs.split()) or INSTRUCTIONS
            found[name] = operations(k == FENCE and fences[e] == bits for e, k in enumerate(kind))
        return found

    def _static_relations(self) -> dict[str, Relation]:
        history, n = self._history, self._n
        thread = [*history.thread.tolist(), *(-1 - at for at in range(len(history.locations)))]
        location = [*history.location.tolist(), *range(len(history.locations))]
        events = range(self._size)

        def pairs(related: Iterable[tuple[int, int]]) -> Relation:
            rows = [0] * self._size
            for a, b in related:
                rows[a] |= 1 << b
            return rows

        every = [(a, b) for a in events for b in events]
        own = pairs((a, b) for a, b in every if thread[a] == thread[b] >= 0)
        same = pairs((a, b) for a, b in every if location[a] == location[b] >= 0)
        po = pairs((a, b) for a, b in every if thread[a] == thread[b] and a < b)
        whole = (1 << self._size) - 1
        across = [whole & ~row for row in own]
        rf = pairs((int(source) if source >= 0 else n + location[r], r) for r, source in enumerate(history.source)
                   if source >= INITIAL)
        found = {
            "id": [1 << e for e in events], "int": own, "ext": across, "loc": same, "po": po,
            "po-loc": [row & at for row, at in zip(po, same, strict=True)], "rf": rf,
            "rfi": [row & mine for row, mine in zip(rf, own, strict=True)],
            "rfe": [row & other for row, other in zip(rf, across, strict=True)]}
        for name, given in (("addr", history.addr), ("data", history.data), ("ctrl", history.ctrl),
                            ("rmw", history.pair)):
            found[name] = pairs(() if given is None else ((int(a), int(b)) for a, b in given))
        found["ctrl"] = _union(found["ctrl"], _compose(found["ctrl"], po))
        found["tdep"] = pairs((a, b) for a, b in every if thread[a] == thread[b] and a < b and self._waited(a, b))
        found["rt"] = pairs((a, b) for a, b in every if max(a, b) < n and self._came_first(a, b))
        return found

    def _came_first(self, a: int, b: int) -> bool:
        history = self._history
        if history.begin is None or history.end is None or FENCE in (history.kind[a], history.kind[b]):
            return False
        return 0 <= int(history.end[a]) < int(history.begin[b])

    def _waited(self, a: int, b: int) -> bool:
        """Did the read a end before b began, or, where that is not known, the last access before b of which it is?"""
        history = self._history
        if history.begin is None or history.end is None or FENCE in (history.kind[a], history.kind[b]):
            return False
        given = [e for e in range(self._n) if history.thread[e] == history.thread[b] and history.kind[e] != FENCE
                 and history.begin[e] >= 0]
        last = max((e for e in given if e <= b), default=-1)
        begun = min((int(history.begin[e]) for e in given if e >= last), default=-1) if last >= 0 else -1
        return history.kind[a] != WRITE and 0 <= int(history.end[a]) < begun

    # --- expressions

    def _holds(self, check: s.Check) -> bool:
        found = self._value(check.expression)
        if check.kind == "empty":
            return not (any(found) if isinstance(found, list) else found)
        assert isinstance(found, list)
        if check.name == "global" and self._history.real_time:
            found = _union(found, self._static["rt"])
        closed = _closure(found) if check.kind == "acyclic" else found
        return not any(row >> a & 1 for a, row in enumerate(closed))

    def _relation(self, e: s.Expression) -> Relation:
        found = self._value(e)
        return found if isinstance(found, list) else [0] * self._size

    def _set(self, e: s.Expression) -> int:
        found = self._value(e)
        return found if isinstance(found, int) else 0

    def _value(self, e: s.Expression) -> Relation | int:
        if isinstance(e, s.Name) and e.name in self._dynamic:
            return self._dynamic[e.name]
        if _mentions_order(e):
            return self._compute(e)
        if id(e) not in self._known:
            self._known[id(e)] = self._compute(e)
        return self._known[id(e)]

    def _compute(self, e: s.Expression) -> Relation | int:
        match e:
            case s.Named(_, of):
                return self._value(of)
            case s.Name(name):
                return self._sets[name] if name in s.SETS else self._static[name]
            case s.Nothing():
                return 0
            case s.Union(a, b) | s.Intersection(a, b) | s.Difference(a, b):
                return self._boolean(e, self._value(a), self._value(b))
            case s.Sequence(a, b):
                return _compose(self._relation(a), self._relation(b))
            case s.Product(a, b):
                ends = self._set(b)
                return [ends if self._set(a) >> event & 1 else 0 for event in range(self._size)]
            case s.Complement(of):
                whole, found = (1 << self._size) - 1, self._value(of)
                return whole & ~found if isinstance(found, int) else [whole & ~row for row in found]
            case s.Identity(of):
                members = self._set(of)
                return [members & 1 << event for event in range(self._size)]
            case s.Inverse(of):
                found = self._relation(of)
                return [sum(1 << a for a in range(self._size) if found[a] >> b & 1) for b in range(self._size)]
            case s.Plus(of):
                return _closure(self._relation(of))
            case s.Star(of):
                return _union(_closure(self._relation(of)), self._static["id"])
            case s.Maybe(of):
                return _union(self._relation(of), self._static["id"])
            case s.Domain(of):
                return sum(1 << a for a, row in enumerate(self._relation(of)) if row)
            case s.Range(of):
                found = self._relation(of)
                return sum(1 << b for b in range(self._size) if any(row >> b & 1 for row in found))
        raise TypeError(e)

    def _boolean(self, e: s.Expression, left: Relation | int, right: Relation | int) -> Relation | int:
        def one(a: int, b: int) -> int:
            return a | b if isinstance(e, s.Union) else a & b if isinstance(e, s.Intersection) else a & ~b

        if isinstance(left, int) and isinstance(right, int):
            return one(left, right)
        rows = [found if isinstance(found, list) else [0] * self._size for found in (left, right)]
        return [one(a, b) for a, b in zip(*rows, strict=True)]


_mentions: dict[int, tuple[s.Expression, bool]] = {}


def _mentions_order(e: s.Expression) -> bool:
    """Does an expression depend on the store order? Remembered by its identity, and it with it."""
    if id(e) not in _mentions:
        found = e.name in s.CO if isinstance(e, s.Name) else any(
            _mentions_order(part) for part in vars(e).values() if isinstance(part, s.Expression))
        _mentions[id(e)] = e, found
    return _mentions[id(e)][1]


def _bits(row: int) -> Iterator[int]:
    while row:
        yield (row & -row).bit_length() - 1
        row &= row - 1


def _union(left: Relation, right: Relation) -> Relation:
    return [a | b for a, b in zip(left, right, strict=True)]


def _compose(left: Relation, right: Relation) -> Relation:
    found = []
    for row in left:
        reached = 0
        for middle in _bits(row):
            reached |= right[middle]
        found.append(reached)
    return found


def _closure(relation: Relation) -> Relation:
    closed = list(relation)
    for middle in range(len(closed)):
        for a in range(len(closed)):
            if closed[a] >> middle & 1:
                closed[a] |= closed[middle]
    return closed
