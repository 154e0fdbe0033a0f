"""In notebooks: histories, verdicts and batches there, as tables too, and the notebook that walks through."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import gradual

ROOT = Path(__file__).parents[1]
SB = [{"thread": thread, "op": op, "address": address, "value": value} for thread, op, address, value in (
    ("<b>0", "W", "x", 1), ("<b>0", "R", "y", 0), ("1", "W", "y", 1), ("1", "R", "x", 0))]


def markup(shown: str) -> str:
    """It is whole, and strings of a trace are no part of it."""
    ElementTree.fromstring(f"<all>{shown.replace('&nbsp;', ' ')}</all>")
    assert "<b>0" not in shown
    return shown


def test_a_history() -> None:
    history = gradual.generate("tso", threads=2, operations=100)
    shown = markup(history._repr_html_())
    assert "100 operations, 2 threads" in shown and shown.count("<tr") < 40
    assert "&lt;b&gt;0" in markup(gradual.check(SB).history._repr_html_())  # type: ignore[attr-defined]


def test_verdicts() -> None:
    bad, good = gradual.check(SB), gradual.check(SB, "tso")
    assert "<svg" in markup(bad._repr_html_()) and "SC violation" in bad._repr_html_()
    assert "<svg" not in markup(good._repr_html_()) and "TSO consistent" in good._repr_html_()
    assert isinstance(bad, gradual.Verdict) and repr(bad).startswith("Verdict(model='SC', verdict='violation'")
    assert [*bad.to_pandas()["verdict"], *good.to_pandas()["verdict"]] == ["violation", "consistent"]
    assert gradual.check(SB, timeout=0).verdict == "unknown"
    markup(gradual.check(SB, timeout=0)._repr_html_() or "")


def test_a_violation_that_is_no_cycle() -> None:
    markup(gradual.check([*SB, {"thread": "1", "op": "R", "address": "x", "value": 77}])._repr_html_())


def test_a_batch(tmp_path: Path) -> None:
    gradual.write([gradual.generate("broken-drop", operations=60, locations=3, seed=seed) for seed in range(8)],
                  tmp_path / "some.jsonl")
    subprocess.run([sys.executable, "-m", "gradual.cli", "batch", str(tmp_path / "some.jsonl"), "--model", "all",
                    "--jobs", "1", "--out", str(tmp_path / "out"), "--no-pages"], capture_output=True, check=False)
    results = gradual.results(tmp_path / "out")
    frame = results.to_pandas()
    assert len(frame) == len(results) == 24 and {"model", "verdict", "cycle"} <= set(frame)
    assert list(frame["model"][:3]) == ["SC", "TSO", "PSO"]
    shown = markup(results._repr_html_())
    assert "24 verdicts" in shown and "<svg" in shown


def test_the_notebook_runs(tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat", reason="nbclient is not installed (pip install -e .[test])")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed (pip install -e .[test])")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed (pip install -e .[test])")
    book = nbformat.read(ROOT / "experiments" / "walk.ipynb", as_version=4)
    assert not any(cell.get("outputs") for cell in book.cells), "the notebook is kept without outputs"
    nbclient.NotebookClient(book, timeout=120, resources={"metadata": {"path": str(ROOT)}}).execute()
    shown = [output.data for cell in book.cells for output in cell.get("outputs", []) if "data" in output]
    pictures = [data for data in shown if "<svg" in data.get("text/html", "")]
    assert len(pictures) == 2
    assert all(re.search("SC violation|violations? of SC", data["text/html"]) for data in pictures)
