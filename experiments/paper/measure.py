"""Measurements that can be interrupted: each is kept as soon as it is made, and made once."""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

import gradual
from experiments.paper.sources import Missing, histories

ALGORITHMS = {
    "direct SAT": {"completion": "direct"},
    "ladder + enumerate": {"engine": "datalog", "completion": "enumerate"},
    "ladder + SAT": {"engine": "datalog", "completion": "sat"},
    "saturation": {"engine": "saturation"},
}
OFTEN = 5.0
"""Seconds between writing what was measured."""


class Point(NamedTuple):
    """A place on the x axis of a figure."""

    figure: str
    source: str
    machine: str
    model: str
    threads: int
    operations: int
    count: int
    algorithms: tuple[str, ...] = tuple(ALGORITHMS)
    seed: int = 1


class Store:
    """Results in one Parquet file, replaced whole."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._rows: list[dict[str, Any]] = pd.read_parquet(file).to_dict("records") if file.exists() else []
        self._done = {self._key(row) for row in self._rows}
        self._written = time.monotonic()

    @staticmethod
    def _key(row: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(row[name] for name in ("figure", "source", "machine", "model", "threads", "operations", "number",
                                            "algorithm"))

    def has(self, row: dict[str, Any]) -> bool:
        return self._key(row) in self._done

    def add(self, row: dict[str, Any]) -> None:
        self._rows.append(row)
        self._done.add(self._key(row))
        if time.monotonic() - self._written > OFTEN:
            self.write()

    def write(self) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self._file.with_suffix(".part")
        self.frame.to_parquet(unfinished, index=False)
        unfinished.replace(self._file)
        self._written = time.monotonic()

    @property
    def frame(self) -> pd.DataFrame:
        return pd.DataFrame(self._rows)


def measure(points: list[Point], store: Store, timeout: float) -> None:
    """Everything that is not there yet. An algorithm that ran out of time at a size is not tried at larger ones."""
    slow: set[tuple[str, str, str, int]] = set()
    for point in sorted(points, key=lambda p: (p.figure, p.operations, p.threads)):
        try:
            for number, history in enumerate(histories(point.source, point.machine, point.threads, point.operations,
                                                       point.count, point.seed)):
                for algorithm in point.algorithms:
                    row = point._asdict() | {"number": number, "algorithm": algorithm}
                    del row["algorithms"], row["count"]
                    if store.has(row) or (point.figure, algorithm, point.source, point.threads) in slow:
                        continue
                    _say(f"{point.figure}: {point.source} {point.threads}×{point.operations} #{number} {algorithm}")
                    started = time.perf_counter()
                    verdict = gradual.check(history, point.model, timeout=timeout, **ALGORITHMS[algorithm])
                    seconds = time.perf_counter() - started
                    if verdict.verdict == "unknown":
                        slow.add((point.figure, algorithm, point.source, point.threads))
                    store.add(row | {"seconds": seconds, "verdict": verdict.verdict, "decided_by": verdict.decided_by,
                                     "unordered_percent": verdict.unordered_percent})
        except Missing as missing:
            _say(f"{point.figure}: left out, {missing}\n")
    store.write()
    _say("")


def _say(text: str) -> None:
    if sys.stderr.isatty() or text.endswith("\n"):
        sys.stderr.write(f"\r\x1b[K{text}" if sys.stderr.isatty() else text)
        sys.stderr.flush()


def machine_notes() -> Iterator[str]:
    yield f"{platform.machine()}, {platform.system()}, Python {platform.python_version()}"
    yield ", ".join(f"{name} {version(name)}" for name in ("gradual", "clingo", "python-sat", "numba", "numpy"))
