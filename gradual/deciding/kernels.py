"""Saturation and scheduling on flat tables: loops a compiler can take.

This file is loaded twice. As `gradual.deciding.kernels` its functions are plain Python and take lists: no
compiler and no delay, fine up to a few thousand operations. As `gradual.deciding.compiled` (see there) the
same lines are compiled by numba and take arrays.

Threads are chains, so reachability needs no pairs: an operation's clock holds, for each chain, the
latest position on it that comes before the operation. SC has one chain per thread; TSO two (reads;
writes, rmws and fences); PSO one (reads, rmws, fences). PSO's plain writes stand on no chain: a path
leaves such a write only through a read of its location in another thread, a fence, or another
write of its location.

Beside its clock an operation knows, for each thread, how many of that thread's writes to its
location come before it. With that the two rules of saturation are look-ups: for a read r of w, the
last write of each thread before r goes before w; for a write u, all readers of the last write of
each thread before u go before u.

The tables, all flat and of 32-bit numbers (a group is a location and a thread):

    op       per operation the fields THREAD … DIRTY
    row      per operation its clock (a cell per chain), what it knows (per thread) and, for PSO, the
             last event reached (per thread)
    edge     per edge the fields FROM … NEXT; the edges out of an operation are chained from HEAD
    members  per group, its first slot; one more at the end
    slots    per write the fields SLOT_WRITE … SLOT_READERS; one more at the end
    readers  per read of a write the fields READER … READER_POS
    event    PSO: per event the fields EVENT_POS … EVENT_NEXT, then per group its first event
    order    the operations in the order in which the first rounds visit them
    queue    the operations to be visited, going round
    trail    rows as they were, each behind its operation, while a search wants to go back
    count    the numbers EDGES … EVENTS
"""

from __future__ import annotations

from typing import Any, NamedTuple

READ, WRITE, RMW, FENCE = range(4)
PO, WR, WW, RW = range(4)
SC, TSO, PSO = range(3)
DONE, FULL, CYCLE = range(3)
NONE = -1
INITIAL = -1
ASSUMED = -2
"""As the VIA of an edge: a search tries it, nothing justifies it."""

THREAD, KIND, LOCATION, SOURCE, CHAIN, POS, SAME, INDEX, HEAD, DIRTY = range(10)
FIELDS = 10
"""CHAIN and POS are NONE for PSO's plain writes. SAME: the access before this one on its chain (or among
the plain writes) at its location. INDEX: a write's number in its group. HEAD: the newest edge out."""

SLOT_WRITE, SLOT_POS, SLOT_READERS = range(3)
SLOT_FIELDS = 3
"""A slot: a write, its position, and where its readers begin. Slots are sorted by group and index, and readers
as their slots are: what is looked up together lies together."""

READER, READER_CHAIN, READER_POS = range(3)
READER_FIELDS = 3

FROM, TO, TYPE, VIA, NEXT = range(5)
EDGE_FIELDS = 5
"""VIA: of an inferred ww edge, the read its path leads to; of one by the per-location axiom, the access that
saw the second write."""

EVENT_POS, EVENT_WRITE, EVENT_NEXT = range(3)
EVENT_FIELDS = 3

EDGES, BASE, TRAIL, CLOSING_FROM, CLOSING_TO, CLOSING_TYPE, EVENTS, QUEUED, NEXT_IN_QUEUE = range(9)
COUNTS = 9
"""BASE: the edges there were before any inference. TRAIL: its length, NONE while none is kept. CLOSING: the
edge that closed a cycle. QUEUED: how many operations are to be visited, NONE during the first rounds, which
go through all of them; the next one stands at NEXT_IN_QUEUE."""

if __name__ == "gradual.deciding.kernels":

    def kernel(function: Any) -> Any:
        return function

    def index(number: int) -> int:
        return number

else:
    from numba import njit, uint64

    kernel = njit(cache=True, nogil=True)  # type: ignore[assignment]

    @kernel
    def index(number: int) -> int:
        """A number that is never negative: the compiler need not count such indices from the end, and can take
        several steps of a loop over them at once."""
        return uint64(number)  # type: ignore[return-value]


Shape = tuple[int, int, int, int, int, int]
"""The sizes everything else follows from (a plain tuple: numba's cache outlives classes)."""
MODEL, OPERATIONS, THREADS, LOCATIONS, CHAINS, WIDTH = range(6)
"""WIDTH: the cells of a row."""


class Tables(NamedTuple):
    op: Any
    row: Any
    edge: Any
    members: Any
    slots: Any
    readers: Any
    event: Any
    order: Any
    queue: Any
    scratch: Any
    trail: Any
    count: Any


def shape(model: int, operations: int, threads: int, locations: int) -> Shape:
    chains = 2 * threads if model == TSO else threads
    return model, operations, threads, locations, chains, chains + threads * (2 if model == PSO else 1)


# --- preparation


