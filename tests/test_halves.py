"""Rmws as two events, for the models that take them so: evidence, certificate and telling speak of the user's lines."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from random import Random

import numpy as np
import pandas as pd
import pytest
from test_certificate import proves
from weak_histories import told

import gradual
from gradual.deciding.overtaking import compare
from gradual.deciding.pipeline import check
from gradual.deciding.shrinking import Shrinking
from gradual.evidence.two_events import two_events
from gradual.evidence.verdict import Cycle, Edge, Witness
from gradual.history import ATOMIC, READ, RMW, WRITE, History
from gradual.history.halves import halved
from gradual.machines import generate
from gradual.models import load

sys.path.insert(0, str(Path(__file__).parents[1]))
from experiments.axioms.apart import apart
from experiments.axioms.histories import random_history

SWAPS = """thread,op,address,value,read,aqrl
0,W,x,1,,
0,RMW,z,1,0,aqrl
0,R,y,0,,
1,W,y,1,,
1,RMW,w,1,0,aqrl
1,R,x,0,,
"""
"""Store buffering across swaps that acquire and release: Arm forbids it."""


@pytest.fixture
def swaps(tmp_path: Path) -> Path:
    (tmp_path / "swaps.csv").write_text(SWAPS)
    return tmp_path / "swaps.csv"


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "gradual.cli", *map(str, arguments)], capture_output=True, text=True)


def with_rmws(rng: Random) -> History:
    while True:
        history = random_history(rng)
        if RMW in history.kind:
            return history


def test_three_readings_agree() -> None:
    """The engine's, the certificate's and brute force's, each of its own code."""
    rng = Random(3)
    for _ in range(150):
        history = with_rmws(rng)
        ours, by_hand, certified = halved(history), apart(history), two_events(history)
        for other in (by_hand, certified):
            for name in ("kind", "location", "read", "written", "initial", "final_value"):
                assert np.array_equal(getattr(ours, name), getattr(other, name)), name
            for name in ("marks", "fence", "begin", "end"):
                columns = [getattr(one, name) for one in (ours, other)]
                assert np.array_equal(*(0 * ours.kind - (name in ("begin", "end")) if column is None else column
                                        for column in columns)), name
            for name in ("addr", "data", "ctrl", "pair"):
                pairs = [getattr(one, name) for one in (ours, other)]
                assert len({tuple(sorted(map(tuple, () if of is None else of.tolist()))) for of in pairs}) == 1, name
        assert np.array_equal(ours.source, by_hand.source) and np.array_equal(ours.final, by_hand.final)
        assert ours.operations == len(history)
        assert halved(ours) is ours and two_events(certified) is certified


def test_a_half_knows_whose_it_is() -> None:
    history = halved(told("Wz9 Ux01.aqrl Ry0"))
    assert [history.what(e) for e in range(len(history))] == ["W z=9", "RMW R.aq x=0", "RMW W.rl x=1", "R y=0"]
    assert history.operation.tolist() == [0, 1, 1, 2]  # type: ignore[union-attr]
    assert history.pair.tolist() == [[1, 2]]  # type: ignore[union-attr]
    assert [bool(mark & ATOMIC) for mark in history.marks] == [False, True, True, False]  # type: ignore[union-attr]
    assert halved(told("Wx1 Ry0")).operation is None


def test_what_depends_on_halves() -> None:
    history = halved(told("Rx0 Uy01/a1/d1 Wz1/d2"))
    assert history.kind.tolist() == [READ, READ, WRITE, WRITE]
    assert history.addr.tolist() == [[0, 1], [0, 2]]  # type: ignore[union-attr]
    assert history.data.tolist() == [[0, 2], [1, 3]]  # type: ignore[union-attr]


def test_the_certificate_reads_the_trace() -> None:
    """Evidence speaks of halves: of the rmw as one event it proves nothing, nor does evidence with halves swapped."""
    trace, model = told("Wx1 Uz01.aqrl Ry0 ‖ Wy1 Uw01.aqrl Rx0"), load("armv8")
    found = check(trace, model).evidence
    assert isinstance(found, Cycle) and proves(trace, model, found)
    assert not proves(trace, load("rvwmo"), found)
    for place, edge in enumerate(found.edges):
        for start, end in ((edge.start + 1, edge.end), (edge.start - 1, edge.end), (edge.start, edge.end - 1)):
            forged = [*found.edges]
            forged[place] = Edge(edge.kind, start, end)
            assert not proves(trace, model, Cycle(tuple(forged), found.scope, found.steps))
    fine = told("Ux01.aq Ry0 ‖ Uy01.aq Rx0")
    order = list(check(fine, model).evidence.order)  # type: ignore[union-attr]
    assert proves(fine, model, Witness(order))
    assert not proves(fine, model, Witness(order[::-1]))
    assert not proves(fine, model, Witness([0, 1, 2, 3]))


