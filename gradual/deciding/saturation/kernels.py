"""Saturation on vector clocks, as loops that a compiler can take.

The nodes and edges are those of `engine/static.py`. They are covered by few chains, along each of which everything is
ordered: then reachability needs no pairs. A node's clock holds, for each chain, the latest position on it that comes
before the node. The writes of a location on one chain are a group, and what a node comes after in a group is found by
binary search. Two rules, in rounds over a topological order until nothing new comes up:

    a read r of w      the last write of each group before r goes before w
    a write u          all readers of the last write of each group before u go before u

Who reads an initial value goes before all writes of its location, through a node of the location's own.

Loaded twice, plain and compiled, after the kernels of the engine.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from gradual.compiler import kernel
from gradual.deciding.engine.batch import Batch, Building
from gradual.deciding.engine.static import BUILT, FULL, build

NONE = -1
READ, WRITE, RMW, FENCE = range(4)
DONE, MORE_ROOM, PAUSE = range(3)
BUILD, LAY_OUT, ROUND, COUNT = range(4)
"""What is being done for a history."""
FIELDS: dict[str, str] = {
    # per node: an edge (the newest one; others are chained), its chain and its position there, whether its clock has
    # changed since anything was inferred from it, who looked at it last; and, by place: the writes group by group; the
    # last node of each chain; the nodes, topologically
    "event": ("kind location source first chain position waits reader next_reader group changed looked "
              "member last order"),
    "arrow": "start end next",
    # per location its first group, and an rmw that reads its initial value; per group: the next one of the location,
    # its chain, where its writes begin
    "home": "group rmw",
    "group": "next chain member",
    # per history: how many pairs of writes to one location are ordered, and whether that is too much for any order
    "ordered": "pairs:i8 contradicted",
    # per node and chain: a position, 0 for none
    "clock": "latest",
    # the history at hand, what is being done for it, the next place to do it at; the edges when the round began; the
    # clocks that an earlier history used
    "so_far": "operations nodes arrows chains groups history doing next before budget:i8 used:i8",
}


class Graph(NamedTuple):
    """The tables."""

    event: Any
    arrow: Any
    home: Any
    group: Any
    clock: Any
    now: Any


class Ordered(NamedTuple):
    """What came of the histories of a batch."""

    history: Any


@kernel
def saturate_all(b: Batch, s: Building, g: Graph, ordered: Ordered) -> int:
    """For each history of a batch the pairs of writes that are ordered, in the end. DONE; else, to go on where it was:
    MORE_ROOM, and again; PAUSE when the budget is used up."""
    now = g.now[0]
    while now.history < len(b.history) - 1:
        if now.doing == BUILD:
            answer = build(b, s, now.history)
            if answer == FULL:
                return MORE_ROOM
            ordered.history[now.history].contradicted = 0 if answer == BUILT else 1
            ordered.history[now.history].pairs = 0
            now.doing = LAY_OUT
        if now.doing == LAY_OUT:
            if not lay_out(b, s, g):
                return MORE_ROOM
            now.doing = COUNT if ordered.history[now.history].contradicted == 1 else ROUND
            now.next = 0
        while now.doing == ROUND:
            if now.next == 0:
                now.before = now.arrows
                if not sort_topologically(g):
                    ordered.history[now.history].contradicted = 1
                    now.doing = COUNT
                    break
            answer = infer(g)
            if answer != DONE:
                return answer
            now.next = 0
            if now.arrows == now.before:
                now.doing = COUNT
        if count_pairs(g, ordered) == PAUSE:
            return PAUSE
        now.history += 1
        now.doing = BUILD
    return DONE


# --- tables


@kernel
def lay_out(b: Batch, s: Building, g: Graph) -> bool:
    """The tables of the history whose edges were built. False when there is no room."""
    now, low = g.now[0], b.history[g.now[0].history].start
    locations = b.history[now.history + 1].place - b.history[now.history].place
    now.operations = b.history[now.history + 1].start - low
    now.nodes = s.now[0].nodes + locations
    now.arrows = 0
    if now.nodes > len(g.event) or s.now[0].edges + 4 * now.operations > len(g.arrow):
        return False
    for a in range(now.nodes):
        event = g.event[a]
        event.kind = b.operation[low + a].kind if a < now.operations else FENCE
        event.location = b.operation[low + a].location if a < now.operations else NONE
        event.source = b.operation[low + a].source if a < now.operations else NONE
        event.first = NONE
        event.chain = NONE
        event.reader = NONE
        event.changed = 1
    for e in range(now.operations):
        w = b.operation[low + e].source
        if w >= 0 and (g.event[e].kind == READ or g.event[e].kind == RMW):
            g.event[e].next_reader = g.event[w].reader
            g.event[w].reader = e
    for k in range(s.now[0].edges):  # by where they lead, for the chains
        g.arrow[k].start = s.edge[k].start
        g.arrow[k].next = g.event[s.edge[k].end].first
        g.event[s.edge[k].end].first = k
    find_chains(b, s, g, low)
    if now.nodes * now.chains > len(g.clock):
        return False
    for a in range(now.nodes):
        g.event[a].first = NONE
    for k in range(s.now[0].edges):
        draw_arrow(g, s.edge[k].start, s.edge[k].end)
    for i in range(now.used):  # the others never were anything but 0: memory that nobody has looked at costs nothing
        g.clock[i].latest = 0
    now.used = max(now.used, now.nodes * now.chains)
    find_groups(g, locations)
    put_first_reads_first(g, locations)
    return True


@kernel
def draw_arrow(g: Graph, a: int, b: int) -> None:
    now = g.now[0]
    arrow = g.arrow[now.arrows]
    arrow.start = a
    arrow.end = b
    arrow.next = g.event[a].first
    g.event[a].first = now.arrows
    now.arrows += 1


@kernel
def find_chains(b: Batch, s: Building, g: Graph, low: int) -> None:
    """Cover the operations by chains: each goes behind the last one of a chain that comes before it, of its own kind
    first."""
    now = g.now[0]
    now.chains = 0
    for e in range(now.operations):
        s.thread[b.operation[low + e].thread].chains = 0
        g.event[e].looked = NONE
    for e in range(now.operations):
        last = last_before(b, s, g, low, e)
        if last == NONE:
            g.event[e].chain = now.chains
            g.event[e].position = 1
            s.thread[b.operation[low + e].thread].chains += 1
            now.chains += 1
        else:
            g.event[e].chain = g.event[last].chain
            g.event[e].position = g.event[last].position + 1
        g.event[g.event[e].chain].last = e


NEAR = 24
"""Nodes that are looked at before an operation: fences and rmws stand between it and the last one of its kind."""


@kernel
def last_before(b: Batch, s: Building, g: Graph, low: int, e: int) -> int:
    """The last one of a chain that e fits behind best, of those that are near; NONE where there is none."""
    best, liking, done, i = NONE, NONE, 1, 0
    left = s.thread[b.operation[low + e].thread].chains
    g.event[0].order = e
    while i < done and liking < FOND and left > 0:
        k = g.event[g.event[i].order].first
        while k != NONE:
            a = g.arrow[k].start
            fits = fondness(b, g, low, e, a)
            if fits > liking:
                best, liking = a, fits
            if fits > NONE and g.event[a].looked != e:
                g.event[a].looked = e
                left -= 1
            if done < NEAR and done < g.now[0].nodes:
                g.event[done].order = a
                done += 1
            k = g.arrow[k].next
        i += 1
    return best


FOND = 2


@kernel
def fondness(b: Batch, g: Graph, low: int, e: int, a: int) -> int:
    """How well e fits behind a: NONE where a is no last one of a chain; best behind its own kind and location."""
    if a >= e or b.operation[low + a].thread != b.operation[low + e].thread or g.event[g.event[a].chain].last != a:
        return NONE
    before, after = g.event[a], g.event[e]
    if before.kind != after.kind and (before.kind == READ or after.kind == READ):
        return 0
    return FOND if before.location == after.location or after.kind == READ else 1


@kernel
def find_groups(g: Graph, locations: int) -> None:
    """The writes by location and chain."""
    now = g.now[0]
    now.groups = 0
    for x in range(locations):
        g.home[x].group = NONE
    for e in range(now.operations):
        if g.event[e].kind == WRITE or g.event[e].kind == RMW:
            j = group_at(g, g.event[e].location, g.event[e].chain)
            g.event[e].group = j
            g.group[j].member += 1
    first = 0
    for j in range(now.groups + 1):
        count = g.group[j].member if j < now.groups else 0
        g.group[j].member = first
        first += count
    for e in range(now.operations):
        if g.event[e].kind == WRITE or g.event[e].kind == RMW:
            j = g.event[e].group
            g.event[g.group[j].member].member = e
            g.group[j].member += 1
    for j in range(now.groups, 0, -1):
        g.group[j].member = g.group[j - 1].member
    g.group[0].member = 0


@kernel
def group_at(g: Graph, location: int, chain: int) -> int:
    now, j = g.now[0], g.home[location].group
    while j != NONE and g.group[j].chain != chain:
        j = g.group[j].next
    if j == NONE:
        j = now.groups
        now.groups += 1
        g.group[j].chain = chain
        g.group[j].member = 0
        g.group[j].next = g.home[location].group
        g.home[location].group = j
    return j


@kernel
def put_first_reads_first(g: Graph, locations: int) -> None:
    """Arrows from those who read an initial value to the first write of each group of the location."""
    between = g.now[0].nodes - locations
    for x in range(locations):
        g.home[x].rmw = NONE
        j = g.home[x].group
        while j != NONE:
            draw_arrow(g, between + x, g.event[g.group[j].member].member)
            j = g.group[j].next
    for r in range(g.now[0].operations):
        if g.event[r].source == NONE and g.event[r].kind == READ:
            draw_arrow(g, r, between + g.event[r].location)
        elif g.event[r].source == NONE and g.event[r].kind == RMW:
            put_before_other_writes(g, r)


@kernel
def put_before_other_writes(g: Graph, r: int) -> None:
    """An rmw that reads the initial value is the first write; two of them cannot be."""
    home = g.home[g.event[r].location]
    if home.rmw != NONE:
        draw_arrow(g, r, home.rmw)
        draw_arrow(g, home.rmw, r)
        return
    home.rmw = r
    j = home.group
    while j != NONE:
        i = g.group[j].member
        if g.event[i].member == r:
            i += 1
        if i < g.group[j + 1].member:
            draw_arrow(g, r, g.event[i].member)
        j = g.group[j].next


# --- rounds


@kernel
def sort_topologically(g: Graph) -> bool:
    """False when there is a cycle."""
    now, done = g.now[0], 0
    for a in range(now.nodes):
        g.event[a].waits = 0
    for k in range(now.arrows):
        g.event[g.arrow[k].end].waits += 1
    for a in range(now.nodes):
        if g.event[a].waits == 0:
            g.event[done].order = a
            done += 1
    i = 0
    while i < done:
        k = g.event[g.event[i].order].first
        i += 1
        while k != NONE:
            event = g.event[g.arrow[k].end]
            event.waits -= 1
            if event.waits == 0:
                g.event[done].order = g.arrow[k].end
                done += 1
            k = g.arrow[k].next
    return done == now.nodes


@kernel
def pass_on(g: Graph, a: int, b: int) -> None:
    """a comes before b: b is after all that a is after, and after a."""
    chains, changed, newer = g.now[0].chains, g.event[b].changed, 0
    theirs, mine = a * chains, b * chains
    for c in range(chains):  # without a branch: several at once
        latest = max(g.clock[theirs + c].latest, g.clock[mine + c].latest)
        newer |= latest ^ g.clock[mine + c].latest
        g.clock[mine + c].latest = latest
    if newer != 0:
        changed = 1
    own = g.event[a].chain
    if own != NONE and g.event[a].position > g.clock[mine + own].latest:
        g.clock[mine + own].latest = g.event[a].position
        changed = 1
    g.event[b].changed = changed


@kernel
def infer(g: Graph) -> int:
    """Both rules for all whose clocks have changed, which then pass them on. DONE; MORE_ROOM for an edge, or PAUSE."""
    now = g.now[0]
    while now.next < now.nodes:
        if now.budget <= 0:
            return PAUSE
        now.budget -= 1
        e = g.event[now.next].order
        if g.event[e].changed == 1:
            now.budget -= now.chains
            g.event[e].changed = 0
            if not infer_at(g, e):
                g.event[e].changed = 1
                return MORE_ROOM
            k = g.event[e].first
            while k != NONE:
                pass_on(g, e, g.arrow[k].end)
                k = g.arrow[k].next
        now.next += 1
    return DONE


@kernel
def infer_at(g: Graph, e: int) -> bool:
    kind = g.event[e].kind
    if kind == FENCE:
        return True
    if kind != WRITE and g.event[e].source >= 0 and not infer_before_source(g, e):
        return False
    return kind == READ or infer_after_readers(g, e)


@kernel
def past(g: Graph, j: int, e: int) -> int:
    """How far into group j the writes come before e: the place of the first one that does not."""
    low, high = g.group[j].member, g.group[j + 1].member
    latest = g.clock[e * g.now[0].chains + g.group[j].chain].latest
    while low < high:
        middle = (low + high) // 2
        if g.event[g.event[middle].member].position <= latest:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def infer_before_source(g: Graph, r: int) -> bool:
    w, j = g.event[r].source, g.home[g.event[r].location].group
    while j != NONE:
        i = past(g, j, r)
        if i > g.group[j].member and g.event[i - 1].member != w and past(g, j, w) < i and not infer_edge(
                g, g.event[i - 1].member, w):
            return False
        j = g.group[j].next
    return True


@kernel
def infer_after_readers(g: Graph, u: int) -> bool:
    chains, j = g.now[0].chains, g.home[g.event[u].location].group
    while j != NONE:
        i = past(g, j, u)
        r = g.event[g.event[i - 1].member].reader if i > g.group[j].member else NONE
        while r != NONE:
            known = g.clock[u * chains + g.event[r].chain].latest >= g.event[r].position
            if r != u and not known and not infer_edge(g, r, u):
                return False
            r = g.event[r].next_reader
        j = g.group[j].next
    return True


@kernel
def infer_edge(g: Graph, a: int, b: int) -> bool:
    """An edge more, and what follows for b at once; the rest follows in the next round. False: no room."""
    if g.now[0].arrows >= len(g.arrow):
        return False
    draw_arrow(g, a, b)
    pass_on(g, a, b)
    return True


@kernel
def count_pairs(g: Graph, ordered: Ordered) -> int:
    """How many pairs of writes to one location are ordered. DONE or PAUSE."""
    now = g.now[0]
    while now.next < now.operations:
        if now.budget <= 0:
            return PAUSE
        now.budget -= 1
        u = now.next
        if g.event[u].kind == WRITE or g.event[u].kind == RMW:
            now.budget -= now.chains
            j = g.home[g.event[u].location].group
            while j != NONE:
                ordered.history[now.history].pairs += past(g, j, u) - g.group[j].member
                j = g.group[j].next
        now.next += 1
    return DONE
