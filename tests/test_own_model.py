"""A model of the user's own, a few lines long, in every command; and herd's files, which give our verdicts."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from random import Random

import pytest
from command import gradual as run
from random_histories import random_history
from theory import parse

import gradual
from gradual.evidence import certificate
from gradual.evidence.verdict import Broken, Cycle, Refutation, Witness
from gradual.history import History
from gradual.models import Model, load
from gradual.models.fit import General, fit
from gradual.telling import brief, page, prose, shortened, svg, witness

ROOT = Path(__file__).parents[1]
HERD = Path(__file__).parents[2] / "shared" / "models" / "herd"
RELAXED = '''Relaxed "TSO that also gives up write→write to other locations"
let ppo = [R];po;[M] | [W];po-loc;[W]
acyclic po-loc | rf | co | fr        as sane
acyclic ppo | fence | rfe | co | fr  as everywhere
'''
RULES = '''Rules "keeps what its two rules say"
let writes = [W];po;[W]
let after-reads = [R];po;[M]
acyclic po-loc | rf | co | fr                        as sane
acyclic writes | after-reads | rfe | co | fr  as everywhere
'''
MP, SB, IRIW = ("W x1, W y1 ∥ R y1, R x0", "W x1, R y0 ∥ W y1, R x0", "W x1 ∥ W y1 ∥ R x1, R y0 ∥ R y1, R x0")


@pytest.fixture
def relaxed(tmp_path: Path) -> Path:
    file = tmp_path / "relaxed.cat"
    file.write_text(RELAXED, "utf-8")
    return file


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    """MP and SB, which the model allows, and IRIW, which it does not."""
    file = tmp_path / "three.csv"
    histories = []
    for name, text in (("MP", MP), ("SB", SB), ("IRIW", IRIW)):
        builder = gradual.Builder(name, str(file))
        parsed = parse(text)
        for o in range(len(parsed)):
            add = builder.write if parsed.kind[o] == 1 else builder.read
            value = parsed.written[o] if parsed.kind[o] == 1 else parsed.read[o]
            add(parsed.threads[int(parsed.thread[o])], parsed.address(o), int(value))
        histories.append(builder.build())
    gradual.write(histories, file)
    return file


def verdicts(output: str) -> dict[str, str]:
    return {row["history"]: row["verdict"] for row in map(json.loads, output.splitlines())}


WANTED = {"MP": "consistent", "SB": "consistent", "IRIW": "violation"}


# --- the commands


def test_check(relaxed: Path, traces: Path) -> None:
    done = run("check", traces, "--model", relaxed, "--json")
    assert done.returncode == 1 and verdicts(done.stdout) == WANTED
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert {row["model"] for row in rows} == {"Relaxed"}
    text = run("check", traces, "--model", relaxed).stdout
    assert "Relaxed violation" in text and "these cannot all come one after the other" in text


def test_run(relaxed: Path) -> None:
    done = run("run", "traces/litmus/MP.litmus", "--model", relaxed, "--model", "tso", "--json", cwd=ROOT)
    observed = {row["model"]: row["observation"] for row in map(json.loads, done.stdout.splitlines())}
    assert observed == {"Relaxed": "Sometimes", "tso": "Never"}
    forbidden = run("run", "traces/litmus/IRIW.litmus", "--model", relaxed, cwd=ROOT)
    assert "Why Relaxed forbids it" in forbidden.stdout


def test_explain(relaxed: Path, traces: Path, tmp_path: Path) -> None:
    picture, why = tmp_path / "why.svg", tmp_path / "why.html"
    done = run("explain", traces, "--history", "IRIW", "--model", relaxed, "--svg", picture, "--html", why)
    assert done.returncode == 1
    assert "as far as Relaxed keeps it: TSO that also gives up write→write to other locations" in done.stdout
    assert "(axiom everywhere)" in done.stdout and "store buffer" not in done.stdout
    ET.parse(picture)
    assert "not Relaxed" in why.read_text("utf-8")
    told = run("explain", traces, "--history", "SB", "--model", relaxed, "--witness").stdout
    assert "read" in told and "wrote" in told and "buffer" not in told


def test_shrink(relaxed: Path, traces: Path, tmp_path: Path) -> None:
    small = tmp_path / "small.csv"
    done = run("shrink", traces, "--model", relaxed, "-o", small)
    assert done.returncode == 0 and "Relaxed violation" in done.stdout
    assert not gradual.check(small, relaxed.as_posix())


def test_batch(relaxed: Path, traces: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    done = run("batch", traces, "--model", relaxed, "--out", out)
    assert done.returncode == 1, done.stderr
    pandas = pytest.importorskip("pandas")
    rows = pandas.read_parquet(out)
    assert dict(zip(rows["history"], rows["verdict"], strict=True)) == WANTED
    assert "everywhere" in next((out / "_pages").glob("*.html")).read_text("utf-8")


def test_classify(relaxed: Path, traces: Path) -> None:
    done = run("classify", traces, "--model", relaxed, "--model", "sc", "--json")
    truths = {row["history"]: row["criteria"] for row in map(json.loads, done.stdout.splitlines())}
    assert {name: row["Relaxed"] for name, row in truths.items()} == {"MP": True, "SB": True, "IRIW": False}
    assert not any(row["SC"] for row in truths.values())


def test_diff_models(relaxed: Path, traces: Path) -> None:
    done = run("diff-models", traces, "--model", "sc", "--model", relaxed)
    assert done.returncode == 0
    assert "MP: SC violation, Relaxed consistent" in done.stdout
    assert "Relaxed and not SC: 1 overtaking of stores by later stores in one run" in done.stdout
    assert "1 overtaking of stores by later loads in one run" in done.stdout


def test_fuzz(relaxed: Path) -> None:
    assert run("fuzz", "--machine", "pso", "--model", relaxed, "--runs", 30).returncode == 0
    done = run("fuzz", "--machine", "broken-duplicate", "--model", relaxed, "--runs", 400)
    assert done.returncode == 1 and "first violation" in done.stdout


def test_a_file_that_is_wrong_says_where(traces: Path, tmp_path: Path) -> None:
    file = tmp_path / "wrong.cat"
    file.write_text("Wrong\nacyclic po | cooo as global\n")
    done = run("check", traces, "--model", file)
    assert done.returncode == 2 and "wrong.cat:2:" in done.stderr and "cooo" in done.stderr


# --- telling


def own(text: str, tmp_path: Path) -> Model:
    file = tmp_path / "own.cat"
    file.write_text(text, "utf-8")
    return load(str(file))


def test_it_is_pso_by_another_name(relaxed: Path) -> None:
    model, rng = load(str(relaxed)), Random(5)
    for _ in range(200):
        history = random_history(rng, max_operations=12, thin_air=0)
        verdict = gradual.check(history, model, engine="schedule")
        assert verdict.verdict == gradual.check(history, "pso", engine="schedule").verdict
        if verdict.verdict == "violation":
            short = shortened(verdict, history, model)
            certificate.check(history, model, short.evidence)
            assert prose(short, history, model) == gradual.explain(verdict, history, model)


def test_rules_have_the_names_of_the_file(tmp_path: Path) -> None:
    model = own(RULES, tmp_path)
    history = parse(MP)
    verdict = shortened(gradual.check(history, model), history, model)
    assert isinstance(verdict.evidence, Cycle)
    assert {edge.rule for edge in verdict.evidence.edges if edge.kind == "po"} == {"writes", "after-reads"}
    text = prose(verdict, history, model)
    assert "Later in its program (writes), " in text and "Later in its program (after-reads), " in text
    assert "later in the same thread, writes" in brief(verdict, history, model)
    assert ">writes<" in svg(verdict, history, model)


def test_fences_are_named(tmp_path: Path) -> None:
    history = parse("W x1, fence, R y0 ∥ W y1, fence, R x0")
    for name in ("tso", "pso"):
        verdict = shortened(gradual.check(history, name), history, load(name))
        assert "Later in its program (fence), " in prose(verdict, history, load(name))


def test_what_the_general_way_refutes_is_told(tmp_path: Path) -> None:
    """Two checks over the store order: no engine takes them, and cycles of both must be excluded by search."""
    model = own('''Both "two checks"
let ppo = [R];po;[M] | [W];po;[W]
acyclic po-loc | rf | co | fr as sane
acyclic ppo | rfe | co | fr as first
irreflexive fre;rfe;ppo as second
''', tmp_path)
    with pytest.raises(General):
        fit(model)
    history = parse("W x1, W x2 ∥ R x2, R x1")
    verdict = gradual.check(history, model)
    assert verdict.decided_by == "general" and isinstance(verdict.evidence, Refutation)
    assert all(isinstance(case, Broken) for case in verdict.evidence.cases)
    short = shortened(verdict, history, model)
    certificate.check(history, model, short.evidence)
    for text in (brief(short, history, model), prose(short, history, model)):
        assert "these cannot all come one after the other (sane)" in text and "→" in text
    ET.fromstring(svg(short, history, model))
    assert "before itself" not in page(short, history, model)


def test_a_witness_of_the_general_way(tmp_path: Path) -> None:
    model = own('''Both "two checks"
acyclic po-loc | rf | co | fr as sane
acyclic [R];po;[M] | rfe | co | fr as first
acyclic [W];po;[W] | rfe | co | fr as second
''', tmp_path)
    history = parse(SB)
    verdict = gradual.check(history, model)
    assert isinstance(verdict.evidence, Witness) and verdict.decided_by == "general"
    told = witness(verdict, history, model)
    assert "The stores to each location" in told and "An order that second allows:" in told
    from gradual.telling.record import record, witness_record

    found = record(verdict, history)["witness"]
    assert found["order"] is None and found["store_order"] == {"x": [0], "y": [2]}
    assert witness_record(verdict, verdict.evidence, history)["order"] is None


# --- herd's


def herd(name: str) -> Model:
    if not HERD.is_dir():
        pytest.skip("the folder ../shared/models/herd is not here")
    return load(str(HERD / f"{name}.cat"))


@pytest.mark.parametrize("name", ["sc", "tso", "x86tso", "riscv", "riscv-tso", "mips-tso"])
def test_files_of_herd_fit_the_engine(name: str) -> None:
    assert fit(herd(name)).axiom


@pytest.mark.parametrize(("name", "ours"), [("sc", "sc"), ("tso", "tso"), ("x86tso", "tso")])
def test_files_of_herd_give_our_verdicts(name: str, ours: str) -> None:
    model, rng, seen = herd(name), Random(11), {"consistent": 0, "violation": 0}
    for _ in range(300):
        history = random_history(rng, max_operations=14, thin_air=0)
        verdict = gradual.check(history, model, engine="schedule")
        assert verdict.verdict == gradual.check(history, ours, engine="schedule").verdict
        seen[verdict.verdict] += 1
        if verdict.verdict == "violation":
            certificate.check(history, model, shortened(verdict, history, model).evidence)
    assert min(seen.values()) > 20


def test_ppc_goes_the_general_way() -> None:
    model = herd("ppc")
    with pytest.raises(General):
        fit(model)
    history: History = parse("W x1, W y1 ∥ R y1, R x0")
    assert gradual.check(history, model)
    coherent = parse("W x1, W x2 ∥ R x2, R x1")
    verdict = gradual.check(coherent, model)
    assert not verdict and "→" in prose(verdict, coherent, model)
