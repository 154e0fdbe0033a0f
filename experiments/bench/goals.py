"""How fast it has to be, and how fast it is: a row per kind of work, with axe and another checkout beside it.

    PATH=…:$PATH python -m experiments.bench.goals [--before DIR] [--only ROW …] [--quick] [--repetitions 5]

Whole processes, from the start of the command to its end, but for the rows that say otherwise; the peers take turns.
Medians of the repetitions: seconds, CPU seconds (in which a busy machine shows less), peak memory of the largest
process. A row that is measured again replaces what was measured before; results/speed.csv has every measurement,
speed.md the table. Exits with 1 where a row of this checkout misses its goal.
"""

from __future__ import annotations

import argparse
import csv
import json
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path

from experiments import computer
from experiments.bench.crowds import crowd
from experiments.bench.peers import ANSWERED, gradual
from experiments.bench.process import Done, Failed, Limits, run
from experiments.bench.workloads import WARM_UP, Workload
from experiments.markdown import NOTHING, number, table
from experiments.trees import ROOT, THIS, Tree, add_before

TRACES = ROOT / "build" / "bench"
RESULTS = ROOT / "experiments" / "results"
AXE = "axe"


@dataclass(frozen=True)
class Row:
    """One kind of work."""

    name: str
    work: str
    seconds: float
    """The goal; where there is a row to go by, a multiple of its time."""
    measure: Callable[[Tree, Limits], Done]
    axe: Callable[[], Sequence[str]] | None = None
    """What axe is asked."""
    operations: int = 0
    """Of one history."""
    gigabytes: float | None = None
    by: str | None = None
    """The row that the goal is a multiple of."""


@dataclass(frozen=True)
class Sample:
    """One measurement, or why there is none."""

    row: str
    peer: str
    seconds: float | None = None
    cpu: float | None = None
    peak_mb: float | None = None
    failure: str | None = None


# --- ways to measure


def checked(file: Callable[[], Path], model: str, *more: str) -> Callable[[Tree, Limits], Done]:
    return lambda tree, limits: gradual(tree, limits, "check", file(), "--model", model, *more)


def engine_alone(workload: Workload) -> Callable[[Tree, Limits], Done]:
    """The check of a history that was read, in a process that has checked another one; nothing is counted besides."""

    def measure(tree: Tree, limits: Limits) -> Done:
        options = {"unordered": False} if tree == THIS else {}  # which earlier ones may not know
        jobs = [{"file": str(one.file(TRACES, "parquet")), "models": [one.model], "options": options}
                for one in (WARM_UP[workload.model], workload)]
        done = run(tree.command, limits, "\n".join(map(json.dumps, jobs)))
        *_, answer, _ = map(json.loads, done.output.splitlines())
        if answer["verdict"] != "consistent":
            raise Failed(str(answer["message"])[:60])
        return done._replace(seconds=answer["seconds"], cpu=answer["cpu"])

    return measure


def batch(tree: Tree, limits: Limits) -> Done:
    with tempfile.TemporaryDirectory() as folder:
        models = [word for model in ("sc", "tso", "pso") for word in ("--model", model)]
        return gradual(tree, limits, "batch", crowd("broken", TRACES), *models, "--out", f"{folder}/results")


def first_check(tree: Tree, limits: Limits) -> Done:
    """With nothing compiled yet."""
    with tempfile.TemporaryDirectory() as cache:
        return gradual(tree, limits, "check", WARM_UP["tso"].file(TRACES, "parquet"), "--model", "tso",
                       environment={"GRADUAL_CACHE_DIR": cache, "NUMBA_CACHE_DIR": cache})


# --- the rows


def single(name: str, workload: Workload, ending: str, seconds: float, gigabytes: float | None = None,
           by: str | None = None) -> Row:
    """One history, the whole process."""
    size = f"10{str(len(str(workload.operations)) - 1).translate(str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹'))}"
    kind = "Parquet" if ending == "parquet" else "axe text"
    return Row(name, f"{size} operations, {workload.threads} threads, {workload.locations} locations, "
                     f"{workload.model.upper()}, {kind}",
               seconds, checked(lambda: workload.file(TRACES, ending), workload.model),
               lambda: ["check", workload.model.upper(), str(workload.file(TRACES, "axe"))],
               workload.operations, gigabytes, by)


def consistent(model: str, operations: int, threads: int = 8, locations: int = 256) -> Workload:
    return Workload(model, "consistent", "as issued", operations, threads, locations)


