"""Programs with data flow: read and written, run by machines, under models of executions, and on the command line."""

from __future__ import annotations

import dataclasses
import json
import signal
import subprocess
import time
from pathlib import Path
from random import Random
from xml.etree import ElementTree

import pytest
from command import GRADUAL
from command import gradual as command
from dataflow_machine import outcomes
from test_events import CAUSALITY, catalogue, lisa, random_program

import gradual
from gradual import programs
from gradual.history import Builder
from gradual.models import load
from gradual.programs import litmus, observe
from gradual.programs.axioms import Axioms
from gradual.programs.executions import Executions
from gradual.programs.expressions import Address, Apply, Reg
from gradual.programs.instructions import Access, Branch, Fence, Label, Load, Move, Store
from gradual.programs.observed import Sightings
from gradual.programs.program import Bounds, Program
from gradual.programs.scan import ProgramError
from gradual.programs.trace import both_ways, history_of, witness
from gradual.programs.unfolding import values_of, values_text

# --- reading and writing -------------------------------------------------------------------------


def test_lisa_with_data_flow() -> None:
    program = programs.parse("LISA all\n{ a=1; a+1=2; 0:r9=7; }\n P0 | P1 ;\n r[acq] r1 x | E: r[] r2 a+1 ;\n"
                             " w[rel] a+r1 (add r1 (sub r9 1)) | f[sc] ;\n mov r2 (neq r1 r9) | ;\n b[] r2 E | ;\n"
                             " w[] a+0 3 | ;\n E: f[acq] | ;\nexists (0:r1=0 /\\ a+1=2)")
    first, second = program.threads
    assert first.instructions == (
        Load("x", "r1", mode="acq"),
        Access(Apply("add", Address("a"), Reg("r1")), Apply("add", Reg("r1"), 6), None, mode="rel"),
        Move("r2", Apply("ne", Reg("r1"), 7)), Branch(Reg("r2"), "E"), Store("a", 3), Label("E"),
        Fence("ld", "any", mode="acq"))
    assert second.instructions == (Label("E"), Load("a+1", "r2"), Fence(mode="sc"))
    assert programs.parse(litmus.write(program)) == program


@pytest.mark.parametrize("path", sorted(CAUSALITY.glob("*.litmus")), ids=lambda path: path.stem)
def test_causality_round_trip(path: Path) -> None:
    program = programs.read(str(path))
    assert program.name == path.stem and programs.parse(litmus.write(program)) == program


def test_random_round_trip() -> None:
    rng = Random(1)
    for _ in range(50):
        program = random_program(rng, rmws=True)
        assert programs.parse(litmus.write(program)) == program


def test_values() -> None:
    assert values_of("0..2") == (0, 1, 2) and values_of("42, 0..1,-1") == (-1, 0, 1, 42)
    assert values_text((0, 1, 2)) == "0..2" and values_text((0, 42)) == "0, 42" and values_text((3,)) == "3"


def test_a_program_without_data_flow_unfolds_into_itself() -> None:
    program = lisa("SB", ["w[] x 1; r[] r1 y", "w[] y 1; r[] r2 x"], "0:r1=0")
    assert len(program.events) == 4 and not program.branches


def test_dependencies() -> None:
    program = lisa("deps", ["r[] r1 x; r[] r2 y+r1; w[] z (xor r2 r1); b[] r2 E; w[] x 1; E: r[] r3 z", "w[] x 1"],
                   "0:r1=0")
    first = program.events[:5]
    assert [event.addr for event in first] == [(), (0,), (), (), ()]
    assert [event.data for event in first] == [(), (), (0, 1), (), ()]
    assert [event.ctrl for event in first] == [(), (), (), (1,), (1,)]
    assert {event.location for event in program.events} >= {"x", "y", "y+1", "z"}


# --- against machines ----------------------------------------------------------------------------


def everything_shown(program: Program) -> Program:
    return dataclasses.replace(program, condition=None, locations_shown=(*program.registers, "x", "y"))


def test_machines_end_with_the_same_outcomes() -> None:
    rng = Random(31)
    branching = 0
    for _ in range(60):
        program = everything_shown(random_program(rng, rmws=True))
        if len(program.events) > 40:
            continue
        branching += program.branches
        for model in ("sc", "tso"):
            assert set(Executions(program, model).outcomes()) == outcomes(program, model), (model, program)
    assert branching > 30


def test_executions_of_ways_are_certified() -> None:
    rng = Random(12)
    for _ in range(12):
        program = everything_shown(random_program(rng))
        if len(program.events) > 40:
            continue
        for model in ("sc", "tso"):
            axioms = Axioms(program, model)
            for execution in list(Executions(program, model))[:10]:
                history, run = witness(program, execution, model)
                assert sorted(run.order) == list(range(len(history))) and axioms.failure(execution) is None
                assert both_ways(history, model) == (True, True)


DEPENDENCIES = """Dependencies "what a core keeps in order that knows nothing else"
acyclic po-loc | rf | co | fr as coherence
acyclic addr | data | ctrl;[W] | rfe | coe | fre as order
"""


