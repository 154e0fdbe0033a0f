"""Reports for CI systems: valid, complete, and readable whatever the traces are called."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import junitparser
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from gradual.batch import junit

SCHEMA = etree.XMLSchema(file=str(Path(__file__).with_name("junit.xsd")))
ELEMENTS = {"violation": "failure", "error": "error", "unknown": "skipped"}
Row = dict[str, Any]


def row(verdict: str = "consistent", **changes: Any) -> Row:
    return {"source": "traces/a.log.gz", "history": "h1", "model": "SC", "verdict": verdict, "decided_by": "CCM",
            "seconds": 0.25, "message": "", "explanation": None, "operations": 100} | changes


def violation(**changes: Any) -> Row:
    return row("violation", message="R x=0 po → W x=1", explanation="these cannot all\n\tcome: R x=0", **changes)


def report(rows: Iterable[Mapping[str, Any]], folder: Path) -> Any:
    """The report, parsed; valid by the schema."""
    path = folder / "report.xml"
    junit.write(rows, str(path))
    document = etree.parse(str(path), etree.XMLParser(huge_tree=True))
    SCHEMA.assertValid(document)
    return document.getroot()


def counts(element: Any) -> dict[str, int]:
    return {name: int(element.get(name)) for name in ("tests", "failures", "errors", "skipped") if element.get(name)}


def test_each_verdict_has_its_element(tmp_path: Path) -> None:
    rows = [row(), violation(model="TSO"), row("unknown", history="h2", message="out of time", decided_by=None),
            row("error", history="h3", message="line 3: no such op", seconds=None, operations=None, decided_by=None)]
    (suite,) = root = report(rows, tmp_path)
    assert counts(root) == {"tests": 4, "failures": 1, "errors": 1}
    assert counts(suite) == {"tests": 4, "failures": 1, "errors": 1, "skipped": 1}
    assert root.get("time") == suite.get("time") == "0.750"
    assert suite.get("name") == suite.get("file") == "traces/a.log.gz"
    assert [case.get("name") for case in suite] == ["h1 SC", "h1 TSO", "h2 SC", "h3 SC"]
    assert [case.get("time") for case in suite] == ["0.250000"] * 3 + [None]
    consistent, failed, unknown, wrong = suite
    assert len(consistent) == 0
    assert (failed[0].tag, failed[0].get("type")) == ("failure", "violation")
    assert failed[0].get("message") == "violation by CCM (100 operations): R x=0 po → W x=1"
    assert failed[0].text == "these cannot all\n\tcome: R x=0"
    assert (unknown[0].tag, unknown[0].get("message")) == ("skipped", "unknown (100 operations): out of time")
    assert (wrong[0].tag, wrong[0].get("message")) == ("error", "error: line 3: no such op")
    assert wrong[0].text == "line 3: no such op"


def test_the_columns_are_enough() -> None:
    assert set(row()) == set(junit.COLUMNS)


def test_no_rows(tmp_path: Path) -> None:
    root = report([], tmp_path)
    assert len(root) == 0 and counts(root) == {"tests": 0, "failures": 0, "errors": 0}


@pytest.mark.parametrize("source, package, name", [
    ("traces/gem5/MI-4t.log.gz", "traces.gem5", "MI-4t_log_gz"),
    ("/abs/./x.csv", "abs", "x_csv"), ("../v1.2/x.csv", "__.v1_2", "x_csv"), ("C:\\t\\x.csv", "C:.t", "x_csv"),
    ("x.csv", "", "x_csv"), ("-", "", "-"), ("", "", "-"), ("/", "", "-")])
def test_jenkins_shows_folders_as_packages(source: str, package: str, name: str, tmp_path: Path) -> None:
    ((case,),) = report([row(source=source)], tmp_path)
    assert case.get("classname").rpartition(".")[::2] == (package, name)


def test_names_that_are_taken(tmp_path: Path) -> None:
    """GitLab would drop the second one."""
    taken = [violation(), violation(), violation(history="h1 SC (2)", model=""), violation(source="traces/a_log.gz")]
    first, second = report(taken, tmp_path)
    assert [case.get("name") for case in first] == ["h1 SC", "h1 SC (2)", "h1 SC (2) (2)"]
    assert [case.get("classname") for case in (*first, *second)] == ["traces.a_log_gz"] * 3 + ["traces.a_log_gz (2)"]


def test_a_file_that_could_not_be_read(tmp_path: Path) -> None:
    ((case,),) = report([row("error", history="", model="", message="no such file")], tmp_path)
    assert case.get("name") == "(whole file)"


def test_files_that_take_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(junit, "HELD", 100)  # so that the spool is a file
    monkeypatch.setattr(junit, "_PIECE", 7)
    together = [violation(source=source, history=f"h{n}") for source in "bca" for n in range(20)]
    turns = [violation(source=source, history=f"h{n}") for n in range(20) for source in "bca"]
    one, other = (etree.tostring(report(rows, tmp_path)) for rows in (together, turns))
    assert one == other


def test_hostile_text_stays_visible(tmp_path: Path) -> None:
    hostile = "a\x00\x1b[31m\x9b\ud800\udcff\ufffe\uffff\r\"'<&>]]>]]&gt;\U0001f600"
    seen = "a\\x00\\x1b[31m\\x9b\\ud800\\udcff\\ufffe\\uffff\\r\"'<&>]]>]]&gt;\U0001f600"
    rows = [violation(source=hostile, history=hostile) | {"message": f"a\r\n  b\n{hostile}!", "explanation": hostile}]
    ((case,),) = (suite,) = report(rows, tmp_path)
    assert suite.get("name") == seen and case.get("name") == f"{seen} SC"
    assert case[0].get("message").endswith(": a b " + seen.replace("\\r", " ") + "!")
    assert case[0].text == seen


def test_names_are_lines(tmp_path: Path) -> None:
    ((case,),) = report([row(history="a\nb\tc")], tmp_path)
    assert case.get("name") == "a\\nb\\tc SC"


anything = st.text(st.characters(exclude_categories=()), max_size=12)
hostile_rows = st.builds(
    row, verdict=st.sampled_from(["consistent", "violation", "error", "unknown"]), source=anything, history=anything,
    model=st.sampled_from(["SC", "TSO", "PSO", ""]), decided_by=st.none() | anything,
    seconds=st.none() | st.floats(max_value=1e9), message=anything, explanation=st.none() | anything,
    operations=st.none() | st.integers(0, 10**6))


@settings(deadline=None)
@given(rows=st.lists(hostile_rows, max_size=8))
def test_any_rows_are_reported(rows: list[Row], tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.getbasetemp()
    root = report(rows, folder)
    expected = Counter(row["verdict"] for row in rows)
    assert counts(root) == {"tests": len(rows), "failures": expected["violation"], "errors": expected["error"]}
    assert sum(counts(suite)["skipped"] for suite in root) == expected["unknown"]
    for suite, source in zip(root, dict.fromkeys(row["source"] for row in rows), strict=True):
        ours = [row for row in rows if row["source"] == source]
        assert [case[0].tag if len(case) else None for case in suite] == [ELEMENTS.get(row["verdict"]) for row in ours]
        for case in suite.iterfind("testcase/*"):
            assert case.text and "\n" not in case.get("message")
    once = (folder / "report.xml").read_bytes()
    junit.write(iter(rows), str(folder / "report.xml"))
    assert (folder / "report.xml").read_bytes() == once


def test_another_reader_counts_the_same(tmp_path: Path) -> None:
    rows = [violation(), row("error", model="TSO"), row("unknown", model="PSO"), row(source="b", seconds=None)]
    junit.write(rows, str(tmp_path / "report.xml"))
    read = junitparser.JUnitXml.fromfile(str(tmp_path / "report.xml"))
    said = [(s.name, s.tests, s.failures, s.errors, s.skipped) for s in read]
    read.update_statistics()
    counted = [(s.name, s.tests, s.failures, s.errors, s.skipped) for s in read]
    assert said == counted == [("traces/a.log.gz", 3, 1, 1, 1), ("b", 1, 0, 0, 0)]
    results = [[type(result).__name__ for result in case.result] for suite in read for case in suite]
    assert results == [["Failure"], ["Error"], ["Skipped"], []]


def test_many_rows_are_not_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two files take turns, 4 kB of explanation each: 20 MB of text pass through a tenth of that."""
    monkeypatch.setattr(junit, "HELD", 1 << 18)
    monkeypatch.setattr(junit, "_PIECE", 1 << 16)
    rows = (violation(source="ab"[n % 2], history=f"h{n}") | {"explanation": "x" * 4000} for n in range(5_000))
    tracemalloc.start()
    try:
        junit.write(rows, str(tmp_path / "report.xml"))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2e6 and (tmp_path / "report.xml").stat().st_size > 20e6


@pytest.mark.parametrize("bad", [{"verdict": "fine"}, {}])
def test_no_half_of_a_report(bad: Row, tmp_path: Path) -> None:
    """An unheard-of verdict is no success; and what was there before stays."""
    path = tmp_path / "report.xml"
    path.write_text("before")
    with pytest.raises(KeyError):
        junit.write([violation(), row() | bad if bad else {}], str(path))
    assert path.read_text() == "before" and list(tmp_path.iterdir()) == [path]
