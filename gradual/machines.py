"""Small machines that run random programs: histories to try the checker on, good ones and bad ones.

`sc`, `tso` and `pso` are the textbook machines, so what they produce satisfies their model. Each
`broken-…` machine is an SC memory with one fault that real protocols have had, which strikes rarely:
most of its histories of a few hundred operations violate SC, and some show nothing.

Time is linear in the number of operations, whatever the number of threads and locations.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from random import Random
from typing import NamedTuple

import numpy as np

from .history import FENCE, NO_LOCATION, NO_TICK, READ, RMW, WRITE, History, history_from_columns

BUFFER_DEPTH = 8
"""Stores a core can have under way; the next one waits until the oldest is drained."""
DRAIN_RATIO = 0.6
"""Chance that a buffer is drained between two operations: a bit above the share of writes, so that
buffers are seldom empty and seldom full."""
STALE_READS = 12
"""How often a core reads a stale copy at most before something evicts it."""
RELEASE_RATIO = 0.25
"""Chance that a faulty machine lets go of a held store between two operations."""
DUPLICATE_DELAY = 24
"""How many operations at most lie between a store and its second arrival."""
FIRST_ADDRESS = 0x1000
ADDRESS_STEP = 8


class Memory:
    """One memory, every operation at once: sequential consistency. The other machines build on it."""

    fault_ratio = 0.0
    """Chance that the machine's fault strikes when it can."""

    def __init__(self, cores: int, locations: int, rng: Random, fault_ratio: float | None = None) -> None:
        self.cores = cores
        self.memory = [0] * locations
        self.random = rng.random
        if fault_ratio is not None:
            self.fault_ratio = fault_ratio

    def tick(self) -> None:
        """What the machine does on its own before the next operation."""

    def read(self, core: int, location: int) -> int:
        return self.memory[location]

    def write(self, core: int, location: int, value: int) -> None:
        self.memory[location] = value

    def rmw(self, core: int, location: int, value: int) -> int:
        """Store `value` and return what it replaced."""
        old = self.memory[location]
        self.memory[location] = value
        return old

    def fence(self, core: int) -> None:
        """Wait until the core's stores are visible."""

    def strikes(self) -> bool:
        return self.random() < self.fault_ratio

    def any_core(self) -> int:
        return int(self.random() * self.cores)


class StoreBuffers(Memory):
    """TSO: each core's stores wait in a FIFO, and its own loads look there first."""

    def __init__(self, cores: int, locations: int, rng: Random, fault_ratio: float | None = None) -> None:
        super().__init__(cores, locations, rng, fault_ratio)
        self.buffers: list[list[tuple[int, int]]] = [[] for _ in range(cores)]

    def tick(self) -> None:
        if self.random() < DRAIN_RATIO:
            buffer = self.buffers[self.any_core()]
            if buffer:
                self.drain(buffer)

    def drain(self, buffer: list[tuple[int, int]]) -> None:
        """Let one store of the buffer reach memory."""
        location, value = buffer.pop(0)
        self.memory[location] = value

    def read(self, core: int, location: int) -> int:
        for at, value in reversed(self.buffers[core]):
            if at == location:
                return value
        return self.memory[location]

    def write(self, core: int, location: int, value: int) -> None:
        buffer = self.buffers[core]
        if len(buffer) == BUFFER_DEPTH:
            self.drain(buffer)
        buffer.append((location, value))

    def rmw(self, core: int, location: int, value: int) -> int:
        self.fence(core)
        return super().rmw(core, location, value)

    def fence(self, core: int) -> None:
        for location, value in self.buffers[core]:
            self.memory[location] = value
        self.buffers[core].clear()


class LocationBuffers(StoreBuffers):
    """PSO: a FIFO per core and location, kept as one list from which any location may drain first."""

    def drain(self, buffer: list[tuple[int, int]]) -> None:
        chosen = buffer[int(self.random() * len(buffer))][0]
        for at, (location, value) in enumerate(buffer):
            if location == chosen:
                del buffer[at]
                self.memory[location] = value
                return

    def rmw(self, core: int, location: int, value: int) -> int:
        """An rmw drains the buffer of its own location only."""
        old = self.read(core, location)
        self.buffers[core] = [store for store in self.buffers[core] if store[0] != location]
        self.memory[location] = value
        return old


