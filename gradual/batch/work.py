"""What a worker does: read some files, judge their histories, and hand the rows back as it goes."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gradual import files
from gradual.adapters import stem
from gradual.batch import Key
from gradual.batch.find import Trace
from gradual.batch.pages import Pages, page_name
from gradual.deciding import pipeline
from gradual.evidence.verdict import Witness
from gradual.history import BLOCK, EVERY, History, InputError, NoMemory, NotInTime, Options, Oversights, Share
from gradual.judge import FAULT, Judge, Judgement
from gradual.models import Model, load
from gradual.progress import Progress
from gradual.telling import brief, record

OFTEN = 0.5
"""Seconds after which rows are handed back."""
PATIENCE = 5.0
"""Seconds for which histories are gathered to be judged together: nobody waits for the single one."""


@dataclass(frozen=True)
class Settings:
    """How to judge."""

    engine: str = "auto"
    completion: str = "auto"
    timeout: float | None = None
    memory: int | None = None
    """Bytes that a history may take."""
    pages: str | None = None
    """The folder for a page per violation."""
    format: str | None = None
    options: Options = field(default_factory=Options)
    models: tuple[Model, ...] = ()
    """What the names in the tasks stand for, where they are not the names of shipped ones."""

    def named(self, names: tuple[str, ...]) -> list[Model]:
        known = {model.name: model for model in self.models}
        return [known.get(name) or load(name) for name in names]


@dataclass(frozen=True)
class Portion:
    """A file, or every so many blocks of its histories, and what is known of it already."""

    trace: Trace
    done: frozenset[Key] = frozenset()
    share: Share = EVERY
    first: bool = False
    """The first share, before anybody knows whether there is anything for the others."""
    ended: bool = False
    """There is nothing more to do: a worker died of reading on, or came past it."""

    def wants(self, number: int, models: tuple[str, ...]) -> bool:
        return self.share.has(number) and any((number, model) not in self.done for model in models)


@dataclass(frozen=True)
class Task:
    """Portions that one worker takes together: many small histories are judged in one go."""

    portions: tuple[Portion, ...]
    models: tuple[str, ...]
    careful: bool = False
    """Say what comes next before doing it: a worker died of one of these."""


@dataclass(frozen=True)
class Place:
    """Where a careful worker is: reading towards history `number` of the file, or judging it."""

    source: str
    number: int
    history: str | None = None
    """Its name, once it was read."""


@dataclass(frozen=True)
class More:
    """A file that was begun as if it were shared has more than its first block: let others take their share."""

    source: str

    def tasks(self, task: Task) -> list[Task]:
        """The other shares."""
        portion = next(portion for portion in task.portions if portion.trace.source == self.source)
        return [replace(task, portions=(replace(portion, share=Share(place, portion.share.of), first=False),))
                for place in range(1, portion.share.of)]


@dataclass(frozen=True)
class Noticed:
    """What its user may have overlooked in a file that was read to its end."""

    source: str
    hex: tuple[str, ...]
    """Some of its addresses, if they look like hex."""
    used: frozenset[int | str]
    """The addresses of --initial that it has, or one before it."""


Row = dict[str, Any]
Message = list[Row] | Place | More | Noticed


class Work:
    """A task under way."""

    def __init__(self, task: Task, settings: Settings, say: Callable[[Message], None]) -> None:
        self._task = task
        self._settings = settings
        self._say = say
        self._judged: deque[tuple[Portion, int]] = deque()
        """The histories that the judge holds."""
        self._oversights = Oversights(settings.options)
        self._pages = None if settings.pages is None else Pages(settings.pages)

    def perform(self) -> None:
        """Rows go to `say` as they come, all of them before this returns."""
        task, settings = self._task, self._settings
        judge = Judge(settings.named(task.models), settings.engine, settings.completion, settings.timeout)
        rows: list[Row] = []
        since = time.monotonic()
        left = len(task.models)
        for found in judge.judgements(self._items(), Progress(), patience=0 if task.careful else PATIENCE):
            if self._starved(found) and not task.careful:
                self._hand_back(rows)
                raise MemoryError  # what was held before may have been too much: a new worker has all of it
            portion, number = self._judged[0]
            if (number, found.verdict.model) not in portion.done:
                rows.append(_row(self._paged(found, portion.trace, number), portion.trace, number, settings))
            left -= 1
            if left == 0:
                self._judged.popleft()
                left = len(task.models)
            if task.careful or time.monotonic() - since > OFTEN:
                self._hand_back(rows)
                rows, since = [], time.monotonic()
        self._hand_back(rows)

    def _paged(self, found: Judgement, trace: Trace, number: int) -> Judgement:
        """A violation that gets a page has the evidence that the page tells."""
        if found.verdict.verdict == "violation" and self._pages is not None and self._pages.room_for_more():
            found = found.shortened()
            if isinstance(found.item, History):
                name = page_name(trace.source, number, found.verdict.model)
                self._pages.write(name, found.verdict, found.item, found.model)
        return found

    def _starved(self, found: Judgement) -> bool:
        """Did it fail, where memory is limited?"""
        verdict = found.verdict
        return (self._settings.memory is not None and isinstance(found.item, History)
                and (verdict.verdict == "error" or verdict.message == pipeline.NO_MEMORY))

    def _hand_back(self, rows: list[Row]) -> None:
        if rows:
            self._say(rows)

    def _items(self) -> Iterator[History | InputError]:
        for portion in self._task.portions:
            if portion.ended:
                continue
            trace = portion.trace
            self._announce(Place(trace.source, 0))
            hex: tuple[str, ...] = ()
            for number, item in enumerate(self._read(portion)):
                if isinstance(item, NoMemory) and (item.rest or not self._task.careful):
                    raise MemoryError  # a new worker may have enough, or tell how far it came
                if isinstance(item, History):
                    hex = self._oversights.hex_in(item) or hex
                if portion.first and number == BLOCK:
                    self._say(More(trace.source))
                if portion.wants(number, self._task.models):
                    self._judged.append((portion, number))
                    self._announce(Place(trace.source, number, getattr(item, "name", stem(trace.source))))
                    yield item
                self._announce(Place(trace.source, number + 1))
            used = self._settings.options.initial_at.keys() - self._oversights.unused
            if hex or used:
                self._say(Noticed(trace.source, hex, frozenset(used)))

    def _read(self, portion: Portion) -> Iterator[History | InputError]:
        trace, settings = portion.trace, self._settings
        if trace.error:
            return iter([InputError(trace.error, trace.path)])
        if trace.parts:
            return files.read_joined(trace.parts, settings.format, settings.options, called=trace.path)
        return files.read(trace.path, settings.format, replace(settings.options, share=portion.share))

    def _announce(self, place: Place) -> None:
        if self._task.careful:
            self._say(place)


def _row(found: Judgement, trace: Trace, number: int, settings: Settings) -> Row:
    verdict, item = found.verdict, found.item
    if isinstance(item, History) and verdict.verdict != "error" and verdict.message != pipeline.NO_MEMORY:
        taken = found.model.takes(item)
        row = record.figures(verdict, taken)
        evidence = verdict.evidence
        if isinstance(evidence, Witness):
            row["witness"] = np.asarray(taken.numbers(evidence.order), dtype=np.int32)
        else:
            row |= {name: json.dumps(value) for name, value in record.violation(verdict, taken).items()}
            row["explanation"] = brief(verdict, item, found.model) or None
    else:
        late = "unknown" if isinstance(item, NotInTime) else "error"
        row = record.error_record(found.name, "", verdict.model, _reason(found, settings), late)
    return row | about(trace, number)


def _reason(found: Judgement, settings: Settings) -> str:
    """Why there is no verdict. Where memory is short, libraries fail in all sorts of ways."""
    message = found.verdict.message
    if settings.memory is None or isinstance(found.item, InputError):
        return message
    if message == pipeline.NO_MEMORY:
        return "needed more memory than --memory allows"
    return f"probably needed more memory than --memory allows ({message.removeprefix(FAULT)})"


def about(trace: Trace, number: int) -> Row:
    """What a row says of the file."""
    from gradual import __version__

    return {"source": trace.source, "number": number, "file_size": trace.size, "modified": trace.modified,
            "version": __version__}


def error_row(trace: Trace, number: int, history: str, model: str, message: str) -> Row:
    """The row of a history that was the end of its worker."""
    return record.error_record(history, "", model, message) | about(trace, number)
