"""Views per thread (`views e`), without views: each store w becomes G(w), entering the store order, and A(t, w),
reaching thread t. With the loads and fences these are the nodes of a graph that must be acyclic:

    G(w) → A(t,w)                                  every t
    G(w) → G(v), A(t,w) → A(t,v)                   w co v; w e v
    r|f → r|f,  r|f → G(w),  every A(t,w) → f      along e, from load or fence; from a store to a fence
    A(t,w) → r                                     r of thread t: w e r; or r reads w and w is not before r in t
    r → A(t,w)                                     r of thread t, r fr w
    every A(t,w) → f,  or  f → G(w)                fence f, store w of another thread: one of the two

and no load returns what an own earlier store overwrote. The last line needs no search: once there is a path between f
and w, it says which; where there is none, either will do. Only threads that load have arrivals.
"""

from __future__ import annotations

from copy import copy

from gradual.contrast.subject import Order, Source, Subject
from gradual.machines.code import FULL_FENCE, LOAD, STORE
from gradual.models.masks import masked
from gradual.models.syntax import Check

Reach = list[int]
"""Per node, the nodes that it reaches, itself included."""


class Views:
    def __init__(self, check: Check) -> None:
        self._masked = masked((Check("empty", check.expression, check.name),))

    def of(self, subject: Subject) -> ProgramViews:
        static = self._masked.static(subject.events)
        return ProgramViews(subject, self._masked.checks[0].relation(static, subject.events, 0, 0, 0))


class ProgramViews:
    """The graph of a program, before anything is read."""

    def __init__(self, subject: Subject, kept: int) -> None:
        self.subject = subject
        events = range(len(subject.kind))
        self.stores = [event for event in events if subject.kind[event] == STORE]
        readers = sorted({subject.thread[event] for event in events if subject.kind[event] == LOAD})
        self.reader = {thread: at for at, thread in enumerate(readers)}
        size = len(subject.kind)  # a load or fence is its own node, a store's is G
        self.first = {store: size + len(readers) * at for at, store in enumerate(self.stores)}
        """The first of a store's arrivals; the others follow, reader by reader."""
        self.reach: Reach = [1 << node for node in range(size + len(readers) * len(self.stores))]
        self.apart = [(event, store) for event in events if subject.kind[event] == FULL_FENCE for store in self.stores
                      if subject.thread[event] != subject.thread[store]]
        """Fences and stores of other threads."""
        self.possible = True
        for store in self.stores:
            for arrival in self.arrivals(store):
                self._join(store, arrival)
        width = subject.events.width
        for start in events:
            ends = kept >> start * width & (1 << size) - 1
            for end in events:
                if ends >> end & 1:
                    self._keep(start, end)

    def arrivals(self, store: int) -> range:
        return range(self.first[store], self.first[store] + len(self.reader))

    def _join(self, start: int, end: int) -> None:
        self.possible = self.possible and join(self.reach, start, end)

    def _keep(self, start: int, end: int) -> None:
        """`start` is before `end` in every view."""
        kind = self.subject.kind
        if kind[start] != STORE or kind[end] == STORE:
            self._join(start, end)
        if kind[start] == STORE and kind[end] == STORE:
            for before, after in zip(self.arrivals(start), self.arrivals(end), strict=True):
                self._join(before, after)
        elif kind[start] == STORE and kind[end] == LOAD:
            self._join(self.first[start] + self.reader[self.subject.thread[end]], end)
        elif kind[start] == STORE:
            for before in self.arrivals(start):
                self._join(before, end)

    def under(self, orders: tuple[Order, ...]) -> OrderedViews:
        return OrderedViews(self, orders)


class OrderedViews:
    """The graph with a store order in it, and some of what is read."""

    def __init__(self, views: ProgramViews, orders: tuple[Order, ...]) -> None:
        self._views = views
        self._orders = orders
        self._reach = views.reach[:]
        self.possible = views.possible
        for order in orders:
            for before, after in zip(order.stores, order.stores[1:], strict=False):
                self._join(before, after)
                for one, other in zip(views.arrivals(before), views.arrivals(after), strict=True):
                    self._join(one, other)

    def _join(self, start: int, end: int) -> None:
        self.possible = self.possible and join(self._reach, start, end)

    def reading(self, load: int, source: Source) -> OrderedViews | None:
        """The graph in which a load returns this as well; None where that closes a cycle."""
        views = self._views
        thread, stores = views.subject.thread, self._orders[views.subject.address[load]].stores
        mine, at = thread[load], views.reader[thread[load]]
        later = stores[source.after:]
        if any(store < load and thread[store] == mine for store in later):
            return None
        found = copy(self)
        found._reach = self._reach[:]
        if source.after:
            store = stores[source.after - 1]
            if not (store < load and thread[store] == mine):
                found._join(views.first[store] + at, load)
        if later:
            found._join(load, views.first[later[0]] + at)
        return found if found.possible else None

    def fences(self) -> bool:
        """Is there a place for all fences? What paths say between them and stores is followed until nothing changes."""
        views, reach, todo = self._views, self._reach, self._views.apart
        while todo:
            open_ones = []
            for fence, store in todo:
                if reach[store] >> fence & 1:
                    if not all(join(reach, arrival, fence) for arrival in views.arrivals(store)):
                        return False
                elif reach[fence] >> views.first[store] & (1 << len(views.reader)) - 1:
                    if not join(reach, fence, store):
                        return False
                else:
                    open_ones.append((fence, store))
            if len(open_ones) == len(todo):
                return True
            todo = open_ones
        return True


def join(reach: Reach, start: int, end: int) -> bool:
    """Add an edge. False where it closes a cycle."""
    further = reach[end]
    if further >> start & 1:
        return False
    if not reach[start] >> end & 1:
        reach[:] = [found | further if found >> start & 1 else found for found in reach]
    return True
