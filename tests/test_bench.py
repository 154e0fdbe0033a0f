"""The benchmark of `experiments/bench`: it can be interrupted, and its tables say what was measured."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import gradual

sys.path.insert(0, str(Path(__file__).parents[1]))

from experiments.bench import workloads
from experiments.bench.journal import Journal, Sample
from experiments.bench.process import Failed, Limits, run
from experiments.bench.report import disagreements, report
from experiments.bench.workloads import Workload
from experiments.markdown import number

CODES = {"this": "a", "before": "b"}
ROOMY = Limits(30.0, 8.0)
SMALL = Workload("sc", "consistent", "as issued", 10_000, 4, 16)


def journal(folder: Path, limit: float = 20.0) -> Journal:
    return Journal(folder / "bench.csv", CODES, limit)


def sample(peer: str, workload: Workload = SMALL, **found: object) -> Sample:
    return Sample(**({"peer": peer, "code": CODES[peer], "limit": 20.0} | workload._asdict() | found))  # type: ignore[arg-type]


def test_a_journal_goes_on_where_it_was(tmp_path: Path) -> None:
    for seconds in (0.5, 0.1, 0.2):
        journal(tmp_path).add(sample("this", verdict="consistent", seconds=seconds, peak_mb=80.0, conflicts=7))
    journal(tmp_path).add(sample("before", failure="> 20 s"))
    again = journal(tmp_path)
    assert again.of("this", SMALL)[0] == sample("this", verdict="consistent", seconds=0.5, peak_mb=80.0, conflicts=7)
    assert again.median("this", SMALL, "seconds") == 0.2
    assert again.failure("before", SMALL) == "> 20 s" and again.median("before", SMALL, "seconds") is None
    assert journal(tmp_path, limit=60.0).of("before", SMALL) == [] != journal(tmp_path, limit=60.0).of("this", SMALL)
    assert Journal(tmp_path / "bench.csv", CODES | {"this": "new"}, 20.0).of("this", SMALL) == []


def test_the_tables(tmp_path: Path) -> None:
    book, large = journal(tmp_path), SMALL._replace(operations=100_000)
    book.add(sample("this", verdict="consistent", seconds=0.5, peak_mb=80.2, conflicts=7))
    book.add(sample("before", verdict="consistent", seconds=2.0, peak_mb=200.0))
    book.add(sample("this", large, verdict="consistent", seconds=3.0, peak_mb=100.0, conflicts=1))
    book.add(sample("before", large, failure="> 20 s"))
    lines = list(report(book, ["this", "before"], [SMALL, large]))
    assert "| consistent | as issued | 10 000 | 4.00 (4.00 to 4.00; 1) | 0 | 0 |" in lines
    assert "| consistent | as issued | 100 000 | — | 1 | 0 |" in lines
    assert ("| order | operations | threads | locations | this, s | this, MB | this, conflicts | before, s "
            "| before, MB |") in lines
    assert "| as issued | 10 000 | 4 | 16 | 0.500 | 80 | 7 | 2.00 | 200 |" in lines
    assert "| as issued | 100 000 | 4 | 16 | 3.00 | 100 | 1 | > 20 s | — |" in lines


def test_a_wrong_verdict_is_told(tmp_path: Path) -> None:
    book, broken = journal(tmp_path), SMALL._replace(kind="broken")
    book.add(sample("this", verdict="violation", seconds=1.0))
    book.add(sample("before", verdict="consistent", seconds=1.0))
    book.add(sample("this", broken, verdict="violation", seconds=1.0))
    (told,) = disagreements(book, [SMALL, broken])
    assert "this" in told and "before" not in told


def test_the_matrix_is_what_was_asked_for() -> None:
    every = list(workloads.matrix(quick=False))
    assert len(set(every)) == len(every) == 3 * 2 * 2 * 6 * 3
    assert set(workloads.matrix(quick=True)) < set(every)


def test_grouping_by_thread_keeps_the_history(tmp_path: Path) -> None:
    for order in workloads.ORDERS:
        workloads.make(tmp_path / f"{order}.csv", "tso", 200, (3, 4), order)
    issued, grouped = (next(gradual.read(tmp_path / f"{order}.csv")) for order in workloads.ORDERS)
    assert isinstance(issued, gradual.History) and isinstance(grouped, gradual.History)
    assert grouped.thread.tolist() == sorted(grouped.thread.tolist())
    assert issued.thread.tolist() != sorted(issued.thread.tolist())
    for name in issued.threads:
        one, other = issued.thread == issued.threads.index(name), grouped.thread == grouped.threads.index(name)
        assert issued.written[one].tolist() == grouped.written[other].tolist()
        assert issued.read[one].tolist() == grouped.read[other].tolist()


def test_a_process_is_measured_alone() -> None:
    small = run([sys.executable, "-c", "print(input())"], ROOMY, "hello")
    large = run([sys.executable, "-c", "print(len(bytes(10**8) * 2))"], ROOMY)
    assert small.output == "hello\n" and large.peak_mb > 190
    with pytest.raises(Failed, match="exit status 3"):
        run([sys.executable, "-c", "raise SystemExit(3)"], ROOMY)
    with pytest.raises(Failed, match=r"> 0.3 s"):
        run([sys.executable, "-c", "while True: pass"], Limits(0.3, 8.0))
    with pytest.raises(Failed, match="memory"):
        run([sys.executable, "-c", "bytes(2**31)"], Limits(30.0, 1.0))


def test_numbers() -> None:
    assert [number(value) for value in (None, 0.0, 0.01234, 1.0, 12345.6, 1_000_000)] == [
        "—", "0", "0.0123", "1.00", "12 346", "1 000 000"]
