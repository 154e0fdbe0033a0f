"""Models as texts: the grammar, what names mean, errors, herd's files, and the compiler against the definitions."""

from __future__ import annotations

import csv
import pickle
from pathlib import Path
from random import Random

import pytest
from command import gradual as run
from pairs import Evaluator
from test_programs import random_program

from gradual import programs
from gradual.models import Model, ModelError, load, of_traces, shipped, told_apart, usual, weaker
from gradual.models import syntax as s
from gradual.models.clingo import derived
from gradual.models.syntax import Difference, Fixpoint, Identity, Name, Named, Plus, Product, Sequence, Star, Union
from gradual.programs import observe
from gradual.programs.axioms import Axioms
from gradual.programs.executions import Execution, Executions
from gradual.programs.program import Program

LITMUS = Path(__file__).parents[1] / "traces" / "litmus"
HERD = Path(__file__).parents[2] / "shared" / "models" / "herd"

RELAXED = """Relaxed "TSO that also gives up write→write to other locations"
(* weaker than: tso *)
let ppo = [R];po;[M] | [W];po-loc;[W]
acyclic po-loc | rf | co | fr as coherence
acyclic ppo | fence | rfe | co | fr as global
"""


@pytest.fixture
def model(tmp_path: Path):  # type: ignore[no-untyped-def]
    """Models from texts."""
    def write(text: str, name: str = "my.cat") -> Model:
        (tmp_path / name).write_text(text)
        return load(str(tmp_path / name))

    return write


def only(model: Model) -> s.Expression:
    (check,) = model.checks
    return check.expression


PO, RF, CO, FR, ID = map(Name, ("po", "rf", "co", "fr", "id"))
R, W, M = map(Name, "RWM")


# --- the grammar -----------------------------------------------------------------------------------


@pytest.mark.parametrize("text, meaning", [
    ("po | rf ; co", Union(PO, Sequence(RF, CO))),
    ("po ; rf \\ co & fr", Sequence(PO, Difference(RF, s.Intersection(CO, FR)))),
    ("po \\ rf \\ co", Difference(Difference(PO, RF), CO)),
    ("po & R * W", s.Intersection(PO, Product(R, W))),
    ("po*", Star(PO)), ("po* ; rf", Sequence(Star(PO), RF)), ("(po | rf)+?", s.Maybe(Plus(Union(PO, RF)))),
    ("po*\nlet x = rf", Star(PO)),
    ("~po^-1", s.Complement(s.Inverse(PO))), ("[R & W];po", Sequence(Identity(s.Intersection(R, W)), PO)),
    ("~R * _", Product(s.Complement(R), Name("_"))), ("(domain po) * range(rf)", Product(s.Domain(PO), s.Range(RF))),
    ("0 | po", PO), ("{} | po", PO), ("po ; sm", PO), ("po ; 0", s.Nothing()),
    ("try unheard-of | po with rf", RF), ("try po with rf", PO), ('if "flag" then po else rf', RF),
    ("let x = po in x ; x", Sequence(Named("x", PO), Named("x", PO))), ("[Fence.rw.rw]", Identity(Name("Fence.rw.rw"))),
    ("po (* a (* nested *) comment *) | rf // to the end\n# and this", Union(PO, RF)),
    ("rf^-1 ; co", FR), ("(rf^-1;co) \\ id", FR), ("po;rf^-1;co", Sequence(PO, FR)), ("ca", Named("ca", Union(CO, FR))),
    ("fencerel(MFENCE)", Sequence(Sequence(PO, Identity(Name("Fence.rw.rw"))), PO)),
    ("po & (emptyset * Sc)", s.Intersection(PO, Product(s.Nothing(), s.Nothing()))),
])
def test_expressions(model, text: str, meaning: s.Expression) -> None:  # type: ignore[no-untyped-def]
    found = only(model(f"acyclic {text}"))
    assert unnamed_aliases(found) == unnamed_aliases(meaning)


def unnamed_aliases(e: s.Expression) -> s.Expression:
    """A name for a plain name is none."""
    if isinstance(e, Named) and isinstance(e.of, Name):
        return e.of
    parts = {name: unnamed_aliases(part) if isinstance(part, s.Expression) else part for name, part in vars(e).items()}
    return type(e)(**parts)


