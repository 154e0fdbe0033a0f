"""One measurement is one method on one history; whatever wants it shares it."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from functools import cache
from itertools import groupby
from typing import Any, NamedTuple

import gradual
from experiments.paper import orders
from experiments.paper.progress import Progress
from experiments.paper.sources import Client, Missing, available, histories
from experiments.paper.store import Key, Row, Store
from gradual.compiler import COMPILED_FROM
from gradual.history import History

ALGORITHMS: dict[str, dict[str, Any]] = {
    "direct SAT": {"completion": "direct"},
    "ladder + enumerate": {"engine": "datalog", "completion": "enumerate"},
    "ladder + SAT": {"engine": "datalog", "completion": "sat"},
    "engine": {"engine": "schedule"},
}
LADDER = "ladder + enumerate"
ORDERS = "store orders"
"""The method that is no algorithm: what each partial store order leaves open."""


class Options(NamedTuple):
    """What a run was asked for."""

    quick: bool
    histories: int
    """Per point of a figure."""
    sources: tuple[str, ...]
    timeout: float


class Task(NamedTuple):
    client: Client
    number: int
    model: str
    method: str

    @property
    def row(self) -> Row:
        return {**self.client._asdict(), "number": self.number, "model": self.model, "method": self.method}

    @property
    def key(self) -> Key:
        return tuple(self.row.values())

    @property
    def weight(self) -> float:
        """About its seconds: direct SAT is cubic, the ladder quadratic."""
        n = self.client.operations
        return {"direct SAT": 2e-7 * n ** 3, ORDERS: 1.5e-6 * n ** 2}.get(
            self.method, 5e-3 + 5e-6 * n if self.method == "engine" else 4e-6 * n ** 2)

    def __str__(self) -> str:
        client = self.client
        return (f"{client.source} {client.machine}, {client.threads} threads, {client.operations} operations, "
                f"history {self.number + 1}, {self.model.upper()}, {self.method}")


KEY = (*Client._fields, *Task._fields[1:])


def tasks(client: Client, count: int, model: str, methods: Iterable[str]) -> list[Task]:
    """On each of `count` histories of a client, or as many as there are; the user is told when there are none."""
    try:
        numbers = range(available(client, count))
    except Missing as missing:
        leave_out(str(missing))
        return []
    return [Task(client, number, model, method) for number in numbers for method in methods]


@cache
def leave_out(why: str) -> None:
    print(f"left out: {why}", file=sys.stderr)


def measure(wanted: Iterable[Task], store: Store, timeout: float) -> None:
    """Everything that is not there yet. An algorithm that ran out of time is not tried on longer histories."""
    limits = _Limits(store, timeout)
    every = dict.fromkeys(wanted)
    absent = [task for task in every if limits.absent(task)]
    if len(absent) < len(every):
        print(f"{len(every) - len(absent)} of {len(every)} measurements are there already", file=sys.stderr)
    progress = Progress([task.weight for task in absent])
    for client, group in groupby(absent, key=lambda task: task.client):
        of: dict[int, list[Task]] = {}
        for task in group:
            of.setdefault(task.number, []).append(task)
        progress.now(f"{client.source} {client.machine}, {client.threads} threads, {client.operations} operations")
        for number, history in enumerate(histories(client, max(of) + 1)):
            for task in of.get(number, ()):
                if not limits.hopeless(task):
                    progress.now(str(task))
                    store.put(task.key, task.row | _result(task, history, timeout))
                    limits.learn(task)
                progress.step(task.weight)
    progress.close()


class _Limits:
    """What a time limit means for measurements, made or to be made."""

    def __init__(self, store: Store, timeout: float) -> None:
        self._store = store
        self._timeout = timeout
        self._shortest: dict[tuple[str, ...], int] = {}

    def absent(self, task: Task) -> bool:
        """Never measured, or given up sooner than now."""
        row = self._store.get(task.key)
        if row is not None and not _gave_up(row, self._timeout):
            self.learn(task)
            return False
        return True

    def learn(self, task: Task) -> None:
        row = self._store.get(task.key)
        if row is not None and row.get("verdict") == "unknown":
            operations = task.client.operations
            self._shortest[_kind(task)] = min(self._shortest.get(_kind(task), operations), operations)

    def hopeless(self, task: Task) -> bool:
        return task.client.operations > self._shortest.get(_kind(task), task.client.operations)


def _gave_up(row: Row, timeout: float) -> bool:
    """With less time than there is now."""
    return bool(row.get("verdict") == "unknown" and row["limit"] < timeout)


def _kind(task: Task) -> tuple[str, ...]:
    return task.client.source, task.client.machine, task.model, task.method


def _result(task: Task, history: History, timeout: float) -> Row:
    if task.method == ORDERS:
        return orders.unordered(history)
    _warm(task.model, task.method, len(history) >= COMPILED_FROM)
    started = time.perf_counter()
    verdict = gradual.check(history, task.model, timeout=timeout, **ALGORITHMS[task.method])
    return {"seconds": time.perf_counter() - started, "limit": timeout, "verdict": verdict.verdict,
            "decided_by": verdict.decided_by, "write_pairs": verdict.write_pairs,
            "unordered_percent": verdict.unordered_percent}


@cache
def _warm(model: str, method: str, compiled: bool) -> None:
    """What importing and compiling take is not the algorithm's."""
    small = gradual.generate(model, threads=2, operations=COMPILED_FROM if compiled else 20, locations=64)
    gradual.check(small, model, **ALGORITHMS[method])
