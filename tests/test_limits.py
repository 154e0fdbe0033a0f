"""Time limits hold, whatever is being done: within 1.2 times the limit and half a second, once Python has started."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

import gradual
from gradual import deadline
from gradual.deadline import Deadline, OutOfTime, alarm, share
from gradual.history import NotInTime, Options

GRADUAL = [sys.executable, "-m", "gradual.cli"]
OK = "thread,op,address,value\n0,W,x,1\n1,R,x,1\n"
LIMIT = 0.8
LATEST = 1.2 * LIMIT + 0.5


def starting() -> float:
    """Seconds that the interpreter and what it loads take here and now, with room for a machine that gets busier."""
    return 1.0 + 3 * timed("check", "-", "--timeout", LIMIT, input=OK)[1]


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """More than can be read, or decided, within the limit."""
    folder = tmp_path_factory.mktemp("large")
    rows = (f"{i % 8},{'RW'[i & 8 == 0]},{i % 999},{i if i & 8 == 0 else 0}\n" for i in range(1, 5_000_000))
    (folder / "large.csv").write_text("thread,op,address,value\n" + "".join(rows))
    return folder / "large.csv"


def timed(*arguments: str | Path, **more: object) -> tuple[subprocess.CompletedProcess[str], float]:
    started = time.monotonic()
    done = subprocess.run([*GRADUAL, *map(str, arguments)], capture_output=True, text=True, timeout=120,
                          **more)  # type: ignore[call-overload]
    return done, time.monotonic() - started


@pytest.mark.parametrize(("command", "models", "status"), [
    ("check", 1, (3,)), ("explain", 1, (3,)), ("shrink", 1, (3,)), ("diff-models", 3, (3,)), ("classify", 3, (0, 2))])
def test_large_traces(large: Path, command: str, models: int, status: tuple[int, ...]) -> None:
    """`classify` tells what could not be read (2) from what was not decided (0, and a ? in the table)."""
    done, seconds = timed(command, large, "--timeout", LIMIT)
    assert done.returncode in status, done.stdout + done.stderr
    assert seconds < models * LATEST + starting()


def test_reading_by_rows_is_limited_too(large: Path, tmp_path: Path) -> None:
    """A blank line keeps it from being read by columns."""
    rows = tmp_path / "rows.csv"
    rows.write_bytes(large.read_bytes().replace(b"\n", b"\n\n", 1))
    done, seconds = timed("check", rows, "--timeout", LIMIT)
    assert done.returncode == 3 and "not read within 0.8 s" in done.stdout
    assert seconds < LATEST + starting()


def test_compiling_is_limited(tmp_path: Path) -> None:
    """Nothing is kept anywhere that could be found."""
    trace = tmp_path / "t.csv"
    gradual.write([gradual.generate("tso", operations=5000)], trace)
    empty = {**os.environ, "GRADUAL_CACHE_DIR": str(tmp_path / "kept")}
    done, seconds = timed("check", trace, "--model", "tso", "--timeout", LIMIT, env=empty)
    assert done.returncode == 3
    assert "gradual warm-up" in done.stdout
    assert seconds < LATEST + starting()


def test_many_histories_of_a_file_have_their_time_together(tmp_path: Path) -> None:
    rows = "".join(f"h{h},{i % 4},W,{i % 9},{i + 1}\n" for h in range(400) for i in range(100))
    (tmp_path / "many.csv").write_text("history,thread,op,address,value\n" + rows)
    done, _ = timed("check", tmp_path / "many.csv", "--timeout", "0.5")
    assert done.returncode == 0, done.stdout[-500:]


def test_a_slow_pipe_is_nobodys_fault() -> None:
    with subprocess.Popen([*GRADUAL, "check", "-", "--timeout", "0.5"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as process:
        assert process.stdin is not None
        for line in OK.splitlines():
            process.stdin.write(f"{line}\n")
            process.stdin.flush()
            time.sleep(0.6)
        out, _ = process.communicate(timeout=30)
    assert process.returncode == 0 and "SC consistent" in out


def test_run(tmp_path: Path) -> None:
    threads = " || ".join(f"st x {i}, st y {i + 10}, ld x, ld y" for i in range(1, 6))
    (tmp_path / "big.txt").write_text(threads + "\n")
    for task in ([], ["--count"]):
        done, seconds = timed("run", tmp_path / "big.txt", "--model", "sc", "--timeout", LIMIT, *task)
        assert done.returncode == 3, done.stdout + done.stderr
        assert "the time is over" in done.stdout
        assert seconds < LATEST + starting()


@pytest.mark.parametrize("command", ["check", "explain", "shrink", "diff-models", "classify", "run", "batch"])
@pytest.mark.parametrize("limit", ["nan", "-1"])
def test_limits_that_make_no_sense(command: str, limit: str, tmp_path: Path) -> None:
    (tmp_path / "ok.csv").write_text(OK)
    out = ["--out", tmp_path / "results"] if command == "batch" else []
    done, _ = timed(command, tmp_path / "ok.csv", "--timeout", limit, *out)
    assert done.returncode == 2
    assert "a number of seconds, not negative" in done.stderr


@pytest.mark.parametrize("limit", [math.nan, -1.0])
def test_limits_that_make_no_sense_from_python(limit: float) -> None:
    history = gradual.generate(operations=10)
    for call in (gradual.check, gradual.classify, gradual.shrink):
        with pytest.raises(ValueError, match="not negative"):
            call(history, timeout=limit)


def test_an_answer_that_is_there_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time ends while the unordered pairs are counted: the verdict stands."""
    from gradual.deciding import pipeline

    def slow(*_: object) -> None:
        while True:
            pass

    monkeypatch.setattr(pipeline, "Saturation", slow)
    started = time.monotonic()
    verdict = gradual.check(gradual.generate("sc", operations=50), timeout=0.5)
    assert verdict.verdict == "consistent" and verdict.evidence is not None
    assert verdict.unordered_percent is None
    assert time.monotonic() - started < 2


