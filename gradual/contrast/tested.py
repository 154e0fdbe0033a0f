"""Contrasts a model with a machine one has: small tests are run on it many times, and what was seen is held against
what the model allows."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from string import Template
from typing import Protocol

from gradual.contrast.sides import Side
from gradual.contrast.subject import Subject
from gradual.fuzz.client import BASE, LINE, Client, Operation
from gradual.fuzz.machine import Machine
from gradual.history import FENCE, READ, WRITE, History, InputError
from gradual.machines.code import FULL_FENCE, LOAD, STORE, Code, Outcome, Threads, notation
from gradual.telling.markup import asset

HOST = "host"
"""The computer underneath."""


class MachineFailed(Exception):
    """A machine that could not be asked at all."""


@dataclass(frozen=True)
class Sighted:
    """A test on a machine: what was seen, and what the model says to that."""

    threads: Threads
    seen: Counter[Outcome]
    allowed: frozenset[Outcome]

    @property
    def program(self) -> str:
        return notation(self.threads)

    @property
    def forbidden(self) -> list[Outcome]:
        """Seen, and not allowed."""
        return sorted(set(self.seen) - self.allowed)

    @property
    def never_seen(self) -> list[Outcome]:
        """Allowed, and not seen."""
        return sorted(self.allowed - set(self.seen))


class Tested(Protocol):
    """A machine that can be asked."""

    def sightings(self, tests: Sequence[Threads], runs: int) -> Iterator[Counter[Outcome]]:
        """What each test ended with, in their order, each run so often at least. Raises MachineFailed."""


def compared(model: Side, machine: Tested, tests: Sequence[Threads], runs: int) -> Iterator[Sighted]:
    for threads, seen in zip(tests, machine.sightings(tests, runs), strict=True):
        subject = Subject(threads)
        yield Sighted(threads, seen, frozenset(map(subject.code.unpacked, model.packed(subject))))


class Clients:
    """A machine of `gradual fuzz`: each run is a client, and leaves a history. Failed runs are told, and left out."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self.failures: list[InputError] = []

    def sightings(self, tests: Sequence[Threads], runs: int) -> Iterator[Counter[Outcome]]:
        seeds = count()
        for threads in tests:
            seen: Counter[Outcome] = Counter()
            for _ in range(runs):
                found = self._machine.run(_client(threads, next(seeds)))
                if isinstance(found, History):
                    seen[_outcome(found)] += 1
                else:
                    self.failures.append(found)
                    if len(self.failures) >= 10 and not seen:
                        raise MachineFailed(f"nothing was seen in the first {len(self.failures)} runs: {found}")
            yield seen


def _client(threads: Threads, seed: int) -> Client:
    code = Code(threads)
    kinds = {LOAD: READ, STORE: WRITE, FULL_FENCE: FENCE}
    steps = [[Operation(FENCE) if kind == FULL_FENCE else Operation(
        kinds[kind], address, code.numbers[number][place] if kind == STORE else 0)
        for place, (kind, address) in enumerate(thread)] for number, thread in enumerate(threads)]
    return Client(steps, [BASE + LINE * at for at in range(code.locations)], seed, "litmus")


def _outcome(history: History) -> Outcome:
    """What the loads returned, thread by thread: histories may interleave threads."""
    loads = [(int(history.thread[at]), at) for at in range(len(history)) if history.kind[at] == READ]
    return tuple(int(history.read[at]) for _, at in sorted(loads))


class Host:
    """The computer underneath: all tests in one C program, which gcc compiles."""

    def sightings(self, tests: Sequence[Threads], runs: int) -> Iterator[Counter[Outcome]]:
        if shutil.which("gcc") is None:
            raise MachineFailed("there is no gcc here, which makes the tests (apt-get install gcc)")
        with tempfile.TemporaryDirectory(prefix="gradual-") as folder:
            source, program = Path(folder) / "tests.c", Path(folder) / "tests"
            source.write_text(c_program(tests), encoding="utf-8")
            made = subprocess.run(["gcc", "-O1", "-pthread", "-o", program, source], capture_output=True, text=True)
            if made.returncode:
                raise MachineFailed(f"gcc does not compile the tests: {made.stderr.strip()[:300]}")
            yield from _printed(program, len(tests), runs)


def _printed(program: Path, tests: int, runs: int) -> Iterator[Counter[Outcome]]:
    """What the program prints, test by test as it comes. Whatever stops us stops it."""
    with subprocess.Popen([program, str(runs)], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            now, seen = 0, Counter[Outcome]()
            for line in process.stdout:
                test, times, *values = map(int, line.split())
                while now < test:
                    yield seen
                    now, seen = now + 1, Counter()
                seen[tuple(values)] += times
            yield seen
            yield from (Counter() for _ in range(now + 1, tests))
        finally:
            process.kill()


def c_program(tests: Sequence[Threads]) -> str:
    """All tests as one C program."""
    codes = [Code(threads) for threads in tests]
    most = max(len(threads) for threads in tests)
    bodies, table, counts = [], [], []
    for number, code in enumerate(codes):
        names, loads = [], []
        for thread, steps in enumerate(code.threads):
            statements, loaded = [], 0
            for place, (kind, address) in enumerate(steps):
                if kind == LOAD:
                    statements.append(f"LOAD({loaded}, {address});")
                    loaded += 1
                else:
                    statements.append("FENCE();" if kind == FULL_FENCE
                                      else f"STORE({address}, {code.numbers[thread][place]});")
            names.append(f"test{number}_{thread}")
            loads.append(loaded)
            bodies.append(f"#define SELF {thread}\nBODY({names[-1]}, {' '.join(statements)})\n#undef SELF")
        table.append("    {" + ", ".join(names) + "},")
        counts.append("    {" + ", ".join(map(str, loads)) + "},")
    longest = max(steps.count(step) for code in codes for steps in [[kind for kind, _ in thread]
                                                                      for thread in code.threads] for step in (LOAD,))
    return Template(asset("gradual.contrast", "host.c")).substitute(
        tests=len(tests), threads=most, locations=max(code.locations for code in codes), loads=max(longest, 1),
        bodies="\n".join(bodies), table="\n".join(table), counts="\n".join(counts),
        running=", ".join(str(len(threads)) for threads in tests))
