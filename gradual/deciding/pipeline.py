"""The gradual check: look, climb the ladder, order what is left open, certify."""

from __future__ import annotations

import time
from dataclasses import replace

from gradual.deadline import Deadline, alarm
from gradual.deciding import engine, general
from gradual.deciding.completion import AUTO, COMPLETIONS, DIRECT
from gradual.deciding.completion import completion as completion_named
from gradual.deciding.engine.proof import evidence
from gradual.deciding.ladder import Answer, climb
from gradual.deciding.observations import impossible_observation, write_pairs
from gradual.deciding.saturation import Saturation
from gradual.evidence import certificate
from gradual.evidence.verdict import Cycle, Evidence, Outcome, Verdict, Witness
from gradual.history import RMW, History
from gradual.models import Model, load, of_traces
from gradual.models.fit import Fit, General, fit
from gradual.models.matrix import TooLarge

ENGINES = ("auto", "schedule", "datalog")
"""datalog climbs the ladder first, and is quadratic; schedule leaves it out. auto decides as schedule does, and climbs
the ladder of a small violation afterwards, to name the criterion that fails."""
NO_MEMORY = ("not decided within the memory there is; allow more (--memory), or keep fewer locations with --addresses, "
             "which asks less")
SPLIT = "{} takes an rmw for two events, a load and a store; write it as LR and SC, with `pair`"
SMALL = 500
"""Operations up to which a history counts as small."""
ORDERED_UP_TO = 20_000
"""Operations up to which it is told how much of the store order is forced, unless asked otherwise."""
SCHEDULE, CYCLE, SEARCH, GENERAL = "schedule", "cycle", "search", "general"
"""What decides: a schedule was found; a cycle of facts; clauses over several pairs; the general way."""


def check(history: History, model: str | Model, *, engine: str = "auto", completion: str = AUTO,
          timeout: float | None = None, spent: float = 0.0, unordered: bool | None = None) -> Verdict:
    """Is `history` consistent with `model`? The evidence is certified before it is returned.

    spent      seconds of the time limit that are gone: reading belongs to it
    unordered  count the pairs of writes that are not forced: up to ORDERED_UP_TO operations when it is not said
    """
    chosen = of_traces(load(model))
    if engine not in ENGINES:
        raise ValueError(f"no engine called {engine!r}; there are {', '.join(ENGINES)}")
    if completion not in (AUTO, *COMPLETIONS, DIRECT):
        completion_named(completion)
    started = time.perf_counter()
    counted = len(history) <= ORDERED_UP_TO if unordered is None else unordered
    decision = _Decision(history, chosen, Deadline(timeout, spent), counted)
    try:
        with alarm(decision.deadline.seconds_left):
            verdict = decision.make(engine, completion)
        decision.certify(verdict.evidence)
    except TimeoutError as late:
        why = f": {late}" if str(late) else "; allow more time"
        verdict = decision.settled or decision.unknown(f"not decided within {timeout:g} s{why}")
    except MemoryError:
        verdict = decision.unknown(NO_MEMORY)
    except TooLarge as error:
        verdict = decision.unknown(str(error))
    return replace(verdict, seconds=time.perf_counter() - started)


class _Decision:
    """One history, one model; remembers the last partial store order."""

    def __init__(self, history: History, model: Model, deadline: Deadline, counted: bool) -> None:
        self.history = history
        self.model = model
        self.deadline = deadline
        self.counted = counted
        self.write_pairs = write_pairs(history)
        self.ordered_by: str | None = None
        self.ordered: int | None = None
        self.conflicts = 0
        self._certified: Evidence | None = None
        self._settling: str | None = None

    def make(self, engine: str, complete: str) -> Verdict:
        if self.model.splits_rmws and (self.history.kind == RMW).any():
            return self.unknown(SPLIT.format(self.model))
        try:
            fits = fit(self.model)
        except General:
            return self._in_general()
        paired = fits.atomicity is not None and self.history.pair is not None
        if fits.others or ((complete != AUTO or engine == "datalog") and (paired or fits.reads_apart)):
            return self._in_general()
        impossible = impossible_observation(self.history, fits.coherence)
        if impossible is not None:
            return self._verdict(*impossible)
        if complete == DIRECT:
            from gradual.deciding.completion import direct

            return self._verdict(DIRECT, direct.complete(self.history, fits, self.deadline))
        if engine == "datalog" or complete != AUTO:
            for answer in climb(self.history, self.model, self.deadline):
                self._note(answer)
                if answer.failed:
                    return self._verdict(answer.failed[0], self._scheduled(fits)[1])
        self.deadline.check()
        if complete != AUTO:
            return self._completed(fits, complete)
        decided_by, found = self._scheduled(fits)
        if self.deadline.seconds_left is not None:  # what follows may take the rest of the time
            self._settling = decided_by
            self.certify(found)
        self._count(fits)
        if not isinstance(found, Witness) and engine == "auto":
            decided_by = self._criterion() or decided_by
        return self._verdict(decided_by, found)

    def certify(self, evidence: Evidence | None) -> None:
        """Each evidence once. There is a little more time for that: it would be a pity for the answer."""
        if evidence is not None and evidence is not self._certified:
            grace = self.deadline.grace()
            with alarm(grace.seconds_left, alone=True):
                certificate.check(self.history, self.model, evidence, grace)
                self._certified = evidence

    @property
    def settled(self) -> Verdict | None:
        """What stands, although the time is over."""
        return None if self._certified is None else self._verdict(self._settling, self._certified)

    def _scheduled(self, fits: Fit) -> tuple[str, Evidence]:
        outcome = engine.decide(self.history, fits, self.deadline)
        self.conflicts = outcome.conflicts
        if outcome.status == engine.CONSISTENT:
            return SCHEDULE, Witness(outcome.order)
        found = evidence(self.history, fits, outcome)
        return CYCLE if isinstance(found, Cycle) else SEARCH, found

    def _completed(self, fits: Fit, complete: str) -> Verdict:
        from gradual.deciding.completion.closure import Closure, Contradiction

        try:
            closure = Closure(self.history, fits)
            closure.infer()
        except Contradiction as contradiction:
            return self._verdict(CYCLE, contradiction.cycle)
        return self._verdict(complete, completion_named(complete)(closure, self.deadline))

    def _in_general(self) -> Verdict:
        impossible = impossible_observation(self.history, None)
        if impossible is not None:
            return self._verdict(*impossible)
        return self._verdict(GENERAL, general.decide(self.history, self.model, self.deadline))

    def _count(self, fits: Fit) -> None:
        """How much of the store order is forced, unless the ladder said so already."""
        if self.counted and self.ordered_by is None:
            try:
                saturation = Saturation([self.history], fits, self.deadline)
            except (MemoryError, TimeoutError):
                return  # the verdict stands without it
            self.ordered_by = "saturation"
            if not saturation.contradicted():  # where it stopped says nothing
                self.ordered = min(saturation.ordered_pairs(), self.write_pairs)

    def _criterion(self) -> str | None:
        """The first criterion that a violation fails, where that is soon found."""
        if len(self.history) > SMALL:
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
        open_pairs = None if self.ordered is None else self.write_pairs - self.ordered
        return Verdict(self.model.name, outcome, decided_by, evidence, message, self.write_pairs, open_pairs,
                       self.ordered_by, conflicts=self.conflicts)
