"""The benchmark of `experiments/bench`: it can be interrupted, and its tables say what was measured."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import gradual

sys.path.insert(0, str(Path(__file__).parents[1]))

from experiments.bench import goals, scale, workloads
from experiments.bench.journal import Journal, Sample
from experiments.bench.peers import Axe
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
        journal(tmp_path).add(sample("this", verdict="consistent", seconds=seconds, cpu=0.4, peak_mb=80.0, conflicts=7))
    journal(tmp_path).add(sample("before", failure="> 20 s"))
    again = journal(tmp_path)
    assert again.of("this", SMALL)[0] == sample("this", verdict="consistent", seconds=0.5, cpu=0.4, peak_mb=80.0,
                                                conflicts=7)
    assert again.median("this", SMALL, "seconds") == 0.2
    assert again.failure("before", SMALL) == "> 20 s" and again.median("before", SMALL, "seconds") is None
    assert journal(tmp_path, limit=60.0).of("before", SMALL) == [] != journal(tmp_path, limit=60.0).of("this", SMALL)
    assert Journal(tmp_path / "bench.csv", CODES | {"this": "new"}, 20.0).of("this", SMALL) == []


def test_the_tables(tmp_path: Path) -> None:
    book, large = journal(tmp_path), SMALL._replace(operations=100_000)
    book.add(sample("this", verdict="consistent", seconds=0.5, cpu=0.4, peak_mb=80.2, conflicts=7))
    book.add(sample("before", verdict="consistent", seconds=2.0, cpu=1.6, peak_mb=200.0))
    book.add(sample("this", large, verdict="consistent", seconds=3.0, cpu=2.9, peak_mb=100.0, conflicts=1))
    book.add(sample("before", large, failure="> 20 s"))
    lines = list(report(book, ["this", "before"], [SMALL, large]))
    assert "| consistent | as issued | 10 000 | 4.00 (4.00 to 4.00; 1) | 0 | 0 |" in lines
    assert "| consistent | as issued | 100 000 | — | 1 | 0 |" in lines
    assert ("| order | operations | threads | locations | this, s | this, CPU s | this, MB | this, conflicts "
            "| before, s | before, CPU s | before, MB |") in lines
    assert "| as issued | 10 000 | 4 | 16 | 0.500 | 0.400 | 80 | 7 | 2.00 | 1.60 | 200 |" in lines
    assert "| as issued | 100 000 | 4 | 16 | 3.00 | 2.90 | 100 | 1 | > 20 s | — | — |" in lines


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


def test_who_took_too_long_is_not_asked_for_more() -> None:
    assert SMALL._replace(operations=100_000, threads=16).is_larger(SMALL) and not SMALL.is_larger(SMALL)
    assert not SMALL._replace(operations=100_000, locations=256).is_larger(SMALL)
    assert not SMALL._replace(operations=100_000).is_larger(SMALL._replace(threads=16))
    assert not SMALL._replace(threads=16, kind="broken").is_larger(SMALL)


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
    assert small.output == "hello\n" and large.peak_mb > 190 and small.cpu > 0
    with pytest.raises(Failed, match="exit status 3"):
        run([sys.executable, "-c", "raise SystemExit(3)"], ROOMY)
    with pytest.raises(Failed, match=r"> 0.3 s"):
        run([sys.executable, "-c", "while True: pass"], Limits(0.3, 8.0))
    with pytest.raises(Failed, match="memory"):
        run([sys.executable, "-c", "bytes(2**31)"], Limits(30.0, 1.0))


def test_numbers() -> None:
    assert [number(value) for value in (None, 0.0, 0.01234, 1.0, 12345.6, 1_000_000)] == [
        "—", "0", "0.0123", "1.00", "12 346", "1 000 000"]


def test_goals_by_medians_and_by_other_rows() -> None:
    rows = {row.name: row for row in goals.rows()}
    taken = [goals.Sample("1m-tso", "this", seconds, 1.0, 300.0) for seconds in (1.0, 9.0, 1.1)]
    kept = goals.Report([*taken, goals.Sample("1m-tso-text", "this", 1.6, 1.0, 300.0)])
    assert kept.goal(rows["1m-tso-text"]) == pytest.approx(1.5 * 1.1)
    assert not kept.misses(rows["1m-tso"]) and not kept.misses(rows["1m-tso-text"]) and not kept.misses(rows["small"])
    assert goals.Report([goals.Sample("1m-tso", "this", 1.0, 1.0, 900.0)]).misses(rows["1m-tso"])  # memory
    assert goals.Report([goals.Sample("small", "this", 0.3, 0.3, 40.0)]).misses(rows["small"])


def test_the_exponent_is_a_slope(tmp_path: Path) -> None:
    book = journal(tmp_path)
    for operations in scale.SIZES:
        book.add(sample("this", scale.workload("tso", operations), cpu=operations**1.25))
    assert scale.exponent(book, "this", "tso") == pytest.approx(1.25)
    assert scale.exponent(book, "this", "sc") is None
    cell = scale.workload("tso", 1000)
    assert scale.is_asked(Axe(""), cell, book, 1000) and not scale.is_asked(Axe(""), cell, book, 100)