def test_names_are_kept_and_hidden_as_in_cat(model) -> None:  # type: ignore[no-untyped-def]
    found = model("let a = po | rf let b = a ; co let a = co;co acyclic b acyclic a as second")
    first = Named("b", Sequence(Named("a", Union(PO, RF)), CO))
    assert [(check.name, check.expression) for check in found.checks] == [
        ("acyclic 1", first), ("second", Named("a", Sequence(CO, CO)))]
    together = model("let a = po | rf and b = (try a with co) empty b as e")
    assert only(together) == CO  # names of one `let` do not see each other


def test_functions_are_inlined(model) -> None:  # type: ignore[no-untyped-def]
    found = model("let base = po let f(r, S) = base ; r & (S * S) let base = rf irreflexive f(co, W)")
    assert only(found) == Sequence(PO, s.Intersection(CO, Product(W, W)))


def test_recursion(model) -> None:  # type: ignore[no-untyped-def]
    found = only(model("let rec a = po | b ; a and b = rf | a acyclic a"))
    assert isinstance(found, Named) and isinstance(found.of, Fixpoint) and found.of.name == "a"
    assert [name for name, _ in found.of.definitions] == ["a", "b"]


NAMES = ["SC", "Ztso", "IBM370", "TSO", "PSO", "NTSO", "NPSO", "PSLO", "ARMv8", "RMO", "RVWMO", "WMO", "generic"]
"""Of the models that ship, from strong to weak."""


def test_titles_and_what_they_say(model) -> None:  # type: ignore[no-untyped-def]
    found = model('My Model "does" "this"\n(* machine: one *) (* weaker than: sc, TSO *)\nacyclic po (* machine: no *)')
    assert (found.name, found.sentence, found.machine, found.weaker_than) == (
        "My Model", "does this", "one", ("sc", "tso"))
    assert [str(other) for other in weaker(found)] == NAMES[4:]
    assert model("acyclic po", "stem.cat").name == "stem" and str(model('"only words"', "other.cat")) == "other"


def test_includes(model, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "defs.cat").write_text("Defs let mine = po | rf acyclic co as inner")
    found = model('include "stdlib.cat" include "cos.cat" include "x86fences.cat" include "filters.cat" '
                  'include "defs.cat" with co from generate_cos(co0) show nothing as x, po flag ~empty po as f '
                  'if "opt" include "nowhere.cat" else acyclic WW(mine) as outer end')
    assert [check.name for check in found.checks] == ["inner", "outer"]


@pytest.mark.parametrize("text, place, words", [
    ("acyclic po |", "1:13", "expected a set or relation, found the end of the file"),
    ("acyclic po\nempty foo & rf", "2:7", "nothing is called foo"),
    ("acyclic po-lok", "1:9", "did you mean po-loc"),
    ("acyclic R", "1:9", "acyclic is said of relations, and this is a set"),
    ("acyclic po ; R", "1:12", "`;` is for relations, and this is a set: write [S]"),
    ("acyclic po | R", "1:12", "between two sets or two relations"),
    ("acyclic [po]", "1:9", "`[]` is for sets"),
    ("acyclic po * po", "1:12", "`*` is for sets"),
    ("acyclic po rf", "1:9", "po is a relation, not a function: is an operator missing"),
    ("let f(x) = x;po acyclic f", "1:25", "f is a function: write f(x)"),
    ("let f(x) = x;po acyclic f(po, rf)", "1:25", "takes 1 arguments"),
    ("let f(x) = x;po acyclic f(R)", "1:25", "in f: `;` is for relations"),
    ("acyclic fencerel(po)", "1:9", "in fencerel"),
    ("let rec r = po \\ r acyclic r", "1:9", "takes r away"),
    ("let rec f(x) = f(x) acyclic po", "1:9", "a recursive function"),
    ("let x = match po with || {} -> 0 end", "1:9", "`match`"),
    ("let x = fun r -> r", "1:9", "`fun`"),
    ("procedure p(x) = empty x end", "1:1", "`procedure`"),
    ("call p(po)", "1:1", "`call`"),
    ("with sc from orders(po)", "1:6", "`with sc`"),
    ('M "x" catdep acyclic po', "1:7", "`catdep`"),
    ("undefined_unless empty po", "1:1", "`undefined_unless`"),
    ("~empty po", "1:1", "a check that must fail (~)"),
    ("let x = {po, rf}", "1:10", "a set of listed elements"),
    ("let x = po ++ 0", "1:12", "`++`"),
    ('"never closed', "1:1", "string is never closed"),
    ("acyclic po (* (* *)", "1:12", "comment is never closed"),
    ('include "nowhere.cat"', "1:9", 'cannot read "nowhere.cat"'),
    ('include "my.cat"', "1:9", "includes itself"),
    ("acyclic po as", "1:14", "expected a name"),
])
def test_errors_name_the_place(model, tmp_path: Path, text: str, place: str, words: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ModelError) as caught:
        model(text)
    assert str(caught.value).startswith(f"{tmp_path / 'my.cat'}:{place}: ") and words in str(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


# --- what ships ------------------------------------------------------------------------------------


def test_shipped_models() -> None:
    assert [model.name for model in shipped()] == NAMES
    assert [model.name for model in usual()] == ["SC", "TSO", "PSO"]
    may_allow_more = {str(model): [str(other) for other in weaker(model)] for model in shipped()}
    assert may_allow_more["SC"] == NAMES[1:] and may_allow_more["generic"] == []
    assert may_allow_more["TSO"] == NAMES[4:]
    assert may_allow_more["RVWMO"] == [name for name in NAMES if name not in ("SC", "Ztso", "RVWMO")]
    assert may_allow_more["PSLO"] == ["ARMv8", "RMO", "RVWMO", "WMO", "generic"]
    assert load("Tso") is load("tso") and load(load("sc")) is load("SC")
    assert pickle.loads(pickle.dumps(load("pso"))) == load("pso")
    assert {check.name for model in shipped() for check in model.checks} == {
        "coherence", "global", "atomicity"}


FIGURES = Path(__file__).parents[1] / "traces" / "figures.csv"


def test_models_with_views_are_not_for_traces() -> None:
    assert of_traces(load("rmo")) is load("rmo") and load("npso").has_views
    with pytest.raises(ModelError, match=r"NTSO has a view per thread .* `gradual contrast` take it"):
        of_traces(load("ntso"))
    done = run("check", FIGURES, "--model", "npso")
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "view per thread" in done.stderr


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ValueError, match="no model called 'ppc'; there are SC, Ztso, IBM370, TSO, PSO"):
        load("ppc")
    with pytest.raises(ModelError, match=r"nowhere\.cat: No such file"):
        load("nowhere.cat")


