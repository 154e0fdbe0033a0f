"""Event structures: the page's vectors by every engine, random programs, certificates, the second-order language."""

from __future__ import annotations

import csv
import os
import re
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from random import Random

import pytest

from gradual import programs
from gradual.events import formula as formulas
from gradual.events.answer_sets import some_execution
from gradual.events.cegar import Cegar
from gradual.events.certificate import Certificate, CertificateError
from gradual.events.decide import holds
from gradual.events.explicit import Explicit
from gradual.events.formula import Formula, literal
from gradual.events.goal import Goal
from gradual.events.logic import (
    Relation,
    acyclic,
    eq,
    exists,
    for_all,
    inv,
    irrefl,
    seq,
    some_relation,
    some_set,
    sub,
    tc,
    trans,
)
from gradual.events.missing import missing
from gradual.events.models import C11, JR, MODELS, RA, RC11, SC, EventModel
from gradual.events.sentences import Sentences
from gradual.events.structure import EventStructure, mask, members, unfold
from gradual.events.telling import lines, record
from gradual.events.verdict import decide, goal_of
from gradual.models import load
from gradual.models.library import Model
from gradual.programs.executions import Executions
from gradual.programs.program import Bounds, Program
from gradual.programs.scan import ProgramError
from gradual.programs.unfolding import values_of

CAUSALITY = Path(__file__).parents[1] / "traces" / "causality"
READINGS = ("label", "visible")
PROGRAMS = int(os.environ.get("PROGRAMS", "120"))
"""Random ones; PROGRAMS=500 for more."""


def catalogue() -> list[dict[str, str]]:
    with (CAUSALITY / "expected.csv").open() as stream:
        return list(csv.DictReader(stream))


@cache
def structure(test: str, values: str = "") -> EventStructure:
    bounds = Bounds(values_of(values)) if values else None
    return unfold(programs.read(str(CAUSALITY / f"{test}.litmus"), bounds))


def goal(test: str, values: str = "", justifies: str = "label") -> Goal:
    found = structure(test, values)
    return Goal(found, found.condition.proposition, justifies)  # type: ignore[arg-type]


def allowed(play: object) -> str:
    return "forbidden" if play is None else "allowed"


# --- the structure -------------------------------------------------------------------------------


def test_the_catalogue_is_complete() -> None:
    assert {row["test"] for row in catalogue()} == {path.stem for path in CAUSALITY.glob("*.litmus")}


@pytest.mark.parametrize("row", catalogue(), ids=lambda row: row["test"])
def test_sizes(row: dict[str, str]) -> None:
    found = structure(row["test"], row["values"])
    if row["events"]:
        assert len(found) == int(row["events"])
    if row["configurations"]:
        assert found.configurations == int(row["configurations"]) == len(configurations(found))


def configurations(found: EventStructure) -> set[int]:
    """By the definition: sets without conflict that are closed downwards, grown event by event."""
    seen, todo = {found.initial}, [found.initial]
    while todo:
        at = todo.pop()
        for event in range(len(found)):
            fits = found.below[event] & at == found.below[event] and not found.conflicts[event] & at
            if fits and not at >> event & 1 and (further := at | 1 << event) not in seen:
                seen.add(further)
                todo.append(further)
    return seen


def test_tc1_in_full() -> None:
    found = structure("TC1")
    assert " ".join(map(str, found.events)) == "Wx0 Wy0 Rx0 Wy1 Rx1 Wy1 Ry0 Wx0 Ry1 Wx1"
    assert [siblings for siblings in found.children.values() if len(siblings) > 1] == [[2, 4], [6, 8]]
    assert found.conflicts == [0, 0, *[mask([4, 5])] * 2, *[mask([2, 3])] * 2, *[mask([8, 9])] * 2, *[mask([6, 7])] * 2]
    pairs = {(write, read) for read, writes in enumerate(found.justifies("label")) for write in members(writes)}
    assert pairs == {(0, 2), (7, 2), (9, 4), (1, 6), (3, 8), (5, 8)}
    final = [[leaf.event for leaf in leaves if leaf.registers[register] == 1]
             for leaves, register in zip(found.leaves, ("r1", "r2"), strict=True)]
    assert final == [[5], [9]]
    explicit = Explicit(goal("TC1"))
    assert explicit.play() == [mask([0, 1]), mask([0, 1, 8]), mask([0, 1, 4, 5, 8, 9])]


