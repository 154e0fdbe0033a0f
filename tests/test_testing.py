"""gradual in test benches: the assertion, the pytest plugin on real runs of pytest, what a failure leaves."""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path

import pytest

import gradual
from gradual.history import InputError
from gradual.testing import NotConsistent, assert_consistent

pytest_plugins = ["pytester"]
SB = "thread,op,address,value\n0,W,x,1\n0,R,y,0\n0,W,z,5\n1,W,y,1\n1,R,x,0\n1,R,z,0\n"
TWO = "history,thread,op,address,value\na,0,W,x,1\na,1,R,x,1\nb,0,R,x,1\nb,0,R,x,0\nb,1,W,x,1\n"
PLUGIN = () if entry_points(group="pytest11", name="gradual") else ("-p", "gradual.testing.plugin")
"""Installed, it is there by itself; not so in a checkout that was installed before it was."""


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    file = tmp_path / "sb.csv"
    file.write_text(SB)
    return file


def test_what_is_consistent_passes(trace: Path) -> None:
    history = next(iter(gradual.read(trace)))
    assert isinstance(history, gradual.History)
    frame = history.to_pandas()
    for source in (trace, str(trace), history, frame, frame.dropna(axis=1).to_dict("records")):
        assert [verdict.verdict for verdict in assert_consistent(source, "tso")] == ["consistent"]


def test_a_failure_has_the_smallest_history(trace: Path) -> None:
    with pytest.raises(NotConsistent) as caught:
        assert_consistent(trace, "sc")
    failure = caught.value
    assert (len(failure.found.item), len(failure.smallest)) == (6, 4)
    text = str(failure)
    for part in ("SC violation", "4 operations of it cannot be spared", "R x=0 (thread 1, line 6)", "rw →"):
        assert part in text
    assert "z=5" not in text and "z=5" not in failure.explanation


def test_each_history_of_a_file_counts(tmp_path: Path) -> None:
    (tmp_path / "two.csv").write_text(TWO)
    with pytest.raises(NotConsistent, match=r"two.csv \[b\]: TSO violation"):
        assert_consistent(tmp_path / "two.csv", "tso")


def test_bad_input_is_no_failure_of_consistency(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        assert_consistent(tmp_path / "missing.csv", "sc")
    (tmp_path / "bad.csv").write_text(TWO.replace("b,0,R", "b,0,Q"))
    with pytest.raises(InputError, match=r"bad.csv:4"):
        assert_consistent(tmp_path / "bad.csv", "sc")


def test_undecided_is_not_consistent(trace: Path) -> None:
    with pytest.raises(NotConsistent, match="unknown") as caught:
        assert_consistent(trace, "tso", timeout=0)
    assert caught.value.explanation == "" and caught.value.save(trace.parent / "none") == []


def test_the_files_of_a_failure(trace: Path, tmp_path: Path) -> None:
    with pytest.raises(NotConsistent) as caught:
        assert_consistent(trace, "sc")
    files = {file.name: file for file in caught.value.save(tmp_path / "out")}
    assert files["why.svg"].read_text().startswith("<svg")
    assert "cannot be spared" in files["why.txt"].read_text()
    assert not gradual.check(files["smallest.csv"])
    assert "line" in files["smallest.csv"].read_text().splitlines()[0]


def test_a_failing_test_is_explained(pytester: pytest.Pytester) -> None:
    pytester.makefile(".csv", sb=SB)
    pytester.makepyfile("""
        from gradual.testing import assert_consistent

        def test_tso():
            assert_consistent("sb.csv", "tso")

        def test_sc():
            assert_consistent("sb.csv", "sc")

        def test_other():
            assert 1 == 2
    """)
    done = pytester.runpytest_subprocess(*PLUGIN)
    done.assert_outcomes(passed=1, failed=2)
    done.stdout.fnmatch_lines(["*4 operations of it cannot be spared*", "*gradual explain*",
                               "gradual-failures/*test_sc/why.svg"])
    assert done.stdout.str().count("- gradual explain -") == 1
    saved = sorted(file.name for file in (pytester.path / "gradual-failures").glob("*/*"))
    assert saved == ["smallest.csv", "why.svg", "why.txt"]


def test_files_go_where_they_are_wanted(pytester: pytest.Pytester) -> None:
    pytester.makefile(".csv", sb=SB)
    pytester.makepyfile("from gradual.testing import assert_consistent\n"
                        "def test_sc():\n    assert_consistent('sb.csv', 'sc')\n")
    done = pytester.runpytest_subprocess(*PLUGIN, "--gradual-failures", "else/where", "-n", "1")
    done.stdout.fnmatch_lines(["else/where/*/why.txt"])
    (pytester.path / "full").write_text("no folder")
    done = pytester.runpytest_subprocess(*PLUGIN, "--gradual-failures", "full")
    done.stdout.fnmatch_lines(["no files in *full*"])
    done.assert_outcomes(failed=1)
