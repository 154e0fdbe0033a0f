"""SC memories with one fault each that real protocols have had, and which strikes rarely: most histories of a few
hundred operations violate SC, and some show nothing.
"""

from __future__ import annotations

from random import Random

from gradual.machines.sound import Memory

STALE_READS = 12
"""How often a core reads a stale copy at most before something evicts it."""
RELEASE_RATIO = 0.25
"""Chance that a faulty machine lets go of a held store between two operations."""
DUPLICATE_DELAY = 24
"""How many operations at most lie between a store and its second arrival."""


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
