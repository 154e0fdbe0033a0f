"""Memory of which nobody knows what it held: whatever can have been there is looked at, one value for each location."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random

import numpy as np
import pytest
from command import gradual as run
from test_certificate import proves

import gradual
from gradual import adapters
from gradual.deadline import Deadline
from gradual.deciding.general import decide as decide_in_general
from gradual.deciding.observations import impossible_observation
from gradual.deciding.pipeline import check
from gradual.deciding.shrinking import shrink
from gradual.evidence.verdict import Refutation, ThinAir, Witness
from gradual.history import AMBIGUOUS, INITIAL, RMW, History, InputError, Options, candidates, joined
from gradual.history.part import part
from gradual.history.reads_from import by_values
from gradual.models import load

sys.path.insert(0, str(Path(__file__).parents[1]))
from experiments.axioms.brute import Brute, readings
from experiments.axioms.histories import random_history, with_values

UNKNOWN = Options(unknown=True)


def history_of(text: str, options: Options = UNKNOWN) -> History:
    """`0 W x 1; 1 R x 1`."""
    rows = "".join(",".join(row.split()) + "\n" for row in text.split(";"))
    (history,) = adapters.adapter("csv").read(io.BytesIO(b"thread,op,address,value\n" + rows.encode()), "t", options)
    assert isinstance(history, History), history
    return history


def forgotten(history: History) -> History:
    """The same, but nobody knows what memory held."""
    return by_values(replace(history, unknown=np.ones(len(history.locations), dtype=bool)))


def ways(history: History) -> Iterator[History]:
    """Every way that memory can have been, as far as anybody could see it."""
    seen = [{999, *history.read[history.reads][history.location[history.reads] == at].tolist()}
            | ({int(history.final_value[at])} if history.final_line[at] >= 0 else set())
            for at in range(len(history.locations))]
    for initial in product(*seen):
        yield by_values(replace(history, initial=np.array(initial, dtype=np.int64), unknown=None))


def some(seed: int, count: int) -> Iterator[History]:
    rng = Random(seed)
    for number in range(count):
        history = random_history(rng, 7)
        yield forgotten(with_values(history, rng, 2 + rng.randrange(2)) if number % 2 else history)


@pytest.mark.parametrize(("name", "count"), [("sc", 60), ("tso", 40), ("pso", 20), ("rvwmo", 30), ("armv8", 20)])
def test_brute_force(name: str, count: int) -> None:
    """Some memory, some reading, some store order; `check` has certified what it says."""
    model, said = load(name), []
    for history in some(5, count):
        if model.splits_rmws and RMW in history.kind:
            continue
        verdict = check(history, model).verdict
        assert (verdict == "consistent") == any(
            Brute(read_as).allows(model) for way in ways(history) for read_as in readings(way))
        said.append(verdict)
    assert {*said} == {"consistent", "violation"}


def test_the_general_way() -> None:
    model = load("sc")
    for history in some(11, 12):
        if impossible_observation(history, None) is None:
            found = decide_in_general(history, model, Deadline())
            assert isinstance(found, Witness) == (check(history, model).verdict == "consistent")
            assert isinstance(found, Witness) or proves(history, model, found)


def test_the_first_value_that_nobody_wrote_is_what_memory_held() -> None:
    history = history_of("0 R x 7; 0 W x 1; 1 R x 7; 1 R x 1")
    assert history.initial.tolist() == [7] and history.source.tolist() == [INITIAL, -3, INITIAL, 1]
    assert check(history, "sc")
    second = history_of("0 R x 7; 0 W x 1; 1 R x 8")
    verdict = check(second, "sc")
    assert verdict.decided_by == "thin-air" and verdict.evidence == ThinAir(2, 0)
    assert not proves(second, load("sc"), ThinAir(0, 0))
    assert not proves(history, load("sc"), ThinAir(0, 0))


def test_memory_may_have_held_what_somebody_wrote() -> None:
    """Message passing fails, unless the flag was there already; but then it was not another value as well."""
    passing = "0 W x 1; 0 W y 1; 1 R y 1; 1 R x 5; 2 W x 5; 2 R x 1"
    assert not check(history_of(passing, Options(initial=9)), "sc")
    history = history_of(passing)
    assert candidates(history) == {2: (INITIAL, 1), 3: (INITIAL, 4), 5: (INITIAL, 0)}
    assert check(history, "sc")
    twice = history_of("0 W x 1; 0 W y 1; 1 R y 1; 1 R x 9; 2 W x 2; 2 W y 2; 3 R y 2; 3 R x 9")
    assert not check(twice, "sc") and history_of("0 W x 1; 0 W y 1; 1 R y 1; 1 R x 9").initial.tolist()[0] == 9
    assert isinstance(check(twice, "sc").evidence, Refutation)
    assert len(shrink(twice, "sc")) == 8  # none of the stores is forgotten: what it wrote would be what memory held


def test_a_run_says_what_memory_held() -> None:
    history = history_of("0 W x 1; 0 W y 1; 1 R y 1; 1 R x 9")
    verdict = check(history, "sc")
    assert isinstance(verdict.evidence, Witness) and verdict.evidence.held == ((1, 1),)
    for held in ((), ((1, 2),), ((1, 1), (7, 1))):
        assert not proves(history, load("sc"), replace(verdict.evidence, held=held))
    known = history_of("0 W x 1; 0 W y 1; 1 R y 1; 1 R x 9", Options(initial=1, initial_at={"x": 9}))
    assert not proves(known, load("sc"), verdict.evidence)


def test_what_is_known_comes_first() -> None:
    rows = b"thread,op,address,value\n,init,x,4\n,unknown,u,\n0,R,x,4\n0,R,y,5\n0,R,z,6\n0,R,u,7\n"
    for options in (Options(unknown=True, initial_at={"y": 5}), Options(initial=6, initial_at={"y": 5})):
        (history,) = adapters.adapter("csv").read(io.BytesIO(rows), "t", options)
        assert isinstance(history, History) and not (history.source == -2).any()
        unknown = {name for name, lost in zip(history.locations, history.unknown, strict=True) if lost}  # type: ignore[arg-type]
        assert unknown == ({"u", "z"} if options.unknown else {"u"})


@pytest.mark.parametrize("name", ["csv", "json", "jsonl", "parquet", "arrow"])
def test_round_trips(name: str) -> None:
    for text in ("0 W x 1; 0 W y 1; 1 R y 1; 1 R x 9", "0 R x 1", "0 W x 0; 1 R x 0"):
        history, stream = history_of(text), io.BytesIO()
        adapters.writer(name).write([history], stream)
        (again,) = adapters.adapter(name).read(io.BytesIO(stream.getvalue()), "t", Options())
        assert isinstance(again, History) and again.unknown is not None and again.unknown.all()
        assert again.source.tolist() == history.source.tolist() and again.initial.tolist() == history.initial.tolist()
    assert gradual.check(history_of("0 R x 7").to_pandas(), "sc")


def test_axe_cannot_say_it() -> None:
    with pytest.raises(InputError, match="nobody knows"):
        adapters.writer("axe").write([history_of("0 W x 1; 1 R x 1")], io.BytesIO())


def test_parts_and_joined_histories() -> None:
    history = history_of("0 W x 1; 1 R x 1; 1 R x 9")
    left = part(history, np.array([False, True, False]), np.zeros(1, dtype=bool))
    assert left.initial.tolist() == [1] and left.source.tolist() == [INITIAL]
    whole = joined("all", "all", [history_of("0 W x 1"), history_of("1 R x 1; 1 R x 9")], UNKNOWN)
    assert whole.initial.tolist() == [9] and whole.source.tolist() == [-3, 0, INITIAL]
    assert history_of("0 W x 1; 1 R x 1").source.tolist()[1] == AMBIGUOUS


def test_commands(tmp_path: Path) -> None:
    trace = tmp_path / "t.csv"
    trace.write_text("thread,op,address,value\n0,R,x,7\n0,W,x,1\n1,R,x,8\n")
    known = run("check", str(trace))
    assert known.returncode == 1 and "--initial unknown takes it for what memory held" in known.stdout
    done = run("explain", str(trace), "--initial", "unknown")
    assert done.returncode == 1 and "Nobody wrote 7 either" in done.stdout
    trace.write_text("thread,op,address,value\n0,W,x,1\n0,W,y,1\n1,R,y,1\n1,R,x,9\n")
    record = json.loads(run("check", str(trace), "--initial", "unknown", "--json").stdout)
    assert record["verdict"] == "consistent" and record["witness"]["held"] == {"x": 9, "y": 1}
    both = run("check", str(trace), "--initial", "unknown", "--initial", "3")
    assert both.returncode == 2 and "--initial unknown" in both.stderr
    assert run("check", str(trace), "--initial", "unknown", "--initial", "y=0").returncode == 1
    stream = run("check", str(trace), "--stream", "--initial", "unknown")
    assert stream.returncode == 2 and "--stream" in stream.stderr
    trace.write_text("thread,op,address,value\n,unknown,x,\n0,R,x,1\n")
    stream = run("check", str(trace), "--stream")
    assert stream.returncode == 2 and "nobody knows what x starts with" in stream.stdout
