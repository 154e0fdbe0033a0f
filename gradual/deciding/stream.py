"""One history that never ends, decided as it comes, in bounded memory.

What has come stands in a window. Each time more comes, the engine schedules the window, the certificate replays the
schedule behind the runs before, and `evidence/forgetting.py` says which beginning of it may be forgotten: of that only
what it left in memory stays, a value and a line per location. So the run so far is certified all the time, and a window
without a run is a violation of all that was ever seen.

A load may come before the store it reads, as threads are seldom logged in step. It waits for it: nothing that its
thread did behind it is forgotten meanwhile. Once all threads have gone past the load no store of theirs can come any
more: so the value came from nowhere, if it is known how many threads there are, or if it is one that was forgotten.

Where a window gets too full, because a thread stays silent or loads wait, the beginning of its run is taken for
settled without proof: then consistent is as certain as ever, but a window without a run may be the fault of that.
Such a violation is told only if it needs nothing of what memory held before the window, and is unknown otherwise. The
same holds once a thread turns up after something was forgotten, for it may come from before that.

In real time nobody has to be waited for: what ended before anything began that can still come was seen by all threads,
also by those that are silent or new. Lines come about in the order of their times, so what comes is taken to begin no
earlier than all in the newer half of the window; where it does, that is said, and counts as above.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from gradual.deadline import Deadline, OutOfTime
from gradual.deciding import engine, pipeline
from gradual.deciding.observations import impossible_observation
from gradual.evidence import certificate
from gradual.evidence.forgetting import NEWCOMER, NO_CLOCK, NOBODY, Cut, Facts, cut_at
from gradual.evidence.machine import MACHINES
from gradual.evidence.verdict import ThinAir, Verdict, Witness
from gradual.history import (
    AMBIGUOUS,
    FENCE,
    FULL,
    INITIAL,
    NO_LOCATION,
    NO_SOURCE,
    NO_TICK,
    READ,
    REAL_TIME,
    RMW,
    THIN_AIR,
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
from gradual.history.part import part
from gradual.models import Model
from gradual.models.fit import fit

WINDOW, KEPT = 20_000, 10
"""Operations that a window may hold, and the part of it up to which nothing is forgotten, unless somebody says
otherwise: threads may be late, and what stood around a violation is good to know."""
REMEMBERED = 10_000
"""Forgotten stores whose lines are still known, to be named when somebody reads them."""
SOONER = "--real-time wants lines about in the order of their times, or a larger --window"
UNIQUE = "in a stream every store to a location needs its own value"
COLUMNS = ("thread", "kind", "location", "read", "written", "line", "tick", "fence")
TIMES = ("begin", "end")
WIDE = ("read", "written", "line", "tick", *TIMES)
NO_TIMES = "--real-time needs times, and this stream has no accesses with `begin` and with `end`"
FORGOTTEN, OVERFULL = "forgotten", "overfull"
"""What decided, besides what `pipeline` has: somebody read what nobody can have read; the window was too small."""

ONE_SIZE = "a stream has one size per location: select such addresses, or check it without --stream"


class Refused(ValueError):
    """A model whose streams cannot be decided."""


@dataclass(frozen=True)
class Checkpoint:
    """How far a stream was decided."""

    operations: int
    line: int
    """The last that was read."""
    certified: int
    """The line up to which a run explains everything."""
    window: int
    """Operations that are held."""
    threads: int
    locations: int
    assumed: tuple[str, ...]
    """What was taken for settled without proof."""


@dataclass(frozen=True)
class End:
    """A verdict on a stream, with the history that its evidence speaks of."""

    verdict: Verdict
    history: History


class Stream:
    """One stream under one model."""

    def __init__(self, model: Model, *, window: int = WINDOW, kept: int | None = None, threads: int = 0,
                 timeout: float | None = None, initial: int = 0, real_time: bool = False) -> None:
        """Nothing is forgotten of a window of up to `kept` operations, nor before so many `threads` have come;
        `timeout` is for each window; `initial` is what locations start with of which the trace says nothing."""
        machine = certificate.machine_of(model)
        if machine is None:
            raise Refused(f"streams are decided under {', '.join(MACHINES)}; {model} needs the whole history: leave "
                          "--stream out")
        self.model = model
        self._machine = machine
        self._fit = fit(model)
        self._most = window
        self._kept = window // KEPT if kept is None else min(kept, window // 2)
        self._expected = threads
        self._real_time = real_time
        self._newcomers = real_time and not threads
        """May threads turn up that nobody has heard of? Only real time can tell what these have seen."""
        self._clock = self._latest = NO_CLOCK
        """When what is still to come begins at the earliest, as what was forgotten counts on; and when the last of that
        began."""
        self._timeout = timeout
        self._initial = self._elsewhere = word(initial)
        self._name = self._file = ""
        self._threads: dict[str, int] = {}
        self._locations: dict[int | str, int] = {}
        self._names: list[str] = []
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
        self.forgotten = 0
        """Operations that are gone."""
        self._operations = self._line = self._certified = 0
        self._assumed: list[str] = []
        self.end: End | None = None

    @property
    def checkpoint(self) -> Checkpoint:
        return Checkpoint(self._operations, self._line, self._certified, len(self._columns["kind"]),
                          len(self._threads), len(self._names), tuple(self._assumed))

    # --- what comes

    def take(self, block: History) -> None:
        """The next operations. Sets `end` where the stream need not go on; raises InputError."""
        self._name, self._file = self._name or block.name, block.file
        for told, what in ((block.pair, "pairs of load-reserved and store-conditional (`pair`)"),
                           (block.order, "a store order (`order`)")):
            if told is not None:
                raise InputError(f"--stream cannot take {what} yet; leave the column out, or --stream", block.file,
                                 int(block.line[0]), block.name)
        self._elsewhere = self._elsewhere if block.elsewhere is None else block.elsewhere
        self._refuse_overlaps(block)
        thread = np.array([self._thread(name, block) for name in block.threads], dtype=np.int32)
        location = np.array([*(self._location(name, at, block) for at, name in enumerate(block.locations)),
                             NO_LOCATION], dtype=np.int32)
        for at in np.flatnonzero(block.final_line >= 0).tolist():
            value = self._as_bytes(int(block.final_value[at]), block.locations[at])
            self._final[int(location[at])] = value, int(block.final_line[at])
        fence = np.where(block.kind == FENCE, FULL, 0) if block.fence is None else block.fence
        new = {"thread": thread[block.thread], "location": location[block.location], "fence": fence}
        if self._real_time:
            new |= self._times(block)
        self._columns = {name: np.concatenate([held, new.get(name, getattr(block, name))])
                         for name, held in self._columns.items()}
        self._look_for_repetitions(block, new["location"])
        self._operations += len(block)
        self._line = max(self._line, int(block.line.max(initial=0)))
        if len(block) and self.end is None:
            self._decide(last=False)

    def _look_for_repetitions(self, block: History, location: Column) -> None:
        """A value that is stored again after it was forgotten may be what some load returned that was forgotten too."""
        stores = block.writes
        for x, value, store in zip(location[stores].tolist(), block.written[stores].tolist(), stores.tolist(),
                                   strict=True):
            if (x, value) in self._lost:
                self._assume(f"{block.describe(store)} stores a value again that was stored before (line "
                             f"{self._lost[x, value]}): who read that by then is taken to have read the earlier one; "
                             f"{UNIQUE}")

    def _times(self, block: History) -> dict[str, Column]:
        """When operations began and ended. What is later than others must be for what was forgotten, is said."""
        none = np.full(len(block), NO_TICK)
        begin, end = (none if column is None else column for column in (block.begin, block.end))
        if self._clock != NO_CLOCK:
            access = block.kind != FENCE
            for late in np.flatnonzero(access & (begin < self._clock))[:1].tolist():
                self._assume(f"{block.describe(late)} does not tell that it began at {self._clock} or later, when what "
                             f"was forgotten had ended, and is taken to have; {SOONER}")
            for late in np.flatnonzero(access & (end != NO_TICK) & (end < self._latest))[:1].tolist():
                self._stop(f"{block.describe(late)} ended at {end[late]}, before something began that is forgotten; "
                           f"{SOONER}", OVERFULL)
        return {"begin": begin, "end": end}

    def close(self) -> End:
        """The stream is over."""
        if self.end is None:
            self._decide(last=True)
        if self.end is None:
            self.end = End(self.so_far, self.window())
        return self.end

    @property
    def so_far(self) -> Verdict:
        """The verdict as long as there is no other."""
        return Verdict(self.model.name, "consistent", pipeline.SCHEDULE, given=(REAL_TIME,) * self._real_time)

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

    def _thread(self, name: str, block: History) -> int:
        if name not in self._threads and self.forgotten and not self._newcomers:
            self._assume(f"thread {visible(name)} comes after {self.forgotten} operations were forgotten (behind line "
                         f"{self._line}), and is taken to start there; --threads N waits for N threads")
        return self._threads.setdefault(name, len(self._threads))

    def _assume(self, what: str) -> None:
        if len(self._assumed) < 10:
            self._assumed.append(what)

    def _location(self, name: str, at: int, block: History) -> int:
        known = self._locations.setdefault(location_key(name), len(self._names))
        if block.unknown is not None and block.unknown[at]:
            raise InputError(f"nobody knows what {visible(name)} starts with, and that needs a whole history; leave "
                             "--stream out", block.file, int(block.line[0]) if len(block) else 0, block.name)
        initial = int(block.initial[at])
        if known < len(self._names):  # its size may be known only now
            self._first[known] = self._as_bytes(int(self._first[known]), name)
            self._held[known] = self._as_bytes(int(self._held[known]), name)
        if initial in (self._initial, self._as_bytes(self._initial, name)) and block.elsewhere is None:
            initial = self._elsewhere if known == len(self._names) else int(self._first[known])  # nothing is said here
        initial = self._as_bytes(initial, name)
        if known < len(self._names) and initial != self._first[known]:
            raise InputError(f"{visible(name)} is given two initial values", block.file,
                             int(block.line[0]) if len(block) else 0, block.name)
        if known == len(self._names):
            self._names.append(name)
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

    # --- the window

    def window(self, *, ended: bool = False) -> History:
        """The window, with the locations that it has; `ended`: with the values that these must be left with."""
        c = self._columns
        self._here = np.unique(np.concatenate([c["location"][c["kind"] != FENCE], np.array([*self._final], np.int32)]))
        number = np.full(len(self._names) + 1, NO_LOCATION, dtype=np.int32)
        number[self._here] = np.arange(len(self._here))
        fences = c["fence"].astype(np.int8)
        some = (fences != 0) & (fences != FULL)
        final = [self._final.get(x, (0, -1)) if ended else (0, -1) for x in self._here.tolist()]
        history = history_from_columns(
            self._name, self._file, tuple(self._threads), tuple(self._names[x] for x in self._here.tolist()),
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
        return replace(history, real_time=self._real_time)

    def _decide(self, *, last: bool) -> None:
        deadline = Deadline(self._timeout)
        try:
            if last:
                self._decide_last(deadline)
            else:
                self._advance(deadline)
        except OutOfTime as late:
            why = f": {late}" if str(late) else "; allow more time"
            self._stop(f"a window was not decided within {self._timeout:g} s{why}")
        except MemoryError:
            self._stop(pipeline.NO_MEMORY)

    def _decide_last(self, deadline: Deadline) -> None:
        history = self.window(ended=True)
        if not len(history):
            return
        if self._real_time and not self.forgotten and any((self._columns[name] == NO_TICK).all() for name in TIMES):
            raise InputError(NO_TIMES, self._file, 0, self._name)
        missing = np.flatnonzero(history.source == THIN_AIR)
        if len(missing):
            self._nowhere(history, int(missing[0]), in_time=self.forgotten > 0)
        elif impossible_observation(history, self._fit.coherence) is not None or self._order(history, deadline) is None:
            self._violated(history)
        else:
            self._certified = self._line

    def _advance(self, deadline: Deadline) -> None:
        history = self.window()
        waiting = np.flatnonzero(history.source == THIN_AIR)
        runnable = _without_sources(history, waiting) if len(waiting) else history
        order = None if impossible_observation(runnable, self._fit.coherence) else self._order(runnable, deadline)
        if order is None:
            self._violated(*([_without(history, waiting)] if len(waiting) else []), runnable)
            return
        self._certified = int(history.line[waiting].min()) - 1 if len(waiting) else self._line
        clock = self._earliest(history)
        facts = Facts(runnable, self._machine, order, waiting[history.kind[waiting] == READ], clock)
        all_here = 0 < self._expected <= len(self._threads)
        threads = range(NEWCOMER if self._newcomers else 0, len(self._threads))
        for load in waiting.tolist():
            lost = self._lost_store(history, load) is not None  # else a line that is late may still store it
            if (lost or all_here) and facts.passed(load, threads, in_time=lost):
                self._nowhere(history, load, in_time=True)
                return
        at_most = _before(history, order, waiting)
        if len(history) <= self._kept:
            return
        if len(self._threads) >= self._expected:
            cut = facts.cut(threads, at_most)
            if cut.kept.sum() > self._most:
                found = self._forced(history, facts, order, at_most)
                if found is None:
                    return
                cut = found
            self._forget(history, cut)
            if self._real_time and self.forgotten:
                self._clock = clock
        elif len(history) > self._most:
            self._stop(f"the window of {self._most} operations is full, and only {len(self._threads)} of "
                       f"{self._expected} threads have come; give --window more, or --threads less", OVERFULL)

    def _earliest(self, history: History) -> int:
        """When what is still to come begins at the earliest: as what came last, if lines are about in their order."""
        if not self._real_time or history.begin is None:
            return NO_CLOCK
        begin = history.begin[len(history) // 2:]
        return max(self._clock, int(begin[begin != NO_TICK].min(initial=begin.max(initial=NO_CLOCK))))

    def _order(self, history: History, deadline: Deadline) -> Column | None:
        """An order that was replayed; None where there is none."""
        outcome = engine.decide(history, self._fit, deadline)
        if outcome.status != engine.CONSISTENT:
            return None
        certificate.check(history, self.model, Witness(outcome.order), deadline.grace())
        return np.asarray(outcome.order)

    def _forced(self, history: History, facts: Facts, order: Column, at_most: int) -> Cut | None:
        """A cut that takes something for settled: that silent threads go on from here, or the run itself. None where
        loads wait for what does not come."""
        half = len(history) // 2
        silent = [t for t in range(len(self._threads)) if not (history.thread[half:] == t).any()]
        awake = [t for t in range(len(self._threads)) if t not in silent]
        cut = facts.cut(awake, at_most)
        if (silent or self._newcomers) and cut.kept.sum() <= self._most:
            self._newcomers = False
            names = ", ".join(visible(history.threads[t]) for t in silent[:5])
            if silent:
                self._assume(f"the window was overfull at line {self._line}: silent threads ({names}) are taken to go "
                             "on from there; --window N holds more")
            return cut
        cut = cut_at(history, order, min(at_most, len(history) - self._most // 2))
        if cut.kept.sum() > self._most:
            first = int(np.flatnonzero(history.source == THIN_AIR)[0])
            self._stop(f"the window of {self._most} operations is full, and nobody has written yet what "
                       f"{history.describe(first)} returned; give --window more", OVERFULL)
            return None
        self._assume(f"the window was overfull at line {self._line}: the store order of what was forgotten there is "
                     "taken for settled; --window N holds more")
        return cut

    def _forget(self, history: History, cut: Cut) -> None:
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
        if self._real_time:
            self._latest = max(self._latest, int(self._columns["begin"][gone].max(initial=NO_TICK)))
        self._columns = {name: column[cut.kept] for name, column in self._columns.items()}

    # --- ends

    def _stop(self, why: str, decided_by: str | None = None) -> None:
        assumed = "".join(f"; {what}" for what in self._assumed)
        verdict = Verdict(self.model.name, "unknown", decided_by, message=why + assumed)
        self.end = End(verdict, self.window())

    def _violated(self, *ways: History) -> None:
        """The window has no run, told in the first of some ways that shows it. Where something was assumed, that counts
        without what memory held before alone; and so, where real time had something forgotten, does that the model
        is violated whatever the times."""
        for history in ways:
            alone = self._without_memory(history)
            timed = self._real_time and self.forgotten > 0
            if timed and (verdict := self._checked(alone.knowing(()))).verdict == "violation":
                self.end = End(verdict, alone.knowing(()))
                return
            window = alone if self._assumed else history
            if (verdict := self._checked(window)).verdict != "consistent":
                rests = timed and verdict.verdict == "violation" and not verdict.given
                self.end = End(replace(verdict, decided_by=REAL_TIME, given=(REAL_TIME,)) if rests else verdict, window)
                return
        self._stop("no run goes on from what was taken for settled, and another one may", OVERFULL)

    def _without_memory(self, history: History) -> History:
        """Without what rests on what memory held before the window."""
        tainted = (history.source == INITIAL) & (np.append(self._lines(history), 0)[history.location] != 0)
        return _without(history, np.flatnonzero(tainted))

    def _checked(self, history: History) -> Verdict:
        return pipeline.check(history, self.model, engine="schedule", unordered=False, timeout=self._timeout)

    def held_before(self, history: History, operations: Sequence[int]) -> list[str]:
        """Which stores the initial values come from that some operations of a window read."""
        lines = self._lines(history)
        places = {int(history.location[o]) for o in operations if history.source[o] == INITIAL}
        return [f"{visible(history.locations[x])} held {value_text(history.initial[x])} by then, stored at line "
                f"{lines[x]}; all other stores to it that can still be seen come later"
                for x in sorted(places) if lines[x]]

    def _lines(self, history: History) -> Column:
        """Of each location of a window, the line of the store that it held before: 0 where there was none."""
        known = [self._locations.get(location_key(name), -1) for name in history.locations]
        lines: Column = np.where(np.array(known) < 0, 0, self._held_line[known])
        return lines

    def _nowhere(self, history: History, load: int, *, in_time: bool) -> None:
        """A load returned what no store can supply any more; if times count, by these."""
        x, line = int(history.location[load]), self._lost_store(history, load)
        where = "" if line is None else f"it was stored at line {line}" if line else "it was there at first"
        if self._assumed:
            told = f"{where}, and forgotten" if where else "nobody wrote it, or it was forgotten"
            self._stop(f"{history.describe(load)}: {told}", OVERFULL)
            return
        evidence = ThinAir(load, x)
        certificate.check(history, self.model, evidence)
        timed = self._real_time and in_time
        later = (f"{'in real time ' * timed}every thread had seen a later store to {visible(history.locations[x])} by "
                 "then")
        told = f"{where}, and {later}" if where else f"nobody wrote it, or {later}"
        message = f"{history.describe(load)} returned a value that was not there: {told}"
        by = REAL_TIME if timed else FORGOTTEN if where else "thin-air"
        verdict = Verdict(self.model.name, "violation", by, evidence, message, given=(REAL_TIME,) * timed)
        self.end = End(verdict, history)

    def _lost_store(self, history: History, load: int) -> int | None:
        """The line of the store of what a load returned, if that is among those that were forgotten last."""
        return self._lost.get((int(self._here[history.location[load]]), int(history.read[load])))


def _without_sources(history: History, waiting: Column) -> History:
    """What can be run of a history in which some loads wait for their stores: these read something at a place of its
    own, an rmw only writes."""
    kind, location, source = history.kind.copy(), history.location.copy(), history.source.copy()
    read = history.read.copy()
    rmws, loads = waiting[kind[waiting] == RMW], waiting[kind[waiting] == READ]
    kind[rmws], source[rmws] = WRITE, NO_SOURCE
    location[loads], source[loads], read[loads] = len(history.locations), INITIAL, 0
    return replace(
        history, kind=kind, location=location, source=source, read=read,
        locations=(*history.locations, "(not written yet)"), initial=np.append(history.initial, 0),
        final=np.append(history.final, np.int32(NO_SOURCE)), final_value=np.append(history.final_value, 0),
        final_line=np.append(history.final_line, -1))


def _without(history: History, dropped: Sequence[int] | Column) -> History:
    """A history without some operations and without those that read what they wrote, and so on."""
    kept = np.ones(len(history) + 1, dtype=bool)
    kept[np.asarray(dropped, dtype=np.int64)] = False
    while True:
        orphans = kept[:-1] & (history.source >= 0) & ~kept[np.maximum(history.source, -1)]
        if not orphans.any():
            return part(history, kept[:-1], np.zeros(len(history.locations), dtype=bool))
        kept[:-1] &= ~orphans


def _before(history: History, order: Column, waiting: Column) -> int:
    """How many operations of an order come before all loads that wait and what follows these in their threads."""
    first = np.full(len(history.threads), len(history))
    np.minimum.at(first, history.thread[waiting], waiting)
    held = np.arange(len(history)) >= first[history.thread]
    return int(np.flatnonzero(held[order])[0]) if held.any() else len(history)
