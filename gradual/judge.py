"""Checks what the adapters deliver, in its order, and keeps the exit status."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from gradual import compiler, cores
from gradual.adapters import stem
from gradual.compiler.waiting import in_time
from gradual.deadline import Deadline, OutOfTime
from gradual.deciding import pipeline
from gradual.evidence.verdict import Verdict, Witness
from gradual.history import History, InputError, NoMemory, NotInTime, visible
from gradual.models import Model, load
from gradual.progress import Progress
from gradual.telling import brief, words
from gradual.telling import record as records

if TYPE_CHECKING:
    from gradual.telling.budget import Budget

Item = History | InputError

MANY = 16
"""Small histories from which it pays to decide them together, in compiled code."""
AT_MOST = 1000
LARGE = 200_000
"""Operations from which it pays to decide the models of a history at once."""
LONG = 0.3
"""Seconds that one took, for the others to be decided at once."""
TAKEN = 600
"""Bytes that a decision takes for an operation, at most, with what its evidence is checked by."""
FAULT = "a fault in gradual, please report it with this trace: "
"""How the message of an error begins that is ours."""
FAULTY = "fault"
"""As a verdict, for the exit status alone: an error that is ours."""
PATIENCE = 0.5
"""Seconds for which answers may be held back to decide more histories together."""


class Judgement(NamedTuple):
    """The answer for one history and one model."""

    item: Item
    verdict: Verdict
    model: Model
    orders: dict[str, float] | None = None
    """What each partial store order leaves open, in percent, when that was asked for."""
    first: bool = True
    """Is this the first model for the history? Its notes are told once."""

    def shortened(self, budget: Budget | None = None, at_most: float = math.inf) -> Judgement:
        """With the simplest evidence that can be found in the time."""
        if not isinstance(self.item, History) or self.verdict.verdict != "violation":
            return self
        from gradual.telling.shorten import SECONDS, shortened

        shorten = shortened if budget is None else budget.shortened
        try:
            verdict = shorten(self.verdict, self.item, self.model, min(at_most, SECONDS))
        except MemoryError:  # what was found is good enough
            return self
        if verdict is self.verdict:  # there was no time, or nothing to shorten
            return self
        told = words.told(replace(verdict, message=""), self.model.takes(self.item))
        return self._replace(verdict=told)

    @property
    def line(self) -> str:
        """The verdict alone."""
        if isinstance(self.item, InputError):
            return f"{self.title}: {self.verdict.verdict}: {visible(self.item.message)}"
        if self.verdict.verdict == "error":
            return f"{self.title}: {self.verdict.model} error: {visible(self.verdict.message)}"
        return f"{self.title}: {words.summary(self.verdict, self.item)}"

    @property
    def text(self) -> str:
        """The same, with the evidence of a violation and what there is to note of the history."""
        if isinstance(self.item, InputError) or self.verdict.verdict == "error":
            return self.line
        lines = brief(self.verdict, self.item, self.model).splitlines()
        if self.orders is not None:
            left = ", ".join(f"{percent:.2f} % by {name}" for name, percent in self.orders.items())
            none = ("that takes one size per location" if self.item.mixed else
                    "that takes values with one origin each" if self.item.ambiguous else "there are none to order")
            lines.append(f"write pairs left unordered: {left or none}")
        if isinstance(self.item, History) and self.first:
            lines += [f"note: {note}" for note in self.item.notes]
        return "\n".join([self.line, *(f"    {line}" for line in lines)])

    @property
    def json(self) -> records.Record:
        if not isinstance(self.item, History) or self.verdict.verdict == "error":
            return records.error_record(self.name, self.item.file, self.verdict.model, self.verdict.message,
                                        self.verdict.verdict)
        orders = {} if self.orders is None else {"orders": self.orders}
        return records.record(self.verdict, self.model.takes(self.item)) | orders

    @property
    def witness(self) -> records.Record | None:
        if isinstance(self.verdict.evidence, Witness) and isinstance(self.item, History):
            return records.witness_record(self.verdict, self.verdict.evidence, self.model.takes(self.item))
        return None

    @property
    def name(self) -> str:
        return self.item.name if isinstance(self.item, History) else self.item.history or stem(self.item.file)

    @property
    def title(self) -> str:
        """The file, the line of an error, and the history where the file's name does not say."""
        file, name = visible(self.item.file), visible(self.name)
        if not file:
            return name
        if isinstance(self.item, InputError) and self.item.line:
            file = f"{file}:{self.item.line}"
        return file if name in ("", stem(self.item.file)) else f"{file} [{name}]"


