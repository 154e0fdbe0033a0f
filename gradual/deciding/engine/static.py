"""The static edges of a history: what a model orders whatever the store order is, in a few edges per operation.

A plan (`plan.py`) is the model's part: transitions of an automaton whose relations are po and po-loc, kinds of
reads-from, and whether coherence is asked for. Program order is transitive, so nobody needs all its pairs. A
*gatherer* collects, along a thread (or along a thread at one location), the nodes that are before whatever comes; who
must come after them gets an edge from each. A node that itself comes after others stands for them from then on, and
where many are left they get a virtual node in common. So the edges stay linear, and a plain order, a store buffer or
one per location come out as a person would draw them.

Coherence folds into edges between writes: the write a thread saw last at a location, written or read from, is stored
before the next one it sees there.

Loaded twice, as kernels.py is, after it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from gradual.deciding.engine.kernels import (
    DONE,
    FENCE,
    IDLE,
    NONE,
    PO,
    READ,
    RMW,
    RUNNING,
    VIOLATION,
    VIRTUAL,
    WR,
    WRITE,
    WW,
    advance,
    enqueue,
)
from gradual.deciding.engine.tables import Tables
from gradual.deciding.kernel import kernel

BASE = 0
"""The state of an automaton that is the operation itself: where pairs of the relation begin and end."""
ALONG_PO, ALONG_PO_LOC = range(2)
TOGETHER = 3
"""Nodes from which edges are drawn one by one; more get a virtual node in common."""
BUILT, FULL, INCOHERENT = range(3)
INCOHERENT_TOO, COHERENT, OWN_KEPT = range(3)
"""Does the model ask for coherence? Where its program order keeps a thread's writes to one location in order anyway,
that needs no edges."""


class Batch(NamedTuple):
    """Histories side by side, and the plan of a model. Numbers of operations and locations are each history's own."""

    kind: Any
    thread: Any
    location: Any
    source: Any
    """The write that a read reads; INITIAL (= NONE) or, of others, less."""
    tags: Any
    """int64: bit k says whether the operation is in the plan's k-th set."""
    rank: Any
    final: Any
    """Per location: the write that must be last, or negative."""
    start: Any
    """Per history, and one more: its first operation."""
    place: Any
    """Per history, and one more: its first location."""
    gatherer: Any
    target: Any
    reading: Tables
    given: Any
    """Edges made elsewhere, between nodes that may be virtual; only of a batch of one."""
    virtual: Any
    """Their virtual nodes: state, operation."""
    coherent: Any
    patience: Any
    """Conflicts after which a history is left undecided."""


FIELDS: dict[str, str] = {
    # who is before whatever comes: nodes of a state that are in a set, along po or po-loc; its first target
    "gatherer": "along state set target",
    # who comes after them: operations in a set, in a state
    "target": "state set",
    # reads-from that orders: within a thread, across threads; the sets its ends must be in
    "reading": "within across from_set to_set",
    "edge": "start end by",
    # what a gatherer holds: cells, how many, of which thread's round
    "held_by": "first length round",
    "cell": "node next",
    # the write last seen at a location, in which thread's round
    "seen": "write round",
    "building": "edges nodes cells free round full bad history ready",
    "given": "start end by",
    # per history: how it ended, the entries of the log that are its own, how many conflicts there were
    "result": "status bad entry past conflicts:i8",
    "virtual": "state operation",
}


class Building(NamedTuple):
    """What is being built, and room to build it in."""

    edge: Any
    by_thread: Any
    count: Any
    held_by: Any
    cell: Any
    seen: Any
    led: Any
    """Per node: the last node it has an edge to."""
    virtual: Any
    """Per state and operation: the virtual node, or NONE."""
    at: Any
    """Per virtual node: the operation it belongs to."""
    now: Any


class Results(NamedTuple):
    """What came of the histories of a batch."""

    result: Any
    run: Any
    """Of a consistent one: its operations as they were performed, each history's in its place."""


