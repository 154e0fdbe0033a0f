"""Programs: counts that are known, the catalogue, machines that explore, certificates, and files read and written."""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random
from xml.etree import ElementTree

import pytest
from command import GRADUAL
from command import gradual as command
from program_machine import ends
from random_histories import random_history

import gradual
from gradual import programs
from gradual.evidence import certificate
from gradual.history import Builder, InputError
from gradual.models import load
from gradual.programs import litmus, observe, text
from gradual.programs.axioms import Axioms
from gradual.programs.condition import Not, Register
from gradual.programs.executions import Execution, Executions, outcome_of
from gradual.programs.observation import Observation
from gradual.programs.observed import Sightings
from gradual.programs.program import Fence, Load, Program, Rmw, Store, Thread
from gradual.programs.scan import ProgramError
from gradual.programs.trace import allows, both_ways, history_of, witness

MODELS = ("generic", "sc", "tso", "pso")
LITMUS = Path(__file__).parents[1] / "traces" / "litmus"

SB = "st x 1, ld y || st y 1, ld x\nexists (0:r0=0 /\\ 1:r0=0)"
SB_FENCED = "st x 1, f(any,any), ld y || st y 1, f(any,any), ld x"
MP3 = "st x 1, st m 1, ld m, ld x || ld m, ld x, st x 2, st m 2 || ld m, ld x, st x 3, st m 3"
MP4 = f"{MP3} || ld m, ld x, st x 4, st m 4"


def store_buffering(threads: int) -> str:
    lines = [f"P{n}: st x{n} 1; ld x{(n + 1) % threads} r0" for n in range(threads)]
    return "\n".join([*lines, "exists (" + " /\\ ".join(f"{n}:r0=0" for n in range(threads)) + ")"])


def random_program(rng: Random, fences: bool = True) -> Program:
    """Small, with values that repeat, rmws, and fences of every class."""
    threads = []
    for number in range(rng.choice((2, 2, 3))):
        size = rng.randint(1, 4 if number < 2 else 2)
        threads.append(Thread(f"P{number}", tuple(_instruction(rng, at, fences) for at in range(size))))
    program = Program("random", tuple(threads), rng.choice(({}, {}, {"x": 1})))
    return dataclasses.replace(program, locations_shown=(*program.registers, *program.locations))


def _instruction(rng: Random, at: int, fences: bool) -> Load | Store | Rmw | Fence:
    location, value, register = rng.choice("xy"), rng.randint(1, 2), f"r{at}"
    kind = rng.random()
    if kind < 0.42:
        return Store(location, value)
    if kind < 0.78:
        return Load(location, register)
    if kind < 0.86 or not fences:
        return Rmw(location, value, register)
    if rng.random() < 0.2:
        return Fence(special=rng.choice(("tso", "i")))  # type: ignore[arg-type]
    classes = ("any", "ld", "st")
    return Fence(rng.choice(classes), rng.choice(classes))  # type: ignore[arg-type]


# --- counts ------------------------------------------------------------------------------------


@pytest.mark.parametrize("program, counts", [
    (SB, (4, 3, 4, 4)), (SB_FENCED, (4, 3, 3, 3)), (MP3, (147456, 678, 800, 2258)),
    (MP4, (None, 81882, 96498, 516030)),
])
def test_counts(program: str, counts: tuple[int | None, ...]) -> None:
    parsed = programs.parse(program)
    for model, count in zip(MODELS, counts, strict=True):
        if count is not None:
            assert programs.count(parsed, model) == count, model
    assert parsed.size == (counts[0] or 225_000_000)


def test_outcomes_sum_up_to_the_count() -> None:
    program = programs.parse(MP3)
    for model in MODELS[1:]:
        executions = Executions(program, model)
        assert sum(executions.outcomes().values()) == executions.count() == len(list(executions))


def test_equal_values_stay_apart() -> None:
    program = programs.parse("st x 1 || st x 1 || ld x")
    assert programs.count(program, "generic") == 6
    found = observe.outcomes(program, "sc")
    assert sorted(found.outcomes.items()) == [((0,), 2), ((1,), 4)]


def test_store_buffering_of_a_hundred_threads_is_a_question_not_an_enumeration() -> None:
    program = programs.parse(store_buffering(100))
    started = time.process_time()
    assert [observe.answer(program, model).frequency for model in MODELS] == ["Sometimes", "Never", *["Sometimes"] * 2]
    assert time.process_time() - started < 4


