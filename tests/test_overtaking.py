"""What a weaker model was needed for: the overtakings are possible, and none of them can be spared."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from random import Random

import pytest
from brute import MODELS, Events, _axioms, _store_orders, acyclic, store_order_pairs
from command import gradual as run
from random_histories import random_history
from theory import parse

from gradual.deciding import overtaking, pipeline
from gradual.deciding.overtaking import Difference, compare, difference, overtakings, windows
from gradual.evidence import certificate
from gradual.evidence.verdict import Witness
from gradual.history import FENCE, READ, RMW, WRITE, Builder, History
from gradual.machines import generate
from gradual.models import Model, load

Pair = tuple[int, int]
SC, TSO, PSO = map(load, MODELS)
STRONGER = {"TSO": "SC", "PSO": "TSO"}
FIGURES = Path(__file__).parents[1] / "traces" / "figures.csv"


def possible(history: History, model: Model, held: Iterable[Pair]) -> bool:
    """Is there a run in which the pairs `held` are in program order, by the definitions?"""
    events = Events(history)
    everywhere, *others = _axioms(events, model.name)
    for order in _store_orders(events):
        ww = store_order_pairs(order)
        stores = ww | events.rw(ww)
        if all(acyclic(axiom | stores) for axiom in (everywhere | set(held), *others)):
            return True
    return False


def given_up(history: History, weaker: Model) -> set[Pair]:
    """The pairs of program order that `weaker` gives up, and the next stronger model does not."""
    events = Events(history)
    return events.ppo(STRONGER[weaker.name]) - events.ppo(weaker.name)


def assert_needed(history: History, found: Difference) -> None:
    pairs = {tuple(pair) for pair in found.overtakings}
    held = given_up(history, found.weaker) - pairs
    assert pairs <= given_up(history, found.weaker)
    assert possible(history, found.weaker, held)
    if found.minimal:
        for pair in pairs:
            assert not possible(history, found.weaker, held | {pair}), pair


def test_store_buffering_needs_one_of_its_two() -> None:
    history = parse("W x1, R y0 ∥ W y1, R x0")
    (found,) = compare(history, whole=True).differences
    assert (found.stronger, found.weaker, found.minimal) == (SC, TSO, True)
    assert [tuple(pair) for pair in found.overtakings] in ([(0, 1)], [(2, 3)])
    assert_needed(history, found)


def test_forwarding_counts() -> None:
    history = parse("W x1, R x1, R y0 ∥ W y1, R y1, R x0")
    (found,) = compare(history, whole=True).differences
    assert [tuple(pair) for pair in found.overtakings] in ([(0, 1), (0, 2)], [(3, 4), (3, 5)])


def test_message_passing_needs_a_store_that_overtakes() -> None:
    (found,) = compare(parse("W x1, W y1 ∥ R y1, R x0"), whole=True).differences
    assert (found.weaker, found.minimal, [tuple(pair) for pair in found.overtakings]) == (PSO, True, [(0, 1)])


def test_nothing_to_tell_where_models_agree() -> None:
    assert not compare(parse("W x1, R y1 ∥ W y1, R x1"), whole=True).differences
    assert not compare(parse("W x1, R x2 ∥ W x2, R x1"), whole=True).differences


@pytest.mark.parametrize("together", [overtaking.TOGETHER, 2, 1])
@pytest.mark.parametrize("seed", range(3))
def test_random_histories(seed: int, together: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overtaking, "TOGETHER", together)
    rng = Random(seed)
    told = {"TSO": 0, "PSO": 0}
    while min(told.values()) < 3:
        history = random_history(rng, min_operations=5, max_operations=9, rmw=0.08, fence=0.05, thin_air=0)
        for found in compare(history, whole=True).differences:
            assert found.minimal
            assert_needed(history, found)
            told[found.weaker.name] += 1


def held_back(history: History, pairs: Iterable[Pair]) -> History:
    """The history with each (store, load) kept in order by others: a thread sees the store and tells the load's."""
    told = defaultdict(list)
    for number, (store, later) in enumerate(pairs):
        told[later].append((number, store))
    builder = Builder("held", "")
    for operation in range(len(history)):
        thread = history.threads[int(history.thread[operation])]
        for number, store in told[operation]:
            builder.read(f"between{number}", history.address(store), int(history.written[store]))
            builder.write(f"between{number}", f"u{number}", 1)
            builder.read(thread, f"u{number}", 1)
        kind = history.kind[operation]
        if kind == FENCE:
            builder.fence(thread)
        else:
            add = {READ: builder.read, WRITE: builder.write, RMW: builder.rmw}[kind]
            values = {READ: [history.read], WRITE: [history.written], RMW: [history.read, history.written]}[kind]
            add(thread, history.address(operation), *(int(value[operation]) for value in values))
    return builder.build()


@pytest.mark.parametrize("seed", range(4))
def test_runs_of_the_tso_machine(seed: int) -> None:
    runs = (generate("tso", 3, 120, 4, 100 * seed + more) for more in range(100))
    history, found = next((run, found) for run in runs if (found := compare(run, whole=True).differences))
    assert found[0].minimal
    pairs = {tuple(pair) for pair in found[0].overtakings}
    held = given_up(history, TSO) - pairs
    assert pipeline.check(held_back(history, held), "tso", engine="schedule")
    for pair in sorted(pairs):
        assert not pipeline.check(held_back(history, held | {pair}), "tso", engine="schedule"), pair


def test_overtakings_are_read_off_a_run() -> None:
    history = parse("W x1, W z1, R y0, R x1, fence, R z1 ∥ W y1")
    assert overtakings(windows(history, SC, TSO), [2, 0, 3, 1, 4, 5, 6]) == [(0, 2), (1, 2), (1, 3)]
    assert overtakings(windows(history, TSO, PSO), [1, 0, 2, 3, 4, 5, 6]) == [(0, 1)]


@pytest.mark.parametrize(("stronger", "model"), [(SC, TSO), (TSO, PSO)])
def test_long_histories_within_their_time(stronger: Model, model: Model) -> None:
    history = generate(model.key, 4, 20_000, 16, 3)
    verdict = pipeline.check(history, model)
    assert isinstance(verdict.evidence, Witness)
    before = len(overtakings(windows(history, stronger, model), verdict.evidence.order))
    for patience in (0, 2):
        found = difference(history, stronger, model, verdict.evidence, patience)
        certificate.replay(history, model.name, found.order)
        assert len(found.overtakings) <= before and (patience or not found.minimal)


def test_the_command(tmp_path: Path) -> None:
    done = run("diff-models", FIGURES)
    assert done.returncode == 0 and "SB: SC violation, TSO consistent, PSO consistent" in done.stdout
    assert "R x=0 (thread 1, line 36) overtook W y=1 (thread 1, line 35)" in done.stdout
    records = {record["history"]: record for record in map(json.loads, run("diff-models", FIGURES, "--json")
                                                           .stdout.splitlines())}
    (told,) = records["SB"]["differences"]
    assert told["minimal"] and told["overtakings"][0]["overtook"]["line"] == 35
    assert records["fig-3"]["differences"] == []
    assert run("diff-models", tmp_path / "gone.csv").returncode == 2
    assert run("diff-models", FIGURES, "--timeout", "0").returncode == 3