@kernel
def prepare(z: Shape, op: Any, edge: Any, members: Any, slots: Any, readers: Any, event: Any, order: Any, scratch: Any,
            final: Any, count: Any) -> int:
    """Chains, groups and every edge that holds before anything is inferred.

    Returns DONE; FULL when there is no room for the edges; or CYCLE when a read of the initial value comes
    after its thread saw a write there: the read is left in count[CLOSING_FROM].
    """
    for i in range(COUNTS):
        count[i] = 0
    count[TRAIL] = NONE
    _chains(z, op, scratch)
    _groups(z, op, members, slots, readers, order)
    _lanes(z, op, scratch)
    if z[MODEL] == PSO:
        _events(z, op, members, slots, event, order, scratch, count)
    if z[MODEL] != SC and not _per_location(z, op, edge, scratch, count):
        return FULL if count[CLOSING_FROM] == NONE else CYCLE
    if not _program_order(z, op, edge, members, slots, order, scratch, count):
        return FULL
    if not _reads_from(z, op, edge, count):
        return FULL
    if not _initial_and_final(z, op, edge, members, slots, scratch, final, count):
        return FULL
    count[BASE] = count[EDGES]
    _visiting_order(z, op, edge, order, scratch, count)
    return DONE


@kernel
def _chains(z: Shape, op: Any, length: Any) -> None:
    for c in range(z[CHAINS]):
        length[c] = 0
    for e in range(z[OPERATIONS]):
        at = e * FIELDS
        t, k = op[at + THREAD], op[at + KIND]
        op[at + HEAD] = NONE
        op[at + DIRTY] = 1
        op[at + SAME] = NONE
        if z[MODEL] == PSO and k == WRITE:
            op[at + CHAIN] = NONE
            op[at + POS] = NONE
            continue
        c = t
        if z[MODEL] == TSO:
            c = 2 * t + (0 if k == READ else 1)
        op[at + CHAIN] = c
        op[at + POS] = length[c]
        length[c] += 1


@kernel
def _groups(z: Shape, op: Any, members: Any, slots: Any, readers: Any, slot_of: Any) -> None:
    for g in range(z[LOCATIONS] * z[THREADS] + 1):
        members[g] = 0
    for e in range(z[OPERATIONS]):
        at = e * FIELDS
        if op[at + KIND] == WRITE or op[at + KIND] == RMW:
            g = op[at + LOCATION] * z[THREADS] + op[at + THREAD]
            op[at + INDEX] = members[g + 1]
            members[g + 1] += 1
    for g in range(z[LOCATIONS] * z[THREADS]):
        members[g + 1] += members[g]
    count = members[z[LOCATIONS] * z[THREADS]]
    for slot in range(count + 1):
        slots[slot * SLOT_FIELDS + SLOT_READERS] = 0
    for e in range(z[OPERATIONS]):
        at = e * FIELDS
        if op[at + KIND] == WRITE or op[at + KIND] == RMW:
            slot = members[op[at + LOCATION] * z[THREADS] + op[at + THREAD]] + op[at + INDEX]
            slot_of[e] = slot
            slots[slot * SLOT_FIELDS + SLOT_WRITE] = e
            slots[slot * SLOT_FIELDS + SLOT_POS] = op[at + POS]
    _readers(z, op, slots, readers, slot_of, count)


@kernel
def _readers(z: Shape, op: Any, slots: Any, readers: Any, slot_of: Any, count: int) -> None:
    for e in range(z[OPERATIONS]):
        if op[e * FIELDS + SOURCE] >= 0:
            slots[slot_of[op[e * FIELDS + SOURCE]] * SLOT_FIELDS + SLOT_READERS] += 1
    start = 0
    for slot in range(count + 1):
        start += slots[slot * SLOT_FIELDS + SLOT_READERS]
        slots[slot * SLOT_FIELDS + SLOT_READERS] = start  # filled from behind, so that it ends as the beginning
    for e in range(z[OPERATIONS]):
        if op[e * FIELDS + SOURCE] >= 0:
            at = slot_of[op[e * FIELDS + SOURCE]] * SLOT_FIELDS + SLOT_READERS
            slots[at] -= 1
            r = slots[at] * READER_FIELDS
            readers[r + READER] = e
            readers[r + READER_CHAIN] = op[e * FIELDS + CHAIN]
            readers[r + READER_POS] = op[e * FIELDS + POS]


@kernel
def _lanes(z: Shape, op: Any, last: Any) -> None:
    for lane in range((z[CHAINS] + z[THREADS]) * z[LOCATIONS]):
        last[lane] = NONE
    for e in range(z[OPERATIONS]):
        at = e * FIELDS
        if op[at + LOCATION] >= 0:
            lane = op[at + CHAIN] if op[at + CHAIN] != NONE else z[CHAINS] + op[at + THREAD]
            lane = lane * z[LOCATIONS] + op[at + LOCATION]
            op[at + SAME] = last[lane]
            last[lane] = e


