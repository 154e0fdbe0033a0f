"""Weak models on traces: the vectors, random histories against brute force, LR and SC, axe's suite, real logs."""

from __future__ import annotations

import csv
import json
import sys
from contextlib import nullcontext
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from brute import Events, _store_orders
from command import gradual as run
from relations import Execution
from test_certificate import proves
from test_mutations import Meaning, Mutants
from weak_histories import COLUMNS, VECTORS, told

import gradual
from gradual.deadline import Deadline
from gradual.deciding import engine
from gradual.deciding.engine.proof import evidence
from gradual.deciding.observations import impossible_observation
from gradual.deciding.pipeline import check
from gradual.evidence import certificate
from gradual.evidence.verdict import Cycle, Witness
from gradual.history import RMW, Addresses, History, InputError, Options
from gradual.machines import generate
from gradual.models import load, shipped
from gradual.models.fit import fit

sys.path.insert(0, str(Path(__file__).parents[1]))
from experiments.axioms.apart import apart
from experiments.axioms.brute import Brute
from experiments.axioms.histories import random_history

LINES = [line.split(maxsplit=1) for line in VECTORS.strip().splitlines()]


@pytest.mark.parametrize(("allowed", "text"), LINES)
def test_vectors(allowed: str, text: str) -> None:
    for name, sign in zip(COLUMNS, allowed, strict=True):
        history = told(text, timed=name == "wmo")
        verdict = check(history, name)
        assert verdict.verdict == {"+": "consistent", "-": "violation"}[sign], name
        assert verdict.decided_by != "general"


# --- random histories


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("compiled", [False, True])
def test_brute_force(name: str, compiled: bool) -> None:
    """The schedule, plain and compiled, against every store order; what it finds is certified."""
    rng, model, said = Random(71 + compiled), load(name), []
    while len(said) < 60:
        trace = random_history(rng)
        history = model.takes(trace)
        if impossible_observation(history, fit(model).coherence):
            continue
        outcome = engine.decide(history, fit(model), Deadline(), compiled=compiled)
        said.append(outcome.status == engine.CONSISTENT)
        assert said[-1] == Brute(trace).allows(model)
        assert proves(trace, model, Witness(outcome.order) if said[-1] else evidence(history, fit(model), outcome))
    assert min(sum(said), len(said) - sum(said)) >= 5


def test_brute_force_by_sets_of_pairs() -> None:
    """Brute force on rows of bits is brute force on sets of pairs."""
    rng, models = Random(5), [load(name) for name in COLUMNS]
    compared = 0
    while compared < 12:
        history = random_history(rng, 7)
        orders = list(_store_orders(Events(history)))
        if not 1 <= len(orders) <= 6:
            continue
        for model in models:
            taken = apart(history) if model.splits_rmws and RMW in history.kind else history
            executions = [Execution(taken, order) for order in _store_orders(Events(taken))]
            assert Brute(history).allows(model) == any(
                all(execution.satisfies(check) for check in model.checks) for execution in executions)
        compared += 1


def test_ztso_is_rvwmo_and_three_rules(tmp_path: Path) -> None:
    """The text leaves out what the three rules imply."""
    text = load("rvwmo").text.replace("let ppo = r1", """
        let ppo = [R];po;[M] | [M];po;[W] | [RCsc | AMO];po;[RCsc | AMO] | r1""").replace("RVWMO \"", "Literal \"", 1)
    (tmp_path / "literal.cat").write_text(text)
    literal, rng = load(str(tmp_path / "literal.cat")), Random(6)
    for _ in range(150):
        history = random_history(rng)
        brute = Brute(history)
        assert brute.allows(literal) == brute.allows(load("ztso"))


@pytest.mark.parametrize("machine", ["wmo", "rvwmo", "broken-weak"])
def test_machines(machine: str) -> None:
    """The sound ones do as their model says, and use what it allows."""
    model = {"wmo": "wmo"}.get(machine, "rvwmo")
    verdicts = [check(generate(machine, 3, 150, 4, seed), model, engine="schedule", unordered=False).verdict
                for seed in range(12)]
    if machine == "broken-weak":
        assert "violation" in verdicts
    else:
        assert set(verdicts) == {"consistent"}
        assert any(not check(generate(machine, 3, 150, 4, seed), "tso", engine="schedule") for seed in range(4))
        assert generate(machine, 3, 50, 4, 1).annotations().keys() >= ({"begin"} if machine == "wmo" else {"addr"})


