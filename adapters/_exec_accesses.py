"""Accesses and the operations that they become, as `_thread.py` has it: kernels."""

from __future__ import annotations

from gradual.adapters._exec_registers import come, depend, merge_none, set_value
from gradual.adapters._exec_tables import (
    ADD,
    AND,
    CONDITIONAL,
    DATA,
    FENCE,
    LOAD,
    MAX,
    MAX_UNSIGNED,
    MIN,
    MIN_UNSIGNED,
    NONE,
    OR,
    OTHER,
    READ,
    REGISTERS,
    RESERVE,
    RMW,
    SCRATCH,
    STORE,
    SWAP,
    TOP,
    UNLOCK,
    WORD_BYTES,
    WRITE,
    XOR,
    ZERO_REGISTER,
    Log,
)

from gradual.compiler import kernel


@kernel
def biased(number: int) -> int:
    """Numbers without a sign, so that they compare as numbers with one do."""
    return number ^ TOP


@kernel
def selected(g: Log) -> bool:
    address = biased(g.now[0].at_address)
    for each in range(len(g.range)):
        if address >= g.range[each].low and address <= g.range[each].high:
            return True
    return False


@kernel
def can_access(g: Log) -> bool:
    """Whether an access is one that is understood here: where it is selected, its value is known."""
    now = g.now[0]
    what = g.instruction[now.instruction]
    if not selected(g):
        return True
    if now.has_data == 0 or what.does == OTHER or g.cpu[now.cpu].unfinished == 1:
        return False
    if what.does == SWAP or (what.does == CONDITIONAL and now.data == 0):
        return what.data == ZERO_REGISTER or g.register[now.cpu * REGISTERS + what.data].known == 1
    return True


@kernel
def access(g: Log) -> None:
    now = g.now[0]
    what = g.instruction[now.instruction]
    c = g.cpu[now.cpu]
    if what.atomic == 1:
        now.bare_atomic = -1
    merge_none(g)
    if selected(g):
        before = c.count
        now.first_dependency = now.dependencies
        if what.riscv == 1:
            depend(g)
        record(g)
        if c.count > before:
            now.merge = 1
            g.scratch[now.half * SCRATCH].merged = c.count
            for each in range(now.first_dependency, now.dependencies):
                g.dependency[each].later = now.operations - 1
        else:
            now.dependencies = now.first_dependency
    else:
        now.merge_unknown = 1
        leave_out(g)
    if what.riscv == 1 and what.does != STORE:
        if what.does == OTHER:
            g.register[now.cpu * REGISTERS + what.sets].known = 0
        elif now.has_data == 1:
            set_value(g, what.sets)
        come(g, what.sets)


@kernel
def leave_out(g: Log) -> None:
    now = g.now[0]
    address = biased(now.at_address)
    now.lowest = min(now.lowest, address) if now.outside == 1 else address
    now.highest = max(now.highest, address) if now.outside == 1 else address
    now.outside = 1


@kernel
def cut(value: int, size: int) -> int:
    """What so many bytes keep of a number."""
    return value if size >= WORD_BYTES else value & ((1 << 8 * size) - 1)


@kernel
def marks(g: Log) -> int:
    """Acquire and release of an atomic stand in the line before, or here in old versions."""
    what = g.instruction[g.now[0].instruction]
    if what.atomic == 0 or what.riscv == 0:
        return 0
    c = g.cpu[g.now[0].cpu]
    found = c.ordering | what.marks
    c.ordering = 0
    return found


@kernel
def record(g: Log) -> None:
    """A selected access becomes an operation, if it took place."""
    now = g.now[0]
    what = g.instruction[now.instruction]
    c = g.cpu[now.cpu]
    marked = marks(g)
    value = cut(now.data, what.size)
    if what.does == LOAD:
        add(g, READ, value, 0, marked)
    elif what.does == RESERVE:
        settle(g)
        if what.riscv == 1:
            add(g, READ, value, 0, marked)
            c.reserved, c.reserved_size = c.count, what.size
            c.reserved_address, c.reserved_value = now.at_address, value
        else:
            c.held, c.held_size, c.held_address, c.held_value = 1, what.size, now.at_address, value
            c.held_line, c.held_tick = now.number, now.at_tick
    elif what.does == STORE or what.does == UNLOCK:
        if not repeats(g, value):
            if what.does == UNLOCK and c.held == 1 and c.held_address == now.at_address and c.held_size == what.size:
                c.held = 0
                swap(g, c.held_value, value, marked)
            else:
                add(g, WRITE, 0, value, marked)
    elif what.does == CONDITIONAL and now.data != 0:
        settle(g)
        c.reserved = 0
    else:
        atomic(g, value, marked)


