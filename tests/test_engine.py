"""The engine against brute force, the machines, other ways to a verdict, and itself: plain, compiled, in batches."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import pytest
from brute import MODELS, brute_model
from explore import explore
from random_histories import EVERY_KIND, random_history
from searching import searched

import gradual
from gradual.compiler import records
from gradual.deadline import Deadline
from gradual.deciding import engine, many
from gradual.deciding.engine import batch, kernels, static, tables
from gradual.deciding.engine.run import Run
from gradual.deciding.observations import impossible_observation
from gradual.deciding.pipeline import check
from gradual.evidence.verdict import Cycle, Refutation
from gradual.history import FENCE, READ, RMW, WRITE, Builder, History
from gradual.models import Model, load
from gradual.models.fit import fit
from gradual.programs.trace import allows

sys.path.insert(0, str(Path(__file__).parents[1]))

from experiments.satisfiability import history_of, random_formula, satisfiable

EVERY_MODEL = pytest.mark.parametrize("model", [load(name) for name in MODELS], ids=str)


def drawn(seed: int, count: int, **options: Any) -> list[History]:
    rng = Random(seed)
    return [random_history(rng, **{"fence": 0.15, "fences": EVERY_KIND, "final": 0.1, **options})
            for _ in range(count)]


def possible(histories: list[History]) -> list[History]:
    return [history for history in histories if impossible_observation(history, "coherence") is None]


def verdict(history: History, model: Model, **how: Any) -> bool:
    """By the engine unless told otherwise; `check` certifies what it says."""
    return bool(check(history, model, **{"engine": "schedule", "unordered": False, **how}))


# --- against others


@EVERY_MODEL
@pytest.mark.parametrize("seed", range(2))
def test_as_brute_force_says(model: Model, seed: int) -> None:
    histories = drawn(seed, 700, max_operations=8)
    found = [verdict(history, model) for history in histories]
    assert found == [brute_model(history, model.name) for history in histories]
    assert min(sum(found), len(found) - sum(found)) > 100


@EVERY_MODEL
def test_as_the_machines_do(model: Model) -> None:
    for history in drawn(11, 200, max_threads=4, min_operations=7, max_operations=11):
        assert verdict(history, model) == explore(history, model.name)


@EVERY_MODEL
def test_as_the_other_ways_say(model: Model) -> None:
    """Too large for the oracles: the plain encoding, both completions, and the text compiled to clingo."""
    found = []
    for history in possible(drawn(12, 60, max_threads=4, min_operations=12, max_operations=22)):
        found.append(verdict(history, model))
        for completion in ("direct", "enumerate", "sat"):
            assert verdict(history, model, completion=completion) == found[-1]
        if (history.final < 0).all():
            assert allows(history, model) == found[-1]
    assert any(found) and not all(found)


# --- against itself


def same(one: engine.Outcome, other: engine.Outcome) -> bool:
    """In everything: the order, the log, the conflicts."""
    return (one.status, one.bad, one.conflicts, list(one.log)) == (
        other.status, other.bad, other.conflicts, list(other.log)) and (
        one.order is None or list(one.order) == list(other.order))


def decided(history: History, model: Model, compiled: bool) -> engine.Outcome:
    return engine.decide(history, fit(model), Deadline(), compiled=compiled)


def mixed(model: Model) -> list[History]:
    """Small and larger ones, incoherent ones, some that need clauses, in no order of size."""
    histories = possible(drawn(13, 250, min_operations=1, max_operations=15, max_threads=4))
    histories += [gradual.generate(machine, threads=4, operations=operations, locations=6, seed=seed)
                  for machine in ("sc", "tso", "pso", "broken") for seed, operations in enumerate((300, 40, 120))]
    histories += [searched(fenced=True), searched(copies=2), *(
        history_of(random_formula(variables, seed)) for variables in (3, 4) for seed in range(3))]
    Random(14).shuffle(histories)
    return possible(histories)


@EVERY_MODEL
def test_compiled_and_plain_agree(model: Model) -> None:
    histories = mixed(model)
    plain = [decided(history, model, False) for history in histories]
    assert {outcome.status for outcome in plain} == {engine.CONSISTENT, engine.VIOLATED}
    assert any(outcome.bad >= 0 for outcome in plain) or model.name == "SC"
    assert any(outcome.conflicts > 5 for outcome in plain)
    for history, outcome in zip(histories, plain, strict=True):
        assert same(decided(history, model, True), outcome)
    run = Run(histories, fit(model), True)
    assert all(map(same, engine.decide_many(run, Deadline()), plain))
    for some in ([*range(0, len(histories), 3)], [len(histories) - 1], [*range(len(histories))]):
        assert all(map(same, engine.decide_many(run.of(some), Deadline()), [plain[place] for place in some]))


class Stingy(Run):
    """Starts with next to no room for static edges."""

    asked: ClassVar[set[int]] = set()

    def _new_building(self) -> batch.Building:
        made = super()._new_building()
        least = {"edge": 0, "cell": 0, "mark": self.operations + 1}
        share = {name: table[:max(len(table) * min(self._room, 16) // 16, least[name])]
                 for name, table in made._asdict().items() if name in least}
        return made._replace(**share)

    def more_room(self) -> None:
        self.asked.add(static.MORE_ROOM)
        super().more_room()

    def grow(self, wanted: int) -> None:
        self.asked.add(wanted)
        super().grow(wanted)


LITTLE = {"entry": 1, "passage": 200}
"""Rows more at a time, of the tables that need not grow together."""


@pytest.mark.parametrize("compiled", [False, True], ids=["plain", "compiled"])
def test_growing_tables_change_nothing(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    model = load("tso")
    histories = [*mixed(model)[:80], searched(fenced=True), history_of(random_formula(3, 1))]
    expected = [decided(history, model, compiled) for history in histories]
    longer = records.longer
    monkeypatch.setattr(records, "longer", lambda table, name, length, *of: longer(
        table, name, min(length, len(table) + LITTLE.get(name, length)), *of))
    monkeypatch.setattr(engine, "Run", Stingy)
    Stingy.asked.clear()
    assert all(same(decided(history, model, compiled), wanted)
               for history, wanted in zip(histories, expected, strict=True))
    if compiled:
        together = engine.decide_many(Stingy(histories, fit(model), True), Deadline())
        assert all(map(same, together, expected))
    assert Stingy.asked >= {static.MORE_ROOM, kernels.MORE_PAIRS, kernels.MORE_CLAUSES, kernels.MORE_LOG}


@EVERY_MODEL
def test_a_pause_changes_nothing(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    histories = mixed(model)[:100]
    expected = [decided(history, model, False) for history in histories]
    monkeypatch.setattr(engine, "PLAIN_BUDGET", 1)
    assert all(same(decided(history, model, False), wanted)
               for history, wanted in zip(histories, expected, strict=True))


@EVERY_MODEL
def test_many_together_as_one_by_one(model: Model) -> None:
    drawn_ones = drawn(31, 250, min_operations=0, max_operations=15, max_threads=4)
    made = [gradual.generate("tso", threads=3, operations=17, locations=3, seed=seed) for seed in range(50)]
    told = 0
    for history, together in zip(drawn_ones + made, many.decide(drawn_ones + made, model, named=False), strict=True):
        alone = check(history, model, engine="schedule")
        if together is not None:
            told += 1
            assert (together.verdict, together.decided_by) == (alone.verdict, alone.decided_by)
            assert together or together.evidence == alone.evidence
            if together:
                assert together.unordered_pairs == alone.unordered_pairs
                assert list(together.evidence.order) == list(alone.evidence.order)  # type: ignore[union-attr]
        else:
            assert not len(history) or impossible_observation(history, "coherence")
    assert told > 200
    assert many.decide([], model) == []


def test_impatience_leaves_histories_to_others() -> None:
    history, sb = history_of(random_formula(5, 1, 6)), gradual.generate("sc", operations=30)
    hurried = engine.decide_many(Run([sb, history, sb], fit(load("sc")), True, patience=1), Deadline())
    assert [outcome.status for outcome in hurried] == [engine.CONSISTENT, engine.UNDECIDED, engine.CONSISTENT]


# --- clauses


@pytest.mark.parametrize("ratio", [2, 4.26, 8])
def test_clauses(ratio: float) -> None:
    """3-SAT in disguise: refutations are certified by propagation."""
    found = []
    for variables, seeds in ((3, 3), (6, 2), (12, 1)):
        for seed in range(seeds):
            formula = random_formula(variables, seed, ratio)
            history, expected = history_of(formula), satisfiable(formula)
            decision = check(history, "sc" if seed else "tso", engine="schedule", unordered=False, timeout=60)
            found.append(expected)
            assert decision.verdict == ("consistent" if expected else "violation")
            assert decision.decided_by == ("schedule" if expected else "search")
            assert expected or isinstance(decision.evidence, Refutation)
    assert all(found) if ratio == 2 else not all(found)


def test_what_follows_without_assumptions_is_resolved_to_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A literal that a clause implies on level 0 is no fact of its own cycle: resolution goes on through it."""
    implied = 0
    assign = kernels.assign

    def counted(g: tables.Tables, literal: int, reason: int) -> None:
        nonlocal implied
        implied += reason != kernels.NONE and g.now[0].levels == 0
        assign(g, literal, reason)

    monkeypatch.setattr(kernels, "assign", counted)
    for seed in range(6):
        formula = random_formula(5, seed, 6)
        outcome = decided(history_of(formula), load("sc"), False)
        assert (outcome.status == engine.CONSISTENT) == satisfiable(formula)
    assert implied > 0