def test_values_are_found() -> None:
    assert structure("TC17").values == (0, 42) and structure("TC12").values == (0, 1, 2)
    with pytest.raises(ProgramError, match=r"more than 16 values of x \(0, 1, 2, 3, 7, 43, …\).*--values"):
        structure("TC9")
    assert [len(structure("TC11", values)) for values in ("0..1", "0..2", "0..3")] == [30, 58, 96]
    public = [(CAUSALITY / f"{test}.litmus").read_text().replace("42", "1") for test in ("TC17", "TC18")]
    assert [len(unfold(programs.parse(text, bounds=Bounds((0, 1, 2))))) for text in public] == [31, 30]


@pytest.mark.parametrize("test", ["TC3", "TC9"])
def test_a_value_left_out_is_said(test: str) -> None:
    verdict = decide(structure(test, "0..1").program, JR)
    assert verdict.allowed and verdict.structure.program.left_out == (2,)
    assert "2 is there too" in " ".join(lines(verdict)) and record(verdict)["values_left_out"] == [2]


# --- J+R -----------------------------------------------------------------------------------------

GAMES = [row for row in catalogue() if row["label"]]


@pytest.mark.parametrize("row", GAMES, ids=lambda row: row["test"])
@pytest.mark.parametrize("reading", READINGS)
def test_jeffrey_riely(row: dict[str, str], reading: str) -> None:
    """Explicit search, SAT with two solvers, the sentence of two levels: and every play is replayed."""
    asked = goal(row["test"], row["values"], reading)
    explicit, cegar = Explicit(asked).play(), Cegar(asked).play()
    formulas.forget()
    sentence = holds(Sentences(asked).two_levels())
    assert [allowed(explicit), allowed(cegar), "allowed" if sentence else "forbidden"] == [row[reading]] * 3
    for play in (explicit, cegar):
        if play is not None:
            Certificate(asked).play(play)


@pytest.mark.parametrize("row", [row for row in GAMES if row["test"] not in ("TC9", "TC11", "TC12")],
                         ids=lambda row: row["test"])
def test_more_values_change_nothing(row: dict[str, str]) -> None:
    found = structure(row["test"], row["values"])
    for reading in READINGS:
        more = unfold(replace(found.program, bounds=Bounds((*found.values, 77))))
        asked = Goal(more, more.condition.proposition, reading)  # type: ignore[arg-type]
        assert allowed(Cegar(asked).play()) == row[reading]


@pytest.mark.parametrize("test", ["TC1", "TC4", "TC6", "TC13", "FUT", "OWN", "DRF", "SB", "LB", "CoRR", "CoWR",
                                  "LB+false-ctrl"])
@pytest.mark.parametrize("reading", READINGS)
def test_the_sentence_as_it_is_printed(test: str, reading: str) -> None:
    """∃∀∃ with TCₙ, n = 2: enough for these plays."""
    row = next(row for row in catalogue() if row["test"] == test)
    formulas.forget()
    sentence = Sentences(goal(test, justifies=reading)).jeffrey_riely(2)
    assert ("allowed" if holds(sentence) else "forbidden") == row[reading]


