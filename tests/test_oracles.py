"""The oracles against each other, against the theory's table, and the theory against the oracles."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import brute
import pytest
from brute import (
    CRITERIA,
    MODELS,
    Events,
    acyclic,
    brute_criterion,
    brute_model,
    brute_pww,
    brute_store_orders,
    brute_wpww,
)
from explore import explore
from hypothesis import given, settings
from random_histories import EVERY_KIND, histories, random_history
from theory import HISTORIES, NAMES, TABLE, parse

from gradual.history import INITIAL, NO_SOURCE, THIN_AIR, History

pytestmark = pytest.mark.xdist_group("oracles")  # what takes long to make is made in one process

HIERARCHY = [("SC", "CCM"), ("CCM", "CM"), ("CCM", "CCv"), ("CM", "CC"), ("CCv", "CC"), ("TSO", "wCCM"),
             ("CCM", "wCCM"), ("SC", "TSO"), ("TSO", "PSO"), ("TSO", "CCv")]


def sample(seed: int, count: int, **how: Any) -> list[History]:
    rng = Random(seed)
    return [random_history(rng, **how) for _ in range(count)]


def decide(history: History, name: str) -> bool:
    return brute_criterion(history, name) if name in CRITERIA else brute_model(history, name)


def text(history: History) -> str:
    rows = [f"{history.threads[history.thread[at]]}: {history.what(at)}" for at in range(len(history))]
    return "; ".join(rows) + f"; final {history.final.tolist()}"


# The axioms and the machines


@pytest.fixture(scope="module")
def compared() -> list[History]:
    return sample(1, 3000, min_operations=4) + sample(2, 500, min_operations=6, max_operations=8)


@pytest.mark.parametrize("model", MODELS)
def test_axioms_agree_with_machines(compared: list[History], model: str) -> None:
    verdicts = [brute_model(history, model) for history in compared]
    differing = [text(h) for h, verdict in zip(compared, verdicts, strict=True) if explore(h, model) != verdict]
    assert not differing
    assert min(sum(verdicts), len(verdicts) - sum(verdicts)) > 700, "nearly all verdicts are the same"


@given(histories())
@settings(deadline=None)
def test_axioms_agree_with_machines_on_drawn_histories(history: History) -> None:
    for model in MODELS:
        assert brute_model(history, model) == explore(history, model)


@pytest.mark.parametrize("model", MODELS)
def test_axioms_agree_with_machines_on_every_kind_of_fence(model: str) -> None:
    drawn = sample(6, 1500, min_operations=4, max_operations=8, fence=0.25, fences=EVERY_KIND)
    verdicts = [brute_model(history, model) for history in drawn]
    assert [explore(history, model) for history in drawn] == verdicts
    assert min(sum(verdicts), len(verdicts) - sum(verdicts)) > 300


def test_models_differ_on_the_sample(compared: list[History]) -> None:
    """Or the comparison above would say little about what makes the models different."""
    for strong, weak in (("SC", "TSO"), ("TSO", "PSO")):
        between = [h for h in compared if explore(h, weak) and not explore(h, strong)]
        assert len(between) >= 10


def test_store_orders_are_total_and_end_right() -> None:
    history = parse("W x1, W y1 ∥ W x2 ∥ W x3, R y0 ; x3")
    orders = list(brute_store_orders(history, "SC"))
    last = history.writes[3]
    assert {order[0] for order in orders} == {(0, 2, last), (2, 0, last)}
    assert {order[1] for order in orders} == {(1,)}


# The table


@pytest.mark.parametrize("name", HISTORIES)
def test_table(name: str) -> None:
    entry = HISTORIES[name]
    history = parse(entry.text, name)
    assert {verdict: decide(history, verdict) for verdict in NAMES} == entry.expected


@pytest.mark.parametrize("name", HISTORIES)
def test_table_on_machines(name: str) -> None:
    entry = HISTORIES[name]
    history = parse(entry.text, name)
    assert {model: explore(history, model) for model in MODELS} == {
        model: entry.expected[model] for model in MODELS}


def test_notation() -> None:
    history = parse("W x1, fence ∥ RMW x1→2, R y0 ; x2, y0", "name")
    assert [history.what(at) for at in range(4)] == ["W x=1", "fence", "RMW x: 1→2", "R y=0"]
    assert history.thread.tolist() == [0, 0, 1, 1]
    assert history.source.tolist() == [NO_SOURCE, NO_SOURCE, 0, INITIAL]
    assert history.final.tolist() == [2, INITIAL]
    assert parse("R x1 ; x2").source.tolist() == parse("R x1 ; x2").final.tolist() == [THIN_AIR]


# The errata: the rejected reading says something else


def events(name: str) -> Events:
    return Events(parse(HISTORIES[name].text, name))


@pytest.mark.parametrize("name", ["SB", "1c"])
def test_erratum_1_cc_is_not_a_cycle_with_two_rw_edges(name: str) -> None:
    view = events(name)
    co = brute.closure(view.po | view.wr)
    assert not acyclic(view.po | view.wr | view.rw(view.write_write(co)))
    assert TABLE[name].expected["CC"]


def test_erratum_2_the_per_location_axiom_needs_own_reads() -> None:
    view = events("future")
    stores = brute.store_order_pairs({0: (1,)})
    stores |= view.rw(stores)
    assert acyclic(view.ppo("TSO") | view.wr_e | stores)
    assert acyclic(view.po_loc() | view.wr_e | stores)
    assert not acyclic(view.po_loc() | view.wr | stores)


def test_erratum_3_initial_writes_precede_everything() -> None:
    """Without that, IRIW satisfies CCM and wCCM, as the paper's caption has it."""
    view = events("3")
    view.po, view.before_all = view.own_po, set()
    assert brute._ccm(view)
    assert brute._wccm(view)