def test_questions_agree_with_enumeration() -> None:
    rng = Random(11)
    for _ in range(60):
        program = random_program(rng)
        places = program.observed
        end = f" \\/ ~({program.locations[0]}=1)" if program.locations else ""
        values = rng.choice(sorted(Executions(program, "generic").outcomes()))
        asked = " /\\ ".join(f"{place}={value}" for place, value in zip(places, values, strict=True)
                             if rng.random() < 0.5)
        program = programs.parse(text.write(program) + f"exists ({asked or 'true'}{end})")
        for model in MODELS:
            listed, asked_only = observe.outcomes(program, model), observe.answer(program, model)
            assert (listed.reached, listed.missed) == (asked_only.reached, asked_only.missed)
            assert listed.why_not == asked_only.why_not
            assert bool(listed.why_not) == (not listed.reached and model != "generic")


# --- the catalogue -----------------------------------------------------------------------------


def catalogue() -> list[dict[str, str]]:
    with (LITMUS / "expected.csv").open() as stream:
        return list(csv.DictReader(stream))


@pytest.mark.parametrize("row", catalogue(), ids=lambda row: row["test"])
def test_catalogue(row: dict[str, str]) -> None:
    program = programs.read(str(LITMUS / f"{row['test']}.litmus"))
    assert program.name == row["test"]
    for model in ("sc", "tso", "pso"):
        found = observe.outcomes(program, model)
        assert found.frequency == observe.answer(program, model).frequency == row[model], model
        assert bool(found.why_not) == (row[model] == "Never")


def test_the_catalogue_is_complete() -> None:
    assert {row["test"] for row in catalogue()} == {path.stem for path in LITMUS.glob("*.litmus")}


# --- against machines, axioms and certificates ---------------------------------------------------


def test_machines_end_with_the_same_outcomes() -> None:
    rng = Random(2024)
    for _ in range(100):
        program = random_program(rng)
        for model in ("sc", "tso", "pso"):
            assert machine_outcomes(program, model) == set(Executions(program, model).outcomes()), (model, program)


def machine_outcomes(program: Program, model: str) -> set[tuple[int, ...]]:
    starts = [0]
    for thread in program.threads:
        starts.append(starts[-1] + len(thread.instructions))
    found = set()
    for loaded, memory in ends(program, model):
        values = {starts[thread] + at: value for (thread, at), value in loaded}
        found.add(tuple(dict(memory)[place] if isinstance(place, str) else
                        values[program.ends[place.thread][0].registers[place.name].load] for place in program.observed))
    return found


def key(execution: Execution) -> str:
    return repr((sorted(execution.rf.items()), sorted(execution.co.items())))


def test_every_execution_is_certified_and_none_is_missing() -> None:
    rng = Random(7)
    replayed = 0
    for _ in range(40):
        program = random_program(rng)
        everything = list(Executions(program, "generic"))
        assert len(everything) == program.size == len(set(map(key, everything)))
        for model in ("sc", "tso", "pso"):
            allowed = list(Executions(program, model))
            assert len(allowed) == len(set(map(key, allowed)))
            axioms = Axioms(program, model)
            some = Random(8).sample(everything, min(50, len(everything)))  # test_models.py compares all
            assert {key(e) for e in some if axioms.failure(e) is None} == set(map(key, some)) & set(map(key, allowed))
            if history_of(program, everything[0]).fence is None:
                for execution in allowed:
                    certify(program, execution, model)
                    replayed += 1
    assert replayed > 400


def certify(program: Program, execution: Execution, model: str) -> None:
    """Replay the execution on the certificate's machine, every store with a value of its own."""
    history, run = witness(program, execution, model)
    certificate.check(history, model.upper(), run)
    for location, stores in execution.co.items():  # own values: the store of event n writes n + 1
        at = history.locations.index(location)
        written = [int(history.written[o]) - 1 for o in run.order if history.location[o] == at and o in history.writes]
        assert tuple(written) == stores


def test_executions_checked_as_histories() -> None:
    """What a model's enumeration leaves out, `gradual.check` refutes: its proof has been checked."""
    rng = Random(5)
    for _ in range(5):
        program = random_program(rng, fences=False)
        for model in ("sc", "tso", "pso"):
            allowed = {repr((e.rf, {x: e.last(x) for x in program.locations})) for e in Executions(program, model)}
            for execution in list(Executions(program, "generic"))[:15]:
                history = history_of(program, execution, final=program.locations, own_values=True)
                wanted = repr((execution.rf, {x: execution.last(x) for x in program.locations})) in allowed
                assert bool(gradual.check(history, model)) == wanted


