"""Who is measured: this checkout, another one, and axe."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from experiments.bench.process import Failed, Limits, run
from experiments.bench.workloads import WARM_UP, Workload
from experiments.trees import Tree

Result = dict[str, Any]
LOADING = 60.0
"""Seconds for starting, loading and reading, beyond the limit of the check."""


class Peer(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def code(self) -> str:
        """What identifies the version: measurements of another one do not count."""
        ...

    def measure(self, workload: Workload, folder: Path, limits: Limits) -> Result:
        """verdict, seconds, peak_mb, conflicts (None where nobody counts); raises Failed."""
        ...


@dataclass(frozen=True)
class Checkout:
    """The check alone, in a process that has loaded everything; the peak is of the whole process."""

    tree: Tree

    @property
    def name(self) -> str:
        return self.tree.name

    @property
    def code(self) -> str:
        return self.tree.fingerprint

    def measure(self, workload: Workload, folder: Path, limits: Limits) -> Result:
        jobs = [_job(WARM_UP[workload.model], folder, LOADING), _job(workload, folder, limits.seconds)]
        done = run(self.tree.command, Limits(2 * limits.seconds + LOADING, limits.gibibytes), "\n".join(jobs))
        answer = json.loads(done.output.splitlines()[-2])  # the last line says "end"
        if answer["verdict"] == "unknown":
            raise Failed(f"> {limits.seconds:g} s")
        if answer["verdict"] == "error":
            raise Failed("memory" if "MemoryError" in answer["message"] else answer["message"][:60])
        return {name: answer[name] for name in ("verdict", "seconds", "conflicts")} | {"peak_mb": done.peak_mb}


@dataclass(frozen=True)
class Axe:
    """`axe check`, the whole process: most of its time is spent on the check."""

    program: str
    name: str = "axe"
    code: str = ""

    def measure(self, workload: Workload, folder: Path, limits: Limits) -> Result:
        command = [self.program, "check", workload.model.upper(), str(workload.file(folder, "axe"))]
        done = run(command, limits)
        answer = done.output.strip()
        if answer not in ("OK", "NO"):
            raise Failed(f"says {answer[:40]!r}")
        return {"verdict": "consistent" if answer == "OK" else "violation", "seconds": done.seconds,
                "peak_mb": done.peak_mb, "conflicts": None}


def _job(workload: Workload, folder: Path, timeout: float) -> str:
    return json.dumps({"file": str(workload.file(folder, "parquet")), "models": [workload.model],
                       "options": {"timeout": timeout}})


def axe() -> list[Axe]:
    program = shutil.which("axe")
    return [Axe(program)] if program else []
