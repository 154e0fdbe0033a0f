"""`gradual contrast` and `gradual run --operational` as users see them."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from command import gradual

from gradual.cli import contrast as command
from gradual.contrast.counting import Count
from gradual.contrast.search import Contrast
from gradual.contrast.sides import side
from gradual.contrast.space import Space
from gradual.contrast.table import Table
from gradual.progress import Progress

FIELDS = ["a", "b", "differs", "instructions", "threads", "fences", "program", "outcome", "allowed_by", "programs",
          "bound", "seconds"]
ROOT = Path(__file__).parents[1]


def contrast(*arguments: object) -> subprocess.CompletedProcess[str]:
    return gradual("contrast", *arguments, cwd=ROOT)


def test_two_models(tmp_path: Path) -> None:
    done = contrast("sc", "tso", "-o", tmp_path / "SB.litmus")
    assert done.returncode == 0
    assert done.stdout.startswith("tso allows what sc forbids, with 4 instructions in 2 threads")
    assert "WX1 RY|WY2 RX   outcome 0 0" in done.stdout and (tmp_path / "SB.litmus").read_text() in done.stdout
    why, how = done.stdout.split("How tso reaches it:")
    assert "Why sc forbids it:" in why and "back at the start" in why and "R x=0 (P1)" in how
    run = gradual("run", tmp_path / "SB.litmus", "--model", "sc", "--model", "tso", "--json")
    assert [json.loads(line)["holds"] for line in run.stdout.splitlines()] == [False, True]
    run = gradual("run", tmp_path / "SB.litmus", "--operational", "--model", "sc", "--model", "tso", "--json")
    assert [json.loads(line)["holds"] for line in run.stdout.splitlines()] == [False, True]


def test_json() -> None:
    (line,) = contrast("tso", "ntso", "--json").stdout.splitlines()
    found = json.loads(line)
    assert list(found) == FIELDS
    assert {name: found[name] for name in FIELDS[:9]} == {
        "a": "tso", "b": "ntso", "differs": True, "instructions": 5, "threads": 3, "fences": 0,
        "program": "RX WY1|RY RX|WX2", "outcome": [2, 1, 0], "allowed_by": "ntso"}
    done = contrast("npso", "operational:npso", "--instructions", "4", "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 4 and list(found) == FIELDS and found["differs"] is False
    assert (found["instructions"], found["program"], found["programs"], found["bound"]) == (None, None, 229, 4)


def test_no_difference_is_said() -> None:
    done = contrast("pso", "npso", "--instructions", 4)
    assert done.returncode == 4
    assert "pso and npso: no difference up to 4 instructions (229 programs looked at" in done.stdout


def test_all_of_a_size(tmp_path: Path) -> None:
    done = contrast("sc", "tso", "--all", "--json", "-o", tmp_path / "t.litmus")
    first, second, last = map(json.loads, done.stdout.splitlines())
    assert first == last and [first["program"], second["program"]] == ["WX1 RY|WY2 RX", "WX1 RY|WY2 F RX"]
    assert {path.name for path in tmp_path.iterdir()} == {"t.litmus", "t-2.litmus"}


def test_a_model_of_ones_own(tmp_path: Path) -> None:
    own = tmp_path / "own.cat"
    own.write_text('Mine "TSO without its fences"\nlet ppo = [R];po;[M] | [M];po;[W]\n'
                   "acyclic po-loc | rf | co | fr acyclic ppo | rfe | co | fr as main")
    found = json.loads(contrast("tso", own, "--json").stdout)
    assert (found["program"], found["allowed_by"], found["b"]) == ("WX1 F RY|WY2 F RX", "Mine", "Mine")
    done = contrast(own, "tso")
    assert "Why tso forbids it" in done.stdout and "    rf  initial y → R y=0 (P0)" in done.stdout
    assert contrast("tso", own, "--no-fences", "--instructions", 4).returncode == 4


def test_herds_own_tso() -> None:
    file = ROOT.parent / "shared" / "models" / "herd" / "x86tso.cat"
    if not file.exists():
        pytest.skip(f"{file} is not here")
    done = contrast("tso", file, "--instructions", 4, "--json")
    assert done.returncode == 4 and json.loads(done.stdout)["b"] == "X86 TSO"


def test_engines_agree() -> None:
    found = json.loads(contrast("pso", "sc", "--engine", "query", "--json").stdout)
    assert (found["differs"], found["instructions"], found["allowed_by"]) == (True, 4, "pso")


@pytest.mark.parametrize("arguments, words", [
    (["sc"], "two models are contrasted"),
    (["sc", "tso", "pso"], "two models are contrasted"),
    (["sc", "nothing"], "no model called 'nothing'; there are SC"),
    (["sc", "operational:generic"], "generic names no machine"),
    (["sc", "operational:nothing"], "no model called 'nothing'"),
    (["sc", "nowhere.cat"], "nowhere.cat"),
    (["--programs", "3", "sc"], "takes no models"),
    (["sc", "tso", "--list"], "--list has no meaning here"),
    (["--programs", "3", "--table"], "choose one of"),
    (["sc", "tso", "--html", "x.html"], "--html has no meaning here"),
    (["--table", "sc"], "two models at least"),
    (["--table", "sc", "SC"], "two of these have one name"),
    (["sc", "tso", "--machine", "host"], "one model is contrasted with the machine"),
    (["sc", "--machine", "abacus"], "no machine called 'abacus'"),
    (["sc", "tso", "-o", "/nowhere/x.litmus"], "/nowhere/x.litmus"),
    (["sc", "operational:tso", "--engine", "query"], "operational:tso is a machine"),
    (["sc", "tso", "--engine", "query", "--all"], "does not go with --all"),
])
def test_bad_input(arguments: list[str], words: str) -> None:
    done = contrast(*arguments)
    assert done.returncode == 2 and words in done.stderr and "Traceback" not in done.stderr, done.stderr


def test_a_syntax_error_in_a_model(tmp_path: Path) -> None:
    (tmp_path / "bad.cat").write_text("Bad\nacyclic po |\n")
    done = contrast("tso", tmp_path / "bad.cat")
    assert done.returncode == 2 and done.stderr.startswith(f"gradual: {tmp_path / 'bad.cat'}:3:1: expected a set")
    assert done.stderr.count("\n") == 1
    (tmp_path / "views.cat").write_text("Bad\nviews po | rf\n")
    assert "views.cat:2:10: views is said of what is known" in contrast("tso", tmp_path / "views.cat").stderr


# --- bounds that are too large ---------------------------------------------------------------------------


def test_a_bound_that_is_too_large(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """What it would take is said, and what is known is kept."""
    monkeypatch.setattr("gradual.contrast.search.LONG", 1e-2)
    search = Contrast(side("tso"), side("operational:tso"), bound=9)
    assert command._contrast(search, False, False, None, True) == 3
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert found["differs"] is None and found["bound"] == search.finished < 9 and "--go-on does it" in err
    assert f"{Space().count(search.finished + 1)} programs of {search.finished + 1} instructions" in err
    further = Contrast(side("tso"), side("operational:tso"), bound=search.finished + 1)
    further.run(Progress(), go_on=True)
    assert further.differs is False


def test_what_it_would_take() -> None:
    search = Contrast(side("tso"), side("pso"))
    assert search.takes(6) < 60 < search.takes(8) < search.takes(9)
    assert command._duration(search.takes(9)).split()[1] in ("hours", "days")


def interrupted_after(calls: int, monkeypatch: pytest.MonkeyPatch, owner: type, method: str) -> None:
    """As if Ctrl-C were pressed."""
    do, left = getattr(owner, method), iter(range(calls))

    def interrupted(self: object, *arguments: object) -> object:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return do(self, *arguments)

    monkeypatch.setattr(owner, method, interrupted)


def test_ctrl_c_keeps_what_is_known(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    interrupted_after(60, monkeypatch, Contrast, "_compared")
    search = Contrast(side("tso"), side("pso"))
    assert command._contrast(search, False, False, None, True) == 130
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert (found["differs"], found["bound"], found["programs"]) == (None, 3, 61) and "interrupted" in err


def test_ctrl_c_in_a_table(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    interrupted_after(100, monkeypatch, Table, "_compare")
    assert command._table([side("sc"), side("pslo")], Space(), 6, None, False) == 130
    out = capsys.readouterr().out
    assert "none up to 3 instructions) (interrupted" in out and "CoRR" in out and "100 programs looked at" in out


def test_ctrl_c_while_counting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                               capsys: pytest.CaptureFixture[str]) -> None:
    with monkeypatch.context() as patched:
        interrupted_after(20, patched, Count, "_add")
        assert command._count(Space(), 4, False, tmp_path / "count.json", True) == 130
    out, err = capsys.readouterr()
    assert 0 < json.loads(out)["programs"] < 1668 and "so far of 1668 programs, and is kept in" in err
    assert command._count(Space(), 4, False, tmp_path / "count.json", True) == 0
    assert json.loads(capsys.readouterr().out)["programs"] == 1668


# --- programs, tables, machines --------------------------------------------------------------------------


def test_programs(tmp_path: Path) -> None:
    found = json.loads(contrast("--programs", 4, "--json").stdout)
    assert list(found) == ["instructions", "programs", "connected", "idle_free", "seconds"]
    assert [found[name] for name in list(found)[:4]] == [4, 1668, 232, 176]
    listed = contrast("--programs", 4, "--list").stdout.splitlines()
    assert len(listed) == 176 and "WX1 RY|WY2 RX" in listed
    file = tmp_path / "count.json"
    assert contrast("--programs", 3, "--resume", file).returncode == 0
    assert json.loads(file.read_text())["programs"] == 254
    done = contrast("--programs", 4, "--resume", file)
    assert done.returncode == 2 and "does not hold this count" in done.stderr


def test_table(tmp_path: Path) -> None:
    page = tmp_path / "models.html"
    done = contrast("--table", "sc", "ntso", "pslo", "--instructions", 4, "--html", page)
    assert done.returncode == 0 and "pslo  CoRR  CoRR  ·" in done.stdout and "sc ⊂ ntso" in done.stdout
    text = page.read_text()
    assert text.count("<svg") == 2 and 'href="#test-SB"' in text and "ntso ⊂ pslo" in text and "<script" not in text
    found = json.loads(contrast("--table", "sc", "ntso", "--instructions", 4, "--json").stdout)
    assert found["models"] == ["sc", "ntso"] and found["order"] == [["sc", "ntso"]] and found["bound"] == 4
    assert found["pairs"][1] == {"row": "ntso", "column": "sc", "included": False, "test": "SB", "instructions": 4,
                                 "threads": 2, "fences": 0, "program": "WX1 RY|WY2 RX", "outcome": [0, 0]}


def test_a_small_machine() -> None:
    done = contrast("sc", "--machine", "tso", "--instructions", 4, "--threads", 2, "--runs", 80, "--json")
    *tests, last = map(json.loads, done.stdout.splitlines())
    assert done.returncode == 1 and last["forbidden"] >= 1 and last["tests"] == len(tests)
    (sb,) = (test for test in tests if test["program"] == "WX1 RY|WY2 RX")
    assert sb["forbidden"] == [[0, 0]] and sb["runs"] == 80
    done = contrast("tso", "--machine", "tso", "--instructions", 3, "--runs", 50)
    assert done.returncode in (0, 4) and "0 outcomes seen that tso forbids" in done.stdout


def test_a_command() -> None:
    done = contrast("sc", "--command", "echo thread,op,address,value; exit 3", "--instructions", 2, "--runs", 20)
    assert done.returncode == 2 and "nothing was seen in the first 10 runs" in done.stderr


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc here")
def test_this_computer() -> None:
    done = contrast("tso", "--machine", "host", "--instructions", 3, "--threads", 2, "--runs", 2000, "--json")
    *tests, last = map(json.loads, done.stdout.splitlines())
    assert done.returncode in (0, 4) and last["tests"] == len(tests) and last["forbidden"] == 0
    assert all(test["runs"] >= 2000 for test in tests)


@pytest.mark.parametrize("model", ["sc", "ibm370", "tso", "pso", "pslo", "rmo", "ntso", "npso"])
def test_run_knows_every_model_both_ways(model: str) -> None:
    files = [ROOT / "traces" / "litmus" / f"{name}.litmus" for name in ("SB", "MP", "S", "n6")]
    by_axioms, by_machine = (gradual("run", *files, "--model", model, "--json", *more)
                             for more in ((), ("--operational",)))
    assert by_axioms.returncode == by_machine.returncode == 0
    for one, other in zip(by_axioms.stdout.splitlines(), by_machine.stdout.splitlines(), strict=True):
        axioms, machine = json.loads(one), json.loads(other)
        assert [found["values"] for found in axioms["outcomes"]] == [found["values"] for found in machine["outcomes"]]
        assert machine["model"] == f"operational:{model}" and machine["holds"] == axioms["holds"]


def test_run_says_what_machines_do_not_know() -> None:
    litmus = ROOT / "traces" / "litmus"
    done = gradual("run", litmus / "SB+fstlds.litmus", "--operational", "--model", "tso")
    assert done.returncode == 2 and "SB+fstlds.litmus:5: the machines know full fences only" in done.stderr
    done = gradual("run", litmus / "XCHGs.litmus", "--operational", "--model", "rmo")
    assert done.returncode == 2 and "what an rmw does is not defined" in done.stderr
    done = gradual("run", litmus / "XCHGs.litmus", "--model", "npso")
    assert done.returncode == 2 and "NPSO has a view per thread, and what an rmw does in one" in done.stderr
    assert gradual("run", litmus / "SB.litmus", "--operational", "--count").returncode == 2
