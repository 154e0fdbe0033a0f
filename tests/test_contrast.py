"""Contrasts: the program space, axioms against machines, the tests that tell models apart: as the definitions say."""

from __future__ import annotations

import sys
from itertools import permutations, product
from pathlib import Path
from random import Random

import pytest
from plain_machine import outcomes as plain_outcomes

sys.path.insert(0, str(Path(__file__).parents[1]))

from experiments.contrast import COUNTS, DIFFERING, FIRST, MODELS, SUMS, VECTORS
from experiments.views import Stage, Views
from gradual.contrast.counting import Count, NotThisCount
from gradual.contrast.litmus import name, program
from gradual.contrast.query import Query
from gradual.contrast.search import Contrast
from gradual.contrast.sides import Side, side
from gradual.contrast.space import Space, connected, idle, least, place
from gradual.contrast.subject import Subject
from gradual.contrast.table import Table
from gradual.contrast.telling import Told
from gradual.machines.code import FENCE, FULL_FENCE, LOAD, STORE, Code, Outcome, Threads, notation, parsed
from gradual.machines.components import Machine, MachineError, machine_of
from gradual.machines.exploring import Exploration, outcomes
from gradual.models import load
from gradual.models.clingo import NotPositive, refuted
from gradual.programs import litmus, parse
from gradual.programs.executions import Executions
from gradual.programs.operational import machine_named
from gradual.progress import Progress

SPACE = Space()
SIDES = {model: side(model) for model in MODELS}


def allowed(by: Side, threads: Threads) -> frozenset[Outcome]:
    subject = Subject(threads)
    return frozenset(map(subject.code.unpacked, by.packed(subject)))


def by_clingo(model: str, threads: Threads) -> frozenset[Outcome]:
    return frozenset(Executions(program(threads), model).outcomes())


@pytest.mark.parametrize("vector", VECTORS.splitlines(), ids=lambda line: line.split(",")[0])
def test_vectors(vector: str) -> None:
    _, text, outcome, expected, sizes = vector.split(",")
    threads, wanted = parsed(text), tuple(map(int, outcome.split()))
    counts = list(map(int, sizes.split())) * (8 if " " not in sizes else 1)
    for model, answer, count in zip(MODELS, expected, counts, strict=True):
        ways = {"axioms": allowed(SIDES[model], threads), "machine": allowed(side(f"operational:{model}"), threads),
                "clingo": by_clingo(model, threads)}
        for way, found in ways.items():
            assert (wanted in found, len(found)) == (answer == "Y", count), (model, way)


# --- the program space -------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_counts(n: int) -> None:
    naive, algorithm_1, exact, algorithm_1_connected, exact_connected, busy = COUNTS[n]
    count = Count(SPACE, n)
    count.run()
    assert (SPACE.naive(n), SPACE.count(n)) == (naive, exact)
    assert (count.algorithm_1, count.programs, count.algorithm_1_connected, count.connected, count.idle_free) == (
        algorithm_1, exact, algorithm_1_connected, exact_connected, busy)
    assert sum(1 for _ in SPACE.programs(n)) == busy


def test_counts_without_looking() -> None:
    assert (SPACE.naive(6), SPACE.count(6)) == (COUNTS[6][0], COUNTS[6][2]) == (2006208, 155437)


def every_program(n: int, locations: int, fences: bool) -> set[Threads]:
    """Without any symmetry."""
    accesses = [(kind, address) for kind in (STORE, LOAD) for address in range(locations)]

    def threads(length: int) -> list[tuple[tuple[int, int], ...]]:
        gaps = list(product(((), (FENCE,)) if fences else ((),), repeat=length - 1))
        return [tuple(step for access, gap in zip(steps, (*between, ()), strict=True) for step in (access, *gap))
                for steps in product(accesses, repeat=length) for between in gaps]

    lengths = [split for k in range(1, n + 1) for split in product((1, 2, 3), repeat=k) if sum(split) == n]
    return {found for split in lengths for found in product(*map(threads, split))}


