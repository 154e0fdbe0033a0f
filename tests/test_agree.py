"""The comparison of two checkouts in `experiments/agree.py`: it sees a difference, and keeps the history."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import gradual

sys.path.insert(0, str(Path(__file__).parents[1]))

from experiments import agree
from experiments.agree import MODELS, Answer, Comparison, Sheet, random_histories
from experiments.trees import THIS, Worker


@pytest.fixture
def sheet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sheet:
    monkeypatch.setattr(agree, "ROOT", tmp_path)
    monkeypatch.setattr(agree, "KEPT", tmp_path / "kept")
    file = tmp_path / "random-0.jsonl"
    gradual.write(random_histories(3, seed=1), file)
    return Sheet("random", file, 3)


def said(*verdicts: str) -> list[Answer]:
    return [{"number": number, "model": "sc", "verdict": verdict} for number, verdict in enumerate(verdicts)]


def test_a_worker_answers_for_every_history_and_model(sheet: Sheet) -> None:
    with Worker(THIS) as worker:
        job = {"file": str(sheet.file), "models": MODELS}
        answers = worker.ask(job, 60)
        assert answers is not None and len(answers) == 9
        assert [answer["verdict"] for answer in answers] == [
            gradual.check(history, model).verdict for history in gradual.read(sheet.file)
            if isinstance(history, gradual.History) for model in MODELS]
        missing = worker.ask(job | {"file": "missing.csv"}, 60)
        assert missing is not None and missing[0]["verdict"] == "error"
        assert worker.ask(job, 0) is None
        assert len(worker.ask(job, 60) or ()) == 9


def test_a_difference_is_told_and_kept(sheet: Sheet, capsys: pytest.CaptureFixture[str]) -> None:
    comparison = Comparison()
    comparison.add(sheet, [said("consistent", "violation", "unknown"), said("consistent", "consistent", "violation")])
    assert comparison.differences == 1
    assert comparison.counts["random"] == {"consistent": 1, "different": 1, "undecided": 1}
    assert "#1 sc: this violation" in capsys.readouterr().out
    assert len(list((agree.KEPT).iterdir())) == 1


def test_what_is_known_must_be_met(sheet: Sheet) -> None:
    comparison = Comparison()
    known = Sheet("axe-litmus", sheet.file, 1, (), {(0, "sc"): "violation"})
    comparison.add(known, [said("consistent"), said("consistent")])
    comparison.add(known, [said("error"), said("error")])
    comparison.add(known, [said("error"), said("violation")])
    comparison.add(known, [None, said("violation")])
    assert comparison.differences == 2
    assert comparison.counts["axe-litmus"] == {"different": 2, "unreadable": 1, "undecided": 3}


def test_many_random_histories_are_consistent_and_many_are_not() -> None:
    verdicts = [bool(gradual.check(history, "tso", timeout=60))
                for history in random_histories(60, seed=2)]
    assert 10 < sum(verdicts) < 50
