"""The generating machines: they keep to their models, and the broken ones do not."""

from __future__ import annotations

import time

import numpy as np
import pytest
from brute import brute_model
from explore import explore

from gradual.history import FENCE, NO_LOCATION, NO_SOURCE, NO_TICK, RMW, THIN_AIR, WRITE, History
from gradual.machines import FAULTS, MACHINES, generate

COLUMNS = ("thread", "kind", "location", "read", "written", "source", "line", "tick", "initial", "final")


def same(one: History, other: History) -> bool:
    return all(np.array_equal(getattr(one, column), getattr(other, column)) for column in COLUMNS)


def small(machine: str, seed: int) -> History:
    """Few enough operations for brute force, crowded enough for something to happen."""
    return generate(machine, 2 + seed % 2, 8 + seed % 3, 2, seed, rmw_ratio=0.1)


KEPT = [("sc", "SC"), ("sc", "TSO"), ("sc", "PSO"), ("tso", "TSO"), ("tso", "PSO"), ("pso", "PSO")]


@pytest.mark.parametrize(("machine", "model"), KEPT)
def test_machine_keeps_its_model(machine: str, model: str) -> None:
    for seed in range(150):
        assert brute_model(small(machine, seed), model), (machine, seed)


@pytest.mark.parametrize(("machine", "model"), KEPT)
def test_machine_keeps_its_model_on_longer_histories(machine: str, model: str) -> None:
    for seed in range(15):
        assert explore(generate(machine, 3, 24, 3, seed), model), (machine, seed)


@pytest.mark.parametrize(("machine", "model"), [("tso", "SC"), ("pso", "TSO")])
def test_machine_is_weaker_than_the_next_model(machine: str, model: str) -> None:
    assert any(not explore(generate(machine, 3, 20, 3, seed), model) for seed in range(40))


@pytest.mark.parametrize("machine", FAULTS)
def test_broken_machine_breaks_sc_but_not_always(machine: str) -> None:
    verdicts = [explore(generate(machine, 3, 30, 3, seed, rmw_ratio=0.15, fence_ratio=0), "SC")
                for seed in range(40)]
    assert not all(verdicts)
    assert any(verdicts)


@pytest.mark.parametrize("machine", FAULTS)
def test_faults_go_beyond_store_buffers(machine: str) -> None:
    """Every fault is worse than what TSO and even PSO allow, sooner or later."""
    assert any(not explore(generate(machine, 3, 24, 2, seed, rmw_ratio=0.15, fence_ratio=0), "PSO")
               for seed in range(80))


@pytest.mark.parametrize("machine", FAULTS)
def test_without_its_fault_a_broken_machine_is_sc(machine: str) -> None:
    for seed in range(20):
        assert explore(generate(machine, 3, 24, 3, seed, fault_ratio=0), "SC")


def test_broken_is_each_fault_in_turn() -> None:
    for seed, fault in enumerate(FAULTS):
        assert same(generate("broken", 3, 100, 4, seed), generate(fault, 3, 100, 4, seed))


@pytest.mark.parametrize("machine", MACHINES)
def test_equal_arguments_give_equal_histories(machine: str) -> None:
    first = generate(machine, 4, 300, 8, 7)
    assert same(first, generate(machine, 4, 300, 8, 7))
    assert not same(first, generate(machine, 4, 300, 8, 8))


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(("threads", "operations", "locations"), [
    (4, 400, 8), (3, 10, 2), (1, 50, 3), (5, 50, 1), (1, 9, 1), (4, 0, 2), (8, 3, 4)])
def test_shape(machine: str, threads: int, operations: int, locations: int) -> None:
    history = generate(machine, threads, operations, locations, 5)
    assert len(history) == operations
    assert history.threads == tuple(f"cpu{number}" for number in range(threads))
    assert history.locations == tuple(hex(0x1000 + 8 * number) for number in range(locations))
    shares = np.bincount(history.thread, minlength=threads)
    assert shares.max() - shares.min() <= 1
    assert history.line.tolist() == list(range(1, operations + 1))
    assert (history.tick == NO_TICK).all()
    assert (history.final == NO_SOURCE).all()
    assert history.kind.dtype == np.int8 and history.thread.dtype == history.location.dtype == np.int32


@pytest.mark.parametrize("machine", MACHINES)
def test_values(machine: str) -> None:
    history = generate(machine, 4, 1000, 8, 3)
    assert history.written[history.writes].tolist() == list(range(1, len(history.writes) + 1))
    assert not (history.source == THIN_AIR).any()
    fences = history.kind == FENCE
    assert fences.any()
    assert ((history.location == NO_LOCATION) == fences).all()
    assert history.location.max() == 7 and history.location[~fences].min() == 0
    assert not history.read[(history.kind == WRITE) | fences].any()
    assert (history.kind == RMW).any()


@pytest.mark.parametrize("machine", ["tso", "pso", "broken-drop"])
def test_one_core_alone_sees_no_difference(machine: str) -> None:
    """A core sees its own stores in order, buffered or not, and nobody else invalidates its copies."""
    for seed in range(10):
        assert same(generate(machine, 1, 200, 3, seed), generate("sc", 1, 200, 3, seed))


def test_ratios() -> None:
    history = generate("sc", 2, 2000, 4, 1, write_ratio=0.2, rmw_ratio=0.3, fence_ratio=0.1)
    shares = np.bincount(history.kind, minlength=4) / len(history)
    assert np.allclose(shares, [0.4, 0.2, 0.3, 0.1], atol=0.05)
    only = generate("tso", 2, 50, 4, 1, write_ratio=1, rmw_ratio=0, fence_ratio=0)
    assert (only.kind == WRITE).all()


def test_names() -> None:
    assert generate("tso", 2, 5, 1, 9).name == "tso-9"
    assert generate("tso", 2, 5, 1, 9, name="mine").name == "mine"
    assert all(MACHINES.values())


@pytest.mark.parametrize(("arguments", "ratios"), [
    (("nosuch", 1, 1, 1, 0), {}), (("sc", 0, 1, 1, 0), {}), (("sc", 1, -1, 1, 0), {}), (("sc", 1, 1, 0, 0), {}),
    (("sc", 1, 1, 1, 0), {"write_ratio": -0.1}), (("sc", 1, 1, 1, 0), {"write_ratio": 0.9, "rmw_ratio": 0.2})])
def test_bad_arguments(arguments: tuple[str, int, int, int, int], ratios: dict[str, float]) -> None:
    with pytest.raises(ValueError):
        generate(*arguments, **ratios)


@pytest.mark.parametrize("machine", ["sc", "tso", "pso"])
def test_time_is_linear_in_the_operations(machine: str) -> None:
    """A million operations take a few seconds, so a tenth of that must be far from its share of 30."""
    start = time.perf_counter()
    generate(machine, 8, 100_000, 256, 1)
    assert time.perf_counter() - start < 3