def test_models_of_one_name_are_told_apart(model) -> None:  # type: ignore[no-untyped-def]
    assert str(model("TSO\nacyclic po", "mine.cat")) == "TSO (mine.cat)"
    assert model(load("tso").text, "copy.cat") == load("tso")
    a, b = model("A acyclic po", "a.cat"), model("A acyclic rf", "b.cat")
    assert [str(one) for one in told_apart([a, b, a, load("sc")])] == [f"A ({a.file})", f"A ({b.file})", "SC"]


# --- herd's own files ------------------------------------------------------------------------------

needs_herd = pytest.mark.skipif(not HERD.is_dir(), reason="herd's model files are not here")


def herd(name: str) -> Model:
    return load(str(HERD / f"{name}.cat"))


@needs_herd
@pytest.mark.parametrize("name, checks", [
    ("sc", 2), ("tso", 3), ("x86tso", 3), ("mips-tso", 3), ("riscv", 3), ("riscv-tso", 3), ("ppc", 6)])
def test_files_of_herd_load(name: str, checks: int) -> None:
    assert len(herd(name).checks) == checks


@needs_herd
def test_what_lies_outside_is_refused() -> None:
    with pytest.raises(ModelError, match=r"rc11\.cat:32:1: `undefined_unless` is not in the part of cat"):
        herd("rc11")


FULL_ONLY = {"SB+fstlds", "R+fstst+fstld"}
"""Forbidden by fences that herd's TSO does not know: it knows the full one only."""