# --- large ones


def by_thread(made: History) -> History:
    """A trace that gives no hint of time: each thread as a block."""
    builder = Builder("blocks", "")
    for thread, name in enumerate(made.threads):
        for e in (made.thread == thread).nonzero()[0].tolist():
            address = "" if made.location[e] < 0 else made.address(e)
            if made.kind[e] == READ:
                builder.read(name, address, int(made.read[e]))
            elif made.kind[e] == WRITE:
                builder.write(name, address, int(made.written[e]))
            elif made.kind[e] == RMW:
                builder.rmw(name, address, int(made.read[e]), int(made.written[e]))
            else:
                assert made.kind[e] == FENCE
                builder.fence(name)
    return builder.build()


@pytest.mark.parametrize("machine", ["sc", "tso", "pso"])
def test_many_threads(machine: str) -> None:
    history = gradual.generate(machine, threads=64, operations=6000, locations=16, seed=2)
    for trace in (history, by_thread(history)):
        assert verdict(trace, load(machine), timeout=60)


@pytest.mark.parametrize("machine", ["sc", "tso", "pso"])
def test_long_histories_are_decided_and_certified(machine: str) -> None:
    """Too long for the ladder. The run that the schedule finds is replayed by `check`."""
    history = gradual.generate(machine, threads=8, operations=30_000, locations=32, seed=2)
    for trace in (history, by_thread(history)):
        assert check(trace, machine, timeout=100).decided_by == "schedule"


