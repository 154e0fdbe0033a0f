"""Conflict-driven scheduling: perform the operations one after the other, and learn from getting stuck.

Given are the static edges of a model (`static.py`) and, for each read, the slot it reads: a write, or the initial value
of its location. Wanted is an order of all nodes along the edges in which each read comes before its slot is
overwritten: then the writes of each location, in that order, are a store order that the model allows.

    run on      Whatever has all its edges behind it is performed: a read, a fence, a node that stands for a set at
                once; a write when nobody still has to read the slot that it overwrites, nor another thread's
                store-conditional still has to follow what its load-reserved read.
    walk        Stuck, a write u waits for a reader r of the current slot c, r for what is before it, and so on until
                the walk closes. Every arrow of that cycle holds for good, except r → u, which rests on c being stored
                before u (the schedule had it so) and edges that were assumed. So does s → u, where u waits for a
                store-conditional s whose load-reserved read c.
    weigh       A pair c, u of which a path is known that orders it is no choice. No choice left: no order exists. One:
                the other way round is a fact. Several: one of them must be the other way round, a clause.
    choose      An open read, of which candidates are given instead of a slot, is performed when one of them is there.
                Where the walk comes to one that waits in vain, it is said which one it returned, of those that were
                there the last one at first: that is an assumption too.
    settle      Clauses are propagated and resolved as a SAT solver does, over literals "this write before that one" and
                "this read returned that".
    take back   The schedule is taken back to the earliest write that a new edge contradicts, and runs on.

A literal is also an edge: off, soft (it holds under assumptions) or hard (a fact). What was found goes into a log, from
which `proof.py` makes evidence. Positions in a table that are not there are NONE.

This file is loaded twice, plain and compiled: see `gradual/compiler`. `tables.py` says what the tables hold.
"""

from __future__ import annotations

from gradual.compiler import kernel
from gradual.deciding.engine.tables import Tables

NONE = -1
READ, WRITE, RMW, FENCE, VIRTUAL = range(5)
IDLE, QUEUED, PARKED = range(3)
PO, WR, WW, FACT, RW, ASSUMED, ATOMIC, TIMED, READ_FROM, SEEN = range(10)
"""Arrows of a path: three kinds of static edges, hard literals, what the schedule decided, soft literals, what the
schedule decided about a load-reserved and its store-conditional, static edges of real time; to an open read, from what
was chosen for it, and from a write of its own thread that coherence puts before that."""
BY = 16
"""How many kinds there may be. To an arrow that rests on a candidate, its number plus 1 is added, so many times."""
OFF, SOFT, HARD = range(3)
UNIT, CLOSED, KNOWN, CYCLE, CASE, LEMMA, HELD = range(7)
"""Entries of the log: `before` precedes `after` as the path leads to a reader of `after` (UNIT), as it leads to `after`
itself (CLOSED, KNOWN), to the store-conditional whose load-reserved read `after` (HELD); a cycle that rests on nothing
(CYCLE) or on the pairs it assumes (CASE); a clause (LEMMA)."""
RUNNING, STUCK, SETTLING, TAKING_BACK, TOLD = range(5)
"""Where `advance` goes on. TOLD: a clause about what open reads returned is in `learnt`, from outside."""
DONE, VIOLATION, PAUSE, MORE_PAIRS, MORE_CLAUSES, MORE_LOG = range(6)
"""What `advance` answers. The last ones ask for larger tables; then it goes on where it was."""
LOOK = 600
"""Nodes among which a path is looked for that orders a pair of writes."""


@kernel
def advance(g: Tables) -> int:
    """Go on with the schedule."""
    now = g.now[0]
    while True:
        if now.phase == RUNNING:
            if not run_on(g):
                return PAUSE
            if now.performed == now.nodes:
                return DONE
            now.phase = STUCK
            now.conflicts += 1
        if now.phase == STUCK:
            if now.indexed == 0:
                index_edges_in(g)
            answer = look_into_it(g)
            if answer != DONE:
                return answer
            now.phase = SETTLING
        if now.phase == TOLD:
            if not prepare(g):
                return VIOLATION
            now.phase = SETTLING
        if now.phase == SETTLING:
            answer = settle(g)
            if answer != DONE:
                return answer
            now.phase = TAKING_BACK
        take_back(g)
        now.phase = RUNNING
        if now.budget <= 0:
            return PAUSE


# --- run on


@kernel
def run_on(g: Tables) -> bool:
    """Perform all that can be performed. False when the budget ends before."""
    now = g.now[0]
    while now.stacked > 0 or now.heaped > 0:
        if now.budget <= 0:
            return False
        now.budget -= 1
        a = next_ready(g)
        g.node[a].state = IDLE
        if g.node[a].waits > 0:
            continue
        if must_wait(g, a):
            park(g, a)
        else:
            perform(g, a)
            if now.mixed == 1:
                perform_parts(g, a)
    return True


@kernel
def next_ready(g: Tables) -> int:
    now = g.now[0]
    if now.stacked > 0:
        now.stacked -= 1
        return g.turn[now.stacked].stack
    return sink(g)


@kernel
def writes(kind: int) -> bool:
    return kind == WRITE or kind == RMW


@kernel
def must_wait(g: Tables, a: int) -> bool:
    """Has anybody else still to read what the write a would overwrite, or to store right behind it? Is nothing there
    that the open read a may return?"""
    if g.node[a].kind >= FENCE or (g.node[a].kind == READ and g.now[0].opens == 0):
        return False
    if g.now[0].mixed == 1:
        return waiting_part(g, a) != NONE
    return must_wait_here(g, a)


@kernel
def must_wait_here(g: Tables, a: int) -> bool:
    """The same at one location."""
    node = g.node[a]
    if node.open != NONE and not readable(g, a):
        return True
    if node.kind == READ:
        return False
    current = g.place[node.location].current
    own = 1 if node.slot == current else 0
    return g.slot[current].unread > own or (g.now[0].exclusive == 1 and held_off_by(g, a) != NONE)