@kernel
def build(b: Batch, s: Building, h: int) -> int:
    """The static edges of history h. FULL: with more room, again. INCOHERENT: the read in `bad` cannot be."""
    now = s.now[0]
    low, n = b.start[h], b.start[h + 1] - b.start[h]
    if n > len(s.led):
        return FULL
    now.edges = 0
    now.nodes = n
    now.cells = 0
    now.free = NONE
    now.full = 0
    now.bad = NONE
    for e in range(n):
        s.led[e] = NONE
    for i in range(len(s.virtual)):
        s.virtual[i] = NONE
    for i in range(len(b.virtual)):
        s.virtual[(b.virtual[i].state - 1) * n + b.virtual[i].operation] = new_node(s, n, b.virtual[i].operation)
    sort_by_thread(b, s, low, n)
    thread = NONE
    for i in range(n):
        e = s.by_thread[i]
        if b.thread[low + e] != thread:
            thread = b.thread[low + e]
            now.round += 1
        for c in range(len(b.gatherer) - 1):
            draw(b, s, low, n, e, c)
        for c in range(len(b.gatherer) - 1):
            gather(b, s, low, n, e, c)
        if b.kind[low + e] != FENCE:
            read_from(b, s, low, e)
            if b.coherent[0] != INCOHERENT_TOO:
                cohere(b, s, low, e)
    for i in range(len(b.given)):
        add(s, b.given[i].start, b.given[i].end, b.given[i].by)
    demand_last(b, s, h)
    if now.full == 1:
        return FULL
    return BUILT if now.bad == NONE else INCOHERENT


@kernel
def sort_by_thread(b: Batch, s: Building, low: int, n: int) -> None:
    threads = 0
    for e in range(n):
        threads = max(threads, b.thread[low + e] + 1)
    for t in range(threads + 1):
        s.count[t] = 0
    for e in range(n):
        s.count[b.thread[low + e] + 1] += 1
    for t in range(threads):
        s.count[t + 1] += s.count[t]
    for e in range(n):
        t = b.thread[low + e]
        s.by_thread[s.count[t]] = e
        s.count[t] += 1


@kernel
def add(s: Building, a: int, b: int, by: int) -> None:
    now = s.now[0]
    if now.edges >= len(s.edge):
        now.full = 1
        return
    s.edge[now.edges].start = a
    s.edge[now.edges].end = b
    s.edge[now.edges].by = by
    now.edges += 1


@kernel
def new_node(s: Building, n: int, e: int) -> int:
    """A virtual node that belongs to operation e."""
    now = s.now[0]
    if now.nodes >= len(s.led) or now.nodes - n >= len(s.at):
        now.full = 1
        return n
    s.led[now.nodes] = NONE
    s.at[now.nodes - n] = e
    now.nodes += 1
    return now.nodes - 1


@kernel
def node_of(s: Building, n: int, state: int, e: int) -> int:
    """The node of an operation in a state; made when it is first needed."""
    if state == BASE:
        return e
    at = (state - 1) * n + e
    if s.virtual[at] == NONE:
        s.virtual[at] = new_node(s, n, e)
    return s.virtual[at]


@kernel
def holder(b: Batch, s: Building, low: int, e: int, c: int) -> int:
    """Where gatherer c holds what is before e; NONE for a fence, which has no location."""
    if b.gatherer[c].along == ALONG_PO:
        i = c
    elif b.location[low + e] < 0:
        return NONE
    else:
        i = (len(b.gatherer) - 1) * (1 + b.location[low + e]) + c
    if s.held_by[i].round != s.now[0].round:
        s.held_by[i].round = s.now[0].round
        s.held_by[i].first = NONE
        s.held_by[i].length = 0
    return i


@kernel
def draw(b: Batch, s: Building, low: int, n: int, e: int, c: int) -> None:
    """Edges from what gatherer c holds to e, in each state that takes them."""
    i = holder(b, s, low, e, c)
    if i == NONE or s.held_by[i].length == 0:
        return
    for k in range(b.gatherer[c].target, b.gatherer[c + 1].target):
        if b.tags[low + e] >> b.target[k].set & 1:
            if s.held_by[i].length > TOGETHER:
                put_together(s, n, e, i)
            to = node_of(s, n, b.target[k].state, e)
            cell = s.held_by[i].first
            while cell != NONE:
                a = s.cell[cell].node
                if a != to and s.led[a] != to:
                    add(s, a, to, PO)
                    s.led[a] = to
                cell = s.cell[cell].next


@kernel
def put_together(s: Building, n: int, e: int, i: int) -> None:
    """One virtual node for all that is held."""
    together = new_node(s, n, e)
    cell = s.held_by[i].first
    while cell != NONE:
        add(s, s.cell[cell].node, together, PO)
        following = s.cell[cell].next
        s.cell[cell].next = s.now[0].free
        s.now[0].free = cell
        cell = following
    s.held_by[i].first = NONE
    s.held_by[i].length = 0
    hold(s, i, together)


