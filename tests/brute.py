"""The definitions taken literally: slow, and obviously right. Every engine is compared with this.

A relation is a set of pairs of nodes. A node is an operation's index, or an initial write: that of
location `l` is the node `-1 - l`. Nothing here is clever; nothing here imports an engine.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import permutations, product

from gradual.history import FENCE, NO_LOCATION, READ, RMW, WRITE, History
from gradual.models.model import TSO, Model, model_named

Pair = tuple[int, int]
Relation = set[Pair]
StoreOrder = dict[int, tuple[int, ...]]
"""Location → its writes (operation indices), first to last. The initial write is left out: it is first."""

CRITERIA = ("CC", "CCv", "CM", "CCM", "wCCM")

READINGS = {READ: "R", WRITE: "W", RMW: "RW", FENCE: "F"}
"""What an operation counts as when ppo is formed: an rmw as a read and as a write."""


# Relations


def closure(relation: Iterable[Pair]) -> Relation:
    """The transitive closure: everything reachable from each node in one step or more."""
    after = _successors(relation)
    closed: Relation = set()
    for start in list(after):
        reached: set[int] = set()
        todo = [start]
        while todo:
            for node in after.get(todo.pop(), ()):
                if node not in reached:
                    reached.add(node)
                    todo.append(node)
        closed |= {(start, node) for node in reached}
    return closed


def acyclic(relation: Iterable[Pair]) -> bool:
    """Whether nodes without predecessor can be taken away until none is left."""
    after = _successors(relation)
    waiting: dict[int, int] = defaultdict(int)
    for targets in after.values():
        for node in targets:
            waiting[node] += 1
    free = [node for node in after if not waiting.get(node)]
    while free:
        for node in after.get(free.pop(), ()):
            waiting[node] -= 1
            if not waiting[node]:
                free.append(node)
    return not any(waiting.values())


def _successors(relation: Iterable[Pair]) -> dict[int, set[int]]:
    after: dict[int, set[int]] = {}
    for first, second in relation:
        after.setdefault(first, set()).add(second)
    return after


# Histories as relations


class Events:
    """A history as nodes and relations, with the initial writes spelled out."""

    def __init__(self, history: History) -> None:
        self.kind: list[int] = history.kind.tolist()
        self.thread: list[int] = history.thread.tolist()
        self.at: list[int] = history.location.tolist()
        self.operations = range(len(history))
        self.initials = [-1 - location for location in range(len(history.locations))]
        origins = {r: self._origin(history, self.at[r], history.read[r]) for r in self.operations if self.reads(r)}
        ends = {location: self._origin(history, location, history.final_value[location])
                for location, line in enumerate(history.final_line.tolist()) if line >= 0}
        self.thin_air, self.final_thin_air = None in origins.values(), None in ends.values()
        self.source = {r: w for r, w in origins.items() if w is not None}
        self.last = {location: w for location, w in ends.items() if w is not None}
        """The write each location must end with, where the history demands one."""
        self.before_all = {(i, a) for i in self.initials for a in self.operations}
        self.own_po = {(a, b) for a in self.operations for b in self.operations
                       if a < b and self.thread[a] == self.thread[b]}
        self.po = self.before_all | self.own_po
        self.wr = {(w, r) for r, w in self.source.items()}
        self.wr_e = {(w, r) for w, r in self.wr if w < 0 or self.thread[w] != self.thread[r]}
        self.final = {(w, last) for location, last in self.last.items()
                      for w in self.writes_of(location) if w != last}

    def _origin(self, history: History, location: int, value: int) -> int | None:
        """The write of the location that wrote the value; None if nobody did."""
        found = [w for w in self.writes_of(location)
                 if value == (history.initial[location] if w < 0 else history.written[w])]
        assert len(found) <= 1
        return found[0] if found else None

    def location(self, node: int) -> int:
        return -1 - node if node < 0 else self.at[node]

    def reads(self, node: int) -> bool:
        return node >= 0 and "R" in READINGS[self.kind[node]]

    def writes(self, node: int) -> bool:
        return node < 0 or "W" in READINGS[self.kind[node]]

    def one_location(self, a: int, b: int) -> bool:
        return self.location(a) == self.location(b) != NO_LOCATION

    def writes_of(self, location: int) -> list[int]:
        """The writes of one location, the initial one first."""
        return [-1 - location, *(a for a in self.operations if self.writes(a) and self.at[a] == location)]

    def po_loc(self) -> Relation:
        """po on one location; the initial write stays before everything."""
        return self.before_all | {(a, b) for a, b in self.own_po if self.one_location(a, b)}

    def ppo(self, model: Model) -> Relation:
        """The program order a model preserves; the initial writes stay before everything."""
        return self.before_all | {(a, b) for a, b in self.own_po if self._keeps(model, a, b)}

    def _keeps(self, model: Model, a: int, b: int) -> bool:
        """A pair is dropped only if every reading of it is."""
        return any(keeps(model, first, second, self.one_location(a, b))
                   for first in READINGS[self.kind[a]] for second in READINGS[self.kind[b]])

    def write_write(self, relation: Relation) -> Relation:
        """R_WW: the (write, write) pairs on one location."""
        return {(a, b) for a, b in relation if self.writes(a) and self.writes(b) and self.one_location(a, b)}

    def write_read(self, relation: Relation) -> Relation:
        """R_WR: the (write, read) pairs on one location."""
        return {(a, b) for a, b in relation if self.writes(a) and self.reads(b) and self.one_location(a, b)}

    def rw(self, ww: Relation) -> Relation:
        """wr⁻¹ ; ww minus identity: an rmw comes after its own source, and not before itself."""
        return {(r, later) for w, r in self.wr for first, later in ww if first == w and later != r}

    def cf(self, relation: Relation) -> Relation:
        """R_WR ; wr⁻¹ minus identity: a write before a read of w came before w."""
        return {(other, self.source[r]) for other, r in self.write_read(relation)
                if r in self.source and self.source[r] != other}


def keeps(model: Model, first: str, second: str, one_location: bool) -> bool:
    """Whether a model preserves a po pair read as `first`, `second` (R, W or F)."""
    if (first, second) == ("W", "R"):
        return model.keeps_write_read
    if (first, second) == ("W", "W"):
        return model.keeps_write_write or one_location
    return True


# SC, TSO, PSO: some store order satisfies the axioms


def brute_model(history: History, model_name: str) -> bool:
    """Whether the history satisfies SC, TSO or PSO: try every store order."""
    return any(True for _ in brute_store_orders(history, model_name))


def brute_store_orders(history: History, model_name: str) -> Iterator[StoreOrder]:
    """Every store order with which the history satisfies the model."""
    events, model = Events(history), model_named(model_name)
    if events.thin_air or events.final_thin_air:
        return
    axioms = _axioms(events, model)
    for order in _store_orders(events):
        ww = store_order_pairs(order)
        ww_rw = ww | events.rw(ww)
        if all(acyclic(axiom | ww_rw) for axiom in axioms):
            yield order


def _axioms(events: Events, model: Model) -> list[Relation]:
    """What must be acyclic together with ww ∪ rw: the global axiom, then the per-location axiom."""
    if model.name == "SC":
        return [events.po | events.wr]
    return [events.ppo(model) | events.wr_e, events.po_loc() | events.wr]


def _store_orders(events: Events) -> Iterator[StoreOrder]:
    """Every total order of each location's writes that ends with the write the history demands."""
    locations = range(len(events.initials))
    choices = [[order for order in permutations(events.writes_of(location)[1:])
                if _ends_right(events, location, order)] for location in locations]
    for orders in product(*choices):
        yield dict(zip(locations, orders, strict=True))