class LostInvalidation(Memory):
    """A store fails to invalidate another core's copy, which that core then goes on reading."""

    fault_ratio = 0.08

    def __init__(self, cores: int, locations: int, rng: Random, fault_ratio: float | None = None) -> None:
        super().__init__(cores, locations, rng, fault_ratio)
        self.stale: list[dict[int, tuple[int, int]]] = [{} for _ in range(cores)]
        """Per core: location → the stale value, and how often it will still be read."""

    def read(self, core: int, location: int) -> int:
        copies = self.stale[core]
        if location not in copies:
            return self.memory[location]
        value, reads = copies.pop(location)
        if reads > 1:
            copies[location] = value, reads - 1
        return value

    def write(self, core: int, location: int, value: int) -> None:
        self.rmw(core, location, value)

    def rmw(self, core: int, location: int, value: int) -> int:
        self.stale[core].pop(location, None)  # a core that stores owns the line afterwards
        old = super().rmw(core, location, value)
        if self.strikes():
            victim = self.any_core()
            if victim != core:
                self.stale[victim].setdefault(location, (old, 1 + int(self.random() * STALE_READS)))
        return old


class HeldStores(Memory):
    """Now and then a store is held back, one per core at a time; what goes wrong then is up to the fault."""

    def __init__(self, cores: int, locations: int, rng: Random, fault_ratio: float | None = None) -> None:
        super().__init__(cores, locations, rng, fault_ratio)
        self.held: list[tuple[int, int] | None] = [None] * cores

    def tick(self) -> None:
        """A held store is not held for ever."""
        if self.random() < RELEASE_RATIO:
            self.fence(self.any_core())

    def read(self, core: int, location: int) -> int:
        store = self.held[core]
        return store[1] if store is not None and store[0] == location else self.memory[location]

    def write(self, core: int, location: int, value: int) -> None:
        self.fence(core)
        self.memory[location] = value

    def rmw(self, core: int, location: int, value: int) -> int:
        self.fence(core)
        return super().rmw(core, location, value)

    def fence(self, core: int) -> None:
        store = self.held[core]
        if store is not None:
            self.memory[store[0]] = store[1]
            self.held[core] = None


class ReorderedStores(HeldStores):
    """A store is overtaken by later ones of its core, of other locations or even of the same."""

    fault_ratio = 0.2

    def write(self, core: int, location: int, value: int) -> None:
        store = self.held[core]
        if store is None and self.strikes():
            self.held[core] = location, value
            return
        self.memory[location] = value
        if store is not None and store[0] == location:
            self.fence(core)


class MissingForward(HeldStores):
    """A store waits in a buffer in which the core's own loads do not look."""

    fault_ratio = 0.15

    def read(self, core: int, location: int) -> int:
        return self.memory[location]

    def write(self, core: int, location: int, value: int) -> None:
        if self.strikes():
            self.fence(core)
            self.held[core] = location, value
        else:
            super().write(core, location, value)


class TornRmw(HeldStores):
    """An rmw is carried out as a load and a buffered store, so others slip in between."""

    fault_ratio = 0.9  # of rmws, which are few themselves

    def rmw(self, core: int, location: int, value: int) -> int:
        if not self.strikes():
            return super().rmw(core, location, value)
        self.fence(core)
        self.held[core] = location, value
        return self.memory[location]


class DuplicatedStore(Memory):
    """A store reaches memory a second time, later: a write-back that was sent twice."""

    fault_ratio = 0.15

    def __init__(self, cores: int, locations: int, rng: Random, fault_ratio: float | None = None) -> None:
        super().__init__(cores, locations, rng, fault_ratio)
        self.again: list[list[tuple[int, int]]] = [[] for _ in range(DUPLICATE_DELAY)]
        """The stores that will arrive again, by the time modulo the longest delay."""
        self.now = 0

    def tick(self) -> None:
        self.now = (self.now + 1) % DUPLICATE_DELAY
        if self.again[self.now]:
            for location, value in self.again[self.now]:
                self.memory[location] = value
            self.again[self.now].clear()

    def write(self, core: int, location: int, value: int) -> None:
        self.rmw(core, location, value)

    def rmw(self, core: int, location: int, value: int) -> int:
        if self.strikes():
            due = self.now + 1 + int(self.random() * DUPLICATE_DELAY)
            self.again[due % DUPLICATE_DELAY].append((location, value))
        return super().rmw(core, location, value)


FAULTS: dict[str, type[Memory]] = {
    "broken-drop": LostInvalidation,
    "broken-reorder": ReorderedStores,
    "broken-duplicate": DuplicatedStore,
    "broken-forward": MissingForward,
    "broken-rmw": TornRmw,
}

MACHINES: dict[str, str] = {
    "sc": "one memory, operations interleaved",
    "tso": "a FIFO store buffer per core, with forwarding (x86)",
    "pso": "a FIFO store buffer per core and location, with forwarding (SPARC PSO)",
    "broken-drop": "SC, but some invalidations are lost: a core goes on reading a stale copy",
    "broken-reorder": "SC, but some stores are overtaken by later stores of their core",
    "broken-duplicate": "SC, but some stores reach memory a second time, later",
    "broken-forward": "SC, but some stores wait in a buffer the core's own loads do not look into",
    "broken-rmw": "SC, but most rmws are not atomic: others slip in between load and store",
    "broken": "one of the broken machines, chosen by the seed",
}
"""The machines by name, each with a line for the command line's help."""


