"""Models of a large history are decided at once, and nobody can tell but by the clock."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

import pytest

import gradual
from gradual import cores, judge
from gradual.deciding import engine, memory
from gradual.evidence import certificate
from gradual.history import History
from gradual.judge import Judge, Judgement
from gradual.progress import Progress

GRADUAL = [sys.executable, "-m", "gradual.cli"]
MODELS = ("sc", "tso", "pso", "rvwmo")
SB = "thread,op,address,value\n0,W,x,1\n0,R,y,0\n1,W,y,1\n1,R,x,0\n"
AT_ONCE = """
import os, signal, time
import gradual.cores as c, gradual.judge as j, gradual.deciding.pipeline as p
j.LARGE, c._processes = 1, 1
os.sched_getaffinity = lambda _: {0, 1}
real = p.check
def check(history, model, **k):
    %s
    return real(history, model, **k)
p.check = check
"""
"""Any history is large, of two cores, and something happens to its decision."""


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores, "_processes", 1)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(judge, "LARGE", 1)


def told(histories: list[History], at_once: bool, **limits: float) -> Iterator[Judgement]:
    return Judge(MODELS, at_once=at_once, **limits).judgements(histories, Progress())  # type: ignore[arg-type]


def without_time(found: Judgement) -> dict[str, object]:
    return {**found.json, "witness": found.witness, "seconds": 0}


def check(folder: Path, what: str, *arguments: str | Path) -> subprocess.Popen[str]:
    (folder / "sitecustomize.py").write_text(AT_ONCE % what)
    return subprocess.Popen([*GRADUAL, "check", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, env={**os.environ, "PYTHONPATH": str(folder)})


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    (tmp_path / "sb.csv").write_text(SB)
    return tmp_path / "sb.csv"


# --- tasks


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def sleeping(seconds: float, result: object) -> Callable[[], object]:
    return lambda: time.sleep(seconds) or result


def test_results_come_in_the_order_of_tasks() -> None:
    assert [*cores.at_once([sleeping(0.2 / (i + 1), i) for i in range(5)])] == [*range(5)]
    assert [*cores.at_once([])] == []


def test_each_task_has_a_process_and_a_core() -> None:
    found = [*cores.at_once([lambda: (os.getpid(), cores.own())] * 3)]
    assert len({process for process, _ in found} | {os.getpid()}) == 4
    assert {own for _, own in found} == {1} and cores.own() == 2


def test_as_many_at_a_time_as_there_are_cores() -> None:
    def when() -> tuple[float, float]:
        started = time.monotonic()
        time.sleep(0.1)
        return started, time.monotonic()

    first, second, third = cores.at_once([when] * 3)
    assert second[0] < first[1] and third[0] >= min(first[1], second[1])


@pytest.mark.parametrize("end", [lambda: os._exit(3), lambda: os.kill(os.getpid(), signal.SIGKILL), lambda: 1 / 0,
                                 lambda: lambda: "cannot be sent"])
def test_what_a_fork_fails_at_is_done_here(end: Callable[[], object]) -> None:
    here = os.getpid()

    def failing() -> object:
        return "done" if os.getpid() == here else end()

    assert [*cores.at_once([sleeping(0.1, 0), failing, sleeping(0.1, 2)])] == [0, "done", 2]


def test_an_error_is_raised_here() -> None:
    with pytest.raises(ZeroDivisionError):
        [*cores.at_once([lambda: 1 / 0, lambda: 1])]


def test_where_nothing_is_left_to_wait_for() -> None:
    """SIGCHLD is ignored by whoever started us: then children leave nothing behind."""
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert list(cores.at_once([lambda: 1, lambda: 2])) == [1, 2]
    finally:
        signal.signal(signal.SIGCHLD, before)


def test_where_there_are_no_more_files(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> NoReturn:
        raise OSError("too many open files")

    monkeypatch.setattr(os, "pipe", none)
    assert list(cores.at_once([os.getpid, os.getpid])) == [os.getpid()] * 2


def test_where_there_are_no_more_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_more() -> NoReturn:
        raise BlockingIOError

    monkeypatch.setattr(os, "fork", no_more)
    before = len(os.listdir("/proc/self/fd"))
    assert [*cores.at_once([lambda: 1, lambda: 2])] == [1, 2]
    assert len(os.listdir("/proc/self/fd")) == before


def children() -> set[int]:
    """Of this process, which other tests may have left some."""
    found = set()
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            process, _, rest = status.read_text("utf-8", "replace").partition(" ")
            if int(rest.rpartition(")")[2].split()[1]) == os.getpid():
                found.add(int(process))
    return found


def test_nothing_goes_on_when_nobody_listens() -> None:
    before, others = len(os.listdir("/proc/self/fd")), children()
    results = cores.at_once([os.getpid, sleeping(60, 0), sleeping(60, 0)])
    next(results)
    started = time.monotonic()
    results.close()  # type: ignore[attr-defined]
    assert time.monotonic() - started < 5
    assert len(os.listdir("/proc/self/fd")) == before
    assert children() == others


# --- models


@pytest.fixture
def forked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many tasks there were at once."""
    counts: list[int] = []
    real = cores.at_once
    monkeypatch.setattr(cores, "at_once", lambda tasks: counts.append(len(tasks)) or real(tasks))
    return counts