def _ends_right(events: Events, location: int, order: tuple[int, ...]) -> bool:
    last = order[-1] if order else -1 - location
    return events.last.get(location, last) == last


def store_order_pairs(order: StoreOrder) -> Relation:
    """ww as a set of pairs of nodes, the initial writes first."""
    full = [(-1 - location, *writes) for location, writes in order.items()]
    return {(a, b) for writes in full for i, a in enumerate(writes) for b in writes[i + 1:]}


# The causal ladder


def brute_criterion(history: History, name: str) -> bool:
    """Whether the history satisfies CC, CCv, CM, CCM or wCCM.

    A demanded final value says which write is last: it counts where there is a store order to
    speak of (CCv, CCM, wCCM), and is ignored by CC and CM.
    """
    events = Events(history)
    if events.thin_air or (events.final_thin_air and name in ("CCv", "CCM", "wCCM")):
        return False
    return _CHECKS[name](events)


def _cc(events: Events) -> bool:
    co = closure(events.po | events.wr)
    return acyclic(co) and not any(
        (w, other) in co and (other, r) in co
        for w, r in events.wr for other in events.writes_of(events.location(w)))


def _ccv(events: Events) -> bool:
    co = closure(events.po | events.wr)
    return _cc(events) and acyclic(events.po | events.wr | events.cf(co) | events.final)


def _cm(events: Events) -> bool:
    return _cc(events) and all(acyclic(hb_o(events, o, events.po, events.wr)) for o in events.operations)


def _ccm(events: Events) -> bool:
    pww = _pww(events)
    return acyclic(events.po | events.wr | pww | events.rw(pww))


def _wccm(events: Events) -> bool:
    wpww = _wpww(events)
    stores = wpww | events.rw(wpww)
    return (acyclic(events.ppo(TSO) | events.wr_e | stores)
            and acyclic(events.po_loc() | events.wr | stores))


_CHECKS = {"CC": _cc, "CCv": _ccv, "CM": _cm, "CCM": _ccm, "wCCM": _wccm}


def hb_o(events: Events, o: int, pi: Relation, across: Relation) -> Relation:
    """What happened before, in the view of operation `o`, with co = (pi ∪ across)⁺."""
    co = closure(pi | across)
    past = {a for a, b in co if b == o} | {o}
    hb = {(a, b) for a, b in co if a in past and b in past}
    while True:
        seen = {(other, r) for other, r in hb if r == o or (r, o) in pi}
        derived = events.cf(seen)
        if derived <= hb:
            return hb
        hb = closure(hb | derived)


def hb(events: Events, pi: Relation, across: Relation) -> Relation:
    """The union of all views, closed."""
    return closure(set().union(*(hb_o(events, o, pi, across) for o in events.operations)))


def _pww(events: Events) -> Relation:
    before = hb(events, events.po, events.wr)
    return closure(events.write_write(before) | events.cf(before) | events.final)


def _wpww(events: Events) -> Relation:
    by_ppo = hb(events, events.ppo(TSO), events.wr_e)
    by_po_loc = hb(events, events.po_loc(), events.wr_e)
    whb = closure(by_ppo | by_po_loc)
    return closure(events.write_write(whb) | events.cf(by_ppo) | events.cf(by_po_loc) | events.final)


def brute_pww(history: History) -> Relation:
    """CCM's partial store order between operations; pairs with an initial write are left out."""
    return _between_operations(_pww(Events(history)))


def brute_wpww(history: History) -> Relation:
    """wCCM's partial store order between operations; pairs with an initial write are left out."""
    return _between_operations(_wpww(Events(history)))


def _between_operations(relation: Relation) -> Relation:
    return {(a, b) for a, b in relation if a >= 0 and b >= 0}