def test_a_model_of_ones_own(tmp_path: Path) -> None:
    """A line in the file is all that it takes."""
    text = load("ztso").text.replace("Ztso \"", "Mine \"", 1).replace("AMO];po", "EX];po").replace("| AMO]", "| EX]")
    (tmp_path / "one.cat").write_text(text)
    (tmp_path / "two.cat").write_text(text.replace("(* weaker", "(* rmws: two events *)\n(* weaker", 1))
    history = told("Ux01 Ry0 ‖ Uy01 Rx0")
    assert not check(history, load(str(tmp_path / "one.cat")))
    assert check(history, load(str(tmp_path / "two.cat")))


# --- in the user's terms


def test_told_by_lines(swaps: Path, tmp_path: Path) -> None:
    text = run("check", swaps, "--model", "armv8").stdout
    assert "6 operations" in text and "RMW W.rl z=1 (thread 0, line 3)" in text
    assert "Arm: after an atomic operation that acquires and releases" in text
    told_in_words = run("explain", swaps, "--model", "armv8", "--html", tmp_path / "why.html")
    assert "thread 0 wrote z=1 in an rmw at line 3" in told_in_words.stdout and told_in_words.returncode == 1
    assert "RMW W.rl z=1" in (tmp_path / "why.html").read_text()
    history = next(iter(gradual.read(swaps)))
    assert isinstance(history, History)
    assert "line 3" in gradual.explain(gradual.check(history, "armv8"), history)


def test_told_as_json(swaps: Path) -> None:
    record = json.loads(run("check", swaps, "--model", "armv8", "--json").stdout)
    ends = [edge["from"] for edge in record["cycle"]]
    assert record["operations"] == 6 and {end["operation"] for end in ends} <= set(range(6))
    assert [end["op"] for end in ends if end.get("of") == "rmw"] == ["write", "write"]
    swaps.write_text(SWAPS.replace("aqrl", "aq"))
    record = json.loads(run("check", swaps, "--model", "armv8", "--json").stdout)
    assert sorted(record["witness"]["order"]) == [0, 1, 1, 2, 3, 4, 4, 5]
    assert record["witness"]["store_order"]["z"] == [1]


def test_batches(swaps: Path, tmp_path: Path) -> None:
    (tmp_path / "fine.csv").write_text(SWAPS.replace("aqrl", "aq"))
    done = run("batch", swaps, tmp_path / "fine.csv", "--model", "armv8", "--out", tmp_path / "results")
    rows = pd.read_parquet(tmp_path / "results").set_index("history")
    assert done.returncode == 1 and rows.verdict.to_dict() == {"swaps": "violation", "fine": "consistent"}
    assert sorted(rows.witness["fine"]) == [0, 1, 1, 2, 3, 4, 4, 5] and set(rows.operations) == {6}
    assert run("report", tmp_path / "results", "-o", tmp_path / "report.html").returncode == 0
    page = (tmp_path / "report.html").read_text()
    assert "line 3" in page and "<svg" in page


def test_shrunk_to_whole_rmws() -> None:
    trace = told("Wu1 Wx1 Uz01.aqrl Ry0 ‖ Ru1 Wy1 Uv01 Uw01.aqrl Rx0")
    shrinking = Shrinking(trace, "armv8")
    assert [trace.what(e) for e in shrinking.operations] == [
        "W x=1", "RMW.aqrl z: 0→1", "R y=0", "W y=1", "RMW.aqrl w: 0→1", "R x=0"]
    assert not check(shrinking.history, "armv8") and (shrinking.history.kind == RMW).sum() == 2


def test_differences_speak_of_rmws() -> None:
    trace = told("Ux01.aq Ry0 ‖ Uy01.aq Rx0")
    (found,) = compare(trace, [load("tso"), load("armv8")]).differences
    (pair,) = found.overtakings
    assert (trace.kind[pair.earlier], trace.kind[pair.later]) == (RMW, READ)
    assert sorted(found.order) == [0, 0, 1, 2, 2, 3]


def test_large_ones() -> None:
    """Compiled, and many together."""
    history = generate("rvwmo", 4, 3000, 16, 5, rmw_ratio=0.1)
    assert check(history, "armv8").verdict in ("consistent", "violation")
    assert check(generate("tso", 4, 3000, 16, 5, rmw_ratio=0.1), "armv8")
