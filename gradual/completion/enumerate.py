"""Backtracking: order one open pair, draw every consequence, go on; take it back when it fails.

Each failure is a cycle under some of the choices made. A choice that is not among them is not tried
the other way round: the search jumps back to the last one that mattered.
"""

from __future__ import annotations

from dataclasses import dataclass

from gradual.closure import Closure, Contradiction
from gradual.completion.linear import total_order
from gradual.deadline import Deadline
from gradual.history import History
from gradual.models import Model
from gradual.verdict import Cycle, Pair, Refutation, Witness

Choices = frozenset[Pair]
"""Pairs that cannot all hold."""


@dataclass(frozen=True)
class _Choice:
    pair: Pair
    mark: tuple[int, tuple[int, int, int]]
    other_way: Choices | None = None
    """Why the pair cannot be ordered the other way, once that has been tried."""


def complete(history: History, model: Model, deadline: Deadline) -> Witness | Cycle | Refutation:
    try:
        closure = Closure(history, model)
    except Contradiction as contradiction:
        return contradiction.cycle
    return _Search(closure, deadline).run()


class _Search:
    def __init__(self, closure: Closure, deadline: Deadline) -> None:
        self.closure = closure
        self.deadline = deadline
        self.choices: list[_Choice] = []
        self.cases: list[Cycle] = []
        self.lemmas: list[tuple[Pair, ...]] = []

    def run(self) -> Witness | Refutation:
        while (pair := next(self.closure.unordered(), None)) is not None:
            self.deadline.check()
            failed = self._choose(_Choice(pair, self.closure.mark()))
            while failed is not None:
                if not self.choices:
                    return Refutation(tuple(self.cases), (*self.lemmas, ()))
                failed = self._retreat(failed)
        return total_order(self.closure)

    def _choose(self, choice: _Choice) -> Choices | None:
        """Make a choice. Returns the choices that cannot all hold, if that shows now."""
        self.choices.append(choice)
        try:
            self.closure.assume(*choice.pair)
        except Contradiction as contradiction:
            self.cases.append(contradiction.cycle)
            return frozenset(contradiction.cycle.assumed)
        return None

    def _retreat(self, failed: Choices) -> Choices | None:
        """Take back the last choice, and try it the other way where that is still open."""
        self.deadline.check()
        choice = self.choices.pop()
        self.closure.undo(choice.mark)
        if choice.pair not in failed:
            return failed
        a, b = choice.pair
        if choice.other_way is None:
            return self._choose(_Choice((b, a), choice.mark, failed))
        failed = (failed | choice.other_way) - {(a, b), (b, a)}
        if failed:
            self.lemmas.append(tuple((after, before) for before, after in sorted(failed)))
        return failed
