"""The expressions of a model as sets of pairs: slow, and obviously right. Readers of a text are compared with this."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from gradual.history import FENCE, READ, RMW, WRITE, History
from gradual.models import syntax
from gradual.models.syntax import Expression

Pair = tuple[int, int]
FENCES = {"Fence.tso": 11, "Fence.i": 16, **{
    f"Fence.{p}.{s}": sum(bit for bit, (a, b) in {1: "rr", 2: "rw", 4: "wr", 8: "ww"}.items() if a in p and b in s)
    for p in ("r", "w", "rw") for s in ("r", "w", "rw")}}


def source_of(history: History, read: int) -> int | None:
    """The event that a read takes its value from: the initial write of location l is n + l; None: nobody wrote it."""
    at, value = int(history.location[read]), history.read[read]
    writers = [w for w in range(len(history)) if history.kind[w] in (WRITE, RMW)
               and history.location[w] == at and history.written[w] == value]
    writers += [len(history) + at] * bool(history.initial[at] == value)
    assert len(writers) <= 1
    return writers[0] if writers else None


class Execution:
    """A history under a store order: for each location its writes, first to last."""

    def __init__(self, history: History, store_order: Mapping[int, tuple[int, ...]]) -> None:
        self.history = history
        n = self.n = len(history)
        self.events = range(n + len(history.locations))
        kind = [*history.kind.tolist(), *([None] * len(history.locations))]
        location = [*history.location.tolist(), *range(len(history.locations))]
        thread = [*history.thread.tolist(), *([None] * len(history.locations))]
        fence = [0] * n if history.fence is None else history.fence.tolist()
        marks = [0] * n if history.marks is None else history.marks.tolist()
        bits = {e: (15 if history.fence is None else fence[e]) for e in range(n) if kind[e] == FENCE}
        reads = {e for e in self.events if kind[e] in (READ, RMW)}
        writes = {e for e in self.events if e >= n or kind[e] in (WRITE, RMW)}
        marked = {bit: {e for e in reads | writes if e < n and marks[e] & bit} for bit in (1, 2, 4, 8, 16)}
        atomic = (reads & writes) | marked[16]
        self.sets: dict[str, set[int]] = {
            "_": set(self.events), "R": reads, "W": writes, "M": reads | writes, "F": set(bits),
            "IW": set(range(n, len(self.events))), "AMO": atomic, "EX": marked[8],
            "X": atomic | marked[8], "Acq": marked[1] - marked[2], "Rel": marked[2] - marked[1],
            "AcqRel": marked[1] & marked[2], "A": (reads & marked[1]) - marked[4], "Q": reads & marked[1] & marked[4],
            "L": writes & marked[2], **{name: {e for e in bits if bits[e] == kind} for name, kind in FENCES.items()}}
        pairs = set(product(self.events, self.events))
        same = {(a, b) for a, b in pairs if location[a] == location[b] >= 0}
        own = {(a, b) for a, b in pairs if thread[a] is not None and thread[a] == thread[b]}
        po = {(a, b) for a, b in own if a < b}
        rf = {(s, r) for r in reads if (s := source_of(history, r)) is not None}
        full = [(n + at, *writes) for at, writes in store_order.items()]
        co = {(a, b) for order in full for i, a in enumerate(order) for b in order[i + 1:]}
        fr = {(r, w) for s, r in rf for a, w in co if a == s and w != r}
        self.relations: dict[str, set[Pair]] = {
            "id": {(e, e) for e in self.events}, "loc": same, "int": own, "ext": pairs - own, "po": po,
            "po-loc": po & same, "rf": rf, "co": co, "fr": fr,
            **{name + "i": of & own for name, of in (("rf", rf), ("co", co), ("fr", fr))},
            **{name + "e": of - own for name, of in (("rf", rf), ("co", co), ("fr", fr))},
            **{name: set() if of is None else {(int(a), int(b)) for a, b in of} for name, of in (
                ("addr", history.addr), ("data", history.data), ("ctrl", history.ctrl), ("rmw", history.pair))}}
        self.relations["ctrl"] |= compose(self.relations["ctrl"], po)
        self.relations["tdep"] = {
            (a, b) for a, b in po if a in reads and b in reads | writes
            and history.end is not None and history.end[a] >= 0 and history.end[a] < self._began(b, reads | writes)}

    def _began(self, b: int, accesses: set[int]) -> int:
        """The last begin that is given for b or before it in its thread; those of fences count for nothing. Or the
        least that is given from there on, where times go back."""
        history = self.history
        given = [] if history.begin is None else [
            (e, int(history.begin[e])) for e in range(len(history))
            if e in accesses and history.thread[e] == history.thread[b] and history.begin[e] >= 0]
        last = max((e for e, _ in given if e <= b), default=None)
        return -1 if last is None else min(begin for e, begin in given if e >= last)

    def pairs(self, e: Expression, variables: Mapping[str, set[Pair]] | None = None) -> set[Pair]:
        """A relation."""
        known = variables or {}
        everything = set(product(self.events, self.events))
        match e:
            case syntax.Named(_, of):
                return self.pairs(of, known)
            case syntax.Name(name):
                return self.relations[name]
            case syntax.Variable(name):
                return known[name]
            case syntax.Nothing():
                return set()
            case syntax.Union(a, b):
                return self.pairs(a, known) | self.pairs(b, known)
            case syntax.Intersection(a, b):
                return self.pairs(a, known) & self.pairs(b, known)
            case syntax.Difference(a, b):
                return self.pairs(a, known) - self.pairs(b, known)
            case syntax.Sequence(a, b):
                return compose(self.pairs(a, known), self.pairs(b, known))
            case syntax.Product(a, b):
                return set(product(self.members(a, known), self.members(b, known)))
            case syntax.Complement(of):
                return everything - self.pairs(of, known)
            case syntax.Identity(of):
                return {(e, e) for e in self.members(of, known)}
            case syntax.Inverse(of):
                return {(b, a) for a, b in self.pairs(of, known)}
            case syntax.Plus(of):
                return closure(self.pairs(of, known))
            case syntax.Star(of):
                return closure(self.pairs(of, known)) | self.relations["id"]
            case syntax.Maybe(of):
                return self.pairs(of, known) | self.relations["id"]
            case syntax.Fixpoint(name, definitions):
                found = {defined: set[Pair]() for defined, _ in definitions}
                while True:
                    further = {defined: self.pairs(of, {**known, **found}) for defined, of in definitions}
                    if further == found:
                        return found[name]
                    found = further
        raise TypeError(e)

    def members(self, e: Expression, known: Mapping[str, set[Pair]]) -> set[int]:
        """A set."""
        match e:
            case syntax.Named(_, of):
                return self.members(of, known)
            case syntax.Name(name):
                return self.sets[name]
            case syntax.Nothing():
                return set()
            case syntax.Union(a, b):
                return self.members(a, known) | self.members(b, known)
            case syntax.Intersection(a, b):
                return self.members(a, known) & self.members(b, known)
            case syntax.Difference(a, b):
                return self.members(a, known) - self.members(b, known)
            case syntax.Complement(of):
                return set(self.events) - self.members(of, known)
            case syntax.Domain(of):
                return {a for a, _ in self.pairs(of, known)}
            case syntax.Range(of):
                return {b for _, b in self.pairs(of, known)}
        raise TypeError(e)

    def satisfies(self, check: syntax.Check) -> bool:
        pairs = self.pairs(check.expression)
        if check.kind == "empty":
            return not pairs
        return all(a != b for a, b in (closure(pairs) if check.kind == "acyclic" else pairs))


def compose(first: set[Pair], then: set[Pair]) -> set[Pair]:
    return {(a, d) for a, b in first for c, d in then if b == c}


def closure(pairs: set[Pair]) -> set[Pair]:
    closed = set(pairs)
    while True:
        further = closed | compose(closed, pairs)
        if further == closed:
            return closed
        closed = further
