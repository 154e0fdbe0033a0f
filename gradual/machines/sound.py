"""The textbook machines of SC, TSO and PSO: what they produce satisfies their model."""

from __future__ import annotations

from array import array
from random import Random

from gradual.history import FENCE, READ, WRITE
from gradual.machines.program import Program, Ran

BUFFER_DEPTH = 8
"""Stores a core can have under way; the next one waits until the oldest is drained."""
DRAIN_RATIO = 0.6
"""Chance that a buffer is drained between two operations: a bit above the share of writes, so that
buffers are seldom empty and seldom full."""


class Cells(list[int]):
    """A memory that knows in which order it was written: locations and values."""

    def __init__(self, values: list[int]) -> None:
        super().__init__(values)
        self.stored: dict[tuple[int, int], None] = {}
        """Each store once, when it came first."""

    def __setitem__(self, location: int, value: int) -> None:  # type: ignore[override]
        self.stored.setdefault((location, value))
        super().__setitem__(location, value)


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

    def run(self, program: Program, written: array[int]) -> Ran:
        """Carry out a program, whose stores write these values."""
        read = array("q", bytes(8 * len(program.kind)))
        for at, (core, kind, location) in enumerate(zip(*program, strict=True)):
            self.tick()
            if kind == READ:
                read[at] = self.read(core, location)
            elif kind == FENCE:
                self.fence(core)
            elif kind == WRITE:
                self.write(core, location, written[at])
            else:
                read[at] = self.rmw(core, location, written[at])
        return Ran(read, written)

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
