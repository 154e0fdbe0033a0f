"""Evidence that proves nothing must be refused: every forgery here is caught."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise, permutations
from pathlib import Path
from random import Random

import pytest
from brute import MODELS
from explore import accepts, explore
from random_histories import random_history
from searching import searched
from strict import strict
from texts import SHIPPED, Text
from theory import parse

from gradual.deciding.pipeline import check
from gradual.evidence import certificate, machine
from gradual.evidence.certificate import CertificateError
from gradual.evidence.verdict import Cycle, Edge, Overwritten, Refutation, Step, ThinAir, Witness
from gradual.history import FENCE, History


def refuse(history: History, model: str, evidence: object) -> None:
    """By the second opinion, and by the text."""
    for opinion in (model, SHIPPED[model]):
        with pytest.raises(CertificateError):
            certificate.check(history, opinion, evidence)  # type: ignore[arg-type]


def test_a_replay_accepts_only_what_the_machine_does() -> None:
    """Every order of small histories: accepted by the replay exactly when the explored machine can do it."""
    rng = Random(3)
    accepted = refused = 0
    for _ in range(60):
        history = random_history(rng, max_operations=5, thin_air=0.05)
        if neighbouring_fences(history):  # whose order means nothing, though the machine has one
            continue
        for model in MODELS:
            possible = False
            for order in permutations(range(len(history))):
                wanted = accepts(history, model, order)
                possible |= wanted
                assert proves(history, model, Witness(order)) == wanted
                accepted, refused = accepted + wanted, refused + (not wanted)
            assert possible == explore(history, model)
    assert accepted > 200 and refused > 4_000


def complaint(history: History, model: str, order: list[int]) -> str:
    try:
        machine.replay(history, model, order)
    except CertificateError as error:
        return str(error)
    return ""


def test_a_compiled_replay_is_the_plain_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of runs, and of what is nearly one; and it stays within its tables."""
    rng, said = Random(5), set()
    plain_rows, plain_column = machine.rows, machine.column
    monkeypatch.setattr(machine, "rows", lambda *given: strict(plain_rows(*given)))
    monkeypatch.setattr(machine, "column", lambda *given: strict(plain_column(*given)))
    for seed in range(400):
        history = random_history(rng, max_operations=12, thin_air=0.02)
        order = list(range(len(history)))
        model = MODELS[seed % len(MODELS)]
        found = check(history, model).evidence
        if isinstance(found, Witness):
            order = list(found.order)
            if seed % 2:
                a, b = rng.choices(range(len(order)), k=2)
                order[a], order[b] = order[b], order[a]
        answers = []
        for compiled in (False, True):
            monkeypatch.setattr(machine, "paid", lambda count, compiled=compiled: compiled)
            answers.append(complaint(history, model, order))
        assert answers[0] == answers[1]
        said.add(answers[0].partition(",")[0])
    assert said == {"", "the machine cannot do this", "a fence is not kept", "the memory is left with other values"}


def neighbouring_fences(history: History) -> bool:
    for thread in range(len(history.threads)):
        kinds = history.kind[history.thread == thread].tolist()
        if any(a == b == FENCE for a, b in pairwise(kinds)):
            return True
    return False


def proves(history: History, model: str | Text, evidence: object) -> bool:
    try:
        certificate.check(history, model, evidence)  # type: ignore[arg-type]
    except CertificateError:
        return False
    return True


@pytest.mark.parametrize("order", [[], [0], [0, 0, 1, 2], [0, 1, 2, 2], [0, 1, 2, 4], [3, 2, 1, 0]])
def test_orders_that_are_no_run(order: list[int]) -> None:
    refuse(parse("W x1, R y0 ∥ W y1, R x1"), "SC", Witness(order))


def test_buffers_are_those_of_the_model() -> None:
    sb = parse("W x1, R y0 ∥ W y1, R x0")
    refuse(sb, "SC", Witness([1, 3, 0, 2]))
    certificate.check(sb, "TSO", Witness([1, 3, 0, 2]))
    mp = parse("W x1, W y1 ∥ R y1, R x0")
    refuse(mp, "TSO", Witness([1, 2, 3, 0]))
    certificate.check(mp, "PSO", Witness([1, 2, 3, 0]))
    fenced = parse("W x1, fence, W y1 ∥ R y1, R x0")
    refuse(fenced, "PSO", Witness([2, 3, 4, 0, 1]))
    refuse(fenced, "PSO", Witness([1, 2, 3, 4, 0]))
    same = parse("W x1, W x2 ∥ R x2, R x1")
    refuse(same, "PSO", Witness([1, 2, 0, 3]))


def test_forwarding_and_final_values() -> None:
    forwarded = parse("W x1, R x1, R y0 ∥ W y1, R y1, R x0")
    certificate.check(forwarded, "TSO", Witness([1, 2, 4, 5, 0, 3]))
    refuse(parse("W x1, W x2, R x1"), "TSO", Witness([2, 0, 1]))
    certificate.check(parse("W x1 ∥ W x2 ; x1"), "SC", Witness([1, 0]))
    refuse(parse("W x1 ∥ W x2 ; x1"), "SC", Witness([0, 1]))


def test_rmws_need_what_they_write_over_to_be_drained() -> None:
    history = parse("W x1, RMW x1→2")
    certificate.check(history, "PSO", Witness([0, 1]))
    refuse(history, "PSO", Witness([1, 0]))
    apart = parse("W y1, RMW x0→2")
    refuse(apart, "TSO", Witness([1, 0]))
    certificate.check(apart, "PSO", Witness([1, 0]))


SB = parse("W x1, R y0 ∥ W y1, R x0")
CYCLE = check(SB, "sc").evidence
assert isinstance(CYCLE, Cycle)