@pytest.mark.parametrize("test, expected", [
    ("LB", True), ("LB+datas", False), ("LB+ctrls", False), ("LB+false-ctrl", False), ("SB", True), ("MP", True)])
def test_dependencies_are_those_of_model_files(test: str, expected: bool, tmp_path: Path) -> None:
    (tmp_path / "dependencies.cat").write_text(DEPENDENCIES)
    program = programs.read(str(CAUSALITY / f"{test}.litmus"))
    found = observe.answer(program, load(str(tmp_path / "dependencies.cat")))
    assert found.reached == expected and bool(found.why_not) == (not expected)


def test_sc_tso_pso_forbid_every_causality_test_case() -> None:
    for row in catalogue():
        if row["test"].startswith("TC"):
            bounds = Bounds(values_of(row["values"])) if row["values"] else None
            program = programs.read(str(CAUSALITY / f"{row['test']}.litmus"), bounds)
            for model in ("sc", "tso", "pso"):
                assert observe.answer(program, model, explained=False).frequency == "Never", (row["test"], model)


def test_listed_outcomes_and_counts() -> None:
    program = programs.read(str(CAUSALITY / "LB+false-ctrl.litmus"))
    found = observe.outcomes(program, "generic")
    assert sorted(found.outcomes or ()) == [(0, 0), (1, 0), (1, 1)]
    assert Executions(program, "generic").count() == 3 and Executions(program, "sc").count() == 2
    history = history_of(program, next(iter(Executions(program, "sc"))))
    assert history.ctrl is not None


def test_observed_histories_take_a_way() -> None:
    program = programs.read(str(CAUSALITY / "LB+ctrls.litmus"))

    def seen(stored: bool, value: int) -> gradual.History:
        builder = Builder("run", "runs.csv")
        builder.read("P0", "x", value)
        if stored:
            builder.write("P0", "y", 1)
        builder.read("P1", "y", 0)
        return builder.build()

    sightings = Sightings(program, ["sc", "generic"])
    assert sightings.add(seen(False, 0)).allowed == {"sc": True, "generic": True}
    assert sightings.add(seen(True, 1)).allowed == {"sc": False, "generic": False}
    with pytest.raises(gradual.InputError, match="P0 does 2 operations, in the program 1"):
        sightings.add(seen(True, 0))
    with pytest.raises(gradual.InputError, match=r"loads return 0\.\.1"):
        sightings.add(seen(True, 5))


# --- bad input -----------------------------------------------------------------------------------

LOOP = "LISA spin\n{ }\n P0 | P1 ;\n L: r[] r1 x | w[] x 1 ;\n mov r2 (eq r1 0) | ;\n b[] r2 L | ;\nexists (0:r1=1)\n"


def test_loops() -> None:
    with pytest.raises(ProgramError, match=r"f:6: P0 jumps back to L: loops need a bound, as in --unroll 2"):
        programs.parse(LOOP, "f").events  # noqa: B018
    for rounds in (1, 2, 3):
        program = programs.parse(LOOP, bounds=Bounds(unroll=rounds))
        assert program.cut and len([event for event in program.events if event.thread == 0]) == 2 * rounds
        assert observe.answer(program, "sc").reached
    assert any("--unroll 3" in line for line in observe.answer(program, "sc").lines())


@pytest.mark.parametrize("cells, words", [
    ("w[] x (add r7 1)", "nothing is known of the register r7"),
    ("b[] r1 E; E:", "nothing is known of the register r1"),
    ("r[] r1 x; r[] r2 r1", "would access the number 0, which is no location"),
    ("cas[] r1 x", "no instruction called 'cas'"), ("f[lwsync]", r"f\[lwsync\] is not understood"),
    ("r[] r1 x; mov r1 (shl r1 1)", "no operator called 'shl'"), ("r[] r1 x; b[] r1 L", "P0 has no label L"),
])
def test_bad_programs(cells: str, words: str) -> None:
    with pytest.raises(ProgramError, match=words):
        lisa("bad", [cells], "true").events  # noqa: B018


def test_explosion() -> None:
    program = lisa("large", ["; ".join(f"r[] r{n} x; w[] y r{n}" for n in range(12))], "true")
    with pytest.raises(ProgramError, match="more than 100000 events"):
        dataclasses.replace(program, bounds=Bounds(tuple(range(6)))).events  # noqa: B018
    with pytest.raises(ProgramError, match="more than 16 values"):
        lisa("counts", ["rmw[] r1 (add r1 1) x"] * 17, "true").events  # noqa: B018
    assert len(lisa("counts", ["rmw[] r1 (add r1 1) x"] * 2, "true").events) == 4


# --- the command line ----------------------------------------------------------------------------


