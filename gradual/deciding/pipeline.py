"""The gradual check: look, climb the ladder, order what is left open, certify."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from gradual import cores
from gradual.deadline import Deadline, OutOfTime, alarm
from gradual.deciding import engine
from gradual.deciding.completion import AUTO, COMPLETIONS, DIRECT
from gradual.deciding.completion import completion as completion_named
from gradual.deciding.engine.proof import evidence
from gradual.deciding.ladder import Answer, climb
from gradual.deciding.observations import impossible_observation, write_pairs
from gradual.deciding.saturation import Saturation
from gradual.evidence import certificate
from gradual.evidence.ahead import Ahead
from gradual.evidence.verdict import Cycle, Evidence, Outcome, Verdict, Witness
from gradual.history import INITIAL, History, candidates, supposed
from gradual.models import Model, load, of_traces
from gradual.models.fit import Fit, General, fit
from gradual.models.matrix import TooLarge

ENGINES = ("auto", "schedule", "datalog")
"""datalog climbs the ladder first, and is quadratic; schedule leaves it out. auto decides as schedule does, and climbs
the ladder of a small violation afterwards, to name the criterion that fails."""
NO_MEMORY = ("not decided within the memory there is; allow more (--memory), or keep fewer locations with --addresses, "
             "which asks less")
NO_CLOCK = "{} does not fit the engine, and only that looks at real time; leave --real-time out"
REPEATED = ("the criteria and completions take it for known which write each read returned, and here several writes of "
            "one value leave that open; leave --engine and --completion out")
MIXED = ("the criteria and completions are defined where each location is accessed with one size, and here accesses of "
         "different sizes share bytes; leave --engine and --completion out")
MIXED_IN_GENERAL = ("{} does not fit the engine, and only that takes accesses of different sizes to common bytes; "
                    "select addresses that are always accessed with one size")
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
    deadline = Deadline(timeout, spent)

    def decided(history: History) -> Verdict:
        if history.anything is not None and history.anything.any():  # a value that nobody reads is the likeliest
            verdict = _Decision(supposed(history), chosen, deadline, counted).certified(engine, completion)
            if verdict.verdict != "violation":
                return verdict
        return _Decision(history, chosen, deadline, counted).certified(engine, completion)

    verdict = _by_least(history, decided) if history.given else decided(history)
    return replace(verdict, seconds=time.perf_counter() - started)


def _by_least(history: History, decided: Callable[[History], Verdict]) -> Verdict:
    """The verdict on a history that knows more than its values. A violation rests on the least of that: on nothing,
    where the model alone is violated."""
    verdict, without = decided(history), None
    if verdict.verdict != "violation":
        return replace(verdict, given=history.given if verdict.verdict == "consistent" else ())
    for given in ((), *((name,) for name in history.given if len(history.given) > 1)):
        less = decided(history.knowing(given))
        if less.verdict == "violation":
            return replace(less, decided_by="+".join(given) or less.decided_by, given=given, without=without)
        without = without or less.verdict
    return replace(verdict, decided_by="+".join(history.given), given=history.given, without=without)


class _Decision:
    """One history, one model; remembers the last partial store order."""

    def __init__(self, history: History, model: Model, deadline: Deadline, counted: bool) -> None:
        self.trace = history
        self.history = model.takes(history)
        self.model = model
        self.deadline = deadline
        self.counted = counted
        self.write_pairs = write_pairs(self.history)
        self.ordered_by: str | None = None
        self.ordered: int | None = None
        self.conflicts = 0
        self._certified: Evidence | None = None
        self._settling: str | None = None
        self._ahead: Ahead | None = None

    def certified(self, engine: str, complete: str) -> Verdict:
        """The verdict with evidence that was checked; unknown where time or memory do not suffice."""
        try:
            with alarm(self.deadline.seconds_left):
                verdict = self.make(engine, complete)
            self.certify(verdict.evidence)
        except OutOfTime as late:
            why = f": {late}" if str(late) else f"{self.left_open()}; allow more time"
            return self.settled or self.unknown(f"not decided within {self.deadline.seconds:g} s{why}")
        except MemoryError:
            return self.unknown(NO_MEMORY)
        except TooLarge as error:
            return self.unknown(str(error))
        return verdict

    def make(self, engine: str, complete: str) -> Verdict:
        try:
            fits = fit(self.model)
        except General:
            return self._in_general()
        paired = fits.atomicity is not None and self.history.pair is not None
        if self.trace.mixed and (complete != AUTO or engine == "datalog"):
            return self.unknown(MIXED)
        if fits.others or ((complete != AUTO or engine == "datalog") and (paired or fits.reads_apart)):
            return self._in_general()
        impossible = impossible_observation(self.history, fits.coherence)
        if impossible is not None:
            return self._verdict(*impossible)
        if self.history.ambiguous and (complete != AUTO or engine == "datalog"):
            return self.unknown(REPEATED)
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
        if self.history.ambiguous or self.trace.mixed:  # criteria and saturation take reads-from for known
            return self._verdict(decided_by, found)
        self._count(fits, decided_by)
        if not isinstance(found, Witness) and engine == "auto" and not self.history.given:
            decided_by = self._criterion() or decided_by
        return self._verdict(decided_by, found)

    def certify(self, evidence: Evidence | None) -> None:
        """Each evidence once. There is a little more time for that: it would be a pity for the answer."""
        if evidence is not None and evidence is not self._certified:
            grace = self.deadline.grace()
            with alarm(grace.seconds_left, alone=True):
                certificate.check(self.trace, self.model, evidence, grace, self._ahead)
                self._certified = evidence

    @property
    def settled(self) -> Verdict | None:
        """What stands, although the time is over."""
        return None if self._certified is None else self._verdict(self._settling, self._certified)

    def _scheduled(self, fits: Fit) -> tuple[str, Evidence]:
        if self.history.ambiguous:
            from gradual.deciding import sources

            searched = sources.decide(self.history, fits, self.deadline)
            self.conflicts = searched.conflicts
            return _what_decided(searched.evidence), self._holding(searched.evidence)
        if cores.own() > 1:
            self._ahead = certificate.look_ahead(self.trace, self.model)
        outcome = engine.decide(self.history, fits, self.deadline)
        self.conflicts = outcome.conflicts
        if outcome.status == engine.CONSISTENT:
            return SCHEDULE, self._holding(Witness(outcome.order))
        found = evidence(self.history, fits, outcome)
        return _what_decided(found), found

    def _completed(self, fits: Fit, complete: str) -> Verdict:
        from gradual.deciding.completion.closure import Closure, Contradiction

        try:
            closure = Closure(self.history, fits)
            closure.infer()
        except Contradiction as contradiction:
            return self._verdict(CYCLE, contradiction.cycle)
        return self._verdict(complete, completion_named(complete)(closure, self.deadline))

    def _in_general(self) -> Verdict:
        if self.trace.mixed:
            return self.unknown(MIXED_IN_GENERAL.format(self.model))
        if self.history.real_time:
            return self.unknown(NO_CLOCK.format(self.model))
        impossible = impossible_observation(self.history, None)
        if impossible is not None:
            return self._verdict(*impossible)
        from gradual.deciding import general

        return self._verdict(GENERAL, self._holding(general.decide(self.history, self.model, self.deadline)))

    def _holding(self, found: Evidence) -> Evidence:
        """A run with what memory held, where nobody knows that and somebody read it."""
        unknown = self.history.unknown
        if unknown is None or not isinstance(found, Witness):
            return found
        held = dict(enumerate(self.history.initial.tolist())) if self.trace.mixed else {}  # the trace has no cells
        held |= {int(self.history.location[reader]): int(self.history.read[reader])
                 for reader, write, _ in found.origins if write == INITIAL and reader < len(self.history)}
        return replace(found, held=tuple((at, value) for at, value in sorted(held.items()) if unknown[at]))

    def _count(self, fits: Fit, decided_by: str) -> None:
        """How much of the store order is forced, unless the ladder said so already."""
        if self.counted and self.ordered_by is None:
            if decided_by == CYCLE and self.history.pair is None:  # facts are enough: so saturation would stop, too
                self.ordered_by = "saturation"
                return
            try:
                saturation = Saturation(engine.Run([self.history], fits), self.deadline)
            except (MemoryError, OutOfTime):
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
        except OutOfTime:
            pass
        return None

    def left_open(self) -> str:
        """What the values do not say."""
        if not self.history.ambiguous:
            return ""
        counts = list(map(len, candidates(self.history).values()))
        return f", where {len(counts)} values may come from several writes ({sum(counts) / len(counts):.1f} on average)"

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


def _what_decided(evidence: Evidence) -> str:
    return SCHEDULE if isinstance(evidence, Witness) else CYCLE if isinstance(evidence, Cycle) else SEARCH