class Program(NamedTuple):
    """What the cores are told to do, in the order of issue; the machine adds the values read."""

    thread: list[int]
    kind: bytearray
    location: array[int]


def generate(machine: str, threads: int, operations: int, locations: int, seed: int, *,
             write_ratio: float = 0.45, rmw_ratio: float = 0.05, fence_ratio: float = 0.03,
             fault_ratio: float | None = None, name: str = "") -> History:
    """The history of a random program of `operations` operations in all, run once on a machine.

    The ratios are shares of all operations; what they leave are reads. `fault_ratio` is the chance
    that a broken machine's fault strikes when it can, where its own choice does not suit. Operations
    stand in the order of issue. Every store writes a value of its own. Equal arguments give equal histories.
    """
    build = machine_named(machine, seed)
    _refuse(threads, operations, locations, write_ratio, rmw_ratio, fence_ratio)
    rng = Random(seed)
    program = _random_program(rng, threads, operations, locations, write_ratio, rmw_ratio, fence_ratio)
    addresses = [hex(FIRST_ADDRESS + ADDRESS_STEP * number) for number in range(locations)]
    return run_program(build(threads, locations, rng, fault_ratio), program, name or f"{machine}-{seed}", addresses)


def run_program(machine: Memory, program: Program, name: str, addresses: list[str],
                values: array[int] | None = None) -> History:
    """The history of a program. The stores write `values`, or numbers from 1 on."""
    read, written = _run(machine, program, values)
    return _history(name, machine.cores, addresses, program, read, written)


def machine_named(name: str, seed: int) -> type[Memory]:
    if name == "broken":
        return list(FAULTS.values())[seed % len(FAULTS)]
    machines: dict[str, type[Memory]] = {"sc": Memory, "tso": StoreBuffers, "pso": LocationBuffers, **FAULTS}
    try:
        return machines[name]
    except KeyError:
        raise ValueError(f"no machine called {name!r}; there are {', '.join(MACHINES)}") from None


def _refuse(threads: int, operations: int, locations: int, *ratios: float) -> None:
    if threads < 1 or locations < 1 or operations < 0:
        raise ValueError("a machine needs one thread and one location at least, and cannot run fewer than "
                         "0 operations")
    if min(ratios) < 0 or sum(ratios) > 1 + 1e-9:
        raise ValueError("the ratios of writes, rmws and fences are shares of all operations: "
                         "none is negative and together they are at most 1")


def _random_program(rng: Random, threads: int, operations: int, locations: int, write_ratio: float,
                    rmw_ratio: float, fence_ratio: float) -> Program:
    """Equally many operations per thread, up to one, in a random interleaving."""
    thread = [number % threads for number in range(operations)]
    rng.shuffle(thread)
    random = rng.random
    writes, rmws, fences = write_ratio, write_ratio + rmw_ratio, write_ratio + rmw_ratio + fence_ratio
    kind = bytearray(operations)
    location = array("i", bytes(4 * operations))
    for at in range(operations):
        share = random()
        kind[at] = WRITE if share < writes else RMW if share < rmws else FENCE if share < fences else READ
        location[at] = int(random() * locations)
    return Program(thread, kind, location)


def _run(machine: Memory, program: Program, values: array[int] | None) -> tuple[array[int], array[int]]:
    """The values read and written."""
    read, written = (array("q", bytes(8 * len(program.kind))) for _ in range(2))
    tick: Callable[[], None] = machine.tick
    value = 0
    for at, (core, kind, location) in enumerate(zip(*program, strict=True)):
        tick()
        if kind == READ:
            read[at] = machine.read(core, location)
        elif kind == FENCE:
            machine.fence(core)
        else:
            value = value + 1 if values is None else values[at]
            written[at] = value
            if kind == WRITE:
                machine.write(core, location, value)
            else:
                read[at] = machine.rmw(core, location, value)
    return read, written


def _history(name: str, threads: int, addresses: list[str], program: Program, read: array[int],
             written: array[int]) -> History:
    kind = np.array(program.kind, dtype=np.int8)
    location = np.array(program.location, dtype=np.int32)
    location[kind == FENCE] = NO_LOCATION
    nothing = np.zeros(len(addresses), dtype=np.int64)
    return history_from_columns(
        name, "", [f"cpu{number}" for number in range(threads)],
        addresses, np.array(program.thread, dtype=np.int32), kind, location, np.array(read, dtype=np.int64),
        np.array(written, dtype=np.int64), np.arange(1, len(kind) + 1, dtype=np.int64),
        np.full(len(kind), NO_TICK, dtype=np.int64), nothing, nothing.copy(), nothing - 1)
