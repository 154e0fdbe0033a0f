"""The loop: clients run, histories are judged, violations are saved and shrunk, and all of it is counted."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np

from gradual import files
from gradual.deciding.shrinking import shrink
from gradual.fuzz.client import Client
from gradual.fuzz.machine import Machine
from gradual.history import INITIAL, NO_SOURCE, History, InputError, reason
from gradual.judge import Judge, Judgement
from gradual.models import Model
from gradual.progress import Progress


@dataclass
class Tally:
    """What a run of the loop has seen."""

    verdicts: Counter[str] = field(default_factory=Counter)
    deciders: Counter[str] = field(default_factory=Counter)
    histories: int = 0
    operations: int = 0
    communications: int = 0
    """Reads from another thread's write."""
    judged: int = 0
    """Verdicts that are no errors."""
    unordered_percent: float = 0.0
    """Added up over them: a run may have no end, so there is no list."""
    started: float = field(default_factory=time.perf_counter)
    first_violation: tuple[int, int, float] | None = None
    """How many histories and operations it took, and seconds."""
    simulating: float = 0.0
    saved: list[str] = field(default_factory=list)
    shrunk: list[tuple[int, int]] = field(default_factory=list)
    """Operations of a violation, before and after."""

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.started

    def take(self, history: History) -> None:
        self.histories += 1
        self.operations += len(history)
        self.communications += communications(history)


def communications(history: History) -> int:
    """Reads from another thread's write."""
    reads = (history.source != NO_SOURCE) & (history.source != INITIAL) & (history.source >= 0)
    return int((history.thread[reads] != history.thread[history.source[reads]]).sum())


class Loop:
    """Clients for a machine, until there is a reason to stop."""

    def __init__(self, clients: Iterator[Client], machine: Machine, models: Sequence[str | Model], *, runs: int | None,
                 seconds: float | None, keep_going: bool, save: Path | None, timeout: float | None,
                 again: str = "") -> None:
        self._clients = clients
        self._machine = machine
        self._judge = Judge(models, timeout=timeout, errors_once=True)
        self._runs = runs
        self._until = None if seconds is None else time.monotonic() + seconds
        self._keep_going = keep_going
        self._save = save
        self._timeout = timeout
        self._again = again
        """The command that runs a client again, but for its seed."""
        self._ran: dict[str, Client] = {}
        """The clients of histories that are being judged."""
        self.tally = Tally()

    @property
    def status(self) -> int:
        return self._judge.status

    def run(self, progress: Progress, tell: Callable[[Judgement], None]) -> Tally:
        """Every judgement that is no plain success goes to `tell`."""
        tally = self.tally
        for found in self._judge.judgements(self._histories(), progress):
            verdict = found.verdict
            if isinstance(found.item, History) and verdict.model == self._judge.models[0].name:
                tally.take(found.item)
            tally.verdicts[verdict.verdict] += 1
            if verdict.verdict != "error":
                tally.judged += 1
                tally.unordered_percent += verdict.unordered_percent or 0.0
            if verdict.verdict != "consistent":
                tell(found)
            if verdict.verdict == "violation" and isinstance(found.item, History):
                tally.deciders[verdict.decided_by or "?"] += 1
                tally.first_violation = tally.first_violation or (tally.histories, tally.operations, tally.seconds)
                progress.start(f"shrinking {found.item.name}")
                self._keep(found.item, found.model)
                if not self._keep_going:
                    break
            if verdict.model == self._judge.models[-1].name:
                self._ran.pop(found.name, None)
        return tally

    def _histories(self) -> Iterator[History | InputError]:
        for number, client in enumerate(self._clients):
            if self._runs is not None and number >= self._runs:
                return
            if self._until is not None and time.monotonic() >= self._until:
                return
            started = time.perf_counter()
            found = self._machine.run(client)
            self.tally.simulating += time.perf_counter() - started
            if isinstance(found, History):
                self._ran[found.name] = client
                yield replace(found, line=np.zeros_like(found.line))
            else:
                yield found

    def _keep(self, history: History, model: Model) -> None:
        small = shrink(history, model, timeout=self._timeout)
        self.tally.shrunk.append((len(history), len(small)))
        if self._save is not None:
            client, name = self._ran[history.name], files.safe_name(history.name)
            for kind, made in (("", history), ("-small", small)):
                self._write(f"{name}-{files.safe_name(str(model))}{kind}.csv", partial(files.write, [made]))
            again = {"seed": client.seed, "model": str(model),
                     "again": f"{self._again} --model {model} --seed {client.seed} --runs 1"}
            for ending, text in (("client.json", client.as_json()), ("client.c", client.as_c()),
                                 ("run.json", json.dumps(again))):
                self._write(f"{name}-{ending}", partial(_put, text=text))

    def _write(self, name: str, write: Callable[[Path], object]) -> None:
        assert self._save is not None
        target = self._save / name
        try:
            write(target)
            self.tally.saved.append(f"saved {target}")
        except OSError as error:  # the hunt is worth more than this file
            self.tally.saved.append(f"not saved: {target}: {reason(error)}")


def _put(target: Path, text: str) -> None:
    target.write_text(f"{text}\n", encoding="utf-8")