def brute_force(asked: Goal) -> bool:
    """AeJ by the definitions on all configurations, without a word about terminals."""
    found, justifying = asked.structure, asked.structure.justifies(asked.justifies)
    every = sorted(configurations(found), key=int.bit_count)

    def j(p: int, q: int) -> bool:
        return all(justifying[read] & p for read in members(q & ~p & found.reads))

    reach: dict[int, set[int]] = {}
    for p in reversed(every):
        reach[p] = {p}
        for q in every:
            if p != q and p & q == p and j(p, q):
                reach[p] |= reach[q]
    seen, todo = {found.initial}, [found.initial]
    while todo:
        p = todo.pop()
        for q in every:
            if q not in seen and p & q == p and all(any(j(y, q) for y in reach[x]) for x in reach[p]):
                seen.add(q)
                todo.append(q)
    ends = {mask(e for leaf in leaves for e in members(found.upto(leaf.event))): leaves for leaves in found.ends()}
    return any(end in seen and asked.met(leaves) and all(justifying[read] & end for read in members(end & found.reads))
               for end, leaves in ends.items())


@pytest.mark.parametrize("row", [row for row in GAMES if row["test"] not in ("TC3", "TC5", "TC11", "TC12")],
                         ids=lambda row: row["test"])
def test_brute_force(row: dict[str, str]) -> None:
    for reading in READINGS:
        assert brute_force(goal(row["test"], row["values"], reading)) == (row[reading] == "allowed")


# --- SC, RA, C++ ---------------------------------------------------------------------------------

MODES = {"sc": (SC, "", ""), "ra": (RA, "", ""), "c11": (C11, "", ""), "c11_acq_rel": (C11, "acq", "rel"),
         "c11_sc": (C11, "sc", "sc"), "rc11": (RC11, "", "")}
EXECUTIONS = [(row["test"], column, row[column]) for row in catalogue() for column in MODES if row[column]]


def with_modes(test: str, read: str, write: str) -> Program:
    text = (CAUSALITY / f"{test}.litmus").read_text()
    return programs.parse(re.sub(r"\bw\[\]", f"w[{write}]", re.sub(r"\br\[\]", f"r[{read}]", text)))


@pytest.mark.parametrize("test, column, expected", EXECUTIONS)
def test_executions(test: str, column: str, expected: str) -> None:
    """`decide` asks sentence and clingo about what is forbidden, and the certificate about what is allowed."""
    model, read, write = MODES[column]
    program = with_modes(test, read, write)
    verdict = decide(program, model)
    assert ("racy" if verdict.racy else "allowed" if verdict.allowed else "forbidden") == expected
    assert verdict.allowed or verdict.engines == ("sentence", "clingo")
    asked = goal_of(program)
    other = some_execution(asked, "cpp" if model.races else model.key,
                           *(["no_thin_air"] if model == RC11 else []), *(["partial"] if verdict.racy else []))
    assert (other is not None) == verdict.allowed
    if other is not None:
        Certificate(asked).execution(other, model.key, racy=verdict.racy)


@pytest.mark.parametrize("row", GAMES, ids=lambda row: row["test"])
def test_no_model_of_executions_tells_the_causality_tests_apart(row: dict[str, str]) -> None:
    """SC and RA forbid every test case of Java's; by executions and by sentences."""
    if row["java"] and row["test"] != "TC16":
        program = structure(row["test"], row["values"]).program
        assert not decide(program, SC).allowed
        assert Executions(program, "sc").satisfying(program.condition.proposition) is None  # type: ignore[union-attr]