def brute_least(threads: Threads) -> Threads:
    """The definition: the least over all orders of the threads, each renumbered by first appearance."""
    found = []
    for order in permutations(threads):
        numbers: dict[int, int] = {}
        renumbered = tuple(tuple(step if step == FENCE else (step[0], numbers.setdefault(step[1], len(numbers)))
                                 for step in thread) for thread in order)
        lengths = [sum(kind != FULL_FENCE for kind, _ in thread) for thread in renumbered]
        if lengths == sorted(lengths, reverse=True):
            found.append(renumbered)
    return min(found)


@pytest.mark.parametrize("n, locations, fences", [(2, 3, True), (3, 2, True), (3, 3, False), (4, 2, False)])
def test_one_program_per_class(n: int, locations: int, fences: bool) -> None:
    space = Space(locations, None, fences)
    classes = {brute_least(threads) for threads in every_program(n, locations, fences)}
    found = list(space.programs(n, reduced=False))
    assert len(found) == len(set(found)) == space.count(n) and set(found) == classes
    assert set(space.programs(n)) == {threads for threads in classes if connected(threads) and not idle(threads)}
    assert found == sorted(found, key=place)


def test_least_is_the_one_that_is_kept() -> None:
    rng = Random(5)
    for threads in rng.sample(list(SPACE.programs(5)), 60):
        renaming = rng.sample(range(3), 3)
        mixed = [tuple(step if step == FENCE else (step[0], renaming[step[1]]) for step in thread)
                 for thread in threads]
        rng.shuffle(mixed)
        assert least(tuple(mixed)) == threads == brute_least(threads)


@pytest.mark.parametrize("space", [Space(2), Space(3, 2), Space(3, None, False)])
def test_smaller_spaces(space: Space) -> None:
    for n in (2, 3, 4):
        found = list(space.programs(n, reduced=False))
        assert len(found) == space.count(n)
        assert all(len(threads) <= (space.threads or n) for threads in found)


def test_connected() -> None:
    assert connected(parsed("WX1 RY|WY2 RX")) and not connected(parsed("WX1 RY|RY WX2"))
    assert not connected(parsed("WX1 WY2|RX")) and connected(parsed("WX1 RX"))
    assert idle(parsed("WX1 RY|WX2")) and idle(parsed("RX RX")) and not idle(parsed("WX1 RX"))


def test_reductions_are_right() -> None:
    """What a program that is left out tells follows from smaller ones: its components' outcomes, multiplied."""
    rng = Random(7)
    out = [threads for n in (3, 4) for threads in SPACE.programs(n, reduced=False)
           if not connected(threads) or idle(threads)]
    for threads in rng.sample(out, 60):
        ways = {model: len(allowed(SIDES[model], threads)) for model in MODELS}
        parts = [part for part in _components(threads) if part]
        for model in MODELS:
            product_of_parts = 1
            for part in parts:
                product_of_parts *= len(allowed(SIDES[model], part))
            assert ways[model] == product_of_parts, notation(threads)


def _components(threads: Threads) -> list[Threads]:
    """By strongly connected components of the conflict graph; fences kept, then trimmed."""
    accesses = [(t, p) for t, thread in enumerate(threads) for p, step in enumerate(thread) if step != FENCE]

    def before(a: tuple[int, int], b: tuple[int, int]) -> bool:
        (ta, pa), (tb, pb) = a, b
        (ka, xa), (kb, xb) = threads[ta][pa], threads[tb][pb]
        return (ta == tb and pa < pb) or (xa == xb and STORE in (ka, kb))

    reach = {a: {b for b in accesses if a == b or before(a, b)} for a in accesses}
    for _ in accesses:
        reach = {a: set().union(*(reach[b] for b in ends)) for a, ends in reach.items()}
    classes = {frozenset(b for b in accesses if b in reach[a] and a in reach[b]) for a in accesses}
    found = []
    for members in classes:
        kept = []
        for t, thread in enumerate(threads):
            steps = [step for p, step in enumerate(thread) if step == FENCE or (t, p) in members]
            while steps and steps[0] == FENCE:
                steps = steps[1:]
            while steps and steps[-1] == FENCE:
                steps = steps[:-1]
            if steps:
                kept.append(tuple(steps))
        found.append(tuple(kept))
    return found


