"""The workers of a Dask cluster: it schedules, restarts what was lost with a worker, and tells when it gives up."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from dataclasses import replace
from typing import Any

from gradual.adapters import stem
from gradual.batch import BatchError
from gradual.batch.work import Message, More, Noticed, Row, Settings, Task, Work, error_row
from gradual.batch.workers import MOMENT, Added, Done, Event, Rows

PATIENCE = "10s"


class Cluster:
    """An existing cluster, by the address of its scheduler."""

    def __init__(self, address: str, settings: Settings) -> None:
        try:
            from distributed import Client
        except ImportError:
            raise BatchError("--dask: Dask is not installed here; `pip install distributed`") from None
        if not re.search(r":\d+$", address):
            raise BatchError(f"--dask {address}: write the scheduler's address with its port, as tcp://host:8786")
        logging.disable(logging.ERROR)  # Dask logs tracebacks; what matters is said here, in a line
        try:
            self._client = Client(address, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError) as error:
            raise BatchError(f"--dask {address}: no Dask scheduler answers there ({error})") from None
        self._address = address
        self._settings = settings
        self._running: dict[Any, Task] = {}

    def events(self, tasks: list[Task]) -> Iterator[Event]:
        """Perform the tasks, each wholly or not at all."""
        from distributed import as_completed

        completed = as_completed(self._start(tasks), raise_errors=False, loop=self._client.loop)
        while not completed.is_empty():
            if not completed.has_ready():
                time.sleep(MOMENT)
                yield None
                continue
            for future in completed.next_batch(block=False):
                task = self._running.pop(future)
                if future.status == "cancelled" or self._client.status != "running":
                    raise self._gone()
                if future.status == "finished":
                    for message in self._result(future):
                        if isinstance(message, More):
                            more = message.tasks(task)
                            completed.update(self._start(more))
                            yield Added(more)
                        elif isinstance(message, list):
                            yield Rows(message)
                        elif isinstance(message, Noticed):
                            yield message
                    yield Done(task)
                elif future.status != "error":  # its result went with a worker
                    completed.update(self._start([task]))
                elif len(task.portions) > 1:  # find out which of them it was
                    completed.update(self._start([replace(task, portions=(portion,)) for portion in task.portions]))
                else:
                    yield Rows(_given_up(task, future.exception()))
                    yield Done(task)

    def _result(self, future: Any) -> list[Message]:
        try:
            messages: list[Message] = future.result()
        except (CancelledError, OSError):  # of the way here: those of the work itself are its status
            raise self._gone() from None
        return messages

    def _gone(self) -> BatchError:
        return BatchError(f"--dask {self._address}: the cluster is gone; what was done is kept, and the same command "
                          "goes on from there")

    def _start(self, tasks: list[Task]) -> list[Any]:
        started = {self._client.submit(perform, task, self._settings, pure=False): task for task in tasks}
        self._running.update(started)
        return list(started)

    def close(self) -> None:
        self._client.close()  # which has the scheduler forget what is still to do


def perform(task: Task, settings: Settings) -> list[Message]:
    """All that a worker has to say of a task."""
    said: list[Message] = []
    Work(task, settings, said.append).perform()
    return said


def _given_up(task: Task, error: BaseException) -> list[Row]:
    if isinstance(error, ModuleNotFoundError):
        raise BatchError(f"--dask: its workers cannot do this: {error}; install gradual there") from None
    trace = task.portions[0].trace
    reason = (str(error) or "no reason given").splitlines()[0]
    what = f"the cluster gave up on this file: {type(error).__name__}: {reason}"
    done = max((number for number, _ in task.portions[0].done), default=-1)
    return [error_row(trace, done + 1, stem(trace.source), model, what) for model in task.models]
