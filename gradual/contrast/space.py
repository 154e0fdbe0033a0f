"""The programs among which models are contrasted, each class once: up to the names of threads, addresses and values.

Threads stand by non-increasing length (fences do not count), threads of one length in order, addresses are numbered as
they appear: Algorithm 1 of *Generating Litmus Tests for Contrasting Memory Consistency Models* (Mador-Haim, Alur,
Martin), put right. It misses no class, but has some more than once: the programs kept are those that no renaming of
addresses, followed by sorting, makes smaller.

Of these only some can tell models apart. The conflict graph has the accesses as nodes, x→y if x is before y in its
thread, both ways if they conflict. Where it is not strongly connected, the outcomes are the product of those of its
components; a location that is accessed once, or never written, changes nothing about the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations, product
from math import comb, factorial

from gradual.machines.code import FENCE, FULL_FENCE, LOAD, STORE, Thread, Threads

LONGEST = 3
"""Instructions of a thread that are counted: all but fences."""


@dataclass(frozen=True)
class Space:
    """Programs of so many threads and locations at most, with fences or without."""

    locations: int = 3
    threads: int | None = None
    fences: bool = True

    @cached_property
    def _tables(self) -> list[_Table]:
        """By length; there is no thread of length 0."""
        return [_Table(length, self.locations, self.fences) for length in range(LONGEST + 1)]

    def partitions(self, instructions: int) -> list[tuple[int, ...]]:
        """The lengths that threads can have, fewest threads first."""
        most = instructions if self.threads is None else self.threads
        return sorted((lengths for lengths in _partitions(instructions, LONGEST) if len(lengths) <= most),
                      key=lambda lengths: (len(lengths), [-length for length in lengths]))

    def algorithm_1(self, lengths: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        """Programs as the numbers of their threads in the tables of these lengths: every class, some more than once."""
        tables = [self._tables[length] for length in lengths]
        tied = [at > 0 and lengths[at] == lengths[at - 1] for at in range(len(lengths))]
        last = len(lengths) - 1

        def further(at: int, before: tuple[int, ...], used: int) -> Iterator[tuple[int, ...]]:
            least = before[-1] if tied[at] else 0
            for number, now in tables[at].fitting[used]:
                if number >= least:
                    if at == last:
                        yield (*before, number)
                    else:
                        yield from further(at + 1, (*before, number), now)

        return further(0, (), 0)

    def is_least(self, lengths: tuple[int, ...], numbers: tuple[int, ...]) -> bool:
        """Is a program the one of its class that is kept?"""
        for renaming in range(1, self._renamings):
            again = [self._tables[length].renamed[renaming][number]
                     for length, number in zip(lengths, numbers, strict=True)]
            if tuple(_sorted(lengths, again)) < numbers:
                return False
        return True

    @property
    def _renamings(self) -> int:
        return factorial(self.locations)

    def classes(self, lengths: tuple[int, ...]) -> Iterator[Threads]:
        """One program per class."""
        for numbers in self.algorithm_1(lengths):
            if self.is_least(lengths, numbers):
                yield self.threads_of(lengths, numbers)

    def reduced(self, lengths: tuple[int, ...]) -> Iterator[Threads]:
        """One program of each class that can tell models apart."""
        tables = [self._tables[length] for length in lengths]
        for numbers in self.algorithm_1(lengths):
            if not self._idle(tables, numbers) and self.is_least(lengths, numbers):
                threads = self.threads_of(lengths, numbers)
                if connected(threads):
                    yield threads

    def threads_of(self, lengths: tuple[int, ...], numbers: tuple[int, ...]) -> Threads:
        return tuple([self._tables[length].threads[number] for length, number in zip(lengths, numbers, strict=True)])

    def _idle(self, tables: list[_Table], numbers: tuple[int, ...]) -> bool:
        """Is a location accessed once, or never written?"""
        written = accessed = twice = 0
        for table, number in zip(tables, numbers, strict=True):
            stores, all_of_them, more = table.masks[number]
            written |= stores
            twice |= more | accessed & all_of_them
            accessed |= all_of_them
        return accessed != written & twice

    def programs(self, instructions: int, reduced: bool = True) -> Iterator[Threads]:
        """Those of exactly so many instructions: by threads, then fences, then in order."""
        groups: dict[int, list[tuple[int, ...]]] = {}
        for lengths in self.partitions(instructions):
            groups.setdefault(len(lengths), []).append(lengths)
        for group in groups.values():
            found = [threads for lengths in group
                     for threads in (self.reduced(lengths) if reduced else self.classes(lengths))]
            yield from sorted(found, key=place)

    def naive(self, instructions: int) -> int:
        """How many there are without any symmetry, threads by non-increasing length."""
        between = 2 if self.fences else 1
        return int(sum((2 * self.locations) ** instructions * between ** (instructions - len(lengths))
                       for lengths in self.partitions(instructions)))

    def count(self, instructions: int) -> int:
        """How many classes there are, without looking at any: Burnside's lemma over the renamings of addresses.

        A program is a multiset of threads, so those that a renaming leaves alone are made of whole cycles of threads.
        """
        total = 0
        for renaming in range(self._renamings):
            series = {(0, 0): 1}
            for length in range(1, LONGEST + 1):
                for size, cycles in _cycles(self._tables[length].renamed[renaming]).items():
                    series = _times(series, cycles, size, length, instructions, self.threads)
            total += sum(found for (used, _), found in series.items() if used == instructions)
        return total // self._renamings


def fences(threads: Threads) -> int:
    return sum(kind == FULL_FENCE for thread in threads for kind, _ in thread)


def size(threads: Threads) -> tuple[int, int, int]:
    """Instructions that count, threads, fences."""
    return sum(map(_length, threads)), len(threads), fences(threads)


def place(threads: Threads) -> tuple[int, int, tuple[tuple[int, Thread], ...]]:
    """Where a program stands among those of as many instructions."""
    return len(threads), fences(threads), tuple([(-_length(thread), thread) for thread in threads])


def least(threads: Threads) -> Threads:
    """The program of the same class that is kept."""
    locations = 1 + max((address for thread in threads for _, address in thread), default=0)
    return min((tuple(sorted((_renamed(thread, renaming) for thread in threads), key=lambda t: (-_length(t), t)))
                for renaming in permutations(range(locations))), key=place)


def connected(threads: Threads) -> bool:
    """Is the conflict graph strongly connected?"""
    kinds: list[int] = []
    addresses: list[int] = []
    following: list[int] = []
    previous: list[int] = []
    for thread in threads:
        start = len(kinds)
        for kind, address in thread:
            if kind != FULL_FENCE:
                kinds.append(kind)
                addresses.append(address)
        for at in range(start, len(kinds)):
            following.append(1 << at + 1 if at + 1 < len(kinds) else 0)
            previous.append(1 << at - 1 if at > start else 0)
    accesses, stores = [0] * (max(addresses) + 1), [0] * (max(addresses) + 1)
    for at, (kind, address) in enumerate(zip(kinds, addresses, strict=True)):
        accesses[address] |= 1 << at
        if kind == STORE:
            stores[address] |= 1 << at
    conflicts = [accesses[address] if kind == STORE else stores[address]
                 for kind, address in zip(kinds, addresses, strict=True)]
    everything = (1 << len(kinds)) - 1
    return _reached(following, conflicts) == everything == _reached(previous, conflicts)


def _reached(along: list[int], conflicts: list[int]) -> int:
    """What can be reached from the first access."""
    reached, todo = 1, 1
    while todo:
        at = todo.bit_length() - 1
        new = (along[at] | conflicts[at]) & ~reached
        reached |= new
        todo = (todo ^ 1 << at) | new
    return reached


def idle(threads: Threads) -> bool:
    """Is a location accessed once, or never written?"""
    accesses = [address for thread in threads for kind, address in thread if kind != FULL_FENCE]
    written = {address for thread in threads for kind, address in thread if kind == STORE}
    return any(address not in written or accesses.count(address) == 1 for address in accesses)


def _length(thread: Thread) -> int:
    return sum(kind != FULL_FENCE for kind, _ in thread)


def _renamed(thread: Thread, renaming: tuple[int, ...]) -> Thread:
    return tuple([step if step == FENCE else (step[0], renaming[step[1]]) for step in thread])


def _sorted(lengths: tuple[int, ...], numbers: list[int]) -> list[int]:
    """Threads of one length in order."""
    start, found = 0, []
    for at in range(1, len(lengths) + 1):
        if at == len(lengths) or lengths[at] != lengths[start]:
            found += sorted(numbers[start:at])
            start = at
    return found


def _partitions(total: int, largest: int) -> Iterator[tuple[int, ...]]:
    if total == 0:
        yield ()
    for first in range(min(total, largest), 0, -1):
        yield from ((first, *rest) for rest in _partitions(total - first, first))


class _Table:
    """The threads of one length, in order, and what is asked of them again and again."""

    def __init__(self, length: int, locations: int, fences: bool) -> None:
        accesses = [(kind, address) for kind in (STORE, LOAD) for address in range(locations)]
        gaps = list(product(((), (FENCE,)) if fences else ((),), repeat=max(length - 1, 0)))
        self.threads: list[Thread] = sorted(
            tuple(step for access, gap in zip(steps, (*between, ()), strict=True) for step in (access, *gap))
            for steps in product(accesses, repeat=length) for between in gaps) if length else []
        number = {thread: at for at, thread in enumerate(self.threads)}
        self.renamed = [[number[_renamed(thread, renaming)] for thread in self.threads]
                        for renaming in permutations(range(locations))]
        """By renaming of the addresses (the first one changes nothing), the number that each thread becomes."""
        self.fitting = [list(self._numbered(used)) for used in range(locations + 1)]
        """By how many addresses are in use: the threads that name new ones in turn, with how many are used then."""
        self.masks = [_masks(thread) for thread in self.threads]
        """Of each thread, the locations that it writes, accesses, accesses more than once."""

    def _numbered(self, used: int) -> Iterator[tuple[int, int]]:
        for number, thread in enumerate(self.threads):
            now = used
            for kind, address in thread:
                if kind != FULL_FENCE:
                    if address > now:
                        break
                    now += address == now
            else:
                yield number, now


def _masks(thread: Thread) -> tuple[int, int, int]:
    stores = accesses = more = 0
    for kind, address in thread:
        if kind != FULL_FENCE:
            more |= accesses & 1 << address
            accesses |= 1 << address
            stores |= (kind == STORE) << address
    return stores, accesses, more


def _cycles(renamed: list[int]) -> dict[int, int]:
    """How many cycles of each size a renaming makes of the threads."""
    sizes: dict[int, int] = {}
    seen = [False] * len(renamed)
    for start in range(len(renamed)):
        at, size = start, 0
        while not seen[at]:
            seen[at] = True
            at, size = renamed[at], size + 1
        if size:
            sizes[size] = sizes.get(size, 0) + 1
    return sizes


def _times(series: dict[tuple[int, int], int], cycles: int, size: int, length: int, instructions: int,
           threads: int | None) -> dict[tuple[int, int], int]:
    """A power series in instructions and threads, times (1 - x^(size·length) y^size)^-cycles."""
    found: dict[tuple[int, int], int] = {}
    for (used, running), ways in series.items():
        for more in range((instructions - used) // (size * length) + 1):
            if threads is None or running + more * size <= threads:
                key = used + more * size * length, running + more * size
                found[key] = found.get(key, 0) + ways * comb(cycles + more - 1, more)
    return found
