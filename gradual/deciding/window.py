"""The window of a stream: the operations that are held, and what memory held before them.

Of what was forgotten there is, for each location, the value and the line of the store that was left; the lines of the
last stores that nobody can read any more; and, in real time, when what is still to come begins at the earliest.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from gradual.evidence.forgetting import NO_CLOCK, NOBODY, Cut
from gradual.history import (
    AMBIGUOUS,
    FENCE,
    FULL,
    INITIAL,
    NO_LOCATION,
    NO_TICK,
    RMW,
    WRITE,
    Annotations,
    Column,
    History,
    InputError,
    history_from_columns,
    location_key,
    value_text,
    visible,
    word,
)
from gradual.history.cells import WIDEST

REMEMBERED = 10_000
"""Forgotten stores whose lines are still known, to be named when somebody reads them."""
COLUMNS = ("thread", "kind", "location", "read", "written", "line", "tick", "fence")
TIMES = ("begin", "end")
WIDE = ("read", "written", "line", "tick", *TIMES)
SOONER = "--real-time wants lines about in the order of their times, or a larger --window"
UNIQUE = "in a stream every store to a location needs its own value"
ONE_SIZE = "a stream has one size per location: select such addresses, or check it without --stream"
TOLD = 10
"""Things taken for settled that are told; one is enough to taint what follows."""


class Window:
    """What of a stream is held. Raises InputError for what no stream can have."""

    def __init__(self, initial: int, real_time: bool) -> None:
        """`initial` is what locations start with of which the trace says nothing."""
        self._initial = self._elsewhere = word(initial)
        self._name = self._file = ""
        self.threads: dict[str, int] = {}
        self.names: list[str] = []
        """Of the locations."""
        self._locations: dict[int | str, int] = {}
        self._first = np.zeros(0, dtype=np.int64)
        """What each location held in the beginning."""
        self._held = np.zeros(0, dtype=np.int64)
        self._held_line = np.zeros(0, dtype=np.int64)
        """What each holds before the window, and the line of the store; 0 where it is what it held at first."""
        self._final: dict[int, tuple[int, int]] = {}
        self._columns: dict[str, Column] = {
            name: np.zeros(0, dtype=np.int64 if name in WIDE else np.int32)
            for name in (*COLUMNS, *(TIMES if real_time else ()))}
        self._lost: dict[tuple[int, int], int] = {}
        """By location and value the lines of the last stores that were forgotten; 0 of what was there at first."""
        self._sizes: dict[int, tuple[int, int]] = {}
        """By address how many bytes are accessed there, and at which line first."""
        self._sized: list[int] = []
        """These addresses, sorted."""
        self.real_time = real_time
        self.clock = self._latest = NO_CLOCK
        """When what is still to come begins at the earliest, as what was forgotten counts on; and when the last of that
        began."""
        self.newcomers = False
        """Does what was forgotten hold for threads, too, that nobody has heard of?"""
        self.operations = self.line = self.forgotten = 0
        """So far; the last line; operations that are gone."""
        self.assumed: list[str] = []
        """What was taken for settled without proof."""

    def __len__(self) -> int:
        return len(self._columns["kind"])

    # --- what comes

    def take(self, block: History) -> str:
        """The next operations. Returns why the stream cannot go on, if so."""
        self._name, self._file = self._name or block.name, block.file
        for told, what in ((block.pair, "pairs of load-reserved and store-conditional (`pair`)"),
                           (block.order, "a store order (`order`)"),
                           *((getattr(block, name), f"dependencies (`{name}`)") for name in ("addr", "data", "ctrl"))):
            if told is not None:
                raise InputError(f"--stream cannot take {what} yet; leave the column out, or --stream", block.file,
                                 int(block.line[0]), block.name)
        self._elsewhere = self._elsewhere if block.elsewhere is None else block.elsewhere
        self._refuse_overlaps(block)
        thread = np.array([self._thread(name) for name in block.threads], dtype=np.int32)
        location = np.array([*(self._location(name, at, block) for at, name in enumerate(block.locations)),
                             NO_LOCATION], dtype=np.int32)
        for at in np.flatnonzero(block.final_line >= 0).tolist():
            value = self._as_bytes(int(block.final_value[at]), block.locations[at])
            line = int(block.final_line[at])
            if self._final.setdefault(int(location[at]), (value, line))[0] != value:
                raise InputError(f"{visible(block.locations[at])} is given two final values", block.file, line,
                                 block.name)
        none = np.full(len(block), NO_TICK)
        new = {"thread": thread[block.thread], "location": location[block.location],
               "fence": np.where(block.kind == FENCE, FULL, 0) if block.fence is None else block.fence,
               "begin": none if block.begin is None else block.begin, "end": none if block.end is None else block.end}
        late = self._late(block, new["begin"], new["end"]) if self.clock != NO_CLOCK else ""
        self._columns = {name: np.concatenate([held, new.get(name, getattr(block, name))])
                         for name, held in self._columns.items()}
        self._look_for_repetitions(block, new["location"])
        self.operations += len(block)
        self.line = max(self.line, int(block.line.max(initial=0)))
        return late

    def assume(self, what: str) -> None:
        if len(self.assumed) < TOLD:
            self.assumed.append(what)

    def _look_for_repetitions(self, block: History, location: Column) -> None:
        """A value that is stored again after it was forgotten may be what some load returned that was forgotten too."""
        stores = block.writes
        for x, value, store in zip(location[stores].tolist(), block.written[stores].tolist(), stores.tolist(),
                                   strict=True):
            if (x, value) in self._lost:
                self.assume(f"{block.describe(store)} stores a value again that was stored before (line "
                             f"{self._lost[x, value]}): who read that by then is taken to have read the earlier one; "
                             f"{UNIQUE}")

    def _late(self, block: History, begin: Column, end: Column) -> str:
        """What began before all that is still to come was taken to begin, is said; where it even ended before something
        that is forgotten began, the stream cannot go on."""
        access = block.kind != FENCE
        for late in np.flatnonzero(access & (begin < self.clock))[:1].tolist():
            self.assume(f"{block.describe(late)} does not tell that it began at {self.clock} or later, when what was "
                        f"forgotten had ended, and is taken to have; {SOONER}")
        for late in np.flatnonzero(access & (end != NO_TICK) & (end < self._latest))[:1].tolist():
            return (f"{block.describe(late)} ended at {end[late]}, before something began that is forgotten; "
                    f"{SOONER}")
        return ""

    def _refuse_overlaps(self, block: History) -> None:
        """Accesses that share some bytes and not all have no single reads-from, nor do torn ones."""
        if block.size is None:
            return
        keys = [location_key(name) for name in block.locations]
        for x, size in np.unique(np.stack([block.location, block.size], axis=1)[block.size > 0], axis=0).tolist():
            low = keys[x]
            if not isinstance(low, int) or self._sizes.get(low, (0, 0))[0] == size:
                continue
            line = int(block.line[(block.location == x) & (block.size == size)][0])
            place = bisect(self._sized, low)
            for other in self._sized[max(place - 1, 0):place + 1]:  # those before overlap with nobody
                width, first = self._sizes[other]
                if other < low + size and low < other + width:
                    raise InputError(f"accesses of different width overlap: {width} bytes at {other:#x} (line {first}) "
                                     f"and {size} bytes at {low:#x} (line {line}); {ONE_SIZE}",
                                     block.file, line, block.name)
            self._sized.insert(place, low)
            self._sizes[low] = size, line
        if block.mixed:
            raise InputError(f"misaligned accesses are several operations here; {ONE_SIZE}", block.file, 0, block.name)

    def _thread(self, name: str) -> int:
        if name not in self.threads and self.forgotten and not self.newcomers:
            self.assume(f"thread {visible(name)} comes after {self.forgotten} operations were forgotten (behind line "
                         f"{self.line}), and is taken to start there; --threads N waits for N threads")
        return self.threads.setdefault(name, len(self.threads))

    def _location(self, name: str, at: int, block: History) -> int:
        known = self._locations.setdefault(location_key(name), len(self.names))
        if block.unknown is not None and block.unknown[at]:
            raise InputError(f"nobody knows what {visible(name)} starts with, and that needs a whole history; leave "
                             "--stream out", block.file, int(block.line[0]) if len(block) else 0, block.name)
        initial = int(block.initial[at])
        if known < len(self.names):  # its size may be known only now
            self._first[known] = self._as_bytes(int(self._first[known]), name)
            self._held[known] = self._as_bytes(int(self._held[known]), name)
        if initial in (self._initial, self._as_bytes(self._initial, name)) and block.elsewhere is None:
            initial = self._elsewhere if known == len(self.names) else int(self._first[known])  # nothing is said here
        initial = self._as_bytes(initial, name)
        if known < len(self.names) and initial != self._first[known]:
            raise InputError(f"{visible(name)} is given two initial values; in a stream what a location starts with "
                             "comes before all that is done there", block.file,
                             int(block.line[0]) if len(block) else 0, block.name)
        if known == len(self.names):
            self.names.append(name)
            if known >= len(self._first):
                room = max(64, 2 * known)
                self._first, self._held, self._held_line = (np.resize(column, room) for column in (
                    self._first, self._held, self._held_line))
            self._first[known] = self._held[known] = initial
            self._held_line[known] = 0
        return known

    def _as_bytes(self, value: int, name: str) -> int:
        """A value as a location has it, of whose accesses all that came so far may tell the size."""
        key = location_key(name)
        size = self._sizes.get(key, (0, 0))[0] if isinstance(key, int) else 0
        return value & (1 << 8 * size) - 1 if 0 < size < WIDEST else value

    # --- what is held

    def history(self, *, ended: bool = False) -> History:
        """The window, with the locations that it has; `ended`: with the values that these must be left with."""
        c = self._columns
        self._here = np.unique(np.concatenate([c["location"][c["kind"] != FENCE], np.array([*self._final], np.int32)]))
        number = np.full(len(self.names) + 1, NO_LOCATION, dtype=np.int32)
        number[self._here] = np.arange(len(self._here))
        fences = c["fence"].astype(np.int8)
        some = (fences != 0) & (fences != FULL)
        final = [self._final.get(x, (0, -1)) if ended else (0, -1) for x in self._here.tolist()]
        history = history_from_columns(
            self._name, self._file, tuple(self.threads), tuple(self.names[x] for x in self._here.tolist()),
            c["thread"].astype(np.int32), c["kind"].astype(np.int8), number[c["location"]], c["read"], c["written"],
            c["line"], c["tick"], self._held[self._here], np.array([value for value, _ in final], dtype=np.int64),
            np.array([line for _, line in final], dtype=np.int64),
            Annotations(fence=fences if some.any() else None, begin=c.get("begin"), end=c.get("end")))
        for load in np.flatnonzero(history.source == AMBIGUOUS).tolist():
            raise InputError(f"{history.describe(load)} may have read one of several stores; {UNIQUE}", self._file,
                             int(history.line[load]), self._name)
        for x in np.flatnonzero(history.final == AMBIGUOUS).tolist():
            raise InputError(f"the final value of {visible(history.locations[x])} may be one of several stores; "
                             f"{UNIQUE}", self._file, int(history.final_line[x]), self._name)
        return replace(history, real_time=self.real_time)

    def has_times(self) -> bool:
        """Does any operation that is held have them?"""
        return all((self._columns[name] != NO_TICK).any() for name in TIMES)

    def earliest(self) -> int:
        """When what is still to come begins at the earliest, if lines stand about in the order of their times: as the
        newer half of what is held."""
        if not self.real_time:
            return NO_CLOCK
        begin = self._columns["begin"][len(self) // 2:]
        return max(self.clock, int(begin[begin != NO_TICK].min(initial=begin.max(initial=NO_CLOCK))))

    def forget(self, history: History, cut: Cut, clock: int) -> None:
        """The past of a cut, which counts on what is still to come beginning at `clock` or later."""
        gone = ~cut.kept
        left = np.flatnonzero(cut.memory != NOBODY)
        writes, places = cut.memory[left], self._here[left]
        lost = np.flatnonzero(gone & ((history.kind == WRITE) | (history.kind == RMW)))
        lost = np.setdiff1d(lost, writes)
        for x, value, line in ((places, self._held[places], self._held_line[places]),
                               (self._columns["location"][lost], history.written[lost], history.line[lost])):
            self._lost.update(zip(zip(x.tolist(), value.tolist(), strict=True), line.tolist(), strict=True))
        for old in list(islice(self._lost, max(0, len(self._lost) - REMEMBERED))):
            del self._lost[old]
        self._held[places], self._held_line[places] = history.written[writes], history.line[writes]
        self.forgotten += int(gone.sum())
        if self.real_time and self.forgotten:
            self.clock = clock
            self._latest = max(self._latest, int(self._columns["begin"][gone].max(initial=NO_TICK)))
        self._columns = {name: column[cut.kept] for name, column in self._columns.items()}

    # --- what memory held before

    def held_before(self, history: History, operations: Sequence[int]) -> list[str]:
        """Which stores the initial values come from that some operations of a window read."""
        lines = self.held_lines(history)
        places = {int(history.location[o]) for o in operations if history.source[o] == INITIAL}
        return [f"{visible(history.locations[x])} held {value_text(history.initial[x])} by then, stored at line "
                f"{lines[x]}; all other stores to it that can still be seen come later"
                for x in sorted(places) if lines[x]]

    def held_lines(self, history: History) -> Column:
        """Of each location of a window, the line of the store that it held before: 0 where there was none."""
        known = [self._locations.get(location_key(name), -1) for name in history.locations]
        lines: Column = np.where(np.array(known) < 0, 0, self._held_line[known])
        return lines

    def lost_store(self, history: History, load: int) -> int | None:
        """The line of the store of what a load returned, if that is among those that were forgotten last."""
        return self.lost_line(int(history.location[load]), int(history.read[load]))

    def lost_line(self, x: int, value: int) -> int | None:
        """The same of a value at a location of the window."""
        return self._lost.get((int(self._here[x]), value))