FENCES = [
    ("SB+fences", "w[] x 1; f[sc]; r[] r1 y", "w[] y 1; f[sc]; r[] r2 x", "0:r1=0 /\\ 1:r2=0", "forbidden"),
    ("SB+ar", "w[] x 1; f[ar]; r[] r1 y", "w[] y 1; f[ar]; r[] r2 x", "0:r1=0 /\\ 1:r2=0", "allowed"),
    ("MP+fences", "w[] x 1; f[rel]; w[] y 1", "r[] r1 y; f[acq]; r[] r2 x", "1:r1=1 /\\ 1:r2=0", "forbidden"),
    ("MP+rel", "w[] x 1; f[rel]; w[] y 1", "r[] r1 y; r[] r2 x", "1:r1=1 /\\ 1:r2=0", "allowed"),
    ("MP+na", "w[na] x 1; w[rel] y 1", "r[acq] r1 y; mov r3 (eq r1 0); b[] r3 E; r[na] r2 x; E:", "1:r1=1 /\\ 1:r2=0",
     "forbidden"),
    ("MP+na+rlx", "w[na] x 1; w[rlx] y 1", "r[acq] r1 y; mov r3 (eq r1 0); b[] r3 E; r[na] r2 x; E:",
     "1:r1=1 /\\ 1:r2=0", "racy"),
    ("release sequence", "w[na] x 1; w[rel] y 1; w[rlx] y 2", "r[acq] r1 y; mov r3 (ne r1 2); b[] r3 E; r[na] r2 x; E:",
     "1:r1=2 /\\ 1:r2=0", "forbidden"),
    ("inc+inc", "rmw[] r1 (ge r1 0) x", "rmw[] r1 (add 1 (and r1 1)) x", "0:r1=0 /\\ 1:r1=0", "forbidden"),
    ("inc+inc=2", "rmw[] r1 (ge r1 0) x", "rmw[] r1 (add 1 (and r1 1)) x", "0:r1=0 /\\ 1:r1=1 /\\ x=2", "allowed"),
]


def lisa(name: str, threads: list[str], condition: str) -> Program:
    columns = [[f"P{number}", *(cell.strip() for cell in thread.split(";"))] for number, thread in enumerate(threads)]
    height = max(map(len, columns))
    rows = [" | ".join(column[at] if at < len(column) else "" for column in columns) + " ;" for at in range(height)]
    return programs.parse("\n".join([f"LISA {name}", "{ }", *rows, f"exists ({condition})"]))


@pytest.mark.parametrize("name, left, right, condition, expected", FENCES, ids=[row[0] for row in FENCES])
def test_fences_and_rmws(name: str, left: str, right: str, condition: str, expected: str) -> None:
    verdict = decide(lisa(name, [left, right], condition), C11)
    assert ("racy" if verdict.racy else "allowed" if verdict.allowed else "forbidden") == expected


# --- random programs -----------------------------------------------------------------------------

RA_TEXT = """RA "happens-before is program order and reads-from"
let hb = (po | rf | [IW];po;[_])+
irreflexive hb
irreflexive co;hb
irreflexive fr;hb
"""


def random_program(rng: Random, rmws: bool = False) -> Program:
    """Loop-free, with data flow, branches and repeated values."""
    threads = [random_thread(rng, rmws) for _ in range(rng.choice((2, 2, 2, 3)))]
    asked = [f"{number}:r{at}={rng.choice((0, 0, 1))}" for number in range(len(threads)) for at in (1, 2)
             if rng.random() < 0.8 and f"r{at}" in threads[number]]
    return lisa("random", threads, " /\\ ".join(asked) or "true")


def random_thread(rng: Random, rmws: bool) -> str:
    known: list[str] = []
    cells = []
    label = 0
    for at in range(1, rng.randint(3, 4)):
        kind, location = rng.random(), rng.choice("xy")
        constants = ["1", "1", "2"] if rng.random() < 0.1 else ["1", "1"]
        value = rng.choice([*constants, *(f"(xor {name} 1)" for name in known), *known])
        if rmws and kind < 0.15:
            cells.append(f"rmw[] r{at} (xor r{at} 1) {location}")
            known.append(f"r{at}")
        elif kind < 0.5:
            cells.append(f"r[] r{at} {location}")
            known.append(f"r{at}")
        elif kind < 0.8 or not known:
            cells.append(f"w[] {location} {value}")
        else:
            label += 1
            cells += [f"b[] {rng.choice(known)} L{label}", f"w[] {location} {value}", f"L{label}:"]
    return "; ".join(cells)


def verdicts(asked: Goal, model: EventModel) -> bool:
    formulas.forget()
    return holds(Sentences(asked).of(model))