def test_histories_both_ways() -> None:
    rng = Random(99)
    verdicts = []
    for _ in range(150):
        history = random_history(rng)
        for model in ("sc", "tso", "pso"):
            trace, program = both_ways(history, model)
            assert trace == program, (model, history)
            verdicts.append(trace)
    assert 100 < sum(verdicts) < 400


def test_larger_histories_both_ways() -> None:
    for seed in range(10):
        history = gradual.generate("broken" if seed % 2 else "tso", threads=3, operations=40, locations=3, seed=seed)
        for model in ("sc", "tso", "pso"):
            assert bool(gradual.check(history, model)) == allows(history, model)


# --- reading and writing -------------------------------------------------------------------------


@pytest.mark.parametrize("path", sorted(LITMUS.glob("*.litmus")), ids=lambda path: path.stem)
def test_litmus_round_trip(path: Path) -> None:
    program = programs.read(str(path))
    assert litmus.write(program) == path.read_text()
    assert programs.parse(text.write(program)) == program


def test_random_programs_round_trip() -> None:
    rng = Random(3)
    for _ in range(100):
        program = random_program(rng)
        assert programs.parse(litmus.write(program)) == program
        assert programs.parse(text.write(program)) == program


def test_x86() -> None:
    program = programs.parse(r"""X86 SB+odd
"Fre PodWR" (* a comment
over lines *)
Cycle=Fre
{ uint64_t x=3; int y; 0:EBX=7; 1:RSI=x; }
 P0                | P1           ;
 MOV [x],$1        | MOV [y],$1   ;
 MOV EAX,$2        | MFENCE       ;
 LOCK XCHG [y],EAX | MOV EAX,[RSI] ;
 MOV [x],EBX       |              ;
 SFENCE            | LFENCE       ;
locations [x; 0:EBX;]
~exists (0:EAX=0 /\ 1:EAX=0 \/ not ([x]=2))""")
    assert program.name == "SB+odd" and program.initial == {"x": 3}
    assert program.threads[0].instructions == (Store("x", 1), Rmw("y", 2, "EAX"), Store("x", 7), Fence("st", "st"))
    assert program.threads[1].instructions == (Store("y", 1), Fence(), Load("x", "EAX"), Fence("ld", "ld"))
    assert str(program.condition) == "~exists ((0:EAX=0 /\\ 1:EAX=0) \\/ ~x=2)"
    assert program.observed == [Register(0, "EAX"), Register(0, "EBX"), Register(1, "EAX"), "x"]
    assert programs.parse(litmus.write(program)) == program


def test_a_register_that_was_loaded_into_gets_a_constant() -> None:
    program = programs.parse("X86 A\n{ }\n P0 ;\n MOV EAX,[x] ;\n MOV EAX,$3 ;\n MOV [x],EAX ;\n"
                             "exists (0:EAX=3 /\\ x=3)")
    assert programs.parse(litmus.write(program)) == program
    assert observe.answer(program, "sc").frequency == "Always"


def test_lisa() -> None:
    program = programs.parse("LISA MP\n{ 0:r5=x; }\n P0 | P1 ;\n w[once] r5 1 | r[] r0 y ;\n f[mb] | r[] r1 x ;\n"
                             " mov r2 4 | rmw[] r3 2 y ;\n w[] y r2 | ;\nexists (1:r0=4 /\\ 1:r1=0)")
    assert program.threads[0].instructions == (Store("x", 1), Fence(mode="sc"), Store("y", 4))
    assert program.threads[1].instructions == (Load("y", "r0"), Load("x", "r1"), Rmw("y", 2, "r3"))


def test_plain_text() -> None:
    program = programs.parse("# comment\nname a+b c\ninit x=0x10, y=-1\nleft: st x 1\n  ld y\n  rmw x 2 a\nright: f\n"
                             "forall (left:r0=0 or P1:b=1)".replace("P1:b", "0:a"))
    assert program.name == "a+b c" and program.initial == {"x": 16, "y": -1}
    assert program.threads[0].instructions == (Store("x", 1), Load("y", "r0"), Rmw("x", 2, "a"))
    assert program.threads[1] == Thread("right", (Fence(),))