def rows() -> Iterator[Row]:
    small = Workload("sc", "consistent", "as issued", 200, 4, 8)
    yield Row("small", "a 200-operation history, SC, axe text", 0.2, checked(lambda: small.file(TRACES, "axe"), "sc"),
              lambda: ["check", "SC", str(small.file(TRACES, "axe"))], 200)
    for operations, name, seconds in ((10_000, "10k", 0.3), (100_000, "100k", 0.45)):
        for model in ("sc", "tso", "pso"):
            yield single(f"{name}-{model}", consistent(model, operations), "axe", seconds)
    crowded = Workload("pso", "consistent", "as issued", 10_000, 64, 16)
    yield Row("crowded", "10⁴ operations, 64 threads, 16 locations, PSO, the engine alone", 0.05, engine_alone(crowded))
    for name, told, seconds in (("random", "93 % violations", 1.5), ("consistent", "all consistent", 0.7)):
        yield Row(name, f"10 000 histories × 17 operations, {told}, SC, --json", seconds, _crowd_checked(f"{name}.axe"),
                  partial(_asked_of_axe, f"{name}.axe"))
    yield Row("batch", "400 broken histories × 3 models in a batch, a file each", 3.0, batch)
    yield Row("first", "the first compiled check after installing", 6.0, first_check)
    for model, seconds in (("sc", 0.9), ("tso", 1.2)):
        yield single(f"1m-{model}", consistent(model, 1_000_000), "parquet", seconds, 0.45)
        yield single(f"1m-{model}-text", consistent(model, 1_000_000), "axe", 1.5, by=f"1m-{model}")
    for model, times, gigabytes in (("tso", 1.0, None), ("wmo", 3.0, 1.5)):
        yield Row(f"1m-{model}-alone", f"10⁶ operations, 8 threads, 256 locations, {model.upper()}, the engine alone",
                  times, engine_alone(consistent(model, 1_000_000)), None, 1_000_000, gigabytes, "1m-tso-alone")
    yield single("10m-tso", consistent("tso", 10_000_000, 16, 1024), "parquet", 12.0, 4.0)


def _crowd_checked(kind: str) -> Callable[[Tree, Limits], Done]:
    return checked(lambda: crowd(kind, TRACES), "sc", "--json")


def _asked_of_axe(kind: str) -> list[str]:
    return ["check", "SC", str(crowd(kind, TRACES))]


# --- measuring


def measured(row: Row, trees: Sequence[Tree], asked: argparse.Namespace) -> list[Sample]:
    """All peers in turn, as often as was asked for; one that failed is not asked again."""
    limits = Limits(asked.timeout, asked.memory)
    peers: dict[str, Callable[[], Done]] = {tree.name: lambda tree=tree: row.measure(tree, limits) for tree in trees}
    program = shutil.which(AXE)
    if program and row.axe is not None and row.operations <= asked.axe_up_to:
        question = [program, *row.axe()]
        peers[AXE] = lambda: run(question, limits, fine=ANSWERED)
    samples: list[Sample] = []
    for repetition in range(asked.repetitions):
        for peer, ask in peers.items():
            if any(sample.peer == peer and sample.failure for sample in samples):
                continue
            try:
                done = ask()
                samples.append(Sample(row.name, peer, done.seconds, done.cpu, done.peak_mb))
            except Failed as failed:
                samples.append(Sample(row.name, peer, failure=str(failed)))
            told = samples[-1].failure or f"{samples[-1].seconds:.3f} s, CPU {samples[-1].cpu:.3f} s"
            print(row.name, peer, repetition + 1, told, file=sys.stderr, flush=True)
    return samples


def read(file: Path) -> list[Sample]:
    if not file.exists():
        return []
    with open(file, newline="", encoding="utf-8") as stream:
        return [Sample(row["row"], row["peer"], *(float(row[name]) if row[name] else None
                                                  for name in ("seconds", "cpu", "peak_mb")), row["failure"] or None)
                for row in csv.DictReader(stream)]


