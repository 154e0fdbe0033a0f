"""Shrinking: what is left still violates, nothing of it can be spared, and every format takes it."""

from __future__ import annotations

import pkgutil
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import numpy as np
import pytest
from brute import brute_model
from command import gradual as run
from random_histories import random_history
from searching import searched
from theory import TABLE, parse

import gradual
from gradual import adapters
from gradual.deciding import pipeline
from gradual.deciding.observations import impossible_observation
from gradual.deciding.shrinking import NotViolated, Shrinking
from gradual.history import History, history_from_columns
from gradual.history.part import part
from gradual.machines import FAULTS, generate

MODELS = ("SC", "TSO", "PSO")
WRITABLE = [name for name in adapters.names() if hasattr(adapters.adapter(name), "write")]
COLUMNS = ("thread", "kind", "location", "read", "written", "source", "tick", "initial", "final", "final_value")
TRACES = Path(__file__).parents[1] / "traces"
SB = "thread,op,address,value\n0,W,x,1\n0,W,z,7\n0,R,y,0\n1,W,y,1\n1,R,y,1\n1,R,x,0\n"


def brute_kind(history: History, model: str) -> str | None:
    """What is wrong with a history, from the definitions."""
    impossible = impossible_observation(history, "coherence")
    if impossible is not None:
        return impossible[0]
    return None if brute_model(history, model) else "cycle"


def without_one(history: History) -> Iterator[History]:
    """The history without each operation, and without each final value."""
    operations, finals = np.ones(len(history), dtype=bool), history.final_line >= 0
    for masks, item in [(operations, i) for i in range(len(history))] + [(finals, i) for i in np.flatnonzero(finals)]:
        masks[item] = False
        yield part(history, operations, finals)
        masks[item] = True


def assert_minimal(small: History, model: str, kind: str) -> None:
    assert brute_kind(small, model) == kind
    for rest in without_one(small):
        assert brute_kind(rest, model) != kind, [small.describe(i) for i in range(len(small))]


def assert_equal(a: History, b: History) -> None:
    assert (a.threads, a.locations) == (b.threads, b.locations)
    for column in COLUMNS:
        assert np.array_equal(getattr(a, column), getattr(b, column)), column


@pytest.mark.parametrize("seed", range(2))
def test_random_violations_get_minimal(seed: int) -> None:
    rng = Random(seed)
    kinds: dict[str, int] = {}
    for _ in range(100):
        history = random_history(rng, max_operations=9, final=0.2, thin_air=0.03, rmw=0.15, fence=0.12)
        for model in MODELS:
            kind = brute_kind(history, model)
            if kind is None:
                with pytest.raises(NotViolated, match="it is consistent"):
                    Shrinking(history, model)
                continue
            shrinking = Shrinking(history, model)
            assert shrinking.minimal and shrinking.kind == kind
            assert_minimal(shrinking.history, model, kind)
            assert_equal(shrinking.history, gradual.shrink(history, model))
            kinds[kind] = kinds.get(kind, 0) + 1
    assert kinds["cycle"] > 20 and {"own-future", "final"} <= kinds.keys(), kinds


@pytest.mark.parametrize("machine", FAULTS)
@pytest.mark.parametrize("model", MODELS)
def test_broken_machines(machine: str, model: str) -> None:
    shrunk = 0
    for seed in range(5):
        history = generate(machine, 4, 300, 6, seed, rmw_ratio=0.1)
        if pipeline.check(history, model, engine="schedule"):
            continue
        small = gradual.shrink(history, model)
        assert_minimal(small, model, "cycle")
        shrunk += 1
    assert shrunk


def test_a_final_value_that_memory_held_all_along() -> None:
    builder = gradual.history.Builder("", "")
    builder.write("0", 0x84, 1, line=1)
    builder.write("1", 0x88, 0, line=2)
    builder.final(0x88, 0)
    whole = builder.build()
    left = part(whole, np.array([True, False]), whole.final_line >= 0)
    assert gradual.check(left, "sc").verdict == "consistent"


def test_a_part_is_what_its_columns_say() -> None:
    rng = Random(7)
    for _ in range(200):
        history = random_history(rng, final=0.4)
        operations = np.array([rng.random() < 0.6 for _ in range(len(history))], dtype=bool)
        finals = (history.final_line >= 0) & np.array([rng.random() < 0.5 for _ in history.locations], dtype=bool)
        some = part(history, operations, finals)
        again = history_from_columns(
            some.name, some.file, some.threads, some.locations, some.thread, some.kind, some.location, some.read,
            some.written, some.line, some.tick, some.initial, some.final_value, some.final_line)
        assert_equal(some, again)
        assert some.line.tolist() == history.line[operations].tolist()
        assert [some.what(i) for i in range(len(some))] == [history.what(i) for i in np.flatnonzero(operations)]


@pytest.mark.parametrize("model", MODELS)
def test_what_only_search_refutes(model: str) -> None:
    history = searched(fenced=True)
    small = gradual.shrink(history, model)
    assert len(small) == (16 if model == "SC" else 22)  # SC needs no fences; the others two fewer than there are
    assert pipeline.check(small, model).decided_by == "search"
    for rest in without_one(small):
        found = pipeline.check(rest, model)
        assert found or found.decided_by == "thin-air"


def test_textbook_violations_are_found_inside_noise() -> None:
    noisy = parse("W a1, W x1, R a1, R y0, W b1 ∥ R b0, W y1, R y1, R c0, R x0")
    small = gradual.shrink(noisy, "sc")
    assert [small.what(i) for i in range(4)] == ["W x=1", "R y=0", "W y=1", "R x=0"] and len(small) == 4
    assert gradual.shrink(parse(TABLE["1d"].text), "sc").locations == ("x", "y")


