"""Saturation on vector clocks, as loops that a compiler can take.

The nodes and edges are those of `engine/static.py`. They are covered by few chains, along each of which everything is
ordered: then reachability needs no pairs. A node's clock holds, for each chain, the latest position on it that comes
before the node. The writes of a location on one chain are a group, and what a node comes after in a group is found by
binary search. Two rules, in rounds over a topological order until nothing new comes up:

    a read r of w      the last write of each group before r goes before w
    a write u          all readers of the last write of each group before u go before u
"""

from __future__ import annotations

from typing import Any, NamedTuple

from gradual.deciding.kernel import kernel

NONE = -1
READ, WRITE, RMW, FENCE = range(4)
SATURATED, CONTRADICTION, FULL, AGAIN = range(4)


class Graph(NamedTuple):
    """The tables, columns of numbers by node, by edge, by group or by place in a list."""

    thread: Any
    kind: Any
    location: Any
    source: Any
    edge_start: Any
    edge_end: Any
    first_out: Any
    """Per node, its newest edge; chained by next_out."""
    next_out: Any
    chain: Any
    position: Any
    clock: Any
    """Per node and chain."""
    group: Any
    """Per location, and one more: its first group."""
    member: Any
    """Per group, and one more: its first write in `write`."""
    group_chain: Any
    write: Any
    reader: Any
    """Per write, its newest reader; chained by next_reader."""
    next_reader: Any
    order: Any
    waits: Any
    count: Any
    """EDGES, NODES, CHAINS."""


EDGES, NODES, CHAINS = range(3)


@kernel
def find_chains(g: Graph) -> int:
    """Cover the operations by chains: each goes behind the last one of a chain that comes just before it (or before
    what does), of its own kind first. Returns how many there are.

    `first_out` and `next_out` chain the edges *into* nodes here; `order` holds the last node of each chain.
    """
    chains = 0
    for e in range(len(g.kind)):
        best, liking = NONE, NONE
        k = g.first_out[e]
        while k != NONE:
            a = g.edge_start[k]
            for_a = fondness(g, e, a)
            if for_a > liking:
                best, liking = a, for_a
            j = g.first_out[a]
            while j != NONE and liking < FOND:
                b = g.edge_start[j]
                for_b = fondness(g, e, b)
                if for_b > liking:
                    best, liking = b, for_b
                j = g.next_out[j]
            k = g.next_out[k]
        if best == NONE:
            g.chain[e] = chains
            g.position[e] = 0
            chains += 1
        else:
            g.chain[e] = g.chain[best]
            g.position[e] = g.position[best] + 1
        g.order[g.chain[e]] = e
    return chains


FOND = 2


@kernel
def fondness(g: Graph, e: int, a: int) -> int:
    """How well e fits behind a: NONE where a is no last one of a chain; best behind its own kind and location."""
    if a >= e or g.thread[a] != g.thread[e] or g.order[g.chain[a]] != a:
        return NONE
    alike = g.kind[a] == g.kind[e] or (g.kind[a] != READ and g.kind[e] != READ)
    if not alike:
        return 0
    return FOND if g.location[a] == g.location[e] or g.kind[e] == READ else 1


@kernel
def saturate(g: Graph) -> int:
    """One round. AGAIN while it found anything; FULL when there is no room for an edge."""
    if not sort(g):
        return CONTRADICTION
    set_clocks(g)
    before = g.count[EDGES]
    for i in range(g.count[NODES]):
        e = g.order[i]
        if e < len(g.kind) and g.kind[e] != FENCE:
            if g.kind[e] != WRITE and g.source[e] >= 0 and not infer_before_source(g, e):
                return FULL
            if g.kind[e] != READ and not infer_after_readers(g, e):
                return FULL
    return AGAIN if g.count[EDGES] > before else SATURATED


@kernel
def sort(g: Graph) -> bool:
    """A topological order of all nodes. False when there is a cycle."""
    for a in range(g.count[NODES]):
        g.waits[a] = 0
    for k in range(g.count[EDGES]):
        g.waits[g.edge_end[k]] += 1
    done = 0
    for a in range(g.count[NODES]):
        if g.waits[a] == 0:
            g.order[done] = a
            done += 1
    i = 0
    while i < done:
        k = g.first_out[g.order[i]]
        i += 1
        while k != NONE:
            b = g.edge_end[k]
            g.waits[b] -= 1
            if g.waits[b] == 0:
                g.order[done] = b
                done += 1
            k = g.next_out[k]
    return done == g.count[NODES]


@kernel
def set_clocks(g: Graph) -> None:
    for i in range(g.count[NODES]):
        a = g.order[i]
        k = g.first_out[a]
        while k != NONE:
            pass_on(g, a, g.edge_end[k])
            k = g.next_out[k]


@kernel
def pass_on(g: Graph, a: int, b: int) -> None:
    """a comes before b: b is after all that a is after, and after a."""
    chains = g.count[CHAINS]
    theirs, mine = a * chains, b * chains
    for c in range(chains):
        if g.clock[theirs + c] > g.clock[mine + c]:
            g.clock[mine + c] = g.clock[theirs + c]
    if g.chain[a] != NONE and g.position[a] > g.clock[mine + g.chain[a]]:
        g.clock[mine + g.chain[a]] = g.position[a]


@kernel
def past(g: Graph, j: int, e: int) -> int:
    """How far into group j the writes come before e: the place of the first one that does not."""
    low, high = g.member[j], g.member[j + 1]
    latest = g.clock[e * g.count[CHAINS] + g.group_chain[j]]
    while low < high:
        middle = (low + high) // 2
        if g.position[g.write[middle]] <= latest:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def infer_before_source(g: Graph, r: int) -> bool:
    w = g.source[r]
    for j in range(g.group[g.location[r]], g.group[g.location[r] + 1]):
        i = past(g, j, r)
        if i > g.member[j] and g.write[i - 1] == r:  # an rmw is not before itself
            i -= 1
        if i > g.member[j] and g.write[i - 1] != w and past(g, j, w) < i and not add(g, g.write[i - 1], w):
            return False
    return True


@kernel
def infer_after_readers(g: Graph, u: int) -> bool:
    chains = g.count[CHAINS]
    for j in range(g.group[g.location[u]], g.group[g.location[u] + 1]):
        i = past(g, j, u)
        if i == g.member[j]:
            continue
        r = g.reader[g.write[i - 1]]
        while r != NONE:
            known = g.chain[r] != NONE and g.clock[u * chains + g.chain[r]] >= g.position[r]
            if r != u and not known and not add(g, r, u):
                return False
            r = g.next_reader[r]
    return True


@kernel
def add(g: Graph, a: int, b: int) -> bool:
    """An edge more, and what follows for b at once; the rest follows in the next round. False: no room."""
    k = g.count[EDGES]
    if k >= len(g.edge_end):
        return False
    g.edge_start[k] = a
    g.edge_end[k] = b
    g.next_out[k] = g.first_out[a]
    g.first_out[a] = k
    g.count[EDGES] = k + 1
    pass_on(g, a, b)
    return True


@kernel
def ordered_pairs(g: Graph) -> int:
    """How many pairs of writes to one location are ordered."""
    pairs = 0
    for u in range(len(g.kind)):
        if g.kind[u] == WRITE or g.kind[u] == RMW:
            for j in range(g.group[g.location[u]], g.group[g.location[u] + 1]):
                pairs += past(g, j, u) - g.member[j]
    return pairs
