"""The criteria of the ladder on bit sets, to be compiled: for many small histories, what `datalog/` says of one.

A relation is a matrix: row b has a bit for each node a that comes before b. Nodes are the operations and, behind them,
the virtual nodes of the static edges. As in `datalog/history.lp`, initial writes are no nodes: they come before
everything, so a read of an initial value must have no write of its location in its past.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from gradual.compiler import kernel
from gradual.deciding.engine.batch import Batch, Building
from gradual.deciding.engine.kernels import DONE, NONE, PO, RMW, WRITE
from gradual.deciding.engine.static import FULL, MORE_ROOM, build


class Criteria(NamedTuple):
    """Room for the relations, and what came of each history; FIELDS says what it is."""

    word: Any
    found: Any
    now: Any


FIELDS: dict[str, str] = {
    # 64 bits of a row
    "word": "bits:i8",
    # per history: the criterion that fails, or NONE; how many pairs of writes the last rung orders; that rung
    "found": "failed ordered rung",
    # the history at hand: where its operations and locations begin, how many operations and nodes there are, the words
    # of a row; and which ladder is climbed
    "now": "low places operations nodes words ladder",
}

LINK, PI, PAST, VIEW, INFERRED, JOINED, FORCED, AXIOM, SAME = range(9)
"""The matrices: what is before in one step; the program order; all that is before; hb_o of one view; what rule (2)
says in any view; happens-before of all that is joined; the store order; what must be acyclic; and, of an access, the
writes of its location."""
MATRICES = 9
CAUSAL, WEAK, WEAK_APART = range(3)
"""The ladders: CC, CCv, CM, CCM; wCCM; wCCM with its two happens-before relations apart."""
CC, CCV, CM, CCM, WCCM = range(5)
MORE_WORDS = 13
ALONG_PO, ALONG_PO_LOC, PRESERVED = range(3)


@kernel
def climb_all(b: Batch, s: Building, c: Criteria) -> int:
    """The ladder of each history of the batch. DONE, or which tables want more room: then it goes on where it was."""
    while s.now[0].history < len(b.history) - 1:
        h = s.now[0].history
        if build(b, s, h) == FULL:
            return MORE_ROOM
        if not prepare(b, s, c, h):
            return MORE_WORDS
        row = c.found[h]
        if c.now[0].ladder == CAUSAL:
            row.rung = 0
            row.failed = convergence(b, c)
            if row.failed == NONE:
                row.rung = 1
                row.failed = memory(b, c)
        else:
            row.rung = 0
            row.failed = weak(b, s, c)
        row.ordered = ordered_pairs(b, c)
        s.now[0].history += 1
    return DONE


@kernel
def prepare(b: Batch, s: Building, c: Criteria, h: int) -> bool:
    """Empty matrices for history h, but for the writes of each location. False where there is no room."""
    now = c.now[0]
    now.low, now.places = b.history[h].start, b.history[h].place
    now.operations = b.history[h + 1].start - now.low
    now.nodes = s.now[0].nodes
    now.words = (now.nodes + 63) >> 6
    if MATRICES * now.nodes * now.words > len(c.word):
        return False
    for m in range(MATRICES):
        clear(c, m)
    for a in range(now.operations):
        if stores(b, c, a):
            for e in range(now.operations):
                if location(b, c, e) == location(b, c, a):
                    add_pair(c, SAME, a, e)
    return True


# --- operations


@kernel
def stores(b: Batch, c: Criteria, a: int) -> bool:
    kind = b.operation[c.now[0].low + a].kind
    return kind == WRITE or kind == RMW


@kernel
def source(b: Batch, c: Criteria, r: int) -> int:
    """The write that r reads; NONE for the initial value, less where r does not read."""
    return b.operation[c.now[0].low + r].source


@kernel
def location(b: Batch, c: Criteria, a: int) -> int:
    return b.operation[c.now[0].low + a].location


@kernel
def thread(b: Batch, c: Criteria, a: int) -> int:
    return b.operation[c.now[0].low + a].thread


# --- relations


@kernel
def row_of(c: Criteria, m: int, e: int) -> int:
    """Where the row of a node begins."""
    return (m * c.now[0].nodes + e) * c.now[0].words


@kernel
def clear(c: Criteria, m: int) -> None:
    start = row_of(c, m, 0)
    for i in range(start, start + c.now[0].nodes * c.now[0].words):
        c.word[i].bits = 0


@kernel
def has_pair(c: Criteria, m: int, a: int, e: int) -> bool:
    return (c.word[row_of(c, m, e) + (a >> 6)].bits >> (a & 63)) & 1 == 1


@kernel
def add_pair(c: Criteria, m: int, a: int, e: int) -> None:
    c.word[row_of(c, m, e) + (a >> 6)].bits |= 1 << (a & 63)


@kernel
def join(c: Criteria, m: int, with_m: int) -> None:
    """All pairs of another relation too."""
    to, start = row_of(c, m, 0), row_of(c, with_m, 0)
    for i in range(c.now[0].nodes * c.now[0].words):
        c.word[to + i].bits |= c.word[start + i].bits


@kernel
def close_over(c: Criteria, m: int) -> None:
    """The transitive closure."""
    words = c.now[0].words
    for k in range(c.now[0].nodes):
        through = row_of(c, m, k)
        for e in range(c.now[0].nodes):
            if has_pair(c, m, k, e):
                to = row_of(c, m, e)
                for i in range(words):
                    c.word[to + i].bits |= c.word[through + i].bits


@kernel
def put_before(c: Criteria, m: int, a: int, e: int) -> None:
    """A pair more in a closed relation, and what follows from it: a and its past before e and whatever e precedes."""
    past = row_of(c, m, a)
    for after in range(c.now[0].nodes):
        if after == e or has_pair(c, m, e, after):
            to = row_of(c, m, after)
            for i in range(c.now[0].words):
                c.word[to + i].bits |= c.word[past + i].bits
            add_pair(c, m, a, after)


@kernel
def is_cyclic(c: Criteria, m: int) -> bool:
    """Of a closed relation."""
    for e in range(c.now[0].nodes):
        if has_pair(c, m, e, e):
            return True
    return False


@kernel
def sees_a_write(c: Criteria, m: int, r: int) -> bool:
    """Is there a write of its location before r?"""
    past, same = row_of(c, m, r), row_of(c, SAME, r)
    for i in range(c.now[0].words):
        if c.word[past + i].bits & c.word[same + i].bits != 0:
            return True
    return False


@kernel
def add_program_order(b: Batch, c: Criteria, m: int, along: int) -> None:
    """From each operation to the next of its thread, or of its thread and location."""
    for e in range(c.now[0].operations):
        if along == ALONG_PO or location(b, c, e) >= 0:
            a = e - 1
            while a >= 0 and not (thread(b, c, a) == thread(b, c, e)
                                  and (along == ALONG_PO or location(b, c, a) == location(b, c, e))):
                a -= 1
            if a >= 0:
                add_pair(c, m, a, e)


@kernel
def add_preserved(s: Building, c: Criteria, m: int) -> None:
    """The program order that the model preserves: its static edges."""
    for i in range(s.now[0].edges):
        if s.edge[i].by == PO:
            add_pair(c, m, s.edge[i].start, s.edge[i].end)


@kernel
def add_reads_from(b: Batch, c: Criteria, m: int, within: bool) -> None:
    """wr; across threads only where it is not asked for within them too."""
    for r in range(c.now[0].operations):
        w = source(b, c, r)
        if w >= 0 and (within or thread(b, c, w) != thread(b, c, r)):
            add_pair(c, m, w, r)


# --- the store order


@kernel
def force_from(b: Batch, c: Criteria, m: int) -> None:
    """Writes of one location as a relation has them."""
    for e in range(c.now[0].operations):
        if stores(b, c, e):
            past, same, to = row_of(c, m, e), row_of(c, SAME, e), row_of(c, FORCED, e)
            for i in range(c.now[0].words):
                c.word[to + i].bits |= c.word[past + i].bits & c.word[same + i].bits


@kernel
def conflict(b: Batch, c: Criteria, m: int, into: int) -> None:
    """cf: what a relation has before a read comes before the write that is read."""
    for r in range(c.now[0].operations):
        w = source(b, c, r)
        if w >= 0 and sees_a_write(c, m, r):
            for v in range(c.now[0].operations):
                if v != w and has_pair(c, m, v, r) and has_pair(c, SAME, v, r):
                    add_pair(c, into, v, w)


@kernel
def force_last(b: Batch, c: Criteria, into: int) -> None:
    """Final values: all others come before that write."""
    for w in range(c.now[0].operations):
        if is_last(b, c, w):
            for v in range(c.now[0].operations):
                if v != w and has_pair(c, SAME, v, w):
                    add_pair(c, into, v, w)


@kernel
def is_last(b: Batch, c: Criteria, w: int) -> bool:
    at = location(b, c, w)
    return at >= 0 and b.location[c.now[0].places + at].final == w


@kernel
def add_from_reads(b: Batch, c: Criteria, m: int) -> None:
    """rw: from a read to what is forced to come after the write that it reads."""
    for r in range(c.now[0].operations):
        w = source(b, c, r)
        if w >= NONE:
            for u in range(c.now[0].operations):
                if u != r and has_pair(c, SAME, u, r) and (w == NONE or has_pair(c, FORCED, w, u)):
                    add_pair(c, m, r, u)


@kernel
def is_completable(b: Batch, c: Criteria) -> bool:
    """Is AXIOM acyclic, with what is forced and what follows from that?"""
    join(c, AXIOM, FORCED)
    add_from_reads(b, c, AXIOM)
    close_over(c, AXIOM)
    return not is_cyclic(c, AXIOM)


@kernel
def ordered_pairs(b: Batch, c: Criteria) -> int:
    """Pairs of writes that the store order has, whichever way round."""
    close_over(c, FORCED)
    count = 0
    for w in range(c.now[0].operations):
        for v in range(w):
            if has_pair(c, FORCED, v, w) or has_pair(c, FORCED, w, v):
                count += 1
    return count


# --- CC and CCv


@kernel
def convergence(b: Batch, c: Criteria) -> int:
    """The first of CC and CCv that fails."""
    add_program_order(b, c, LINK, ALONG_PO)
    add_reads_from(b, c, LINK, True)
    join(c, PAST, LINK)
    close_over(c, PAST)
    force_from(b, c, PAST)
    conflict(b, c, PAST, AXIOM)
    force_last(b, c, AXIOM)
    join(c, FORCED, AXIOM)
    if is_cyclic(c, PAST) or reads_too_old(b, c):
        return CC
    join(c, AXIOM, LINK)
    close_over(c, AXIOM)
    return CCV if is_cyclic(c, AXIOM) else NONE


@kernel
def reads_too_old(b: Batch, c: Criteria) -> bool:
    """Does a read see a write that is causally after the one that it reads?"""
    for r in range(c.now[0].operations):
        w = source(b, c, r)
        if w >= NONE and sees_a_write(c, PAST, r):
            if w == NONE:
                return True
            for v in range(c.now[0].operations):
                if has_pair(c, SAME, v, r) and has_pair(c, PAST, v, r) and has_pair(c, PAST, w, v):
                    return True
    return False


# --- CM and CCM


@kernel
def memory(b: Batch, c: Criteria) -> int:
    """The first of CM and CCM that fails, where CC and CCv hold: LINK and PAST are causal order."""
    add_program_order(b, c, PI, ALONG_PO)
    close_over(c, PI)
    clear(c, FORCED)
    sound = look(b, c, True)
    join(c, JOINED, LINK)
    join(c, JOINED, INFERRED)
    close_over(c, JOINED)
    force_from(b, c, JOINED)
    conflict(b, c, JOINED, FORCED)
    force_last(b, c, FORCED)
    if not sound:
        return CM
    clear(c, AXIOM)
    join(c, AXIOM, LINK)
    return NONE if is_completable(b, c) else CCM


@kernel
def look(b: Batch, c: Criteria, initial: bool) -> bool:
    """hb_o of every view: into INFERRED goes what rule (2) says. False where one is cyclic or, if that is asked for,
    has a write before a read of an initial value."""
    sound = True
    for o in range(c.now[0].operations):
        if source(b, c, o) >= NONE and not reads_on(b, c, o):
            begin_view(c, o)
            more = True
            while more:
                more = infer(b, c, o)
            sound = sound and not is_cyclic(c, VIEW)
            if initial:
                for r in range(c.now[0].operations):
                    if source(b, c, r) == NONE and is_below(c, r, o) and sees_a_write(c, VIEW, r):
                        sound = False
    return sound


@kernel
def reads_on(b: Batch, c: Criteria, o: int) -> bool:
    """Does another read come after o in the program order?"""
    for r in range(c.now[0].operations):
        if source(b, c, r) >= NONE and has_pair(c, PI, o, r):
            return True
    return False


@kernel
def is_below(c: Criteria, r: int, o: int) -> bool:
    return r == o or has_pair(c, PI, r, o)


@kernel
def begin_view(c: Criteria, o: int) -> None:
    """The past of all that is before o, or is o: the links into these, closed."""
    clear(c, VIEW)
    for e in range(c.now[0].nodes):
        if e == o or has_pair(c, PAST, e, o):
            start, to = row_of(c, PAST, e), row_of(c, VIEW, e)
            for i in range(c.now[0].words):
                c.word[to + i].bits = c.word[start + i].bits


@kernel
def infer(b: Batch, c: Criteria, o: int) -> bool:
    """Rule (2): what the view has before a read, not after o in program order, comes before the write that is read. Was
    there anything new?"""
    new = False
    for r in range(c.now[0].operations):
        w = source(b, c, r)
        if w >= 0 and is_below(c, r, o) and sees_a_write(c, VIEW, r):
            for v in range(c.now[0].operations):
                if v != w and has_pair(c, VIEW, v, r) and has_pair(c, SAME, v, r):
                    add_pair(c, INFERRED, v, w)
                    if not has_pair(c, VIEW, v, w):
                        put_before(c, VIEW, v, w)
                        new = True
    return new


# --- wCCM


@kernel
def weak(b: Batch, s: Building, c: Criteria) -> int:
    """WCCM if it fails."""
    for order in range(ALONG_PO_LOC, PRESERVED + 1):
        begin_order(b, s, c, order)
        look(b, c, False)
        join(c, LINK, INFERRED)
        join(c, JOINED, LINK)
        clear(c, PAST)
        join(c, PAST, LINK)
        close_over(c, PAST)
        conflict(b, c, PAST, FORCED)
        if c.now[0].ladder == WEAK_APART:
            force_from(b, c, PAST)
    if c.now[0].ladder == WEAK:
        close_over(c, JOINED)
        force_from(b, c, JOINED)
    force_last(b, c, FORCED)
    add_program_order(b, c, AXIOM, ALONG_PO_LOC)
    add_reads_from(b, c, AXIOM, True)
    if not is_completable(b, c):
        return WCCM
    clear(c, AXIOM)
    add_preserved(s, c, AXIOM)
    add_reads_from(b, c, AXIOM, False)
    return NONE if is_completable(b, c) else WCCM


@kernel
def begin_order(b: Batch, s: Building, c: Criteria, order: int) -> None:
    """PI, LINK and PAST of one program order."""
    clear(c, PI)
    clear(c, LINK)
    clear(c, INFERRED)
    if order == PRESERVED:
        add_preserved(s, c, PI)
    else:
        add_program_order(b, c, PI, order)
    join(c, LINK, PI)
    add_reads_from(b, c, LINK, False)
    close_over(c, PI)
    clear(c, PAST)
    join(c, PAST, LINK)
    close_over(c, PAST)
