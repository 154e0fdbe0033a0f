"""RISC-V litmus tests: the dialect, its answers beside herd's, and logs of litmus7."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from pairs import Evaluator

sys.path.insert(0, str(Path(__file__).parents[1]))

from experiments.riscv import herd
from experiments.riscv.__main__ import KNOWN, agrees
from experiments.riscv.random_tests import random_test
from gradual import programs
from gradual.evidence import certificate
from gradual.models import load
from gradual.programs import observe
from gradual.programs.condition import And, Equal
from gradual.programs.executions import Executions
from gradual.programs.instructions import Failed, Fence, Load, Rmw, Store
from gradual.programs.program import Bounds, Program
from gradual.programs.scan import ProgramError
from gradual.programs.trace import witness

RISCV = Path(__file__).parents[1] / "traces" / "riscv"


def riscv(*threads: str, given: str = "", end: str = "exists (x=0)") -> str:
    """A test whose threads are instructions with ; between, and have x, y, z in s0, s1, s2."""
    columns = [[f"P{n}", *map(str.strip, thread.split(";"))] for n, thread in enumerate(threads)]
    height = max(map(len, columns))
    rows = zip(*([*column, *[""] * (height - len(column))] for column in columns), strict=True)
    places = " ".join(f"{n}:s0=x; {n}:s1=y; {n}:s2=z;" for n in range(len(threads)))
    return "\n".join([f"RISCV T\n{{ {places} {given} }}", *(f" {' | '.join(row)} ;" for row in rows), end])


def outcomes(text: str, model: str = "rvwmo") -> set[str]:
    found = observe.outcomes(programs.parse(text), model)
    return {found.text(outcome) for outcome in found.outcomes or ()}


# --- what is read


def test_instructions() -> None:
    program = programs.parse(riscv(
        "li a0,1; sw.rl a0,0(s0); lw.aq a1,4(s1); amoswap.w.aq.rl x0,a0,(s2); fence r,rw; fence.tso; fence.i; fence; "
        "lr.d.aqrl a2,0(s0)", given="uint64_t 0:a2; int y=3;").replace("sw.rl", "sd.rl"))
    store, load_, swap, *fences, reserved = (event.instruction for event in program.events)
    assert (store, load_, swap, reserved) == (
        Store("x", 1, marks=2 | 4, size=8), Load("y+4", "x11", marks=1 | 4, size=4), Rmw("z", 1, "", marks=3, size=4),
        Load("x", "x12", marks=3 | 8, size=8))
    assert fences == [Fence("ld", "any"), Fence(special="tso"), Fence(special="i"), Fence()]


def test_dependencies() -> None:
    program = programs.parse(riscv(
        "lw a0,0(s0); xor a1,a0,a0; add a2,s1,a1; lw a3,0(a2); bne a3,x0,L; L:; ori a4,a1,1; sw a4,0(s2); "
        "amoadd.w a5,a4,(s2)"))
    assert not any(event.returns is not None for event in program.events[:3]), "only the dependency matters, no value"
    assert [(e.addr, e.data, e.ctrl) for e in program.events[:3]] == [((), (), ()), ((0,), (), ()), ((), (0,), (1,))]
    assert {(e.data, e.ctrl) for e in program.events[3:]} == {((0,), (1,))}


def test_store_conditionals() -> None:
    program = programs.parse(riscv("lr.w a0,0(s0); sc.w a1,a2,0(s0); sc.w a3,a2,0(s0)", "sw x0,0(s0)"))
    kinds = [type(event.instruction) for event in program.events if event.thread == 0]
    assert kinds == [Load, Store, Failed, Failed, Failed], "the second one has no load-reserved left"
    assert [event.pair for event in program.events if event.writes and event.thread == 0] == [0]
    shown = "locations [0:a0; 0:a1; x;] "
    assert outcomes(riscv("lr.w a0,0(s0); li a2,1; sc.w a1,a2,0(s1)", end=shown + "exists (y=1)")) == {
        "0:x10=0; 0:x11=1; [x]=0; [y]=0;"}, "of another location"
    assert outcomes(riscv("li a2,1; lr.w a0,0(s0); sc.w a1,a2,0(s0)", "li a0,2; sw a0,0(s0)",
                          end=shown + "exists (0:a0=0)")) == {
        "0:x10=0; 0:x11=0; [x]=2;", "0:x10=0; 0:x11=1; [x]=2;", "0:x10=2; 0:x11=0; [x]=1;", "0:x10=2; 0:x11=1; [x]=2;"}


def test_the_value_of_a_status_depends_on_the_store() -> None:
    program = programs.parse(riscv("lr.w a0,0(s0); sc.w a1,x0,0(s0); xor a2,a1,a1; add a3,s1,a2; lw a4,0(a3)"))
    assert {event.addr for event in program.events if event.location == "y"} == {(1,), ()}, "stored, or failed"


def test_amos() -> None:
    for name, after in {"swap": 6, "add": 9, "and": 2, "or": 7, "xor": 5, "min": 3, "max": 6}.items():
        text = riscv(f"li a1,6; amo{name}.w a0,a1,0(s0)", given="x=3;", end="locations [0:a0; x;] exists (x=0)")
        assert outcomes(text) == {f"0:x10=3; [x]={after};"}, name
    counted = riscv(*["li a1,1; amoadd.w x0,a1,(s0)"] * 4, end="exists (x=4)")
    assert outcomes(counted) == {"[x]=4;"}


@pytest.mark.parametrize(("amo", "held", "operand", "left"), [
    ("amomin.w", 5, -1, -1), ("amominu.w", 5, -1, 5), ("amomax.w", 5, -1, 5), ("amomaxu.w", 5, -1, -1),
    ("amomaxu.d", 5, -1, -1), ("amominu.d", -2, -1, -2), ("amomin.w", 0, 0x1_FFFF_FFFF, -1)])
def test_the_lesser_and_the_greater(amo: str, held: int, operand: int, left: int) -> None:
    text = riscv(f"li a1,{operand}; {amo} a0,a1,(s0)", given=f"x={held};", end=f"exists (x={left} /\\ 0:a0={held})")
    assert observe.answer(programs.parse(text), "rvwmo").frequency == "Always"


def test_sizes_and_signs() -> None:
    text = riscv("li a0,-1; sb a0,0(s0); lbu a1,0(s0); lb a2,0(s0)", end="exists (0:a1=255 /\\ 0:a2=-1)")
    assert observe.outcomes(programs.parse(text), "rvwmo").frequency == "Always"
    with pytest.raises(ProgramError, match="x is accessed with 8 bytes here and with 4 in line 4"):
        programs.parse(riscv("lw a0,0(s0)", "ld a0,0(s0)")).events  # noqa: B018


@pytest.mark.parametrize(("given", "end", "observation"), [
    ("x=0xffffffff;", "exists (0:a0=-1 /\\ x=-1)", "Always"), ("x=-1;", "exists (x=0xffffffff)", "Always"),
    ("x=0xffffffff;", "exists (0:a0=0xffffffff)", "Always"), ("x=0xffffffff;", "forall (0:a0=-1)", "Always"),
    ("x=0x80000000;", "filter (x=0x80000000) exists (0:a0=-2147483648)", "Always")])
def test_locations_hold_words_with_a_sign(given: str, end: str, observation: str) -> None:
    text = riscv("lw a0,0(s0)", given=given, end=end)
    assert observe.answer(programs.parse(text), "rvwmo").frequency == observation


def test_words_at_computed_places_and_unused_ones_have_signs() -> None:
    dependent = riscv("lw a0,0(s1); xor a1,a0,a0; add a2,s0,a1; lw a3,0(a2)", given="x=0xffffffff; z=0xffffffff;",
                      end="exists (0:a3=-1 /\\ z=-1)")
    assert observe.answer(programs.parse(dependent), "rvwmo").frequency == "Always"


@pytest.mark.parametrize(("code", "given", "end"), [
    ("li a0,-1; amoadd.d a1,a0,(s0)", "int64_t x=-9223372036854775808;", "x=9223372036854775807"),
    ("add a0,a1,a2; lw a3,0(s0)", "0:a1=-9223372036854775808; 0:a2=-1;", "0:a0=9223372036854775807"),
    ("li a1,0x7fffffffffffffff; addi a0,a1,1; sd a0,0(s0)", "", "x=-9223372036854775808"),
    ("li a1,0x7fffffffffffffff; addi a0,a1,1; bgez a0,L; li a3,1; L:", "", "0:a3=1")])
def test_registers_have_64_bits(code: str, given: str, end: str) -> None:
    found = observe.answer(programs.parse(riscv(code, given=given, end=f"exists ({end})")), "rvwmo")
    assert found.frequency == "Always"


def test_negative_numbers_are_told_in_decimals() -> None:
    assert outcomes(riscv("lw a0,0(s0)", given="x=-1;", end="exists (0:a0=-1)")) == {"0:x10=-1;"}


def test_questions_agree_with_what_there_is() -> None:
    """Of values that nothing stores, too."""
    rng, asked = Random(3), Counter[str]()
    for program in random_programs(9, 60, amos=True):
        places = [*program.observed, *program.locations, *program.registers]
        for _ in range(6):
            part = And(tuple(Equal(rng.choice(places), rng.choice((0, 1, 2, 7))) for _ in range(rng.randint(1, 3))))
            one = replace(program, condition=replace(program.condition, proposition=part))  # type: ignore[type-var]
            if one.size < 1000:
                found = observe.answer(one, "rvwmo", explained=False).frequency
                assert found == observe.outcomes(one, "rvwmo", explained=False).frequency, (found, one)
                asked[found] += 1
    assert min(asked[how] for how in ("Never", "Always", "Sometimes")) > 5


def test_a_condition_that_nothing_can_meet() -> None:
    """An atom without rules is false, whatever else the solver calls so."""
    text = riscv("lw a0,0(s0); sw a0,0(s1)", "lw a0,0(s1); sw a0,0(s0)", end="exists (0:a0=7 \\/ 1:a0=9)")
    assert observe.answer(programs.parse(text), "rvwmo").frequency == "Never"


def test_addresses_in_memory() -> None:
    text = riscv("sd s2,0(s1)", "ld a0,0(s1); lw a1,0(a0)", given="x=1; z=2; int *y=&x;",
                 end="exists (1:a0=z /\\ 1:a1=1)")
    assert outcomes(text) == {"1:x10=x; 1:x11=1;", "1:x10=z; 1:x11=2;"}
    found = observe.outcomes(programs.parse(text), "rvwmo")
    assert found.frequency == "Never" and found.why_not
    told = riscv("li a0,1; sw a0,0(s0); fence w,w; sd s0,0(s1)", "ld a0,0(s1); lw a1,0(a0)", given="int *y=&z;",
                 end="exists (1:a0=x /\\ 1:a1=0)")
    assert any("R y=x (P1" in line for line in observe.answer(programs.parse(told), "rvwmo").why_not)
    with pytest.raises(ProgramError, match="would access the number 0"):
        programs.parse(riscv("lw a0,0(a7)")).events  # noqa: B018


def test_filter_and_registers_that_nobody_sets() -> None:
    text = riscv("lr.w a0,0(s0); li a2,1; sc.w a1,a2,0(s0)",
                 end="locations [0:a0;] filter (0:a1=0) exists (x=0 \\/ 0:a7=1)")
    assert outcomes(text) == {"0:x10=0; 0:x17=0; [x]=1;"}
    assert programs.parse(text).only is not None and programs.count(programs.parse(text), "rvwmo") == 1


def test_prefaces_of_all_kinds() -> None:
    text = riscv("sw x0,0(s0)").replace("\n", "\n(* closed { *)\nKey=value\n(* never closed\n", 1)
    assert programs.parse(text).name == "T"


def test_loops_need_a_bound() -> None:
    text = riscv("L: lr.w a0,0(s0); addi a0,a0,1; sc.w a1,a0,0(s0); bnez a1,L", end="exists (x=1)")
    with pytest.raises(ProgramError, match="loops need a bound"):
        programs.parse(text).events  # noqa: B018
    found = observe.outcomes(programs.parse(text, bounds=Bounds(unroll=2)), "rvwmo")
    assert found.reached and found.program.cut and any("--unroll 2" in note for note in found.program.notes)


@pytest.mark.parametrize(("instruction", "column", "words"), [
    ("mulh a0,a1,a2", 2, "no instruction called 'mulh' here; of RISC-V there are lb, lh"),
    ("lw.aq.rl.aq a0,0(s0)", 2, ".aq is said twice"),
    ("lw.foo a0,0(s0)", 2, ".foo is not understood; there are .aq, .rl and .aqrl"),
    ("lr a0,0(s0)", 2, "lr.w or lr.d"),
    ("lw q0,0(s0)", 5, "q0 is no register"),
    ("lw a0,x", 8, "expected the address, as in 0(x6), found 'x'"),
    ("fence rx,w", 8, "a fence is between r, w and rw, not 'rx'"),
    ("fence.now", 2, "fence.now is not understood"),
    ("li a0,a1", 8, "expected a number"),
    ("beq a0,a1", 12, "expected ','"),
    ("j M", 0, "P0 has no label M; it has none"),
])
def test_errors_name_the_place(instruction: str, column: int, words: str) -> None:
    with pytest.raises(ProgramError) as caught:
        programs.parse(riscv(instruction))
    assert caught.value.line == 4 and caught.value.column == column and words in caught.value.message


# --- what is answered


def test_the_rule_is_named() -> None:
    text = riscv("li a0,1; sw a0,0(s0); fence w,w; sw a0,0(s1)", "lw a0,0(s1); xor a1,a0,a0; add a2,s0,a1; lw a3,0(a2)",
                 end="exists (1:a0=1 /\\ 1:a3=0)")
    why = "\n".join(observe.answer(programs.parse(text), "rvwmo").why_not)
    assert "RVWMO rule 4: fence" in why and "RVWMO rule 9: address dependency" in why
    assert observe.answer(programs.parse(text), "rmo").frequency == "Never"
    assert observe.answer(programs.parse(text.replace("add a2,s0,a1", "mv a2,s0")), "rvwmo").frequency == "Sometimes"


def test_what_no_way_ends_with_is_said() -> None:
    alone = riscv("li a1,1; sc.w a2,a1,0(s0)", end="exists (0:a2=0)")
    assert observe.answer(programs.parse(alone), "rvwmo").why_not[0].startswith("no way through the program ends with")
    filtered = riscv("li a1,1; sw a1,0(s0)", "lw a0,0(s0)", end="filter (x=3) exists (1:a0=1)")
    assert "as its filter demands" in observe.answer(programs.parse(filtered), "rvwmo").why_not[0]


def random_programs(seed: int, size: int, amos: bool) -> list[Program]:
    rng = Random(seed)
    return [programs.parse(random_test(rng, f"random{at}", amos)) for at in range(size)]


def test_random_programs_by_sets_of_pairs() -> None:
    """Every execution there is, judged by the definitions."""
    models = [load(name) for name in ("rvwmo", "ztso", "rmo", "tso")]
    judged = 0
    for program in random_programs(5, 40, amos=True):
        if program.size > 200:
            continue
        every = [*Executions(program, "generic")]
        for model in models:
            allowed = {repr(execution) for execution in Executions(program, model)}
            assert allowed == {repr(one) for one in every if Evaluator(program, one).allows(model)}, (program, model)
            judged += len(every)
    assert judged > 300


def test_atomics_that_count_are_small_programs() -> None:
    """Two harts add 1 twice each: there are as many executions as orders."""
    twice = "li a1,1; amoadd.w a0,a1,(s0); amoadd.w a0,a1,(s0)"
    program = programs.parse(riscv(twice, twice, end="exists (x=4)"))
    assert programs.count(program, "rvwmo") == 6 and program.size < 1e6
    for program in random_programs(8, 40, amos=True):
        assert program.size > 3000 or programs.count(program, "generic") <= program.size


def test_executions_are_certified() -> None:
    for program in random_programs(6, 12, amos=True):
        for execution, _ in zip(Executions(program, "rvwmo"), range(3), strict=False):
            history, run = witness(program, execution, "rvwmo")
            certificate.check(history, load("rvwmo"), run)


@pytest.mark.skipif(not herd.there(), reason="herd7 is not on PATH")
def test_random_programs_by_herd(tmp_path: Path) -> None:
    rng, files = Random(7), [tmp_path / f"random{at}.litmus" for at in range(30)]
    for file in files:
        file.write_text(random_test(rng, file.stem, amos=False))
    said, _ = herd.ask(files)
    assert len(said) > 25 and all(agrees(programs.read(str(tmp_path / f"{one.test}.litmus")), one) for one in said)


def test_public_tests_as_herd_answers_them(shared_traces: Path) -> None:
    folder = shared_traces / "riscv-litmus"
    with (folder / "herd.csv").open() as stream:
        rows = [row for row in csv.DictReader(stream) if row["test"] not in KNOWN]
    for row in rows[::12]:
        found = observe.outcomes(programs.read(str(folder / row["file"]), Bounds(unroll=2)), "rvwmo", explained=False)
        assert (found.frequency, str(len(found.outcomes or ()))) == (row["observation"], row["states"]), row["test"]


def test_the_tests_that_ship() -> None:
    with (RISCV / "expected.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert {row["test"] for row in rows} == {path.stem for path in RISCV.glob("*.litmus")}
    for row in rows:
        program = programs.read(str(RISCV / f"{row['test']}.litmus"))
        assert program.name == row["test"]
        assert len(observe.outcomes(program, "rvwmo", explained=False).outcomes or ()) == int(row["states"])
        for model in ("sc", "ztso", "rvwmo"):
            assert observe.answer(program, model, explained=False).frequency == row[model], (row["test"], model)


# --- logs of litmus7

SB = riscv("li a0,1; sw a0,0(s0); fence rw,rw; lw a1,0(s1)", "li a0,1; sw a0,0(s1); fence rw,rw; lw a1,0(s0)",
           end="exists (0:a1=0 /\\ 1:a1=0)").replace("RISCV T", "RISCV SB+fences")
LOG = """%%% Results for SB+fences %%%
Test SB+fences Allow
Histogram (3 states)
5     *>0:x11=0; 1:x11=0;
999995:>0:a1=1; 1:x11=0;
3     :>0:x11=1; 1:x11=1;
Ok
Witnesses
Positive: 5 Negative: 999998
Hash=00ff
Observation SB+fences Sometimes 5 999998
Time SB+fences 0.11

