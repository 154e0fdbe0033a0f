"""Backtracking: order one open pair, draw every consequence, go on; take it back when it fails.

The pairs come from the greedy schedule: where it is stuck, a choice it made is turned round. Each failure is
a cycle under some of the pairs assumed; one that is not among them is not tried the other way round: the
search jumps back to the last one that mattered.
"""

from __future__ import annotations

from dataclasses import dataclass

from gradual.deadline import Deadline
from gradual.deciding.proof import Contradiction
from gradual.deciding.saturation import Mark
from gradual.deciding.schedule import Schedule
from gradual.evidence.verdict import Cycle, Pair, Refutation, Witness

Choices = frozenset[Pair]
"""Pairs that cannot all hold."""


@dataclass(frozen=True)
class _Choice:
    pair: Pair
    mark: Mark
    other_way: Choices | None = None
    """Why the pair cannot be ordered the other way, once that has been tried."""


def complete(stuck: Schedule, deadline: Deadline) -> Witness | Refutation:
    return _Search(stuck, deadline).run()


class _Search:
    def __init__(self, schedule: Schedule, deadline: Deadline) -> None:
        self.schedule = schedule
        self.saturation = schedule.saturation
        self.deadline = deadline
        self.choices: list[_Choice] = []
        self.cases: list[Cycle] = []
        self.lemmas: list[tuple[Pair, ...]] = []

    def run(self) -> Witness | Refutation:
        while (witness := self.schedule.run()) is None:
            self.deadline.check()
            failed = self._choose(_Choice(self._open_pair(), self.saturation.mark()))
            while failed is not None:
                if not self.choices:
                    return Refutation(tuple(self.cases), (*self.lemmas, ()))
                failed = self._retreat(failed)
        return witness

    def _open_pair(self) -> Pair:
        """A pair to order next: one that the schedule got wrong, or any that is open."""
        return self.schedule.doubtful() or next(self.saturation.unordered())

    def _choose(self, choice: _Choice) -> Choices | None:
        """Make a choice. Returns the choices that cannot all hold, if that shows now."""
        self.choices.append(choice)
        try:
            self.saturation.assume(*choice.pair)
        except Contradiction as contradiction:
            self.cases.append(contradiction.cycle)
            return frozenset(contradiction.cycle.assumed)
        return None

    def _retreat(self, failed: Choices) -> Choices | None:
        """Take back the last choice, and try it the other way where that is still open."""
        self.deadline.check()
        choice = self.choices.pop()
        self.saturation.undo(choice.mark)
        self.schedule.restart()
        if choice.pair not in failed:
            return failed
        a, b = choice.pair
        if choice.other_way is None:
            return self._choose(_Choice((b, a), choice.mark, failed))
        failed = (failed | choice.other_way) - {(a, b), (b, a)}
        if failed:
            self.lemmas.append(tuple((after, before) for before, after in sorted(failed)))
        return failed