@pytest.mark.parametrize("name", COLUMNS)
def test_static_edges_are_few(name: str) -> None:
    model = load(name)
    machine = "wmo" if name == "wmo" else "rvwmo"
    sizes = []
    for operations in (2000, 4000):
        history = generate(machine, 4, operations, 8, 1, rmw_ratio=0)
        sizes.append(len(engine.static_edges(history, fit(model))[0]) / operations)
    assert sizes[1] <= 1.15 * sizes[0] and sizes[1] < 14


# --- LR and SC


def test_reservations_hold_in_every_model_that_judges_traces() -> None:
    history = told("LRx0 SCx1 ‖ LRx0 SCx2")
    judging = {str(model): check(history, model).verdict for model in shipped() if not model.has_views}
    assert {name for name, verdict in judging.items() if verdict != "violation"} == {"generic"}


def test_a_store_conditional_is_no_rmw() -> None:
    """A load may overtake a store-conditional: store buffering by LR and SC is no violation of TSO or Ztso."""
    text = "LRx0 SCx1 Ry0 ‖ LRy0 SCy1 Rx0"
    assert not check(told(text), "sc")
    for name in ("tso", "ztso", "pso", "rvwmo"):
        assert check(told(text), name)
    assert not check(told("Ux01 Ry0 ‖ Uy01 Rx0"), "ztso")


@pytest.mark.parametrize("model", ["tso", "rvwmo"])
def test_forged_atomicity(model: str) -> None:
    """Steps by atomicity are accepted where they mean something, and only there."""
    rng, told_of, refused = Random(8), 0, 0
    while told_of < 8:
        history = random_history(rng, 9)
        found = check(history, model, engine="schedule").evidence
        if not isinstance(found, Cycle) or all(step.scope != "atomicity" for step in found.steps):
            continue
        told_of += 1
        meaning = Meaning(history, load(model))
        assert meaning.is_cycle(found)
        for mutant in Mutants(history, rng).cycle(found):
            accepted = proves(history, load(model), mutant)  # type: ignore[arg-type]
            assert not accepted or meaning.is_cycle(mutant)
            refused += not accepted
    assert refused > 30


def test_the_rule_is_named() -> None:
    history = told("Wx1 Fw.w Wy1 ‖ Ry1 Rx0/a1")
    text = gradual.explain(check(history, "rvwmo"), history)
    assert "RVWMO rule 9: address dependency" in text and "RVWMO rule 4: fence" in text
    torn = told("LRx0 SCx1 ‖ LRx0 SCx2")
    assert "atomicity: nobody else stores" in gradual.explain(check(torn, "rvwmo"), torn)


def test_an_rmw_drains_the_buffer() -> None:
    """Said where it is what keeps a store and a load in order."""
    for text, name, said in (("Ux01 Ry0 ‖ Uy01 Rx0", "tso", True), ("Wx1 Uz01 Ry0 ‖ Wy1 Uw01 Rx0", "tso", True),
                             ("Ux01 Ry0 ‖ Uy01 Rx0", "pso", False), ("Wx1 Wy1 ‖ Uy12 Rx0", "tso", True)):
        history = told(text)
        assert ("an rmw drains the store buffer" in gradual.explain(check(history, name), history)) == said, text


# --- the suite of axe, and real logs


def test_axe_litmus(shared_traces: Path) -> None:
    suite = shared_traces / "axe-litmus"
    expected = [line.split(maxsplit=1) for line in (suite / "WMO.txt").read_text().splitlines()]
    for history, (answer, name) in zip(gradual.read(suite / "tests.axe"), expected, strict=True):
        assert isinstance(history, History)
        assert check(history, "wmo").verdict == {"OK": "consistent", "NO": "violation"}[answer], name


def test_gem5_logs_are_rvwmo(shared_traces: Path) -> None:
    """In-order cores and out-of-order ones, on the sound protocol."""
    folder = shared_traces / "gem5"
    for row in csv.DictReader((folder / "manifest.csv").open()):
        if row["protocol"] == "MI" and int(row["operations"]) <= 300:
            low = int(row["address"], 16)
            options = Options(Addresses([(low, low + int(row["bytes"]))]))
            assert gradual.check(folder / row["log"], "rvwmo", options=options), row["log"]


# --- dependencies of gem5 logs

