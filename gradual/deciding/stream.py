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

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gradual.deadline import Deadline, OutOfTime
from gradual.deciding import engine, pipeline
from gradual.deciding.observations import impossible_observation
from gradual.deciding.window import Window
from gradual.evidence import certificate
from gradual.evidence.forgetting import NEWCOMER, Cut, Facts, cut_at
from gradual.evidence.machine import MACHINES
from gradual.evidence.verdict import ThinAir, Verdict, Witness
from gradual.history import (
    INITIAL,
    NO_SOURCE,
    READ,
    REAL_TIME,
    RMW,
    THIN_AIR,
    WRITE,
    Column,
    History,
    InputError,
    value_text,
    visible,
)
from gradual.history.part import part
from gradual.models import Model
from gradual.models.fit import fit

WINDOW, KEPT = 20_000, 10
"""Operations that a window may hold, and the part of it up to which nothing is forgotten, unless somebody says
otherwise: threads may be late, and what stood around a violation is good to know."""
MORE = "--window N holds more"
NO_TIMES = "--real-time needs times, and this stream has no accesses with `begin` and with `end`"
FORGOTTEN, OVERFULL = "forgotten", "overfull"
"""What decided, besides what `pipeline` has: somebody read what nobody can have read; the window was too small."""


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
        self._timeout = timeout
        self.window = Window(initial, real_time)
        """What is held of it."""
        self.window.newcomers = real_time and not threads  # only real time can tell what nobody has heard of
        self._certified = 0
        self.end: End | None = None

    @property
    def checkpoint(self) -> Checkpoint:
        held = self.window
        return Checkpoint(held.operations, held.line, self._certified, len(held), len(held.threads), len(held.names),
                          tuple(held.assumed))

    # --- what comes

    def take(self, block: History) -> None:
        """The next operations. Sets `end` where the stream need not go on; raises InputError."""
        late = self.window.take(block)
        if late:
            self._stop(late, OVERFULL)
        elif len(block):
            self._decide(last=False)

    def close(self) -> End:
        """The stream is over."""
        if self.end is None:
            self._decide(last=True)
        if self.end is None:
            self.end = End(self.so_far, self.window.history())
        return self.end

    @property
    def so_far(self) -> Verdict:
        """The verdict as long as there is no other."""
        return Verdict(self.model.name, "consistent", pipeline.SCHEDULE, given=(REAL_TIME,) * self.window.real_time)

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
        history = self.window.history(ended=True)
        if not len(history) and (history.final_line < 0).all():
            return
        if self.window.real_time and not self.window.forgotten and not self.window.has_times():
            raise InputError(NO_TIMES, history.file, 0, history.name)
        missing = np.flatnonzero(history.source == THIN_AIR)
        gone = np.flatnonzero((history.final_line >= 0) & (history.final == THIN_AIR))
        if len(gone) and self.window.forgotten and not len(missing):
            self._not_left(history, int(gone[0]))
        elif len(missing):
            self._nowhere(history, int(missing[0]), in_time=self.window.forgotten > 0)
        elif impossible_observation(history, self._fit.coherence) is not None or self._order(history, deadline) is None:
            self._violated(history)
        else:
            self._certified = self.window.line

    def _advance(self, deadline: Deadline) -> None:
        history = self.window.history()
        waiting = np.flatnonzero(history.source == THIN_AIR)
        runnable = _without_sources(history, waiting) if len(waiting) else history
        order = None if impossible_observation(runnable, self._fit.coherence) else self._order(runnable, deadline)
        if order is None:
            self._violated(*([_without(history, waiting)] if len(waiting) else []), runnable)
            return
        self._certified = int(history.line[waiting].min()) - 1 if len(waiting) else self.window.line
        clock = self.window.earliest()
        facts = Facts(runnable, self._machine, order, waiting[history.kind[waiting] == READ], clock)
        all_here = 0 < self._expected <= len(self.window.threads)
        threads = range(NEWCOMER if self.window.newcomers else 0, len(self.window.threads))
        for load in waiting.tolist():
            lost = self.window.lost_store(history, load) is not None  # else a line that is late may still store it
            if (lost or all_here) and facts.passed(load, threads, in_time=lost):
                self._nowhere(history, load, in_time=True)
                return
        at_most = _before(history, order, waiting)
        if len(history) <= self._kept:
            return
        if len(self.window.threads) >= self._expected:
            cut = facts.cut(threads, at_most)
            if cut.kept.sum() > self._most:
                found = self._forced(history, facts, order, at_most)
                if found is None:
                    return
                cut = found
            self.window.forget(history, cut, clock)
        elif len(history) > self._most:
            self._stop(f"the window of {self._most} operations is full, and only {len(self.window.threads)} of "
                       f"{self._expected} threads have come; give --window more, or --threads less", OVERFULL)

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
        overfull, half = f"the window was overfull at line {self.window.line}", len(history) // 2
        silent = [t for t in range(len(self.window.threads)) if not (history.thread[half:] == t).any()]
        awake = [t for t in range(len(self.window.threads)) if t not in silent]
        cut = facts.cut(awake, at_most)
        if (silent or self.window.newcomers) and cut.kept.sum() <= self._most:
            self.window.newcomers = False
            names = ", ".join(visible(history.threads[t]) for t in silent[:5])
            if silent:
                self.window.assume(f"{overfull}: silent threads ({names}) are taken to go on from there; {MORE}")
            return cut
        cut = cut_at(history, order, min(at_most, len(history) - self._most // 2))
        if cut.kept.sum() > self._most:
            first = int(np.flatnonzero(history.source == THIN_AIR)[0])
            self._stop(f"the window of {self._most} operations is full, and nobody has written yet what "
                       f"{history.describe(first)} returned; give --window more", OVERFULL)
            return None
        self.window.assume(f"{overfull}: the store order of what was forgotten there is taken for settled; {MORE}")
        return cut

    # --- ends

    def _stop(self, why: str, decided_by: str | None = None) -> None:
        assumed = "".join(f"; {what}" for what in self.window.assumed)
        verdict = Verdict(self.model.name, "unknown", decided_by, message=why + assumed)
        self.end = End(verdict, self.window.history())

    def _violated(self, *ways: History) -> None:
        """The window has no run, told in the first of some ways that shows it. Where something was assumed, that counts
        without what memory held before alone; and so, where real time had something forgotten, does that the model
        is violated whatever the times."""
        for history in ways:
            alone = self._without_memory(history)
            timed = self.window.real_time and self.window.forgotten > 0
            if timed and (verdict := self._checked(alone.knowing(()))).verdict == "violation":
                self.end = End(verdict, alone.knowing(()))
                return
            window = alone if self.window.assumed else history
            if (verdict := self._checked(window)).verdict != "consistent":
                rests = timed and verdict.verdict == "violation" and not verdict.given
                self.end = End(replace(verdict, decided_by=REAL_TIME, given=(REAL_TIME,)) if rests else verdict, window)
                return
        self._stop("no run goes on from what was taken for settled, and another one may", OVERFULL)

    def _without_memory(self, history: History) -> History:
        """Without what rests on what memory held before the window."""
        tainted = (history.source == INITIAL) & (np.append(self.window.held_lines(history), 0)[history.location] != 0)
        return _without(history, np.flatnonzero(tainted))

    def _checked(self, history: History) -> Verdict:
        return pipeline.check(history, self.model, engine="schedule", unordered=False, timeout=self._timeout)

    def _nowhere(self, history: History, load: int, *, in_time: bool) -> None:
        """A load returned what no store can supply any more; if times count, by these."""
        x, line = int(history.location[load]), self.window.lost_store(history, load)
        where = "" if line is None else f"it {_stored(line)}"
        if self.window.assumed:
            told = f"{where}, and forgotten" if where else "nobody wrote it, or it was forgotten"
            self._stop(f"{history.describe(load)}: {told}", OVERFULL)
            return
        evidence = ThinAir(load, x)
        certificate.check(history, self.model, evidence)
        timed = self.window.real_time and in_time
        later = (f"{'in real time ' * timed}every thread had seen a later store to {visible(history.locations[x])} by "
                 "then")
        told = f"{where}, and {later}" if where else f"nobody wrote it, or {later}"
        message = f"{history.describe(load)} returned a value that was not there: {told}"
        by = REAL_TIME if timed else FORGOTTEN if where else "thin-air"
        verdict = Verdict(self.model.name, "violation", by, evidence, message, given=(REAL_TIME,) * timed)
        self.end = End(verdict, history)

    def _not_left(self, history: History, x: int) -> None:
        """A location must be left with what is not there any more, or never was."""
        said = (f"{visible(history.locations[x])} must be left with {value_text(int(history.final_value[x]))} (line "
                f"{history.final_line[x]}): ")
        line = self.window.lost_line(x, int(history.final_value[x]))
        told = "nobody wrote that, or something else later" if line is None else (
            f"that {_stored(line)}, and something else later")
        if self.window.assumed:
            self._stop(said + told, OVERFULL)
            return
        evidence = ThinAir(None, x)
        certificate.check(history, self.model, evidence)
        verdict = Verdict(self.model.name, "violation", "final", evidence, said + told)
        self.end = End(verdict, history)


def _stored(line: int) -> str:
    return f"was stored at line {line}" if line else "was there at first"


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