X86 = "X86 A\n{ x=0; }\n P0 | P1 ;\n"


@pytest.mark.parametrize("program, place, words", [
    ("P0: st x", "1:9", "the value to store"),
    ("P0: st x 1\nP1: foo x 1", "2:5", "no instruction called 'foo'"),
    ("P0: ld x; f(st,foo)", "1:16", "any, ld and st"),
    ("P0: ld x\nP0: ld y", "2:1", "two threads called P0"),
    ("P0: ld x r0\nexists (0:r1=0)", "2", "no register r1; it has r0"),
    ("P0: ld x r0\nexists (7:r1=0)", "2:9", "no thread 7"),
    ("P0: ld x r0\nexists (0:r0=0", "2:15", "close the parenthesis"),
    ("P0: ld x r0\nexists (z=0)", "2", "nothing in this program is called z"),
    ("P0: ld x r0\nexists (0:r0=0) foo", "2:17", "'foo' follows"),
    ("P0: st x 99999999999999999999", "1:10", "64 bits"),
    ("", "1", "no instruction"),
    ("(* never closed", "1:1", "never closed"),
    (f"{X86} INC [x] | ;\n", "4:2", "INC computes"),
    (f"{X86} MOV [x],$1 | BAR ;\n", "4:15", "no instruction called 'BAR'"),
    (f"{X86} MOV EAX,[x] | ;\n MOV [x],EAX | ;\n", "5:10", "holds a value that was loaded"),
    (f"{X86} MOV [x],EAX | ;\n", "4:10", "nothing is known of the register EAX"),
    (f"{X86} MFENCE | MFENCE | MFENCE ;\n", "4:18", "only 2 threads"),
    (f"{X86} MFENCE MFENCE | ;\n", "4:9", "expected | or ;"),
    ("LISA A\n{}\n P0 ;\n b[] r0 end ;\n", "4:6", "nothing is known of the register r0"),
    ("LISA A\n{}\n P0 ;\n b[] end ;\n", "4", "P0 has no label end; it has none"),
    ("LISA A\n{}\n P0 ;\n E: ;\n E: f[] ;\n", "5", "P0 has two labels E"),
    ("LISA A\n{}\n P0 ;\n amo[] r0 x ;\n", "4:2", "no instruction called 'amo'"),
    ("LISA A\n{}\n P0 ;\n f[lwsync] ;\n", "4:3", "f[lwsync]"),
    ("LISA A\n{}\n P0 ;\n w[] x (add r0 1) ;\n", "4:13", "nothing is known of the register r0"),
    ("LISA A\n{}\n P0 ;\n w[] x (div 1 1) ;\n", "4:9", "no operator called 'div'"),
    ("LISA A\n{}\n P0 ;\n w[seqcst] x 1 ;\n", "4:3", "w[seqcst] is not understood"),
    ("AArch64 A\n{}\n P0 ;\n", "1:1", "programs for AArch64"),
    ("RISCV A\n", "2:1", "expected '{' before the initial values"),
    ("Test SB Allow\nHistogram (1 states)\n5 *>0:x11=0;\n", "", "a log of litmus7, not a program"),
    (f"{X86} MFENCE | ;\nfinal (x=0)\n", "5:1", "final is not understood"),
])
def test_errors_name_the_place(program: str, place: str, words: str) -> None:
    with pytest.raises(ProgramError) as caught:
        programs.parse(program, "file")
    assert str(caught.value).startswith(f"file:{place}: " if place else "file: ") and words in str(caught.value)


def test_any_prefix_is_read_or_refused() -> None:
    for path in sorted(LITMUS.glob("*.litmus"))[::7]:
        whole = path.read_text()
        for end in range(len(whole)):
            with contextlib.suppress(ProgramError):  # and nothing else
                programs.parse(whole[:end])


# --- observed histories --------------------------------------------------------------------------


def seen(values: tuple[int, int], threads: tuple[str, str] = ("cpu0", "cpu1"), written: int = 1) -> gradual.History:
    builder = Builder("run", "runs.csv")
    builder.write(threads[1], 0x20, written)  # the second thread first: names decide
    builder.read(threads[1], 0x10, values[1])
    builder.write(threads[0], 0x10, 1)
    builder.read(threads[0], 0x20, values[0])
    return builder.build()


