"""The gradual check: look, climb the ladder, saturate, complete what is left open, certify."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from gradual.deadline import Deadline
from gradual.deciding.completion import AUTO, DIRECT
from gradual.deciding.completion import completion as completion_named
from gradual.deciding.ladder import Answer, climb
from gradual.deciding.proof import own_future
from gradual.deciding.saturation import Saturation
from gradual.deciding.schedule import Schedule
from gradual.evidence import certificate
from gradual.evidence.verdict import Evidence, Outcome, Overwritten, ThinAir, Verdict, Witness
from gradual.history import INITIAL, THIN_AIR, History
from gradual.models import Model as Text
from gradual.models.model import Model, model_named
from gradual.telling.words import in_a_line

ENGINES = ("auto", "saturation", "datalog")
"""datalog climbs the ladder first, and is quadratic; saturation leaves it out. auto decides as saturation does,
and climbs the ladder of a small violation afterwards, to name the criterion that fails."""
NO_MEMORY = "not decided within the memory there is"
SMALL = 500
"""Operations up to which a history counts as small."""


def check(history: History, model: str | Model | Text = "sc", *, engine: str = "auto", completion: str = "auto",
          timeout: float | None = None) -> Verdict:
    """Is `history` consistent with `model`? The evidence is certified before it is returned."""
    model = model_named(model)
    if engine not in ENGINES:
        raise ValueError(f"no engine called {engine!r}; there are {', '.join(ENGINES)}")
    started = time.perf_counter()
    decision = _Decision(history, model, Deadline(timeout))
    try:
        verdict = decision.make(engine, AUTO if completion == "auto" else completion)
    except TimeoutError:
        verdict = decision.unknown(f"not decided within {timeout:g} s; allow more time")
    except MemoryError:
        verdict = decision.unknown(NO_MEMORY)
    if verdict.evidence is not None:
        certificate.check(history, model.name, verdict.evidence)
    return replace(verdict, message=verdict.message or in_a_line(verdict.evidence, history),
                   seconds=time.perf_counter() - started)


class _Decision:
    """One history, one model; remembers the last partial store order."""

    def __init__(self, history: History, model: Model, deadline: Deadline) -> None:
        self.history = history
        self.model = model
        self.deadline = deadline
        self.write_pairs = write_pairs(history)
        self.ordered_by: str | None = None
        self.ordered = 0

    def make(self, engine: str, complete: str) -> Verdict:
        impossible = impossible_observation(self.history)
        if impossible is not None:
            return self._verdict(*impossible)
        if complete == DIRECT:
            from gradual.deciding.completion import direct

            return self._verdict(DIRECT, direct.complete(self.history, self.model, self.deadline))
        finish = completion_named(complete)
        top = None
        if engine == "datalog":
            for answer in climb(self.history, self.model, self.deadline):
                self._note(answer)
                if answer.failed:
                    return self._verdict(answer.failed[0], proof(self.history, self.model))
                top = answer.rung.criteria[-1]
        self.deadline.check()
        saturation = Saturation(self.history, self.model)
        cycle = saturation.run()
        if top is None:  # otherwise the ladder's order is the one asked about
            self.ordered_by = "saturation"
            self.ordered = min(saturation.ordered_pairs(), self.write_pairs)
        if cycle is not None:
            return self._verdict(self._criterion(engine) or "saturation", cycle)
        schedule = Schedule(saturation)
        witness = schedule.run()
        if witness is not None:
            return self._verdict("greedy" if top is None or self.ordered < self.write_pairs else top, witness)
        return self._verdict(complete, finish(schedule, self.deadline))

    def _criterion(self, engine: str) -> str | None:
        """The first criterion that a violation fails, where it is wanted and soon found."""
        if engine != "auto" or len(self.history) > SMALL:
            return None
        try:
            for answer in climb(self.history, self.model, self.deadline):
                self._note(answer)
                if answer.failed:
                    return answer.failed[0]
        except TimeoutError:
            pass
        return None

    def unknown(self, reason: str) -> Verdict:
        return self._verdict(None, None, reason)

    def _note(self, answer: Answer) -> None:
        self.ordered_by = answer.rung.criteria[-1]
        self.ordered = answer.ordered_pairs

    def _verdict(self, decided_by: str | None, evidence: Evidence | None, message: str = "") -> Verdict:
        outcome: Outcome = "unknown"
        if evidence is not None:
            outcome = "consistent" if isinstance(evidence, Witness) else "violation"
        return Verdict(self.model.name, outcome, decided_by, evidence, message, self.write_pairs,
                       self.write_pairs - self.ordered, self.ordered_by)


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


def proof(history: History, model: Model) -> Evidence:
    """The cycle behind a violated criterion: saturation derives everything that a criterion does."""
    cycle = Saturation(history, model).run()
    assert cycle is not None, "a criterion failed, but saturation found no contradiction"
    return cycle


def write_pairs(history: History) -> int:
    """Pairs of non-initial writes to one location."""
    counts = np.bincount(history.location[history.writes], minlength=1).astype(object)
    return int((counts * (counts - 1) // 2).sum())