@kernel
def _events(z: Shape, op: Any, members: Any, slots: Any, event: Any, earlier: Any, scratch: Any, count: Any) -> None:
    """PSO: what a thread's chain tells of a location: who is after this position is after that write.

    A read tells of its source in another thread, an rmw of itself, a fence of the writes its thread
    had pending.
    """
    pending = z[LOCATIONS] * z[THREADS]  # per thread its newest write since the last fence, chained by `earlier`
    for g in range(pending):
        event[(z[OPERATIONS] + 1) * EVENT_FIELDS + g] = NONE
    for t in range(z[THREADS]):
        scratch[pending + t] = NONE
    for e in range(z[OPERATIONS]):
        at = e * FIELDS
        t, k, pos = op[at + THREAD], op[at + KIND], op[at + POS]
        if k == WRITE:
            earlier[e] = scratch[pending + t]
            scratch[pending + t] = e
        elif k == READ:
            source = op[at + SOURCE]
            if source >= 0 and op[source * FIELDS + THREAD] != t:
                _tell(z, event, scratch, count, op[at + LOCATION] * z[THREADS] + t, pos, source)
        elif k == RMW:
            _tell(z, event, scratch, count, op[at + LOCATION] * z[THREADS] + t, pos, e)
        else:
            w = scratch[pending + t]
            while w != NONE:
                g = op[w * FIELDS + LOCATION] * z[THREADS] + t
                following = members[g] + op[w * FIELDS + INDEX] + 1
                last = following == members[g + 1] or slots[following * SLOT_FIELDS + SLOT_WRITE] > e
                if last:  # before the fence, at that location
                    _tell(z, event, scratch, count, g, pos, w)
                w = earlier[w]
            scratch[pending + t] = NONE


@kernel
def _tell(z: Shape, event: Any, newest: Any, count: Any, group: int, pos: int, write: int) -> None:
    v = count[EVENTS]
    event[v * EVENT_FIELDS + EVENT_POS] = pos
    event[v * EVENT_FIELDS + EVENT_WRITE] = write
    event[v * EVENT_FIELDS + EVENT_NEXT] = NONE
    first = (z[OPERATIONS] + 1) * EVENT_FIELDS + group
    if event[first] == NONE:
        event[first] = v
    else:
        event[newest[group] * EVENT_FIELDS + EVENT_NEXT] = v
    newest[group] = v
    count[EVENTS] = v + 1


@kernel
def _edge(op: Any, edge: Any, count: Any, kind: int, a: int, b: int, via: int) -> bool:
    """Record an edge. False when there is no room."""
    k = count[EDGES]
    at = k * EDGE_FIELDS
    if at >= len(edge):
        return False
    edge[at + FROM] = a
    edge[at + TO] = b
    edge[at + TYPE] = kind
    edge[at + VIA] = via
    edge[at + NEXT] = op[a * FIELDS + HEAD]
    op[a * FIELDS + HEAD] = k
    count[EDGES] = k + 1
    return True


@kernel
def _program_order(z: Shape, op: Any, edge: Any, members: Any, slots: Any, earlier: Any, scratch: Any,
                   count: Any) -> bool:
    """Few edges whose closure is the program order the model preserves (`order.ppo` says which)."""
    load, store, pending = 0, z[THREADS], 2 * z[THREADS]
    for i in range(3 * z[THREADS]):
        scratch[i] = NONE
    room = True
    for e in range(z[OPERATIONS]):
        at = e * FIELDS
        t, k = op[at + THREAD], op[at + KIND]
        loads, stores = scratch[load + t], scratch[store + t]
        if loads != NONE:
            room = _edge(op, edge, count, PO, loads, e, NONE)
        if z[MODEL] == TSO and k != READ and stores != NONE and stores != loads:
            room = room and _edge(op, edge, count, PO, stores, e, NONE)
        if z[MODEL] == PSO and (k == WRITE or k == RMW) and op[at + INDEX] > 0:
            w = slots[(members[op[at + LOCATION] * z[THREADS] + t] + op[at + INDEX] - 1) * SLOT_FIELDS + SLOT_WRITE]
            if w != loads:
                room = room and _edge(op, edge, count, PO, w, e, NONE)
        if z[MODEL] == PSO and k == FENCE:
            w = scratch[pending + t]
            while w != NONE:
                room = room and _edge(op, edge, count, PO, w, e, NONE)
                w = earlier[w]
            scratch[pending + t] = NONE
        if not room:
            return False
        if z[MODEL] == SC or k != WRITE:
            scratch[load + t] = e
        if k != READ:
            scratch[store + t] = e
        if k == WRITE:
            earlier[e] = scratch[pending + t]
            scratch[pending + t] = e
    return True


@kernel
def _reads_from(z: Shape, op: Any, edge: Any, count: Any) -> bool:
    for e in range(z[OPERATIONS]):
        w = op[e * FIELDS + SOURCE]
        if w >= 0 and (z[MODEL] == SC or op[w * FIELDS + THREAD] != op[e * FIELDS + THREAD]):
            if not _edge(op, edge, count, WR, w, e, NONE):
                return False
    return True