@pytest.fixture(scope="module")
def ra(tmp_path_factory: pytest.TempPathFactory) -> Model:
    file = tmp_path_factory.mktemp("models") / "ra.cat"
    file.write_text(RA_TEXT)
    return load(str(file))


def test_random_programs(ra: Model) -> None:
    """SC and RA by sentences and by executions of another unfolding, on another engine; what SC allows, J+R allows."""
    rng = Random(16)
    reached = {"sc": 0, "ra": 0, "jr": 0}
    for _ in range(PROGRAMS):
        program = random_program(rng)
        asked = goal_of(program)
        for model, judge in ((SC, load("sc")), (RA, ra)):
            by_executions = Executions(program, judge).satisfying(asked.proposition) is not None
            assert verdicts(asked, model) == by_executions, program
            reached[model.key] += by_executions
        play = Explicit(asked).play()
        reached["jr"] += play is not None
        assert play is not None or not verdicts(asked, SC), program
        if play is not None:
            Certificate(asked).play(play)
    assert 0.2 * PROGRAMS < reached["sc"] < reached["ra"] < reached["jr"] < 0.9 * PROGRAMS, reached


def test_random_games() -> None:
    rng = Random(7)
    found = []
    for _ in range(60):
        program = random_program(rng)
        for reading in READINGS:
            asked = goal_of(program, reading)  # type: ignore[arg-type]
            explicit, cegar = Explicit(asked).play(), Cegar(asked).play()
            assert (explicit is None) == (cegar is None), program
            if asked.structure.configurations <= 60:
                assert brute_force(asked) == (explicit is not None), program
            if explicit is None:
                assert missing(asked).ending is None or missing(asked).reads
            found.append(explicit is not None)
    assert 30 < sum(found) < 110


def test_random_programs_with_rmws() -> None:
    rng = Random(3)
    for _ in range(40):
        program = random_program(rng, rmws=True)
        asked = goal_of(program)
        if len(asked.structure) > 30:
            continue
        assert verdicts(asked, SC) == (some_execution(asked, "sc") is not None)
        assert verdicts(asked, C11) == (some_execution(asked, "cpp") is not None)
        assert verdicts(asked, RC11) == (some_execution(asked, "cpp", "no_thin_air") is not None)


# --- certificates --------------------------------------------------------------------------------


def test_the_certificate_refuses_other_plays() -> None:
    asked = goal("TC1")
    start, middle, end = Explicit(asked).play() or []
    checker = Certificate(asked)
    for play in ([start, end], [middle, end], [start, middle], [start, end, middle], [start, middle, end | 1 << 2],
                 [start, 1 << 9 | start, end]):
        with pytest.raises(CertificateError):
            checker.play(play)
    with pytest.raises(CertificateError, match="unjustified"):
        Certificate(goal("TC4")).play([mask([0, 1]), mask([0, 1, 4, 5, 8, 9])])
    with pytest.raises(CertificateError, match="nothing in it justifies"):
        own = goal("OWN")
        Certificate(own).play([own.structure.initial, own.structure.upto(own.structure.leaves[0][1].event)])


def test_large_moves_are_put_to_clingo(monkeypatch: pytest.MonkeyPatch) -> None:
    from gradual.events import certificate

    monkeypatch.setattr(certificate, "VISITED", 0)
    for row in GAMES:
        asked = goal(row["test"], row["values"])
        play = Explicit(asked).play()
        if play is not None:
            Certificate(asked).play(play)
    with pytest.raises(CertificateError, match="unjustified"):
        Certificate(goal("TC4")).play([mask([0, 1]), mask([0, 1, 4, 5, 8, 9])])


def test_the_certificate_refuses_other_executions() -> None:
    asked = goal("MP")
    found = some_execution(asked, "cpp")
    assert found is not None
    checker = Certificate(asked)
    checker.execution(found, "c11")
    for model in ("sc", "ra"):
        with pytest.raises(CertificateError, match="breaks"):
            checker.execution(found, model)
    assert found.co
    for broken in (replace(found, rf={}), replace(found, co=frozenset()),
                   replace(found, co=frozenset((b, a) for a, b in found.co)), replace(found, events=found.events & ~1),
                   replace(found, events=asked.structure.initial, rf={})):
        with pytest.raises(CertificateError):
            checker.execution(broken, "c11")


