"""Shorter evidence for the same violation: few inferred steps, few edges.

The engine stops at the first contradiction it meets, which need not be the simplest one. `near.py` says where to look
for another, `cheapest.py` finds the cheapest proof there. Whatever comes out is checked by the certificate, on the
whole history, before it is used.
"""

from __future__ import annotations

import time
from dataclasses import replace

from gradual.deciding.engine.proof import premises
from gradual.evidence import certificate
from gradual.evidence.verdict import Broken, Cycle, Refutation, Step, Verdict
from gradual.history import History
from gradual.models import Model
from gradual.models.fit import Fit, General, fit
from gradual.telling.cheapest import cheapest, cost
from gradual.telling.near import near
from gradual.telling.rules import named

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
        return replace(verdict, evidence=named(found, history, model))
    return verdict


class Budget:
    """Time for the violations of a run, so that many are told almost as fast as they are found: nobody reads them
    all. What comes when it is spent is told as it was found."""

    def __init__(self, each: float = 1.0, together: float = 2.0) -> None:
        self._each = each
        self._left = together

    def shortened(self, verdict: Verdict, history: History, model: Model, at_most: float = SECONDS) -> Verdict:
        started = time.process_time()  # which a busy machine does not use up
        found = shortened(verdict, history, model, min(self._each, self._left, at_most))
        self._left -= time.process_time() - started
        return found


class _Shortening:
    """What is tried for the evidence of one violation."""

    def __init__(self, history: History, model: Model, seconds: float) -> None:
        self._history = history
        self._model = model
        self._seconds = seconds
        self._until = time.monotonic() + seconds
        try:
            self._fit: Fit | None = fit(model)
        except General:  # there is no engine for its relations: what there is is pruned
            self._fit = None

    def cycle(self, cycle: Cycle) -> Cycle:
        """The shortest of: the cycle without needless steps, the cheapest one around it."""
        best = pruned(self._history, cycle)
        found = self._cheapest(best) if cost(best) > 2 else None
        if found is not None and cost(found) < cost(best) and (found.assumed or self._certified(found)):
            return found
        return best if best.assumed or self._certified(best) else cycle

    def _cheapest(self, known: Cycle) -> Cycle | None:
        """The cheapest cycle around one, under its assumptions."""
        operations = involved(known)
        if self._fit is None or len(operations) > AT_MOST or time.monotonic() > self._until:
            return None
        around = near(self._history, self._fit, known, operations, self._seconds)
        return cheapest(self._history, self._model, around, known, self._until)

    def refutation(self, evidence: Refutation) -> Cycle | Refutation:
        self._until = self._until if len(evidence.cases) <= CASES else 0.0
        cases = tuple(dict.fromkeys(self._case(case) if isinstance(case, Cycle) else case for case in evidence.cases))
        # assuming nothing, one case is enough
        alone = [case for case in cases if isinstance(case, Cycle) and not case.assumed]
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
            best = found if found and pair in best.assumed and (found.assumed or self._certified(found)) else best
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
            certificate.check(self._history, self._model, evidence)
        except certificate.CertificateError:
            return False
        return True


def length(case: Cycle | Broken) -> float:
    """How much there is to read."""
    return cost(case) if isinstance(case, Cycle) else float(len(case.assumed))


def involved(cycle: Cycle) -> list[int]:
    """The operations that the evidence speaks of, both ends of steps included."""
    paths = [cycle.edges, *(step.path for step in cycle.steps)]
    ends = {end for path in paths for edge in path for end in (edge.start, edge.end)}
    return sorted(ends | {w for step in cycle.steps for w in (step.before, step.after)})


def pruned(history: History, cycle: Cycle) -> Cycle:
    """Without the steps that neither the cycle nor a step that it needs rests on."""
    steps: list[Step] = []
    needed = set(premises(cycle.edges, history))
    for step in reversed(cycle.steps):
        if (step.before, step.after) in needed:
            needed.discard((step.before, step.after))  # the last step for a pair is enough
            needed.update(premises(step.path, history))
            steps.append(step)
    return Cycle(cycle.edges, cycle.scope, tuple(reversed(steps)), tuple(p for p in cycle.assumed if p in needed))
