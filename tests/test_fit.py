"""Models by the text: which fit the engine, their static edges, and the general way for all others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from brute import MODELS, Events, _store_orders
from fixpoint import closed
from random_histories import EVERY_KIND, random_history
from relations import Execution
from test_certificate import proves
from test_mutations import Meaning, Mutants
from test_text import annotated, random_relation

import gradual
from gradual.deadline import Deadline
from gradual.deciding import engine, general
from gradual.deciding.observations import impossible_observation
from gradual.deciding.pipeline import check
from gradual.evidence.verdict import Refutation, Witness
from gradual.history import READ, History
from gradual.models import Model, load
from gradual.models.fit import General, fit
from gradual.models.matrix import Matrices
from gradual.models.regular import Irregular, automaton, regular
from gradual.models.syntax import Check, Expression, Fixpoint, Name, Sequence, Star, Union, Variable

COHERENCE = "acyclic po-loc | rf | co | fr as coherence\n"
GLOBAL = "acyclic po | rfe | co | fr as global\n"


@pytest.fixture
def texts(tmp_path: Path) -> Any:
    def text(lines: str) -> Model:
        file = tmp_path / "own.cat"
        file.write_text('own "a model of the tests"\n' + lines)
        return load(str(file))

    return text


# --- which models fit


@pytest.mark.parametrize("lines", [
    GLOBAL, COHERENCE + GLOBAL, COHERENCE,
    "acyclic (po | rf | co | fr)+", "irreflexive (po | rf | co | fr)+",
    "let rec r = po | rfe | co | fr | r;r\nirreflexive r",
    "let rec a = po | (po;a)\nacyclic a | rf | co | fr", "let rec a = po | a;a;po | a & loc\nacyclic a | rf | co | fr",
    "let com = rfe | co | fr\nlet ppo = po & (R*M) | po & (W*W)\nacyclic ppo | com",
    COHERENCE + GLOBAL + "empty rmw & (fre;coe) as atomicity",
    "acyclic po \\ (W*R) | rfe | ca",
    COHERENCE + GLOBAL + "irreflexive po;rf as later",
])
def test_what_fits(texts: Any, lines: str) -> None:
    fit(texts(lines))


@pytest.mark.parametrize(("lines", "reason"), [
    ("acyclic po | rfe | co | fr;po", "has not all of co and fr in it"),
    ("acyclic po | rfe | co | fr | co;po as both", "check both uses the store order for more than co and fr"),
    ("acyclic po | rfe | co | fr | co^-1;po", "for more than co and fr"),
    (GLOBAL + "acyclic po-loc | rf | fr | co | addr as second", "2 of its checks"),
    ("acyclic po | co | fr as blind", "the check blind has no rfe in it"),
    ("empty co & (W*R)", "asks for an empty relation that depends on the store order"),
    ("irreflexive fr;po;rf;po as seen", "the check seen is about pairs that are no closure"),
    ("acyclic po | rf", "none of its checks"),
    ("let rec a = po | rf | co | fr | po;a irreflexive a as round", "about pairs that are no closure"),
    ("let rec a = po | rf | co | fr | po;a acyclic a", "not all of co and fr"),
    ("acyclic po | rfe | coe | fre", "not all of co and fr"),
])
def test_what_does_not_fit(texts: Any, lines: str, reason: str) -> None:
    with pytest.raises(General, match=reason.replace("(", r"\(")):
        fit(texts(lines))


@pytest.mark.parametrize("recursion", ["po | (po;a)", "po;a | po", "rf | (a;po)", "fr | (a;po)", "po | (a;fence;po)",
                                       "po | (po;a;po)", "po | a & loc", "po | (b;a) and b = po-loc | a"])
def test_recursion_is_decided(texts: Any, recursion: str) -> None:
    """Whether it is a closure or has to be looked at pair by pair."""
    model = texts(f"let rec a = {recursion}\nacyclic a | po | rf | co | fr")
    for seen, verdict in ((0, "violation"), (1, "consistent")):
        builder = gradual.Builder("", "")
        builder.write("0", "x", 1)
        builder.write("0", "y", 1)
        builder.read("1", "y", 1)
        builder.read("1", "x", seen)
        assert check(builder.build(), model).verdict == verdict


def test_recursion_as_a_closure() -> None:
    """Linear recursion is followed as an automaton, like the closure it is."""
    a, po, addr, rfi = Variable("a"), Name("po"), Name("addr"), Name("rfi")
    body = Union(po, Union(Sequence(Sequence(addr, rfi), a), Sequence(a, rfi)))
    assert automaton(regular(Fixpoint("a", (("a", body),)))) == automaton(
        regular(Sequence(Star(Sequence(addr, rfi)), Sequence(po, Star(rfi)))))
    with pytest.raises(Irregular):
        regular(Fixpoint("a", (("a", Union(po, Sequence(po, Sequence(a, po)))),)))


def test_static_checks_are_checked(texts: Any) -> None:
    """One that the history fails is a violation whatever the store order is."""
    model = texts(COHERENCE + GLOBAL + "empty [W];po;[R] as nothing-read-after-writing")
    assert len(fit(model).others) == 1
    builder = gradual.Builder("", "")
    builder.write("0", "x", 1)
    builder.read("0", "y", 0)
    found = check(builder.build(), model)
    assert (found.verdict, found.decided_by) == ("violation", "general")


# --- matrices, by the definitions


def test_matrices_are_the_relations() -> None:
    rng = Random(41)
    for _ in range(150):
        history = annotated(rng, thin_air=0, max_operations=6)
        order = next(_store_orders(Events(history)), None)
        if order is None:
            continue
        execution, matrices = Execution(history, order), Matrices(history)
        matrices.order_stores(pair for pair in execution.relations["co"] if pair[0] < len(history))
        for _ in range(4):
            expression = random_relation(rng, 3)
            found = {(int(a), int(b)) for a, b in np.argwhere(matrices.of(expression))}
            assert found == execution.pairs(expression), expression


# --- static edges


def random_term(rng: Random, depth: int) -> str:
    """A regular relation as text; never reflexive where it stands alone."""
    some = rng.choice(("R", "W", "M", "F", "AMO", "R|F", "W\\AMO", "Fence.w.w", "Fence.rw.rw|AMO"))
    if depth == 0:
        return rng.choice(("po", "po", "po-loc", "rf", "rfe", "rfi", "fence", f"[{some}];po", f"po-loc;[{some}]"))
    one, other = random_term(rng, depth - 1), random_term(rng, depth - 1)
    return rng.choice((
        f"(({one});({other}))", f"(({one})|({other}))", f"({one})+", f"(({one})?;({other}))", f"(({one});[{some}])",
        f"(({one}) & (M*({some})))", f"(({one}) \\ (({some})*R))", f"(({one});({other})*)"))


def reachable(edges: npt.NDArray[Any], operations: int) -> npt.NDArray[np.bool_]:
    size = int(max(operations, edges[:, :2].max(initial=-1) + 1))
    matrix = np.zeros((size, size), dtype=bool)
    matrix[edges[:, 0], edges[:, 1]] = True
    return closed(matrix)[:operations, :operations]


@pytest.mark.parametrize("seed", range(4))
def test_static_edges_are_the_relation(texts: Any, seed: int) -> None:
    """Virtual nodes contracted, what can be reached is the closure of the static part: no more, no less."""
    rng = Random(seed)
    for _ in range(30):
        model = texts(f"acyclic {random_term(rng, rng.randrange(4))} | rfe | co | fr")
        (expression,) = (found.expression for found in model.checks)
        static = _without_store_order(expression)
        for _ in range(4):
            history = random_history(rng, max_operations=16, min_operations=4, max_threads=2, max_locations=2,
                                     fence=0.15, fences=EVERY_KIND, final=0, thin_air=0)
            edges, bad = engine.static_edges(history, fit(model))
            n = len(history)
            by_text = closed(Matrices(history).of(static))[:n, :n]
            if fit(model).coherence is None:
                assert bad == -1
                assert (reachable(edges, n) == by_text).all(), model.text


def _without_store_order(expression: Expression) -> Expression:
    from functools import reduce

    from gradual.models.regular import alternatives, is_static
    from gradual.models.syntax import Nothing, Union

    return reduce(Union, filter(is_static, alternatives(expression)), Nothing())


def test_inverses_pass_through_initial_values(texts: Any) -> None:
    """Two reads of an initial value have a source in common, though it is no operation."""
    model = texts("acyclic [R];rf^-1;rf;po | rfe | co | fr")
    builder = gradual.Builder("", "")
    builder.read("0", "x", 0)
    builder.read("1", "x", 0)
    builder.write("1", "y", 1)
    history = builder.build()
    edges, _ = engine.static_edges(history, fit(model))
    static = _without_store_order(model.checks[0].expression)
    assert (reachable(edges, 3) == closed(Matrices(history).of(static))[:3, :3]).all()


def test_the_number_of_edges_is_linear(texts: Any) -> None:
    rng = Random(5)
    lines = [random_term(rng, 1 + number % 2) for number in range(25)]
    histories = [gradual.generate("pso", threads=4, operations=n, locations=6, seed=1)
                 for n in (200, 400, 800)]
    for line in [*lines, "po", "[R];po;[M] | [M];po;[W] | fence", "[R];po;[M] | [W];po-loc;[W] | fence"]:
        model = texts(f"acyclic {line} | rfe | co | fr")
        if fit(model).irregular != fit(texts(GLOBAL)).irregular:
            continue
        per_operation = [len(engine.static_edges(history, fit(model))[0]) / len(history) for history in histories]
        assert per_operation[2] <= 1.3 * per_operation[1] + 1 and max(per_operation) < 60, line


# --- the general way


def random_model(rng: Random) -> Model:
    checks = []
    while len(checks) < rng.choice((1, 2, 2)):
        kind = rng.choice(("acyclic", "irreflexive", "empty"))
        checks.append(Check(kind, random_relation(rng, 2), f"check{len(checks)}"))
    return Model("random", "", "random.cat", repr(checks), tuple(checks))


def brute(history: History, model: Model) -> bool:
    """Does some store order satisfy every check?"""
    return any(all(Execution(history, order).satisfies(check) for check in model.checks)
               for order in _store_orders(Events(history)))


def leads_to_initial_writes(history: History, model: Model) -> bool:
    """Is there a pair into an initial write in an acyclic check? A witness puts initial writes first, and cannot say
    then that there is no cycle."""
    return any(b >= len(history) for order in _store_orders(Events(history)) for check in model.checks
               if check.kind == "acyclic" for _, b in Execution(history, order).pairs(check.expression))


def tiny(rng: Random) -> Iterator[History]:
    while True:
        history = annotated(rng, max_operations=6, thin_air=0, final=0.1)
        if impossible_observation(history, None) is None:
            yield history


@pytest.mark.parametrize("seed", range(3))
def test_the_general_way_is_brute_force(seed: int) -> None:
    """Random checks on random tiny histories; `check` certifies the evidence, and forgeries of it are refused."""
    rng = Random(seed)
    histories = tiny(rng)
    said: list[bool] = []
    refused = 0
    for _ in range(250):
        history, model = next(histories), random_model(rng)
        if leads_to_initial_writes(history, model):
            continue
        found = check(history, model)
        assert found.verdict == ("consistent" if brute(history, model) else "violation"), model.text
        said.append(bool(found))
        if isinstance(found.evidence, Refutation) and len(found.evidence.cases) <= 3 and rng.random() < 0.2:
            meaning = Meaning(history, model)  # type: ignore[arg-type]
            for mutant in Mutants(history, rng).refutation(found.evidence):
                accepted = proves(history, model, mutant)  # type: ignore[arg-type]
                assert not accepted or meaning.is_refutation(mutant)
                refused += not accepted
        elif isinstance(found.evidence, Witness) and found.evidence.store_order and len(history):
            wrong = replace(found.evidence, store_order=[order[:-1] for order in found.evidence.store_order])
            if any(len(order) for order in found.evidence.store_order):
                assert not proves(history, model, wrong)  # type: ignore[arg-type]
                refused += 1
    assert min(sum(said), len(said) - sum(said)) > 15 and refused > 50


@pytest.mark.parametrize("name", MODELS)
def test_the_general_way_is_the_engine(name: str) -> None:
    rng, model = Random(43), load(name)
    compared = 0
    while compared < 120:
        history = random_history(rng, max_operations=10, fence=0.12, fences=EVERY_KIND)
        if impossible_observation(history, "coherence") or READ not in history.kind:
            continue
        found = general.decide(history, model, Deadline())
        assert isinstance(found, Witness) == bool(check(history, model, engine="schedule"))
        assert proves(history, model, found)  # type: ignore[arg-type]
        compared += 1