def test_a_disagreement_is_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    from gradual.events.verdict import Disagreement

    monkeypatch.setattr(Explicit, "play", lambda self: None)
    with pytest.raises(Disagreement):
        decide(structure("TC1").program, JR)


# --- many threads --------------------------------------------------------------------------------


def store_buffering(threads: int) -> Program:
    return lisa(f"SB{threads}", [f"w[] x{n} 1; r[] r1 x{(n - 1) % threads}" for n in range(threads)],
                " /\\ ".join(f"{n}:r1=0" for n in range(threads)))


def ring(threads: int, started: bool) -> Program:
    return lisa(f"ring{threads}", [f"r[] r1 x{n}; w[] x{(n + 1) % threads} {'1' if started and n == 0 else 'r1'}"
                                   for n in range(threads)], " /\\ ".join(f"{n}:r1=1" for n in range(threads)))


def test_many_threads() -> None:
    assert [len(unfold(store_buffering(n))) for n in (2, 8, 25)] == [8, 32, 100]
    assert decide(store_buffering(25), JR).allowed and not decide(store_buffering(100), SC).allowed
    assert decide(store_buffering(25), RA).allowed
    forbidden, started = decide(ring(25, False), JR), decide(ring(25, True), JR)
    assert not forbidden.allowed and forbidden.engines == ("CEGAR",)
    assert started.allowed and started.play is not None and len(started.play) == 26


def test_engines_agree_on_more_threads() -> None:
    for threads in (3, 4, 5):
        for program, expected in ((store_buffering(threads), True), (ring(threads, False), False),
                                  (ring(threads, True), True)):
            asked = goal_of(program)
            assert (Explicit(asked).play() is not None) == (Cegar(asked).play() is not None) == expected


# --- the second-order language -------------------------------------------------------------------


def value(sentence: Formula, atoms: dict[int, bool]) -> bool:
    """By trying everything."""
    if sentence.kind == "literal":
        return atoms[abs(sentence.literal)] == (sentence.literal > 0)
    if sentence.kind == "all of":
        return all(value(part, atoms) for part in sentence.parts)
    if sentence.kind == "some of":
        return any(value(part, atoms) for part in sentence.parts)
    found = (value(sentence.parts[0], {**atoms, **dict(zip(sentence.bound, chosen, strict=True))})
             for chosen in product((False, True), repeat=len(sentence.bound)))
    return any(found) if sentence.kind == "exists" else all(found)


def random_sentence(rng: Random, depth: int, free: list[Formula]) -> Formula:
    if depth == 0 or (free and rng.random() < 0.1):
        chosen = rng.choice(free) if free else formulas.TRUE
        return chosen if rng.random() < 0.5 else ~chosen
    kind = rng.random()
    if kind < 0.45:
        new = formulas.atoms(rng.randint(1, 2))
        body = random_sentence(rng, depth - 1, [*free, *new])
        return (formulas.exists if rng.random() < 0.5 else formulas.for_all)(new, body)
    parts = [random_sentence(rng, depth - 1, free) for _ in range(3)]
    return formulas.all_of(parts) if rng.random() < 0.5 else formulas.some_of(parts)


def test_sentences_by_trying_everything() -> None:
    rng = Random(5)
    results = []
    for _ in range(400):
        sentence = random_sentence(rng, 5, [])
        results.append(value(sentence, {}))
        assert holds(sentence) == results[-1] and holds(~sentence) != results[-1]
    assert 100 < sum(results) < 300