def test_observed_outcomes() -> None:
    sightings = Sightings(programs.parse(SB), ["sc", "tso"])
    assert sightings.add(seen((0, 0))).allowed == {"sc": False, "tso": True}
    assert sightings.add(seen((0, 0))).times == 2
    assert sightings.add(seen((0, 1))).allowed == {"sc": True, "tso": True}
    assert sightings.forbidden == []
    assert sightings.add(seen((5, 1))).allowed == {"sc": False, "tso": False}
    assert [sighting.times for sighting in sightings.forbidden] == [1]


@pytest.mark.parametrize("program, history, words", [
    (SB, seen((0, 0), written=2), "W 32=2 .* where the program stores 1"),
    ("st x 1, ld y || st y 1, ld x, ld y", seen((0, 0)), "thread P1 does 2 operations, in the program 3"),
    ("st x 1, ld y || st y 1, ld y", seen((0, 0)), "R 16=0 .* where the program accesses y"),
    ("ld y, st x 1 || st y 1, ld x", seen((0, 0)), "W 16=1 .* where the program has a load of y"),
    ("st x 1, ld y", seen((0, 0)), "it has 2 threads, the program 1"),
    ("init x=3 st x 1, ld y || st y 1, ld x", seen((0, 0)), "x starts with 0, in the program with 3"),
])
def test_histories_of_other_programs_are_refused(program: str, history: gradual.History, words: str) -> None:
    with pytest.raises(InputError, match=f"no run of program: {words}"):
        Sightings(programs.parse(program), ["sc"]).add(history)


# --- the command line ------------------------------------------------------------------------------


