"""Worker processes on this machine. One that dies costs the history it was at, nothing else."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import count
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import NamedTuple

from gradual import cores
from gradual.adapters import stem
from gradual.batch import BatchError, Key
from gradual.batch.work import More, Noticed, Place, Portion, Row, Settings, Task, Work, error_row
from gradual.interrupts import held_back
from gradual.judge import FAULT, is_fault
from gradual.parent import die_with


class Rows(NamedTuple):
    """Rows that are new."""

    rows: list[Row]


class Done(NamedTuple):
    """A task of which all rows were given."""

    task: Task


class Added(NamedTuple):
    """Tasks that nobody had known of: shares of a large file."""

    tasks: list[Task]


Event = Rows | Done | Added | Noticed | None
"""None: nothing happened for a moment."""
MOMENT = 0.25
AT_ONCE = 4
"""Workers that start before anybody knows how much there is to do."""
SOON = 0.3
"""Seconds within which a small batch gives its workers something to do."""


class Fault(NamedTuple):
    """What a worker is about to die of."""

    text: str


class Workers:
    """So many processes at most, each at one task at a time. A few get ready at once, others when there is work."""

    def __init__(self, count: int, settings: Settings) -> None:
        self._settings = settings
        self._count = count
        self._crew = [_Worker(settings) for _ in range(min(count, AT_ONCE))]

    def events(self, tasks: list[Task]) -> Iterator[Event]:
        """Perform the tasks, and what becomes of those that were the end of a worker."""
        tasks = tasks[::-1]
        while tasks or any(worker.task for worker in self._crew):
            while len(self._crew) < self._count and len(tasks) > sum(worker.task is None for worker in self._crew):
                self._crew.append(_Worker(self._settings))
            for worker in self._crew:
                if worker.task is None and tasks:
                    worker.give(tasks.pop())
            ready = wait([worker.connection for worker in self._crew if worker.task], MOMENT)
            if not ready:
                yield None
            for worker in self._crew:
                if worker.connection in ready:
                    yield from self._listen(worker, tasks)

    def _listen(self, worker: _Worker, tasks: list[Task]) -> Iterator[Event]:
        try:
            event = worker.hear()
        except (EOFError, OSError):
            task, rows = worker.bury()
            if rows:
                yield Rows(rows)
            tasks.append(task)
            self._crew[self._crew.index(worker)] = _Worker(self._settings)
            return
        if isinstance(event, Added):
            tasks.extend(event.tasks)
        if event is not None:
            yield event

    def close(self) -> None:
        for worker in self._crew:
            worker.process.kill()
        for worker in self._crew:
            worker.process.join()


class _Worker:
    """A process, and what it has told of its task."""

    def __init__(self, settings: Settings) -> None:
        spawn = multiprocessing.get_context("spawn")  # a fork would hold the pipes of the others open
        self.connection, theirs = spawn.Pipe()
        self.process = spawn.Process(target=_serve, args=(theirs, settings, os.getpid(), gc.get_threshold()),
                                     daemon=True)
        resource_tracker.ensure_running()  # which would let a Ctrl-C through when it starts
        with held_back():
            self.process.start()
        theirs.close()
        self.task: Task | None = None
        self._place: Place | None = None
        self._fault = ""
        self._limited = settings.memory is not None
        self._done: dict[str, set[Key]] = {}

    def give(self, task: Task) -> None:
        self.task, self._place, self._done = task, None, {}
        with suppress(OSError):  # a dead one is noticed when it is listened to
            self.connection.send(task)

    def hear(self) -> Event:
        """What it says; EOFError when it has died."""
        message = self.connection.recv()
        if isinstance(message, Place):
            self._place = message
            return None
        if isinstance(message, Fault):
            self._fault = message.text
            return None
        if isinstance(message, Noticed):
            return message
        assert self.task is not None
        if message is None:
            done, self.task = self.task, None
            return Done(done)
        if isinstance(message, More):
            more = message.tasks(self.task)
            self.task = replace(self.task, portions=tuple(
                replace(portion, first=False) if portion.trace.source == message.source else portion
                for portion in self.task.portions))
            return Added(more)
        for row in message:
            self._done.setdefault(row["source"], set()).add((row["number"], row["model"]))
        return Rows(message)

    def bury(self) -> tuple[Task, list[Row]]:
        """What is left of its task; and, where it is known what it died of, the rows that say so."""
        self.process.join()
        assert self.task is not None
        portions = [replace(portion, done=portion.done | self._done.get(portion.trace.source, set()))
                    for portion in self.task.portions]
        if not self.task.careful or self._place is None:
            if self.task.careful and is_fault(self._fault):
                raise RuntimeError(f"in a worker process, before its first history: {self._fault}")
            if self.task.careful:  # it died before it began: nothing of this is anybody's fault but the machine's
                raise BatchError(f"worker processes die as they start ({_cause(self.process.exitcode)})")
            return replace(self.task, portions=tuple(portions), careful=True), []
        return self._blame(portions, self._place)

    def _blame(self, portions: list[Portion], place: Place) -> tuple[Task, list[Row]]:
        task = self.task
        assert task is not None
        at = next(i for i, portion in enumerate(portions) if portion.trace.source == place.source)
        dead = portions[at]
        cause = self._fault or _cause(self.process.exitcode)
        if self._limited:
            cause = f"it probably needs more than --memory allows; {cause}"
        what = f"the worker died ({cause})"
        if place.history is None:
            what += " while reading this file; nothing from here on was checked"
        number = next(number for number in count(place.number) if dead.share.has(number))  # others are others' rows
        missing = [model for model in task.models if (number, model) not in dead.done]
        rows = [error_row(dead.trace, number, place.history or stem(dead.trace.source), model, what)
                for model in missing]
        done = dead.done | {(number, model) for model in missing}
        portions[: at + 1] = [*(replace(portion, ended=True) for portion in portions[:at]),
                              replace(dead, done=done, ended=place.history is None)]
        return replace(task, portions=tuple(portions)), rows


def _cause(status: int | None) -> str:
    if status is None or status >= 0:
        return f"exit status {status}"
    name = signal.Signals(-status).name
    return f"{name}, perhaps for want of memory" if name in ("SIGKILL", "SIGABRT") else name


def _serve(connection: Connection, settings: Settings, parent: int, garbage: tuple[int, int, int]) -> None:
    """The worker's life: tasks in, rows out, None after the last of each."""
    die_with(parent)
    gc.set_threshold(*garbage)  # as seldom as the parent looks for it
    cores.share(cores.own())
    if settings.memory is not None:
        from gradual.deciding.memory import limit

        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # what libraries print when they run out of it
        limit(settings.memory)

    if not connection.poll(SOON):  # so many files that it takes a while to find them
        _load()
    try:
        while True:
            Work(connection.recv(), settings, connection.send).perform()
            connection.send(None)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass  # the parent has ended
    except Exception as error:  # of the machine, or ours: it is told, and costs no more than a crash
        whose = "" if isinstance(error, MemoryError | OSError) else FAULT
        connection.send(Fault(f"{whose}{type(error).__name__}: {error}".rstrip(": ")))
        os._exit(1)


def _load() -> None:
    """What takes a while, before there is something to do."""
    from gradual.compiler import can_compile
    from gradual.deciding import criteria, engine, many, saturation  # noqa: F401

    if can_compile():
        engine.load()
        saturation.load()
        criteria.load()