@kernel
def _per_location(z: Shape, op: Any, edge: Any, seen: Any, count: Any) -> bool:
    """The per-location axiom, as ww edges: the write a thread saw last precedes the next it sees.

    Two writes of its own are left to its program order.

    False when it is violated at once (count[CLOSING_FROM] is the read) or there is no room (it is NONE).
    """
    for g in range(z[LOCATIONS] * z[THREADS]):
        seen[g] = NONE
    count[CLOSING_FROM] = NONE
    for e in range(z[OPERATIONS]):
        at = e * FIELDS
        k = op[at + KIND]
        if k == FENCE:
            continue
        g = op[at + LOCATION] * z[THREADS] + op[at + THREAD]
        if k != WRITE:
            w = op[at + SOURCE]
            if seen[g] != NONE and w != seen[g]:
                if w < 0:
                    count[CLOSING_FROM] = e
                    return False
                if not _edge(op, edge, count, WW, seen[g], w, e):
                    return False
            seen[g] = w if w >= 0 else NONE
        if k != READ:
            if seen[g] != NONE and op[seen[g] * FIELDS + THREAD] != op[at + THREAD]:
                if not _edge(op, edge, count, WW, seen[g], e, e):
                    return False
            seen[g] = e
    return True


@kernel
def _initial_and_final(z: Shape, op: Any, edge: Any, members: Any, slots: Any, reads: Any, final: Any,
                       count: Any) -> bool:
    """A read of the initial value precedes every write; a demanded last write follows every other."""
    for g in range(z[LOCATIONS] * z[THREADS]):
        reads[g] = NONE
    for e in range(z[OPERATIONS]):
        at = e * FIELDS
        if op[at + SOURCE] == INITIAL and (op[at + KIND] == READ or op[at + KIND] == RMW):
            reads[op[at + LOCATION] * z[THREADS] + op[at + THREAD]] = e  # the last one of the thread is enough
    for x in range(z[LOCATIONS]):
        for g in range(x * z[THREADS], (x + 1) * z[THREADS]):
            if members[g] == members[g + 1]:
                continue
            first = slots[members[g] * SLOT_FIELDS + SLOT_WRITE]
            last = slots[(members[g + 1] - 1) * SLOT_FIELDS + SLOT_WRITE]
            for h in range(x * z[THREADS], (x + 1) * z[THREADS]):
                if reads[h] != NONE and reads[h] != first:
                    if not _edge(op, edge, count, RW, reads[h], first, NONE):
                        return False
            if final[x] >= 0 and last != final[x]:
                if not _edge(op, edge, count, WW, last, final[x], NONE):
                    return False
    return True


@kernel
def _visiting_order(z: Shape, op: Any, edge: Any, order: Any, waiting: Any, count: Any) -> None:
    """That of the trace where reads-from goes forward in it, else a topological one."""
    for e in range(z[OPERATIONS]):
        order[e] = e
    for e in range(z[OPERATIONS]):
        if op[e * FIELDS + SOURCE] > e:
            arrange(z, op, edge, order, waiting, count)
            return


@kernel
def arrange(z: Shape, op: Any, edge: Any, order: Any, waiting: Any, count: Any) -> None:
    """Sort `order` topologically by all edges; what lies on or behind a cycle comes last."""
    for e in range(z[OPERATIONS]):
        waiting[e] = 0
    for k in range(count[EDGES]):
        waiting[edge[k * EDGE_FIELDS + TO]] += 1
    done = 0
    for e in range(z[OPERATIONS]):
        if waiting[e] == 0:
            order[done] = e
            done += 1
    first = 0
    while first < done:
        k = op[order[first] * FIELDS + HEAD]
        first += 1
        while k != NONE:
            b = edge[k * EDGE_FIELDS + TO]
            waiting[b] -= 1
            if waiting[b] == 0:
                order[done] = b
                done += 1
            k = edge[k * EDGE_FIELDS + NEXT]
    for e in range(z[OPERATIONS]):
        if waiting[e] > 0:
            order[done] = e
            done += 1


# --- the fixpoint


@kernel
def saturate(z: Shape, op: Any, row: Any, edge: Any, members: Any, slots: Any, readers: Any, event: Any, order: Any,
             queue: Any, trail: Any, count: Any) -> int:
    """Visit everything, then what changed, until nothing does.

    DONE; CYCLE, with the closing edge in count; FULL, to be called again.
    """
    count[QUEUED] = NONE
    changed = True
    while changed:
        changed = False
        for i in range(z[OPERATIONS]):
            e = order[i]
            if op[e * FIELDS + DIRTY]:
                op[e * FIELDS + DIRTY] = 0
                answer = _visit(z, op, row, edge, members, slots, readers, event, queue, trail, count, e)
                if answer != DONE:
                    op[e * FIELDS + DIRTY] = 1
                    return answer
                changed = True
    count[QUEUED] = 0
    count[NEXT_IN_QUEUE] = 0
    return DONE


