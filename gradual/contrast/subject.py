"""A program under comparison: its events, and for every store order what each load can return. Shared by all models."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import permutations, product
from typing import NamedTuple

from gradual.machines.code import FULL_FENCE, LOAD, Code, Threads
from gradual.models.masks import Events

KINDS = "WRF"


class Source(NamedTuple):
    """What a load can return: packed, with the pairs of rf and fr that this makes."""

    bits: int
    rf: int
    fr: int
    store: int
    """The event; an initial write has one too."""
    later: tuple[int, ...]
    """The stores that overwrite it, as they come."""


class Order(NamedTuple):
    """A store order of one location, first to last, with what each of its loads can return under it."""

    co: int
    stores: tuple[int, ...]
    sources: list[list[Source]]


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
        for number, thread in enumerate(threads):
            for place, (kind, address) in enumerate(thread):
                at = len(self.kind)
                self.kind.append(kind)
                self.thread.append(number)
                if kind == LOAD:
                    self._loads[address].append((at, self.code.numbers[number][place]))
                elif kind != FULL_FENCE:
                    self._stores[address].append(at)
                    self.value[at] = self.code.numbers[number][place]

    @cached_property
    def loads(self) -> list[int]:
        """The events that load, location by location: as the sources of an order stand."""
        return [event for loads in self._loads for event, _ in loads]

    def orders(self) -> Iterator[tuple[Order, ...]]:
        """Every store order, as one of each location."""
        return product(*self._orders)

    @cached_property
    def _orders(self) -> list[list[Order]]:
        return [[self._order(address, stores) for stores in permutations(self._stores[address])]
                for address in range(self.code.locations)]

    def _order(self, address: int, stores: tuple[int, ...]) -> Order:
        width, initial = self.events.width, len(self.kind) + address
        masks = [0]
        for store in reversed(stores):
            masks.append(masks[-1] | 1 << store)
        masks.reverse()  # masks[i]: the stores from the i-th on
        chain = (initial, *stores)
        co = sum(masks[at] << store * width for at, store in enumerate(chain))
        sources = [[Source(self.value.get(store, 0) << self.code.bits * number, 1 << store * width + load,
                           masks[at] << load * width, store, stores[at:])
                    for at, store in enumerate(chain)]
                   for load, number in self._loads[address]]
        return Order(co, stores, sources)