LOG = """\
1: system.cpu0: T0 : 0x1000 @f+0    : ld a4, 0(a1)               : MemRead :  D=0x0000000000000000 A=0x100
2: system.cpu0: T0 : 0x1004 @f+4    : addi a5, a4, 8             : IntAlu :  D=0x0000000000000008
3: system.cpu0: T0 : 0x1008 @f+8    : ld a3, 0(a5)               : MemRead :  D=0x0000000000000000 A=0x108
4: system.cpu0: T0 : 0x100c @f+12    : c_li a5, 1                 : IntAlu :  D=0x0000000000000001
5: system.cpu0: T0 : 0x100e @f+14    : bne a3, zero, 8            : IntAlu : 
6: system.cpu0: T0 : 0x1012 @f+18    : sd a5, 0(a1)               : MemWrite :  D=0x0000000000000001 A=0x110
7: system.cpu0: T0 : 0x1016 @f+22    : ld s0, 0(sp)               : MemRead :  D=0x0000000000000005 A=0x900
8: system.cpu0: T0 : 0x101a @f+26    : add a2, s0, a4             : IntAlu :  D=0x0000000000000005
9: system.cpu0: T0 : 0x101e @f+30    : sd a2, 0(a1)               : MemWrite :  D=0x0000000000000005 A=0x118
10: system.cpu0: T0 : 0x1022 @f+34    : lr_d a4, (a1)             
10: system.cpu0: T0 : 0x1022 @f+34. 0 : lr_d a4, (a1)              : MemRead :  D=0x0000000000000001 A=0x110
11: system.cpu0: T0 : 0x1026 @f+38    : c_li a5, 7                 : IntAlu :  D=0x0000000000000007
12: system.cpu0: T0 : 0x102a @f+42    : sc_d a0, a5, (a1)         
12: system.cpu0: T0 : 0x102a @f+42. 0 : sc_d a0, a5, (a1)          : MemWrite :  D=0x0000000000000000 A=0x110
13: system.cpu0: T0 : 0x102e @f+46    : c_add a1, a0               : IntAlu :  D=0x0000000000000100
14: system.cpu0: T0 : 0x1030 @f+48    : sd zero, 0(a1)             : MemWrite :  D=0x0000000000000000 A=0x120
"""  # noqa: W291 - as gem5 prints it


def test_dependencies_of_logs(tmp_path: Path) -> None:
    """Through registers, and only as far as they are known: a load of another address drops, and never adds."""
    (tmp_path / "log.out").write_text(LOG)
    (history,) = gradual.read(tmp_path / "log.out", options=Options(Addresses([(0x100, 0x200)])))
    assert isinstance(history, History)
    assert history.addr.tolist() == [[0, 1], [5, 6]]  # type: ignore[union-attr]
    assert history.data.tolist() == [[0, 3]]  # type: ignore[union-attr]
    assert history.ctrl.tolist() == [[1, 2]]  # type: ignore[union-attr]
    assert history.pair.tolist() == [[4, 5]]  # type: ignore[union-attr]
    assert any("1 access may depend on more than is known" in note for note in history.notes)
    text = run("convert", tmp_path / "log.out", "-", "--to", "csv", "--addresses", "0x100:0x200").stdout
    assert {"addr", "data", "ctrl", "pair"} <= {*text.splitlines()[0].split(",")}


# --- odd input


def test_unusual_histories_are_noted(tmp_path: Path) -> None:
    (tmp_path / "odd.csv").write_text("thread,op,address,value,begin,pair\n0,LR,y,0,5,\n0,SC,x,1,7,1\n1,SC,x,2,,\n"
                                      "1,R,y,0,9,\n1,R,x,2,4,\n")
    done = run("check", tmp_path / "odd.csv", "--model", "rvwmo", "--json")
    notes = " ".join(json.loads(done.stdout)["notes"])
    assert "has no load-reserved, SC x=2 (thread 1, line 4) first" in notes
    assert "load-reserved of another address, SC x=1 (thread 0, line 3, time 7:)" in notes
    assert "1 access begins before one that stands before it" in notes


READ_X = {"thread": "0", "op": "R", "address": "x", "value": 0}
READ_Y = READ_X | {"address": "y"}
SC_X = READ_X | {"op": "SC", "value": 1}


