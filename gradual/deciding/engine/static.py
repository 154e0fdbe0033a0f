"""The static edges of a history: what a model orders whatever the store order is, in a few edges per operation.

A plan (`plan.py`) makes the model's part of a batch (`batch.py`): transitions of an automaton whose relations are po
and po-loc, kinds of reads-from, and whether coherence is asked for. Program order is transitive, so nobody needs all
its pairs. A *gatherer* collects, along a thread (or along a thread at one location), all nodes that must come before
operations of some sets; such an operation gets an edge from each. If it is collected itself, it stands for them from
then on; if not, or where many are left, they get a virtual node in common. So the edges stay linear, and a plain order,
a store buffer or one per location come out as a person would draw them.

Coherence folds into edges between writes: the write a thread saw last at a location, written or read from, is stored
before the next one it sees there.

Loaded twice, as kernels.py is, after it and clock.py.
"""

from __future__ import annotations

from gradual.compiler import kernel
from gradual.deciding.engine.batch import Batch, Building, Results
from gradual.deciding.engine.clock import tell_time
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
    demand_sources,
    enqueue,
    index_edges_in,
    new_pair,
    open_pairs,
)
from gradual.deciding.engine.tables import Tables

BASE = 0
"""The state of an automaton that is the operation itself: where pairs of the relation begin and end."""
ALONG_PO, ALONG_PO_LOC = range(2)
TOGETHER = 3
"""Nodes from which edges are drawn one by one; more get a virtual node in common."""
BUILT, FULL, INCOHERENT = range(3)
INCOHERENT_TOO, COHERENT, OWN_KEPT, READS_APART = range(4)
"""Does the model ask for coherence? Where its program order keeps a thread's writes to one location in order anyway,
that needs no edges. READS_APART: of all but two reads of a thread."""


@kernel
def build(b: Batch, s: Building, h: int) -> int:
    """The static edges of history h. FULL: with more room, again. INCOHERENT: the read in `bad` cannot be."""
    now = s.now[0]
    low, n = b.history[h].start, b.history[h + 1].start - b.history[h].start
    if n > len(s.mark):
        now.full = 1
        return FULL
    now.edges = 0
    now.nodes = n
    now.cells = 0
    now.free = NONE
    now.full = 0
    now.bad = NONE
    for e in range(n):
        s.mark[e].led = NONE
        s.mark[e].at = e
    if b.now[0].mixed == 1:
        for e in range(n):
            s.mark[e].at = b.part[e].whole
    for i in range(len(s.virtual_at)):
        s.virtual_at[i].node = NONE
    for i in range(b.history[h].virtual, b.history[h + 1].virtual):
        node_of(s, n, b.virtual[i].state, b.virtual[i].operation)
    sort_by_thread(b, s, low, n)
    thread = NONE
    for i in range(n):
        e = s.mark[i].by_thread
        if b.operation[low + e].thread != thread:
            thread = b.operation[low + e].thread
            now.round += 1
        if b.now[0].mixed == 0:
            for c in range(len(b.gatherer) - 1):
                draw(b, s, low, n, e, c)
        elif i == 0 or b.part[s.mark[i - 1].by_thread].row != b.part[e].row:
            draw_row(b, s, low, n, i)
        for c in range(len(b.gatherer) - 1):
            gather(b, s, low, n, e, c)
        if b.operation[low + e].kind != FENCE:
            read_from(b, s, low, e)
            if b.now[0].coherent == READS_APART:
                cohere_but_reads(b, s, low, e)
            elif b.now[0].coherent != INCOHERENT_TOO:
                cohere(b, s, low, e)
    for i in range(b.history[h].given, b.history[h + 1].given):
        first, then = b.given[i].start, b.given[i].end
        add(s, s.mark[first].at if first < n else first, s.mark[then].at if then < n else then, b.given[i].by)
    demand_last(b, s, h)
    if now.full == 1:
        return FULL
    return BUILT if now.bad == NONE else INCOHERENT


@kernel
def draw_row(b: Batch, s: Building, low: int, n: int, first: int) -> None:
    """Edges to all events of a row, before any of them is gathered."""
    i, row = first, b.part[s.mark[first].by_thread].row
    while i < n and b.part[s.mark[i].by_thread].row == row:
        for c in range(len(b.gatherer) - 1):
            draw(b, s, low, n, s.mark[i].by_thread, c)
        i += 1


