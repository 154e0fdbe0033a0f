"""Program order as edges: each function returns few edges whose closure is the relation."""

from __future__ import annotations

from collections.abc import Iterator

from gradual.history import FENCE, INITIAL, READ, RMW, WRITE, History
from gradual.models.model import Model

Edge = tuple[int, int]


def po(history: History) -> list[Edge]:
    """Each operation to the next of its thread."""
    return _successive(history.thread.tolist())


def po_loc(history: History) -> list[Edge]:
    """Each operation to the next of its thread on its location. Fences have none."""
    places = zip(history.thread.tolist(), history.location.tolist(), strict=True)
    return _successive([None if location < 0 else (thread, location) for thread, location in places])


def _successive(groups: list[int] | list[tuple[int, int] | None]) -> list[Edge]:
    last: dict[object, int] = {}
    edges = []
    for operation, group in enumerate(groups):
        if group is None:
            continue
        if group in last:
            edges.append((last[group], operation))
        last[group] = operation
    return edges


def ppo(history: History, model: Model) -> list[Edge]:
    """The program order `model` preserves, in at most a few edges per operation.

    Loads (reads, rmws, fences) of a thread form one chain, and each of its stores (writes, rmws,
    fences) follows the last load before it. Stores form one chain per thread under TSO, one per
    location and thread under PSO, where a fence collects them all.
    """
    if model.keeps_write_read:
        return po(history)
    edges: list[Edge] = []
    last_load: dict[int, int] = {}
    last_stores: dict[int, dict[int, int]] = {}
    columns = zip(history.thread.tolist(), history.kind.tolist(), history.location.tolist(), strict=True)
    for operation, (thread, kind, location) in enumerate(columns):
        before = {last_load[thread]} if thread in last_load else set()
        stores = last_stores.setdefault(thread, {})
        chain = 0 if model.keeps_write_write else location
        if kind in (WRITE, RMW) and chain in stores:
            before.add(stores[chain])
        if kind == FENCE:
            before.update(stores.values())
            stores.clear()
        if kind in (WRITE, RMW):
            stores[chain] = operation
        if kind in (READ, RMW, FENCE):
            last_load[thread] = operation
        edges.extend((earlier, operation) for earlier in sorted(before))
    return edges


def seen_successively(history: History) -> Iterator[Edge]:
    """What the per-location axiom says of the store order: the write a thread saw last, written or read
    from, precedes the next one it sees there. The second may be INITIAL: then the axiom is violated."""
    seen: dict[tuple[int, int], int] = {}
    columns = zip(history.thread.tolist(), history.location.tolist(), history.kind.tolist(), history.source.tolist(),
                  strict=True)
    for operation, (thread, location, kind, source) in enumerate(columns):
        for write in [source] * (kind in (READ, RMW)) + [operation] * (kind in (WRITE, RMW)):
            last = seen.get((thread, location), INITIAL)
            if last not in (INITIAL, write):
                yield last, write
            seen[thread, location] = write