def test_a_cycle_of_one_model_is_none_of_a_weaker_one() -> None:
    certificate.check(SB, "SC", CYCLE)
    refuse(SB, "TSO", CYCLE)


@pytest.mark.parametrize("drop", range(4))
def test_a_cycle_with_a_gap(drop: int) -> None:
    refuse(SB, "SC", replace(CYCLE, edges=CYCLE.edges[:drop] + CYCLE.edges[drop + 1:]))


@pytest.mark.parametrize("kind", ["po", "wr", "ww", "rw"])
@pytest.mark.parametrize("at", range(4))
def test_a_cycle_with_a_wrong_label(kind: str, at: int) -> None:
    edge = CYCLE.edges[at]
    if edge.kind != kind:
        forged = (*CYCLE.edges[:at], Edge(kind, edge.start, edge.end), *CYCLE.edges[at + 1:])  # type: ignore[arg-type]
        refuse(SB, "SC", replace(CYCLE, edges=forged))


def test_backwards_and_across_threads() -> None:
    refuse(SB, "SC", Cycle((Edge("po", 0, 1), Edge("po", 1, 0)), "global"))
    refuse(SB, "SC", Cycle((Edge("po", 0, 2), Edge("po", 2, 0)), "global"))
    refuse(SB, "SC", Cycle((), "global"))
    refuse(SB, "SC", replace(CYCLE, assumed=((0, 2),)))


def test_store_order_needs_a_reason() -> None:
    history = parse("W x1 ∥ W x2")
    refuse(history, "SC", Cycle((Edge("ww", 0, 1), Edge("ww", 1, 0)), "global"))
    refuse(history, "SC", Cycle((Edge("ww", 0, 1), Edge("ww", 1, 0)), "global",
                                (Step(0, 1, (Edge("ww", 0, 1),), "global"), Step(1, 0, (Edge("ww", 1, 0),), "global"))))


@cache
def _violations(model: str) -> list[tuple[History, Cycle]]:
    rng = Random(11)
    found: list[tuple[History, Cycle]] = []
    while len(found) < 60:
        history = random_history(rng)
        cycle = check(history, model, engine="schedule").evidence
        if isinstance(cycle, Cycle) and cycle.steps:
            certificate.check(history, model, cycle)
            found.append((history, cycle))
    return found


@pytest.mark.parametrize("model", MODELS)
def test_every_step_is_needed(model: str) -> None:
    """Proofs hold nothing idle: without any one of its steps the cycle is refused."""
    for history, cycle in _violations(model):
        for at in range(len(cycle.steps)):
            refuse(history, model, replace(cycle, steps=cycle.steps[:at] + cycle.steps[at + 1:]))


@pytest.mark.parametrize("model", MODELS)
def test_steps_only_use_earlier_ones(model: str) -> None:
    for history, cycle in _violations(model):
        turned = replace(cycle, steps=tuple(
            Step(step.after, step.before, step.path, step.scope) for step in cycle.steps))
        refuse(history, model, turned)


def test_internal_reads_order_nothing_globally() -> None:
    history = parse("W x1, R x1, R y0 ∥ W y1, R y1, R x0")
    edges = (Edge("wr", 0, 1), Edge("po", 1, 2), Edge("rw", 2, 3), Edge("wr", 3, 4), Edge("po", 4, 5), Edge("rw", 5, 0))
    certificate.check(history, "SC", Cycle(edges, "global"))
    refuse(history, "TSO", Cycle(edges, "global"))
    refuse(history, "TSO", Cycle(edges, "coherence"))


def test_refutations() -> None:
    history = searched()
    for completion in ("auto", "enumerate", "sat", "direct"):
        refutation = check(history, "sc", completion=completion).evidence
        assert isinstance(refutation, Refutation)
        certificate.check(history, "SC", refutation)
        refuse(history, "SC", replace(refutation, lemmas=()))
        refuse(history, "SC", replace(refutation, lemmas=refutation.lemmas[:-1]))
        for at in range(len(refutation.cases)):
            fewer = refutation.cases[:at] + refutation.cases[at + 1:]
            if completion == "enumerate":
                refuse(history, "SC", replace(refutation, cases=fewer))
        bent = replace(refutation.cases[0], assumed=())
        refuse(history, "SC", replace(refutation, cases=(bent, *refutation.cases[1:])))


def test_impossible_observations() -> None:
    thin = parse("W x1, R x7")
    certificate.check(thin, "SC", ThinAir(1, 0))
    refuse(thin, "SC", ThinAir(0, 0))
    refuse(parse("W x1, R x1"), "SC", ThinAir(1, 0))
    refuse(parse("W x1, R x0"), "SC", ThinAir(1, 0))
    refuse(parse("W x1"), "SC", ThinAir(None, 0))
    lost = parse("W x1 ; x0")
    certificate.check(lost, "SC", Overwritten(0, 0))
    refuse(parse("W x1 ; x1"), "SC", Overwritten(0, 0))
    refuse(parse("R x0 ; x0"), "SC", Overwritten(0, 0))


def test_the_checker_of_certificates_imports_no_engine() -> None:
    """Nor a parser or a compiler of models."""
    import ast

    import gradual.evidence

    imported = set()
    for file in Path(gradual.evidence.__path__[0]).glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {name.name for name in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add(node.module)
    ours = {name for name in imported if name.startswith("gradual") and not name.startswith("gradual.evidence")}
    assert ours <= {"gradual.compiler", "gradual.compiler.records", "gradual.compiler.waiting", "gradual.deadline",
                    "gradual.history", "gradual.history.annotations", "gradual.models.syntax"}
    assert not imported & {"clingo", "pysat"}
