"""Who is measured: this checkout, another one, and axe."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from experiments.bench.process import Done, Failed, Late, Limits, run
from experiments.bench.workloads import WARM_UP, Workload
from experiments.trees import Tree

Result = dict[str, Any]
REPETITIONS = 3
"""Of what takes less than a second in all."""
LOADING = 15.0
"""Seconds for starting, loading and reading, beyond the limit of the check: some versions look at the clock too late,
and are ended then."""
COMPILING = 300.0
ENOUGH = 10.0
"""Seconds after which a whole process is not started again."""
ANSWERED = (0, 1)
"""Exit statuses of a check: consistent, or not."""


class Peer(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def code(self) -> str:
        """What identifies the version: measurements of another one do not count."""
        ...

    def prepare(self, models: Iterable[str], folder: Path, gibibytes: float) -> None:
        """Whatever happens only once after an installation."""
        ...

    def measure(self, workload: Workload, folder: Path, limits: Limits) -> list[Result]:
        """verdict, seconds, cpu, peak_mb, conflicts (None where nobody counts), as often as is worth while; raises
        Failed."""
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

    def prepare(self, models: Iterable[str], folder: Path, gibibytes: float) -> None:
        jobs = [_job(WARM_UP[model], folder, COMPILING) for model in models]
        run(self.tree.command, Limits(COMPILING, gibibytes), "\n".join(jobs))

    def measure(self, workload: Workload, folder: Path, limits: Limits) -> list[Result]:
        jobs = [_job(WARM_UP[workload.model], folder, LOADING), _job(workload, folder, limits.seconds, REPETITIONS)]
        try:
            done = run(self.tree.command, Limits(limits.seconds + LOADING, limits.gibibytes), "\n".join(jobs))
        except Late:
            raise Late(limits.seconds) from None
        said = [json.loads(line) for line in done.output.splitlines()]
        answers = said[said.index({"end": True}) + 1:-1]  # of the second job
        for answer in answers:
            if answer["verdict"] == "unknown":
                raise Late(limits.seconds)
            if answer["verdict"] == "error":
                raise Failed("memory" if "MemoryError" in answer["message"] else answer["message"][:60])
        return [{name: answer[name] for name in ("verdict", "seconds", "cpu", "conflicts")} | {"peak_mb": done.peak_mb}
                for answer in answers]


def gradual(tree: Tree, limits: Limits, *arguments: object, environment: dict[str, str] | None = None) -> Done:
    """The whole process of a command. Isolated, as workers are; so bytecode is kept, whatever the environment says."""
    command = [str(tree.python), "-I", "-m", "gradual.cli", *map(str, arguments)]
    return run(command, limits, environment=environment, fine=ANSWERED)


@dataclass(frozen=True)
class Program(Checkout):
    """`gradual check`, the whole process: started, loaded, read, decided, certified, told. From axe's text, or from
    Parquet where that cannot say what the model looks at."""

    def measure(self, workload: Workload, folder: Path, limits: Limits) -> list[Result]:
        file = workload.file(folder, "parquet" if workload.model == "rvwmo" else "axe")
        command = ("check", file, "--model", workload.model, "--json")
        results: list[Result] = []
        while len(results) < REPETITIONS and sum(result["seconds"] for result in results) < ENOUGH:
            done = gradual(self.tree, limits, *command)
            told = json.loads(done.output)
            results.append({"verdict": told["verdict"], "seconds": done.seconds, "cpu": done.cpu,
                            "peak_mb": done.peak_mb, "conflicts": told["conflicts"]})
        return results


@dataclass(frozen=True)
class Axe:
    """`axe check`, the whole process: most of its time is spent on the check."""

    program: str
    name: str = "axe"
    code: str = ""

    def prepare(self, models: Iterable[str], folder: Path, gibibytes: float) -> None:
        """Nothing to do."""

    def measure(self, workload: Workload, folder: Path, limits: Limits) -> list[Result]:
        command = [self.program, "check", workload.model.upper(), str(workload.file(folder, "axe"))]
        done = run(command, limits)
        answer = done.output.strip()
        if answer not in ("OK", "NO"):
            raise Failed(f"says {answer[:40]!r}")
        return [{"verdict": "consistent" if answer == "OK" else "violation", "seconds": done.seconds, "cpu": done.cpu,
                 "peak_mb": done.peak_mb, "conflicts": None}]


def _job(workload: Workload, folder: Path, timeout: float, repetitions: int = 1) -> str:
    return json.dumps({"file": str(workload.file(folder, "parquet")), "models": [workload.model],
                       "options": {"timeout": timeout}, "repetitions": repetitions})


def axe() -> list[Axe]:
    program = shutil.which("axe")
    return [Axe(program)] if program else []