def test_erratum_4_own_sources_count() -> None:
    """In cf and in rule (2): each reading with wr_e accepts a history that violates TSO."""
    everywhere, only_rule = events("own source in cf"), events("own source in rule 2")
    assert wccm_with(everywhere, rule=without_own_sources("own source in cf"),
                     conflict=without_own_sources("own source in cf"))
    assert wccm_with(only_rule, rule=without_own_sources("own source in rule 2"), conflict=only_rule)
    for view in everywhere, only_rule:
        assert not wccm_with(view, rule=view, conflict=view)


def without_own_sources(name: str) -> Events:
    view = events(name)
    view.source = {r: w for w, r in view.wr_e}
    return view


def wccm_with(view: Events, *, rule: Events, conflict: Events) -> bool:
    """wCCM, where rule (2) and cf take the sources of reads from these."""
    by_ppo = brute.hb(rule, view.ppo("TSO"), view.wr_e)
    by_po_loc = brute.hb(rule, view.po_loc(), view.wr_e)
    whb = view.write_write(brute.closure(by_ppo | by_po_loc))
    wpww = brute.closure(whb | conflict.cf(by_ppo) | conflict.cf(by_po_loc))
    stores = wpww | view.rw(wpww)
    return acyclic(view.ppo("TSO") | view.wr_e | stores) and acyclic(view.po_loc() | view.wr | stores)


# What the theory claims of all histories


@pytest.fixture(scope="module")
def judged() -> list[tuple[History, dict[str, bool]]]:
    drawn = sample(3, 1500, min_operations=4) + sample(4, 300, min_operations=6, max_operations=8)
    drawn += [parse(entry.text, name) for name, entry in HISTORIES.items()]
    return [(history, {name: decide(history, name) for name in NAMES}) for history in drawn]


@pytest.mark.parametrize(("strong", "weak"), HIERARCHY)
def test_hierarchy(judged: list[tuple[History, dict[str, bool]]], strong: str, weak: str) -> None:
    assert not [text(history) for history, verdict in judged if verdict[strong] and not verdict[weak]]
    assert any(verdict[weak] and not verdict[strong] for _, verdict in judged)