@pytest.mark.parametrize("ending", ["csv", "json", "jsonl", "parquet"])
@pytest.mark.parametrize(("rows", "complaint"), [
    ([READ_X, READ_Y | {"addr": "3"}, READ_X], "addr 3 is no earlier operation of thread 0; this is its operation 2"),
    ([READ_X, READ_Y | {"thread": "1", "ctrl": "1"}], "ctrl 1 is no earlier operation of thread 1"),
    ([READ_X | {"op": "W", "value": 1}, READ_Y | {"addr": "1"}], "addr must name an operation that reads"),
    ([READ_X, READ_Y | {"data": "1"}], "data is a dependency of a write, and this is a read"),
    ([READ_X, {"thread": "0", "op": "F", "fence": "r.x"}], "fence 'r.x' is not one of r.r, r.w"),
    ([READ_X, {"thread": "0", "op": "F.q.w"}], "fence 'q.w' is not one of r.r, r.w"),
    ([READ_X, READ_Y | {"fence": "w.w"}], "fence 'w.w' says what a fence orders, and this is none"),
    ([READ_X, {"thread": "0", "op": "F", "aqrl": "aq"}], "a fence is no acquire or release by itself"),
    ([READ_X, READ_Y | {"aqrl": "acq!"}], "aqrl 'acq!' is not one of aq, rl, aqrl"),
    ([READ_X, SC_X | {"pair": 2}], "pair 2 is no earlier operation of thread 0"),
    ([READ_X, SC_X | {"thread": "1", "pair": 1}], "pair 1 is no earlier operation of thread 1"),
    ([READ_X, READ_Y | {"begin": 9, "end": 3}], "this ends at 3, before it begins at 9"),
])
def test_bad_annotations(tmp_path: Path, ending: str, rows: list[dict[str, Any]], complaint: str) -> None:
    """An error with the line, in every format that has them."""
    (found,) = gradual.read(_written(tmp_path / f"bad.{ending}", rows))
    assert isinstance(found, InputError) and complaint in found.message
    assert found.line == {"csv": 3, "json": 1}.get(ending, 2) and ("operation 2" in str(found) or ending != "json")


@pytest.mark.parametrize("ending", ["csv", "json", "jsonl", "parquet"])
def test_a_store_conditional_alone_is_noted(tmp_path: Path, ending: str) -> None:
    file = _written(tmp_path / f"odd.{ending}", [READ_X, SC_X])
    done = run("check", file, "--model", "rvwmo", "--model", "tso")
    notes = [line for line in done.stdout.splitlines() if line.startswith("    note: ")]
    assert done.returncode == 0 and len(notes) == 1 and "has no load-reserved, SC x=1 (thread 0, " in notes[0]


def test_bad_annotations_exit_with_2(tmp_path: Path) -> None:
    file = _written(tmp_path / "bad.csv", [READ_X, READ_Y | {"addr": "3"}])
    done = run("check", file, "--model", "rvwmo")
    assert done.returncode == 2 and "bad.csv:3" in done.stdout + done.stderr and "Traceback" not in done.stderr


def _written(path: Path, rows: list[dict[str, Any]]) -> Path:
    columns = [*dict.fromkeys(["thread", "op", "address", "value", *(name for row in rows for name in row)])]
    if path.suffix == ".csv":
        lines = [",".join(str(row.get(name, "")) for name in columns) for row in rows]
        path.write_text("\n".join([",".join(columns), *lines]) + "\n")
    elif path.suffix == ".parquet":
        pq.write_table(pa.table({name: [row.get(name) for row in rows] for name in columns}), path)
    else:
        whole = json.dumps({"operations": rows}) if path.suffix == ".json" else "\n".join(map(json.dumps, rows))
        path.write_text(whole + "\n")
    return path


@pytest.mark.parametrize("name", ["rvwmo", "wmo"])
def test_looking_ahead_changes_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a certificate looks up while the engine decides: a witness passes as without, a wrong one does not."""
    monkeypatch.setattr(certificate, "MANY", 1)
    model = load(name)
    for seed in range(5):
        history = generate(name, threads=4, operations=200, locations=8, seed=seed)
        verdict = check(history, name)
        assert isinstance(verdict.evidence, Witness)
        backwards = Witness(list(verdict.evidence.order)[::-1])
        for shown, holds in ((verdict.evidence, True), (backwards, False)):
            for ahead in (None, certificate.look_ahead(history, model)):
                with nullcontext() if holds else pytest.raises(certificate.CertificateError):
                    certificate.check(history, model, shown, ahead=ahead)
    assert certificate.look_ahead(history, load("tso")) is None
