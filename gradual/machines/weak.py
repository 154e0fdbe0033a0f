"""Machines that perform operations out of order, as far as a weak model allows it.

Each core issues its operations in order into a window, and performs those in the window in any order that keeps what
must be kept. Memory is one, so stores reach all other cores at once; a load finds the core's own stores in the window
first. What keeps operations in order besides locations is made up at random as they are issued, and told.
"""

from __future__ import annotations

from array import array
from typing import NamedTuple

import numpy as np

from gradual.history import (
    ACQUIRE,
    EXCLUSIVE,
    FENCE,
    FENCES,
    FULL,
    INSTRUCTIONS,
    NO_TICK,
    READ,
    RELEASE,
    RMW,
    RR,
    RW,
    WR,
    WRITE,
    WW,
)
from gradual.history.annotations import Annotations, Column, annotated
from gradual.machines.program import Program, Ran
from gradual.machines.sound import Memory

WINDOW = 16
"""Operations that a core has under way at most."""
ISSUE_RATIO = 0.7
"""Chance that a core with room in its window issues another operation before it performs one."""
DEPENDENCIES = 0.15
"""Share of accesses that depend on one of the core's last loads."""
MARKED = 0.3
"""Share of rmws, LR and SC that acquire, release or do both."""
PAIRED = 0.08
"""Share of loads that are load-reserveds, where a store to the location is among the next operations."""
FULL_FENCES = 0.4
"""Share of fences that are full ones."""
READ_BEFORE, WRITE_BEFORE, READ_AFTER, WRITE_AFTER = RR | RW, WR | WW, RR | WR, RW | WW


class Operation(NamedTuple):
    """An operation under way."""

    number: int
    kind: int
    location: int
    orders: int
    """Of a fence."""
    marks: int
    addr: int
    """The operation that its address depends on, or -1; likewise the others."""
    data: int
    ctrl: int
    pair: int

    @property
    def reads(self) -> bool:
        return self.kind in (READ, RMW)

    @property
    def writes(self) -> bool:
        return self.kind in (WRITE, RMW)


class Windows(Memory):
    """RVWMO, a little stronger: two loads of one location are always kept in order, and so are neighbouring fences."""

    told: tuple[str, ...] = ("fence", "marks", "addr", "data", "ctrl", "pair")

    def run(self, program: Program, written: array[int]) -> Ran:
        return _Running(self, program, written).run()

    def describe(self, running: _Running, at: int) -> Operation:
        """Make up what is special about an operation that is being issued."""
        program = running.program
        core, kind, location = program.thread[at], program.kind[at], program.location[at]
        if kind == FENCE:
            return Operation(at, kind, -1, self._fence(), 0, -1, -1, -1, -1)
        pair, marks = -1, 0
        if kind == READ and self.random() < PAIRED:
            running.reserve(core, at)
        elif kind == WRITE:
            pair = running.reserved(core, location)
        exclusive = kind == RMW or pair >= 0 or running.is_reserved(at)
        if exclusive and self.random() < MARKED:
            marks = 1 + int(self.random() * 3)
        marks |= EXCLUSIVE if exclusive and kind != RMW else 0
        addr, data, ctrl = self._dependencies(running.loads[core], kind)
        return Operation(at, kind, location, 0, marks, addr, data, ctrl, pair)

    def _fence(self) -> int:
        kinds = list(FENCES.values())
        return FULL if self.random() < FULL_FENCES else kinds[int(self.random() * len(kinds))]

    def _dependencies(self, loads: list[int], kind: int) -> tuple[int, int, int]:
        if not loads or self.random() >= DEPENDENCIES:
            return -1, -1, -1
        source, which = loads[int(self.random() * len(loads))], int(self.random() * 3)
        return (source if which == 0 else -1, source if which == 1 and kind != READ else -1,
                source if which == 2 else -1)

    def forgets(self) -> bool:
        """Is only what concerns one location kept this time?"""
        return False

    def keeps(self, running: _Running, a: Operation, b: Operation) -> bool:
        """Must b wait for a, which comes before it in the core's window, for other reasons than their location?"""
        if a.kind == FENCE or b.kind == FENCE:
            return self._fence_keeps(a, b)
        ordered = (a.marks & ACQUIRE) | (b.marks & RELEASE)
        sequential = a.marks & (ACQUIRE | RELEASE) and b.marks & (ACQUIRE | RELEASE)
        if ordered or sequential or a.number in (b.addr, b.data if b.writes else -1, b.pair):
            return True
        return b.writes and (running.controls(a, b) or running.is_open(a.addr))

    @staticmethod
    def _fence_keeps(a: Operation, b: Operation) -> bool:
        if INSTRUCTIONS in (a.orders, b.orders):
            return False
        if a.kind == b.kind == FENCE:
            return True
        fence, access, reading, writing = (b, a, READ_BEFORE, WRITE_BEFORE) if b.kind == FENCE else (
            a, b, READ_AFTER, WRITE_AFTER)
        return bool((access.reads and fence.orders & reading) or (access.writes and fence.orders & writing))


class ForgetfulWindows(Windows):
    """Now and then a core performs an operation as if fences, acquire, release and dependencies did not exist."""

    fault_ratio = 0.5

    def forgets(self) -> bool:
        return self.strikes()


class TimedWindows(Windows):
    """WMO: nothing but locations and full fences; times tell what could depend on what."""

    told = ("begin", "end")

    def describe(self, running: _Running, at: int) -> Operation:
        kind = running.program.kind[at]
        return Operation(at, kind, running.program.location[at], FULL if kind == FENCE else 0, 0, -1, -1, -1, -1)