class Judge:
    """Judges histories against models. Nothing that happens to one history stops the next."""

    def __init__(self, models: Sequence[str | Model], engine: str = "auto", completion: str = "auto",
                 timeout: float | None = None, compare_orders: bool = False, unordered: bool | None = None,
                 errors_once: bool = False, at_once: bool = False) -> None:
        self.models = [load(model) for model in models]
        self.compare_orders = compare_orders
        self.engine = engine
        self.completion = completion
        self.timeout = timeout
        self.unordered = unordered
        """Count the write pairs that are left unordered? None: of histories that are not too large."""
        self.errors_once = errors_once
        """What cannot be read is told once; otherwise for each model, as a table has it."""
        self.at_once = at_once
        """May the models of a large history be decided at once, in forks of this process?"""
        self._seen: Counter[str] = Counter()
        self._faulty = False

    @property
    def status(self) -> int:
        return exit_status([*self._seen, FAULTY] if self._faulty else self._seen)

    def count_error(self) -> None:
        """Of no history: of what the user asked for."""
        self._seen["error"] += 1

    def summary(self) -> str:
        """How many verdicts of each kind there were."""
        return "gradual: " + words.tallied(self._seen)

    def judgements(self, items: Iterable[Item], progress: Progress, *,
                   patience: float = PATIENCE) -> Iterator[Judgement]:
        """The answers, in the order of the items. Without patience each is given as soon as its item is there."""
        for chunk in _chunks(items, patience):
            early = self._early(chunk)
            for place, item in enumerate(chunk):
                once = self.errors_once and isinstance(item, InputError)
                models = self.models[:1] if once else self.models
                verdicts = self._verdicts(item, [model for model in models if (place, model.name) not in early])
                name = getattr(item, "name", "")
                for model in models:
                    progress.start(f"{name} under {model.name}")
                    known = early.get((place, model.name))
                    verdict = next(verdicts) if known is None else known
                    judged = item
                    if isinstance(item, History):
                        verdict = words.told(verdict, model.takes(item))
                        judged = item.knowing(verdict.given)
                    judgement = Judgement(judged, verdict, model, self._orders(judged, model), model is self.models[0])
                    self._seen[judgement.verdict.verdict] += 1
                    self._faulty |= is_fault(verdict.message)
                    yield judgement
                progress.done += 1
            progress.start("reading")

    def _early(self, chunk: list[Item]) -> dict[tuple[int, str], Verdict]:
        """The verdicts that are quickly found for many small histories together."""
        from gradual.deciding import many

        places = [p for p, item in enumerate(chunk) if isinstance(item, History) and len(item) <= pipeline.SMALL]
        if len(places) < MANY or self.engine == "datalog" or self.completion != "auto":
            return {}
        try:
            many.prepare(Deadline(self.timeout))
        except OutOfTime:  # the single one needs nothing compiled
            return {}
        found = {}
        histories = [item for p in places if isinstance(item := chunk[p], History)]
        for model in self.models:
            for place, verdict in zip(places, many.decide(histories, model, named=self.engine == "auto"), strict=True):
                if verdict is not None:
                    found[place, model.name] = verdict
        return found

    def _orders(self, item: Item, model: Model) -> dict[str, float] | None:
        if not self.compare_orders or isinstance(item, InputError):
            return None
        from gradual.deciding.compare import unordered_percent

        return unordered_percent(item, model, self.timeout)

    def _verdicts(self, item: Item, models: Sequence[Model]) -> Iterator[Verdict]:
        """Each as it is asked for; or, as soon as it is known to take long, all that are left at once."""
        long = len(item) >= LARGE if isinstance(item, History) else False
        for place, model in enumerate(models):
            if long and self._has_room(item, len(models) - place):
                yield from cores.at_once([partial(self._verdict, item, model) for model in models[place:]])
                return
            verdict = self._verdict(item, model)
            yield verdict
            long |= verdict.seconds >= LONG

    def _has_room(self, item: Item, models: int) -> bool:
        """Are there the cores and the memory for several at once?"""
        several = min(models, cores.own())
        if not self.at_once or several < 2 or not isinstance(item, History):
            return False
        from gradual.deciding import memory

        return several * TAKEN * len(item) <= memory.free() and self._ready(item)

    def _ready(self, history: History) -> bool:
        """Is what all models need loaded here, so that it is not for each? Not where compiling it takes too long."""
        from gradual.deciding import engine

        try:
            if compiler.pays(len(history)):
                in_time(engine.load, Deadline(self.timeout, history.reading))
        except OutOfTime:
            return False
        return True

    def _verdict(self, item: Item, model: Model) -> Verdict:
        if isinstance(item, InputError):
            limited = isinstance(item, NoMemory | NotInTime)
            return Verdict(model.name, "unknown" if limited else "error", message=str(item))
        try:
            return pipeline.check(item, model, engine=self.engine, completion=self.completion, timeout=self.timeout,
                                  spent=item.reading, unordered=self.unordered)
        except MemoryError:
            return Verdict(model.name, "unknown", message=pipeline.NO_MEMORY)
        except Exception as error:  # a fault of ours must not cost the user the other histories
            return Verdict(model.name, "error", message=f"{FAULT}{type(error).__name__}: {error}")


def is_fault(message: str) -> bool:
    """Is it the message of an error that is ours?"""
    return FAULT in message


def exit_status(verdicts: Container[str]) -> int:
    """1 after a violation, which is proved whatever else happened; else 70 after a fault of ours, 2 after an error, 3
    after an unknown, 0."""
    ranked = (("violation", 1), (FAULTY, 70), ("error", 2), ("unknown", 3))
    return next((status for verdict, status in ranked if verdict in verdicts), 0)


def _chunks(items: Iterable[Item], patience: float) -> Iterator[list[Item]]:
    """Items in groups, none of which keeps the user waiting."""
    chunk: list[Item] = []
    since = time.monotonic()
    for item in items:
        chunk.append(item)
        large = isinstance(item, History) and len(item) > pipeline.SMALL
        if large or len(chunk) == AT_MOST or time.monotonic() - since >= patience:
            yield chunk
            chunk = []
            since = time.monotonic()
    if chunk:
        yield chunk
