"""A program as bare as machines and symmetries need it: per thread, kinds and addresses.

Values need not be said: the n-th store of the text writes n, and memory starts with 0. An outcome is the vector of what
the loads return, in the order of the text. So a program reads `WX1 RY|WY2 RX`, and an outcome of it `0 0`.
"""

from __future__ import annotations

import re
from functools import cached_property

STORE, LOAD, FULL_FENCE, EXCHANGE = range(4)
"""The kinds, in the order in which programs are sorted. An exchange loads and stores in one step."""
Instruction = tuple[int, int]
"""A kind and an address; that of a fence is 0."""
Thread = tuple[Instruction, ...]
Threads = tuple[Thread, ...]
Outcome = tuple[int, ...]
FENCE: Instruction = (FULL_FENCE, 0)
NAMES = "XYZUVABCDEGHIJKLMNOPQST"
"""Of addresses; no letter that is an instruction."""
_WORD = re.compile(rf"(?:(?P<store>W)(?P<at>[{NAMES}])(?P<value>\d+)|(?P<load>R)(?P<from>[{NAMES}])|(?P<fence>F))")


class Code:
    """The threads, with their loads and stores numbered."""

    def __init__(self, threads: Threads) -> None:
        self.threads = threads
        self.owner: list[int] = [-1]
        """The thread of each store, by its value; nobody owns the initial 0."""
        self.address: list[int] = [-1]
        """Where each store goes to."""
        self.position: list[int] = [-1]
        """Its place in its thread."""
        self.numbers: list[list[int]] = []
        """Per thread and instruction: a store's value, a load's place in the outcome."""
        self.loads = 0
        locations = 0
        for number, thread in enumerate(threads):
            numbers = []
            for place, (kind, address) in enumerate(thread):
                if kind == STORE:
                    numbers.append(len(self.owner))
                    self._store(number, address, place)
                elif kind == LOAD:
                    numbers.append(self.loads)
                    self.loads += 1
                elif kind == EXCHANGE:
                    numbers.append(len(self.owner) << 16 | self.loads)
                    self.loads += 1
                    self._store(number, address, place)
                else:
                    numbers.append(0)
                    continue
                if address >= locations:
                    locations = address + 1
            self.numbers.append(numbers)
        self.locations = locations
        self.stores = len(self.owner) - 1
        self.bits = max(self.stores.bit_length(), 1)
        """Of a value in an outcome that is packed into one number."""

    def _store(self, thread: int, address: int, place: int) -> None:
        self.owner.append(thread)
        self.address.append(address)
        self.position.append(place)

    @cached_property
    def last_load(self) -> list[int]:
        """Of each thread, where its last load stands; -1 where there is none."""
        return [max((place for place, (kind, _) in enumerate(thread) if kind in (LOAD, EXCHANGE)), default=-1)
                for thread in self.threads]

    def unpacked(self, packed: int, length: int | None = None) -> Outcome:
        mask = (1 << self.bits) - 1
        return tuple([packed >> self.bits * at & mask for at in range(self.loads if length is None else length)])

    def packed(self, outcome: Outcome) -> int:
        return sum(value << self.bits * at for at, value in enumerate(outcome))

    def __str__(self) -> str:
        return notation(self.threads)


def notation(threads: Threads) -> str:
    """`WX1 RY|WY2 RX`."""
    value, texts = 0, []
    for thread in threads:
        words = []
        for kind, address in thread:
            value += kind == STORE
            words.append("F" if kind == FULL_FENCE else f"W{NAMES[address]}{value}" if kind == STORE
                         else f"R{NAMES[address]}")
        texts.append(" ".join(words))
    return "|".join(texts)


def parsed(text: str) -> Threads:
    """The threads of a notation; addresses keep the order of their letters. Raises ValueError.

    >>> parsed("WX1 RY|WY2 RX")
    (((0, 0), (1, 1)), ((0, 1), (1, 0)))
    """
    value, threads = 0, []
    for part in text.split("|"):
        thread: list[Instruction] = []
        for word in part.split():
            match = _WORD.fullmatch(word)
            if match is None:
                raise ValueError(f"{word!r} is no instruction: there are WX1, RX and F")
            if match["store"]:
                value += 1
                if int(match["value"]) != value:
                    raise ValueError(f"{word!r} should store {value}: values count the stores of the text")
                thread.append((STORE, NAMES.index(match["at"])))
            else:
                thread.append((LOAD, NAMES.index(match["from"])) if match["load"] else FENCE)
        threads.append(tuple(thread))
    return tuple(threads)