@pytest.mark.parametrize(("text", "kind", "left"), [
    ("W x1, R x1 ∥ R y7, R y8, W y1", "thin-air", ["R y=7"]),
    ("W y3, R x1, R y3, W x1 ∥ W z1", "own-future", ["R x=1", "W x=1"]),
    ("W x5 ∥ R x1, RMW x5→1", "own-future", ["W x=5", "R x=1", "RMW x: 5→1"]),
    ("W x1, W y1 ; x7, y1", "final", []),
    ("W x1, W x2, W y1 ; x0, y1", "final", ["W x=1"]),
    ("W x1, W x2, W z1 ; x1, z1", "cycle", ["W x=1", "W x=2"]),
])
def test_every_kind(text: str, kind: str, left: list[str]) -> None:
    shrinking = Shrinking(parse(text), "sc")
    small = shrinking.history
    assert shrinking.kind == kind
    assert sorted(small.what(i) for i in range(len(small))) == sorted(left)
    assert_minimal(small, "SC", kind)


def test_a_hundred_thousand_operations_take_seconds() -> None:
    history = generate("broken-reorder", 4, 100_000, 64, 5)
    started = time.perf_counter()
    small = gradual.shrink(history, "tso")
    assert time.perf_counter() - started < 60  # about one, on an idle machine
    assert len(small) < 40
    assert_minimal(small, "TSO", "cycle")


def test_the_time_limit() -> None:
    with pytest.raises(NotViolated) as raised:
        Shrinking(searched(fenced=True, copies=8), "sc", timeout=0)
    assert raised.value.verdict.verdict == "unknown"


@pytest.mark.parametrize("format_", WRITABLE)
def test_every_format_takes_it(format_: str, tmp_path: Path) -> None:
    from gradual import files

    rng = Random(11)
    file = tmp_path / f"small.{adapters.adapter(format_).EXTENSIONS[0]}"
    tried = 0
    while tried < 15:
        history = random_history(rng, max_operations=12, final=0.3, thin_air=0)
        if pipeline.check(history, "tso"):
            continue
        small = gradual.shrink(history, "tso")
        files.write([small], file, lines=True)
        (again,) = gradual.read(file)
        assert isinstance(again, History), again
        for column in COLUMNS:
            assert np.array_equal(getattr(again, column), getattr(small, column)), column
        assert pipeline.check(again, "tso").decided_by == pipeline.check(small, "tso").decided_by
        tried += 1


def test_no_module_takes_the_place_of_a_public_function() -> None:
    """Python puts a module that is imported into its package: `gradual.shrink` must stay the function."""
    assert not set(gradual.__all__) & {module.name for module in pkgutil.iter_modules(gradual.__path__)}


# --- the command


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    file = tmp_path / "trace.csv"
    file.write_text(SB)
    return file


def test_the_command_shows_and_writes(trace: Path, tmp_path: Path) -> None:
    out = tmp_path / "small.csv"
    done = run("shrink", trace, "-o", out)
    assert done.returncode == 0 and "from 6 operations to 4 (2 threads, 2 locations" in done.stdout
    assert "R x=0 (thread 1, line 7)" in done.stdout
    assert [row.split(",")[-1] for row in out.read_text().splitlines()] == ["line", "2", "4", "5", "7"]
    assert run("check", out).returncode == 1 and run("check", out, "--model", "tso").returncode == 0


def test_standard_output_takes_the_history_alone(trace: Path) -> None:
    done = run("shrink", trace, "-o", "-", "--to", "axe")
    assert "from 6 operations to 4" in done.stderr and "  # line 7\n" in done.stdout
    assert run("check", "-", stdin=done.stdout).returncode == 1
    assert run("shrink", "-", "-o", "-", stdin=SB).stdout.startswith("thread,op,address,value")
    assert run("shrink", trace).stdout.count("\n") == 5


def test_several_histories() -> None:
    figures = TRACES / "figures.csv"
    assert "fig-1a: SC violation" in run("shrink", figures).stdout
    assert "fig-3: PSO violation" in run("shrink", figures, "--history", "fig-3", "--model", "pso").stdout
    missing = run("shrink", figures, "--history", "nobody")
    assert missing.returncode == 2 and "there is no history 'nobody'" in missing.stderr and "fig-1a" in missing.stderr


def test_errors_in_words(trace: Path, tmp_path: Path) -> None:
    consistent = run("shrink", trace, "--model", "tso")
    assert consistent.returncode == 2 and "nothing to shrink: it is TSO consistent" in consistent.stderr
    unknown = run("shrink", trace, "--timeout", "0")
    assert unknown.returncode == 3 and "not read within 0 s" in unknown.stderr
    for arguments, words in (
        (["-o", trace], "would overwrite the trace"),
        (["-o", tmp_path / "small.xyz"], "its name says no format"),
        (["-o", tmp_path / "small.csv", "--to", "gem5"], "can be read but not written"),
        (["--to", "nothing"], "no format called 'nothing'"),
        (["-o", tmp_path / "nowhere" / "small.csv"], "no such file"),
        (["--model", "arm"], "arm"),
        (["--format", "nothing"], "no format called"),
    ):
        done = run("shrink", trace, *arguments)
        assert done.returncode == 2 and words in done.stderr, done.stderr
    assert trace.read_text() == SB
    gone = run("shrink", tmp_path / "gone.csv")
    assert gone.returncode == 2 and "no such file" in gone.stderr
