"""A batch from its paths to its table: find, leave out what is done, share the work, keep the rows."""

from __future__ import annotations

import os
import shutil
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import pyarrow.compute as pc

from gradual import interrupts
from gradual.batch import Key
from gradual.batch.board import Board
from gradual.batch.find import Trace, printable
from gradual.batch.results import Results, read
from gradual.batch.work import Noticed, Portion, Task
from gradual.batch.workers import Added, Event, Rows
from gradual.history import Share, reason

TOGETHER = 256
"""Small files that a worker takes at a time, at most."""
LARGE = 1 << 20
"""Bytes from which a file is a task of its own."""
FIRST, LATER = 2.0, 30.0
"""Seconds between parts, when a run begins and when it has gone on for long."""


class Crew(Protocol):
    """Whoever does the work."""

    def events(self, tasks: list[Task]) -> Iterator[Event]: ...

    def close(self) -> None:
        """Stop, whatever is being done."""



@dataclass
class Batch:
    """Traces, to be judged against models, with the results kept."""

    traces: list[Trace]
    models: tuple[str, ...]
    results: Results
    workers: int
    fail_fast: bool = False
    violations_to: Path | None = None
    stopped: bool = False
    """At a violation, with work left to do."""
    not_copied: list[str] = field(default_factory=list)
    """Files of which that failed, and why."""
    hex: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Files whose addresses look like hex, and some of these."""
    _copied: set[str] = field(default_factory=set)

    def run(self, crew: Crew) -> Board:
        """Everything that is left to do. What was done is on the disk when this ends, however it ends."""
        tasks = self._tasks()
        open_shares = Counter(portion.trace.source for task in tasks for portion in task.portions)
        board = Board({trace.source: trace.size or 0 for trace in self.traces if trace.source in open_shares},
                      len(self.traces) - len(open_shares))
        if self.fail_fast or self.violations_to is not None:
            known = self._violating()
            self._copy(known)
            if self.fail_fast and known:
                self.stopped = bool(tasks)
                tasks.clear()
        started = flushed = time.monotonic()
        try:
            for event in crew.events(tasks):
                interrupts.heed()
                if isinstance(event, Rows):
                    self._take(event, board)
                elif isinstance(event, Added):
                    open_shares.update(portion.trace.source for task in event.tasks for portion in task.portions)
                elif isinstance(event, Noticed):
                    self.results.used |= event.used
                    if event.hex:
                        self.hex[event.source] = event.hex
                elif event is not None:
                    for portion in event.task.portions:
                        self._ended(portion, event.task.models, open_shares, board)
                now = time.monotonic()
                if now - flushed > min(max((now - started) / 20, FIRST), LATER):
                    self.results.flush()
                    flushed = now
                board.show()
                if self.fail_fast and board.verdicts["violation"]:
                    self.stopped = True
                    break
        finally:
            board.clear()
            self.results.flush()
        self.results.compact()
        return board

    def _violating(self) -> list[str]:
        """The files of which an earlier run knows."""
        rows = read(self.results.folder, ["verdict"], [trace.source for trace in self.traces], self.models)
        violating: list[str] = rows.filter(pc.equal(rows["verdict"], "violation"))["source"].unique().to_pylist()
        return violating

    def _tasks(self) -> list[Task]:
        """What is left, large files first: a long one must not come last."""
        left: dict[tuple[str, ...], list[Trace]] = {}
        for trace in self.traces:
            models = tuple(model for model in self.models
                           if not self.results.is_complete(trace.source, model, stamp(trace)))
            if models:
                left.setdefault(models, []).append(trace)
        done = self.results.begun({trace.source: stamp(trace) for traces in left.values() for trace in traces},
                                  self.models)
        return [Task(tuple(self._portion(trace, done, len(group)) for trace in group), models)
                for models, traces in left.items() for group in self._grouped(traces)]

    def _portion(self, trace: Trace, done: dict[str, set[Key]], together: int) -> Portion:
        share = Share(0, self.workers if together == 1 else 1)
        return Portion(trace, frozenset(done.get(trace.source, ())), share, first=share.of > 1)

    def _grouped(self, traces: list[Trace]) -> Iterator[list[Trace]]:
        for trace in sorted((t for t in traces if (t.size or 0) >= LARGE), key=lambda t: -(t.size or 0)):
            yield [trace]
        small = [trace for trace in traces if (trace.size or 0) < LARGE]
        together = max(1, min(TOGETHER, len(small) // (4 * self.workers)))
        for at in range(0, len(small), together):
            yield small[at:at + together]

    def _take(self, event: Rows, board: Board) -> None:
        self.results.add(event.rows)
        board.verdicts.update(row["verdict"] for row in event.rows)
        board.histories += len({(row["source"], row["number"]) for row in event.rows})
        sources = list(dict.fromkeys(row["source"] for row in event.rows))
        board.seen(sources[:-1])  # files come one after the other
        self._copy(row["source"] for row in event.rows if row["verdict"] == "violation")

    def _ended(self, portion: Portion, models: tuple[str, ...], open_shares: Counter[str], board: Board) -> None:
        source = portion.trace.source
        open_shares[source] -= 1
        if not open_shares[source]:
            board.seen([source])
            for model in models:
                self.results.complete(source, model, stamp(portion.trace))

    def _copy(self, sources: Iterable[str]) -> None:
        """Where that was asked for, and each file once: a large one has its violations told bit by bit."""
        new = set(sources) - self._copied
        if self.violations_to is not None and new:
            self._copied |= new
            for trace in self.traces:
                if trace.source in new:
                    for path in trace.parts or (trace.path,):
                        self._copy_to(self.violations_to, path)

    def _copy_to(self, folder: Path, path: str) -> None:
        """Under the path it has, so that names do not clash."""
        steps = [step.replace("..", "__") if step == ".." else step for step in Path(path).parts]
        target = folder.joinpath(*(step for step in steps if step != os.sep))
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target)
        except shutil.SameFileError:
            pass  # it is there
        except OSError as error:
            self.not_copied.append(f"{printable(path)}: {reason(error)}")


def stamp(trace: Trace) -> tuple[int | None, int | None]:
    return trace.size, trace.modified