@kernel
def follow(z: Shape, op: Any, row: Any, edge: Any, members: Any, slots: Any, readers: Any, event: Any, queue: Any,
           trail: Any, count: Any) -> int:
    """The same after one more edge: visit only what is queued."""
    while count[QUEUED] > 0:
        e = queue[count[NEXT_IN_QUEUE]]
        count[NEXT_IN_QUEUE] = (count[NEXT_IN_QUEUE] + 1) % z[OPERATIONS]
        count[QUEUED] -= 1
        op[e * FIELDS + DIRTY] = 0
        answer = _visit(z, op, row, edge, members, slots, readers, event, queue, trail, count, e)
        if answer != DONE:
            _enqueue(z, op, queue, count, e)  # it was not passed on to everybody
            return answer
    return DONE


@kernel
def _enqueue(z: Shape, op: Any, queue: Any, count: Any, e: int) -> None:
    if not op[e * FIELDS + DIRTY]:
        op[e * FIELDS + DIRTY] = 1
        if count[QUEUED] != NONE:
            queue[(count[NEXT_IN_QUEUE] + count[QUEUED]) % z[OPERATIONS]] = e
            count[QUEUED] += 1


@kernel
def _visit(z: Shape, op: Any, row: Any, edge: Any, members: Any, slots: Any, readers: Any, event: Any, queue: Any,
           trail: Any, count: Any, e: int) -> int:
    """Learn from the clock, infer what follows, and pass everything on."""
    at = e * FIELDS
    if op[at + LOCATION] >= 0:
        if not _room(z, trail, count):
            return FULL
        _remember(z, row, trail, count, e)
        if z[MODEL] == PSO:
            _learn_from_events(z, op, row, event, e)
        else:
            _learn(z, op, row, members, slots, e)
        if op[at + KIND] != WRITE and op[at + SOURCE] >= 0:
            answer = _infer_before_source(z, op, row, edge, members, slots, queue, trail, count, e)
            if answer != DONE:
                return answer
        if op[at + KIND] != READ:
            answer = _infer_after_readers(z, op, row, edge, members, slots, readers, queue, trail, count, e)
            if answer != DONE:
                return answer
    k = op[at + HEAD]
    while k != NONE:
        answer = _push(z, op, row, queue, trail, count, edge[k * EDGE_FIELDS + TYPE], e, edge[k * EDGE_FIELDS + TO])
        if answer != DONE:
            return answer
        k = edge[k * EDGE_FIELDS + NEXT]
    return DONE


@kernel
def _remember(z: Shape, row: Any, trail: Any, count: Any, e: int) -> None:
    """Put a row on the trail, while one is kept, before it is changed."""
    n = count[TRAIL]
    if n != NONE:
        trail[n] = e
        for i in range(z[WIDTH]):
            trail[n + 1 + i] = row[e * z[WIDTH] + i]
        count[TRAIL] = n + 1 + z[WIDTH]


@kernel
def _room(z: Shape, trail: Any, count: Any) -> bool:
    """Is there room on the trail for all that one step can change?"""
    return count[TRAIL] == NONE or count[TRAIL] + 2 * (z[WIDTH] + 1) <= len(trail)


@kernel
def _stores(z: Shape, t: int) -> int:
    """The chain of t's writes."""
    return 2 * t + 1 if z[MODEL] == TSO else t


@kernel
def _learn(z: Shape, op: Any, row: Any, members: Any, slots: Any, e: int) -> None:
    """Bring what e knows up to its clock. Knowledge only grows along a chain, so the walk goes on from there."""
    at = e * FIELDS
    mine = e * z[WIDTH]
    before = op[at + SAME] * z[WIDTH] if op[at + SAME] != NONE else mine
    group = op[at + LOCATION] * z[THREADS]
    for t in range(z[THREADS]):
        first, past = members[group + t], members[group + t + 1]
        k = max(row[mine + z[CHAINS] + t], row[before + z[CHAINS] + t])
        limit = row[mine + _stores(z, t)]
        while first + k < past and slots[(first + k) * SLOT_FIELDS + SLOT_POS] <= limit:
            k += 1
        row[mine + z[CHAINS] + t] = k


@kernel
def _learn_from_events(z: Shape, op: Any, row: Any, event: Any, e: int) -> None:
    """The same for PSO, from what the chains tell of the location."""
    at = e * FIELDS
    mine = e * z[WIDTH]
    before = op[at + SAME] * z[WIDTH] if op[at + SAME] != NONE else mine
    reached = z[CHAINS] + z[THREADS]
    first = (z[OPERATIONS] + 1) * EVENT_FIELDS + op[at + LOCATION] * z[THREADS]
    for t in range(z[THREADS]):
        v = max(row[mine + reached + t], row[before + reached + t])
        following = event[first + t] if v == NONE else event[v * EVENT_FIELDS + EVENT_NEXT]
        while following != NONE and event[following * EVENT_FIELDS + EVENT_POS] <= row[mine + t]:
            v = following
            following = event[v * EVENT_FIELDS + EVENT_NEXT]
        if v != NONE:
            row[mine + reached + t] = v
            _join(z, op, row, event[v * EVENT_FIELDS + EVENT_WRITE], e)