def run(*arguments: object, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return command("run", *arguments, stdin=stdin)


def test_command_line_verdicts() -> None:
    done = run(CAUSALITY / "TC17.litmus", "--model", "jr", "--model", "c11")
    assert done.returncode == 0, done.stderr
    game, cpp = done.stdout.strip().split("\n\n")
    assert game.splitlines()[:5] == [
        "Model J+R (justifies: label)", "Test TC17 Allowed", "Structure 17 events, 60 configurations, values 0, 42",
        "Ok", "Condition exists (0:r1=42 /\\ 0:r3=42 /\\ 1:r2=42)"]
    assert "justified in 2 moves" in game and "--justifies visible) J+R forbids it" in game
    assert cpp.startswith("Model C++\n")
    other = run(CAUSALITY / "TC17.litmus", "--model", "jr", "--justifies", "visible").stdout
    assert "decided by explicit search and CEGAR" in other and "is not justified" in other
    assert "--justifies label) J+R allows it" in other


def test_command_line_json() -> None:
    done = run(CAUSALITY / "LB+datas.litmus", "--model", "jr", "--model", "sc", "--model", "ra", "--model", "rc11",
               "--query", "--json")
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["model"], row["holds"]) for row in found] == [
        ("sc", False), ("jr", False), ("ra", False), ("rc11", False)]
    assert found[1]["decided_by"] == ["explicit search", "CEGAR"] and found[1]["other_reading"] == "forbidden"


def test_command_line_compare() -> None:
    done = run(CAUSALITY / "TC1.litmus", "--compare", "jr", "sc", "ra", "tso")
    assert done.returncode == 0, done.stderr
    assert [line.split()[:2] for line in done.stdout.splitlines()[2:6]] == [
        ["J+R", "allowed"], ["SC", "forbidden"], ["RA", "forbidden"], ["TSO", "forbidden"]]
    done = run(CAUSALITY / "TC1.litmus", "--compare", "jr,c11", "--json")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["model"], row["holds"]) for row in rows] == [("jr", True), ("c11", True)]


def test_command_line_structures_are_drawn(tmp_path: Path) -> None:
    for ending in ("svg", "dot"):
        out = tmp_path / f"structure.{ending}"
        done = run(CAUSALITY / "TC1.litmus", "--model", "jr", "--show-structure", out)
        assert done.returncode == 0 and out.exists(), done.stderr
    classes = [element.get("class", "") for element in ElementTree.parse(tmp_path / "structure.svg").iter()]
    assert len([name for name in classes if name.startswith("box")]) == 10
    dot = (tmp_path / "structure.dot").read_text()
    assert dot.count("style=dashed") == 6 and dot.count('label="~"') == 2
    hostile = 'LISA a"<b>&\n{ }\n P0 ;\n r[] r1 x ;\nexists (0:r1=0)'
    done = run("-", "--model", "jr", "--show-structure", tmp_path / "odd.svg", stdin=hostile)
    assert done.returncode == 0 and ElementTree.parse(tmp_path / "odd.svg") is not None


@pytest.mark.parametrize("arguments, words", [
    (["--model", "jr", "--count"], "no executions to count"),
    (["--justifies", "all", "--model", "jr"], "label or visible"),
    (["--values", "2..0", "--model", "jr"], "--values '2..0'"),
    (["--values", "x", "--model", "jr"], "is not a number"),
    (["--show-structure", "out.png"], ".svg or .dot"), (["--unroll", "0"], "--unroll"),
    (["--compare", "nothing"], "no model called 'nothing'"), (["--model", "jrr"], "no model called 'jrr'"),
])
def test_command_line_refusals(arguments: list[str], words: str) -> None:
    done = run(CAUSALITY / "TC1.litmus", *arguments)
    assert done.returncode == 2 and words in done.stderr and "Traceback" not in done.stderr


def test_command_line_bad_programs() -> None:
    done = run("-", "--model", "jr", stdin=LOOP)
    assert done.returncode == 2 and done.stderr == (
        "gradual: -:6: P0 jumps back to L: loops need a bound, as in --unroll 2\n")
    done = run("-", "--model", "jr", "--unroll", "2", stdin=LOOP)
    assert done.returncode == 0 and "more often than --unroll 2" in done.stdout
    done = run(CAUSALITY / "TC9.litmus", CAUSALITY / "TC1.litmus", "--model", "jr")
    assert done.returncode == 2 and "--values" in done.stderr and "Test TC1" in done.stdout
    assert "no condition" in run("-", "--model", "jr", stdin="P0: ld x").stderr
    assert "has no rmw" in run("-", "--model", "jr", stdin="P0: rmw x 1 r0\nexists (0:r0=0)").stderr


def test_explosion_and_interrupt() -> None:
    """Too large is said; what is only long is ended by Ctrl-C, with the status for that."""
    reads = "; ".join(f"r[] r{n} x{n % 3}; w[] x{(n + 1) % 3} r{n}" for n in range(3))
    text = litmus.write(lisa("large", [reads] * 5, " /\\ ".join(f"{n}:r2=1" for n in range(5))))
    done = run("-", "--model", "ra", "--values", "0..3", stdin=text)
    assert done.returncode == 2 and "(843 events) is too large for RA: fewer values" in done.stderr
    process = subprocess.Popen([*GRADUAL, "run", "-", "--compare", "sc", "--values", "0..3"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdin
    process.stdin.write(text)
    process.stdin.close()
    time.sleep(3)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
