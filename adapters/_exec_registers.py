"""Where the values in registers come from: the rules of `_dependencies.py`, as kernels."""

from __future__ import annotations

from gradual.adapters._exec_tables import (
    ADDR,
    CONTROL,
    CSR,
    CTRL,
    DATA,
    MANY,
    NONE,
    PENDING,
    REGISTERS,
    SCRATCH,
    SET,
    SPARE,
    UNKNOWN,
    ZERO_REGISTER,
    Log,
)

from gradual.compiler import kernel


@kernel
def set_value(g: Log, register: int) -> None:
    if register != ZERO_REGISTER:
        row = g.register[g.now[0].cpu * REGISTERS + register]
        row.known, row.value = 1, g.now[0].data


@kernel
def follow(g: Log) -> None:
    now = g.now[0]
    what = g.instruction[now.instruction]
    if what.follow == CONTROL:
        control(g)
    elif what.follow == SET:
        merge_sources(g, 0)
        come(g, what.target)
    elif what.follow == UNKNOWN:
        come_unknown(g, what.target)
    elif what.follow == CSR:
        merge_sources(g, 1)
        written = now.merge + now.merge_unknown
        come(g, SPARE)
        move(g, what.source0, what.target)
        if written > 0 and what.keeps == 0:
            come_unknown(g, what.source0)
        else:
            move(g, SPARE, what.source0)


@kernel
def move(g: Log, register: int, to: int) -> None:
    merge_none(g)
    merge_register(g, register)
    come(g, to)


@kernel
def control(g: Log) -> None:
    """A branch, or an indirect jump: the next operation is told of what it depends on."""
    now = g.now[0]
    what = g.instruction[now.instruction]
    c = g.cpu[now.cpu]
    for each in range(what.sources):
        number = now.cpu * REGISTERS + source(g, each)
        row = g.register[number]
        if row.unknown == 1 and g.controlled[now.cpu * now.stride].is_controlled == 0:
            g.controlled[now.cpu * now.stride].is_controlled = 1
            c.pending_unknown = 1
        for at in range(number * MANY, number * MANY + row.many):
            of = g.origin[at].of
            if g.controlled[now.cpu * now.stride + of].is_controlled == 0:
                g.controlled[now.cpu * now.stride + of].is_controlled = 1
                g.pending[now.cpu * PENDING + c.pending].branch = of
                c.pending += 1
    if what.target != NONE:
        merge_none(g)
        come(g, what.target)


@kernel
def source(g: Log, place: int) -> int:
    what = g.instruction[g.now[0].instruction]
    if place == 0:
        return what.source0
    if place == 1:
        return what.source1
    return what.source2 if place == 2 else what.source3


@kernel
def merge_sources(g: Log, first: int) -> None:
    merge_none(g)
    for each in range(first, g.instruction[g.now[0].instruction].sources):
        merge_register(g, source(g, each))


@kernel
def merge_none(g: Log) -> None:
    g.now[0].merge, g.now[0].merge_unknown = 0, 0


@kernel
def merge_register(g: Log, register: int) -> None:
    """What a register comes from, in order with what was merged before."""
    now = g.now[0]
    number = now.cpu * REGISTERS + register
    row = g.register[number]
    if row.unknown == 1:
        now.merge_unknown = 1
    if row.many == 0:
        return
    at, past = now.half * SCRATCH, now.half * SCRATCH + now.merge
    other, other_past = number * MANY, number * MANY + row.many
    now.half = 1 - now.half
    first = now.half * SCRATCH
    to = first
    while at < past or other < other_past:
        if other == other_past or (at < past and g.scratch[at].merged < g.origin[other].of):
            g.scratch[to].merged, at = g.scratch[at].merged, at + 1
        else:
            if at < past and g.scratch[at].merged == g.origin[other].of:
                at += 1
            g.scratch[to].merged, other = g.origin[other].of, other + 1
        to += 1
    now.merge = to - first


@kernel
def come(g: Log, register: int) -> None:
    """The value of a register comes from what was merged; of too many, the latest are kept."""
    now = g.now[0]
    if register == ZERO_REGISTER:
        return
    number = now.cpu * REGISTERS + register
    row = g.register[number]
    first = now.half * SCRATCH
    if now.merge + now.merge_unknown > MANY:
        first += now.merge - MANY
        now.merge, now.merge_unknown = MANY, 1
    for at in range(now.merge):
        g.origin[number * MANY + at].of = g.scratch[first + at].merged
    row.many, row.unknown = now.merge, now.merge_unknown


@kernel
def come_unknown(g: Log, register: int) -> None:
    if register != ZERO_REGISTER:
        row = g.register[g.now[0].cpu * REGISTERS + register]
        row.many, row.unknown = 0, 1


@kernel
def depend(g: Log) -> None:
    """What the access to come depends on."""
    now = g.now[0]
    what = g.instruction[now.instruction]
    c = g.cpu[now.cpu]
    unknown = c.pending_unknown
    for each in range(what.sources):
        unknown = unknown | tell(g, ADDR, source(g, each))
    if what.data != NONE:
        unknown = unknown | tell(g, DATA, what.data)
    for at in range(now.cpu * PENDING, now.cpu * PENDING + c.pending):
        tell_one(g, CTRL, g.pending[at].branch)
    c.pending, c.pending_unknown = 0, 0
    c.dropped += unknown


@kernel
def tell(g: Log, name: int, register: int) -> int:
    """Dependencies by a register; 1 where some are unknown."""
    number = g.now[0].cpu * REGISTERS + register
    row = g.register[number]
    for at in range(number * MANY, number * MANY + row.many):
        tell_one(g, name, g.origin[at].of)
    return row.unknown


@kernel
def tell_one(g: Log, name: int, earlier: int) -> None:
    now = g.now[0]
    row = g.dependency[now.dependencies]
    row.name, row.earlier = name, earlier
    now.dependencies += 1