@kernel
def sort_by_thread(b: Batch, s: Building, low: int, n: int) -> None:
    threads = 0
    for e in range(n):
        threads = max(threads, b.operation[low + e].thread + 1)
    for t in range(threads + 1):
        s.thread[t].count = 0
    for e in range(n):
        s.thread[b.operation[low + e].thread + 1].count += 1
    for t in range(threads):
        s.thread[t + 1].count += s.thread[t].count
    for e in range(n):
        t = b.operation[low + e].thread
        s.mark[s.thread[t].count].by_thread = e
        s.thread[t].count += 1


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
    if now.nodes >= len(s.mark):
        now.full = 1
        return n
    s.mark[now.nodes].led = NONE
    s.mark[now.nodes].at = e
    now.nodes += 1
    return now.nodes - 1


@kernel
def node_of(s: Building, n: int, state: int, e: int) -> int:
    """The node of an operation in a state; made when it is first needed."""
    if state == BASE:
        return s.mark[e].at
    at = (state - 1) * n + e
    if s.virtual_at[at].node == NONE:
        s.virtual_at[at].node = new_node(s, n, e)
    return s.virtual_at[at].node


@kernel
def holder(b: Batch, s: Building, low: int, e: int, c: int) -> int:
    """Where gatherer c holds what is before e; NONE for a fence, which has no location."""
    if b.gatherer[c].along == ALONG_PO:
        i = c
    elif b.operation[low + e].location < 0:
        return NONE
    else:
        i = (len(b.gatherer) - 1) * (1 + b.operation[low + e].location) + c
    if s.held_by[i].round != s.now[0].round:
        s.held_by[i].round = s.now[0].round
        s.held_by[i].first = NONE
        s.held_by[i].length = 0
    return i


@kernel
def draw(b: Batch, s: Building, low: int, n: int, e: int, c: int) -> None:
    """Edges from what gatherer c holds to e, in each state that comes after that."""
    for k in range(b.gatherer[c].target, b.gatherer[c + 1].target):
        if b.operation[low + e].tags >> b.target[k].set & 1:
            i = holder(b, s, low, e, c)
            if i != NONE and s.held_by[i].length > 0:
                if s.held_by[i].length > (TOGETHER if b.target[k].state == BASE and is_gathered(b, low, e, c) else 1):
                    put_together(s, n, e, i)
                come_after(s, i, node_of(s, n, b.target[k].state, e))


@kernel
def come_after(s: Building, i: int, to: int) -> None:
    """Edges from all that is held to a node."""
    cell = s.held_by[i].first
    while cell != NONE:
        a = s.cell[cell].node
        if a != to and s.mark[a].led != to:
            add(s, a, to, PO)
            s.mark[a].led = to
        cell = s.cell[cell].next


@kernel
def is_gathered(b: Batch, low: int, e: int, c: int) -> bool:
    """Does gatherer c take e up? Then e, once it comes after what is held, is held instead of that."""
    for k in range(b.gatherer[c].first, b.gatherer[c + 1].first):
        if b.gathered[k].state == BASE and b.operation[low + e].tags >> b.gathered[k].set & 1:
            return True
    return False


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
    """Gatherer c takes e up, where e is in one of its sets and reached the state."""
    for k in range(b.gatherer[c].first, b.gatherer[c + 1].first):
        if b.operation[low + e].tags >> b.gathered[k].set & 1:
            state = b.gathered[k].state
            a = s.mark[e].at if state == BASE else s.virtual_at[(state - 1) * n + e].node
            i = holder(b, s, low, e, c)
            if a != NONE and i != NONE and not holds(s, i, a):
                let_go(s, i, a)
                hold(s, i, a)


@kernel
def holds(s: Building, i: int, a: int) -> bool:
    """Was the node a, of the operation at hand, taken up already, for another set that it is in?"""
    cell, looked = s.held_by[i].first, 0
    while cell != NONE and looked < TOGETHER:
        if s.cell[cell].node == a:
            return True
        cell = s.cell[cell].next
        looked += 1
    return False


@kernel
def let_go(s: Building, i: int, a: int) -> None:
    """Those with an edge to a go."""
    last, cell, looked = NONE, s.held_by[i].first, 0
    while cell != NONE and looked <= TOGETHER:
        following = s.cell[cell].next
        if s.mark[s.cell[cell].node].led == a:
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


