"""What a trace knows besides its values: a store order, real time. Decided as brute force does, certified, told."""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
from typer.testing import CliRunner

import gradual
from gradual.cli import check as _check  # which makes it a command of the app
from gradual.cli import shrink as _shrink
from gradual.cli.app import app
from gradual.deciding.pipeline import check
from gradual.deciding.shrinking import Shrinking
from gradual.evidence import certificate
from gradual.evidence.certificate import CertificateError
from gradual.evidence.verdict import Cycle, Edge, Witness
from gradual.history import NO_PLACE, REAL_TIME, STORE_ORDER, Builder, History
from gradual.models import load
from gradual.telling import dot, page, prose, shortened, svg

sys.path.insert(0, str(Path(__file__).parents[1]))

from experiments.known.__main__ import CONSISTENT, expected
from experiments.known.histories import knowing_history

assert _check and _shrink
MODELS = ("sc", "tso", "rvwmo")


def coherent(first: int | None, second: int | None) -> History:
    """A thread sees x=2 become x=1: so 2 was stored first."""
    builder = Builder("CoRR", "trace.x")
    builder.write("0", "x", 1, line=1, order=NO_PLACE if first is None else first)
    builder.write("1", "x", 2, line=2, order=NO_PLACE if second is None else second)
    builder.read("1", "x", 2, line=3)
    builder.read("1", "x", 1, line=4)
    return builder.build()


def stale() -> History:
    """Thread 1 reads what x was before, after the write of 1 had ended."""
    builder = Builder("stale", "trace.x")
    builder.write("0", "x", 1, line=1, begin=1, end=2)
    builder.read("1", "x", 0, line=2, begin=3, end=4)
    return replace(builder.build(), real_time=True)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("places", "found"), [
    ((2, 1), (CONSISTENT, (STORE_ORDER,), None)), ((1, 2), ("violation", (STORE_ORDER,), CONSISTENT)),
    ((1, 1), (CONSISTENT, (STORE_ORDER,), None)), ((None, 7), (CONSISTENT, (STORE_ORDER,), None)),
    ((None, None), (CONSISTENT, (), None))])
def test_a_store_order_is_kept(places: tuple[int | None, int | None], found: tuple[str, object, object],
                               model: str) -> None:
    verdict = check(coherent(*places), model)
    assert (verdict.verdict, verdict.given, verdict.without) == found


def test_a_final_value_against_the_store_order() -> None:
    builder = Builder("final", "trace.x")
    builder.write("0", "x", 1, order=5)
    builder.write("1", "x", 2, order=4)
    builder.final("x", 2)
    verdict = check(builder.build(), "tso")
    assert (verdict.verdict, verdict.decided_by, verdict.without) == ("violation", STORE_ORDER, CONSISTENT)


def test_what_the_model_forbids_anyway_rests_on_nothing_else() -> None:
    builder = Builder("both", "trace.x")
    builder.write("0", "x", 1, order=2)
    builder.write("1", "x", 2, order=1)
    for value in (1, 2, 1):
        builder.read("1", "x", value)
    history = builder.build()
    verdict = check(history, "tso")
    assert (verdict.verdict, verdict.given, verdict.without) == ("violation", (), None)
    assert verdict.evidence is not None
    certificate.check(history.knowing(()), "TSO", verdict.evidence)


@pytest.mark.parametrize("model", MODELS)
def test_real_time_is_asked_for(model: str) -> None:
    verdict = check(stale(), model)
    assert (verdict.verdict, verdict.decided_by, verdict.given, verdict.without) == (
        "violation", REAL_TIME, (REAL_TIME,), CONSISTENT)
    assert check(replace(stale(), real_time=False), model).verdict == CONSISTENT


def test_a_general_model_has_no_clock(tmp_path: Path) -> None:
    (tmp_path / "odd.cat").write_text("acyclic po | rf | co | fr as one\nacyclic po | rfe | co | fr as two\n")
    verdict = check(stale(), str(tmp_path / "odd.cat"))
    assert verdict.verdict == "unknown" and "leave --real-time out" in verdict.message
    assert check(coherent(1, 2), str(tmp_path / "odd.cat")).given == (STORE_ORDER,)
    assert check(coherent(2, 1), str(tmp_path / "odd.cat")).verdict == CONSISTENT


def test_random_histories_by_brute_force() -> None:
    rng, counted = Random(11), Counter[str]()
    for _ in range(25):
        history = knowing_history(rng, 8)
        for name in MODELS:
            verdict = check(history, name, engine="schedule", unordered=False)
            found = CONSISTENT if verdict.verdict == CONSISTENT else "+".join(verdict.given) or "violation"
            assert found == expected(history, load(name))
            counted[found] += 1
    assert {CONSISTENT, "violation", STORE_ORDER, REAL_TIME} <= counted.keys(), counted


@pytest.mark.parametrize("completion", ["enumerate", "sat", "direct"])
def test_completions_keep_the_store_order(completion: str) -> None:
    for places in ((1, 2), (2, 1)):
        verdicts = [check(coherent(*places), "sc", completion=way).verdict for way in (completion, "auto")]
        assert verdicts[0] == verdicts[1]
    assert check(stale(), "sc", completion=completion).given == (REAL_TIME,)


# --- the certificate


def test_evidence_that_claims_too_much_is_refused() -> None:
    history = coherent(1, 2)
    verdict = check(history, "sc")
    assert isinstance(verdict.evidence, Cycle)
    for name in ("SC", load("sc")):
        certificate.check(history, name, verdict.evidence)
        for less in (history.knowing(()), coherent(1, 1), coherent(None, 2), coherent(2, 1)):
            with pytest.raises(CertificateError):
                certificate.check(less, name, verdict.evidence)
        for order in ((1, 2, 3, 0), (0, 1, 2, 3)):  # against the told order, against the values
            with pytest.raises(CertificateError):
                certificate.check(history, name, Witness(order))


