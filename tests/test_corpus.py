"""The corpus gets the verdicts it must get, and the litmus suite of axe those of axe."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from brute import MODELS
from command import gradual as run

import gradual
from gradual.history import History

ROOT = Path(__file__).parents[1]


def test_corpus() -> None:
    done = subprocess.run([sys.executable, ROOT / "experiments" / "corpus.py"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "every verdict is the expected one" in done.stdout


@pytest.mark.parametrize("model", MODELS)
def test_axe_litmus(model: str, shared_traces: Path) -> None:
    suite = shared_traces / "axe-litmus"
    expected = [line.split(maxsplit=1) for line in (suite / f"{model}.txt").read_text().splitlines()]
    histories = list(gradual.read(suite / "tests.axe"))
    assert len(histories) == len(expected) > 100
    for history, (answer, name) in zip(histories, expected, strict=True):
        assert isinstance(history, History)
        verdict = gradual.check(history, model).verdict
        assert verdict == {"OK": "consistent", "NO": "violation"}[answer], name


def test_gem5_logs_behave_as_their_machines(shared_traces: Path) -> None:
    """In-order CPUs on the sound protocol are SC; the broken protocol mostly is not."""
    import csv

    from gradual.history import Addresses, Options

    folder = shared_traces / "gem5"
    broken = []
    for row in csv.DictReader((folder / "manifest.csv").open()):
        if row["cpu"] != "TimingSimpleCPU" or int(row["operations"]) > 300:
            continue
        low = int(row["address"], 16)
        options = Options(Addresses([(low, low + int(row["bytes"]))]))
        verdict = gradual.check(folder / row["log"], "sc", options=options)
        if row["protocol"] == "MI":
            assert verdict, row["log"]
        else:
            broken.append(verdict.verdict)
    assert broken.count("violation") > len(broken) / 2


def test_the_readme_shows_what_is_printed() -> None:
    """The violation on its first screen, all but the seconds."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = [line[4:] for line in readme.splitlines() if line.startswith("    ")]
    (command,) = (line[2:] for line in shown if line.startswith("$ gradual check traces/gem5"))
    done = run(*command.split()[1:], cwd=ROOT)
    printed = done.stdout.splitlines()
    assert done.returncode == 1 and not done.stderr
    at = shown.index("$ " + command) + 1
    assert len(printed) >= 7
    for line, other in zip(printed, shown[at:at + len(printed)], strict=True):
        assert re.sub(r"[0-9.]+ s\)", "", line) == re.sub(r"[0-9.]+ s\)", "", other)
