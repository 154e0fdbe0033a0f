"""A total store order becomes a run of the machine."""

from __future__ import annotations

import heapq
import itertools
from collections import defaultdict
from collections.abc import Iterable, Sequence

from gradual import order
from gradual.closure import Closure
from gradual.history import INITIAL, History
from gradual.models import Model
from gradual.verdict import Witness


def linearise(history: History, model: Model, store_order: Iterable[Sequence[int]]) -> Witness:
    """A topological order of ppo ∪ wr_e ∪ ww ∪ rw, as close to the order of the trace as it goes.

    `store_order` holds the writes of each location, in order. Linear in time but for the heap.
    """
    following: dict[int, list[int]] = defaultdict(list)
    waiting = [0] * len(history)

    def put(a: int, b: int) -> None:
        following[a].append(b)
        waiting[b] += 1

    for a, b in order.ppo(history, model):
        put(a, b)
    after: dict[int, int] = {}
    for writes in store_order:
        first = int(writes[0]) if len(writes) else INITIAL
        for a, b in itertools.pairwise(writes):
            put(a, b)
            after[a] = b
        if first != INITIAL:
            after[-2 - int(history.location[first])] = first
    thread, location = history.thread.tolist(), history.location.tolist()
    for r, w in zip(history.reads.tolist(), history.source[history.reads].tolist(), strict=True):
        if w >= 0 and (model.keeps_write_read or thread[w] != thread[r]):
            put(w, r)
        overwriter = after.get(w if w != INITIAL else -2 - location[r], r)
        if overwriter != r:
            put(r, overwriter)
    ready = [o for o in range(len(history)) if not waiting[o]]
    run = []
    while ready:
        operation = heapq.heappop(ready)
        run.append(operation)
        for b in following[operation]:
            waiting[b] -= 1
            if not waiting[b]:
                heapq.heappush(ready, b)
    return Witness(run)


def total_order(closure: Closure) -> Witness:
    """The witness of a closure that leaves no pair open."""
    history = closure.history
    followers: dict[int, int] = dict.fromkeys(history.writes.tolist(), 0)
    for v, _ in closure.pairs():
        followers[v] += 1
    store_order: dict[int, list[int]] = defaultdict(list)
    for w in sorted(followers, key=lambda w: -followers[w]):
        store_order[int(history.location[w])].append(w)
    return linearise(history, closure.model, store_order.values())