@EVERY_MODEL
def test_long_violations_have_short_proofs(model: Model) -> None:
    history = gradual.generate("broken-duplicate", threads=8, operations=20_000, locations=32, seed=2)
    found = check(history, model, timeout=100)
    assert found.decided_by == "cycle" and isinstance(found.evidence, Cycle)
    assert len(found.evidence.edges) <= 12


@EVERY_MODEL
def test_fifty_thousand_threads(model: Model) -> None:
    """No table grows with threads × locations."""
    builder = Builder("wide", "")
    for thread in range(50_000):
        builder.write(str(thread), thread % 1000, thread + 1)
        builder.read(str(thread), (thread + 1) % 1000, 0 if thread < 998 else thread - 998)
    engine.load()
    started = time.perf_counter()
    assert check(builder.build(), model, timeout=30).verdict == "consistent"
    assert time.perf_counter() - started < 10


# --- limits


def hard(variables: int) -> History:
    formulas = (random_formula(variables, seed) for seed in range(100))
    return history_of(next(formula for formula in formulas if not satisfiable(formula)))


def limited() -> Iterator[tuple[History, dict[str, Any]]]:
    crowded = by_thread(gradual.generate("sc", threads=64, operations=400_000, locations=64, seed=1))
    for completion in ("enumerate", "sat", "direct"):
        yield hard(40), {"completion": completion}
    yield hard(60), {}
    yield crowded, {}
    yield crowded, {"unordered": True}


def test_a_time_limit_holds() -> None:
    """One that is late each time: a machine that has other things to do may stop us once."""
    engine.load()
    check(gradual.generate("sc", operations=4000), "sc", unordered=True)

    def late(history: History, limit: float, how: dict[str, Any]) -> float:
        started = time.perf_counter()
        check(history, "sc", timeout=limit, **how)
        return time.perf_counter() - started - 1.2 * limit - 0.5

    for history, how in limited():
        for limit in (0.2, 1.0):
            assert any(late(history, limit, how) < 0 for _ in range(3)), (how, limit)


def test_too_little_memory_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    history = gradual.generate("tso", threads=4, operations=20_000, locations=16, seed=1)
    monkeypatch.setattr(records, "MEMORY", 100_000)
    found = check(history, "tso")
    assert (found.verdict, found.evidence) == ("unknown", None) and "memory" in found.message
