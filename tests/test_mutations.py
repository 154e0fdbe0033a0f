"""Every part of every kind of evidence changed: what is accepted then must be a proof by the definitions, too.

By the definitions: under every store order that the pairs proved so far leave, each edge is in its axiom.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from brute import Events, _store_orders
from explore import accepts
from random_histories import random_history
from relations import Execution, source_of
from searching import searched
from test_certificate import neighbouring_fences, proves
from test_text import annotated, random_store_order
from texts import ATOMICITY, ODD, SHIPPED, WEAK
from texts import Text as Model
from theory import parse

from gradual.deciding.pipeline import check
from gradual.evidence import certificate
from gradual.evidence.verdict import Broken, Cycle, Edge, Overwritten, Pair, Path, Refutation, Step, ThinAir, Witness
from gradual.history import History

KINDS = {"po": "int", "wr": "rf", "ww": "co", "rw": "fr"}


class Meaning:
    """What evidence of a violation says, under every store order of a history."""

    def __init__(self, history: History, model: Model) -> None:
        self.executions = [Execution(history, order) for order in _store_orders(Events(history))]
        self.axioms = {c.name: [e.pairs(c.expression) for e in self.executions] for c in model.checks}
        self.holds = {c.name: [e.satisfies(c) for e in self.executions] for c in model.checks}

    def _with(self, pairs: Iterable[Pair], among: Iterable[int] | None = None) -> list[int]:
        """The store orders (by number) that have all these pairs."""
        return [at for at in (range(len(self.executions)) if among is None else among)
                if set(pairs) <= self.executions[at].relations["co"]]

    def _is_path(self, path: Path, scope: str, orders: list[int]) -> bool:
        return (scope in self.axioms and len(path) > 0 and all(a.end == b.start for a, b in pairwise(path))
                and all((edge.start, edge.end) in self.axioms[scope][at]
                        and (edge.start, edge.end) in self.executions[at].relations[KINDS[edge.kind]]
                        for edge in path for at in orders))

    def is_cycle(self, cycle: Cycle) -> bool:
        orders = self._with(cycle.assumed)
        for step in cycle.steps:
            if step.scope == "atomicity":
                if not self._is_atomic(step, orders):
                    return False
                orders = self._with([(step.before, step.after)], orders)
                continue
            if not self._is_path(step.path, step.scope, orders) or step.path[0].start != step.before:
                return False
            closing = step.path[-1].end, step.before
            wrong = self._with([(step.after, step.before)], orders)
            if not all(closing in self.axioms[step.scope][at] for at in wrong):
                return False
            orders = self._with([(step.before, step.after)], orders)
        return self._is_path(cycle.edges, cycle.scope, orders) and cycle.edges[0].start == cycle.edges[-1].end

    def _is_atomic(self, step: Step, orders: list[int]) -> bool:
        """One edge that holds, and with it and the pair the other way round the axiom fails."""
        edges = [(edge.start, edge.end) for edge in step.path]
        held = all(edges[0] in self.executions[at].relations[KINDS[step.path[0].kind]] for at in orders)
        return len(edges) == 1 and held and not any(
            self.holds["atomicity"][at] for at in self._with([(step.after, step.before)], orders))

    def is_refutation(self, refutation: Refutation) -> bool:
        left = list(range(len(self.executions)))
        for case in refutation.cases:
            fails = self._with(case.assumed)
            if isinstance(case, Cycle):
                if not self.is_cycle(case):
                    return False
            elif case.axiom not in self.holds or any(self.holds[case.axiom][at] for at in fails):
                return False
            left = [at for at in left if at not in fails]
        for lemma in refutation.lemmas:
            if not all(set(lemma) & self.executions[at].relations["co"] for at in left):
                return False
        return bool(refutation.lemmas) and not refutation.lemmas[-1] and not left


# --- mutants


def without(items: tuple, at: int) -> tuple:
    return (*items[:at], *items[at + 1:])


def swapped(items: tuple) -> Iterator[tuple]:
    for a in range(len(items)):
        for b in range(a):
            changed = list(items)
            changed[a], changed[b] = changed[b], changed[a]
            yield tuple(changed)


def put(items: tuple, mutants: object) -> Iterator[tuple]:
    """Each item in turn replaced by each of its mutants."""
    for at, item in enumerate(items):
        yield from ((*items[:at], mutant, *items[at + 1:]) for mutant in mutants(item))  # type: ignore[operator]


class Mutants:
    def __init__(self, history: History, rng: Random) -> None:
        self._rng = rng
        self._numbers = [*range(-2, len(history) + 2)]

    def _other(self) -> int:
        return self._rng.choice(self._numbers)

    def _pair(self, pair: Pair) -> Iterator[Pair]:
        yield from ((pair[1], pair[0]), (pair[0], pair[0]), (pair[0], self._other()), (self._other(), pair[1]))

    def _edge(self, edge: Edge) -> Iterator[Edge]:
        yield from (replace(edge, kind=kind) for kind in KINDS if kind != edge.kind)  # type: ignore[arg-type]
        yield from (replace(edge, start=self._other()), replace(edge, end=self._other()),
                    Edge(edge.kind, edge.end, edge.start))

    def _path(self, path: Path) -> Iterator[Path]:
        yield from put(path, self._edge)
        yield from swapped(path)
        yield from (without(path, at) for at in range(len(path)))

    def _scope(self, scope: str) -> Iterator[str]:
        yield from ({"global": "coherence"}.get(scope, "global"), "nonsense")

    def _step(self, step: Step) -> Iterator[Step]:
        yield from (replace(step, path=path) for path in self._path(step.path))
        yield from (replace(step, scope=scope) for scope in self._scope(step.scope))
        yield from (replace(step, before=a, after=b) for a, b in self._pair((step.before, step.after)))

    def cycle(self, cycle: Cycle) -> Iterator[Cycle]:
        yield from (replace(cycle, edges=path) for path in self._path(cycle.edges))
        yield from (replace(cycle, scope=scope) for scope in self._scope(cycle.scope))
        yield from (replace(cycle, steps=steps) for steps in put(cycle.steps, self._step))
        yield from (replace(cycle, steps=steps) for steps in swapped(cycle.steps))
        yield from (replace(cycle, steps=without(cycle.steps, at)) for at in range(len(cycle.steps)))
        yield from (replace(cycle, assumed=pairs) for pairs in self._pairs(cycle.assumed))

    def _pairs(self, pairs: tuple[Pair, ...]) -> Iterator[tuple[Pair, ...]]:
        yield from put(pairs, self._pair)
        yield from (without(pairs, at) for at in range(len(pairs)))
        yield (*pairs, (self._other(), self._other()))

    def _case(self, case: Cycle | Broken) -> Iterator[Cycle | Broken]:
        if isinstance(case, Cycle):
            yield from self.cycle(case)
        else:
            yield from (replace(case, axiom=axiom) for axiom in (*(c.name for c in ODD.checks), "global", "nonsense"))
            yield from (replace(case, assumed=pairs) for pairs in self._pairs(case.assumed))

    def refutation(self, refutation: Refutation) -> Iterator[Refutation]:
        lemmas, cases = refutation.lemmas, refutation.cases
        yield from (replace(refutation, cases=changed) for changed in put(cases, self._case))
        yield from (replace(refutation, cases=without(cases, at)) for at in range(len(cases)))
        yield from (replace(refutation, lemmas=changed) for changed in put(lemmas, self._pairs))
        yield from (replace(refutation, lemmas=changed) for changed in swapped(lemmas))
        yield from (replace(refutation, lemmas=without(lemmas, at)) for at in range(len(lemmas)))

    def order(self, order: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        yield from swapped(order)
        yield from put(order, lambda _: [self._other()])
        yield from (without(order, at) for at in range(len(order)))
        yield (*order, self._other())


# --- violations


def cycles(model: str, count: int) -> Iterator[tuple[History, Cycle]]:
    rng = Random(31)
    while count:
        history = random_history(rng, thin_air=0, final=0.2)
        cycle = check(history, model).evidence
        if isinstance(cycle, Cycle) and (cycle.steps or rng.random() < 0.05):
            count -= 1
            yield history, cycle


@pytest.mark.parametrize("model", SHIPPED)
def test_cycles(model: str) -> None:
    rng = Random(32)
    refused = 0
    for history, cycle in cycles(model, 40):
        meaning = Meaning(history, SHIPPED[model])
        assert proves(history, model, cycle) and proves(history, SHIPPED[model], cycle) and meaning.is_cycle(cycle)
        for mutant in Mutants(history, rng).cycle(cycle):
            opinions = [proves(history, opinion, mutant) for opinion in (model, SHIPPED[model])]
            assert not any(opinions) or (meaning.is_cycle(mutant) and not mutant.assumed), mutant
            refused += not any(opinions)
    assert refused > 1000


def test_refutations_by_search() -> None:
    rng = Random(33)
    history = searched()
    meaning = Meaning(history, SHIPPED["SC"])
    for completion in ("auto", "enumerate", "sat"):
        refutation = check(history, "sc", completion=completion).evidence
        assert isinstance(refutation, Refutation) and meaning.is_refutation(refutation)
        refused = 0
        for mutant in Mutants(history, rng).refutation(refutation):
            opinions = [proves(history, opinion, mutant) for opinion in ("SC", SHIPPED["SC"])]
            assert not any(opinions) or meaning.is_refutation(mutant), mutant
            refused += not any(opinions)
        assert refused > 100


def test_lemmas_are_about_pairs_of_writes() -> None:
    """A lemma that says an operation precedes itself, or orders two locations, would prove anything."""
    history = parse("W x1, W y1 ∥ W x2, W y2")
    for lemmas in ([(0, 0)], [(0, 1)], [(0, 1), (1, 0)], [(0, 7)], [(-1, 0)]):
        assert not proves(history, "SC", Refutation((), (tuple(lemmas), ())))


def test_lemmas_by_transitivity() -> None:
    """Three writes, read by three threads in three orders that go round."""
    history = parse("W x1 ∥ W x2 ∥ W x3 ∥ R x1, R x2 ∥ R x2, R x3 ∥ R x3, R x1")
    cases = tuple(
        Cycle((Edge("wr", later, a), Edge("po", a, b), Edge("rw", b, later)), "global", (), ((earlier, later),))
        for a, b, earlier, later in ((3, 4, 1, 0), (5, 6, 2, 1), (7, 8, 0, 2)))
    refutation = Refutation(cases, ((),))
    assert Meaning(history, SHIPPED["SC"]).is_refutation(refutation)
    certificate.check(history, "SC", refutation)
    assert not proves(history, "SC", Refutation(cases[:2], ((),)))


def broken(history: History, model: Model) -> Refutation | None:
    """All store orders, each of which fails an axiom; None if one does not."""
    cases = []
    for execution in Meaning(history, model).executions:
        failing = [c.name for c in model.checks if not execution.satisfies(c)]
        if not failing:
            return None
        ordered = sorted((a, b) for a, b in execution.relations["co"] if a < len(history))
        cases.append(Broken(failing[0], tuple(ordered)))
    return Refutation(tuple(cases), ((),))


@pytest.mark.parametrize("model", [WEAK, ODD])
def test_axioms_that_fail(model: Model) -> None:
    rng = Random(34)
    found = refused = 0
    while found < 24:
        history = annotated(rng, thin_air=0, max_operations=6, fence=0.05)
        refutation = broken(history, model)
        meaning = Meaning(history, model)
        if refutation is None or not 1 <= len(meaning.executions) <= 6:
            continue
        found += 1
        if len(meaning.executions) == 1 or all(len(case.assumed) <= 1 for case in refutation.cases):
            assert proves(history, model, refutation), refutation  # small enough for propagation without search
        for mutant in Mutants(history, rng).refutation(refutation):
            accepted = proves(history, model, mutant)
            assert not accepted or meaning.is_refutation(mutant), mutant
            refused += not accepted
    assert refused > 120


def test_atomicity() -> None:
    """A foreign write between the source of a load-reserved and its store-conditional: one pair tells, and no less."""
    history = replace(parse("R x0, W x1 ∥ W x2, R x1 ∥ W x3"), pair=np.array([[0, 1]]))
    model = Model("lr/sc", (ATOMICITY, SHIPPED["SC"].checks[1]))
    case = Broken("atomicity", ((2, 1),))
    cycle = Cycle((Edge("po", 2, 3), Edge("rw", 3, 2)), "global", (), ((1, 2),))
    refutation = Refutation((case, cycle), ((),))
    assert Meaning(history, model).is_refutation(refutation)
    certificate.check(history, model, refutation)
    assert not proves(history, model, Refutation((replace(case, assumed=()), cycle), ((),)))
    assert not proves(history, model, Refutation((replace(case, assumed=((2, 4),)), cycle), ((),)))
    assert not proves(history, "SC", refutation)


# --- witnesses


@pytest.mark.parametrize("model", SHIPPED)
def test_witnesses(model: str) -> None:
    rng = Random(35)
    tried = found = 0
    while found < 60:
        history = random_history(rng, final=0.2)
        witness = check(history, model).evidence
        if not isinstance(witness, Witness) or neighbouring_fences(history):
            continue
        found += 1
        for order in Mutants(history, rng).order(tuple(witness.order)):
            wanted = accepts(history, model, order)
            for opinion in (model, SHIPPED[model]):
                assert proves(history, opinion, Witness(order)) == wanted, order
            tried += not wanted
        assert not proves(history, SHIPPED[model], replace(witness, orders=(witness.order,)))
    assert tried > 500


def topological(execution: Execution, pairs: set[Pair]) -> tuple[int, ...] | None:
    left, order = list(range(execution.n)), []
    while left:
        free = [e for e in left if not any((a, e) in pairs for a in left)]
        if not free:
            return None
        order.append(free[0])
        left.remove(free[0])
    return tuple(order)


@pytest.mark.parametrize("model", [WEAK, ODD, SHIPPED["TSO"]])
def test_witnesses_with_a_store_order(model: Model) -> None:
    rng = Random(36)
    found = refused = 0
    while found < 40:
        history = annotated(rng, final=0.3)
        stores = random_store_order(rng, history)
        execution = Execution(history, stores)
        acyclic = [check.expression for check in model.checks if check.kind == "acyclic"]
        orders = [topological(execution, execution.pairs(expression)) for expression in acyclic]
        witness = Witness((), tuple(stores.values()), tuple(order or tuple(range(len(history))) for order in orders))
        if not proved(history, model, witness):
            assert not proves(history, model, witness)
            continue
        found += 1
        assert proves(history, model, witness)
        mutants = Mutants(history, rng)
        changed = [replace(witness, orders=orders) for orders in (
            *put(tuple(witness.orders), mutants.order), *swapped(tuple(witness.orders)), witness.orders[1:])]
        changed += [replace(witness, store_order=order) for order in (
            *put(tuple(stores.values()), mutants.order), *swapped(tuple(stores.values())), witness.store_order[1:])]
        changed.append(replace(witness, order=tuple(range(len(history)))) if len(history) else witness)
        for mutant in changed:
            wanted = proved(history, model, mutant)
            assert proves(history, model, mutant) == wanted, mutant
            refused += not wanted
    assert refused > 330


def proved(history: History, model: Model, witness: Witness) -> bool:
    """By the definitions: the store order is one, every check holds, every order is one of its axiom."""
    stores = dict(enumerate(witness.store_order or ()))
    writes = {at: {w for w in range(len(history)) if history.kind[w] in (1, 2) and history.location[w] == at}
              for at in range(len(history.locations))}
    if {at: sorted(order) for at, order in stores.items()} != {at: sorted(of) for at, of in writes.items()}:
        return False
    execution = Execution(history, stores)
    acyclic = [check for check in model.checks if check.kind == "acyclic"]
    return (not witness.order and len(execution.relations["rf"]) == len(execution.sets["R"])
            and all(execution.satisfies(check) for check in model.checks) and len(acyclic) == len(witness.orders)
            and all(_goes_forward(execution, check.expression, tuple(order))
                    for check, order in zip(acyclic, witness.orders, strict=True))
            and all(_left(history, stores, at) == history.final_value[at] for at in stores
                    if history.final_line[at] >= 0))


def _left(history: History, stores: dict, at: int) -> int:
    return int(history.written[stores[at][-1]] if stores[at] else history.initial[at])


def _goes_forward(execution: Execution, expression: object, order: tuple[int, ...]) -> bool:
    if sorted(order) != list(range(execution.n)):
        return False
    place = {**dict.fromkeys(execution.events, -1), **{e: at for at, e in enumerate(order)}}
    return all(place[a] < place[b] for a, b in execution.pairs(expression))  # type: ignore[arg-type]


# --- observations


def test_observations() -> None:
    rng = Random(37)
    thin = over = 0
    for _ in range(600):
        history = random_history(rng, thin_air=0.3, final=0.4, max_operations=5)
        events = Events(history)
        for at in range(-2, len(history.locations) + 2):
            known = 0 <= at < len(history.locations)
            for operation in (None, *range(-2, len(history) + 2)):
                if operation is None:
                    wanted = known and history.final_line[at] >= 0 and at not in events.last
                else:
                    wanted = (0 <= operation < len(history) and events.reads(operation)
                              and history.location[operation] == at and source_of(history, operation) is None)
                assert proves(history, "SC", ThinAir(operation, at)) == wanted
                thin += wanted
                if operation is not None:
                    wanted = (known and events.last.get(at) == -1 - at and operation >= 0
                              and operation in events.writes_of(at))
                    assert proves(history, "SC", Overwritten(at, operation)) == wanted
                    over += wanted
    assert thin > 50 and over > 10


def test_nothing_is_taken_from_the_input_code() -> None:
    """Histories whose `source` and `final` are wrong: verdicts rest on the values."""
    history = parse("W x1, R y0 ∥ W y1, R x0 ; x1")
    wrong = replace(history, source=history.source[::-1].copy(), final=history.final - 1)
    cycle = check(history, "sc").evidence
    for opinion in ("SC", SHIPPED["SC"]):
        certificate.check(wrong, opinion, cycle)  # type: ignore[arg-type]
    forged = replace(parse("W x1, R y1 ∥ W y1, R x1"), source=history.source)
    for opinion in ("SC", SHIPPED["SC"]):
        assert not proves(forged, opinion, cycle)
    twice = replace(history, written=history.read.copy())
    assert not proves(twice, "SC", cycle)