def test_counting_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Count(SPACE, 4)
    whole.run()
    first = Count.resumed(SPACE, 4, tmp_path / "count.json")
    add, left = Count._add, iter(range(30))

    def interrupted(self: Count, *part: object) -> None:
        if next(left, None) is None:
            raise KeyboardInterrupt
        add(self, *part)  # type: ignore[arg-type]

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Count, "_add", interrupted)
        first.run()
    again = Count.resumed(SPACE, 4, tmp_path / "count.json")
    assert again.done == 30 and 0 < again.programs < whole.programs
    again.run()
    assert (again.programs, again.connected, again.idle_free) == (whole.programs, whole.connected, whole.idle_free)
    with pytest.raises(NotThisCount, match="does not hold this count"):
        Count.resumed(SPACE, 5, tmp_path / "count.json")
    (tmp_path / "count.json").write_text("[]")
    with pytest.raises(NotThisCount):
        Count.resumed(SPACE, 4, tmp_path / "count.json")


# --- outcomes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("n, sums", [
    (2, [9] * 8), (3, [90, 90, 90, 90, 91, 91, 90, 90]), (4, SUMS[4, "exact"])])
def test_sums_and_machines(n: int, sums: list[int]) -> None:
    programs = [threads for threads in SPACE.programs(n, reduced=False) if connected(threads)]
    for model, total in zip(MODELS, sums, strict=True):
        machine = machine_named(load(model))
        found = [allowed(SIDES[model], threads) for threads in programs]
        assert sum(map(len, found)) == total
        assert found == [outcomes(machine, Code(threads)) for threads in programs]


def test_sums_of_five() -> None:
    programs = [threads for threads in SPACE.programs(5, reduced=False) if connected(threads)]
    for model in ("sc", "rmo", "npso"):
        total = sum(len(SIDES[model].packed(subject)) for subject in map(Subject, programs))
        assert total == SUMS[5, "exact"][MODELS.index(model)]


def test_how_many_programs_differ() -> None:
    subjects = [Subject(threads) for threads in SPACE.programs(4, reduced=False) if connected(threads)]
    for pair, (expected, _) in DIFFERING.items():
        a, b = (SIDES[name].packed for name in pair.split("-"))
        assert sum(a(subject) != b(subject) for subject in subjects) == expected, pair


@pytest.mark.parametrize("model", MODELS)
def test_machines_as_they_are_defined(model: str) -> None:
    """Nothing is lost by taking steps early, by lazy dispatch, or by foretelling only what is still to come."""
    machine, rng = machine_named(load(model)), Random(3)
    programs = [*SPACE.programs(3), *rng.sample(list(SPACE.programs(4)), 30), *rng.sample(list(SPACE.programs(5)), 6)]
    for threads in programs:
        exploration = Exploration(machine, Code(threads))
        assert exploration.outcomes() == plain_outcomes(machine, threads), notation(threads)
        for outcome in exploration.outcomes():
            assert exploration.run(outcome) is not None
        assert exploration.run((9,) * exploration.code.loads) is None or not exploration.code.loads


@pytest.mark.parametrize("model", MODELS)
def test_axioms_by_clingo(model: str) -> None:
    rng = Random(11)
    for threads in rng.sample(list(SPACE.programs(5)), 25) + rng.sample(list(SPACE.programs(4)), 25):
        assert allowed(SIDES[model], threads) == by_clingo(model, threads), notation(threads)


def test_fences_at_the_ends_change_nothing() -> None:
    for threads in Random(2).sample(list(SPACE.programs(4)), 20):
        more = tuple((FENCE, *(step for old in thread for step in (old, old)[:1 + (old == FENCE)]), FENCE)
                     for thread in threads)
        for model in MODELS:
            assert allowed(SIDES[model], threads) == allowed(SIDES[model], more)
            assert outcomes(machine_named(load(model)), Code(more)) == allowed(SIDES[model], threads)