def write(file: Path, samples: Iterable[Sample]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with open(file, "w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, [field.name for field in fields(Sample)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(map(asdict, samples))


# --- the table


class Report:
    """What the samples say of each row."""

    def __init__(self, samples: Sequence[Sample]) -> None:
        self._samples = samples

    def median(self, row: str, peer: str, name: str) -> float | None:
        values = [value for sample in self._samples
                  if (sample.row, sample.peer) == (row, peer) and (value := getattr(sample, name)) is not None]
        return statistics.median(values) if values else None

    def goal(self, row: Row) -> float | None:
        """Seconds."""
        if row.by is None:
            return row.seconds
        base = self.median(row.by, THIS.name, "seconds")
        return None if base is None else row.seconds * base

    def misses(self, row: Row) -> bool:
        goal, seconds = self.goal(row), self.median(row.name, THIS.name, "seconds")
        peak = self.median(row.name, THIS.name, "peak_mb")
        late = goal is not None and seconds is not None and seconds > goal
        return late or (row.gigabytes is not None and peak is not None and peak > 1024 * row.gigabytes)

    def cell(self, row: Row, peer: str) -> str:
        seconds, cpu, peak = (self.median(row.name, peer, name) for name in ("seconds", "cpu", "peak_mb"))
        if seconds is None:
            failures = [sample.failure for sample in self._samples if (sample.row, sample.peer) == (row.name, peer)]
            return next(filter(None, failures), NOTHING)
        return f"{number(seconds)} s ({number(cpu)} CPU), {number(round(peak or 0))} MB"

    def line(self, row: Row, peers: Sequence[str]) -> list[str]:
        goal = self.goal(row)
        told = f"{number(row.seconds)} × {row.by}" if row.by else f"{number(row.seconds)} s"
        told += f" = {number(goal)} s" if row.by and goal else ""
        told += f", {number(row.gigabytes)} GB" if row.gigabytes else ""
        kept = NOTHING if self.median(row.name, THIS.name, "seconds") is None else "no" if self.misses(row) else "yes"
        return [row.name, row.work, *(self.cell(row, peer) for peer in peers), told, kept]


def text(samples: Sequence[Sample], asked: argparse.Namespace) -> Iterator[str]:
    peers = [name for name in (AXE, "before", THIS.name) if any(sample.peer == name for sample in samples)]
    report = Report(samples)
    yield from ("# Speed", "", "Written by `python -m experiments.bench.goals`: medians; seconds (CPU seconds), peak "
                "memory. Whole processes, reading, certificate and output included, where a row says no more.",
                "")
    yield from (f"- {note}" for note in (*computer.notes(), f"the last rows with {asked.repetitions} repetitions"))
    yield ""
    yield from table(["row", "work", *("now" if peer == THIS.name else peer for peer in peers), "goal", "kept"],
                     [report.line(row, peers) for row in rows()], 2)


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_before(parser)
    names = [row.name for row in rows()]
    parser.add_argument("--only", nargs="+", choices=names, metavar="ROW", help=f"of {', '.join(names)}")
    parser.add_argument("--quick", action="store_true", help="once, and no history of a million operations or more")
    parser.add_argument("--repetitions", type=int, default=5, metavar="N")
    parser.add_argument("--axe-up-to", type=int, default=100_000, metavar="N",
                        help="operations; a million take it a minute or more, and 16 GB")
    parser.add_argument("--timeout", type=float, default=300.0, metavar="S", help="seconds for each process")
    parser.add_argument("--memory", type=float, default=18.0, metavar="GIB", help="for each process")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="DIR")
    asked = parser.parse_args()
    asked.repetitions = 1 if asked.quick else asked.repetitions
    return asked


def main() -> int:
    asked = options()
    trees = [THIS, *([asked.before] if asked.before else [])]
    chosen = [row for row in rows() if row.name in (asked.only or [row.name])
              and not (asked.quick and row.operations >= 1_000_000)]
    for tree in trees:  # bytecode, and what is compiled
        for model in ("sc", "tso", "pso"):
            gradual(tree, Limits(asked.timeout, asked.memory), "check", WARM_UP[model].file(TRACES, "parquet"),
                    "--model", model)
    for row in chosen:
        new = measured(row, trees, asked)
        renewed = {(sample.row, sample.peer) for sample in new}
        kept = [sample for sample in read(asked.out / "speed.csv") if (sample.row, sample.peer) not in renewed]
        write(asked.out / "speed.csv", [*kept, *new])
    samples = read(asked.out / "speed.csv")
    lines = list(text(samples, asked))
    (asked.out / "speed.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))
    return int(any(Report(samples).misses(row) for row in chosen))


if __name__ == "__main__":
    sys.exit(main())
