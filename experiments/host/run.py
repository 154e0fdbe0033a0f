"""The machine underneath, checked: C11 threads pinned to cores run random clients, and gradual judges what they saw.

    python experiments/host/run.py [--threads 2] [--operations 50] [--locations 8] [--histories 10000] [--seed 1]

An x86-64 host is expected to show SC violations (store buffering) and no TSO violation. OPERATIONS are those of one
thread. Needs gcc; threads share cores when there are fewer cores.
"""

from __future__ import annotations

import argparse
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from gradual import files
from gradual.history import Options
from gradual.judge import Judge
from gradual.progress import Progress

HERE = Path(__file__).parent


def build(folder: Path) -> Path:
    """The program, compiled."""
    program = folder / "host"
    subprocess.run(["gcc", "-O2", "-Wall", "-Wextra", "-pthread", "-o", str(program), str(HERE / "host.c")], check=True)
    return program


def run(program: Path, trace: Path, threads: int, operations: int, locations: int, histories: int, seed: int) -> float:
    """Let it race. Returns the seconds that took, printing included."""
    started = time.perf_counter()
    command = [program, *map(str, (threads, operations, locations, histories, seed))]
    with trace.open("wb") as stream:
        subprocess.run(command, stdout=stream, check=True)
    return time.perf_counter() - started


def judge(trace: Path, model: str) -> tuple[Counter[str], float]:
    """How many verdicts of each kind, and the seconds that took, reading included."""
    started = time.perf_counter()
    found: Counter[str] = Counter()
    with Progress() as progress:
        for judgement in Judge([model], engine="schedule").judgements(files.read(trace, "csv", Options()), progress):
            found[judgement.verdict.verdict] += 1
    return found, time.perf_counter() - started


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("threads", 2), ("operations", 50), ("locations", 8), ("histories", 10_000), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    arguments = parser.parse_args()
    if min(arguments.threads, arguments.operations, arguments.locations, arguments.histories) < 1:
        parser.error("threads, operations, locations and histories are at least 1")
    if shutil.which("gcc") is None:
        sys.exit("there is no gcc here: apt-get install gcc")
    with tempfile.TemporaryDirectory() as temporary:
        program, trace = build(Path(temporary)), Path(temporary) / "host.csv"
        running = run(program, trace, **vars(arguments))
        print(f"{platform.machine()}: {arguments.histories} histories, {arguments.threads} threads of "
              f"{arguments.operations} operations, up to {arguments.locations} lines; run in {running:.2f} s")
        violations = {}
        for model in ("SC", "TSO"):
            found, seconds = judge(trace, model)
            violations[model] = found["violation"]
            share = 100 * found["violation"] / max(found.total(), 1)
            print(f"{model:>4}: {found['consistent']} consistent, {found['violation']} violations ({share:.2f} %), "
                  f"{found['unknown']} unknown, {found['error']} errors; checked in {seconds:.2f} s")
    return 1 if violations["TSO"] and platform.machine() == "x86_64" else 0


if __name__ == "__main__":
    sys.exit(main())