def run(*arguments: object, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return command("run", *arguments, stdin=stdin)


def test_command_line_layout() -> None:
    done = run(LITMUS / "SB.litmus", "--model", "sc", "--model", "tso")
    assert done.returncode == 0, done.stderr
    sc, tso = done.stdout.strip().split("\n\n")
    assert sc.splitlines()[:11] == [
        "Model SC", "Test SB Allowed", "States 3", "1     :>0:EAX=0; 1:EAX=1;", "1     :>0:EAX=1; 1:EAX=0;",
        "1     :>0:EAX=1; 1:EAX=1;", "No", "Witnesses", "Positive: 0 Negative: 3",
        "Condition exists (0:EAX=0 /\\ 1:EAX=0)", "Observation SB Never 0 3"]
    assert "these cannot all come one after the other" in sc
    assert "1     *>0:EAX=0; 1:EAX=0;" in tso and "Observation SB Sometimes 1 3" in tso and "Why" not in tso


def test_command_line_counts_and_errors(tmp_path: Path) -> None:
    done = run("-", "--count", "--model", "all", stdin=MP3)
    assert re.findall(r"(\w+) (\d+) executions", done.stdout) == [
        ("generic", "147456"), ("sc", "678"), ("ztso", "800"), ("ibm370", "678"), ("tso", "800"), ("pso", "2258"),
        ("ntso", "800"), ("npso", "2462"), ("pslo", "2462"), ("armv8", "2704"), ("rmo", "2704"), ("rvwmo", "2704"),
        ("wmo", "2704")]
    bad = tmp_path / "bad.litmus"
    bad.write_text(f"{X86} FOO | ;\n")
    done = run(bad, LITMUS / "SB.litmus", "--query", "--json", "--model", "tso")
    assert done.returncode == 2 and f"{bad}:4:2: no instruction called 'FOO'" in done.stderr
    assert json.loads(done.stdout)["observation"] == "Sometimes"
    assert run("-", "--query", stdin=MP3).returncode == 2
    assert "rf  " in run("-", "--show", "2", "--model", "sc", stdin=SB).stdout
    large = run("-", "--model", "sc", stdin=store_buffering(60))
    assert "Observation program Never" in large.stdout and "only its condition" in large.stderr


def test_command_line_observed(tmp_path: Path) -> None:
    gradual.write([seen((0, 0)), seen((0, 1))], tmp_path / "runs.jsonl")
    program = LITMUS / "SB.litmus"
    done = run(program, "--observed", tmp_path / "runs.jsonl", "--model", "sc")
    assert done.returncode == 1 and "allowed by NO MODEL" in done.stdout and "allowed by SC" in done.stdout
    assert run(program, "--observed", tmp_path / "runs.jsonl").returncode == 0


def test_interrupt_prints_what_was_found() -> None:
    for arguments in (["--count", "--model", "pso"], ["--model", "generic"]):
        process = subprocess.Popen([*GRADUAL, "run", "-", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   text=True)
        assert process.stdin and process.stdout
        process.stdin.write(f"{MP4} || ld m, ld x, st x 5, st m 5")  # hours
        process.stdin.close()
        time.sleep(3)
        process.send_signal(signal.SIGINT)
        out = process.stdout.read()
        assert process.wait(30) == 130 and "interrupted" in out


def test_a_fault_costs_the_other_programs_nothing(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("""
import gradual.programs.executions as e
count = e.Executions.outcomes
def outcomes(self, *rest):
    assert self.program.name != "bad", "a fault"
    return count(self, *rest)
e.Executions.outcomes = outcomes
""")
    for name in ("bad", "good"):
        (tmp_path / f"{name}.litmus").write_text(f"X86 {name}\n{{ }}\n P0 ;\n MOV [x],$1 ;\nexists (x=1)\n")
    done = subprocess.run(
        [sys.executable, "-m", "gradual.cli", "run", tmp_path / "bad.litmus", tmp_path / "good.litmus"],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(tmp_path)}, timeout=120, check=False)
    assert done.returncode == 70 and "Observation good" in done.stdout and "bad.litmus; other programs" in done.stderr


def test_an_interrupted_search_claims_nothing() -> None:
    program = programs.parse(SB)
    found = Observation(program, load("sc"), Counter({(0, 1): 1}), missed=True, complete=False)
    assert found.answer is None and "No" not in found.lines() and "Observation program Unknown 0 1" in found.lines()
    found = Observation(program, load("tso"), Counter({(0, 0): 1}), reached=True, complete=False)
    assert found.answer is True


def test_one_of_several_ways_is_explained() -> None:
    found = observe.answer(programs.parse("st x 1 || st x 1 || ld x, ld x\nexists (2:r0=1 /\\ 2:r1=0)"), "tso")
    assert found.why_not[0].startswith("loads can get there from different stores") and len(found.why_not) > 3
    nobody = observe.answer(programs.parse("st x 1 || ld x\nexists (1:r0=2)"), "sc")
    assert "no way through the program ends with" in nobody.why_not[0]


def test_numbers_are_locations() -> None:
    assert programs.parse("st 0x10 1 || ld 16").locations == ("0x10",)


def test_negation_is_complement() -> None:
    program = programs.parse(SB)
    assert program.condition
    for model in MODELS:
        executions = Executions(program, model)
        holding = executions.satisfying(program.condition.proposition)
        assert holding is None or outcome_of(program, holding) == (0, 0)
        other = executions.satisfying(Not(program.condition.proposition))
        assert other is not None and outcome_of(program, other) != (0, 0)


def is_picture(file: Path) -> bool:
    return ElementTree.parse(file).getroot().tag.endswith("svg")


def test_pictures_of_what_is_forbidden(tmp_path: Path) -> None:
    out = tmp_path / "why.svg"
    done = run(LITMUS / "SB.litmus", "--model", "sc", "--model", "tso", "--svg", out)
    assert done.returncode == 0, done.stderr
    assert is_picture(out)
    assert list(tmp_path.iterdir()) == [out]  # TSO allows it


def test_pictures_of_a_program_from_standard_input(tmp_path: Path) -> None:
    done = run("-", "--svg", tmp_path / "why.svg", stdin="st x 1, ld x\nexists (0:r0=0)")
    assert done.returncode == 0, done.stderr
    assert {file.name for file in tmp_path.iterdir()} == {"why.svg", "why-program-TSO.svg", "why-program-PSO.svg"}
    assert all(map(is_picture, tmp_path.iterdir()))


def test_pictures_are_not_drawn_without_a_forbidden_outcome(tmp_path: Path) -> None:
    gradual.write([seen((0, 1))], tmp_path / "runs.jsonl")
    out = tmp_path / "why.svg"
    allowed = run("-", "--model", "tso", "--svg", out, stdin=SB)
    assert allowed.returncode == 0 and "nothing to draw" in allowed.stderr
    for arguments in (["--count"], ["--observed", tmp_path / "runs.jsonl"]):
        done = run(LITMUS / "SB.litmus", "--svg", out, *arguments)
        assert done.returncode == 2 and "--svg" in done.stderr and not done.stdout
    assert not out.exists()
    program = tmp_path / "program"
    program.write_text(SB)
    assert run(program, "--svg", program).returncode == 2 and program.read_text() == SB