class _Running:
    """One program on its way through the windows."""

    def __init__(self, machine: Windows, program: Program, written: array[int]) -> None:
        self.program = program
        self.loads: list[list[int]] = [[] for _ in range(machine.cores)]
        """The last loads of each core."""
        self._machine = machine
        self._random = machine.random
        self._written = written
        self._read = array("q", bytes(8 * len(written)))
        self._windows: list[list[Operation]] = [[] for _ in range(machine.cores)]
        self._open = bytearray(b"\1") * len(written)
        self._begin = np.full(len(written), NO_TICK, dtype=np.int64)
        self._end = np.full(len(written), NO_TICK, dtype=np.int64)
        self._told: list[Operation] = []
        self._controlled: dict[int, int] = {}
        """For each source of control dependencies, the first operation that has one."""
        self._reserved: list[dict[int, int]] = [{} for _ in range(machine.cores)]
        """Of each core by location, its load-reserved that no store-conditional followed yet."""
        self._broken: set[int] = set()
        """Load-reserveds after which another core stored to the location."""
        self._watching: dict[int, set[int]] = {}
        """By location, the load-reserveds that were performed and wait for their store-conditional."""

    def run(self) -> Ran:
        waiting: list[list[int]] = [[] for _ in self._windows]
        for at in range(len(self._written) - 1, -1, -1):
            waiting[self.program.thread[at]].append(at)
        left, now = len(self._written), 0
        cores = [core for core, operations in enumerate(waiting) if operations]
        while left:
            core = cores[int(self._random() * len(cores))]
            window = self._windows[core]
            while waiting[core] and len(window) < WINDOW and (not window or self._random() < ISSUE_RATIO):
                now += 1
                self._issue(core, waiting[core].pop(), now)
            place = int(self._random() ** 2 * len(window))
            if self._may(window, place):
                now += 1
                self._perform(core, window, place, now)
                left -= 1
                if not window and not waiting[core]:
                    cores.remove(core)
        return Ran(self._read, self._written, self._annotations())

    # --- issue

    def _issue(self, core: int, at: int, now: int) -> None:
        operation = self._machine.describe(self, at)
        self._begin[at] = now
        self._windows[core].append(operation)
        self._told.append(operation)
        if operation.ctrl >= 0:
            self._controlled.setdefault(operation.ctrl, at)
        if operation.reads:
            self.loads[core] = [*self.loads[core][-3:], at]

    def reserve(self, core: int, at: int) -> None:
        self._reserved[core] = {self.program.location[at]: at}

    def reserved(self, core: int, location: int) -> int:
        """The load-reserved that a store to the location is the store-conditional of, or -1."""
        return self._reserved[core].pop(location, -1)

    def is_reserved(self, at: int) -> bool:
        return self._reserved[self.program.thread[at]].get(self.program.location[at]) == at

    # --- what a rule asks

    def is_open(self, operation: int) -> bool:
        """Is there such an operation, and was it not performed yet?"""
        return operation >= 0 and self._open[operation] == 1

    def controls(self, a: Operation, b: Operation) -> bool:
        return self._controlled.get(a.number, b.number + 1) <= b.number

    def _may(self, window: list[Operation], place: int) -> bool:
        """Can the operation at a place of the window be performed?"""
        b, keeps, forgets = window[place], self._machine.keeps, self._machine.forgets()
        forwarded = None
        for a in window[:place]:
            if a.location == b.location and a.kind != FENCE:
                if a.reads or b.writes or a.pair >= 0:
                    return False
                forwarded = a
            if not forgets and keeps(self, a, b):
                return False
        return forwarded is None or not (self.is_open(forwarded.addr) or self.is_open(forwarded.data))

    # --- perform

    def _perform(self, core: int, window: list[Operation], place: int, now: int) -> None:
        b, memory = window.pop(place), self._machine.memory
        self._open[b.number] = 0
        if b.reads:
            own = [a for a in window[:place] if a.location == b.location and a.kind == WRITE]
            self._read[b.number] = self._written[own[-1].number] if own else memory[b.location]
            self._end[b.number] = now
            if b.marks & EXCLUSIVE:
                self._watching.setdefault(b.location, set()).add(b.number)
        if b.writes:
            memory[b.location] = self._written[b.number]
            watching = self._watching.get(b.location)
            if watching:
                watching.discard(b.pair)
                others = {load for load in watching if self.program.thread[load] != core}
                self._broken |= others
                watching -= others

    # --- what is told

    def _annotations(self) -> Annotations:
        return _told(self._told, self._broken, self._begin, self._end, self._machine.told)


def _told(operations: list[Operation], broken: set[int], begin: Column, end: Column,
          told: tuple[str, ...]) -> Annotations:
    """A store-conditional whose reservation was broken is a store like any other, and nothing else."""
    fence, marks = (np.zeros(len(begin), dtype=np.int8) for _ in range(2))
    pairs: dict[str, list[tuple[int, int]]] = {"addr": [], "data": [], "ctrl": [], "pair": []}
    for operation in operations:
        at, failed = operation.number, operation.pair in broken
        fence[at] = operation.orders
        marks[at] = operation.marks & ~EXCLUSIVE if failed else operation.marks
        for name, source in (("addr", operation.addr), ("data", operation.data), ("ctrl", operation.ctrl),
                             ("pair", -1 if failed else operation.pair)):
            if source >= 0:
                pairs[name].append((source, at))
    found = {"fence": fence, "marks": marks, "begin": begin, "end": end, **{
        name: np.array(sorted(of), dtype=np.int32).reshape(-1, 2) for name, of in pairs.items()}}
    return annotated(**{name: column for name, column in found.items() if name in told and len(column)})