OWN = {
    "composed": "acyclic po-loc | rf | co | fr acyclic (po \\ (W*R)) | rfe | co | fr | (po;[F];po)",
    "closure": "let rec hb = po | rfe | hb;hb irreflexive hb;(co | fr)",
    "both": "empty rf;fr & ext;po irreflexive (po | rf)+ acyclic co | po-loc",
    "negative": "acyclic ~(rf | id) & po & (W*R) | co | fr empty (rfi & po-loc^-1) \\ rf",
    "domains": "empty [domain(rfe)];po;[range(fr)];po-loc acyclic po?;rfe;co* \\ id",
    "nothing": "empty po",
    "initial": "empty [IW];rf;po-loc acyclic co | po",
    "views": "views po",
    "views and more": "views [R];po | [W];po-loc;[R] | fence acyclic po-loc | rf | co | fr",
}


@pytest.mark.parametrize("text", OWN.values(), ids=OWN)
def test_any_model_file(text: str, tmp_path: Path) -> None:
    """Masks and clingo read the same text."""
    (tmp_path / "own.cat").write_text(f"Own {text}")
    own = side(str(tmp_path / "own.cat"))
    for threads in [*SPACE.programs(3), *Random(1).sample(list(SPACE.programs(4, reduced=False)), 40)]:
        assert allowed(own, threads) == by_clingo(str(tmp_path / "own.cat"), threads), notation(threads)


VIEWS = ["[R];po;[M] | [M];po;[W] | fence", "[R];po;[M] | [W];po-loc;[W] | fence", "po", "[W];po;[R] | fence", "0"]


@pytest.mark.parametrize("kept", VIEWS)
def test_views_as_they_are_defined(kept: str, tmp_path: Path) -> None:
    """A total order per thread, found by SAT."""
    (tmp_path / "views.cat").write_text(f"Views views {kept}")
    model, views = side(str(tmp_path / "views.cat")), Views(str(tmp_path / "views.cat"))
    for threads in [*SPACE.programs(3), *SPACE.programs(4), *Random(4).sample(list(SPACE.programs(5)), 100)]:
        assert allowed(model, threads) == views.outcomes(Subject(threads)), notation(threads)


@pytest.mark.parametrize("stage, found", [
    (Stage("none", "none"), "RX WY1|RY WX2"), (Stage("all", "none"), "WX1 F RY|WY2 F RX"),
    (Stage("own", "none"), "WX1 F RY|WY2 F RX")])
def test_stages(stage: Stage, found: str) -> None:
    """Axioms of NPSO that lack something, against the machine."""
    views, machine = Views("npso", stage), side("operational:npso")
    programs = (threads for n in (2, 3, 4) for threads in SPACE.programs(n))
    assert found == notation(next(threads for threads in programs
                                  if views.outcomes(Subject(threads)) - allowed(machine, threads)))


# --- contrasts ----------------------------------------------------------------------------------------


def test_the_table_of_first_tests() -> None:
    table = Table([SIDES[model] for model in MODELS], bound=5)
    table.run(Progress())
    for row, cells in FIRST.items():
        for column, cell in zip(MODELS, cells.split(), strict=True):
            if cell != ".":
                found = table.first.get((row, column))
                assert (name(found.threads) if found else "-") == cell, (row, column)
    assert {(a.name, b.name) for a, b in table.covers()} == {
        ("sc", "ibm370"), ("ibm370", "tso"), ("tso", "pso"), ("tso", "ntso"), ("pso", "npso"), ("ntso", "npso"),
        ("npso", "pslo"), ("pslo", "rmo")}
    assert not table.equals() and table.programs == 8 + 45 + 176 + 1512
    sizes = {name(d.threads): (d.program, d.fences) for d in table.first.values()}
    assert sizes == {"CoRR": ("RX RX|WX1", 0), "SB": ("WX1 RY|WY2 RX", 0), "MP": ("WX1 WY2|RY RX", 0),
                     "LB": ("RX WY1|RY WX2", 0), "L": ("WX1 RX RY|WY2 F RX", 1), "WRC": ("RX WY1|RY RX|WX2", 0)}


