"""Histories whose values repeat: several writes may have been read, and every one of them is looked at."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random

import pytest
from test_certificate import proves
from test_cli import gradual as run
from theory import parse

import gradual
from gradual.deadline import Deadline
from gradual.deciding.engine import Choosing
from gradual.deciding.general import decide as decide_in_general
from gradual.deciding.observations import impossible_observation
from gradual.deciding.pipeline import check
from gradual.evidence.verdict import Cycle, Edge, Origin, Refutation, Witness
from gradual.history import AMBIGUOUS, INITIAL, RMW, Builder, History, candidates
from gradual.machines import generate
from gradual.models import load
from gradual.models.fit import fit

sys.path.insert(0, str(Path(__file__).parents[1]))
from experiments import repeated
from experiments.axioms.brute import Brute, readings
from experiments.axioms.histories import random_history, with_values

MODELS = ("sc", "tso", "pso", "wmo", "rvwmo", "ztso", "rmo", "armv8")


def some(seed: int, count: int) -> Iterator[History]:
    """Random histories in which something is ambiguous."""
    rng = Random(seed)
    while count:
        history = with_values(random_history(rng, 8), rng, 2)
        if history.ambiguous:
            count -= 1
            yield history


TWICE = "W x1, W x2, W x1 ∥ R x1, R x2, R x1"
THRICE = TWICE + ", R x2"
"""x was 1, 2, 1: it was not 2 again."""


# --- candidates


def test_candidates() -> None:
    history = parse("W x1, W x2, W x1 ∥ R x1, R x2, R x0")
    assert history.source.tolist()[3:] == [AMBIGUOUS, 1, INITIAL]
    assert candidates(history) == {3: (0, 2)}
    builder = Builder("", "", gradual.Options(initial=1))
    builder.write("0", "x", 1)
    builder.read("0", "x", 1)
    builder.write("1", "x", 1)
    builder.final("x", 1)
    assert candidates(builder.build()) == {1: (INITIAL, 0, 2), 3: (0, 2)}


def test_a_final_value_that_was_written_again_is_that_write() -> None:
    builder = Builder("", "")
    builder.write("0", "x", 5)
    builder.write("0", "x", 0)
    builder.final("x", 0)
    history = builder.build()
    assert history.final.tolist() == [1] and not history.ambiguous
    assert check(history, "sc").verdict == "consistent"


# --- verdicts


@pytest.mark.parametrize("name", MODELS)
def test_brute_force(name: str) -> None:
    """Everything that reads can have returned, every store order; `check` has certified what it says."""
    model, said = load(name), []
    for history in some(7, 25):
        if model.splits_rmws and RMW in history.kind:
            continue
        verdict = check(history, model).verdict
        assert (verdict == "consistent") == any(Brute(read_as).allows(model) for read_as in readings(history))
        said.append(verdict)
    assert {*said} == {"consistent", "violation"}


@pytest.mark.parametrize("name", ["sc", "rvwmo"])
def test_the_general_way(name: str) -> None:
    model = load(name)
    for history in some(11, 12):
        if impossible_observation(history, None) is None:
            found = decide_in_general(history, model, Deadline())
            assert proves(history, model, found)
            assert isinstance(found, Witness) == (check(history, model).verdict == "consistent")


def test_the_same_value_again_and_again() -> None:
    assert check(parse(TWICE), "sc").verdict == "consistent"
    verdict = check(parse(THRICE), "rvwmo")
    assert (verdict.verdict, verdict.decided_by) == ("violation", "search")
    assert isinstance(verdict.evidence, Refutation)
    assert {case.origins for case in verdict.evidence.cases} >= {(Origin(5, 0),), (Origin(5, 2),)}


def test_what_holds_whatever_was_read_is_a_cycle() -> None:
    verdict = check(parse("W x1, R y0 ∥ W y1, R x0 ∥ W z1, W z1 ∥ R z1"), "sc")
    assert (verdict.verdict, verdict.decided_by) == ("violation", "cycle")


def test_unknown_says_what_was_open() -> None:
    text = " ∥ ".join(", ".join(f"{op} x{1 + (n * 7 + t) % 2}" for n, op in enumerate("WRRWRWRRWR" * 12))
                      for t in range(4))
    verdict = check(parse(text), "sc", timeout=0.3)
    assert verdict.verdict == "unknown" and "values may come from several writes" in verdict.message


# --- the search


@pytest.mark.parametrize("order", ["trace", "threads"])
@pytest.mark.parametrize(("machine", "model", "expected"), [
    ("sc", "sc", "consistent"), ("tso", "tso", "consistent"), ("tso", "sc", "violation"),
    ("broken-drop", "tso", "violation")])
def test_machines_with_eight_values(machine: str, model: str, expected: str, order: str) -> None:
    history = repeated.with_values(generate(machine, 4, 600, 16, 0), 8)
    assert check(history if order == "trace" else repeated.thread_by_thread(history), model).verdict == expected


def test_a_run_is_asked_for_until_none_is_left() -> None:
    """Two stores of 1 by others: a load returns one of them, or the other, and nothing else."""
    history = parse("W x1 ∥ W x1 ∥ R x1")
    found = candidates(history)
    search = Choosing(history, fit(load("sc")), found, Deadline())
    returned = set()
    while search.run().status == "consistent":
        returned |= {Origin(*chosen) for chosen in search.returned().items()}
        search.exclude([Origin(*chosen) for chosen in search.returned().items()])
    assert returned == {Origin(2, 0), Origin(2, 1)}


def test_a_thread_sees_its_own_store_first() -> None:
    """Under TSO the load may return what is in the buffer; else it waits for that, and then for the other store."""
    for text, expected in (("W x1, R x1, R y0 ∥ W x1, W y1, R x1", "consistent"),
                           ("W x2, R x1, R y0 ∥ W x1, W y1 ∥ W x1, R x2, R y0", "consistent"),
                           ("W x2, R x1, R y0 ∥ W y1, W x1 ∥ R y1, W x1, R y1", "violation")):
        history = parse(text)
        verdict = check(history, "tso")
        assert verdict.verdict == expected
        assert any(Brute(read_as).allows(load("tso")) for read_as in readings(history)) == bool(verdict)


def test_coherence_as_it_stands_and_as_a_case_has_it() -> None:
    """The thread saw the other store before its rmw, whatever that read: so it did not read what memory held."""
    builder = Builder("", "", gradual.Options(initial=1))
    builder.write("0", "x", 2)
    builder.read("1", "x", 2)
    builder.rmw("1", "x", 1, 1)
    builder.read("2", "x", 1)
    again = parse("R x0, W x1, W x2, R x2 ∥ W x1, R x2, R x1 ∥ R x2")
    for model in ("sc", "tso", "rvwmo"):
        assert check(builder.build(), model).verdict == check(again, model).verdict == "violation"


# --- evidence


@pytest.mark.parametrize("model", ["sc", "rvwmo"])
def test_a_refutation_covers_every_candidate(model: str) -> None:
    history, chosen = parse(THRICE), load(model)
    refutation = check(history, chosen).evidence
    assert isinstance(refutation, Refutation) and proves(history, chosen, refutation)
    needed = tuple(case for case in refutation.cases if case.origins in ((Origin(5, 0),), (Origin(5, 2),)))
    assert proves(history, chosen, Refutation(needed, ((),)))
    for case in needed:
        assert not proves(history, chosen, Refutation((case,), ((),)))
        assert not proves(history, chosen, replace(case, origins=()))
        assert not proves(history, chosen, case)
        other = next(one for one in needed if one is not case)
        for origins in ((), other.origins, (Origin(5, 1),), (Origin(3, 0),), (Origin(99, 0),),
                        (case.origins[0]._replace(holds=False),), (*case.origins, *other.origins)):
            assert not proves(history, chosen, Refutation((replace(case, origins=origins), other), ((),)))
    assert not proves(history, chosen, Refutation((), ((Origin(5, 0, False),), (Origin(5, 2, False),), ())))


@pytest.mark.parametrize("model", ["sc", "tso", "rvwmo"])
def test_forged_refutations(model: str) -> None:
    """Without some cases, what is left must still exclude everything that can have been read."""
    rejected, chosen = 0, load(model)
    for history in some(23, 120):
        evidence = check(history, chosen).evidence
        if not isinstance(evidence, Refutation) or any(case.assumed for case in evidence.cases):
            continue
        for gone in evidence.cases:
            left = tuple(case for case in evidence.cases if case is not gone)
            for forged in (Refutation(left, evidence.lemmas), Refutation(left, ((),))):
                covered = excludes_all(history, left)
                assert covered or not proves(history, chosen, forged)
                rejected += not covered
    assert rejected > 10


def excludes_all(history: History, cases: tuple[Cycle, ...]) -> bool:
    open_readers = candidates(history)
    for writes in product(*open_readers.values()):
        reading = dict(zip(open_readers, writes, strict=True))
        if not any(all(reading[origin.reader] == origin.write for origin in case.origins) for case in cases):
            return False
    return True


@pytest.mark.parametrize("model", ["sc", "tso", "rvwmo"])
def test_a_witness_names_what_was_read(model: str) -> None:
    history, chosen = parse(TWICE), load(model)
    witness = check(history, chosen).evidence
    assert isinstance(witness, Witness)
    assert {*witness.origins} == {Origin(3, 0), Origin(5, 2)}
    assert proves(history, chosen, witness)
    for origins in ((Origin(3, 2), Origin(5, 2)), (Origin(3, 0), Origin(5, 0)), (Origin(3, 1), Origin(5, 2)),
                    (Origin(3, 0, False), Origin(5, 2)), (Origin(3, 0), Origin(3, 2), Origin(5, 2))):
        assert not proves(history, chosen, replace(witness, origins=origins))
    if model == "rvwmo":
        assert not proves(history, chosen, replace(witness, origins=()))


def test_sources_that_a_rule_asks_for() -> None:
    """RVWMO's rule 2 orders two reads of different writes: it shows nothing while it is open what they returned."""
    builder = Builder("", "")
    for value in (1, 1):
        builder.write("0", "x", value)
    for _ in range(2):
        builder.read("1", "x", 1)
    history, model = builder.build(), load("rvwmo")
    back = (Edge("po", 2, 3), Edge("po", 3, 2))
    case = Cycle(back, "global")
    assert not proves(history, model, case)
    for origins in ((Origin(2, 0),), (Origin(2, 0), Origin(3, 0)), (Origin(2, 0), Origin(3, 1))):
        assert not proves(history, model, Refutation((replace(case, origins=origins),), ((),)))