@kernel
def waiting_part(g: Tables, a: int) -> int:
    """The first event of an access that must wait; NONE where all may happen."""
    p = a
    while p != NONE and not must_wait_here(g, p):
        p = g.part[p].next
    return p


@kernel
def perform_parts(g: Tables, a: int) -> None:
    """What happens with an operation: the other events of its access."""
    if a < g.now[0].operations:
        p = g.part[a].next
        while p != NONE:
            perform(g, p)
            p = g.part[p].next


@kernel
def held_off_by(g: Tables, a: int) -> int:
    """Another thread's store-conditional that must come before the write a: what its load-reserved reads is there."""
    node = g.node[a]
    left, s = g.place[node.location].open, g.place[node.location].opened
    while left > 0:
        if g.node[s].place == NONE:
            if s != a and g.node[s].thread != node.thread:
                return s
            left -= 1
        s = g.node[s].opened
    return NONE


@kernel
def park(g: Tables, a: int) -> None:
    node = g.node[a]
    location = node.location if g.now[0].mixed == 0 else g.node[waiting_part(g, a)].location
    node.state = PARKED
    node.parked = g.place[location].parked
    g.place[location].parked = a


@kernel
def wake(g: Tables, location: int) -> None:
    """The writes parked at a location may try again."""
    a = g.place[location].parked
    g.place[location].parked = NONE
    while a != NONE:
        following = g.node[a].parked
        enqueue(g, a)
        a = following


@kernel
def enqueue(g: Tables, a: int) -> None:
    now = g.now[0]
    g.node[a].state = QUEUED
    if writes(g.node[a].kind):
        rise(g, a)
    else:
        g.turn[now.stacked].stack = a
        now.stacked += 1


@kernel
def perform(g: Tables, a: int) -> None:
    now, node = g.now[0], g.node[a]
    if node.open != NONE:
        g.open[node.open].read = node.slot if node.slot != NONE else seen_by(g, a)
    node.place = now.performed
    g.turn[now.performed].run = a
    now.performed += 1
    if node.slot != NONE:
        g.slot[node.slot].unread -= 1
    if node.kind < FENCE:
        place = g.place[node.location]
        if node.kind != READ:
            node.replaced = place.current
            place.current = a
            if now.exclusive == 1:
                close(g, a, -1)
                open_pairs(g, a)
        if place.parked != NONE and (g.slot[place.current].unread <= 1 or (now.opens > 0 and node.kind != READ)):
            wake(g, node.location)
    for k in range(node.out, g.node[a + 1].out):
        release(g, g.out[k].to)
    literal = node.out_literal
    while literal != NONE:
        if g.literal[literal].edge != OFF:
            release(g, end_of(g, literal))
        literal = g.literal[literal].next_out


@kernel
def close(g: Tables, s: int, by: int) -> None:
    """A store-conditional is performed (by -1), or taken back: what holds others off is less, or more."""
    node = g.node[s]
    if node.kind == WRITE and node.pair != NONE:
        source = g.node[node.pair].slot
        if source >= g.now[0].operations or g.node[source].place != NONE:
            g.place[node.location].open += by


@kernel
def open_pairs(g: Tables, slot: int) -> None:
    """A slot is there: the pairs whose load-reserved reads it hold others off from now on."""
    for k in range(g.slot[slot].readers, g.slot[slot + 1].readers):
        r = g.slot[k].reader
        if g.node[r].kind == READ and g.node[r].pair != NONE:
            s, place = g.node[r].pair, g.place[g.node[r].location]
            g.node[s].opened = place.opened
            place.opened = s
            if g.node[s].place == NONE:
                place.open += 1


@kernel
def release(g: Tables, b: int) -> None:
    """An edge into b is behind it."""
    node = g.node[b]
    node.waits -= 1
    if node.waits == 0 and node.state == IDLE:
        enqueue(g, b)


