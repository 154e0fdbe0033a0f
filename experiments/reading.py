"""How fast traces are read and written, and in how much memory: CPU seconds of one process, the least of some.

    python -m experiments.reading [--lines 2000000] [--operations 200000] [--before DIR] [--out FILE]

gem5's and Spike's logs are real ones, from ../shared/traces (without it, a few from traces/), one behind the other and
again until there are enough lines, each time with other values at the selected addresses; in dense ones nearly every
third line is a selected access. The axe trace and the table are of one history of a TSO machine. A smaller trace of the
same kind is read or written first, so that nothing is loaded or compiled while the time is taken. With --before the
trees take turns.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import gradual
from experiments import computer
from experiments.markdown import number, table
from experiments.trees import ROOT, THIS, Tree, add_before
from gradual.machines import generate

SHARED = ROOT.parent / "shared" / "traces"
TRACES = SHARED if SHARED.exists() else ROOT / "traces"
WORKER = Path(__file__).with_name("reading_worker.py")
SMALL = 40_000
"""Lines of the trace that is read first."""
DENSE = "8t-"
"""In the names of gem5's logs in which every few lines are selected accesses."""
_ACCESS = re.compile(rb" D=0x([0-9a-f]{16}) A=0x([0-9a-f]+)")


class Task(NamedTuple):
    """Something to measure."""

    name: str
    unit: str
    count: int
    """Lines or operations."""
    job: dict[str, Any]
    text: Path
    """What is read or written, not zipped."""

    @property
    def bytes(self) -> int:
        return self.text.stat().st_size


class Measured(NamedTuple):
    seconds: float
    peak: float
    operations: int


# --- what is measured


class Logs(NamedTuple):
    """Some logs, and the addresses that they share."""

    files: list[Path]
    low: int
    high: int

    @property
    def addresses(self) -> str:
        return f"{self.low:#x}:{self.high:#x}"

    def write(self, lines: int, file: Path) -> int:
        """One behind the other, until there are so many lines. Says how many there are."""
        texts = [gzip.decompress(log.read_bytes()) for log in self.files]
        count = 0
        with file.open("wb") as out:
            for time, text in enumerate((text for _ in range(lines) for text in texts), 1):
                if count >= lines:
                    break
                out.write(_ACCESS.sub(lambda found, time=time: self._renewed(found, time), text))
                count += text.count(b"\n")
        return count

    def _renewed(self, found: re.Match[bytes], time: int) -> bytes:
        """An access of gem5's with a value that no other time has."""
        if not self.low <= int(found[2], 16) < self.high or not int(found[1], 16):
            return found[0]
        return b" D=0x%016x A=0x%s" % (int(found[1], 16) + (time << 32), found[2])


def known_logs(folder: Path, dense: bool) -> Logs:
    with (folder / "manifest.csv").open() as rows:
        known = [row for row in csv.DictReader(rows) if (DENSE in row["log"]) == dense]
    (low, size), _ = Counter((row["address"], row["bytes"]) for row in known).most_common(1)[0]
    files = [folder / row["log"] for row in known if (row["address"], row["bytes"]) == (low, size)]
    return Logs(files, int(low, 16), int(low, 16) + int(size))