@kernel
def hold(s: Building, i: int, a: int) -> None:
    now = s.now[0]
    cell = now.free
    if cell != NONE:
        now.free = s.cell[cell].next
    elif now.cells < len(s.cell):
        cell = now.cells
        now.cells += 1
    else:
        now.full = 1
        return
    s.cell[cell].node = a
    s.cell[cell].next = s.held_by[i].first
    s.held_by[i].first = cell
    s.held_by[i].length += 1


@kernel
def gather(b: Batch, s: Building, low: int, n: int, e: int, c: int) -> None:
    """Gatherer c takes e up, where e is in its set and reached its state. Those with an edge to e go."""
    if not b.tags[low + e] >> b.gatherer[c].set & 1:
        return
    state = b.gatherer[c].state
    a = e if state == BASE else s.virtual[(state - 1) * n + e]
    i = holder(b, s, low, e, c)
    if a == NONE or i == NONE:
        return
    last, cell, looked = NONE, s.held_by[i].first, 0
    while cell != NONE and looked <= TOGETHER:
        following = s.cell[cell].next
        if s.led[s.cell[cell].node] == a:
            if last == NONE:
                s.held_by[i].first = following
            else:
                s.cell[last].next = following
            s.cell[cell].next = s.now[0].free
            s.now[0].free = cell
            s.held_by[i].length -= 1
        else:
            last = cell
        cell = following
        looked += 1
    hold(s, i, a)


@kernel
def read_from(b: Batch, s: Building, low: int, e: int) -> None:
    w = b.source[low + e]
    if w < 0 or (b.kind[low + e] != READ and b.kind[low + e] != RMW):
        return
    within = b.thread[low + w] == b.thread[low + e]
    for k in range(len(b.reading)):
        reading = b.reading[k]
        counts = reading.within == 1 if within else reading.across == 1
        if counts and b.tags[low + w] >> reading.from_set & 1 and b.tags[low + e] >> reading.to_set & 1:
            add(s, w, e, WR)
            s.led[w] = e
            return


@kernel
def cohere(b: Batch, s: Building, low: int, e: int) -> None:
    """What coherence says of the writes that a thread sees one after the other."""
    now, kind, seen = s.now[0], b.kind[low + e], s.seen[b.location[low + e]]
    if seen.round != now.round:
        seen.round = now.round
        seen.write = NONE
    if kind != WRITE:
        w = b.source[low + e]
        if w != seen.write:
            if w < 0 and now.bad == NONE:
                now.bad = e
            if w >= 0 and seen.write != NONE:
                add(s, seen.write, w, WW)
            seen.write = w
    if kind != READ:
        own = seen.write != NONE and b.thread[low + seen.write] == b.thread[low + e]
        if seen.write != NONE and s.led[seen.write] != e and not (own and b.coherent[0] == OWN_KEPT):
            add(s, seen.write, e, WW)
        seen.write = e


@kernel
def demand_last(b: Batch, s: Building, h: int) -> None:
    """A final value: every other write of the location comes before that one."""
    low, demanded = b.start[h], 0
    for x in range(b.place[h], b.place[h + 1]):
        if b.final[x] >= 0:
            demanded += 1
    if demanded == 0:
        return
    for e in range(b.start[h + 1] - low):
        if b.kind[low + e] == WRITE or b.kind[low + e] == RMW:
            last = b.final[b.place[h] + b.location[low + e]]
            if last >= 0 and last != e:
                add(s, e, last, WW)


@kernel
def load(b: Batch, s: Building, g: Tables, h: int) -> None:
    """The tables of the engine for history h, ready to run."""
    low, n, locations = b.start[h], b.start[h + 1] - b.start[h], b.place[h + 1] - b.place[h]
    reset(g, n, s.now[0].nodes, locations)
    for a in range(s.now[0].nodes + 1):
        node = g.node[a]
        node.kind = b.kind[low + a] if a < n else VIRTUAL
        node.location = b.location[low + a] if a < n else NONE
        node.slot = NONE
        node.rank = b.rank[low + a] if a < n else NONE
        node.out = 0
        node.out_literal = NONE
        node.waits = 0
        node.place = NONE
        node.state = IDLE
    for a in range(n, s.now[0].nodes):
        g.node[a].rank = b.rank[low + s.at[a - n]]
    for x in range(locations):
        g.place[x].current = n + x
        g.place[x].parked = NONE
    index_readers(b, g, low)
    index_edges_out(s, g)
    for a in range(g.now[0].nodes):
        if g.node[a].waits == 0:
            enqueue(g, a)