@needs_herd
@pytest.mark.parametrize("theirs, ours", [("sc", "sc"), ("tso", "tso"), ("x86tso", "tso")])
def test_files_of_herd_agree_with_ours(theirs: str, ours: str) -> None:
    with (LITMUS / "expected.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    for row in rows:
        program = programs.read(str(LITMUS / f"{row['test']}.litmus"))
        expected = "Sometimes" if ours == "tso" and row["test"] in FULL_ONLY else row[ours]
        assert observe.answer(program, herd(theirs)).frequency == expected, row["test"]


# --- known answers: SC TSO PSO RVWMO Ztso, + allowed --------------------------------------------------

VECTORS = """
    -++++  Wx1 Ry0 ‖ Wy1 Rx0
    -----  Wx1 F Ry0 ‖ Wy1 F Rx0
    -++++  Wx1 Ftso Ry0 ‖ Wy1 Ftso Rx0
    -++++  Wx1 Rx1 Ry0 ‖ Wy1 Ry1 Rx0
    ---+-  Ux01 Ry0 ‖ Uy01 Rx0
    -----  Ux01 Fr.r Ry0 ‖ Wy1 F Rx0
    --++-  Wx1 Wy1 ‖ Ry1 Rx0
    -----  Wx1 Fw.w Wy1 ‖ Ry1 Fr.r Rx0
    --++-  Wx1 Fw.r Wy1 ‖ Ry1 Fr.r Rx0
    --++-  Wx1 Fi Wy1 ‖ Ry1 Fi Rx0
    -----  Wx1 Ftso Wy1 ‖ Ry1 Ftso Rx0
    ---+-  Rx1 Wy1 ‖ Ry1 Wx1
    -----  Rx1 Fr.w Wy1 ‖ Ry1 Frw.w Wx1
    --++-  Wx2 Wy1 ‖ Ry1 Wx1 :: x=2
    -++++  Wx1 Wy1 ‖ Wy2 Rx0 :: y=2
    --++-  Wx1 Wy2 ‖ Wy1 Wx2 :: x=1 y=1
    -++++  Wx1 Rx1 Ry0 ‖ Wy1 Wx2 :: x=1
    ---+-  Wx1 ‖ Wy1 ‖ Rx1 Ry0 ‖ Ry1 Rx0
    -----  Wx1 ‖ Rx1 Rx0
    -----  Wx1 Rx2 ‖ Wx2 :: x=1
    -----  Rx1 Wx1
"""
CLASSES = {"r": "ld", "w": "st", "rw": "any"}


def vector(text: str) -> Program:
    """`Wx1 Ry0 ‖ …` as a program that asks for these values."""
    threads, _, ends = text.partition(" :: ")
    asked = ends.split()
    lines = []
    for number, thread in enumerate(threads.split(" ‖ ")):
        lines.append(f"P{number}: " + "; ".join(
            instruction(word, at, number, asked) for at, word in enumerate(thread.split())))
    return programs.parse("\n".join(lines) + "\nexists (" + " /\\ ".join(asked) + ")")


def instruction(word: str, at: int, thread: int, asked: list[str]) -> str:
    kind, location, values = word[0], word[1:2], word[2:]
    if kind == "F":
        before, _, after = word[1:].partition(".")
        return f"f({CLASSES[before]},{CLASSES[after]})" if after else f"f({before})" if before else "f"
    if kind == "W":
        return f"st {location} {values}"
    asked.append(f"{thread}:r{at}={values[0]}")
    return f"ld {location} r{at}" if kind == "R" else f"rmw {location} {values[1]} r{at}"


@pytest.mark.parametrize("row", VECTORS.strip().splitlines(), ids=str.strip)
def test_known_answers(row: str) -> None:
    answers, text = row.strip().split("  ")
    program = vector(text)
    models = [load(name) for name in ("sc", "tso", "pso")]
    if HERD.is_dir():
        models += [herd("riscv"), herd("riscv-tso")]
    for model, allowed in zip(models, answers, strict=False):
        assert observe.answer(program, model).reached == (allowed == "+"), model


# --- the compiler against the definitions ------------------------------------------------------------

ODD = [
    "acyclic (po \\ (W * R)) | rf^-1 | ext & co",
    "irreflexive (rf | co)+ ; (po-loc \\ (po-loc ; [W] ; po-loc)) ; fr?",
    "empty rf & (IW * R) & ~(loc & int)",
    "empty [AMO] ; po ; [F] ; po ; [~AMO & M]",
    "let rec a = (po & (R * M)) | b ; a and b = rfe | (fr ; a) acyclic a | b",
    "let rec a = po-loc | (rf ; a) | (a ; co) acyclic a",
    "empty (domain(fr) & range(rfi)) \\ AMO",
    "empty R \\ range(rf) acyclic po | rf*; [W]; co",
    "let X(S) = [S] ; (co | po)* ; [S] irreflexive X(W) & fr^-1 acyclic coi | fri | rfi | (coe ; fre?)",
    "acyclic (int \\ id) & po^-1 | co^-1",
    "acyclic rf | ca",
    "irreflexive rf ; rf^-1 ; [W]",
    "acyclic fence | rfe | fr",
]


def some_executions(rng: Random) -> tuple[Program, list[Execution]]:
    while True:
        program = random_program(rng)
        if program.size <= 300:
            return program, list(Executions(program, "generic"))


def key(execution: Execution) -> str:
    return repr((sorted(execution.rf.items()), sorted(execution.co.items())))


@pytest.mark.parametrize("text", ODD)
def test_compiled_as_defined(model, text: str) -> None:  # type: ignore[no-untyped-def]
    compare(model(text), Random(text), 6)


@pytest.mark.parametrize("name", ["sc", "tso", "pso", *(str(HERD / f"{name}.cat") for name in (
    "sc", "tso", "x86tso", "riscv", "riscv-tso", "ppc") if HERD.is_dir())], ids=lambda name: name[-12:])
def test_compiled_models_as_defined(name: str) -> None:
    compare(load(name), Random(name[-8:]), 6)


def compare(model: Model, rng: Random, times: int) -> None:
    """Demanded, derived and defined: one set of executions, and the same check fails."""
    for _ in range(times):
        program, everything = some_executions(rng)
        defined = {key(e) for e in everything if Evaluator(program, e).allows(model)}
        assert {key(e) for e in Executions(program, model)} == defined
        axioms = Axioms(program, model)
        for execution in rng.sample(everything, min(10, len(everything))):
            failure = axioms.failure(execution)
            assert (failure is None) == (key(execution) in defined)
            if failure is not None:
                assert failure.axiom in {check.name for check in model.checks
                                         if not Evaluator(program, execution).holds(check)}


def test_derived_forbids_nothing() -> None:
    program = programs.parse("st x 1, ld y || st y 1, ld x")
    assert Executions(program, "sc", compiled=derived).count() == program.size == 4


# --- a user's model ----------------------------------------------------------------------------------


def test_a_model_of_a_few_lines_runs(tmp_path: Path) -> None:
    mine = tmp_path / "relaxed.cat"
    mine.write_text(RELAXED)
    for row in csv.DictReader((LITMUS / "expected.csv").open()):
        program = programs.read(str(LITMUS / f"{row['test']}.litmus"))
        assert observe.answer(program, str(mine)).frequency == row["pso"], row["test"]
    done = run("run", LITMUS / "MP.litmus", "--model", "tso", "--model", mine)
    assert done.returncode == 0 and "Model TSO" in done.stdout and "Model Relaxed" in done.stdout
    assert "Observation MP Never" in done.stdout and "Observation MP Sometimes" in done.stdout
    done = run("run", LITMUS / "SB+mfences.litmus", "--model", mine)
    assert "Why Relaxed forbids it:" in done.stdout and "fence" in done.stdout


def test_models_are_listed_and_printed(tmp_path: Path) -> None:
    done = run("models")
    assert done.returncode == 0 and [line.split(":")[0] for line in done.stdout.splitlines()[:26:2]] == NAMES
    assert run("models", "tso").stdout == load("tso").text
    bad = tmp_path / "bad.cat"
    bad.write_text("acyclic po | foo")
    for command in (["models", bad], ["check", "traces/figures.csv", "--model", bad],
                    ["run", LITMUS / "SB.litmus", "--model", bad], ["shrink", "traces/figures.csv", "--model", bad]):
        done = run(*command)
        assert done.returncode == 2 and f"{bad}:1:14: nothing is called foo" in done.stderr and not done.stdout
    unknown = run("check", "traces/figures.csv", "--model", "foo").stderr
    assert "no model called 'foo'; there are SC, Ztso" in unknown
    assert "`gradual run` also takes jr, ra, c11, rc11" in unknown
    assert "`gradual run --model rc11` takes it" in run("check", "traces/figures.csv", "--model", "rc11").stderr
    assert {"jr", "ra", "c11", "rc11"} <= {line.partition(":")[0] for line in run("models").stdout.splitlines()}


def test_expressions_are_values() -> None:
    """Equal where they are made alike, of one class; what people read of a name counts for nothing; also elsewhere."""
    po, rf = Name("po"), Name("rf")
    assert s.Union(po, rf) == s.Union(Name("po"), Name("rf")) != s.Union(rf, po)
    assert s.Union(po, rf) != s.Intersection(po, rf) and po != s.Variable("po") and s.Nothing() == s.Nothing()
    assert Named("ppo", po, "kept") == Named("ppo", po) and hash(Named("ppo", po, "kept")) == hash(Named("ppo", po))
    assert repr(s.Union(po, s.Nothing())) == "Union(left=Name(name='po'), right=Nothing())"
    copied = pickle.loads(pickle.dumps(Named("ppo", po, "kept")))
    assert (copied, copied.words, hash(copied)) == (Named("ppo", po), "kept", hash(Named("ppo", po)))
