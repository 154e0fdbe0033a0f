"""What a history needs of a weaker model: the operations that had to be overtaken.

A stronger and a weaker model differ in pairs of program order that only the stronger keeps. Here every operation is
held back behind those before it, as the stronger model would have it, as far as the history allows; what cannot be is
the answer. Held back less, a history has more runs: what was impossible once stays so as more is held back. So one
pass over all operations is enough, and forbidding any one more of the pairs that are left is a violation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from gradual.deadline import Deadline
from gradual.deciding import engine, pipeline
from gradual.deciding.engine.proof import Shortcuts
from gradual.evidence import certificate
from gradual.evidence.verdict import Verdict, Witness
from gradual.history import FENCE, History
from gradual.models import Model, forbidding
from gradual.models.fit import General, fit

TOGETHER = 256
"""Operations that are held back before a run is looked for."""
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
    """The run, as in a Witness."""
    minimal: bool
    """Is forbidding any one of them a violation? False where the time ends before."""


@dataclass(frozen=True)
class Comparison:
    """The verdicts of all models, and the differences between neighbours."""

    verdicts: dict[str, Verdict]
    differences: list[Difference]


def compare(history: History, models: Sequence[Model] | None = None, *, timeout: float | None = None,
            patience: float | None = None) -> Comparison:
    """Check models, from strong to weak, and tell what each weaker one was needed for.

    timeout   seconds for each model
    patience  seconds for making the overtakings of each few
    """
    chosen = list(models or forbidding())
    verdicts = {model.name: pipeline.check(history, model, engine="schedule", timeout=timeout, unordered=False)
                for model in chosen}
    differences = []
    for stronger, weaker in pairwise(chosen):
        evidence = verdicts[weaker.name].evidence
        if verdicts[stronger.name].verdict == "violation" and isinstance(evidence, Witness) and len(evidence.order):
            differences.append(difference(history, stronger, weaker, evidence, patience))
    return Comparison(verdicts, differences)


def difference(history: History, stronger: Model, weaker: Model, witness: Witness,
               patience: float | None = None) -> Difference:
    """A run of `weaker` with few overtakings, starting from one that has any."""
    try:
        held_behind = windows(history, stronger, weaker)
    except General:
        return Difference(stronger, weaker, [], list(witness.order), minimal=False)
    holding = _Holding(history, weaker, held_behind, list(witness.order), Deadline(patience))
    minimal = holding.run()
    certificate.check(history, weaker, Witness(holding.order))
    return Difference(stronger, weaker, overtakings(held_behind, holding.order), holding.order, minimal)


Windows = dict[int, list[int]]
"""For each operation that may overtake others, these, from the last to the first."""


def windows(history: History, stronger: Model, weaker: Model) -> Windows:
    """The pairs of a thread that only the stronger model keeps, until one that the weaker keeps behind everything."""
    strict, loose = Shortcuts(history, fit(stronger)), Shortcuts(history, fit(weaker))
    before: dict[int, list[int]] = {}
    found: Windows = {}
    for operation, (thread, kind) in enumerate(zip(history.thread.tolist(), history.kind.tolist(), strict=True)):
        earlier = before.setdefault(thread, [])
        if kind != FENCE:
            window = [other for other in earlier if strict.keeps(other, operation)
                      and not loose.keeps(other, operation)]
            if window:
                found[operation] = window[::-1]
            if len(window) == 0:
                earlier[:] = [other for other in earlier if not loose.keeps(other, operation)][-WINDOW:]
            earlier.append(operation)
        else:
            earlier[:] = [other for other in earlier if not loose.keeps(other, operation)]
    return found


def overtakings(windows: Windows, order: Order) -> list[Overtaking]:
    """The pairs that are the other way round in a run."""
    place = np.empty(len(order), dtype=np.int64)
    place[np.asarray(order, dtype=np.int64)] = np.arange(len(order))
    return [Overtaking(earlier, later) for later, window in windows.items() for earlier in reversed(window)
            if place[later] < place[earlier]]


class _Holding:
    """Holds each operation back behind those that it might overtake, as far as that goes."""

    def __init__(self, history: History, weaker: Model, windows: Windows, order: Order, deadline: Deadline) -> None:
        self._history = history
        self._fit = fit(weaker)
        self._windows = windows
        self._deadline = deadline
        self._held: list[tuple[int, int]] = []
        self.order = order

    def run(self) -> bool:
        """Is what is left minimal for sure?"""
        operations = list(self._windows)
        try:
            for start in range(0, len(operations), TOGETHER):
                self._hold(operations[start:start + TOGETHER])
        except TimeoutError:
            return False
        return True

    def _hold(self, operations: list[int]) -> None:
        """All of them; or each half, down to single pairs."""
        pairs = [(earlier, later) for later in operations for earlier in self._windows[later]]
        if self._possible(pairs):
            return
        if len(operations) > 1:
            self._hold(operations[:len(operations) // 2])
            self._hold(operations[len(operations) // 2:])
        else:
            for pair in pairs:
                self._possible([pair])

    def _possible(self, pairs: list[tuple[int, int]]) -> bool:
        """Keep the pairs in order from now on, if there is a run with them and all that are held."""
        outcome = engine.decide(self._history, self._fit, self._deadline, extra=[*self._held, *pairs])
        if outcome.status != engine.CONSISTENT:
            return False
        self._held += pairs
        self.order = list(outcome.order)
        return True
