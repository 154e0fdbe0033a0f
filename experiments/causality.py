"""The Java causality test cases and others under every model of event structures, with times beside the published ones.

    python experiments/causality.py                     tests × models, then store buffering of n threads (a minute)
    python experiments/causality.py --plot growth.svg   also draws the growth (needs matplotlib)
    python experiments/causality.py --commands          also times whole `gradual run` commands

Times are milliseconds, best of several runs: `explicit` and `CEGAR` are the two engines for J+R on the structure once
it is unfolded, `verdict` everything from the program on: unfolding, engines, the other reading, the evidence, its
certificate. `QFM` are the seconds published in *PrideMM: A Solver for Relaxed Memory Models* for the same question. A
verdict that differs from the expected one is marked with !.
"""

from __future__ import annotations

import argparse
import csv
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from gradual import programs
from gradual.events.cegar import Cegar
from gradual.events.explicit import Explicit
from gradual.events.models import C11, JR, RA, RC11, SC, EventModel
from gradual.events.verdict import decide, goal_of
from gradual.programs.program import Bounds, Program
from gradual.programs.unfolding import values_of

CAUSALITY = Path(__file__).parents[1] / "traces" / "causality"
COLUMNS: dict[str, tuple[EventModel, str, str]] = {
    "sc": (SC, "", ""), "ra": (RA, "", ""), "c11": (C11, "", ""), "c11_acq_rel": (C11, "acq", "rel"),
    "c11_sc": (C11, "sc", "sc"), "rc11": (RC11, "", "")}
PUBLISHED = 25
"""Threads of store buffering that the paper gets to, in a minute."""
EXPLICIT = 7
"""Threads that the explicit search gets to in a second or so."""


def rows() -> list[dict[str, str]]:
    with (CAUSALITY / "expected.csv").open() as stream:
        return list(csv.DictReader(stream))


def program_of(row: dict[str, str], read: str = "", write: str = "") -> Program:
    """With a mode for its loads and stores that have none."""
    text = (CAUSALITY / f"{row['test']}.litmus").read_text()
    text = re.sub(r"\bw\[\]", f"w[{write}]", re.sub(r"\br\[\]", f"r[{read}]", text))
    return programs.parse(text, f"{row['test']}.litmus", Bounds(values_of(row["values"])) if row["values"] else None)


def milliseconds(work: Callable[[], object], repetitions: int) -> float:
    best = float("inf")
    for _ in range(repetitions):
        started = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - started)
    return best * 1000


def word(verdict: str, expected: str) -> str:
    return verdict[:1].upper() + ("!" if expected and expected != verdict else "")


def causality(repetitions: int) -> bool:
    """J+R, under both readings: are all verdicts the expected ones?"""
    print("\nJ+R: milliseconds, best of", repetitions)
    print(f"{'test':<15}{'events':>7}{'Java':>6}{'label':>7}{'visible':>9}{'explicit':>10}{'CEGAR':>8}{'verdict':>9}"
          f"{'QFM (s)':>9}")
    total, fine = 0.0, True
    for row in rows():
        if not row["label"]:
            continue
        program = program_of(row)
        words = []
        for reading in ("label", "visible"):
            verdict = "allowed" if decide(program, JR, reading).allowed else "forbidden"
            words.append(word(verdict, row[reading]))
            fine &= "!" not in words[-1]
        asked, again = goal_of(program), program_of(row)
        times = [milliseconds(lambda g=asked: Explicit(g).play(), repetitions),
                 milliseconds(lambda g=asked: Cegar(g).play(), repetitions),
                 milliseconds(lambda p=again: decide(p, JR), repetitions)]
        total += times[2]
        print(f"{row['test']:<15}{len(asked.structure):>7}{row['java'][:1].upper() or '-':>6}{words[0]:>7}{words[1]:>9}"
              f"{times[0]:>10.2f}{times[1]:>8.2f}{times[2]:>9.1f}{row['published'] or '-':>9}", flush=True)
    published = sum(int(row["published"]) for row in rows() if row["published"])
    print(f"all verdicts: {total / 1000:.3f} s; published for those that have a time: {published} s")
    return fine


def executions(repetitions: int) -> bool:
    print("\nSC, RA, C++ (all rlx, all acq/rel, all sc), RC11: verdict and milliseconds, best of", repetitions)
    print(f"{'test':<15}" + "".join(f"{column:>14}" for column in COLUMNS))
    fine = True
    for row in rows():
        cells = []
        for column, (model, read, write) in COLUMNS.items():
            program = program_of(row, read, write)
            verdict = decide(program, model)
            told = word("racy" if verdict.racy else "allowed" if verdict.allowed else "forbidden", row[column])
            fine &= "!" not in told
            cells.append(f"{told} {milliseconds(lambda p=program, m=model: decide(p, m), repetitions):.1f}")
        print(f"{row['test']:<15}" + "".join(f"{cell:>14}" for cell in cells), flush=True)
    return fine