@kernel
def rise(g: Tables, a: int) -> None:
    """Put a write on the heap, lowest rank on top."""
    now, rank, i = g.now[0], g.node[a].rank, g.now[0].heaped
    while i > 0 and g.node[g.turn[(i - 1) // 2].heap].rank > rank:
        g.turn[i].heap = g.turn[(i - 1) // 2].heap
        i = (i - 1) // 2
    g.turn[i].heap = a
    now.heaped += 1


@kernel
def sink(g: Tables) -> int:
    """Take the top off the heap."""
    now, top = g.now[0], g.turn[0].heap
    now.heaped -= 1
    last, i = g.turn[now.heaped].heap, 0
    rank = g.node[last].rank
    while 2 * i + 1 < now.heaped:
        child = 2 * i + 1
        if child + 1 < now.heaped and g.node[g.turn[child + 1].heap].rank < g.node[g.turn[child].heap].rank:
            child += 1
        if g.node[g.turn[child].heap].rank >= rank:
            break
        g.turn[i].heap = g.turn[child].heap
        i = child
    g.turn[i].heap = last
    return top


# --- walk


@kernel
def look_into_it(g: Tables) -> int:
    """Find the cycle behind the wait, and what must give way: VIOLATION where nothing can."""
    now = g.now[0]
    if now.buckets != len(g.bucket):
        fill_buckets(g)
    length = walk(g, first_waiting(g))
    if now.vain == 1:
        choose_source(g)
        return DONE
    if now.pairs + 2 * length + 2 > len(g.pair):
        return MORE_PAIRS
    if not room_in_log(g, now.choices + 1, now.choices * (LOOK + 1) + length):
        return MORE_LOG
    weigh(g)
    return DONE if prepare(g) else VIOLATION


@kernel
def prepare(g: Tables) -> bool:
    """Have the clause in `learnt` settled. False where nothing of it can hold."""
    now, open_pairs = g.now[0], 0
    if now.sources > 0:
        drop_facts(g)
    if now.learnt == 0:
        return False
    for i in range(now.learnt):
        if g.pair[g.pair[i].learnt // 2].value == NONE:
            open_pairs += 1
    now.falsified = 1 if open_pairs == 0 or now.learnt == 1 else 0
    now.proved = 1 if now.learnt == 1 else 0
    now.fresh = 0
    now.followed = 0
    return True


@kernel
def first_waiting(g: Tables) -> int:
    """The parked write of lowest rank; where none is parked, any node that was not performed."""
    first = NONE
    for x in range(g.now[0].locations):
        a = g.place[x].parked
        while a != NONE:
            if first == NONE or g.node[a].rank < g.node[first].rank:
                first = a
            a = g.node[a].parked
    a = 0
    while first == NONE:
        if g.node[a].place == NONE:
            first = a
        a += 1
    return first


@kernel
def walk(g: Tables, start: int) -> int:
    """From a node to one it waits for, until one comes again. Returns the length of the cycle; now.cycle is on it, and
    now.choices are its arrows that may rest on a choice. Or the walk is in vain: it comes to an open read of which
    nothing was chosen."""
    now = g.now[0]
    now.stamp += 1
    now.vain = 0
    a = start
    while g.node[a].walked != now.stamp:
        g.node[a].walked = now.stamp
        if g.node[a].waits == 0:
            wait_for_reader(g, a)
        else:
            wait_for_edge(g, a)
        if now.vain == 1:
            return 0
        a = g.node[a].before
    while g.node[a].kind == VIRTUAL:
        a = g.node[a].before
    now.cycle = a
    now.choices = 0
    length = 0
    while length == 0 or a != now.cycle:
        length += 1
        if g.node[a].by == RW or g.node[a].by == ATOMIC:
            now.choices += 1
        a = g.node[a].before
    now.budget -= length
    return length


@kernel
def wait_for_reader(g: Tables, a: int) -> None:
    """A write waits for the reader of lowest rank of what it would overwrite, or for a store-conditional; an open read,
    for what it may return."""
    p = a if g.now[0].mixed == 0 else waiting_part(g, a)
    if g.node[p].open != NONE and not readable(g, p):
        first = wait_for_value(g, a, p)
    else:
        first = first_reader(g, p)
        g.node[a].by = RW
        if first == NONE:
            first = held_off_by(g, p)
            g.node[a].by = ATOMIC
    g.node[a].before = first
    if g.now[0].mixed == 1 and first != NONE:
        g.part[a].through = p
        g.part[a].other = first
        g.node[a].before = g.part[first].whole


@kernel
def wait_for_value(g: Tables, a: int, r: int) -> int:
    """What the open read r, of the access a, waits for: its own store, which coherence puts before what was chosen for
    it. Where nothing was chosen, it waits in vain: whoever might write what it reads waits, too."""
    if g.node[r].slot == NONE:
        g.now[0].vain = 1
        return NONE
    g.node[a].by = SEEN
    g.node[a].literal = 2 * candidate(g, g.node[r].open, g.node[r].slot)
    return g.open[g.node[r].open].own


@kernel
def first_reader(g: Tables, a: int) -> int:
    """The reader of lowest rank that still has to read what the write a would overwrite."""
    current = g.place[g.node[a].location].current
    first = NONE
    for k in range(g.slot[current].readers, g.slot[current + 1].readers):
        r = g.slot[k].reader
        if r != a and g.node[r].place == NONE and (first == NONE or g.node[r].rank < g.node[first].rank):
            first = r
    for i in range(g.now[0].opens):
        r = g.open[i].node
        if r != NONE and r != a and g.node[r].slot == current and g.node[r].place == NONE and (
                first == NONE or g.node[r].rank < g.node[first].rank):
            first = r
    return first


@kernel
def wait_for_edge(g: Tables, a: int) -> None:
    """A node waits for a static edge before a hard literal before a soft one."""
    first = NONE
    for k in range(g.node[a].into, g.node[a + 1].into):
        b = g.into[k].origin
        if g.node[b].place == NONE and (first == NONE or g.node[b].rank < g.node[first].rank):
            first = b
            g.node[a].by = g.into[k].by
    if first == NONE:
        literal, soft = g.node[a].in_literal, NONE
        while literal != NONE and first == NONE:
            if g.literal[literal].edge != OFF and g.node[start_of(g, literal)].place == NONE:
                if g.literal[literal].edge == HARD:
                    first = start_of(g, literal)
                    g.node[a].by = FACT
                    g.node[a].literal = literal
                else:
                    soft = literal
            literal = g.literal[literal].next_in
        if first == NONE:
            first = start_of(g, soft)
            g.node[a].by = ASSUMED
            g.node[a].literal = soft
        if is_source(g, g.node[a].literal):
            g.node[a].by = READ_FROM
            if g.now[0].mixed == 1:
                g.part[a].through = g.pair[g.node[a].literal // 2].high
    g.node[a].before = first


@kernel
def index_edges_in(g: Tables) -> None:
    """The static edges by the node they lead to; made when first needed."""
    now = g.now[0]
    now.indexed = 1
    g.held[0].begin = 0
    for a in range(now.nodes + 1):
        row = g.node[a]
        row.into = 0
        row.in_literal = NONE
        row.walked = 0
        row.looked = 0
    for k in range(now.edges):
        g.node[g.edge[k].end].into += 1
    first = 0
    for a in range(now.nodes + 1):
        first += g.node[a].into
        g.node[a].into = first
    for k in range(now.edges):
        row = g.node[g.edge[k].end]
        row.into -= 1
        g.into[row.into].origin = g.edge[k].start
        g.into[row.into].by = g.edge[k].by


# --- weigh


@kernel
def weigh(g: Tables) -> None:
    """Collect what the cycle rests on as a clause, of which one literal must hold, and log the cycle."""
    now = g.now[0]
    now.learnt = 0
    decided, assumed, a = NONE, NONE, now.cycle
    while True:
        literal = NONE
        if g.node[a].by == ASSUMED:
            literal = g.node[a].literal
            assumed = a
        elif g.node[a].by == RW or g.node[a].by == ATOMIC:
            literal = choice_behind(g, a)
            if literal != NONE:
                decided = a
        learn_source(g, a)
        if literal != NONE:
            learn_literal(g, literal ^ 1)
        a = g.node[a].before
        if a == now.cycle:
            break
    if now.learnt == 1 and decided != NONE:
        # u waits for a reader r, and a path leads from u to r: u is stored before what r reads. The same of a
        # store-conditional and what its load-reserved reads
        log_path(g, UNIT if g.node[decided].by == RW else HELD, g.node[decided].before, decided)
        name_pair(g, decided if now.mixed == 0 else g.part[decided].through, slot_behind(g, decided))
    elif now.learnt == 1 and assumed != NONE:
        # an assumed edge, and a path back: the other way round
        log_path(g, CLOSED, g.node[assumed].before, assumed)
        name_pair(g, assumed, g.node[assumed].before)
    else:
        log_cycle(g, CASE if now.learnt > 0 else CYCLE)


@kernel
def learn_source(g: Tables, a: int) -> None:
    """An arrow into a that rests on what an open read returned."""
    node, v = g.node[a], NONE
    if node.by == READ_FROM or node.by == SEEN:
        v = node.literal // 2
    elif node.by == RW:
        r = node.before if g.now[0].mixed == 0 else g.part[a].other
        if g.node[r].open != NONE:
            v = candidate(g, g.node[r].open, g.node[r].slot)
    if v != NONE:
        learn_literal(g, 2 * v + 1)
        node.by += BY * (v + 1)


@kernel
def choice_behind(g: Tables, u: int) -> int:
    """The literal "slot before u" behind u's wait for a reader, or a store-conditional; NONE when that is no choice."""
    current = slot_behind(g, u)
    if current >= g.now[0].operations:
        return NONE  # the initial value
    if g.now[0].mixed == 1:
        current = g.part[current].whole
    if path_known(g, current, u):
        return NONE
    return literal_of(g, current, u)


@kernel
def slot_behind(g: Tables, u: int) -> int:
    """What is read by those that u waits for."""
    mixed = g.now[0].mixed == 1
    if g.node[u].by == RW:
        return g.place[g.node[g.part[u].through if mixed else u].location].current
    return g.node[g.node[g.part[u].other if mixed else g.node[u].before].pair].slot


@kernel
def path_known(g: Tables, c: int, u: int) -> bool:
    """Is there a path from c to u along edges that hold for good? Looked for backwards, among what came after c."""
    now = g.now[0]
    now.stamp += 1
    g.queue[0].node = u
    g.queue[0].came = NONE
    tail, head = 1, 0
    while head < tail and tail < LOOK:
        y = g.queue[head].node
        for k in range(g.node[y].into, g.node[y + 1].into):
            if tail < len(g.queue):
                tail = look_at(g, g.into[k].origin, g.into[k].by, head, tail, c)
        literal = g.node[y].in_literal
        while literal != NONE:
            if g.literal[literal].edge == HARD and tail < len(g.queue) and not is_source(g, literal):
                tail = look_at(g, start_of(g, literal), FACT, head, tail, c)
            literal = g.literal[literal].next_in
        if g.queue[tail - 1].node == c:
            now.budget -= tail
            now.known += 1
            log_known(g, tail - 1, c, u)
            return True
        head += 1
    now.budget -= tail
    return False


@kernel
def look_at(g: Tables, z: int, by: int, came: int, tail: int, c: int) -> int:
    """Put z, whose edge leads to the queue's entry `came`, behind the queue, if it may come after c. The new tail."""
    if g.queue[tail - 1].node == c:
        return tail  # found already
    if z != c and (g.node[z].place <= g.node[c].place or g.node[z].looked == g.now[0].stamp):
        return tail
    g.node[z].looked = g.now[0].stamp
    g.queue[tail].node = z
    g.queue[tail].came = came
    g.queue[tail].by = by
    return tail + 1


@kernel
def learn_literal(g: Tables, literal: int) -> None:
    now = g.now[0]
    for i in range(now.learnt):
        if g.pair[i].learnt == literal:
            return
    g.pair[now.learnt].learnt = literal
    now.learnt += 1


# --- what open reads returned


@kernel
def choose_source(g: Tables) -> None:
    """Assume of one of the reads that wait in vain what it returned: where that takes back least."""
    now, chosen = g.now[0], NONE
    for x in range(now.locations):
        a = g.place[x].parked
        while a != NONE:
            p = a if now.mixed == 0 else waiting_part(g, a)
            if g.node[p].open != NONE and g.node[p].slot == NONE:
                v = likeliest(g, g.node[p].open)
                if chosen == NONE or since(g, v) > since(g, chosen):
                    chosen = v
            a = g.node[a].parked
    now.fresh = 0
    now.followed = 0
    now.learnt = 0
    now.falsified = 0
    new_level(g)
    assign(g, 2 * chosen, NONE)


@kernel
def likeliest(g: Tables, i: int) -> int:
    """What the i-th open read returned when it was performed; else what was there last; else what comes first."""
    found = NONE
    for v in range(g.open[i].first, g.open[i + 1].first):
        if g.pair[v].value == NONE:
            if g.pair[v].low == g.open[i].read:
                return v
            if found == NONE or since(g, v) > since(g, found) or (
                    since(g, v) == NONE and since(g, found) == NONE and g.pair[v].low < g.pair[found].low):
                found = v
    return found


@kernel
def since(g: Tables, v: int) -> int:
    """The place in the schedule of a candidate; NONE of what is still to come."""
    slot = g.pair[v].low
    return g.node[slot].place if slot < g.now[0].operations else 0


@kernel
def demand_sources(g: Tables) -> None:
    """Each open read returned one of its candidates: as clauses, and facts. To be settled before all else."""
    now = g.now[0]
    g.held[0].begin = 0
    for i in range(now.opens):
        now.learnt = 0
        for v in range(g.open[i].first, g.open[i + 1].first):
            learn_literal(g, 2 * v)
        if now.learnt == 1:
            make_fact(g, g.pair[0].learnt)
        else:
            keep_clause(g)
    now.learnt = 0
    now.falsified = 0
    now.followed = 0
    now.phase = SETTLING


@kernel
def readable(g: Tables, a: int) -> bool:
    """Is there what the open read a may return: its own store that is still to come, else what its location holds?"""
    slot = g.node[a].slot
    there = seen_by(g, a)
    if slot == NONE:
        return candidate(g, g.node[a].open, there) != NONE
    if slot == there:
        return True
    # what it was chosen to return is not there, and no edge says that it must be: it is still to come
    return there == g.place[g.node[a].location].current or not before_it(g, a, slot)


@kernel
def seen_by(g: Tables, a: int) -> int:
    """The slot that the open read a would see."""
    own = g.open[g.node[a].open].own
    return own if own != NONE and g.node[own].place == NONE else g.place[g.node[a].location].current


@kernel
def candidate(g: Tables, i: int, slot: int) -> int:
    """The candidate of the i-th open read that is this slot, unless that is excluded; else NONE."""
    for v in range(g.open[i].first, g.open[i + 1].first):
        if g.pair[v].low == slot and g.pair[v].value != 2 * v + 1:
            return v
    return NONE


@kernel
def row_of(g: Tables, v: int) -> int:
    """The open read that a candidate is of."""
    low, high = 0, g.now[0].opens
    while high - low > 1:
        middle = (low + high) // 2
        if g.open[middle].first <= v:
            low = middle
        else:
            high = middle
    return low


@kernel
def before_it(g: Tables, a: int, slot: int) -> bool:
    """Is there an edge to the open read a from this slot?"""
    return g.literal[2 * candidate(g, g.node[a].open, slot)].linked != NONE


# --- pairs and literals


@kernel
def bucket_of(g: Tables, low: int, high: int) -> int:
    """Where a pair is, or would be."""
    mask = len(g.bucket) - 1
    i = (low * 1000003 + high * 7919) & mask
    while g.bucket[i].pair != NONE and (g.pair[g.bucket[i].pair].low != low or g.pair[g.bucket[i].pair].high != high):
        i = (i + 1) & mask
    return i


@kernel
def fill_buckets(g: Tables) -> None:
    g.now[0].buckets = len(g.bucket)
    for i in range(len(g.bucket)):
        g.bucket[i].pair = NONE
    for v in range(g.now[0].sources, g.now[0].pairs):
        g.bucket[bucket_of(g, g.pair[v].low, g.pair[v].high)].pair = v


@kernel
def literal_of(g: Tables, a: int, b: int) -> int:
    """The literal "a before b"."""
    low, high = min(a, b), max(a, b)
    i = bucket_of(g, low, high)
    if g.bucket[i].pair == NONE:
        new_pair(g, low, high)
        g.bucket[i].pair = g.now[0].pairs - 1
    return 2 * g.bucket[i].pair + (0 if a == low else 1)


@kernel
def new_pair(g: Tables, low: int, high: int) -> None:
    now = g.now[0]
    v = now.pairs
    now.pairs += 1
    pair = g.pair[v]
    pair.low = low
    pair.high = high
    pair.value = NONE
    pair.position = NONE
    pair.reason = NONE
    pair.level = 0
    pair.activity = 0.0
    for literal in range(2 * v, 2 * v + 2):
        g.literal[literal].edge = OFF
        g.literal[literal].linked = 0
        g.literal[literal].occurs = NONE


@kernel
def start_of(g: Tables, literal: int) -> int:
    a = g.pair[literal // 2].low if literal % 2 == 0 else g.pair[literal // 2].high
    return a if g.now[0].mixed == 0 else g.part[a].whole


@kernel
def end_of(g: Tables, literal: int) -> int:
    return start_of(g, literal ^ 1)


@kernel
def is_source(g: Tables, literal: int) -> bool:
    """Is it about what a read returned? Such a literal has no edge, or one from there to the read."""
    return literal // 2 < g.now[0].sources


# --- settle


@kernel
def settle(g: Tables) -> int:
    """Make the clause in `learnt` hold, and all others: DONE, VIOLATION, or which table is full."""
    now = g.now[0]
    while True:
        if not room_in_log(g, 1, 2 * now.pairs):
            return MORE_LOG
        if now.held + now.pairs + 2 >= len(g.held):
            return MORE_CLAUSES
        if now.falsified == 1:
            resolve(g)
            if now.learnt == 0:
                return VIOLATION
            assert_learnt(g)
        elif now.learnt > 0:
            choose(g)
        now.falsified = 0
        if not propagate(g):
            return DONE
        now.falsified = 1


@kernel
def resolve(g: Tables) -> None:
    """Replace the newest literal of a falsified clause by what made it false, until it stands alone on its level."""
    now = g.now[0]
    if now.proved == 1:  # a fact by its own cycle
        now.proved = 0
        return
    drop_facts(g)
    while True:
        newest = newest_literal(g)
        if newest == NONE or alone(g, newest):
            break
        v = g.pair[newest].learnt // 2
        now.learnt -= 1
        g.pair[newest].learnt = g.pair[now.learnt].learnt
        g.pair[v].activity += now.bump
        reason = g.pair[v].reason
        if reason < NONE:  # the read returned something else
            if not is_fact(g, AMONG - reason):
                learn_literal(g, 2 * (AMONG - reason) + 1)
            continue
        for k in range(g.held[reason].begin, g.held[reason + 1].begin):
            literal = g.held[k].literal
            if literal // 2 != v and not is_fact(g, literal // 2):
                learn_literal(g, literal)
        now.budget -= g.held[reason + 1].begin - g.held[reason].begin
    log_lemma(g)


@kernel
def is_fact(g: Tables, v: int) -> bool:
    return g.pair[v].value != NONE and g.pair[v].position == NONE


@kernel
def drop_facts(g: Tables) -> None:
    """Literals that are false for good."""
    now, kept = g.now[0], 0
    for i in range(now.learnt):
        if not is_fact(g, g.pair[i].learnt // 2):
            g.pair[kept].learnt = g.pair[i].learnt
            kept += 1
    now.learnt = kept


@kernel
def newest_literal(g: Tables) -> int:
    newest = NONE
    for i in range(g.now[0].learnt):
        if newest == NONE or g.pair[g.pair[i].learnt // 2].position > g.pair[g.pair[newest].learnt // 2].position:
            newest = i
    return newest


@kernel
def alone(g: Tables, i: int) -> bool:
    """Is no other literal of the clause of the same level? On level 0 nothing was assumed: resolve on to facts."""
    v = g.pair[i].learnt // 2
    if g.pair[v].reason == NONE:
        return True
    if g.pair[v].level == 0:
        return False
    for j in range(g.now[0].learnt):
        if j != i and g.pair[g.pair[j].learnt // 2].level == g.pair[v].level:
            return False
    return True


@kernel
def assert_learnt(g: Tables) -> None:
    """Back to the level where only one literal of the clause is open, and make it hold."""
    now = g.now[0]
    newest = newest_literal(g)
    literal = g.pair[newest].learnt
    v, second = literal // 2, 0
    for i in range(now.learnt):
        if i != newest:
            second = max(second, g.pair[g.pair[i].learnt // 2].level)
    if now.learnt > 1:
        back_to(g, second)
    elif g.pair[v].value != NONE:
        back_to(g, max(g.pair[v].level - 1, 0))
    if now.learnt == 1:
        if g.pair[v].value != NONE:  # it followed on level 0, the other way round or not
            unassign_from(g, g.pair[v].position)
        make_fact(g, literal)
    else:
        assign(g, literal, keep_clause(g))


@kernel
def back_to(g: Tables, level: int) -> None:
    """Take back every assumption above a level. Edges go, the schedule stays."""
    now = g.now[0]
    if level < now.levels:
        unassign_from(g, g.pair[level + 1].begin)
        now.levels = level
    g.now[0].followed = 0


@kernel
def unassign_from(g: Tables, length: int) -> None:
    now = g.now[0]
    while now.assigned > length:
        now.assigned -= 1
        pair = g.pair[g.pair[now.assigned].trail]
        literal = pair.value
        pair.value = NONE
        pair.position = NONE
        pair.reason = NONE
        if g.literal[literal].edge == SOFT:
            g.literal[literal].edge = OFF
            if g.node[start_of(g, literal)].place == NONE:
                drop_edge(g, end_of(g, literal))
        if is_source(g, literal):
            open_again(g, literal)
    kept = 0
    for i in range(now.fresh):
        literal = g.pair[i].fresh
        if g.pair[literal // 2].value == literal:
            g.pair[kept].fresh = literal
            kept += 1
    now.fresh = kept
    now.followed = 0


@kernel
def open_again(g: Tables, literal: int) -> None:
    """What a read returned is no longer chosen, or excluded."""
    v = literal // 2
    r, slot = g.pair[v].high, g.pair[v].low
    if r < g.now[0].operations:
        if literal % 2 == 0 and g.node[r].slot == slot:
            g.node[r].slot = NONE
            if g.node[r].place == NONE:
                g.slot[slot].unread -= 1
        wake(g, g.node[r].location)


@kernel
def drop_edge(g: Tables, b: int) -> None:
    node = g.node[b]
    node.waits -= 1
    if node.waits == 0 and node.place == NONE and node.state == IDLE:
        enqueue(g, b)


@kernel
def choose(g: Tables) -> None:
    """Turn round one open pair of a new clause: the most active, by chance among equals."""
    now = g.now[0]
    chosen, equals, open_pairs = NONE, 0, 0
    for i in range(now.learnt):
        pair = g.pair[g.pair[i].learnt // 2]
        pair.activity += now.bump
        if pair.value != NONE:
            continue
        open_pairs += 1
        if chosen == NONE or pair.activity > g.pair[chosen // 2].activity:
            chosen, equals = g.pair[i].learnt, 1
        elif pair.activity == g.pair[chosen // 2].activity:
            equals += 1
            now.seed = (now.seed * 1103515245 + 12345) & 0x7FFFFFFF
            if (now.seed >> 8) % equals == 0:
                chosen = g.pair[i].learnt
    grow_bump(g)
    clause = keep_clause(g)
    if open_pairs > 1:
        new_level(g)
        clause = NONE
    assign(g, chosen, clause)


@kernel
def new_level(g: Tables) -> None:
    now = g.now[0]
    now.levels += 1
    g.pair[now.levels].begin = now.assigned


@kernel
def grow_bump(g: Tables) -> None:
    now = g.now[0]
    now.bump *= 1.05
    if now.bump > 1e100:
        for v in range(now.pairs):
            g.pair[v].activity *= 1e-100
        now.bump *= 1e-100


@kernel
def keep_clause(g: Tables) -> int:
    """Store the clause in `learnt`. Returns its number. Its first two literals are watched: one of them must be false
    before there is anything to do about it."""
    now = g.now[0]
    for i in range(2):
        last = i
        for j in range(i + 1, now.learnt):
            if until(g, g.pair[j].learnt) > until(g, g.pair[last].learnt):
                last = j
        literal = g.pair[i].learnt
        g.pair[i].learnt = g.pair[last].learnt
        g.pair[last].learnt = literal
    for i in range(now.learnt):
        held = g.held[now.held]
        held.literal = g.pair[i].learnt
        held.clause = now.clauses
        if i < 2:
            watch(g, now.held)
        now.held += 1
    now.clauses += 1
    g.held[now.clauses].begin = now.held
    return now.clauses - 1


@kernel
def until(g: Tables, literal: int) -> int:
    """When a literal became false; behind all others while it is not."""
    pair = g.pair[literal // 2]
    return pair.position if pair.value == literal ^ 1 else g.now[0].pairs


@kernel
def watch(g: Tables, k: int) -> None:
    held = g.held[k]
    held.next = g.literal[held.literal].occurs
    g.literal[held.literal].occurs = k


@kernel
def assign(g: Tables, literal: int, reason: int) -> None:
    """Let a literal hold, for now."""
    now, pair = g.now[0], g.pair[literal // 2]
    pair.value = literal
    pair.position = now.assigned
    pair.reason = reason
    pair.level = now.levels
    g.pair[now.assigned].trail = literal // 2
    now.assigned += 1
    g.pair[now.fresh].fresh = literal
    now.fresh += 1


@kernel
def make_fact(g: Tables, literal: int) -> None:
    """Let a literal hold for good."""
    now, pair = g.now[0], g.pair[literal // 2]
    pair.value = literal
    pair.position = NONE
    pair.reason = NONE
    pair.level = 0
    g.pair[now.fresh].fresh = literal
    now.fresh += 1


@kernel
def propagate(g: Tables) -> bool:
    """Draw what follows from the fresh literals. True when a clause is falsified: it is in `learnt` then."""
    now = g.now[0]
    while now.followed < now.fresh:
        fresh = g.pair[now.followed].fresh
        now.followed += 1
        if fresh % 2 == 0 and is_source(g, fresh) and exclude_others(g, fresh // 2):
            return True
        if look_through(g, fresh ^ 1):
            return True
    return False


@kernel
def look_through(g: Tables, false: int) -> bool:
    """A literal is false: have other literals watched in its stead, or the other one watched must hold."""
    k, before = g.literal[false].occurs, NONE
    while k != NONE:
        following, clause = g.held[k].next, g.held[k].clause
        first = g.held[clause].begin
        other = g.held[2 * first + 1 - k].literal
        value = g.pair[other // 2].value
        g.now[0].budget -= 1
        if value != other:
            m = first + 2
            past = g.held[clause + 1].begin
            while m < past and g.pair[g.held[m].literal // 2].value == g.held[m].literal ^ 1:
                m += 1
            if m < past:
                g.held[k].literal = g.held[m].literal
                g.held[m].literal = false
                if before == NONE:
                    g.literal[false].occurs = following
                else:
                    g.held[before].next = following
                watch(g, k)
                k = following
                continue
            if value != NONE:
                learn_clause(g, clause)
                return True
            assign(g, other, clause)
        before = k
        k = following
    return False


@kernel
def learn_clause(g: Tables, clause: int) -> None:
    now = g.now[0]
    now.learnt = 0
    for k in range(g.held[clause].begin, g.held[clause + 1].begin):
        g.pair[now.learnt].learnt = g.held[k].literal
        now.learnt += 1


AMONG = -2
"""As a reason, less a candidate: of the candidates of a read, that is the one."""


@kernel
def exclude_others(g: Tables, chosen: int) -> bool:
    """A read returned one thing. True where it is said to have returned another: both are in `learnt` then."""
    i = row_of(g, chosen)
    for v in range(g.open[i].first, g.open[i + 1].first):
        if v != chosen and g.pair[v].value == NONE:
            assign(g, 2 * v + 1, AMONG - chosen)
        elif v != chosen and g.pair[v].value == 2 * v:
            g.now[0].learnt = 2
            g.pair[0].learnt = 2 * chosen + 1
            g.pair[1].learnt = 2 * v + 1
            return True
    return False


# --- take back


@kernel
def take_back(g: Tables) -> None:
    """Let the fresh literals be edges, and take the schedule back to where they allow it."""
    now, target, ran = g.now[0], g.now[0].performed, g.now[0].performed
    for i in range(now.fresh):
        target = min(target, contradicted(g, g.pair[i].fresh))
    while now.performed > target:
        now.performed -= 1
        undo(g, g.turn[now.performed].run)
    for i in range(now.fresh):
        if is_source(g, g.pair[i].fresh):
            returned(g, g.pair[i].fresh)
        else:
            add_edge(g, g.pair[i].fresh)
    for i in range(target, ran):
        a = g.turn[i].run
        if g.node[a].waits == 0 and g.node[a].state == IDLE:
            enqueue(g, a)
    now.budget -= ran - target
    now.fresh = 0


@kernel
def contradicted(g: Tables, literal: int) -> int:
    """The place from which on the schedule contradicts a literal; behind all that was performed if it does not."""
    now = g.now[0]
    if is_source(g, literal):
        a = wrong_with(g, literal)
        return now.performed if a == NONE else g.node[a if now.mixed == 0 else g.part[a].whole].place
    a, b = g.node[start_of(g, literal)].place, g.node[end_of(g, literal)].place
    return b if b != NONE and (a == NONE or a > b) else now.performed


@kernel
def wrong_with(g: Tables, literal: int) -> int:
    """The operation that contradicts what is said of an open read: itself, or what replaced the slot it returned."""
    r, slot = g.pair[literal // 2].high, g.pair[literal // 2].low
    if r >= g.now[0].operations:
        return NONE
    if g.node[r].place != NONE:
        return r if (g.open[g.node[r].open].read == slot) == (literal % 2 == 1) else NONE
    if literal % 2 == 1 or (slot < g.now[0].operations and g.node[slot].place == NONE):
        return NONE
    behind, held = NONE, g.place[g.node[r].location].current
    while held != slot:
        behind = held
        held = g.node[held].replaced
    return behind


@kernel
def returned(g: Tables, literal: int) -> None:
    """What an open read returned, or did not."""
    v = literal // 2
    r, slot = g.pair[v].high, g.pair[v].low
    if r < g.now[0].operations and literal % 2 == 0:
        g.node[r].slot = slot
        if g.node[r].place == NONE:
            g.slot[slot].unread += 1
        if g.literal[literal].linked != NONE:
            add_edge(g, literal)
        wake(g, g.node[r].location)


@kernel
def undo(g: Tables, a: int) -> None:
    """Everything that `perform` did, the other way round."""
    node = g.node[a]
    node.place = NONE
    for k in range(node.out, g.node[a + 1].out):
        g.node[g.out[k].to].waits += 1
    literal = node.out_literal
    while literal != NONE:
        if g.literal[literal].edge != OFF:
            g.node[end_of(g, literal)].waits += 1
        literal = g.literal[literal].next_out
    if node.kind < FENCE:
        if node.kind != READ:
            g.place[node.location].current = node.replaced
            if g.now[0].exclusive == 1:
                open_pairs_back(g, a)
        if node.slot != NONE:
            g.slot[node.slot].unread += 1
        wake(g, node.location)


@kernel
def open_pairs_back(g: Tables, a: int) -> None:
    """The pairs that the write a opened are no more, the last one first; and what it closed holds others off again."""
    k = g.slot[a + 1].readers
    while k > g.slot[a].readers:
        k -= 1
        r = g.slot[k].reader
        if g.node[r].kind == READ and g.node[r].pair != NONE:
            place = g.place[g.node[r].location]
            place.opened = g.node[g.node[r].pair].opened
            if g.node[g.node[r].pair].place == NONE:
                place.open -= 1
    close(g, a, 1)


@kernel
def add_edge(g: Tables, literal: int) -> None:
    a, b = start_of(g, literal), end_of(g, literal)
    link = g.literal[literal]
    if link.linked == 0:
        link.linked = 1
        link.next_out = g.node[a].out_literal
        g.node[a].out_literal = literal
        link.next_in = g.node[b].in_literal
        g.node[b].in_literal = literal
    if link.edge == OFF and g.node[a].place == NONE:
        g.node[b].waits += 1
    link.edge = HARD if g.pair[literal // 2].position == NONE else SOFT
    if g.node[b].state == PARKED:  # it waits for an edge now
        wake(g, g.node[b].location)
        p = g.part[b].next if g.now[0].mixed == 1 else NONE
        while p != NONE:
            wake(g, g.node[p].location)
            p = g.part[p].next


# --- the log


@kernel
def room_in_log(g: Tables, entries: int, passages: int) -> bool:
    now = g.now[0]
    return now.entries + entries <= len(g.entry) and now.passages + passages <= len(g.passage)


@kernel
def log_path(g: Tables, kind: int, end: int, start: int) -> None:
    """The path that the walk found, from its end backwards."""
    begin_entry(g, kind)
    a = end
    while a != start:
        log_passage(g, a, g.node[a].by)
        a = g.node[a].before
    log_passage(g, start, g.node[start].by)
    end_entry(g)


@kernel
def log_cycle(g: Tables, kind: int) -> None:
    begin_entry(g, kind)
    a = g.now[0].cycle
    log_passage(g, a, g.node[a].by)
    a = g.node[a].before
    while a != g.now[0].cycle:
        log_passage(g, a, g.node[a].by)
        a = g.node[a].before
    end_entry(g)


@kernel
def log_known(g: Tables, found: int, c: int, u: int) -> None:
    """The path from c to u that the queue holds, from u backwards."""
    now = g.now[0]
    begin_entry(g, KNOWN)
    i = found
    by = 0
    while i != NONE:  # c comes first here: turned round below
        log_passage(g, g.queue[i].node, by)
        by = g.queue[i].by
        i = g.queue[i].came
    low, high = g.entry[now.entries].first, now.passages - 1
    while low < high:
        node, by = g.passage[low].node, g.passage[low].by
        g.passage[low].node = g.passage[high].node
        g.passage[low].by = g.passage[high].by
        g.passage[high].node = node
        g.passage[high].by = by
        low += 1
        high -= 1
    end_entry(g)
    name_pair(g, c, u)


@kernel
def log_lemma(g: Tables) -> None:
    """A clause over pairs of writes. Where it is open what was read, a solver finds the lemmas of its own."""
    if len(g.open) > 0:
        return
    begin_entry(g, LEMMA)
    for i in range(g.now[0].learnt):
        log_passage(g, start_of(g, g.pair[i].learnt), 0)
        log_passage(g, end_of(g, g.pair[i].learnt), 0)
    end_entry(g)


@kernel
def begin_entry(g: Tables, kind: int) -> None:
    now = g.now[0]
    entry = g.entry[now.entries]
    entry.kind = kind
    entry.before = NONE
    entry.after = NONE
    entry.first = now.passages


@kernel
def log_passage(g: Tables, node: int, by: int) -> None:
    """A node of a path and the arrow into it. Virtual nodes are passed over: the pair is told as a whole."""
    now = g.now[0]
    if g.node[node].kind != VIRTUAL:
        through = now.mixed == 1 and (by % BY == RW or by % BY == ATOMIC or by % BY > TIMED)
        g.passage[now.passages].node = g.part[node].through if through else node
        g.passage[now.passages].by = by
        now.passages += 1


@kernel
def end_entry(g: Tables) -> None:
    now = g.now[0]
    g.entry[now.entries].past = now.passages
    now.entries += 1


@kernel
def name_pair(g: Tables, before: int, after: int) -> None:
    entry = g.entry[g.now[0].entries - 1]
    entry.before = before
    entry.after = after
