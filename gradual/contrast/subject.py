"""A program under comparison: its events, and for every store order what each load can return. Shared by all models."""

from __future__ import annotations

from functools import cached_property
from itertools import permutations
from typing import NamedTuple

from gradual.machines.code import FULL_FENCE, LOAD, Code, Threads
from gradual.models.masks import Events

KINDS = "WRF"


class Source(NamedTuple):
    """What a load can return: packed, with the pairs of rf and fr that this makes."""

    bits: int
    rf: int
    fr: int
    after: int
    """How many stores come before the value is overwritten: 0 for the initial one."""


class Order:
    """A store order of one location."""

    __slots__ = ("_loads", "_sources", "_subject", "co", "stores")

    def __init__(self, subject: Subject, initial: int, stores: tuple[int, ...], loads: list[tuple[int, int]]) -> None:
        self.stores = stores
        """The events, first to last."""
        self._subject = subject
        self._loads = loads
        width, later, co = subject.events.width, 0, 0
        for store in reversed(stores):
            co |= later << store * width
            later |= 1 << store
        self.co = co | later << initial * width
        self._sources: list[list[Source]] | None = None

    def sources(self, initial: int) -> list[list[Source]]:
        """What each load of the location can return, load by load."""
        if self._sources is None:
            width, value, bits = self._subject.events.width, self._subject.value, self._subject.code.bits
            later, chain = 0, []
            for after, store in zip(range(len(self.stores), 0, -1), reversed(self.stores), strict=True):
                chain.append((value[store], store * width, later, after))
                later |= 1 << store
            chain.append((0, initial * width, later, 0))
            self._sources = [[Source(read << bits * number, 1 << row + load, overwriting << load * width, after)
                              for read, row, overwriting, after in chain] for load, number in self._loads]
        return self._sources


class Subject:
    def __init__(self, threads: Threads) -> None:
        self.code = Code(threads)
        self.events = Events([[(KINDS[kind], address) for kind, address in thread] for thread in threads],
                             self.code.locations)
        self._stores: list[list[int]] = [[] for _ in range(self.code.locations)]
        self._loads: list[list[tuple[int, int]]] = [[] for _ in range(self.code.locations)]
        """By location: the event, and its place in the outcome."""
        self.value: dict[int, int] = {}
        """Of a store's event."""
        self.kind: list[int] = []
        self.thread: list[int] = []
        self.address: list[int] = []
        for number, thread in enumerate(threads):
            for place, (kind, address) in enumerate(thread):
                at = len(self.kind)
                self.kind.append(kind)
                self.thread.append(number)
                self.address.append(address)
                if kind == LOAD:
                    self._loads[address].append((at, self.code.numbers[number][place]))
                elif kind != FULL_FENCE:
                    self._stores[address].append(at)
                    self.value[at] = self.code.numbers[number][place]

    def loads(self, address: int) -> list[int]:
        """The events that load a location: as the sources of its orders stand."""
        return [event for event, _ in self._loads[address]]

    @cached_property
    def orders(self) -> list[list[Order]]:
        """Every store order, location by location."""
        return [[Order(self, self.initial(address), stores, self._loads[address])
                 for stores in permutations(self._stores[address])] for address in range(self.code.locations)]

    def initial(self, address: int) -> int:
        """The event that stands for the initial write."""
        return len(self.kind) + address
