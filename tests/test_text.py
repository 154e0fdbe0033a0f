"""The certificate's reading of a model's text, against sets of pairs."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from random_histories import random_history
from relations import Execution

from gradual.evidence import text as reading
from gradual.evidence.errors import CertificateError
from gradual.evidence.events import Events, SomeOrder, StoreOrder, closed
from gradual.evidence.observed import Observed
from gradual.evidence.text import Text, grows_with_co
from gradual.history import FENCE, READ, RMW, WRITE, History
from gradual.models.syntax import (
    RELATIONS,
    SETS,
    Complement,
    Difference,
    Domain,
    Expression,
    Fixpoint,
    Identity,
    Intersection,
    Inverse,
    Maybe,
    Name,
    Named,
    Nothing,
    Plus,
    Product,
    Range,
    Sequence,
    Star,
    Union,
    Variable,
)

FENCE_KINDS = (1, 2, 3, 4, 5, 8, 10, 11, 12, 15, 16)


def annotated(rng: Random, **how: int | float) -> History:
    """A random history with fence kinds, marks, dependencies and pairs."""
    history = random_history(rng, **{"rmw": 0.2, "fence": 0.2, **how})  # type: ignore[arg-type]
    n, kind = len(history), history.kind.tolist()
    later = [(a, b) for a in range(n) for b in range(a + 1, n)
             if history.thread[a] == history.thread[b] and FENCE not in (kind[a], kind[b])]

    def some() -> np.ndarray:
        return np.array([pair for pair in later if rng.random() < 0.3], dtype=np.int32).reshape(-1, 2)

    pairs = [pair for pair in some().tolist() if (kind[pair[0]], kind[pair[1]]) == (READ, WRITE)]
    return replace(
        history, fence=np.array([rng.choice(FENCE_KINDS) * (k == FENCE) for k in kind], np.int8),
        marks=np.array([rng.randrange(16) * (k != FENCE) for k in kind], np.int8),
        addr=some(), data=some(), ctrl=some(), pair=np.array(pairs, dtype=np.int32).reshape(-1, 2),
        **times(rng, history))


def times(rng: Random, history: History) -> dict[str, np.ndarray]:
    """Begins that mostly increase in each thread, ends some time later, some of them unknown."""
    begin, end, last = (np.full(len(history), -1) for _ in range(3))
    for e in range(len(history)):
        thread = history.thread[e]
        last[thread] = begin[e] = max(0, last[thread] + rng.randint(-3, 9))
        end[e] = begin[e] + rng.randint(1, 30)
    unknown = np.array([[rng.random() < 0.3 for _ in range(len(history))] for _ in range(2)]).reshape(2, -1)
    return {"begin": np.where(unknown[0], -1, begin), "end": np.where(unknown[1], -1, end)}


def random_store_order(rng: Random, history: History) -> dict[int, tuple[int, ...]]:
    order = [w for w in range(len(history)) if history.kind[w] in (WRITE, RMW)]
    rng.shuffle(order)
    return {at: tuple(w for w in order if history.location[w] == at) for at in range(len(history.locations))}


def random_set(rng: Random, depth: int) -> Expression:
    if depth == 0 or rng.random() < 0.5:
        return Name(rng.choice(sorted(SETS)) if rng.random() < 0.4 else rng.choice("RWMF_"))
    if rng.random() < 0.2:
        return rng.choice((Domain, Range))(random_relation(rng, depth - 1))
    if rng.random() < 0.2:
        return Complement(random_set(rng, depth - 1))
    return rng.choice((Union, Intersection, Difference))(random_set(rng, depth - 1), random_set(rng, depth - 1))


def random_relation(rng: Random, depth: int, variables: tuple[str, ...] = (), positive: bool = True) -> Expression:
    """`positive`: a variable may occur here."""
    def part(positive: bool = positive) -> Expression:
        return random_relation(rng, depth - 1, variables, positive)

    if depth == 0:
        if variables and positive and rng.random() < 0.4:
            return Variable(rng.choice(variables))
        return Name(rng.choice(sorted(RELATIONS))) if rng.random() < 0.95 else Nothing()
    shape = rng.randrange(14)
    if shape < 3:
        return Union(part(), part())
    if shape < 6:
        return Sequence(part(), part())
    if shape == 6:
        test = rng.choice([part(), Name(rng.choice(["loc", "int", "ext", "id"])),
                           Product(random_set(rng, 1), random_set(rng, 1))])
        return Intersection(*rng.sample([part(), test], 2))
    if shape == 7:
        return Difference(part(), rng.choice([part(False), Name(rng.choice(["loc", "int", "ext", "id"])),
                                              Product(random_set(rng, 1), random_set(rng, 1))]))
    if shape == 8:
        return Identity(random_set(rng, depth - 1))
    if shape == 9:
        return Product(random_set(rng, depth - 1), random_set(rng, depth - 1))
    if shape == 10:
        return Named("rule", part())
    if shape == 11:
        return Inverse(part()) if rng.random() < 0.7 else Complement(part(False))
    if shape == 12 and not variables:
        names = ("r", "s")[:rng.randint(1, 2)]
        return Fixpoint("r", tuple((name, random_relation(rng, depth - 1, names)) for name in names))
    return rng.choice((Plus, Star, Maybe))(part())


def test_random_expressions() -> None:
    """Pushed numbers, single pairs and the three kinds of checks are those of the sets of pairs."""
    rng = Random(13)
    nonempty = 0
    for _ in range(1000):
        history = annotated(rng, thin_air=0)
        order = random_store_order(rng, history)
        execution, events = Execution(history, order), Events(Observed(history))
        text = Text(events, StoreOrder(events, [w for writes in order.values() for w in writes]))
        expression = random_relation(rng, rng.randint(0, 4))
        pairs = execution.pairs(expression)
        nonempty += bool(pairs)
        values = np.array([[rng.randint(-1, 9) for _ in execution.events] for _ in range(2)])
        for forward in (True, False):
            expected = np.full_like(values, -1)
            for a, b in pairs:
                start, end = (a, b) if forward else (b, a)
                expected[:, end] = np.maximum(expected[:, end], values[:, start])
            assert np.array_equal(text.push(expression, values, forward), expected), expression
            assert np.array_equal(text.push(expression, values[0], forward), expected[0]), expression
        for a in execution.events:
            for b in rng.sample(execution.events, min(4, len(execution.events))):
                assert text.has(expression, a, b) == ((a, b) in pairs), (expression, a, b)
        assert text.is_empty(expression) == (not pairs)
        assert text.is_irreflexive(expression) == all(a != b for a, b in pairs)
        assert text.is_acyclic(expression) == all(a != b for a, b in execution.pairs(Plus(expression)))
        place = np.array(rng.sample(execution.events, len(execution.events)))
        assert text.goes_forward(expression, place) == all(place[a] < place[b] for a, b in pairs)
    assert nonempty > 500


def test_every_name() -> None:
    rng = Random(14)
    seen = set()
    for _ in range(300):
        history = annotated(rng)
        order = random_store_order(rng, history)
        execution, events = Execution(history, order), Events(Observed(history))
        text = Text(events, StoreOrder(events, [w for writes in order.values() for w in writes]))
        for name in SETS:
            assert set(np.flatnonzero(text.members(Name(name))).tolist()) == execution.sets[name], name
            seen |= {name} if execution.sets[name] else set()
        for name in RELATIONS:
            found = {(a, b) for a in execution.events for b in execution.events if text.has(Name(name), a, b)}
            assert found == execution.relations[name], name
            seen |= {name} if found else set()
    assert seen == SETS | RELATIONS


def test_a_part_of_the_store_order() -> None:
    """What grows with co and holds for a part of a store order holds for the whole."""
    rng = Random(15)
    compared = 0
    while compared < 500:
        history = annotated(rng, thin_air=0, final=0)
        order = random_store_order(rng, history)
        execution = Execution(history, order)
        known = [(a, b) for a, b in execution.relations["co"] if a < len(history) and rng.random() < 0.5]
        expression = random_relation(rng, rng.randint(0, 3))
        if not grows_with_co(expression):
            continue
        compared += 1
        observed = Observed(history)
        events = Events(observed)
        part = Text(events, SomeOrder(events, known))
        between = [(a, b) for a, b in execution.relations["co"] if a < len(history)]
        everything = Text(events, SomeOrder(events, closed(observed, between)))
        pairs = execution.pairs(expression)
        for a in execution.events:
            one = np.where(np.arange(len(execution.events)) == a, 0, -1)
            for b, reached in enumerate(part.push(expression, one) >= 0):
                assert part.has(expression, a, b) == reached
                assert not reached or (a, b) in pairs
                assert everything.has(expression, a, b) == ((a, b) in pairs)


def test_what_grows_with_co() -> None:
    co, po = Name("co"), Name("po")
    assert grows_with_co(Union(po, Sequence(co, po))) and grows_with_co(Difference(co, po))
    assert grows_with_co(Complement(Difference(po, Name("fre"))))
    assert not grows_with_co(Difference(po, Named("x", Sequence(co, po))))
    assert not grows_with_co(Complement(Star(Name("fri"))))
    assert not grows_with_co(Identity(Difference(Name("W"), Domain(co))))


def test_a_limit_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    history = random_history(Random(1), min_operations=7)
    events = Events(Observed(history))
    text = Text(events, SomeOrder(events, ()))
    ones = np.zeros(events.count, dtype=np.int64)
    expression = Difference(Name("po"), Sequence(Name("po"), Name("po")))
    text.push(expression, ones)
    monkeypatch.setattr(reading, "LIMIT", 3)
    with pytest.raises(CertificateError, match="one by one"):
        text.push(expression, ones)


def test_a_million_operations() -> None:
    from gradual.machines import generate

    history = generate("sc", 8, 200_000, 64, 1)
    events = Events(Observed(history))
    text = Text(events, StoreOrder(events, np.flatnonzero(events.observed.storing)))
    everything = Union(Union(Name("po"), Name("rf")), Union(Name("co"), Name("fr")))
    place = np.concatenate([np.arange(events.operations) + 64, np.arange(64)])
    assert text.goes_forward(everything, place)
    place[[70_000, 70_001]] = place[[70_001, 70_000]]
    place[[64, 150_000]] = place[[150_000, 64]]
    assert not text.goes_forward(everything, place)
