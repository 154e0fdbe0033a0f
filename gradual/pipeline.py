"""The gradual check: look, climb the ladder, complete what it leaves open, certify."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from gradual import certificate
from gradual.closure import Closure, Contradiction, own_future
from gradual.completion import AUTO
from gradual.completion import completion as completion_named
from gradual.deadline import Deadline
from gradual.history import INITIAL, THIN_AIR, History
from gradual.ladder import climb
from gradual.models import Model, model_named
from gradual.verdict import Cycle, Evidence, Overwritten, Pair, ThinAir, Verdict, Witness


def check(history: History, model: str | Model = "sc", *, completion: str = "auto",
          timeout: float | None = None) -> Verdict:
    """Is `history` consistent with `model`? The evidence is certified before it is returned."""
    model = model_named(model)
    complete = AUTO if completion == "auto" else completion
    started = time.perf_counter()
    try:
        verdict = _decide(history, model, complete, Deadline(timeout))
    except TimeoutError:
        verdict = Verdict(model.name, "unknown", message=f"not decided within {timeout:g} s; raise --timeout",
                          write_pairs=write_pairs(history), unordered_pairs=write_pairs(history))
    except MemoryError:
        verdict = Verdict(model.name, "unknown", message="not decided within the memory there is",
                          write_pairs=write_pairs(history), unordered_pairs=write_pairs(history))
    if verdict.evidence is not None:
        certificate.check(history, model.name, verdict.evidence)
    return replace(verdict, seconds=time.perf_counter() - started)


def _decide(history: History, model: Model, complete: str, deadline: Deadline) -> Verdict:
    impossible = impossible_observation(history)
    if impossible is not None:
        return _verdict(history, model, *impossible)
    ww: list[Pair] = []
    decided_by = complete
    if complete != "direct":
        for answer in climb(history, model, deadline):
            ww = answer.ww
            if answer.failed:
                return _verdict(history, model, answer.failed[0], proof(history, model), ww)
            if not _open_pairs(history, ww):
                decided_by = answer.rung.criteria[-1]  # nothing is left to search
    evidence = completion_named(complete)(history, model, deadline)
    if isinstance(evidence, Cycle) and complete != "direct":
        decided_by = "saturation"  # with which every completion begins
    return _verdict(history, model, decided_by, evidence, ww)


def impossible_observation(history: History) -> tuple[str, Evidence] | None:
    """What no model allows, seen without any search: thin-air and own-future reads, lost final values."""
    for r in np.flatnonzero(history.source == THIN_AIR).tolist():
        return "thin-air", ThinAir(r, int(history.location[r]))
    for cycle in own_future(history):
        return "own-future", cycle
    for at in np.flatnonzero(history.final == THIN_AIR).tolist():
        return "final", ThinAir(None, at)
    for at in np.flatnonzero(history.final == INITIAL).tolist():
        writes = history.writes[history.location[history.writes] == at]
        if len(writes):
            return "final", Overwritten(at, int(writes[0]))
    return None


def proof(history: History, model: Model) -> Cycle:
    """The cycle behind a violated criterion: saturation derives everything that a criterion does."""
    try:
        Closure(history, model)
    except Contradiction as contradiction:
        return contradiction.cycle
    raise AssertionError("a criterion failed, but saturation found no contradiction")


def write_pairs(history: History) -> int:
    """Pairs of non-initial writes to one location."""
    counts: dict[int, int] = {}
    for at in history.location[history.writes].tolist():
        counts[at] = counts.get(at, 0) + 1
    return sum(count * (count - 1) // 2 for count in counts.values())


def _open_pairs(history: History, ww: Iterable[Pair]) -> int:
    return write_pairs(history) - len({(min(pair), max(pair)) for pair in ww if pair[0] != pair[1]})


def _verdict(history: History, model: Model, decided_by: str, evidence: Evidence,
             ww: Iterable[Pair] = ()) -> Verdict:
    return Verdict(model.name, "consistent" if isinstance(evidence, Witness) else "violation", decided_by, evidence,
                   write_pairs=write_pairs(history), unordered_pairs=_open_pairs(history, ww))
