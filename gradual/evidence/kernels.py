"""A run on the machine of a model, step by step, as loops that a compiler can take.

The machine is a memory, with store buffers before it: none, one per thread, one per thread and location. A thread
issues a write into its buffer as soon as its earlier loads are done, so what a buffer holds at a step is known from the
program: the earlier writes of the thread that stand behind that step in the order.

    issue     Thread by thread, in program order: is each step behind all that it must be behind? And which write of
              its own thread would each operation find in the buffer?
    commit    Step by step: does each load find what it read? What a write stores is there from then on.

Knows nothing of engines. Loaded twice, plain and compiled.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from gradual.compiler import kernel

NONE = -1
READ, WRITE, RMW, FENCE = range(4)
NO_BUFFER, PER_THREAD, PER_LOCATION, FENCES_ALONE = range(4)
"""Machines by their buffers; the last one is none: only fences are looked at."""
RR, RW, WR, WW, ALL = 1, 2, 4, 8, 15
FIELDS: dict[str, str] = {
    # per operation: its place in the order, and by place: the operations thread by thread; the last write of its own
    # thread to its location before it; the write that it read
    "turn": "place next own saw",
    # per thread, and one more: where it ends in that
    "thread_end": "past",
    # per location: the last write of the thread at hand, and which thread that is; the last write in memory
    "home": "own of stored",
    # the buffers of the machine; the first step that it cannot do, and that is where a fence is not kept
    "now": "buffers impossible unkept",
}


class Trace(NamedTuple):
    """Columns of a history, and the order."""

    kind: Any
    thread: Any
    location: Any
    read: Any
    written: Any
    fence: Any
    initial: Any
    step: Any


class Machine(NamedTuple):
    """Its state, and what came of it."""

    turn: Any
    thread_end: Any
    home: Any
    now: Any


@kernel
def run(t: Trace, m: Machine) -> int:
    """Leaves in `now` the first step that the machine cannot do, NONE where it can do all; and 0."""
    now = m.now[0]
    now.impossible = len(t.step)
    now.unkept = len(t.step)
    for place in range(len(t.step)):
        m.turn[t.step[place].step].place = place
    take_turns(t, m)
    issue(t, m)
    if now.buffers != FENCES_ALONE:
        commit(t, m)
    return 0


@kernel
def take_turns(t: Trace, m: Machine) -> None:
    """The operations thread by thread."""
    for k in range(len(m.thread_end)):
        m.thread_end[k].past = 0
    for a in range(len(t.kind)):
        m.thread_end[t.thread[a].thread + 1].past += 1
    for k in range(1, len(m.thread_end)):
        m.thread_end[k].past += m.thread_end[k - 1].past
    for a in range(len(t.kind)):
        end = m.thread_end[t.thread[a].thread]
        m.turn[end.past].next = a
        end.past += 1


@kernel
def issue(t: Trace, m: Machine) -> None:
    """What is remembered of a thread: the last places of its reads, of its writes, of all; and the places that later
    reads and writes must be behind, for its fences."""
    thread, reads, writes, last, before_reads, before_writes = NONE, NONE, NONE, NONE, NONE, NONE
    buffers = m.now[0].buffers
    for x in range(len(m.home)):
        m.home[x].of = NONE
    for i in range(len(t.kind)):
        a = m.turn[i].next
        if t.thread[a].thread != thread:
            thread = t.thread[a].thread
            reads, writes, last, before_reads, before_writes = NONE, NONE, NONE, NONE, NONE
        kind, place = t.kind[a].kind, m.turn[a].place
        loads, stores = kind in (READ, RMW), kind in (WRITE, RMW)
        behind = NONE
        if buffers == NO_BUFFER:
            behind = last
        elif kind != FENCE and buffers != FENCES_ALONE:
            behind = reads
            if stores and buffers == PER_THREAD:
                behind = max(behind, writes)
        if kind != FENCE:
            own = last_own(t, m, a, stores)
            if stores and buffers != FENCES_ALONE and own != NONE:
                behind = max(behind, m.turn[own].place)
        if behind > place:
            m.now[0].impossible = min(m.now[0].impossible, place)
        if (loads and before_reads >= place) or (stores and before_writes >= place):
            m.now[0].unkept = min(m.now[0].unkept, place)
        fence = t.fence[a].fence
        if is_plain(fence):
            if ((fence & (RR | RW)) != 0 and reads >= place) or ((fence & (WR | WW)) != 0 and writes >= place):
                m.now[0].unkept = min(m.now[0].unkept, place)
            before_reads = max(before_reads, place if (fence & (RR | WR)) != 0 else NONE)
            before_writes = max(before_writes, place if (fence & (RW | WW)) != 0 else NONE)
        elif fence != 0:
            before_reads = max(before_reads, reads if (fence & RR) != 0 else NONE)
            before_reads = max(before_reads, writes if (fence & WR) != 0 else NONE)
            before_writes = max(before_writes, reads if (fence & RW) != 0 else NONE)
            before_writes = max(before_writes, writes if (fence & WW) != 0 else NONE)
        last = max(last, place)
        if loads:
            reads = max(reads, place)
        if stores:
            writes = max(writes, place)


@kernel
def is_plain(fence: int) -> bool:
    """Does a fence order all of one kind before it with all of one kind after it? Such a one has a place of its own
    between the two; another one, such as fence.tso, only keeps pairs of accesses in order."""
    return fence in (RR, RW, WR, WW, RR | RW, WR | WW, RR | WR, RW | WW, ALL)


@kernel
def last_own(t: Trace, m: Machine, a: int, stores: bool) -> int:
    """The last write of its thread to the location of an access, before it; the access itself is remembered."""
    home = m.home[t.location[a].location]
    own = home.own if home.of == t.thread[a].thread else NONE
    m.turn[a].own = own
    if stores:
        home.own = a
        home.of = t.thread[a].thread
    return own


@kernel
def commit(t: Trace, m: Machine) -> None:
    for x in range(len(m.home)):
        m.home[x].stored = NONE
    for place in range(len(t.step)):
        a = t.step[place].step
        kind = t.kind[a].kind
        if kind != FENCE:
            home = m.home[t.location[a].location]
            if kind != WRITE:
                own = m.turn[a].own
                seen = own if own != NONE and m.turn[own].place > place else home.stored
                found = t.written[seen].written if seen != NONE else t.initial[t.location[a].location].initial
                m.turn[a].saw = seen
                if found != t.read[a].read:
                    m.now[0].impossible = min(m.now[0].impossible, place)
            if kind != READ:
                home.stored = a