@kernel
def atomic(g: Log, old: int, marked: int) -> None:
    now = g.now[0]
    what = g.instruction[now.instruction]
    c = g.cpu[now.cpu]
    put = 0 if what.data == ZERO_REGISTER else cut(g.register[now.cpu * REGISTERS + what.data].value, what.size)
    if what.does == SWAP:
        swap(g, old, cut(combined(what.amo, what.size, old, put), what.size), marked)
        return
    reserved = c.reserved
    c.reserved = 0
    if reserved == 0 or c.reserved_address != now.at_address or c.reserved_size != what.size:
        add(g, WRITE, 0, put, marked)
    elif reserved != c.count or c.reserved_value != put:
        add(g, WRITE, 0, put, marked)
        g.operation[now.operations - 1].pair = reserved


@kernel
def combined(amo: int, size: int, old: int, put: int) -> int:
    """What an AMO makes of two numbers of its size."""
    if amo == ADD:
        return old + put
    if amo == AND:
        return old & put
    if amo == OR:
        return old | put
    if amo == XOR:
        return old ^ put
    top = TOP if size >= WORD_BYTES else 1 << 8 * size - 1
    if amo == MAX_UNSIGNED or amo == MIN_UNSIGNED:
        smaller = biased(old) < biased(put)
    else:
        smaller = biased(old ^ top) < biased(put ^ top)
    if amo == MAX or amo == MAX_UNSIGNED:
        return put if smaller else old
    if amo == MIN or amo == MIN_UNSIGNED:
        return old if smaller else put
    return put


@kernel
def repeats(g: Log, value: int) -> bool:
    """Whether a store is the one before it, printed again."""
    now = g.now[0]
    c = g.cpu[now.cpu]
    again = c.stored == 1 and c.stored_address == now.at_address and c.stored_value == value and (
        c.whole == 1 or c.stored_tick == now.at_tick)
    again = again and same(g, c.pc, c.pc_past) and same(g, c.stored_pc, c.stored_pc_past)
    c.stored, c.stored_address, c.stored_value, c.stored_tick = 1, now.at_address, value, now.at_tick
    c.stored_pc, c.stored_pc_past = now.at_pc, now.at_pc_past
    return again


@kernel
def same(g: Log, at: int, past: int) -> bool:
    """Whether a pc is that of the line."""
    now = g.now[0]
    other = now.at_pc
    if past - at != now.at_pc_past - other:
        return False
    while at < past:
        if g.text[at].byte != g.text[other].byte:
            return False
        at, other = at + 1, other + 1
    return True


# Operations


@kernel
def add(g: Log, kind: int, read: int, written: int, marked: int) -> None:
    """The access of this line."""
    now = g.now[0]
    settle(g)
    row_for(g, now.number, now.at_tick)
    row = g.operation[now.operations - 1]
    row.kind, row.read, row.written, row.marks = kind, read, written, marked
    row.address, row.size = now.at_address, g.instruction[now.instruction].size


@kernel
def swap(g: Log, old: int, new: int, marked: int) -> None:
    """An rmw; one that writes back what it read is a read, and needs no data."""
    now = g.now[0]
    if old != new:
        add(g, RMW, old, new, marked)
        return
    for each in range(now.first_dependency, now.dependencies):
        if g.dependency[each].name == DATA:
            g.dependency[each].name = NONE
    add(g, READ, old, 0, marked)


@kernel
def settle(g: Log) -> None:
    """The locked load that was held back is a read by itself."""
    now = g.now[0]
    c = g.cpu[now.cpu]
    if c.held == 1:
        c.held = 0
        row_for(g, c.held_line, c.held_tick)
        row = g.operation[now.operations - 1]
        row.kind, row.read, row.written, row.marks = READ, c.held_value, 0, 0
        row.address, row.size = c.held_address, c.held_size


@kernel
def row_for(g: Log, line: int, tick: int) -> None:
    """A row for an access, behind the fences that waited for one."""
    now = g.now[0]
    c = g.cpu[now.cpu]
    while c.first_fence != 0:
        fence = g.fence[c.first_fence]
        new_row(g, fence.fence_line, fence.fence_tick)
        row = g.operation[now.operations - 1]
        row.kind, row.fence = FENCE, fence.orders
        row.address, row.size, row.read, row.written, row.marks = 0, 0, 0, 0, 0
        freed, following = c.first_fence, fence.next
        fence.next = now.free_fence
        now.free_fence = freed
        c.first_fence = following
    c.started = 1
    new_row(g, line, tick)


@kernel
def new_row(g: Log, line: int, tick: int) -> None:
    now = g.now[0]
    row = g.operation[now.operations]
    row.thread, row.line, row.tick, row.fence, row.pair = now.cpu, line, tick, 0, 0
    now.operations += 1
    g.cpu[now.cpu].count += 1


@kernel
def barrier(g: Log) -> None:
    """A fence, kept until an access follows."""
    now = g.now[0]
    c = g.cpu[now.cpu]
    settle(g)
    if c.started == 0:
        return
    number = now.free_fence
    fence = g.fence[number]
    now.free_fence = fence.next
    fence.orders, fence.next = g.instruction[now.instruction].size, 0
    fence.fence_line, fence.fence_tick = now.number, now.at_tick
    if c.first_fence == 0:
        c.first_fence = number
    else:
        g.fence[c.last_fence].next = number
    c.last_fence = number