@kernel
def _join(z: Shape, op: Any, row: Any, w: int, e: int) -> bool:
    """PSO: e comes after the write w of its location, so it knows what w knows, and w. Was that new?"""
    theirs, mine = w * z[WIDTH] + z[CHAINS], e * z[WIDTH] + z[CHAINS]
    new = False
    for t in range(z[THREADS]):
        if row[theirs + t] > row[mine + t]:
            row[mine + t] = row[theirs + t]
            new = True
    t = op[w * FIELDS + THREAD]
    if op[w * FIELDS + INDEX] >= row[mine + t]:
        row[mine + t] = op[w * FIELDS + INDEX] + 1
        new = True
    return new


@kernel
def _infer_before_source(z: Shape, op: Any, row: Any, edge: Any, members: Any, slots: Any, queue: Any, trail: Any,
                         count: Any, r: int) -> int:
    """The last write of each thread before r goes before the one that r reads."""
    w = op[r * FIELDS + SOURCE]
    mine, theirs = r * z[WIDTH], w * z[WIDTH]
    group = op[r * FIELDS + LOCATION] * z[THREADS]
    for t in range(z[THREADS]):
        k = row[mine + z[CHAINS] + t]
        if k <= row[theirs + z[CHAINS] + t]:
            continue
        slot = (members[group + t] + k - 1) * SLOT_FIELDS
        v = slots[slot + SLOT_WRITE]
        if v == w or v == r:
            continue
        if z[MODEL] != PSO and row[theirs + _stores(z, t)] >= slots[slot + SLOT_POS]:
            continue
        answer = add(z, op, row, edge, queue, trail, count, WW, v, w, r)
        if answer != DONE:
            return answer
    return DONE


@kernel
def _infer_after_readers(z: Shape, op: Any, row: Any, edge: Any, members: Any, slots: Any, readers: Any, queue: Any,
                         trail: Any, count: Any, u: int) -> int:
    """All readers of the last write of each thread before u go before u."""
    at = u * FIELDS
    mine = u * z[WIDTH]
    group, own = op[at + LOCATION] * z[THREADS], u
    if op[at + INDEX] > 0:
        own = slots[(members[group + op[at + THREAD]] + op[at + INDEX] - 1) * SLOT_FIELDS + SLOT_WRITE]
    before = own * z[WIDTH]
    for t in range(z[THREADS]):
        k = row[mine + z[CHAINS] + t] if t != op[at + THREAD] else op[at + INDEX]
        if k == 0 or (own != u and k <= row[before + z[CHAINS] + t]):
            continue  # nothing, or what the thread's write before u knew already
        slot = (members[group + t] + k - 1) * SLOT_FIELDS
        for i in range(slots[slot + SLOT_READERS], slots[slot + SLOT_FIELDS + SLOT_READERS]):
            r, chain = readers[i * READER_FIELDS + READER], readers[i * READER_FIELDS + READER_CHAIN]
            if r != u and row[mine + chain] < readers[i * READER_FIELDS + READER_POS]:
                answer = add(z, op, row, edge, queue, trail, count, RW, r, u, NONE)
                if answer != DONE:
                    return answer
    return DONE


@kernel
def add(z: Shape, op: Any, row: Any, edge: Any, queue: Any, trail: Any, count: Any, kind: int, a: int, b: int,
        via: int) -> int:
    """An edge more: inferred, or (VIA is ASSUMED) tried by a search. What follows is `saturate`'s or `follow`'s."""
    if not _room(z, trail, count) or not _edge(op, edge, count, kind, a, b, via):
        return FULL
    return _push(z, op, row, queue, trail, count, kind, a, b)


@kernel
def _push(z: Shape, op: Any, row: Any, queue: Any, trail: Any, count: Any, kind: int, a: int, b: int) -> int:
    """a comes before b: b is after all that a is after. CYCLE when b itself is among that."""
    theirs, mine, chains = index(a * z[WIDTH]), index(b * z[WIDTH]), index(z[CHAINS])
    chain, pos = op[a * FIELDS + CHAIN], op[a * FIELDS + POS]
    new = chain != NONE and pos > row[mine + index(chain)]
    for c in range(chains):
        new |= row[theirs + c] > row[mine + c]
    joins = z[MODEL] == PSO and op[a * FIELDS + KIND] != READ and op[a * FIELDS + LOCATION] >= 0
    joins = joins and op[a * FIELDS + LOCATION] == op[b * FIELDS + LOCATION]
    if not new and not joins:
        return DONE
    if not _room(z, trail, count):
        return FULL
    _remember(z, row, trail, count, b)
    for c in range(chains):
        row[mine + c] = max(row[mine + c], row[theirs + c])
    if chain != NONE:
        row[mine + index(chain)] = max(row[mine + index(chain)], pos)
    chain = op[b * FIELDS + CHAIN]
    closed = new and chain != NONE and row[mine + index(chain)] >= op[b * FIELDS + POS]
    if joins:
        own = mine + chains + index(op[b * FIELDS + THREAD])
        before = row[own]
        new = _join(z, op, row, a, b) or new
        closed = closed or (op[b * FIELDS + KIND] != READ and before <= op[b * FIELDS + INDEX] < row[own])
    if new:
        _enqueue(z, op, queue, count, b)
    if closed:
        count[CLOSING_FROM] = a
        count[CLOSING_TO] = b
        count[CLOSING_TYPE] = kind
        return CYCLE
    return DONE


