"""Saturation against a slow and plain twin, brute force and itself."""

from __future__ import annotations

from random import Random

import pytest
from closure import Closure
from closure import Contradiction as Impossible
from hypothesis import given, settings
from random_histories import histories, random_history
from searching import searched

import gradual
from gradual.deadline import Deadline
from gradual.deciding import kernels
from gradual.deciding.pipeline import check, impossible_observation
from gradual.deciding.proof import Contradiction
from gradual.deciding.saturation import Saturation
from gradual.deciding.schedule import Schedule
from gradual.evidence import certificate
from gradual.history import Builder, History
from gradual.models.model import MODELS, Model

EVERY_MODEL = pytest.mark.parametrize("model", MODELS.values(), ids=str)


def saturated(history: History, model: Model, compiled: bool | None = None) -> Saturation | None:
    """The saturation; None, with a certified reason, when there is none."""
    saturation = Saturation(history, model, compiled=compiled)
    cycle = saturation.run()
    if cycle is not None:
        certificate.check(history, model.name, cycle)
        return None
    return saturation


def pairs(saturation: Saturation | None) -> set[tuple[int, int]] | None:
    return None if saturation is None else set(saturation.pairs())


def twin(history: History, model: Model) -> Closure | None:
    try:
        return Closure(history, model)
    except Impossible:
        return None


def possible_histories(seed: int, count: int, **options: int) -> list[History]:
    rng = Random(seed)
    found: list[History] = []
    while len(found) < count:
        history = random_history(rng, **options)  # type: ignore[arg-type]
        if not impossible_observation(history):
            found.append(history)
    return found


@EVERY_MODEL
@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_least_fixpoint(model: Model, seed: int) -> None:
    for history in possible_histories(seed, 500, max_threads=4, max_operations=14):
        other = twin(history, model)
        found = saturated(history, model)
        assert pairs(found) == (None if other is None else set(other.pairs()))
        if found is not None:
            assert found.ordered_pairs() == len(found.pairs())


@settings(max_examples=200, deadline=None)
@given(histories(max_operations=10))
def test_it_is_the_least_fixpoint_shrinking(history: History) -> None:
    if not impossible_observation(history):
        for model in MODELS.values():
            other = twin(history, model)
            assert pairs(saturated(history, model)) == (None if other is None else set(other.pairs()))


@EVERY_MODEL
def test_compiled_and_plain_kernels_agree(model: Model) -> None:
    longer = [gradual.generate(machine, threads=4, operations=300, locations=6, seed=seed)
              for machine in ("sc", "tso", "pso", "broken") for seed in range(3)]
    for history in possible_histories(21, 150, max_threads=4, max_operations=12) + longer:
        if impossible_observation(history):
            continue
        plain, compiled = saturated(history, model, False), saturated(history, model, True)
        assert (plain is None) == (compiled is None)
        if plain is not None and compiled is not None:
            assert plain.pairs() == compiled.pairs()
            first, second = Schedule(plain).run(), Schedule(compiled).run()
            assert (first is None) == (second is None)
            if first is not None and second is not None:
                assert list(first.order) == list(second.order)


@EVERY_MODEL
def test_taking_back_restores_everything(model: Model) -> None:
    for history in possible_histories(9, 120, max_operations=12, max_threads=4):
        saturation = saturated(history, model)
        if saturation is None:
            continue
        before = saturation.pairs()
        edges = int(saturation.mark()[1])
        for pair in list(saturation.unordered()):
            for assumed in (pair, pair[::-1]):
                mark = saturation.mark()
                try:
                    saturation.assume(*assumed)
                    assert assumed in saturation.pairs()
                except Contradiction as contradiction:
                    assert contradiction.cycle.assumed == (assumed,)
                saturation.undo(mark)
                assert saturation.pairs() == before
                assert saturation.mark()[1] == edges


@EVERY_MODEL
@pytest.mark.parametrize("compiled", [False, True], ids=["plain", "compiled"])
def test_assuming_step_by_step_is_assuming_at_once(model: Model, compiled: bool) -> None:
    """Incremental saturation draws the consequences that the twin draws from all assumptions."""
    history = gradual.generate("sc", threads=3, operations=40, locations=3, seed=4)
    saturation = saturated(history, model, compiled)
    assert saturation is not None
    saturation.mark()
    assumed: list[tuple[int, int]] = []
    while (pair := next(saturation.unordered(), None)) is not None:
        saturation.assume(*pair)
        assumed.append(pair)
        other = Closure(history, model)
        for earlier in reversed(assumed):
            other.assume(*earlier)
        assert set(other.pairs()) == set(saturation.pairs())
    assert assumed