@pytest.mark.parametrize(("one", "other"), [("CM", "CCv"), ("CM", "TSO"), ("PSO", "CC")])
def test_incomparable(judged: list[tuple[History, dict[str, bool]]], one: str, other: str) -> None:
    assert any(verdict[one] and not verdict[other] for _, verdict in judged)
    assert any(verdict[other] and not verdict[one] for _, verdict in judged)


@pytest.mark.parametrize(("model", "partial"), [("SC", brute_pww), ("TSO", brute_wpww)])
def test_partial_store_order_is_in_every_store_order(
        judged: list[tuple[History, dict[str, bool]]], model: str,
        partial: Callable[[History], brute.Relation]) -> None:
    ordered = 0
    for history, verdict in judged:
        if verdict[model]:
            pairs = partial(history)
            ordered += len(pairs)
            for order in brute_store_orders(history, model):
                assert pairs <= brute.store_order_pairs(order), text(history)
    assert ordered > 1000


def test_last_view_of_each_thread_is_enough(judged: list[tuple[History, dict[str, bool]]]) -> None:
    for history, _ in judged[:500]:
        view = Events(history)
        last = {thread: operation for operation, thread in enumerate(view.thread)}.values()
        some = (brute.hb_o(view, o, view.po, view.wr) for o in last)
        assert brute.closure(set().union(*some)) == brute.hb(view, view.po, view.wr), text(history)


@pytest.mark.parametrize("model", ["TSO", "PSO"])
def test_per_location_axiom_collapses_into_ww_edges(model: str) -> None:
    for history in sample(5, 1000, min_operations=4):
        view = Events(history)
        if view.thin_air:
            continue
        global_axiom, per_location = brute._axioms(view, model)
        edges = per_location_edges(view)
        for order in brute._store_orders(view):
            ww = brute.store_order_pairs(order)
            stores = ww | view.rw(ww)
            if acyclic(global_axiom | stores):
                assert acyclic(per_location | stores) == (edges is not None and edges <= ww), text(history)


def per_location_edges(view: Events) -> brute.Relation | None:
    """The ww edges of one pass over each thread and location; None where a read is of its future."""
    seen: dict[tuple[int, int], int] = {}
    edges = set()
    for operation in view.operations:
        at = view.thread[operation], view.at[operation]
        last = seen.get(at, -1 - view.at[operation])
        if view.reads(operation):
            source = view.source[operation]
            if source >= operation and view.thread[source] == at[0]:
                return None
            edges.add((last, source))
            last = source
        if view.writes(operation):
            edges.add((last, operation))
            last = operation
        seen[at] = last
    return {(first, second) for first, second in edges if first != second}


# Edge cases


@pytest.mark.parametrize("program", ["", "fence", "W x1", "R x0", "R x0 ; x0", "W x1 ; x1"])
def test_trivial_histories_satisfy_everything(program: str) -> None:
    history = parse(program)
    assert all(decide(history, name) for name in NAMES)
    assert all(explore(history, model) for model in MODELS)


def test_fences_do_not_touch_locations() -> None:
    """A fence between two threads' operations orders nothing across threads."""
    assert brute_model(parse("fence, R x0 ∥ W x1, fence ∥ fence"), "SC")


@given(histories(rmws=False, fences=False, finals=False, max_threads=2, max_locations=2))
@settings(max_examples=50, deadline=None)
def test_strategy_keeps_to_its_bounds(history: History) -> None:
    assert len(history) <= 7 and len(history.threads) <= 2 and len(history.locations) <= 2
    assert set(history.kind.tolist()) <= {0, 1}
    assert set(history.final.tolist()) <= {NO_SOURCE}
    written = history.written[history.writes].tolist()
    assert len(set(written)) == len(written) and 0 not in written