# --- searching


@kernel
def undo(z: Shape, op: Any, row: Any, edge: Any, queue: Any, trail: Any, count: Any, length: int, edges: int) -> None:
    """Back to the time when the trail and the edges had these lengths."""
    while count[TRAIL] > length:
        n = count[TRAIL] - 1 - z[WIDTH]
        for i in range(z[WIDTH]):
            row[trail[n] * z[WIDTH] + i] = trail[n + 1 + i]
        count[TRAIL] = n
    k = count[EDGES]
    while k > edges:
        k -= 1
        op[edge[k * EDGE_FIELDS + FROM] * FIELDS + HEAD] = edge[k * EDGE_FIELDS + NEXT]
    count[EDGES] = k
    for i in range(count[QUEUED]):
        op[queue[(count[NEXT_IN_QUEUE] + i) % z[OPERATIONS]] * FIELDS + DIRTY] = 0
    count[QUEUED] = 0


@kernel
def touch(z: Shape, op: Any) -> None:
    """Have everything visited again. In topological order one round makes PSO's knowledge complete: what an
    operation learns from an event it learns before that write has learnt everything."""
    for e in range(z[OPERATIONS]):
        op[e * FIELDS + DIRTY] = 1


@kernel
def ordered_pairs(z: Shape, op: Any, row: Any) -> int:
    """How many pairs of writes to one location are ordered."""
    pairs = 0
    for e in range(z[OPERATIONS]):
        if op[e * FIELDS + KIND] == WRITE or op[e * FIELDS + KIND] == RMW:
            for t in range(z[THREADS]):
                pairs += row[e * z[WIDTH] + z[CHAINS] + t]
    return pairs


# --- scheduling
#
# Greedily run the operations along all edges: a write when nobody still needs the value it overwrites.
#
#     rank       per operation: the lower, the sooner, where there is a choice
#     run        the operations, in the order they ran
#     place      per operation: its place in `run`, NONE before it has run
#     waiting    per operation: how many edges into it are left
#     unread     per write, and per location behind them: how many reads of it are left
#     current    per location: its last write; per write behind them: the one it overwrote
#     first      per location: its first write that waits for reads; per write behind them: the next one
#     heap       the operations that have all their edges behind them, lowest rank first
#     done       how many ran; how many edges were taken into account


@kernel
def start_schedule(z: Shape, op: Any, place: Any, waiting: Any, unread: Any, current: Any, done: Any) -> None:
    n = z[OPERATIONS]
    for e in range(n):
        waiting[e] = 0
        unread[e] = 0
        place[e] = NONE
    for x in range(z[LOCATIONS]):
        unread[n + x] = 0
        current[x] = n + x
    for e in range(n):
        if op[e * FIELDS + KIND] == READ or op[e * FIELDS + KIND] == RMW:
            unread[_source(z, op, e)] += 1
    done[0] = 0
    done[1] = 0


@kernel
def schedule(z: Shape, op: Any, edge: Any, count: Any, rank: Any, run: Any, place: Any, waiting: Any, unread: Any,
             current: Any, first: Any, heap: Any, done: Any) -> int:
    """Take new edges into account, then run on. Returns how many ran: all of them, or it is stuck."""
    fresh, ran = done[1] == 0, done[0]
    _unwind(z, op, edge, run, place, waiting, unread, current, done, _violated(edge, count, place, done))
    for k in range(done[1], count[EDGES]):
        if place[edge[k * EDGE_FIELDS + FROM]] == NONE:
            waiting[edge[k * EDGE_FIELDS + TO]] += 1
    done[1] = count[EDGES]
    size = 0
    for e in range(z[OPERATIONS] if fresh else 0):
        if waiting[e] == 0:
            size = _rise(heap, size, rank, e)
    for i in range(done[0], ran):  # what was taken back; `run` still has it
        if waiting[run[i]] == 0:
            size = _rise(heap, size, rank, run[i])
    for x in range(z[LOCATIONS]):
        e = NONE if fresh else first[x]
        first[x] = NONE
        while e != NONE:
            if waiting[e] == 0:
                size = _rise(heap, size, rank, e)
            e = first[z[LOCATIONS] + e]
    ran = done[0]
    while size > 0:
        e = heap[0]
        size = _sink(heap, size, rank)
        x, k = op[e * FIELDS + LOCATION], op[e * FIELDS + KIND]
        if k == WRITE or k == RMW:
            left = unread[current[x]]
            if not (left == 0 if k == WRITE else left == 1 and _source(z, op, e) == current[x]):
                first[z[LOCATIONS] + e] = first[x]
                first[x] = e
                continue
            current[z[LOCATIONS] + e] = current[x]
            current[x] = e
        if k == READ or k == RMW:
            unread[_source(z, op, e)] -= 1
        run[ran] = e
        place[e] = ran
        ran += 1
        k = op[e * FIELDS + HEAD]
        while k != NONE:
            b = edge[k * EDGE_FIELDS + TO]
            waiting[b] -= 1
            if waiting[b] == 0:
                size = _rise(heap, size, rank, b)
            k = edge[k * EDGE_FIELDS + NEXT]
        if x >= 0 and unread[current[x]] <= 1:  # those who wait here may go on
            while first[x] != NONE:
                size = _rise(heap, size, rank, first[x])
                first[x] = first[z[LOCATIONS] + first[x]]
    done[0] = ran
    return ran