@kernel
def read_from(b: Batch, s: Building, low: int, e: int) -> None:
    w = b.operation[low + e].source
    if w < 0 or (b.operation[low + e].kind != READ and b.operation[low + e].kind != RMW):
        return
    write, read = b.operation[low + w], b.operation[low + e]
    for k in range(len(b.reading)):
        reading = b.reading[k]
        counts = reading.within == 1 if write.thread == read.thread else reading.across == 1
        if counts and write.tags >> reading.from_set & 1 and read.tags >> reading.to_set & 1:
            add(s, s.mark[w].at, s.mark[e].at, WR)
            s.mark[s.mark[w].at].led = s.mark[e].at
            return


@kernel
def cohere(b: Batch, s: Building, low: int, e: int) -> None:
    """What coherence says of the writes that a thread sees one after the other."""
    now, kind, seen = s.now[0], b.operation[low + e].kind, s.seen[b.operation[low + e].location]
    if seen.round != now.round:
        seen.round = now.round
        seen.write = NONE
    if kind != WRITE:
        w = b.operation[low + e].source
        if w >= NONE and w != seen.write:
            if w < 0 and now.bad == NONE:
                now.bad = e
            if w >= 0 and seen.write != NONE:
                add(s, s.mark[seen.write].at, s.mark[w].at, WW)
            seen.write = w
    if kind != READ:
        own = seen.write != NONE and b.operation[low + seen.write].thread == b.operation[low + e].thread
        if seen.write != NONE and not (own and b.now[0].coherent == OWN_KEPT):
            saw, to = s.mark[seen.write].at, s.mark[e].at
            if s.mark[saw].led != to:
                add(s, saw, to, WW)
        seen.write = e


@kernel
def cohere_but_reads(b: Batch, s: Building, low: int, e: int) -> None:
    """The same where two reads of a thread say nothing: what a thread reads at a location lies between its own writes
    before and behind."""
    now, kind, seen = s.now[0], b.operation[low + e].kind, s.seen[b.operation[low + e].location]
    if seen.round != now.round:
        seen.round = now.round
        seen.write = NONE
        seen.read = NONE
    w = b.operation[low + e].source
    if kind != WRITE and w >= NONE and w != seen.write and seen.write != NONE:
        if w < 0 and now.bad == NONE:
            now.bad = e
        if w >= 0:
            add(s, s.mark[seen.write].at, s.mark[w].at, WW)
    if kind != READ:
        while seen.read != NONE:
            if b.operation[low + seen.read].source != e:
                add(s, s.mark[b.operation[low + seen.read].source].at, s.mark[e].at, WW)
            seen.read = s.mark[seen.read].read_before
        if seen.write != NONE:
            add(s, s.mark[seen.write].at, s.mark[e].at, WW)
        seen.write = e
    if kind == READ and w >= 0 and w != seen.write:
        s.mark[e].read_before = seen.read
        seen.read = e


@kernel
def demand_last(b: Batch, s: Building, h: int) -> None:
    """A final value: every other write of the location comes before that one."""
    low, demanded = b.history[h].start, 0
    for x in range(b.history[h].place, b.history[h + 1].place):
        if b.location[x].final >= 0:
            demanded += 1
    if demanded == 0:
        return
    for e in range(b.history[h + 1].start - low):
        if b.operation[low + e].kind == WRITE or b.operation[low + e].kind == RMW:
            last = b.location[b.history[h].place + b.operation[low + e].location].final
            if last >= 0 and last != e:
                add(s, s.mark[e].at, s.mark[last].at, WW)


@kernel
def load(b: Batch, s: Building, g: Tables, h: int) -> None:
    """The tables of the engine for history h, ready to run."""
    low, n = b.history[h].start, b.history[h + 1].start - b.history[h].start
    locations = b.history[h + 1].place - b.history[h].place
    reset(g, n, s.now[0].nodes, locations)
    for a in range(s.now[0].nodes + 1):
        node = g.node[a]
        node.kind = b.operation[low + a].kind if a < n else VIRTUAL
        node.location = b.operation[low + a].location if a < n else NONE
        node.slot = NONE
        node.rank = b.operation[low + a].rank if a < n else NONE
        node.out = 0
        node.out_literal = NONE
        node.waits = 0
        node.place = NONE
        node.state = IDLE
        node.thread = b.operation[low + a].thread if a < n else NONE
        node.pair = b.operation[low + a].pair if a < n else NONE
        node.opened = NONE
        node.open = NONE
        if node.pair != NONE:
            g.now[0].exclusive = 1
    for a in range(n, s.now[0].nodes):
        g.node[a].rank = b.operation[low + s.mark[a].at].rank
    for x in range(locations):
        g.place[x].current = n + x
        g.place[x].parked = NONE
        g.place[x].opened = NONE
        g.place[x].open = 0
    index_readers(b, g, low)
    if g.now[0].exclusive == 1:
        for x in range(locations):
            open_pairs(g, n + x)
    index_edges_out(s, g)
    load_candidates(b, g, n)
    g.now[0].mixed = b.now[0].mixed
    if g.now[0].mixed == 1:
        link_parts(b, g, n)
    for a in range(g.now[0].nodes):
        if g.node[a].waits == 0:
            enqueue(g, a)
    if g.now[0].opens > 0:
        index_edges_in(g)
        demand_sources(g)