@pytest.mark.parametrize("a, b", [("sc", "tso"), ("tso", "pso"), ("pso", "pslo"), ("pslo", "rmo"), ("ntso", "npso"),
                                  ("tso", "ntso"), ("rmo", "sc")])
def test_one_query_agrees(a: str, b: str) -> None:
    """The size and the direction; which program of that size clingo takes is its choice."""
    enumerated, asked = Contrast(SIDES[a], SIDES[b], bound=4), Query(SIDES[a], SIDES[b], bound=4)
    enumerated.run(Progress(), every=True)
    asked.run(Progress())
    assert asked.differs == enumerated.differs and asked.finished == enumerated.finished
    assert {d.threads for d in asked.found} <= {d.threads for d in enumerated.found}
    assert {d.allowed_by.name for d in asked.found} <= {d.allowed_by.name for d in enumerated.found}


def test_a_query_needs_checks_that_grow(tmp_path: Path) -> None:
    (tmp_path / "own.cat").write_text("Own acyclic po \\ co as strange")
    with pytest.raises(NotPositive, match="strange"):
        refuted(load(str(tmp_path / "own.cat")))


@pytest.mark.parametrize("a, b", [*permutations(("sc", "tso", "pslo", "ntso"), 2), ("operational:rmo", "pslo"),
                                  ("pslo", "operational:npso")])
def test_a_difference_is_told(a: str, b: str) -> None:
    found = Contrast(side(a), side(b), bound=5)
    found.run(Progress())
    (difference,) = found.found
    told = Told(difference)
    assert told.why() and told.how() and parse(told.litmus).condition == told.program.condition
    assert {parse(litmus.write(told.program)).events} == {told.program.events} or told.program.dialect == ""
    observed = difference.outcome in by_clingo(difference.allowed_by.model.name, difference.threads)
    assert observed or a.startswith("operational")


def test_sober_and_the_stages(tmp_path: Path) -> None:
    """SOBER, too strong an axiomatic TSO: K tells it from TSO, L from IBM 370."""
    (tmp_path / "sober.cat").write_text(
        "SOBER let ppo = [R];po;[M] | [M];po;[W] acyclic po-loc | rf | co | fr "
        "acyclic ppo | fence | rfe | co | fr | (co?;rf) & ext")
    sober = side(str(tmp_path / "sober.cat"))
    for vector, wanted in (("WX1 WY2 RY|WY3 RY RX", (3, 3, 0)), ("WX1 F RY|WY2 RY RX", (0, 2, 0))):
        threads = parsed(vector)
        assert wanted in allowed(SIDES["tso"], threads) and wanted not in allowed(SIDES["ibm370"], threads)
        assert (wanted in allowed(sober, threads)) == (wanted == (0, 2, 0))
    first = Contrast(sober, SIDES["ibm370"], bound=5)
    first.run(Progress())
    assert name(first.found[0].threads) == "L" and first.found[0].allowed_by is sober


# --- notation and components ---------------------------------------------------------------------------


def test_notation() -> None:
    for line in VECTORS.splitlines():
        text = line.split(",")[1]
        assert notation(parsed(text)) == text == str(Code(parsed(text)))
    for bad in ("WX2", "QX", "WX1 RW", "RX1", "WX"):
        with pytest.raises(ValueError, match=r"no instruction|should store"):
            parsed(bad)


@pytest.mark.parametrize("text, words", [
    ("abacus", "no component of machines is called 'abacus'"), ("memory, store buffer per thread", "has one of"),
    ("read set", "has one of"), ("store buffer per thread, read set", "read set needs"),
    ("store buffer per thread, prophecy", "prophecy needs"), ("memory, stores in order", "stores in order needs"),
    ("store buffer per thread and location, coherence queues, read set", "do not go with")])
def test_machines_that_cannot_be(text: str, words: str) -> None:
    with pytest.raises(MachineError, match=words):
        machine_of(text)


def test_machines_are_lists_of_components() -> None:
    for model in MODELS:
        machine = machine_named(load(model))
        assert isinstance(machine, Machine) and str(machine) == load(model).machine
    with pytest.raises(MachineError, match="names no machine"):
        machine_named(load("generic"))