def test_relations_by_their_definitions() -> None:
    rng = Random(9)
    everything = list(product(range(4), repeat=2))
    for _ in range(40):
        pairs = {pair for pair in everything if rng.random() < 0.25}
        known = Relation(dict.fromkeys(pairs, formulas.TRUE))
        closure = set(pairs)
        while new := {(a, d) for a, b in closure for c, d in closure if b == c} - closure:
            closure |= new
        assert holds(acyclic(known, lambda a, b: True)) == all(a != b for a, b in closure)
        assert set(seq(known, known).pairs) == {(a, d) for a, b in pairs for c, d in pairs if b == c}
        assert set(inv(known).pairs) == {(b, a) for a, b in pairs}
        x = some_relation(everything)
        assert holds(exists(x, such_that=sub(known, x) & trans(x) & irrefl(x))) == all(a != b for a, b in closure)
        only = exists(x, such_that=sub(known, x) & trans(x) & ~x(0, 3))
        assert holds(only) == ((0, 3) not in closure)


def test_transitive_closure_of_a_step() -> None:
    """Sets of three events, one more event at each step."""
    def step(p: object, q: object) -> Formula:
        added = [formulas.all_of([q(e), ~p(e), *(p(o).implies(q(o)) & q(o).implies(p(o)) for o in range(3) if o != e)])
                 for e in range(3)]  # type: ignore[operator]
        return formulas.some_of(added)

    empty, full = some_set(range(3)), some_set(range(3))
    ends = formulas.all_of(~empty(e) for e in range(3)) & formulas.all_of(full(e) for e in range(3))
    for number in range(5):
        reached = exists(empty, full, such_that=ends & tc(step, number, range(3), empty, full))
        assert holds(reached) == (number >= 3)
    every = for_all(empty, it_holds=exists(full, such_that=eq(empty, full)))
    assert holds(every)


def test_shared_formulas_are_one_object() -> None:
    a, b = formulas.atoms(2)
    assert (a & b) is (b & a) and ~~a is a and ~(a & b) is (~a | ~b) and literal(a.literal) is a
    assert (a & formulas.TRUE) is a and (a & formulas.FALSE) is formulas.FALSE


# --- conditions ----------------------------------------------------------------------------------


def test_quantifiers_and_disjunctions() -> None:
    text = (CAUSALITY / "LB.litmus").read_text()
    for condition, expected in (("exists (0:r1=1 /\\ 1:r2=1)", True), ("~exists (0:r1=1 /\\ 1:r2=1)", False),
                                ("forall (0:r1=1 \\/ 1:r2=1 \\/ 0:r1=0)", True), ("forall (0:r1=0)", False),
                                ("exists (0:r1=7 \\/ (0:r1=1 /\\ ~1:r2=0))", True), ("exists (0:r1=7)", False),
                                ("exists P0:r1 = 1 (* a comment *) /\\ P1:r2 = 1", True)):
        program = programs.parse(re.sub(r"exists.*", lambda _, condition=condition: condition, text))
        for model in (JR, C11):
            verdict = decide(program, model)
            assert verdict.holds == expected, (condition, model)
        asked = goal_of(program)
        assert (Explicit(asked).play() is None) == (Cegar(asked).play() is None)


def test_locations_end_with_values_where_there_is_a_store_order() -> None:
    program = lisa("2W", ["w[] x 1", "w[] x 2"], "x=1")
    for model in (SC, RA, C11):
        assert decide(program, model).allowed
        assert not decide(lisa("CoWW", ["w[] x 1; w[] x 2"], "x=1"), model).allowed
    with pytest.raises(ProgramError, match="no store order"):
        decide(program, JR)
    with pytest.raises(ProgramError, match="no rmw"):
        decide(lisa("R", ["rmw[] r1 (add r1 1) x"], "0:r1=0"), JR)
    with pytest.raises(ProgramError, match="no condition"):
        decide(replace(program, condition=None), SC)


def test_a_model_has_a_name() -> None:
    assert set(MODELS) == {"jr", "ra", "c11", "rc11", "sc"} and str(JR) == "J+R"
