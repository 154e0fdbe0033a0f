"""A minimal violation: the operations without any one of which the history is fine, or wrong in another way.

The evidence of a violation names all that it rests on, so its operations alone violate the model as well, and most of
a long history goes at once. What is left is made smaller by delta debugging. A write goes together with the reads
that returned it: alone it would leave them with values from thin air. A history stays consistent when such a unit is
taken out of its run, so what cannot be spared once cannot be spared later: one pass over single operations is enough.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradual.deadline import Deadline, OutOfTime, alarm
from gradual.deciding import pipeline
from gradual.evidence.verdict import Cycle, Evidence, Origin, Overwritten, Path, Refutation, ThinAir, Verdict
from gradual.history import NO_LOCATION, Column, History, supposed
from gradual.history.halves import events_of
from gradual.history.part import locations_of, part
from gradual.models import Model, load
from gradual.progress import Progress

IMPOSSIBLE = ("thin-air", "own-future", "final")
"""Kinds of violations that no model is needed for; all others are cycles, met at once or by search."""


class NotViolated(ValueError):
    """There is nothing to shrink: the history is consistent, or nobody knows."""

    def __init__(self, verdict: Verdict) -> None:
        consistent = verdict.verdict == "consistent"
        super().__init__("it is consistent" if consistent else verdict.message)
        self.verdict = verdict


def kind(verdict: Verdict) -> str | None:
    """What kind of violation this is: thin-air, own-future, final, cycle, or what it rests on besides the model; None
    when it is none."""
    if verdict.verdict != "violation":
        return None
    return verdict.decided_by if verdict.given or verdict.decided_by in IMPOSSIBLE else "cycle"


def shrink(history: History, model: str | Model, *, timeout: float | None = None,
           progress: Progress | None = None) -> History:
    """The smallest part of a violating history that was found; see `Shrinking`."""
    return Shrinking(history, model, timeout=timeout, progress=progress).history


@dataclass(frozen=True)
class _Part:
    """Some operations and final values of a history, as masks."""

    operations: Column
    finals: Column

    def __len__(self) -> int:
        return int(self.operations.sum()) + int(self.finals.sum())

    def minus(self, other: _Part) -> _Part:
        return _Part(self.operations & ~other.operations, self.finals & ~other.finals)


class Shrinking:
    """A violating history on its way to a minimal one. Raises NotViolated when it violates nothing.

    timeout  seconds for everything; when they are over, the smallest history so far is the result
    """

    def __init__(self, history: History, model: str | Model, *, timeout: float | None = None,
                 progress: Progress | None = None) -> None:
        self.whole = history
        self.model = load(model)
        self._deadline = Deadline(timeout)
        self._progress = progress
        self._tell(len(history))
        self.verdict = self._check(history)
        self.kind = kind(self.verdict)
        if self.kind is None:
            raise NotViolated(self.verdict)
        self.whole = history = history.knowing(self.verdict.given)
        self._impossible = self.kind in IMPOSSIBLE
        self._readers = _Readers(supposed(history))
        self._part = _Part(np.ones(len(history), dtype=bool), history.final_line >= 0)
        self.minimal = True
        """False when the time was over before every operation had been tried."""
        try:
            with alarm(self._deadline.seconds_left):
                self._named_by(self.verdict, self._part, np.arange(len(history.locations)))
                self._reduce()
        except OutOfTime:
            self.minimal = False

    @property
    def history(self) -> History:
        """The smallest part so far."""
        return part(self.whole, self._part.operations, self._part.finals)

    @property
    def operations(self) -> list[int]:
        """Its operations, by their numbers in the whole history."""
        found: list[int] = np.flatnonzero(self._part.operations).tolist()
        return found

    def _tell(self, left: int) -> None:
        if self._progress is not None and not self._progress.doing.startswith("shrinking"):
            self._progress.start("shrinking")
        if self._progress is not None:
            self._progress.doing = f"shrinking {self.whole.name}, {left} of {len(self.whole)} operations left"

    def _check(self, history: History) -> Verdict:
        return pipeline.check(history, self.model, engine="schedule", unordered=False,
                              timeout=self._deadline.seconds_left)

    def _reduce(self) -> None:
        """By threads, by locations, then by ever smaller chunks down to single items."""
        for column in (self.whole.thread, self.whole.location):
            for value in np.unique(column[self._part.operations]).tolist():
                self._try(self._items(column == value))
        size = len(self._part) // 2
        while size > 1:
            self._by_chunks(size)
            size = min(size, len(self._part)) // 2
        self._by_chunks(1)
        left = len(self._part) + 1
        while self._impossible and len(self._part) < left:
            left = len(self._part)
            self._by_chunks(1)

    def _items(self, operations: Column) -> _Part:
        return _Part(operations, np.zeros_like(self._part.finals))

    def _by_chunks(self, size: int) -> None:
        """Try to leave out each chunk; the last operations first, since nothing depends on them."""
        for operations in reversed(_chunks(self._part.operations, size)):
            self._try(self._items(operations))
        for finals in _chunks(self._part.finals, size):
            self._try(_Part(np.zeros_like(self._part.operations), finals))

    def _try(self, removed: _Part) -> None:
        """Leave these out if the rest still violates in the same way: with what depends on them, or (where thin air
        is no other kind than this) without."""
        unit = self._part.minus(self._readers.closed(removed, self._part))
        alone = self._part.minus(removed)
        for candidate in (unit,) if not self._impossible or len(unit) == len(alone) else (unit, alone):
            if len(candidate) == len(self._part):
                return
            self._deadline.check()
            found = self._check(part(self.whole, candidate.operations, candidate.finals))
            if found.verdict == "unknown":
                raise OutOfTime
            if kind(found) == self.kind:
                self._named_by(found, candidate, locations_of(self.whole, candidate.operations, candidate.finals))
                return

    def _named_by(self, verdict: Verdict, candidate: _Part, places: Column) -> None:
        """Go on with what the evidence for `candidate`, which has its locations in these places, names."""
        numbers = np.flatnonzero(candidate.operations)
        if self.model.splits_rmws:
            numbers = events_of(numbers, self.whole.kind[numbers])
        if self.whole.mixed:
            taken = self.model.takes(part(self.whole, candidate.operations, candidate.finals))
            numbers, places = np.flatnonzero(candidate.operations)[taken.operation], np.arange(len(candidate.finals))
        operations, locations = mentioned(verdict.evidence, len(numbers))
        if self.whole.mixed:  # locations of the evidence are cells: what memory is left with stays where it matters
            locations = set(range(len(candidate.finals)))
        named = _Part(np.zeros_like(candidate.operations), np.zeros_like(candidate.finals))
        named.operations[numbers[sorted(operations)]] = True
        self._readers.add_sources(named.operations)
        at = self.whole.location[named.operations]
        named.finals[at[at != NO_LOCATION]] = True
        named.finals[places[sorted(locations)]] = True
        finals = named.finals & candidate.finals
        if not self._impossible:  # a final value needs its write
            finals &= self._readers.final_written(named.operations)
        named = _Part(named.operations, finals)
        self._part = named if self._still(named, candidate) else candidate
        self._tell(int(self._part.operations.sum()))

    def _still(self, named: _Part, candidate: _Part) -> bool:
        """Does the part that the evidence names violate in the same way? It should; nothing rests on that."""
        if len(named) == len(candidate):
            return True
        return kind(self._check(part(self.whole, named.operations, named.finals))) == self.kind


class _Readers:
    """Who depends on whom: reads on the write they returned, final values on theirs."""

    def __init__(self, history: History) -> None:
        self._final = history.final
        self._source = history.source
        self._readers: dict[int, list[int]] = {}
        for reader in np.flatnonzero(history.source >= 0).tolist():
            self._readers.setdefault(int(history.source[reader]), []).append(reader)

    def closed(self, removed: _Part, within: _Part) -> _Part:
        """`removed`, and all within the part that depends on it."""
        operations, finals = removed.operations & within.operations, removed.finals & within.finals
        todo = np.flatnonzero(operations).tolist()
        while todo:
            for reader in self._readers.get(todo.pop(), ()):
                if within.operations[reader] and not operations[reader]:
                    operations[reader] = True
                    todo.append(reader)
        written = self._final >= 0
        finals[written] |= operations[self._final[written]]
        return _Part(operations, finals)

    def add_sources(self, operations: Column) -> None:
        """The writes that these operations read from, and those that an rmw among them read from."""
        todo = np.flatnonzero(operations).tolist()
        while todo:
            source = int(self._source[todo.pop()])
            if source >= 0 and not operations[source]:
                operations[source] = True
                todo.append(source)

    def final_written(self, operations: Column) -> Column:
        """Per location: is the write of its final value, if it has one, among these operations?"""
        kept: Column = self._final < 0
        kept[~kept] = operations[self._final[~kept]]
        return kept


def _chunks(mask: Column, size: int) -> list[Column]:
    """The items of a mask in chunks, each as a mask."""
    items = np.flatnonzero(mask)
    found = []
    for start in range(0, len(items), size):
        chunk = np.zeros_like(mask)
        chunk[items[start:start + size]] = True
        found.append(chunk)
    return found


# --- what evidence names


def mentioned(evidence: Evidence | None, operations: int) -> tuple[set[int], set[int]]:
    """The operations that the evidence of a violation rests on, and the locations whose final value it does."""
    if isinstance(evidence, Cycle):
        return _of_cycle(evidence), set()
    if isinstance(evidence, Refutation):
        claims = [claim for lemma in evidence.lemmas for claim in lemma]
        origins = [origin for case in evidence.cases for origin in case.origins]
        origins += [claim for claim in claims if isinstance(claim, Origin)]
        in_lemmas = {write for pair in claims if not isinstance(pair, Origin) for write in pair}
        read = {end for origin in origins for end in (origin.reader, origin.write)
                if 0 <= end < operations}
        ends = {origin.reader - operations for origin in origins if origin.reader >= operations}
        return in_lemmas.union(read, *map(_of_cycle, evidence.cycles)), ends
    if isinstance(evidence, ThinAir):
        return ({evidence.operation}, set()) if evidence.operation is not None else (set(), {evidence.location})
    if isinstance(evidence, Overwritten):
        return {evidence.write}, {evidence.location}
    return set(), set()


def _of_cycle(cycle: Cycle) -> set[int]:
    found = _of_path(cycle.edges) | {write for pair in cycle.assumed for write in pair}
    for step in cycle.steps:
        found |= {step.before, step.after} | _of_path(step.path)
    return found


def _of_path(path: Path) -> set[int]:
    return {operation for edge in path for operation in (edge.start, edge.end)}
