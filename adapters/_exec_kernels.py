"""The lines of gem5's Exec logs, followed byte by byte, to be compiled.

Knows what `gem5.py`, `_thread.py` and `_dependencies.py` make of a line as gem5 nearly always prints it; what an
instruction's text means is looked up, and decided by them. A line that is anything else is *odd*: it is left as it is,
and they read it. So is every line that is wrong: they have the words.
"""

from __future__ import annotations

from gradual.adapters._exec_accesses import access, barrier, can_access
from gradual.adapters._exec_lines import find, hex_number, spell, split
from gradual.adapters._exec_registers import follow, set_value
from gradual.adapters._exec_tables import (
    A0,
    BARRIER,
    CALL,
    CALL_BYTES,
    DO_ODD,
    DONE,
    FOLLOW,
    HEX_DIGITS,
    LINK,
    LOAD,
    MACRO,
    MORE_ROOM,
    NEW_WORD,
    NONE,
    ODD,
    PENDING,
    PLAIN,
    POINT,
    RA,
    REGISTERS,
    REST,
    SCRATCH,
    SILENT,
    SMALL_X,
    SPACE,
    ZERO,
    Log,
)

from gradual.compiler import kernel


@kernel
def scan_log(g: Log) -> int:
    """Lines up to the end of the text, or of the room for what they are."""
    now = g.now[0]
    while True:
        if now.free_fence == 0 or now.operations + len(g.fence) + 2 > len(g.operation) or (
                now.dependencies + PENDING + SCRATCH > len(g.dependency)):
            return MORE_ROOM
        found = split(g)
        if found == DONE:
            found = commit(g)
        if found != DONE:
            return found
        now.at = now.past
        now.number += 1


# What a line does


@kernel
def commit(g: Log) -> int:
    now = g.now[0]
    c = g.cpu[now.cpu]
    found = look_up(g)
    if found == 0:
        return NEW_WORD
    if now.separators == 2:
        announce(g, found)
    else:
        now.instruction = found - 1
        what = g.instruction[now.instruction]
        if what.does == DO_ODD or (what.does == SILENT and now.has_data == 1):
            return ODD
        if c.called == 1 and not go_on(g):
            return ODD
        c.called = 0
        if what.does >= LOAD and not can_access(g):
            return ODD
        if what.whole == 1:
            c.whole = 1
        step(g)
        c.pc, c.pc_past = now.at_pc, now.at_pc_past
    c.counter, c.step = now.counter, now.step
    return DONE


@kernel
def look_up(g: Log) -> int:
    """The number of the instruction, 0 where it is new."""
    now = g.now[0]
    data, address = now.has_data, now.has_address
    if now.separators == 2:
        data, address = 0, 0
    if now.place != NONE:
        place = g.place[now.place]
        found = (place.number3 if data == 1 else place.number2) if address == 1 else (
            place.number1 if data == 1 else place.number0)
        if found != 0:
            return found
    if now.spelled == NONE:
        spell(g, now.key)
    found = find(g, MACRO if now.separators == 2 else PLAIN + data + 2 * address, now.hashed, now.spelled)
    if now.place != NONE:
        place = g.place[now.place]
        if address == 1:
            if data == 1:
                place.number3 = found
            else:
                place.number2 = found
        elif data == 1:
            place.number1 = found
        else:
            place.number0 = found
    return found


@kernel
def announce(g: Log, found: int) -> None:
    """An instruction whose micro-operations follow."""
    now = g.now[0]
    what = g.instruction[found - 1]
    if what.atomic == 1:
        g.cpu[now.cpu].ordering = what.marks
        if now.bare_atomic == 0:
            now.bare_atomic = now.number


@kernel
def step(g: Log) -> None:
    now = g.now[0]
    what = g.instruction[now.instruction]
    c = g.cpu[now.cpu]
    if what.does == FOLLOW:
        if now.has_data == 1:
            set_value(g, what.sets)
        follow(g)
    elif what.does >= LOAD:
        access(g)
    elif what.does == BARRIER:
        barrier(g)
    elif what.does == CALL:
        c.called = 1
    elif what.does == LINK:
        set_value(g, RA)
        g.register[now.cpu * REGISTERS + RA].known = now.has_data
        follow(g)
    elif what.does == REST:
        g.register[now.cpu * REGISTERS + what.sets].known = 0


@kernel
def go_on(g: Log) -> bool:
    """After a system call; whether it is clear where."""
    now = g.now[0]
    c = g.cpu[now.cpu]
    came = place(g, c.pc, c.pc_past)
    goes = place(g, now.at_pc, now.at_pc_past)
    if came == NONE or goes == NONE:
        return False
    if goes == came or goes - came == CALL_BYTES:
        row = g.register[now.cpu * REGISTERS + A0]
        row.known, row.unknown, row.many = 0, 1, 0
        return True
    for each in range(1, now.registers):
        row = g.register[now.cpu * REGISTERS + each]
        row.known = 0
        if row.many > 0:
            row.unknown, row.many = 1, 0
    return True


@kernel
def place(g: Log, at: int, past: int) -> int:
    """A pc as a number, NONE where it is not printed as one."""
    if past - at < 3 or g.text[at].byte != ZERO or g.text[at + 1].byte != SMALL_X:
        return NONE
    behind = hex_number(g, at + 2)
    if behind == at + 2 or behind - at - 2 >= HEX_DIGITS or behind > past:
        return NONE
    if behind < past and g.text[behind].byte != SPACE and g.text[behind].byte != POINT:
        return NONE
    return g.now[0].parsed