@kernel
def load_candidates(b: Batch, g: Tables, n: int) -> None:
    """What open reads may have returned."""
    now = g.now[0]
    now.opens = max(len(b.open) - 1, 0)
    now.sources = len(b.candidate)
    for i in range(len(b.open)):
        g.open[i].node = b.open[i].node
        g.open[i].own = b.open[i].own
        g.open[i].first = b.open[i].first
        g.open[i].read = NONE
        if b.open[i].node != NONE:
            g.node[b.open[i].node].open = i
    for v in range(now.sources):
        w, r = b.candidate[v].write, b.candidate[v].reader
        new_pair(g, w if w != NONE else n + g.node[r].location, r)
        g.literal[2 * v].linked = 0 if b.candidate[v].edge == 1 else NONE


@kernel
def link_parts(b: Batch, g: Tables, n: int) -> None:
    """The events of each access, one behind the other: they happen with the first one, and wait for it for ever."""
    for e in range(n - 1, -1, -1):
        g.part[e].next = NONE
        g.part[e].whole = b.part[e].whole
        if e + 1 < n and b.part[e + 1].whole == b.part[e].whole:
            g.part[e].next = e + 1
        if g.part[e].whole != e:
            g.node[e].waits += 1


@kernel
def reset(g: Tables, n: int, nodes: int, locations: int) -> None:
    now = g.now[0]
    now.operations = n
    now.nodes = nodes
    now.locations = locations
    now.exclusive = 0
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


@kernel
def index_readers(b: Batch, g: Tables, low: int) -> None:
    """Each slot's readers."""
    now = g.now[0]
    n = now.operations
    for slot in range(n + now.locations + 1):
        g.slot[slot].unread = 0
    for e in range(n):
        w = b.operation[low + e].source
        if w >= NONE and (b.operation[low + e].kind == READ or b.operation[low + e].kind == RMW):
            g.node[e].slot = w if w >= 0 else n + b.operation[low + e].location
            g.slot[g.node[e].slot].unread += 1
    first = 0
    for slot in range(n + now.locations + 1):
        first += g.slot[slot].unread
        g.slot[slot].readers = first  # filled from behind, so that it ends as the beginning
    for e in range(n):
        if g.node[e].slot != NONE:
            read = g.slot[g.node[e].slot]
            read.readers -= 1
            g.slot[read.readers].reader = e


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
        g.out[node.out].to = s.edge[k].end


NOT_BUILT, NOT_LOADED, LOADED = range(3)
UNDECIDED = 10
"""As a result: given up, as this is not the place for long searches."""


@kernel
def decide(b: Batch, s: Building, g: Tables, r: Results) -> int:
    """Decide the histories of a batch one after the other, in tables that are large enough for any of them.

    DONE when all are decided. PAUSE, or a table that is full: to be called again, and it goes on where it was.
    """
    while s.now[0].history < len(b.history) - 1:
        h = s.now[0].history
        if s.now[0].ready == NOT_BUILT:
            answer = build(b, s, h)
            if answer == FULL:
                return MORE_ROOM
            s.now[0].ready = NOT_LOADED
        if s.now[0].ready == NOT_LOADED and s.now[0].bad == NONE:
            if s.now[0].nodes >= len(g.node):
                return MORE_ROOM
            if b.history[h].timeless == 1:
                tell_time(b, s, h)
            load(b, s, g, h)
            s.now[0].ready = LOADED
            r.result[h].entry = g.now[0].entries
        answer = INCONSISTENT
        if s.now[0].bad == NONE:
            answer = advance(g)
            if answer != DONE and answer != VIOLATION and g.now[0].conflicts <= b.now[0].patience:
                return answer
        conclude(s, g, r, answer)
        if answer == DONE:
            copy_run(g, r, b.history[h].start)
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
        if g.turn[i].run < n:
            r.run[at].operation = g.turn[i].run
            at += 1
