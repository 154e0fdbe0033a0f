"""Backtracking: order one open pair, draw every consequence, go on; take it back when it fails.

Each failure is a cycle under some of the pairs assumed; one that is not among them is not tried the other way
round: the search jumps back to the last one that mattered.
"""

from __future__ import annotations

from dataclasses import dataclass

from gradual.deadline import Deadline
from gradual.deciding.completion.closure import Closure, Contradiction
from gradual.evidence.verdict import Cycle, Pair, Refutation, Witness

Choices = frozenset[Pair]
"""Pairs that cannot all hold."""


@dataclass(frozen=True)
class _Choice:
    pair: Pair
    mark: int
    other_way: Choices | None = None
    """Why the pair cannot be ordered the other way, once that has been tried."""


def complete(closure: Closure, deadline: Deadline) -> Witness | Refutation:
    return _Search(closure, deadline).run()


class _Search:
    def __init__(self, closure: Closure, deadline: Deadline) -> None:
        self._closure = closure
        self._deadline = deadline
        self._choices: list[_Choice] = []
        self._cases: list[Cycle] = []
        self._lemmas: list[tuple[Pair, ...]] = []

    def run(self) -> Witness | Refutation:
        while (pair := next(self._closure.unordered(), None)) is not None:
            self._deadline.check()
            failed = self._choose(_Choice(pair, self._closure.mark()))
            while failed is not None:
                if not self._choices:
                    return Refutation(tuple(self._cases), (*self._lemmas, ()))
                failed = self._retreat(failed)
        return self._closure.witness()

    def _choose(self, choice: _Choice) -> Choices | None:
        """Make a choice. Returns the choices that cannot all hold, if that shows now."""
        self._choices.append(choice)
        try:
            self._closure.assume(*choice.pair)
        except Contradiction as contradiction:
            self._cases.append(contradiction.cycle)
            return frozenset(contradiction.cycle.assumed)
        return None

    def _retreat(self, failed: Choices) -> Choices | None:
        """Take back the last choice, and try it the other way where that is still open."""
        self._deadline.check()
        choice = self._choices.pop()
        self._closure.undo(choice.mark)
        if choice.pair not in failed:
            return failed
        a, b = choice.pair
        if choice.other_way is None:
            return self._choose(_Choice((b, a), choice.mark, failed))
        failed = (failed | choice.other_way) - {(a, b), (b, a)}
        if failed:
            self._lemmas.append(tuple((after, before) for before, after in sorted(failed)))
        return failed