def test_python_gets_unknown_for_a_file_that_takes_long(large: Path) -> None:
    verdict = gradual.check(large, timeout=0.05)
    assert verdict.verdict == "unknown" and "not read within 0.05 s" in verdict.message


def test_an_alarm_that_rings_while_it_is_taken_away() -> None:
    """Nobody hears it, and the next one is heard."""
    deadline._ring(signal.SIGALRM, None)
    before = signal.signal(signal.SIGALRM, deadline._ring)  # which stays, where that one is raised
    with pytest.raises(OutOfTime), alarm(0.05):
        time.sleep(1)
    signal.signal(signal.SIGALRM, before)
    with alarm(60):  # nor is it taken for the one around it, which goes on
        deadline._ring(signal.SIGALRM, None)
        assert 50 < signal.getitimer(signal.ITIMER_REAL)[0] <= 60


def test_an_alarm_that_a_destructor_swallows() -> None:
    """Rings again."""
    slept = []

    class Slow:
        def __del__(self) -> None:
            time.sleep(0.2)
            slept.append(0.2)

    with pytest.raises(OutOfTime), alarm(0.05):
        Slow()
        assert not slept  # which was swallowed
        time.sleep(60)
        slept.append(60.0)
    assert not slept


def test_an_alarm_is_no_error_of_the_system() -> None:
    """Which some function on the way might expect."""
    with pytest.raises(OutOfTime), alarm(0.05), suppress(OSError):
        time.sleep(5)


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow", "jsonl", "axe"])
def test_reading_in_no_time_at_all(ending: str, tmp_path: Path) -> None:
    trace = tmp_path / f"trace.{ending}"
    gradual.write([gradual.generate(operations=3000)], trace)
    for seconds in (0, 0.001, 0.004):
        found = list(gradual.read(trace, options=Options(timeout=seconds)))
        assert len(found) == 1 and (isinstance(found[0], NotInTime) or seconds), found


def test_alarms() -> None:
    started = time.monotonic()
    with pytest.raises(OutOfTime), alarm(0.05):
        while True:
            pass
    with pytest.raises(OutOfTime), alarm(0.05), alarm(10):  # the earlier one counts
        while True:
            pass
    with pytest.raises(OutOfTime), alarm(0):
        pass
    with alarm(0.05):
        share(10)
        time.sleep(0.1)
    slept = False
    with pytest.raises(OutOfTime), alarm(0.05), alarm(0.5, alone=True):  # the other one waits
        time.sleep(0.1)
        slept = True
    assert slept
    assert time.monotonic() - started < 2
    time.sleep(0.1)  # nothing rings any more
    assert Deadline(None).grace().seconds_left is None


# --- memory


def test_memory_of_check(large: Path, tmp_path: Path) -> None:
    (tmp_path / "ok.csv").write_text(OK)
    assert timed("check", tmp_path / "ok.csv", "--memory", "100M")[0].returncode == 0
    done, _ = timed("check", large, "--memory", "30M")
    assert done.returncode == 3, done.stdout + done.stderr
    assert "memory" in done.stdout + done.stderr
    assert timed("check", large, "--memory", "lots")[0].returncode == 2
    done, _ = timed("check", tmp_path / "ok.csv", "--memory", "1K")
    assert done.returncode == 2 and "less than 1M" in done.stderr


def test_the_plain_encoding_is_bounded() -> None:
    verdict = gradual.check(gradual.generate("sc", operations=10_000), completion="direct")
    assert verdict.verdict == "unknown"
    assert "up to 800 operations" in verdict.message and "Without --completion direct" in verdict.message


def test_many_threads_fit() -> None:
    """50 000 threads of two operations each, which once needed a table of threads by locations."""
    builder = gradual.Builder("many", "")
    for thread in range(50_000):
        builder.write(str(thread), thread % 500, thread + 1)
        builder.read(str(thread), thread % 500, thread + 1)
    history = builder.build()
    for model in ("sc", "tso", "pso"):
        assert gradual.check(history, model).verdict == "consistent"


def test_tables_that_do_not_fit_say_what_would(monkeypatch: pytest.MonkeyPatch) -> None:
    from gradual.compiler import records

    monkeypatch.setattr(records, "MEMORY", 1 << 16)
    verdict = gradual.check(gradual.generate("sc", operations=5000))
    assert verdict.verdict == "unknown"
    assert "--memory" in verdict.message and "--addresses" in verdict.message