# --- many threads


def table(name: str, threads: list[list[str]], value: int) -> Program:
    lines = [" | ".join(cells) + " ;" for cells in zip(*threads, strict=True)]
    head = " | ".join(f"P{n}" for n in range(len(threads))) + " ;"
    asked = " /\\ ".join(f"{n}:r1={value}" for n in range(len(threads)))
    return programs.parse("\n".join([f"LISA {name}", "{ }", head, *lines, f"exists ({asked})"]))


def store_buffering(n: int) -> Program:
    return table(f"SB-{n}", [[f"w[] x{i} 1", f"r[] r1 x{(i - 1) % n}"] for i in range(n)], 0)


def ring(n: int, started: bool) -> Program:
    return table(f"ring-{n}", [[f"r[] r1 x{i}", f"w[] x{(i + 1) % n} {'1' if started and i == 0 else 'r1'}"]
                               for i in range(n)], 1)


def growth(sizes: list[int]) -> dict[str, list[tuple[int, float]]]:
    """Seconds of a verdict, evidence and all, by the number of threads."""
    families: dict[str, Callable[[int], tuple[Program, EventModel]]] = {
        "SB, SC": lambda n: (store_buffering(n), SC), "SB, RA": lambda n: (store_buffering(n), RA),
        "SB, J+R": lambda n: (store_buffering(n), JR), "ring, J+R": lambda n: (ring(n, False), JR),
        "started ring, J+R": lambda n: (ring(n, True), JR)}
    print(f"\nn threads: verdict and seconds, unfolding and certificate included (published: SB-{PUBLISHED} under SC, "
          "a minute)")
    print(f"{'n':>4}{'events':>8}" + "".join(f"{name:>20}" for name in families) + f"{'SB, J+R explicit':>20}")
    points: dict[str, list[tuple[int, float]]] = {name: [] for name in (*families, "SB, J+R explicit")}
    for n in sizes:
        cells = []
        for name, make in families.items():
            if name == "started ring, J+R" and n > 50:
                cells.append("-")
                continue
            program, model = make(n)
            started = time.perf_counter()
            allowed = decide(program, model, explained=False).allowed
            points[name].append((n, time.perf_counter() - started))
            cells.append(f"{'A' if allowed else 'F'} {points[name][-1][1]:.3f}")
        if n <= EXPLICIT:
            asked = goal_of(store_buffering(n))
            points["SB, J+R explicit"].append((n, milliseconds(lambda g=asked: Explicit(g).play(), 1) / 1000))
            cells.append(f"A {points['SB, J+R explicit'][-1][1]:.3f}")
        else:
            cells.append("-")
        print(f"{n:>4}{4 * n:>8}" + "".join(f"{cell:>20}" for cell in cells), flush=True)
    return points


def plot(points: dict[str, list[tuple[int, float]]], file: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.5))
    for name, pairs in points.items():
        axes.plot([n for n, _ in pairs], [seconds for _, seconds in pairs], marker="o", label=name)
    axes.plot([PUBLISHED], [60], marker="*", linestyle="none", color="black", label="published: SB, SC")
    axes.set(xscale="log", yscale="log", xlabel="threads", ylabel="seconds, evidence checked")
    axes.legend(fontsize="small")
    figure.tight_layout()
    figure.savefig(file)
    print(f"drawn to {file}")


def commands() -> None:
    print("\nwhole commands, gradual run TEST --model jr: seconds, and those of the processor, best of 3")
    for row in rows():
        if row["label"]:
            values = ["--values", row["values"]] if row["values"] else []
            file = str(CAUSALITY / f"{row['test']}.litmus")
            call = [sys.executable, "-m", "gradual.cli", "run", file, "--model", "jr", *values]
            used = [resource.getrusage(resource.RUSAGE_CHILDREN)]

            def work(call: list[str] = call, used: list[resource.struct_rusage] = used) -> None:
                subprocess.run(call, check=True, capture_output=True)
                used.append(resource.getrusage(resource.RUSAGE_CHILDREN))

            seconds = milliseconds(work, 3) / 1000
            cpu = min(b.ru_utime + b.ru_stime - a.ru_utime - a.ru_stime for a, b in pairwise(used))
            print(f"{row['test']:<15}{seconds:>7.3f}{cpu:>7.3f}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plot", metavar="FILE")
    parser.add_argument("--commands", action="store_true")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--threads", type=int, nargs="*", default=[2, 3, 4, 5, 6, 7, 10, 15, 25, 50, 100, 200])
    chosen = parser.parse_args()
    fine = causality(chosen.repetitions)
    fine &= executions(1)
    points = growth(chosen.threads)
    if chosen.plot:
        plot(points, chosen.plot)
    if chosen.commands:
        commands()
    print("\nevery verdict is the expected one" if fine else "\nverdicts marked with ! are not the expected ones")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
