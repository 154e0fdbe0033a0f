"""What a history needs of a weaker model: the operations that had to be overtaken.

A stronger and a weaker model differ in pairs of program order that only the stronger keeps. Here every operation is
held back behind those before it, as the stronger model would have it, as far as the history allows; what cannot be is
the answer. Held back less, a history has more runs: what was impossible once stays so as more is held back. So one
pass over all operations is enough, and forbidding any one more of the pairs that are left is a violation.

A long history needs many of them, for many reasons. So it is first shrunk to a few operations that the stronger model
forbids: the fewest overtakings there are one reason, told in full.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, islice, pairwise
from typing import NamedTuple

import numpy as np

from gradual.deadline import Deadline, OutOfTime, alarm
from gradual.deciding import engine, pipeline
from gradual.deciding.shrinking import Shrinking
from gradual.evidence import certificate
from gradual.evidence.verdict import Verdict, Witness
from gradual.history import FENCE, Column, History
from gradual.models import Model, usual
from gradual.models.fit import General, fit
from gradual.models.sets import members

TOGETHER = 256
"""Operations that are held back before a run is looked for."""
FEW = 16
"""Pairs of operations among which the fewest overtakings are looked for."""
TRIED = 200
"""Choices of pairs that are tried for it, the smallest first."""
WINDOW = 4096
"""Operations of a thread among which those are looked for that another one might overtake."""

Order = Sequence[int]


class Overtaking(NamedTuple):
    """In the run, `later` took place before `earlier`, though its thread issued it after that."""

    earlier: int
    later: int


@dataclass(frozen=True)
class Difference:
    """Why a history is consistent with one model and not with a stronger one."""

    stronger: Model
    weaker: Model
    overtakings: list[Overtaking]
    order: Order
    """The run, by operations of the trace: of the whole history, or of those that it was shrunk to. An rmw that the
    weaker model takes for two events is there twice."""
    minimal: bool
    """Is forbidding any one of them a violation? False where the time ends before."""
    of: int
    """The operations that it is told of: those that the stronger model forbids together, or all."""


@dataclass(frozen=True)
class Comparison:
    """The verdicts of all models, and the differences between neighbours."""

    verdicts: dict[str, Verdict]
    differences: list[Difference]
    untold: list[tuple[Model, Model]] = field(default_factory=list)
    """Stronger and weaker models of which the time did not suffice to tell the difference."""


def compare(history: History, models: Sequence[Model] | None = None, *, timeout: float | None = None,
            patience: float | None = None, whole: bool = False) -> Comparison:
    """Check models, from strong to weak, and tell what each weaker one was needed for.

    timeout   seconds for each model; those that are left tell what each was needed for
    patience  seconds for making the overtakings of each few
    whole     all overtakings that the history needs, not those of a few operations
    """
    chosen = list(models or usual())
    limit = Deadline(None if timeout is None else timeout * len(chosen))
    verdicts = {model.name: pipeline.check(history, model, engine="schedule", timeout=timeout, spent=history.reading,
                                           unordered=False)
                for model in chosen}
    differences, untold = [], []
    for stronger, weaker in pairwise(chosen) if not history.ambiguous else ():
        evidence = verdicts[weaker.name].evidence
        if verdicts[stronger.name].verdict == "violation" and isinstance(evidence, Witness) and len(evidence.order):
            left = patience if timeout is None else limit.seconds_left
            try:
                with alarm(limit.seconds_left):
                    shrunk = None if whole else _shrunk(history, stronger, weaker, left)
                    differences.append(shrunk or difference(history, stronger, weaker, evidence, left))
            except OutOfTime:
                untold.append((stronger, weaker))
    return Comparison(verdicts, differences, untold)


def _shrunk(history: History, stronger: Model, weaker: Model, patience: float | None) -> Difference | None:
    """The difference on a few operations that the stronger model forbids, told of the whole history."""
    shrinking = Shrinking(history, stronger, timeout=patience)
    few = shrinking.history
    evidence = pipeline.check(few, weaker, engine="schedule", timeout=patience, unordered=False).evidence
    if not isinstance(evidence, Witness) or not len(evidence.order):
        return None
    found = difference(few, stronger, weaker, evidence, patience)
    number = shrinking.operations
    return replace(found, overtakings=[Overtaking(number[a], number[b]) for a, b in found.overtakings],
                   order=[number[operation] for operation in found.order])


def difference(history: History, stronger: Model, weaker: Model, witness: Witness,
               patience: float | None = None) -> Difference:
    """A run of `weaker` with few overtakings, starting from one that has any."""
    try:
        candidates = windows(history, stronger, weaker)
    except General:
        return Difference(stronger, weaker, [], list(witness.order), minimal=False, of=len(history))
    taken = weaker.takes(history)
    holding = _Holding(taken, weaker, candidates, list(witness.order), Deadline(patience))
    minimal = holding.run()
    if minimal:
        holding.find_fewer()
    certificate.check(history, weaker, Witness(holding.order))
    pairs = {Overtaking(taken.number(a), taken.number(b)): None for a, b in overtakings(candidates, holding.order)}
    needed = [pair for pair in pairs if pair.earlier != pair.later]
    return Difference(stronger, weaker, needed, taken.numbers(holding.order), minimal, len(history))


Windows = dict[int, Column]
"""For each operation that may overtake others, these, from the last to the first."""


class _Kept:
    """The program order that a model keeps by a single term.

    of  the operations of the history that are asked about, by the numbers they are asked about by; None: all
    """

    def __init__(self, history: History, model: Model, of: Column | None = None) -> None:
        asked = np.arange(len(history)) if of is None else of
        self._location = history.location[asked]
        self._steps = [(t.step.relation, members(history, t.before)[asked], members(history, t.after)[asked])
                       for t in fit(model).transitions
                       if t.start == t.end == 0 and t.step.relation in ("po", "po-loc") and not t.step.inverse]

    def before(self, earlier: Column, operation: int) -> Column:
        """Which of these, of its thread, does the model keep before an operation?"""
        found = np.zeros(len(earlier), dtype=bool)
        for relation, first, second in self._steps:
            if second[operation]:
                kept = first[earlier]
                if relation == "po-loc":
                    kept = kept & (self._location[earlier] == self._location[operation])
                found |= kept
        return found

    def after(self, later: Column, fence: int) -> Column:
        """Which of these, of its thread, does the model keep after a fence?"""
        found = np.zeros(len(later), dtype=bool)
        for _, first, second in self._steps:
            if first[fence]:
                found |= second[later]
        return found


def windows(history: History, stronger: Model, weaker: Model) -> Windows:
    """The accesses of a thread that only the stronger model keeps in order, as far back as a fence that keeps all. As
    the weaker one takes the history; of both events of an rmw the stronger says what it does of the rmw."""
    trace, history = history, weaker.takes(history)
    strict, loose = _Kept(trace, stronger, history.operation), _Kept(history, weaker)
    found: Windows = {}
    for thread in range(len(history.threads)):
        operations = np.flatnonzero(history.thread == thread)
        accesses = operations[history.kind[operations] != FENCE]
        start = place = 0
        for operation in operations.tolist():
            earlier = accesses[max(start, place - WINDOW):place][::-1]
            kept = loose.before(earlier, operation)
            if history.kind[operation] != FENCE:
                only_stronger = strict.before(earlier, operation) & ~kept
                if only_stronger.any():
                    found[operation] = earlier[only_stronger]
                place += 1
            elif kept.all() and loose.after(accesses[place:place + WINDOW], operation).all():
                start = place
    return found


def overtakings(candidates: Windows, order: Order) -> list[Overtaking]:
    """The pairs that are the other way round in a run."""
    place = np.empty(len(order), dtype=np.int64)
    place[np.asarray(order, dtype=np.int64)] = np.arange(len(order))
    return [Overtaking(earlier, later) for later, window in sorted(candidates.items())
            for earlier in window[place[window] > place[later]][::-1].tolist()]


class _Holding:
    """Holds each operation back behind those that it might overtake, as far as that goes."""

    def __init__(self, history: History, weaker: Model, candidates: Windows, order: Order, deadline: Deadline) -> None:
        self._history = history
        self._fit = fit(weaker)
        self._kept = _Kept(history, weaker)
        self._windows = candidates
        self._deadline = deadline
        self._held: list[tuple[int, int]] = []
        self.order = order

    def run(self) -> bool:
        """Is what is left minimal for sure?"""
        operations = list(self._windows)
        try:
            for start in range(0, len(operations), TOGETHER):
                self._hold(operations[start:start + TOGETHER])
        except OutOfTime:
            return False
        return True

    def find_fewer(self) -> None:
        """Where there are few pairs in all, the fewest that must be the other way round."""
        every = [(int(earlier), later) for later, window in self._windows.items() for earlier in window]
        needed = len(overtakings(self._windows, self.order))
        if len(every) > FEW:
            return
        smaller = (chosen for size in range(1, needed) for chosen in combinations(every, size))
        try:
            for chosen in islice(smaller, TRIED):
                self._held = [pair for pair in every if pair not in chosen]
                if self._possible([]):
                    return
        except OutOfTime:
            return

    def _hold(self, operations: list[int]) -> None:
        """All of them; or each half, down to single pairs."""
        if self._possible([(earlier, later) for later in operations for earlier in self._last(self._windows[later])]):
            return
        if len(operations) > 1:
            self._hold(operations[:len(operations) // 2])
            self._hold(operations[len(operations) // 2:])
            return
        later, window = operations[0], self._windows[operations[0]]
        while len(window):
            held = self._possible([(int(window[0]), later)])
            window = self._without_implied(window) if held else window[1:]

    def _last(self, window: Column) -> Iterator[int]:
        """Those of a window that it is enough to stay behind: the model keeps the others before them."""
        while len(window):
            yield int(window[0])
            window = self._without_implied(window)

    def _without_implied(self, window: Column) -> Column:
        return window[1:][~self._kept.before(window[1:], int(window[0]))]

    def _possible(self, pairs: list[tuple[int, int]]) -> bool:
        """Keep the pairs in order from now on, if there is a run with them and all that are held."""
        outcome = engine.decide(self._history, self._fit, self._deadline, extra=[*self._held, *pairs])
        if outcome.status != engine.CONSISTENT:
            return False
        self._held += pairs
        self.order = list(outcome.order)
        return True