@kernel
def _violated(edge: Any, count: Any, place: Any, done: Any) -> int:
    """The first place of the run that an edge it did not know of forbids."""
    to = done[0]
    for k in range(done[1], count[EDGES]):
        a, b = place[edge[k * EDGE_FIELDS + FROM]], place[edge[k * EDGE_FIELDS + TO]]
        if b != NONE and (a == NONE or a > b):
            to = min(to, b)
    return to


@kernel
def _unwind(z: Shape, op: Any, edge: Any, run: Any, place: Any, waiting: Any, unread: Any, current: Any, done: Any,
            to: int) -> None:
    """Take the run back to a place: everything it did, last first."""
    while done[0] > to:
        done[0] -= 1
        e = run[done[0]]
        place[e] = NONE
        k = op[e * FIELDS + KIND]
        if k == READ or k == RMW:
            unread[_source(z, op, e)] += 1
        if k == WRITE or k == RMW:
            current[op[e * FIELDS + LOCATION]] = current[z[LOCATIONS] + e]
        k = op[e * FIELDS + HEAD]
        while k != NONE:
            if k < done[1]:
                waiting[edge[k * EDGE_FIELDS + TO]] += 1
            k = edge[k * EDGE_FIELDS + NEXT]


@kernel
def _source(z: Shape, op: Any, e: int) -> int:
    source = op[e * FIELDS + SOURCE]
    return source if source >= 0 else z[OPERATIONS] + op[e * FIELDS + LOCATION]


@kernel
def _rise(heap: Any, size: int, rank: Any, e: int) -> int:
    """Add e to the heap. Returns the new size."""
    i = size
    while i > 0 and rank[heap[(i - 1) // 2]] > rank[e]:
        heap[i] = heap[(i - 1) // 2]
        i = (i - 1) // 2
    heap[i] = e
    return size + 1


@kernel
def _sink(heap: Any, size: int, rank: Any) -> int:
    """Take the top off the heap. Returns the new size."""
    size -= 1
    e = heap[size]
    i = 0
    while 2 * i + 1 < size:
        child = 2 * i + 1
        if child + 1 < size and rank[heap[child + 1]] < rank[heap[child]]:
            child += 1
        if rank[heap[child]] >= rank[e]:
            break
        heap[i] = heap[child]
        i = child
    heap[i] = e
    return size


# --- many small histories


@kernel
def decide_many(model: int, starts: Any, threads: Any, locations: Any, op: Any, final: Any, finals: Any, row: Any,
                edge: Any, members: Any, slots: Any, readers: Any, event: Any, order: Any, queue: Any, scratch: Any,
                trail: Any, count: Any, rank: Any, place: Any, waiting: Any, unread: Any, current: Any, first: Any,
                heap: Any, done: Any, run: Any, ordered: Any, scheduled: Any) -> None:
    """Saturate and schedule histories one after the other, in tables that are large enough for any of them.

    History h has the operations from starts[h] to starts[h + 1] and its final values from finals[h] on.
    scheduled[h] says whether its run was found at once; where not, somebody else must look.
    Only ever compiled: the histories are views of the tables.
    """
    for h in range(len(starts) - 1):
        low, high = starts[h], starts[h + 1]
        n, t = high - low, threads[h]
        chains = 2 * t if model == TSO else t
        z = (model, n, t, locations[h], chains, chains + t * (2 if model == PSO else 1))
        mine, my_run = op[low * FIELDS:high * FIELDS], run[low:high]
        for e in range(n):
            for c in range(z[WIDTH]):
                row[e * z[WIDTH] + c] = 0 if chains <= c < chains + t else NONE
        scheduled[h] = 0
        ordered[h] = 0
        if prepare(z, mine, edge, members, slots, readers, event, order, scratch, final[finals[h]:], count) != DONE:
            continue
        if saturate(z, mine, row, edge, members, slots, readers, event, order, queue, trail, count) != DONE:
            continue
        for i in range(n):
            rank[order[i]] = i
        if model == PSO:
            arrange(z, mine, edge, order, scratch, count)
            touch(z, mine)
            saturate(z, mine, row, edge, members, slots, readers, event, order, queue, trail, count)
        ordered[h] = ordered_pairs(z, mine, row)
        start_schedule(z, mine, place, waiting, unread, current, done)
        ran = schedule(z, mine, edge, count, rank, my_run, place, waiting, unread, current, first, heap, done)
        scheduled[h] = ran == n
        for i in range(n):
            my_run[i] += low
