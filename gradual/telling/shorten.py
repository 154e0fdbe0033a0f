"""Shorter evidence for the same violation: few inferred steps, few edges.

The engine stops at the first contradiction it meets, which need not be the simplest one. `near.py` says where to look
for another, `cheapest.py` finds the cheapest proof there. Whatever comes out is checked by the certificate, on the
whole history, before it is used.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace

from gradual.deciding.engine.parts import Parts
from gradual.deciding.engine.proof import premises
from gradual.evidence import certificate
from gradual.evidence.verdict import Broken, Cycle, Refutation, Step, Verdict
from gradual.history import History
from gradual.models import Model
from gradual.models.fit import Fit, General, fit
from gradual.telling.cheapest import cheapest, cost
from gradual.telling.near import near
from gradual.telling.rules import named
from gradual.telling.words import read_as

AT_MOST = 250
"""Operations of an evidence beyond which it is only pruned."""
SECONDS = 20.0
"""A safety net: the bounds on the work come first, so that equal histories are told equally."""
CASES = 20
"""Cases of a search beyond which they are only pruned: nobody reads them all."""


def shortened(verdict: Verdict, history: History, model: Model, seconds: float = SECONDS) -> Verdict:
    """The verdict with evidence that is as short as could be found in the time, its edges named as the model does."""
    evidence = verdict.evidence
    if isinstance(evidence, Cycle | Refutation) and seconds > 0:
        shortening = _Shortening(history, model, seconds)
        found = shortening.cycle(evidence) if isinstance(evidence, Cycle) else shortening.refutation(evidence)
        return replace(verdict, evidence=named(found, model.takes(history), model))
    return verdict


class _Shortening:
    """What is tried for the evidence of one violation."""

    def __init__(self, history: History, model: Model, seconds: float) -> None:
        self._trace = history
        self._history = model.takes(history)
        self._model = model
        self._seconds = seconds
        self._until = time.monotonic() + seconds
        try:
            self._fit: Fit | None = fit(model)
        except General:  # there is no engine for its relations: what there is is pruned
            self._fit = None

    def cycle(self, cycle: Cycle) -> Cycle:
        """The shortest of: the cycle without needless steps, the cheapest one around it."""
        best = pruned(read_as(self._history, cycle), cycle)
        found = self._cheapest(best, cost(best)) if cost(best) > 2 else None
        if found is not None and cost(found) < cost(best) and (is_case(found) or self._certified(found)):
            return found
        return best if is_case(best) or self._certified(best) else cycle

    def _cheapest(self, known: Cycle, less_than: float = math.inf) -> Cycle | None:
        """The cheapest cycle around one, under its assumptions."""
        operations = involved(known)
        plain = not self._history.ambiguous and self._history.whole is None
        if not plain or self._fit is None or len(operations) > AT_MOST or time.monotonic() > self._until:
            return None
        around = near(self._history, self._fit, known, operations, self._seconds)
        return cheapest(self._history, self._model, around, known, less_than, self._until)

    def refutation(self, evidence: Refutation) -> Cycle | Refutation:
        self._until = self._until if len(evidence.cases) <= CASES else 0.0
        cases = tuple(dict.fromkeys(self._case(case) if isinstance(case, Cycle) else case for case in evidence.cases))
        # assuming nothing, one case is enough
        alone = [case for case in cases if isinstance(case, Cycle) and not is_case(case)]
        if alone:
            return min(alone, key=cost)
        candidates = (Refutation(cases, ((),)), Refutation(cases, evidence.lemmas))
        return self._fewer(next(filter(self._certified, candidates), evidence))

    def _case(self, case: Cycle) -> Cycle:
        """A cycle under fewer assumptions, where it can do without some: the fewer a case assumes, the fewer there are
        to tell."""
        best = self.cycle(case)
        for pair in best.assumed:
            found = self._cheapest(replace(best, assumed=tuple(other for other in best.assumed if other != pair)))
            best = found if found and pair in best.assumed and (is_case(found) or self._certified(found)) else best
        return best

    def _fewer(self, evidence: Refutation) -> Refutation:
        """Without the cases of a search that the others make needless: the longest go first."""
        if len(evidence.cases) > CASES:
            return evidence
        for case in sorted(evidence.cases, key=length, reverse=True):
            fewer = Refutation(tuple(other for other in evidence.cases if other is not case), evidence.lemmas)
            if time.monotonic() < self._until and self._certified(fewer):
                evidence = fewer
        return evidence

    def _certified(self, evidence: Cycle | Refutation) -> bool:
        try:
            certificate.check(self._trace, self._model, evidence)
        except certificate.CertificateError:
            return False
        return True


def length(case: Cycle | Broken) -> float:
    """How much there is to read."""
    return cost(case) if isinstance(case, Cycle) else float(len(case.assumed))


def is_case(cycle: Cycle) -> bool:
    """Does it assume anything?"""
    return bool(cycle.assumed or cycle.origins)


def involved(cycle: Cycle) -> list[int]:
    """The operations that the evidence speaks of, both ends of steps included."""
    paths = [cycle.edges, *(step.path for step in cycle.steps)]
    ends = {end for path in paths for edge in path for end in (edge.start, edge.end)}
    return sorted(ends | {w for step in cycle.steps for w in (step.before, step.after)})


def pruned(history: History, cycle: Cycle) -> Cycle:
    """Without the steps that neither the cycle nor a step that it needs rests on."""
    steps: list[Step] = []
    pair = Parts(history).pair
    needed = set(map(pair, premises(cycle.edges, history)))
    for step in reversed(cycle.steps):
        if pair((step.before, step.after)) in needed:
            needed.discard(pair((step.before, step.after)))  # the last step for a pair is enough
            needed.update(map(pair, premises(step.path, history)))
            steps.append(step)
    return Cycle(cycle.edges, cycle.scope, tuple(reversed(steps)), tuple(p for p in cycle.assumed if pair(p) in needed),
                 cycle.origins)