@pytest.mark.parametrize("machine", ["tso", "broken-drop", "sc"])
def test_nothing_else_is_told(machine: str) -> None:
    histories = [gradual.generate(machine, operations=200, seed=seed) for seed in range(5)]
    one_by_one, at_once = [*told(histories, False)], [*told(histories, True)]
    assert [*map(without_time, one_by_one)] == [*map(without_time, at_once)]
    assert [found.verdict.evidence is not None for found in at_once] == [True] * len(at_once)


def test_forks_are_for_large_histories(monkeypatch: pytest.MonkeyPatch, forked: list[int]) -> None:
    history = gradual.generate("sc", operations=50)
    for size, free, expected in ((51, 1 << 60, []), (50, 100 * 50, []), (50, 1 << 60, [len(MODELS)])):
        monkeypatch.setattr(judge, "LARGE", size)
        monkeypatch.setattr(memory, "free", lambda free=free: free)
        assert [found.verdict.verdict for found in told([history], True)] == ["consistent"] * len(MODELS)
        assert forked == expected


def test_and_for_those_that_take_long(monkeypatch: pytest.MonkeyPatch, forked: list[int]) -> None:
    monkeypatch.setattr(judge, "LARGE", 51)
    monkeypatch.setattr(judge, "LONG", 0.0)
    history = gradual.generate("tso", operations=50)
    assert [*map(without_time, told([history], True))] == [*map(without_time, told([history], False))]
    assert forked == [len(MODELS) - 1]