@pytest.mark.parametrize("machine", ["sc", "tso", "pso"])
def test_long_histories_are_decided_and_certified(machine: str) -> None:
    """Too long for the ladder. The run that the schedule finds is replayed by `check`."""
    history = gradual.generate(machine, threads=8, operations=30_000, locations=32, seed=2)
    verdict = check(history, machine, timeout=100)
    assert verdict.verdict == "consistent"
    assert verdict.ordered_by == "saturation"


@EVERY_MODEL
def test_long_violations_have_short_proofs(model: Model) -> None:
    history = gradual.generate("broken-duplicate", threads=8, operations=20_000, locations=32, seed=2)
    verdict = check(history, model, timeout=100)
    assert verdict.verdict == "violation"
    assert len(verdict.evidence.edges) <= 12  # type: ignore[union-attr]


def test_threads_one_after_the_other() -> None:
    """A trace that gives no hint of time: each thread as a block."""
    made = gradual.generate("tso", threads=6, operations=4000, locations=16, seed=5)
    builder = Builder("blocks", "")
    for thread in range(6):
        for e in (made.thread == thread).nonzero()[0].tolist():
            name, address = made.threads[thread], "" if made.location[e] < 0 else made.address(e)
            if made.kind[e] == kernels.READ:
                builder.read(name, address, int(made.read[e]))
            elif made.kind[e] == kernels.WRITE:
                builder.write(name, address, int(made.written[e]))
            elif made.kind[e] == kernels.RMW:
                builder.rmw(name, address, int(made.read[e]), int(made.written[e]))
            else:
                builder.fence(name)
    assert check(builder.build(), "tso", timeout=100).verdict == "consistent"


@EVERY_MODEL
def test_degenerate_shapes(model: Model) -> None:
    """One location without reads, a thread per operation, a location per operation: quick, and consistent."""
    for operations, threads, locations in ((2000, 4, 1), (1500, 300, 3), (2000, 2, 2000)):
        builder = Builder("shape", "")
        for number in range(operations):
            builder.write(str(number % threads), number % locations, number + 1)
        assert check(builder.build(), model, engine="saturation", timeout=60).verdict == "consistent"


def test_tables_grow_when_they_are_full() -> None:
    """Start with next to no room: the answers stay the same."""
    history = gradual.generate("tso", threads=4, operations=200, locations=4, seed=1)
    for model in MODELS.values():
        expected = saturated(history, model)
        small = Saturation(history, model)
        small._tables = small._tables._replace(edge=small._tables.edge[: 10 * kernels.EDGE_FIELDS])
        if small.run() is not None:
            assert expected is None
            continue
        assert expected is not None
        assert small.pairs() == expected.pairs()


def test_a_long_search_ends_at_the_deadline() -> None:
    """Many independent riddles, each of which search alone solves, and a limit that is too short for them."""
    from gradual.deciding.completion import completion

    saturation = saturated(searched(copies=1), MODELS["SC"])
    assert saturation is not None
    with pytest.raises(TimeoutError):
        completion("enumerate")(Schedule(saturation), Deadline(0))


@EVERY_MODEL
def test_many_together_as_one_by_one(model: Model) -> None:
    from gradual.deciding.many import decide

    rng = Random(31)
    drawn = [random_history(rng, min_operations=0, max_operations=15, max_threads=4) for _ in range(400)]
    made = [gradual.generate("tso", threads=3, operations=17, locations=3, seed=seed) for seed in range(100)]
    for history, together in zip(drawn + made, decide(drawn + made, model), strict=True):
        alone = check(history, model)
        if together is None:
            assert alone.decided_by != "greedy"
        else:
            assert (together.verdict, together.decided_by) == (alone.verdict, alone.decided_by)
            assert together.unordered_pairs == alone.unordered_pairs
            assert list(together.evidence.order) == list(alone.evidence.order)  # type: ignore[union-attr]
    assert decide([], model) == []
