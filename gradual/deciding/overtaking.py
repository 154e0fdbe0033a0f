"""What a history needs of a weaker model: the stores that had to be overtaken.

SC and TSO differ in loads that overtake earlier stores of their thread (a load that is served by a store of its own
thread still in the buffer counts: that store reaches memory after it). TSO and PSO differ in stores that overtake
stores. Here every operation is held back behind the stores before it as far as the history allows; what cannot be
is the answer. Held back less, a history has more runs: what was impossible once stays so as more is held back. So
one pass over all operations is enough, and forbidding any one more of the pairs that are left is a violation.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from gradual.deadline import Deadline
from gradual.deciding import pipeline
from gradual.deciding.completion import direct
from gradual.deciding.completion import enumerate as search
from gradual.deciding.saturation import Saturation
from gradual.deciding.schedule import Schedule
from gradual.evidence import certificate
from gradual.evidence.verdict import Verdict, Witness
from gradual.history import FENCE, READ, RMW, WRITE, History
from gradual.models.model import PSO, SC, TSO, Model

TOGETHER = 256
"""Operations that are held back before a run is looked for."""
EXACT = 60
"""Operations up to which SAT decides about PSO; its encoding is cubic."""

Order = Sequence[int]


class Overtaking(NamedTuple):
    """In the run, `later` took place before the store `earlier`, though its thread issued it after that."""

    earlier: int
    later: int


@dataclass(frozen=True)
class Difference:
    """Why a history is consistent with one model and not with the next stronger one."""

    stronger: Model
    weaker: Model
    overtakings: list[Overtaking]
    order: Order
    """The run, as in a Witness."""
    minimal: bool
    """Is forbidding any one of them a violation? False where the time, or what is decided about PSO, ends before."""


@dataclass(frozen=True)
class Comparison:
    """The verdicts of all models, and the differences between neighbours."""

    verdicts: dict[str, Verdict]
    differences: list[Difference]


def compare(history: History, *, timeout: float | None = None, patience: float | None = None) -> Comparison:
    """Check SC, TSO and PSO, and tell what each weaker model was needed for.

    timeout   seconds for each model
    patience  seconds for making the overtakings of each few
    """
    verdicts = {model.name: pipeline.check(history, model, engine="saturation", timeout=timeout)
                for model in (SC, TSO, PSO)}
    differences = []
    for stronger, weaker in ((SC, TSO), (TSO, PSO)):
        evidence = verdicts[weaker.name].evidence
        if verdicts[stronger.name].verdict == "violation" and isinstance(evidence, Witness):
            differences.append(difference(history, weaker, evidence, patience))
    return Comparison(verdicts, differences)


def difference(history: History, weaker: Model, witness: Witness, patience: float | None = None) -> Difference:
    """A run of `weaker` (TSO or PSO) with few overtakings, starting from one that has any."""
    stronger = SC if weaker is TSO else TSO
    deadline = Deadline(patience)
    runs: _Runs
    if weaker is PSO and len(history) <= EXACT:
        runs = _Sat(history, weaker, deadline)
    else:
        runs = _Saturated(history, weaker, deadline)
    holding = _Holding(history, weaker, runs, list(witness.order))
    minimal = holding.run()
    certificate.replay(history, weaker.name, holding.order)
    return Difference(stronger, weaker, overtakings(history, weaker, holding.order), holding.order, minimal)


def overtakings(history: History, weaker: Model, order: Order) -> list[Overtaking]:
    """The pairs that are the other way round in a run of `weaker` than the next stronger model has them."""
    place = np.empty(len(history), dtype=np.int64)
    place[np.asarray(order, dtype=np.int64)] = np.arange(len(history))
    at: list[int] = place.tolist()
    pending: dict[int, list[tuple[int, int]]] = {}
    found = []
    for operation, (thread, kind) in enumerate(zip(history.thread.tolist(), history.kind.tolist(), strict=True)):
        stores = pending.setdefault(thread, [])
        if _may_overtake(kind, weaker):
            later = stores[bisect_right(stores, (at[operation], operation)):]
            found += [Overtaking(store, operation) for _, store in sorted(later, key=lambda entry: entry[1])]
        if _drains(kind, weaker):
            stores.clear()
        elif kind == WRITE:
            insort(stores, (at[operation], operation))
    return found


def _may_overtake(kind: int, weaker: Model) -> bool:
    return kind == READ if weaker is TSO else kind in (WRITE, RMW)


def _drains(kind: int, weaker: Model) -> bool:
    return kind == FENCE or (kind == RMW and weaker is TSO)


# --- holding back


class _Runs(Protocol):
    """Answers whether there is a run in which some pairs of operations are in program order."""

    proves: bool
    """Does finding no run mean that there is none?"""

    def hold(self, pair: Overtaking) -> bool:
        """Keep the pair in order from now on. False, and it is not, when that is impossible with those before it."""

    def order(self) -> Order | None:
        """A run with all pairs held so far, which then stay; or None, and those since the last run are let go."""


class _Holding:
    """Holds back each operation behind the stores before it, as far as that goes."""

    def __init__(self, history: History, weaker: Model, runs: _Runs, order: Order) -> None:
        self._runs = runs
        self.order = order
        self._proved = True
        self._kind: list[int] = history.kind.tolist()
        self._location: list[int] = history.location.tolist()
        self._windows = dict(_windows(history, weaker))
        self._free: set[int] = set()
        """Stores that overtook another one: who is behind them is not behind everything."""

    def run(self) -> bool:
        """Is what is left minimal for sure?"""
        operations = list(self._windows)
        try:
            for start in range(0, len(operations), TOGETHER):
                self._hold(operations[start:start + TOGETHER])
        except TimeoutError:
            return False
        return self._proved

    def _hold(self, operations: list[int]) -> None:
        free = set(self._free)
        for operation in operations:
            self._hold_back(operation)
        order = self._runs.order()
        if order is not None:
            self.order = order
            return
        self._free = free
        if len(operations) == 1:
            self._hold_one_by_one(operations[0])
        else:
            self._hold(operations[:len(operations) // 2])
            self._hold(operations[len(operations) // 2:])

    def _hold_back(self, operation: int) -> None:
        """Behind the last store before it, and so behind most others too; else behind the one before that."""
        for store in self._windows[operation]:
            if self._in_order(store, operation) or self._runs.hold(Overtaking(store, operation)):
                if store not in self._free:
                    return
            else:
                self._free.add(operation)

    def _hold_one_by_one(self, operation: int) -> None:
        """The same, with a run for each pair."""
        for store in self._windows[operation]:
            held = self._in_order(store, operation)
            if not held and self._runs.hold(Overtaking(store, operation)):
                order = self._runs.order()
                held, self.order = order is not None, order or self.order
                self._proved = self._proved and (held or self._runs.proves)
            if not held:
                self._free.add(operation)
            elif store not in self._free:
                return

    def _in_order(self, store: int, operation: int) -> bool:
        """Does PSO itself keep these stores in order?"""
        return self._kind[operation] != READ and (
            self._kind[store] == RMW or self._location[store] == self._location[operation])


class _Window(Sequence[int]):
    """The last stores of a list, as it was once, from the last to the first."""

    def __init__(self, stores: list[int]) -> None:
        self._stores, self._length = stores, len(stores)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, at: Any) -> Any:
        if at >= self._length:
            raise IndexError
        return self._stores[self._length - 1 - at]


def _windows(history: History, weaker: Model) -> Iterator[tuple[int, _Window]]:
    """The operations that might overtake stores, each with those before it that its thread has not drained since."""
    pending: dict[int, list[int]] = {}
    for operation, (thread, kind) in enumerate(zip(history.thread.tolist(), history.kind.tolist(), strict=True)):
        stores = pending.setdefault(thread, [])
        if stores and _may_overtake(kind, weaker):
            yield operation, _Window(stores)
        if _drains(kind, weaker):
            pending[thread] = []
        elif kind in (WRITE, RMW):
            stores.append(operation)


class _Saturated:
    """Runs found along a saturated order: by search where greed fails under TSO, by greed alone under PSO."""

    def __init__(self, history: History, model: Model, deadline: Deadline) -> None:
        self.proves = model is TSO
        self._deadline = deadline
        self._saturation = Saturation(history, model)
        if self._saturation.run() is not None:
            raise AssertionError("there is a run, but saturation found a contradiction")
        self._schedule = Schedule(self._saturation)
        self._mark = self._saturation.mark()

    def hold(self, pair: Overtaking) -> bool:
        self._deadline.check()
        mark = self._saturation.mark()
        if self._saturation.force(pair.earlier, pair.later):
            return True
        self._saturation.undo(mark)
        return False

    def order(self) -> Order | None:
        witness = self._schedule.run()
        order = self._searched() if witness is None and self.proves else None
        if witness is not None:
            order = list(witness.order)
        if order is None:
            self._saturation.undo(self._mark)
            self._schedule.restart()
        else:
            self._saturation.settle()
            self._mark = self._saturation.mark()
        return order

    def _searched(self) -> Order | None:
        mark = self._saturation.mark()
        found = search.complete(self._schedule, self._deadline)
        order = list(found.order) if isinstance(found, Witness) else None
        self._saturation.undo(mark)
        self._schedule.restart()
        return order


class _Sat:
    """Runs found by SAT, a variable for each pair of operations: for few of them, whatever the model."""

    proves = True

    def __init__(self, history: History, model: Model, deadline: Deadline) -> None:
        from pysat.solvers import Solver

        self._size = len(history)
        self._deadline = deadline
        self._held: list[int] = []
        self._solver = Solver(name="glucose4", bootstrap_with=list(direct.clauses(history, model)))

    def hold(self, pair: Overtaking) -> bool:
        self._deadline.check()
        literal = direct.before(pair.earlier, pair.later, self._size)
        if not self._solver.solve(assumptions=[*self._held, literal]):
            return False
        self._held.append(literal)
        return True

    def order(self) -> Order:
        self._solver.solve(assumptions=self._held)
        return direct.run(self._solver, self._size)