@kernel
def reset(g: Tables, n: int, nodes: int, locations: int) -> None:
    now = g.now[0]
    now.operations = n
    now.nodes = nodes
    now.locations = locations
    now.performed = 0
    now.stacked = 0
    now.heaped = 0
    now.phase = RUNNING
    now.indexed = 0
    now.buckets = 0
    now.stamp = 0
    now.pairs = 0
    now.assigned = 0
    now.levels = 0
    now.clauses = 0
    now.held = 0
    now.fresh = 0
    now.seed = 12345
    now.bump = 1.0
    now.conflicts = 0
    now.known = 0
    now.taken_back = 0


@kernel
def index_readers(b: Batch, g: Tables, low: int) -> None:
    """Each slot's readers."""
    now = g.now[0]
    n = now.operations
    for slot in range(n + now.locations + 1):
        g.slot[slot].unread = 0
    for e in range(n):
        if b.kind[low + e] == READ or b.kind[low + e] == RMW:
            w = b.source[low + e]
            g.node[e].slot = w if w >= 0 else n + b.location[low + e]
            g.slot[g.node[e].slot].unread += 1
    first = 0
    for slot in range(n + now.locations + 1):
        first += g.slot[slot].unread
        g.slot[slot].readers = first  # filled from behind, so that it ends as the beginning
    for e in range(n):
        if g.node[e].slot != NONE:
            slot = g.slot[g.node[e].slot]
            slot.readers -= 1
            g.reader[slot.readers] = e


@kernel
def index_edges_out(s: Building, g: Tables) -> None:
    """The static edges by the node they leave, and how many each node waits for."""
    edges, nodes = s.now[0].edges, g.now[0].nodes
    g.now[0].edges = edges
    for k in range(edges):
        g.node[s.edge[k].start].out += 1
        g.node[s.edge[k].end].waits += 1
    first = 0
    for a in range(nodes + 1):
        first += g.node[a].out
        g.node[a].out = first
    for k in range(edges):
        node = g.node[s.edge[k].start]
        node.out -= 1
        g.to[node.out] = s.edge[k].end


NOT_BUILT, NOT_LOADED, LOADED = range(3)
UNDECIDED = 10
"""As a result: given up, as this is not the place for long searches."""


@kernel
def decide(b: Batch, s: Building, g: Tables, r: Results) -> int:
    """Decide the histories of a batch one after the other, in tables that are large enough for any of them.

    DONE when all are decided. PAUSE, or a table that is full: to be called again, and it goes on where it was.
    """
    while s.now[0].history < len(b.start) - 1:
        h = s.now[0].history
        if s.now[0].ready == NOT_BUILT:
            answer = build(b, s, h)
            if answer == FULL:
                return MORE_ROOM
            s.now[0].ready = NOT_LOADED
        if s.now[0].ready == NOT_LOADED and s.now[0].bad == NONE:
            if s.now[0].nodes >= len(g.node) or s.now[0].edges > len(g.to):
                return MORE_ROOM
            load(b, s, g, h)
            r.result[h].entry = g.now[0].entries
            s.now[0].ready = LOADED
        answer = INCONSISTENT
        if s.now[0].bad == NONE:
            answer = advance(g)
            if answer != DONE and answer != VIOLATION and g.now[0].conflicts <= b.patience[0]:
                return answer
        conclude(s, g, r, answer)
        if answer == DONE:
            copy_run(g, r, b.start[h])
        s.now[0].history += 1
        s.now[0].ready = NOT_BUILT
    return DONE


MORE_ROOM, INCONSISTENT = 11, 12


@kernel
def conclude(s: Building, g: Tables, r: Results, answer: int) -> None:
    row = r.result[s.now[0].history]
    row.status = answer if answer in (DONE, VIOLATION, INCONSISTENT) else UNDECIDED
    row.bad = s.now[0].bad
    row.past = g.now[0].entries
    row.conflicts = g.now[0].conflicts
    if answer == INCONSISTENT:  # nothing was loaded: there is no log, there were no conflicts
        row.entry = row.past
        row.conflicts = 0


@kernel
def copy_run(g: Tables, r: Results, low: int) -> None:
    """The operations in the order of the schedule, without virtual nodes."""
    n, at = g.now[0].operations, low
    for i in range(g.now[0].performed):
        if g.run[i] < n:
            r.run[at] = g.run[i]
            at += 1
