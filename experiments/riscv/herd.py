"""herd7, where it is on PATH: what it says of tests, and the CPU time it takes."""

from __future__ import annotations

import resource
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gradual.programs.condition import Place
from gradual.programs.histogram import State, state_values
from gradual.programs.program import Program


@dataclass(frozen=True)
class Said:
    """herd's answer for one test."""

    test: str
    observation: str
    states: tuple[str, ...]

    def outcomes(self, program: Program) -> set[frozenset[tuple[Place, int]]]:
        return {frozenset(state_values(program, State(text, 1, 0), "herd7")) for text in self.states}


def there() -> bool:
    return shutil.which("herd7") is not None


def ask(files: Sequence[Path], model: str = "riscv.cat") -> tuple[list[Said], float]:
    """What it says of each test, and CPU seconds: all in one process."""
    before = _spent()
    done = subprocess.run(["herd7", "-model", model, *map(str, files)], capture_output=True, text=True, check=False)
    return [*_said(done.stdout.splitlines())], _spent() - before


def _spent() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _said(lines: Sequence[str]) -> Iterator[Said]:
    at = 0
    while at < len(lines):
        if lines[at].startswith("Test ") and lines[at + 1].startswith("States "):
            number = int(lines[at + 1].split()[1])
            states = tuple(lines[at + 2:at + 2 + number])
            at += 2 + number
            while not lines[at].startswith("Observation "):
                at += 1
            _, test, observation, *_ = lines[at].split()
            yield Said(test, observation, states)
        at += 1
