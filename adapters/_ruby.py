"""When stores of a gem5 log reach the cache: lines of `--debug-flags=Exec,RubySequencer,RubyHitMiss`.

    4201500: system.ruby.l1_cntrl0.sequencer: Cache hit at [0x7f4c0, line 0x7f4c0]
    4201500: system.ruby.l1_cntrl0.sequencer: set data [ 0x15 0x0 0x0 … ]

(older versions print both with RubySequencer). The first has the physical address, the second all bytes of the cache
line after the store. Neither names the instruction, whose line has a virtual address: only what lies within a page is
common to both. So a store is found by that and by its value, where no other store of the log and no other line has
them; all others stay open. A CPU whose stores are found at several sequencers was misunderstood: all of its stay open.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import NamedTuple

from gradual.adapters._thread import Access

from gradual.history import Builder

_PAGE = 1 << 12
_LINE = re.compile(rb" *(\d+): ([\w.\[\]-]+): (?:Cache (?:hit|miss) at \[(?:0x)?([0-9a-f]+), line (?:0x)?([0-9a-f]+)\]|"
                   rb"(set|swap|AMO new) data \[((?: (?:0x)?[0-9a-f]{1,2})+) \])\s*")

Key = tuple[int, bytes]
"""Where in its page, and the bytes."""


class _Line(NamedTuple):
    """A store that reaches the cache."""

    sequencer: bytes
    place: int
    block: bytes
    """From its address on."""


class _Store(NamedTuple):
    """An operation that writes: its thread, and its number there."""

    thread: str
    number: int
    line: int


class Ruby:
    """The stores of a log, and the lines that show them reach the cache."""

    def __init__(self) -> None:
        self._hits: dict[bytes, tuple[bytes, int, int]] = {}
        """Of each sequencer the last access: tick, address, offset within the cache line."""
        self._lines: dict[int, list[_Line]] = defaultdict(list)
        """By where in its page the access begins."""
        self._count = 0
        self._closed = False
        self._stores: dict[Key, list[_Store | None]] = defaultdict(list)

    @property
    def seen(self) -> bool:
        """Whether the log has such lines."""
        return bool(self._count)

    def close(self) -> None:
        """Leave everything open from now on: not every store is told."""
        self._closed = True
        self._stores.clear()

    def look(self, line: bytes) -> None:
        """A line that is no Exec line."""
        found = None if self._closed else _LINE.fullmatch(line)
        if found is None:
            return
        tick, sequencer, address, start, _, data = found.groups()
        if address is not None:
            self._hits[sequencer] = tick, int(address, 16), int(address, 16) - int(start, 16)
            return
        hit = self._hits.pop(sequencer, None)
        if hit is not None and hit[0] == tick:
            block = bytes(int(byte, 16) for byte in data.split())
            self._lines[hit[1] % _PAGE].append(_Line(sequencer, self._count, block[hit[2]:]))
            self._count += 1

    def store(self, access: Access, value: int, thread: str = "", number: int = 0) -> None:
        """A store, and which operation it is, if it is one."""
        if self._closed:
            return
        key = access.address % _PAGE, (value & access.mask).to_bytes(access.size, "little")
        self._stores[key].append(_Store(thread, number, access.line) if number else None)

    def tell(self, builder: Builder) -> None:
        """Hand the order of the stores that were found to the history."""
        found = {place: found for place, found in self._found().items() if len(found) == 1}
        sequencers: dict[str, set[bytes]] = defaultdict(set)
        for ((store, line),) in found.values():
            sequencers[store.thread].add(line.sequencer)
        for place, ((store, _),) in found.items():
            if len(sequencers[store.thread]) == 1:
                builder.stored(store.thread, store.number, line=store.line, place=place)

    def _found(self) -> dict[int, list[tuple[_Store, _Line]]]:
        """By the places of lines, the stores that have no other."""
        found: dict[int, list[tuple[_Store, _Line]]] = defaultdict(list)
        for (where, value), stores in self._stores.items() if self.seen else ():
            lines = [line for line in self._lines.get(where, ()) if line.block.startswith(value)]
            if len(stores) == len(lines) == 1 and (store := stores[0]) is not None:
                found[lines[0].place].append((store, lines[0]))
        return found