def test_the_limit_is_of_each_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled code asks, all else has the alarm: a fork is a main thread."""
    def slow(*_: object, **__: object) -> NoReturn:
        time.sleep(60)
        raise AssertionError

    engine.load()
    monkeypatch.setattr(engine, "decide", slow)
    started = time.monotonic()
    found = [*told([gradual.generate("sc", operations=50)], True, timeout=0.5)]
    assert [each.verdict.message for each in found] == ["not decided within 0.5 s; allow more time"] * len(MODELS)
    assert all(0.5 <= each.verdict.seconds < 1 for each in found)
    assert time.monotonic() - started < 0.8 * len(MODELS) * 0.5 + 1


def test_a_fault_in_one_model_costs_no_other(trace: Path, tmp_path: Path) -> None:
    with check(tmp_path, "assert model.name != 'TSO', 'boom'", trace, "--model", "all", "--oneline") as process:
        out, errors = process.communicate(timeout=60)
    sc, tso, pso = out.splitlines()
    assert "SC violation" in sc and "a fault in gradual" in tso and "boom" in tso and "PSO consistent" in pso
    assert process.returncode == 1 and "Traceback" not in errors


def test_a_fork_that_is_killed_costs_nothing(trace: Path, tmp_path: Path) -> None:
    """As where memory is for one of them only."""
    what = f"os.getppid() == {os.getpid()} or os.kill(os.getpid(), signal.SIGKILL)"
    with check(tmp_path, what, trace, "--model", "all", "--json") as process:
        out, errors = process.communicate(timeout=60)
    assert [json.loads(line)["verdict"] for line in out.splitlines()] == ["violation", "consistent", "consistent"]
    assert (process.returncode, errors) == (1, "")


def test_fail_fast_waits_for_no_other(trace: Path, tmp_path: Path) -> None:
    started = time.monotonic()
    with check(tmp_path, "model.name == 'SC' or time.sleep(60)", trace, "--model", "all", "--fail-fast",
               "--oneline") as process:
        out, errors = process.communicate(timeout=50)
    assert (process.returncode, len(out.splitlines()), errors) == (1, 1, "")
    assert time.monotonic() - started < 30


def test_with_a_limit_on_memory_one_is_decided_after_the_other(trace: Path, tmp_path: Path) -> None:
    """It is what a history may take."""
    what = f"open({str(tmp_path / 'processes')!r}, 'a').write(f'{{os.getpid()}}\\n')"
    for limit, processes in ((), 3), (("--memory", "500M"), 1):
        (tmp_path / "processes").unlink(missing_ok=True)
        with check(tmp_path, what, trace, "--model", "all", "--oneline", *limit) as process:
            process.communicate(timeout=60)
        assert len({*(tmp_path / "processes").read_text().splitlines()}) == processes


@pytest.mark.parametrize("everybody", [False, True])
def test_ctrl_c(trace: Path, tmp_path: Path, everybody: bool) -> None:
    """At once, whether it comes from the keyboard, to all processes, or to one; no process is left."""
    what = f"open({str(tmp_path)!r} + f'/began-{{os.getpid()}}', 'w').close(); time.sleep(60)"
    (tmp_path / "sitecustomize.py").write_text(AT_ONCE % what)
    with subprocess.Popen([*GRADUAL, "check", str(trace), "--model", "all"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, start_new_session=True,
                          env={**os.environ, "PYTHONPATH": str(tmp_path)}) as process:
        while len(began := [*tmp_path.glob("began-*")]) < 2:
            assert process.poll() is None
            time.sleep(0.01)
        started = time.monotonic()
        (os.killpg if everybody else os.kill)(process.pid, signal.SIGINT)
        out, errors = process.communicate(timeout=30)
    assert (process.returncode, out, errors) == (130, b"", b"")
    assert time.monotonic() - started < 5
    assert not any(alive(int(file.name.split("-")[1])) for file in began)


def test_none_outlives_its_parent(trace: Path, tmp_path: Path) -> None:
    what = f"open({str(tmp_path)!r} + f'/began-{{os.getpid()}}', 'w').close(); time.sleep(60)"
    with check(tmp_path, what, trace, "--model", "all") as process:
        while len(began := [*tmp_path.glob("began-*")]) < 2:
            assert process.poll() is None
            time.sleep(0.01)
        process.kill()
        process.communicate(timeout=10)  # the pipes are closed when all are gone
    assert began


def test_what_is_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert memory.free() > 0
    monkeypatch.setattr(memory, "FREE", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "OF_A_CONTAINER", tmp_path)
    assert memory.free() == 0  # nobody says
    (tmp_path / "meminfo").write_text("MemTotal:  9 kB\nMemAvailable:    8 kB\n")
    assert memory.free() == 8192
    for limit, use in memory.LIMIT_AND_USE:
        (tmp_path / limit).parent.mkdir(exist_ok=True)
        (tmp_path / limit).write_text("max\n")
        (tmp_path / use).write_text("1000\n")
        assert memory.free() == 8192
        (tmp_path / limit).write_text("3000\n")
        assert memory.free() == 2000
        (tmp_path / limit).write_text("max\n")


def test_nothing_is_looked_up_ahead_where_no_core_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []
    monkeypatch.setattr(certificate, "look_ahead", lambda history, model: looked.append(model.name))
    for processes, expected in ((1, ["RVWMO"]), (2, [])):
        looked.clear()
        monkeypatch.setattr(cores, "_processes", processes)
        assert gradual.check(gradual.generate("sc", operations=50), "rvwmo")
        assert looked == expected