# --- as it is told


def csv_of(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "trace.csv"
    gradual.write([parse(text)], file)
    return file


def test_commands(tmp_path: Path) -> None:
    file = csv_of(tmp_path, THRICE)
    told = run("check", file, "--model", "tso")
    assert told.returncode == 1
    assert "if R x=1" in told.stdout and "read W x=1" in told.stdout
    (found,) = map(json.loads, run("check", file, "--json").stdout.splitlines())
    assert [read["read"] for read in found["reads_tried"]] == [1]
    assert {case["origins"][0]["from"]["line"] for case in found["cases"]} == {2, 4}
    explained = run("explain", file, "--svg", tmp_path / "why.svg")
    assert "Case 2: suppose R x=1" in explained.stdout and (tmp_path / "why.svg").exists()
    shrunk = run("shrink", file, "-o", tmp_path / "small.csv")
    assert shrunk.returncode == 0 and run("check", tmp_path / "small.csv").returncode == 1
    assert "?     ?" in run("classify", file).stdout
    assert "leave --engine and --completion out" in run("check", file, "--engine", "datalog").stdout


def test_a_run_names_what_was_read(tmp_path: Path) -> None:
    file = csv_of(tmp_path, TWICE)
    (found,) = map(json.loads, run("check", file, "--json").stdout.splitlines())
    assert found["witness"]["origins"] == {"3": 0, "5": 2}
    told = run("diff-models", csv_of(tmp_path, "W x1, R y0 ∥ W y1, R x0 ∥ W z1, W z1 ∥ R z1")).stdout
    assert "SC violation, TSO consistent" in told and "a value of its own" in told