Test Other Allow
Histogram (1 states)
10    :>0:x11=0;
"""


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "gradual.cli", "run", *map(str, arguments)], capture_output=True,
                          text=True, timeout=120, check=False)


def test_a_log_of_litmus7(tmp_path: Path) -> None:
    test, log, unseen = tmp_path / "SB.litmus", tmp_path / "chip.txt", tmp_path / "unseen.litmus"
    test.write_text(SB)
    unseen.write_text(SB.replace("SB+fences", "unseen"))
    log.write_text(LOG)
    done = run(test, unseen, "--observed", log, "--model", "rvwmo")
    assert done.returncode == 1
    assert f"{log}:4: 5 times 0:x11=0; 1:x11=0;   allowed by NO MODEL" in done.stdout
    assert "RVWMO rule 4: fence" in done.stdout and "its Hash is 00ff" in done.stdout
    assert done.stdout.endswith("1 tests, 3 states in 1000003 runs: 1 is allowed by NO MODEL (RVWMO)\n")
    assert f"1 tests are in {log} and not given: Other" in done.stderr and "not in" in done.stderr
    log.write_text(LOG.replace("5     *>0:x11=0; 1:x11=0;\n", "").replace("(3 states)", "(2 states)"))
    done = run(test, "--observed", log, "--model", "rvwmo", "--model", "sc", "--json")
    (record,) = map(json.loads, done.stdout.splitlines())
    assert done.returncode == 0 and record["states"][0]["allowed"] == {"rvwmo": True, "sc": True}
    assert record["states"][0]["line"] == 4 and record["states"][0]["times"] == 999995


def test_a_log_in_hex_has_no_signs(tmp_path: Path) -> None:
    (tmp_path / "neg.litmus").write_text(riscv("lw a0,0(s0)", "li a0,-1; sw a0,0(s0)", end="exists (0:a0=-1)").replace(
        "RISCV T", "RISCV neg"))
    (tmp_path / "neg.log").write_text("Test neg Allow\nHistogram (2 states)\n5 *>0:x10=0xffffffff; [x]=0xffffffff;\n"
                                      "7 :>0:x10=0x0; [x]=0xffffffff;\nOk\n\n")
    done = run(tmp_path / "neg.litmus", "--observed", tmp_path / "neg.log", "--model", "sc")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(("before", "after", "words"), [
    ("0:a1=1", "7:a1=1", "there is no thread 7"), ("0:a1=1", "w=1", "no w"),
    ("Test SB+fences Allow\n", "", "belongs to no test"),
    ("\n5     *>", "\n-5     *>", "3 states, and 0 of them stand"),
    ("3     :>0:x11=1; 1:x11=1;\nOk\n", "Ok\n", "3 states, and 2 of them stand here"),
    ("0:x11=1; 1:x11=1;", "0:x11=1;", "other registers and locations"),
    ("0:x11=1; 1", "0:x11=zz; 1", "has no zz"),
    ("Test SB+fences", "Test SC", "no test that was given")])
def test_bad_logs(tmp_path: Path, before: str, after: str, words: str) -> None:
    (tmp_path / "SB.litmus").write_text(SB)
    (tmp_path / "chip.txt").write_text(LOG.replace(before, after, 1))
    done = run(tmp_path / "SB.litmus", "--observed", tmp_path / "chip.txt", "--model", "rvwmo")
    assert done.returncode == 2 and words in done.stderr and "Traceback" not in done.stderr


def test_a_log_with_addresses(tmp_path: Path) -> None:
    """Of what only stands in memory, or in a register that is set again."""
    code = ("ld a1,0(s2); add s1,s1,a1; sd s1,0(s0)", "ld a0,0(s0)")
    text = riscv(*code, given="int *x=&w; w=1;", end="exists (1:a0=y)")
    (tmp_path / "p.litmus").write_text(text.replace("RISCV T", "RISCV p"))
    (tmp_path / "p.log").write_text("Test p Allow\nHistogram (2 states)\n5 *>1:x10=y;\n7 :>1:x10=w;\nOk\n\n")
    done = run(tmp_path / "p.litmus", "--observed", tmp_path / "p.log", "--model", "rvwmo")
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_state_that_a_chip_showed_is_allowed(shared_traces: Path) -> None:
    """But for PPOCA: the log has another test of that name (its Hash is not that of the file)."""
    folder = shared_traces / "riscv-litmus"
    tests = sorted(folder.glob("*.litmus"))
    done = run(*tests, "--observed", folder / "SiFive-Freedom-U540.log", "--model", "rvwmo", "--json")
    records = [json.loads(line) for line in done.stdout.splitlines()]
    forbidden = {record["program"] for record in records for state in record["states"] if not state["allowed"]["rvwmo"]}
    assert len(records) == 200 and forbidden == {"PPOCA"}