def test_runs_out_of_real_time_are_refused() -> None:
    history = stale()
    verdict = check(history, "tso")
    assert isinstance(verdict.evidence, Cycle) and {edge.kind for edge in verdict.evidence.edges} == {"rt", "rw"}
    for name in ("TSO", load("tso"), load("rvwmo")):
        certificate.check(history, name, verdict.evidence)
        certificate.check(history.knowing(()), name, Witness((1, 0)))
        with pytest.raises(CertificateError):
            certificate.check(history, name, Witness((1, 0)))
        for forged in (replace(verdict.evidence, scope="coherence"),
                       Cycle((Edge("rt", 1, 0), Edge("rw", 1, 0)), "global"),
                       Cycle((Edge("rt", 0, 0),), "global")):
            with pytest.raises(CertificateError):
                certificate.check(history, name, forged)
        for less in (history.knowing(()), replace(history, end=np.array([3, 4])), replace(history, begin=None)):
            with pytest.raises(CertificateError):
                certificate.check(less, name, verdict.evidence)


# --- told


def test_what_it_rests_on_is_told() -> None:
    history, model = coherent(1, 2), load("tso")
    verdict = shortened(check(history, model), history, model)
    assert "as the trace tells (order 1 and 2)" in prose(verdict, history, model)
    for text in (svg(verdict, history, model), dot(verdict, history, model), page(verdict, history, model)):
        assert "given" in text
    verdict = check(stale(), model)
    assert "at 3 after 2" in gradual.explain(verdict, stale())
    assert "rt: began after" in svg(verdict, stale(), model)


def test_shrinking_keeps_the_kind() -> None:
    builder = Builder("long", "trace.x")
    for value in range(1, 9):
        builder.write("2", "y", value, order=value)
    for operation in range(4):
        history = coherent(1, 2)
        add = builder.read if history.kind[operation] == 0 else builder.write
        add(history.threads[history.thread[operation]], "x",
            int(max(history.read[operation], history.written[operation])),
            **({} if history.kind[operation] == 0 else {"order": operation + 1}))  # type: ignore[arg-type]
    small = Shrinking(builder.build(), "sc")
    assert small.kind == STORE_ORDER and len(small.history) == 3
    assert check(small.history, "sc").decided_by == STORE_ORDER


CSV = "thread,op,address,value,order,begin,end\n0,W,x,1,{},1,2\n1,W,x,2,{},3,4\n1,R,x,2,,5,6\n1,R,x,1,,7,8\n"


def run(tmp_path: Path, places: tuple[int, int], *more: str) -> tuple[int, str]:
    trace = tmp_path / "trace.csv"
    trace.write_text(CSV.format(*places))
    done = CliRunner().invoke(app, [more[0], str(trace), *more[1:]])
    return done.exit_code, done.output


def test_verdicts_name_what_they_rest_on(tmp_path: Path) -> None:
    status, text = run(tmp_path, (1, 2), "check")
    assert status == 1 and "SC violation against the trace's own store order: SC holds without it" in text
    assert "as the trace tells (order 1 and 2)" in text
    status, text = run(tmp_path, (2, 1), "check")
    assert status == 0 and "keeps the store order that the trace tells" in text
    status, text = run(tmp_path, (2, 1), "check", "--real-time", "--json")
    record = json.loads(text)
    assert status == 1 and (record["decided_by"], record["given"], record["without"]) == (
        REAL_TIME, [REAL_TIME], CONSISTENT)
    assert "rt" in {edge["edge"] for edge in record["cycle"]}
    status, text = run(tmp_path, (1, 2), "check", "--json")
    assert {edge.get("by") for edge in json.loads(text)["cycle"]} == {None, "given"}
    status, text = run(tmp_path, (2, 1), "shrink", "--real-time")
    assert status == 0 and "a cycle in real time" in text


def test_real_time_needs_times(tmp_path: Path) -> None:
    trace = tmp_path / "trace.csv"
    trace.write_text("thread,op,address,value\n0,W,x,1\n")
    done = CliRunner().invoke(app, ["check", str(trace), "--real-time"])
    assert done.exit_code == 2 and "--real-time needs times" in done.output


def test_machines_tell_their_store_order() -> None:
    for machine in ("sc", "tso", "pso", "rvwmo"):
        history = gradual.generate(machine, operations=200, ordered=True, seed=5)
        assert history.order is not None and (history.order[history.writes] >= 0).mean() > 0.9
        assert check(history, machine, unordered=False).given == (STORE_ORDER,)
    wrong = check(replace(history, order=np.where(history.order >= 0, 1000 - history.order, NO_PLACE)), "rvwmo")
    assert wrong.decided_by == STORE_ORDER


def test_begin_times_are_the_first_choice() -> None:
    """Thread by thread, the order of the trace says nothing; its times do."""
    issued = gradual.generate("sc", threads=8, operations=600, locations=4, seed=2)
    order = np.argsort(issued.thread, kind="stable")
    builder = Builder("grouped", "trace.x")
    for o in order.tolist():
        thread, at = issued.threads[issued.thread[o]], int(issued.location[o])
        if issued.kind[o] == 0:
            builder.read(thread, at, int(issued.read[o]), begin=o)
        elif issued.kind[o] == 1:
            builder.write(thread, at, int(issued.written[o]), begin=o)
        elif issued.kind[o] == 2:
            builder.rmw(thread, at, int(issued.read[o]), int(issued.written[o]), begin=o)
    timed = builder.build()
    assert check(timed, "sc", unordered=False).conflicts == 0
    assert check(replace(timed, begin=None), "sc", unordered=False).conflicts > 0