def logs(lines: int, folder: Path) -> Iterator[Task]:
    for name, traces, dense in (("gem5 Exec, RISC-V", "gem5", False), ("gem5 Exec, RISC-V, dense", "gem5", True),
                                ("gem5 Exec, x86", "gem5-x86", False), ("gem5 Exec, x86, dense", "gem5-x86", True),
                                ("Spike", "spike", False)):
        if TRACES == SHARED or (traces == "gem5" and not dense):
            some = known_logs(TRACES / traces, dense)
            yield from log(name, some, lines if "gem5" in name else lines // 8, folder)


def log(name: str, some: Logs, lines: int, folder: Path) -> Iterator[Task]:
    """A log as it is, and zipped."""
    stem = name.replace(" ", "-").replace(",", "")
    small, file, zipped = folder / f"{stem}-small.log", folder / f"{stem}.log", folder / f"{stem}.log.gz"
    some.write(SMALL, small)
    count = some.write(lines, file)
    job = {"small": str(small), "addresses": [some.addresses]}
    yield Task(name, "lines", count, {"file": str(file), **job}, file)
    with gzip.open(zipped, "wb", compresslevel=6) as out:
        out.write(file.read_bytes())
    yield Task(f"{name}, gzipped", "lines", count, {"file": str(zipped), **job}, file)


def tables(operations: int, folder: Path) -> Iterator[Task]:
    made = {"small": generate("tso", 8, 10_000, 64, 1), "long": generate("tso", 8, operations, 256, 1)}
    for size, history in made.items():
        for format in ("axe", "csv"):
            gradual.write([history], folder / f"{size}.{format}")
    for format in ("axe", "csv"):
        yield Task(f"{format} read", "operations", operations,
                   {"file": str(folder / f"long.{format}"), "small": str(folder / f"small.{format}")},
                   folder / f"long.{format}")
    for format in ("axe", "csv"):
        yield Task(f"{format} written", "operations", operations,
                   {"file": str(folder / f"out.{format}"), "small": str(folder / "small.csv"),
                    "source": str(folder / "long.csv")}, folder / f"long.{format}")


# --- measuring


def measure(task: Task, trees: list[Tree], repetitions: int) -> dict[str, Measured]:
    """By tree. In turns, so that a noisy machine is as noisy for each."""
    best: dict[str, Measured] = {}
    for tree in trees * repetitions:
        done = subprocess.run([tree.python, "-I", WORKER, json.dumps(task.job)], capture_output=True, text=True)
        if done.returncode and tree is THIS:
            sys.exit(f"{task.name}: {done.stderr}")
        if done.returncode:  # it has no such reader
            continue
        found = Measured(**json.loads(done.stdout.splitlines()[-1]))
        best[tree.name] = min(found, best.get(tree.name, found))
    return best


def row(task: Task, found: dict[str, Measured]) -> list[str]:
    now, before = found["this"], found.get("before")
    cells = [task.name, task.unit, number(task.count), number(now.operations),
             number(task.count / now.seconds / 1e6), number(task.bytes / 1e6 / now.seconds), number(now.peak)]
    if before is None:
        return [*cells, "", ""]
    same = "" if before.operations == now.operations else f" ({number(before.operations)} operations)"
    return [*cells, number(task.count / before.seconds / 1e6) + same, number(before.seconds / now.seconds)]


def flat(lines: int, folder: Path) -> Iterator[str]:
    """Memory for a log and for one ten times as long, of which little is selected."""
    some = known_logs(TRACES / "gem5", False)
    for part in (10, 1):
        file = folder / f"flat-{part}.log"
        count = some.write(lines // part, file)
        task = Task("", "lines", count, {"file": str(file), "small": str(folder / "flat-10.log"),
                                         "addresses": [f"{some.low:#x}:{some.low + 8:#x}"]}, file)
        found = measure(task, [THIS], 1)["this"]
        yield (f"{number(count)} lines ({number(task.bytes / 1e6)} MB), {number(found.operations)} operations: "
               f"{number(found.peak)} MB")


def report(arguments: argparse.Namespace, folder: Path) -> Iterator[str]:
    trees = [THIS, *([arguments.before] if arguments.before else [])]
    yield "# Reading and writing traces"
    yield ""
    yield from (f"- {note}" for note in computer.notes())
    yield (f"- {number(arguments.lines)} lines, {number(arguments.operations)} operations: CPU seconds, the least of "
           f"{arguments.repetitions}")
    yield ""
    head = ["trace", "unit", "how many", "operations", "million/s", "MB/s", "peak MB"]
    head += ["before, million/s", "times as fast"]
    tasks = [*logs(arguments.lines, folder), *tables(arguments.operations, folder)]
    yield from table(head, (row(task, measure(task, trees, arguments.repetitions)) for task in tasks), 2)
    yield ""
    yield "MB are those of the text, not zipped. Memory of a gem5 log that grows, when one location is selected:"
    yield ""
    yield from (f"- {line}" for line in flat(arguments.lines, folder))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=2_000_000)
    parser.add_argument("--operations", type=int, default=200_000)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--out", type=Path, help="a file for the result, besides the screen")
    add_before(parser)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        lines = [*report(arguments, Path(temporary))]
    text = "\n".join(lines) + "\n"
    sys.stdout.write(text)
    if arguments.out is not None:
        arguments.out.write_text(text)


if __name__ == "__main__":
    main()
