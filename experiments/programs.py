"""Times of `gradual run`: executions counted, outcomes listed, questions answered. herd7 beside it, where it is there.

    python experiments/programs.py              everything (a minute)
    python experiments/programs.py --quick      without 4MP

Seconds are medians. `solver` is grounding and counting every execution in this process, `command` a whole
`gradual run --count` (which takes the number by formula where there is no model, so `generic` shows the start alone),
`listed` every outcome with its executions.
"""

from __future__ import annotations

import argparse
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from gradual import programs
from gradual.programs import litmus, observe
from gradual.programs.executions import Executions
from gradual.programs.program import Program

MODELS = ("generic", "sc", "tso", "pso")
ENUMERATED = 10**7
"""Programs with more executions than this are counted by formula, where there is no model."""
HERD = {"sc": "sc.cat", "tso": "x86tso.cat"}


def message_passing(threads: int) -> str:
    """The first thread stores, then loads; the others load, then store."""
    others = [f"ld m, ld x, st x {n}, st m {n}" for n in range(2, threads + 1)]
    return " || ".join(["st x 1, st m 1, ld m, ld x", *others])


def store_buffering(threads: int, fence: str = "") -> str:
    lines = [f"P{n}: st x{n} 1; {fence} ld x{(n + 1) % threads} r0" for n in range(threads)]
    return "\n".join([*lines, "exists (" + " /\\ ".join(f"{n}:r0=0" for n in range(threads)) + ")"])


def named(name: str, text: str) -> Program:
    return replace(programs.parse(text), name=name)


def median(work: Callable[[], object], repetitions: int) -> float:
    times = []
    for _ in range(repetitions):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def command(program: Program, model: str, repetitions: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{program.name}.litmus"
        file.write_text(litmus.write(program))
        call = [sys.executable, "-m", "gradual.cli", "run", str(file), "--count", "--model", model]
        return median(lambda: subprocess.run(call, check=True, capture_output=True), repetitions)


def herd(program: Program, model: str, repetitions: int) -> str:
    """The time herd7 takes to enumerate the same program, if it is on the PATH and has the model."""
    if shutil.which("herd7") is None or model not in HERD:
        return "-"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{program.name}.litmus"
        file.write_text(litmus.write(program))
        call = ["herd7", "-cat", HERD[model], str(file)]
        try:
            seconds = median(lambda: subprocess.run(call, check=True, capture_output=True, timeout=600), repetitions)
        except (subprocess.SubprocessError, OSError):
            return "failed"
    return f"{seconds:.3f}"


def counting(subjects: list[Program], repetitions: int) -> None:
    print(f"\nExecutions counted: seconds, median of {repetitions}")
    print(f"{'program':<12}{'model':<9}{'executions':>11}"
          + "".join(f"{head:>9}" for head in ("solver", "command", "outcomes", "listed", "herd7")))
    for program in subjects:
        for model in MODELS:
            if model == "generic" and program.size > ENUMERATED:
                print(f"{program.name:<12}{model:<9}{program.size:>11}  by formula")
                continue
            count = programs.count(program, model)
            solver = median(lambda p=program, m=model: programs.count(p, m), repetitions)
            states = len(Executions(program, model).outcomes())
            times = repetitions if count < 10_000 else 1
            listed = median(lambda p=program, m=model: Executions(p, m).outcomes(), times)
            print(f"{program.name:<12}{model:<9}{count:>11}{solver:>9.3f}{command(program, model, repetitions):>9.3f}"
                  f"{states:>9}{listed:>9.3f}{herd(program, model, repetitions):>9}", flush=True)


def questions(sizes: list[int], repetitions: int) -> None:
    print(f"\nStore buffering of n threads, can every load return 0? seconds, median of {repetitions}")
    print(f"{'n':>5}" + "".join(f"{model:>20}" for model in MODELS[1:]))
    for size in sizes:
        program = named(f"SB{size}", store_buffering(size))
        cells = []
        for model in MODELS[1:]:
            frequency = observe.answer(program, model).frequency
            cells.append(f"{frequency} {median(lambda p=program, m=model: observe.answer(p, m), repetitions):.3f}")
        print(f"{size:>5}" + "".join(f"{cell:>20}" for cell in cells), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--repetitions", type=int, default=3)
    chosen = parser.parse_args()
    print(f"Python {platform.python_version()}, {platform.machine()}, herd7 {shutil.which('herd7') or 'is not here'}")
    subjects = [named("SB", store_buffering(2)), named("SB+fences", store_buffering(2, "f(any,any);")),
                named("3MP", message_passing(3))]
    if not chosen.quick:
        subjects.append(named("4MP", message_passing(4)))
    counting(subjects, chosen.repetitions)
    questions([10, 100] if chosen.quick else [10, 30, 100, 300], chosen.repetitions)


if __name__ == "__main__":
    main()
