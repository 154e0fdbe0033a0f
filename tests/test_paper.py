"""The experiments of `experiments/paper`: they can be interrupted, and their shape checks can fail."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from experiments.paper import figures, measure, orders, percentages, sources, study
from experiments.paper.measure import ALGORITHMS, KEY, LADDER, Options, Task, tasks
from experiments.paper.progress import Progress
from experiments.paper.shapes import wrong_shapes
from experiments.paper.sources import Client, Missing, available, histories, sound
from experiments.paper.store import Store
from gradual import check
from gradual.deciding.compare import unordered_percent
from gradual.evidence.verdict import Verdict
from gradual.history import Builder, History

QUICK = Options(True, 1, ("machine",), 60.0)
TOO_SHORT = 1e-6
"""Seconds for a check."""
TIMES = dict(zip(ALGORITHMS, (9.0, 0.5, 0.4, 0.01), strict=True))


# --- shapes

def rows(figure: str, **changes: Any) -> pd.DataFrame:
    """A figure as it should be: one history at 300 operations, every algorithm; but for `changes` to every row."""
    broken = figure == "5"
    client = Client("machine", "broken-drop" if broken else "sc", 4, 300)
    return pd.DataFrame([Task(client, 0, "sc", name).row | {"seconds": seconds, "limit": 60.0, "verdict":
                         "violation" if broken else "consistent"} | changes for name, seconds in TIMES.items()])


def changed(figure: str, algorithm: str, **changes: Any) -> pd.DataFrame:
    frame = rows(figure)
    for name, value in changes.items():
        frame.loc[frame["method"] == algorithm, name] = value
    return frame


def test_good_shapes_are_not_complained_about() -> None:
    assert not list(wrong_shapes({name: rows(name) for name in figures.TITLES}))


@pytest.mark.parametrize(("figure", "frame", "words"), [
    ("4a", changed("4a", "direct SAT", seconds=0.45), "ladder + enumerate is slower than direct SAT at 300"),
    ("6a", changed("6a", "engine", seconds=1.0), "ladder + SAT is faster than engine at 300"),
    ("4a", rows("4a")[1:], "direct SAT was not measured at 300"),
    ("4b", changed("4b", "engine", verdict="violation"), "engine says violation of a valid history"),
    ("6b", changed("6b", "ladder + SAT", verdict="unknown"), "ladder + SAT says unknown of a valid history"),
    ("large", changed("large", "engine", verdict="unknown"), "engine says unknown of a valid history"),
    ("4a", rows("4a", source="gem5", machine="MI", verdict="violation"), "of a valid history, gem5 MI"),
    ("5", changed("5", "direct SAT", verdict="consistent"), "direct SAT says consistent of what must be a violation"),
    ("5", changed("5", "direct SAT", verdict="unknown"), "direct SAT does not decide"),
    ("5", rows("5", source="gem5", machine="MIbug", verdict="consistent"), "says consistent of what must be"),
    ("5", rows("5", verdict="consistent"), "there was no violation to catch"),
    ("5", pd.DataFrame(), "there was no violation to catch"),
])
def test_each_wrong_shape_is_told(figure: str, frame: pd.DataFrame, words: str) -> None:
    assert any(words in line for line in wrong_shapes({figure: frame}))


def test_direct_sat_may_run_out_of_time_on_valid_histories_and_the_table_says_so() -> None:
    frame = changed("4a", "direct SAT", verdict="unknown", seconds=60.1)
    assert not list(wrong_shapes({"4a": frame}))
    assert "> 60.1 (1 undecided)" in figures._table(frame, frame)


def test_an_order_that_loses_pairs_is_told() -> None:
    known = orders.unordered(next(histories(Client("machine", "sc", 3, 40, 2), 1)))
    assert not list(wrong_shapes({"percentages": pd.DataFrame([known])}))
    assert list(wrong_shapes({"percentages": pd.DataFrame([known | {"saturation": 99.0}])}))


def test_consistent_histories_of_a_broken_machine_are_counted_and_not_averaged_in() -> None:
    frame = pd.concat([rows("5"), rows("5", number=1, verdict="consistent", seconds=50.0)], ignore_index=True)
    assert not list(wrong_shapes({"5": frame}))
    text = figures._table(figures._violations(frame), frame)
    assert "1 of 2 violate" in text and "50" not in text


# --- resuming

class Checker:
    """gradual.check, with its calls counted; one of them may be interrupted."""

    def __init__(self) -> None:
        self.calls = 0
        self.interrupt_at = 0

    def __call__(self, history: History, model: str, **how: Any) -> Verdict:
        self.calls += 1
        if self.calls == self.interrupt_at:
            raise KeyboardInterrupt
        return check(history, model, **how)


@pytest.fixture
def checker(monkeypatch: pytest.MonkeyPatch) -> Iterator[Checker]:
    counting = Checker()
    monkeypatch.setattr(measure.gradual, "check", counting)
    monkeypatch.setattr(measure, "_warm", lambda *_: None)
    yield counting


def wanted(count: int, *sizes: int) -> list[Task]:
    return [task for size in sizes for task in tasks(Client("machine", "sc", 2, size), count, "sc", ["direct SAT"])]


def run(file: Path, some: list[Task], timeout: float = 60.0) -> pd.DataFrame:
    with Store(file, KEY) as store:
        measure.measure(some, store, timeout)
    return pd.read_parquet(file)


def test_an_interrupted_run_goes_on_and_measures_nothing_twice(tmp_path: Path, checker: Checker) -> None:
    file, some = tmp_path / "m.parquet", wanted(3, 10, 20)
    checker.interrupt_at = 5
    with pytest.raises(KeyboardInterrupt):
        run(file, some)
    assert len(pd.read_parquet(file)) == 4
    frame = run(file, some)
    assert len(frame) == len(frame[list(KEY)].drop_duplicates()) == 6
    assert checker.calls == 5 + 2
    run(file, some)
    assert checker.calls == 7


def test_what_several_parts_want_is_measured_once(tmp_path: Path, checker: Checker) -> None:
    assert len(run(tmp_path / "m.parquet", wanted(2, 10) + wanted(3, 10))) == checker.calls == 3


def test_another_count_adds_or_leaves_out_and_keeps_the_rest(tmp_path: Path, checker: Checker) -> None:
    file = tmp_path / "m.parquet"
    run(file, wanted(4, 10))
    run(file, wanted(6, 10))
    assert checker.calls == 6
    frame = run(file, wanted(2, 10))
    assert checker.calls == 6 and len(frame) == 6
    assert len(Store(file, KEY).frame(task.key for task in wanted(2, 10))) == 2


def test_what_ran_out_of_time_is_measured_again_when_there_is_more(tmp_path: Path, checker: Checker) -> None:
    file = tmp_path / "m.parquet"
    assert list(run(file, wanted(1, 10), timeout=TOO_SHORT)["verdict"]) == ["unknown"]
    assert list(run(file, wanted(1, 10), timeout=TOO_SHORT / 2)["limit"]) == [TOO_SHORT]  # less time: known already
    assert list(run(file, wanted(1, 10))["verdict"]) == ["consistent"]
    assert list(run(file, wanted(1, 10), timeout=TOO_SHORT)["verdict"]) == ["consistent"]
    assert checker.calls == 2


def test_longer_histories_are_spared_an_algorithm_out_of_time_also_after_an_interruption(tmp_path: Path,
                                                                                         checker: Checker) -> None:
    file, some = tmp_path / "m.parquet", wanted(2, 10, 20)
    assert list(run(file, some, timeout=TOO_SHORT)["operations"]) == [10, 10]
    run(file, some, timeout=TOO_SHORT)
    assert checker.calls == 2
    assert len(run(file, some)) == 4


def test_a_store_without_rows_leaves_no_file(tmp_path: Path) -> None:
    with Store(tmp_path / "m.parquet", KEY) as store:
        assert store.frame([]).empty
    assert not list(tmp_path.iterdir())


# --- sources

def test_machines_give_what_is_asked_for() -> None:
    client = Client("machine", sound("machine", "tso"), 3, 30, 4)
    first, again = list(histories(client, 2)), list(histories(client, 2))
    assert [len(history) for history in first] == [30, 30] and (first[1].read == again[1].read).all()


def test_gem5_logs_are_all_there_or_said_to_be_missing(shared_traces: Path) -> None:
    assert available(Client("gem5", "MIbug", 4, 100), 1) == 2
    assert len(next(histories(Client("gem5", "MI", 4, 100), 1))) == 100
    with pytest.raises(Missing, match="no MIbug log of 8 CPUs and 100 operations"):
        available(Client("gem5", "MIbug", 8, 100), 1)


def test_without_logs_the_source_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sources, "LOGS", tmp_path)
    sources._manifest.cache_clear()
    with pytest.raises(Missing, match="no gem5 logs"):
        available(Client("gem5", "MI", 4, 100), 1)


@pytest.mark.skipif(bool(sources.rtl_module("simulator").missing()), reason="no simulator")
def test_the_rtl_has_two_to_four_cores() -> None:
    with pytest.raises(Missing, match="2 to 4 cores, not 6"):
        available(Client("rtl", "sc", 6, 300), 1)
    assert len(next(histories(Client("rtl", "missing-invalidation", 2, 20), 1))) == 20


def test_without_a_simulator_the_rtl_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources.rtl_module("simulator"), "missing", lambda: "not installed")
    assert not sources.rtl_faults()
    with pytest.raises(Missing, match="not installed"):
        available(Client("rtl", "sc", 4, 100), 1)


# --- orders

@pytest.mark.parametrize("seed", range(1, 6))
def test_the_store_orders_of_the_definitions_are_those_of_the_checker(seed: int) -> None:
    history = next(histories(Client("machine", "sc", 4, 60, 3, seed=seed), 1))
    ours, theirs = orders.unordered(history), unordered_percent(history, "SC")
    for criterion in ("CCv", "CCM"):
        assert ours[orders.column(criterion, "ww", orders.PAIRS[0])] == pytest.approx(theirs[criterion])
    assert ours["saturation"] == pytest.approx(theirs["saturation"])


def test_initial_writes_and_other_locations_are_counted_when_asked_for() -> None:
    """Two unread writes by two threads are open; their initial write is before both."""
    builder = Builder("two threads", "")
    builder.write("0", "x", 1)
    builder.write("1", "x", 2)
    builder.write("1", "y", 3)
    found = orders.unordered(builder.build())
    shares = [found[orders.column("CCM", "ww", pairs)] for pairs in orders.PAIRS]
    assert np.allclose(shares, [100, 100 / 4, 100])
    assert found[orders.column("CCM", "R", orders.PAIRS[2])] == pytest.approx(200 / 3)


# --- what is wanted, and how it is told

@pytest.mark.parametrize("part", [percentages.wanted, study.wanted, *(
    lambda options, name=name: [task for panel in figures.panels(name, options) for task in panel.tasks]
    for name in figures.TITLES)])
def test_a_quick_run_wants_less_of_the_same(part: Callable[[Options], list[Task]]) -> None:
    quick, full = set(part(QUICK)), set(part(Options(False, 5, ("machine",), 60.0)))
    assert quick and quick < full


def test_a_part_reports_what_was_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(figures, "BROKEN_OPERATIONS", (100,))
    monkeypatch.setattr(figures, "BROKEN_CPUS", (2,))
    options = QUICK._replace(histories=3)
    with Store(tmp_path / "m.parquet", KEY) as store:
        measure.measure([task for panel in figures.panels("5", options) for task in panel.tasks
                         if task.method != "direct SAT"], store, 60)
    text = figures.report("5", store, options, tmp_path)
    assert "of 3 violate" in text and LADDER in text
    assert (tmp_path / "fig5.png").stat().st_size > 1000
    assert "Nothing" in figures.report("4a", store, options, tmp_path)


def test_progress_says_how_many_and_how_long(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    progress = Progress([1.0, 3.0])
    now[0] = 20.0
    assert progress.line("x") == "0/2: x"
    progress.step(1.0)
    assert progress.line("x") == "1/2, about 60 s left: x"


def test_a_figure_without_any_violation_is_drawn_all_the_same(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    panel = figures.Panel("4 CPUs", "operations", [])
    none = figures._violations(rows("5", verdict="consistent"))
    figures._draw("5", [(panel, none), (panel._replace(x="threads"), none)], tmp_path)
    assert none.empty and (tmp_path / "fig5.png").exists()
