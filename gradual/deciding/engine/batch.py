"""What the kernels that make static edges take and give, as tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np


class Batch(NamedTuple):
    """Histories side by side, and the plan of a model; FIELDS says what the tables hold. Numbers of operations and
    locations are each history's own."""

    operation: Any
    location: Any
    history: Any
    gatherer: Any
    gathered: Any
    target: Any
    reading: Any
    given: Any
    """Edges made elsewhere."""
    virtual: Any
    """Their virtual nodes."""
    part: Any
    """Where accesses mix sizes; else one row."""
    open: Any
    candidate: Any
    """Where it is open what was read, of a batch of one; else no rows."""
    now: Any


FIELDS: dict[str, str] = {
    # per operation; source: the write that a read reads, NONE for the initial value, less for what reads nothing and
    # for a read of which that is open;
    # tags: bit k says whether the operation is in the plan's k-th set
    # pair: of a load-reserved its store-conditional, and the other way round, or NONE
    "operation": "kind thread location source rank pair tags:i8",
    # per location: the write that must be last, or negative
    "location": "final",
    # per history, and one more: its first operation, its first location, its first edge and virtual node made
    # elsewhere; does nothing in it say which operations were early?
    "history": "start place given virtual timeless",
    # along po or po-loc, who must come before whom: the first of those it gathers, and of those that come after them
    "gatherer": "along first target",
    # who those are: operations in a set, in a state
    "gathered": "state set",
    "target": "state set",
    # reads-from that orders: within a thread, across threads; the sets its ends must be in
    "reading": "within across from_set to_set",
    "given": "start end by",
    "virtual": "state operation",
    # per event: the first event of its access, which is its node; those of one row are not in program order
    "part_of": "whole row",
    # per open read, or location whose final value is open, and one more: as in the tables of the engine
    "open": "node own first",
    # per candidate: the write, or NONE; the reader, a location behind all operations; does an edge lead there?
    "candidate": "write reader edge",
    # is coherence asked for; conflicts after which a history is left undecided; do accesses mix sizes
    "asked": "coherent patience:i8 mixed",
    # by node: the last node it has an edge to, the operation whose node it is or that it belongs to, of a read the one
    # before it since its thread last wrote there; by place: the operations thread by thread
    "mark": "led at by_thread read_before",
    # where each thread ends in that; how far its clock came, what the clock says, which thread waits for it; how many
    # chains cover it
    "thread": "count next time waiting chains",
    # what a gatherer holds: cells, how many, of which thread's round
    "held_by": "first length round",
    "cell": "node next",
    # the write last seen at a location, the last read since then, in which thread's round
    "seen": "write read round",
    # per state and operation: the virtual node, or NONE
    "virtual_at": "node",
    "building": "edges nodes cells free round full bad history ready",
    # per history: how it ended, the entries of the log that are its own, how many conflicts there were
    "result": "status bad entry past conflicts:i8",
    # of consistent histories: the operations as they were performed, each history's in its place
    "run": "operation",
}


class Building(NamedTuple):
    """The static edges that are being made, and room to make them in."""

    edge: Any
    mark: Any
    thread: Any
    held_by: Any
    cell: Any
    seen: Any
    virtual_at: Any
    now: Any


class Results(NamedTuple):
    """What came of the histories of a batch."""

    result: Any
    run: Any


def some(batch: Batch, places: Sequence[int]) -> Batch:
    """Of many histories, compiled, some."""
    first, past = batch.history[[*places, -1]], batch.history[np.add(places, 1)]
    found = {"history": first}
    for table, begin in (("operation", "start"), ("location", "place"), ("given", "given"), ("virtual", "virtual")):
        sizes = past[begin] - first[begin][:-1]
        bounds = np.cumsum([0, *sizes])
        found[table] = getattr(batch, table)[np.arange(bounds[-1]) + np.repeat(first[begin][:-1] - bounds[:-1], sizes)]
        first[begin] = bounds
    return batch._replace(**found)
