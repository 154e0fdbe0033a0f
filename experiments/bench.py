"""How long checks take, and how much they leave open: medians and ratios from one run on one machine.

    python experiments/bench.py              everything, to experiments/results/ (half an hour or more)
    python experiments/bench.py --quick      up to 100 000 operations, once each, to experiments/results/quick/

Writes bench.md (tables), bench.csv (every single measurement), bench.svg and bench.png (the plot, with
matplotlib). A measurement that fails is shown as such, and the others go on. Traces come from
gradual/machines.py with fixed seeds, so another run measures the same work.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import hashlib
import io
import itertools
import json
import math
import os
import platform
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime, timezone
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any

import gradual
from gradual.deadline import Deadline
from gradual.deciding import saturation
from gradual.deciding.ladder import LADDERS, climb
from gradual.deciding.pipeline import write_pairs
from gradual.deciding.proof import Contradiction
from gradual.deciding.saturation import Saturation
from gradual.evidence import certificate
from gradual.history import History
from gradual.models.model import Model, model_named

RESULTS = Path(__file__).parent / "results"
SEED = 1
SMALL = (100, 200, 400)
DIRECT_UP_TO = 300
ENGINES = {"saturation": ("saturation", "auto"), "datalog": ("datalog", "auto"), "direct": ("auto", "direct")}
SHAPES = ((4, 16), (8, 64), (8, 256), (16, 256))
"""Threads and locations of the large traces."""
QUICK_SHAPES = ((4, 16), (8, 256))
CASES = (("sc", "SC"), ("tso", "SC"), ("tso", "TSO"), ("broken", "SC"))
"""The machine that ran, and the model its trace is checked against."""
FIT_FROM = 10_000
LOADED_REPETITIONS = 3
"""At least: without a process around it a check is cheap to repeat, and noise shows in short times."""
BETWEEN = (30_000, 300_000)
"""Sizes measured with everything loaded only: cheap points for the fit."""
COMPILED_FROM = max(getattr(module, "COMPILED_FROM", 0) for module in (certificate, saturation))
"""Operations from which every stage is compiled. A fit across it mixes two programs, and can even fall."""
REFERENCE = (8, 256)
TIME_LIMIT = 900.0
"""Seconds for one process; then it counts as failed."""
GNU_TIME = "/usr/bin/time"
PEAK = re.compile(r"Maximum resident set size \(kbytes\): (\d+)")
VERSIONS = ("gradual", "numpy", "numba", "clingo", "python-sat", "pandas", "pyarrow")

PEAK_HELPER = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[2:])
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // (1024 if sys.platform == "darwin" else 1)
open(sys.argv[1], "w").write(f"Maximum resident set size (kbytes): {peak}")
sys.exit(code)
"""
"""Stands in for GNU time. A process of its own: a child's peak begins with the size of who forked it."""


# What is measured, and where it is kept


@dataclass(frozen=True)
class Trace:
    machine: str
    operations: int
    threads: int
    locations: int
    seed: int = SEED

    @property
    def name(self) -> str:
        return f"{self.machine}-{self.operations}-{self.threads}t-{self.locations}l-{self.seed}"


@dataclass(frozen=True)
class Sample:
    """One measurement, a row of bench.csv. What does not apply is None."""

    part: str
    route: str
    machine: str = ""
    model: str = ""
    operations: int = 0
    threads: int = 0
    locations: int = 0
    seed: int = SEED
    repetition: int = 1
    seconds: float | None = None
    wall: float | None = None
    peak_mb: float | None = None
    unordered_percent: float | None = None
    verdict: str | None = None
    decided_by: str | None = None
    failure: str | None = None


def sample_of(part: str, route: str, trace: Trace, model: str, repetition: int = 1) -> Sample:
    return Sample(part, route, trace.machine, model, trace.operations, trace.threads, trace.locations, trace.seed,
                  repetition)


class Journal:
    """Every measurement so far, failures included."""

    def __init__(self) -> None:
        self.samples: list[Sample] = []

    def measure(self, sample: Sample, work: Callable[[], dict[str, Any]]) -> Sample:
        """Do the work and keep what it found. One failure must not cost the rest of a long run."""
        tell(f"{sample.part}: {sample.route} {sample.machine} {sample.model} {sample.operations or ''} "
             f"{sample.threads or ''}x{sample.locations or ''} #{sample.repetition}")
        try:
            done = replace(sample, **work())
        except Exception as error:
            done = replace(sample, failure=reason(error))
            tell(f"  failed: {done.failure}")
        self.samples.append(done)
        return done

    def find(self, **wanted: Any) -> list[Sample]:
        return [s for s in self.samples if all(getattr(s, name) == value for name, value in wanted.items())]


def tell(text: str) -> None:
    print(" ".join(text.split()), file=sys.stderr, flush=True)


def reason(error: Exception) -> str:
    """A failure in a short line, without the paths of this machine (results are published)."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    text = re.sub(r"(?<![\w.])/\S+", "…", lines[-1].strip() if lines else "")
    return f"{type(error).__name__}: {text}"[:160].replace("|", "/")


def median(samples: Iterable[Sample], field: str) -> float | None:
    values = [value for s in samples if (value := getattr(s, field)) is not None]
    return statistics.median(values) if values else None


class Traces:
    """Traces on disk and in memory, each made once: making a large one takes longer than checking it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.history = lru_cache(maxsize=8)(self._made)

    def _made(self, trace: Trace) -> History:
        from gradual.machines import generate

        return generate(trace.machine, trace.threads, trace.operations, trace.locations, trace.seed)

    def file(self, trace: Trace, ending: str) -> Path:
        path = self.folder / f"{trace.name}.{ending}"
        if not path.exists():
            gradual.write([self.history(trace)], path)
        return path


# Processes


@lru_cache(maxsize=1)
def peak_command() -> tuple[str, ...]:
    """What to put before a command, and a file, to have its peak memory written to that file."""
    if os.path.exists(GNU_TIME):  # others of that name know no -v
        probe = subprocess.run([GNU_TIME, "-v", "-o", os.devnull, sys.executable, "-c", ""], capture_output=True)
        if probe.returncode == 0:
            return GNU_TIME, "-v", "-o"
    return sys.executable, "-c", PEAK_HELPER


def run(command: Sequence[str | Path], folder: Path, limit: float) -> tuple[dict[str, Any], str]:
    """Wall time and peak memory of a fresh process, and what it printed (to a file: a pipe would slow it down)."""
    peak, out, err = folder / "peak.txt", folder / "out.txt", folder / "err.txt"
    with open(out, "wb") as stdout, open(err, "wb") as stderr:
        started = time.perf_counter()
        process = subprocess.Popen([*peak_command(), peak, *command], stdout=stdout, stderr=stderr, cwd=folder,
                                   start_new_session=True)
        try:
            code = process.wait(limit)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)  # the session holds the wrapper and the process it measures
            process.wait()
            raise (TimeoutError(f"not done within {limit:g} s") if isinstance(error, subprocess.TimeoutExpired)
                   else error) from None
        wall = time.perf_counter() - started
    output = out.read_text(errors="replace")
    if code not in range(4) or not output:  # those of `gradual check`; axe ends with 0
        raise RuntimeError(err.read_text(errors="replace") or f"exit status {code}")
    found = PEAK.search(peak.read_text())
    return {"wall": wall, "peak_mb": int(found[1]) / 1024 if found else None}, output


def run_check(file: Path, model: str) -> dict[str, Any]:
    """`gradual check` as a user calls it; everything from the start of Python to its end is in `wall`."""
    command = [sys.executable, "-m", "gradual.cli", "check", file, "--model", model.lower(), "--engine", "saturation",
               "--json"]
    found, output = run(command, file.parent, TIME_LIMIT)
    record = json.loads(output)
    if record["verdict"] == "error":
        raise RuntimeError(record["message"])
    return found | {name: record[name] for name in ("seconds", "verdict", "decided_by", "unordered_percent")}


def run_axe(axe: str, file: Path, model: str, limit: float) -> dict[str, Any]:
    found, output = run([axe, "check", model, file], file.parent, limit)
    answer = output.strip()
    if answer not in ("OK", "NO"):
        raise RuntimeError(f"axe says {answer[:80]!r}")
    return found | {"verdict": "consistent" if answer == "OK" else "violation"}


# The parts


@dataclass(frozen=True)
class Plan:
    """How much of everything."""

    repetitions: int
    sizes: tuple[int, ...]
    shapes: tuple[tuple[int, int], ...]
    histories: int
    axe_limit: float

    @property
    def largest(self) -> int:
        return self.sizes[-1]

    @property
    def loaded_sizes(self) -> list[int]:
        return sorted([*self.sizes, *(n for n in BETWEEN if n < self.largest)])


def plan_of(quick: bool, repetitions: int | None) -> Plan:
    if quick:
        return Plan(repetitions or 1, (1_000, 10_000, 100_000), QUICK_SHAPES, 20, 10.0)
    return Plan(repetitions or 3, (1_000, 10_000, 100_000, 1_000_000), SHAPES, 200, 300.0)


def check_here(history: History, model: str, engine: str, completion: str = "auto") -> dict[str, Any]:
    """A check in this process: nothing is loaded any more, so this is the algorithm and its certificate alone."""
    verdict = gradual.check(history, model, engine=engine, completion=completion)
    return {"seconds": verdict.seconds, "verdict": verdict.verdict, "decided_by": verdict.decided_by,
            "unordered_percent": verdict.unordered_percent}


def measure_engines(journal: Journal, traces: Traces, plan: Plan) -> None:
    """Every repetition another history, the engines taking turns: noise then hits all of them."""
    for engine, completion in ENGINES.values():  # loads clingo and the SAT solver
        gradual.check(traces.history(Trace("sc", 20, 4, 8)), "sc", engine=engine, completion=completion)
    for operations in SMALL:
        for repetition in range(1, plan.repetitions + 1):
            trace = Trace("sc", operations, 4, 8, repetition)
            for name, (engine, completion) in ENGINES.items():
                if name != "direct" or operations <= DIRECT_UP_TO:
                    journal.measure(
                        sample_of("engines", name, trace, "SC", repetition),
                        lambda t=trace, e=engine, c=completion: check_here(traces.history(t), "SC", e, c))


def large(plan: Plan, sizes: Iterable[int]) -> Iterator[tuple[Trace, list[str]]]:
    """The large traces, each with the models it is checked against."""
    for threads, locations in plan.shapes:
        for machine in dict.fromkeys(machine for machine, _ in CASES):
            for operations in sizes:
                yield Trace(machine, operations, threads, locations), [m for of, m in CASES if of == machine]


def warm_up(traces: Traces) -> None:
    """Fill numba's cache on disk and load it here: compiling is paid once per installation, not per check."""
    for machine, model in CASES:
        trace = Trace(machine, 20_000, 4, 16)
        tell(f"warming up: {machine} {model}")
        gradual.check(traces.history(trace), model, engine="saturation")
    for model in ("SC", "TSO"):
        warm_up_search(traces.history(Trace(model.lower(), 4_000, 4, 16)), model_named(model))
    run_check(traces.file(Trace("tso", 20_000, 4, 16), "parquet"), "TSO")


def warm_up_search(history: History, model: Model) -> None:
    """Assume a pair and take it back: few traces need a search, and the first one must not pay for compiling it."""
    order = Saturation(history, model, compiled=True)
    order.run()
    mark = order.mark()
    for pair in itertools.islice(order.unordered(), 1):
        with contextlib.suppress(Contradiction):
            order.assume(*pair)
    order.undo(mark)


def measure_sizes(journal: Journal, traces: Traces, plan: Plan) -> None:
    for trace, models in large(plan, plan.loaded_sizes):
        for model in models:
            for repetition in range(1, max(plan.repetitions, LOADED_REPETITIONS) + 1):
                if trace.operations in plan.sizes and repetition <= plan.repetitions:
                    journal.measure(sample_of("sizes", "process", trace, model, repetition),
                                    lambda t=trace, m=model: run_check(traces.file(t, "parquet"), m))
                journal.measure(sample_of("sizes", "loaded", trace, model, repetition),
                                lambda t=trace, m=model: check_here(traces.history(t), m, "saturation"))


def measure_reading(journal: Journal, traces: Traces, plan: Plan) -> None:
    """How long the same data takes pandas to read: a clock of this machine that everybody knows."""
    trace = reference_trace(plan)
    for repetition in range(1, plan.repetitions + 1):
        for engine in (None, "pyarrow"):
            journal.measure(sample_of("reading", f"read_csv {engine or 'default'}", trace, "", repetition),
                            lambda e=engine: {"seconds": seconds_to_read(traces, trace, e)})


def reference_trace(plan: Plan) -> Trace:
    return Trace("tso", plan.largest, *REFERENCE)


def seconds_to_read(traces: Traces, trace: Trace, engine: Any) -> float:
    """Of one read_csv, after a tiny one that imports what it needs."""
    import pandas

    file = traces.file(trace, "csv")
    pandas.read_csv(io.StringIO("a,b\n1,2\n"), engine=engine)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of columns with numbers and names, as addresses are
        started = time.perf_counter()
        frame = pandas.read_csv(file, engine=engine)
        seconds = time.perf_counter() - started
    if len(frame) < trace.operations:  # rows with initial values come on top
        raise AssertionError(f"only {len(frame)} rows were read")
    return seconds


def measure_unordered(journal: Journal, traces: Traces, plan: Plan) -> None:
    for machine, model in (("sc", "SC"), ("tso", "TSO")):
        names = [*(rung.criteria[-1] for rung in LADDERS[model]), "saturation"]
        for seed in range(1, plan.histories + 1):
            trace = Trace(machine, 200, 4, 8, seed)
            found = lru_cache(maxsize=1)(lambda t=trace, m=model: left_open(traces.history(t), model_named(m)))
            for name in names:
                journal.measure(sample_of("unordered", name, trace, model),
                                lambda f=found, n=name: {"unordered_percent": f()[n]})


def left_open(history: History, model: Model) -> dict[str, float]:
    """The percentage of write pairs that the store order of each criterion, and of saturation, leaves open."""
    order = Saturation(history, model)
    if order.run() is not None:
        raise AssertionError("a sound machine violates its own model")
    ordered = {answer.rung.criteria[-1]: len({frozenset(pair) for pair in answer.ww if pair[0] != pair[1]})
               for answer in climb(history, model, Deadline())}
    pairs = write_pairs(history)
    return {name: 100 * (pairs - n) / pairs for name, n in (ordered | {"saturation": order.ordered_pairs()}).items()}


def measure_axe(journal: Journal, traces: Traces, plan: Plan) -> None:
    """The same traces; once a size fails, larger ones of its kind are not waited for."""
    axe = shutil.which("axe")
    gave_up: set[tuple[str, str, int, int]] = set()
    for trace, models in large(plan, plan.sizes) if axe else ():
        for model in models:
            kind = trace.machine, model, trace.threads, trace.locations
            for repetition in range(1, plan.repetitions + 1):
                if kind not in gave_up and journal.measure(
                        sample_of("axe", "axe", trace, model, repetition),
                        lambda t=trace, m=model: run_axe(axe, traces.file(t, "axe"), m, plan.axe_limit)).failure:
                    gave_up.add(kind)


# The report


def number(value: float | None) -> str:
    """Three digits that count."""
    if value is None or math.isnan(value):
        return "—"
    digits = max(0, 2 - math.floor(math.log10(abs(value)))) if value else 0
    return f"{value:,.{digits}f}".replace(",", " ")


def cell(samples: Sequence[Sample], field: str) -> str:
    """The median of what succeeded, else the first failure."""
    value = median(samples, field)
    if value is None and (failed := [s.failure for s in samples if s.failure]):
        return f"failed ({failed[0]})"
    return number(value)


def words(samples: Sequence[Sample], field: str) -> str:
    """What was said, usually the same every time."""
    return " / ".join(dict.fromkeys(str(value) for s in samples if (value := getattr(s, field)))) or "—"


def ratio(above: float | None, below: float | None) -> str:
    return number(above / below) if above is not None and below else "—"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], text_columns: int = 0) -> list[str]:
    """A Markdown table whose first columns are text, the others numbers."""
    rule = [":--" if at < text_columns else "--:" for at in range(len(head))]
    return ["", *(f"| {' | '.join(row)} |" for row in (head, rule, *rows)), ""]


def machine_notes() -> list[str]:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    load = ", ".join(f"{load:.1f}" for load in os.getloadavg())
    return [f"{processor()}, {os.cpu_count()} cores, {memory:.0f} GiB of memory, {platform.system()} "
            f"{platform.machine()}; load before the run {load} (1, 5, 15 minutes).",
            f"Python {platform.python_version()}, " + ", ".join(f"{name} {version(name)}" for name in VERSIONS) + ".",
            f"{datetime.now(timezone.utc):%Y-%m-%d %H:%M} UTC."]


def fingerprint() -> str:
    """Of the code that is measured: processes load it from disk, so an edit during the run would mix two programs."""
    root = Path(gradual.__file__).parents[1]
    digest = hashlib.sha256()
    for file in sorted(path for part in ("gradual", "adapters", "datalog") for path in (root / part).rglob("*")
                       if path.suffix in (".py", ".lp")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def processor() -> str:
    try:
        found = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())
    except OSError:
        found = None
    return found[1].strip() if found else platform.processor() or "unknown processor"


def version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "?"


def report_engines(journal: Journal, plan: Plan) -> Iterator[str]:
    yield "## 1. Small histories: the engines"
    yield ""
    yield (f"sc machine, 4 threads, 8 locations, model SC. Seconds of the check with everything loaded, median of "
           f"as many histories as repetitions ({plan.repetitions}); × is the ratio to saturation. The plain SAT "
           f"encoding (direct) is tried up to {DIRECT_UP_TO} operations.")
    rows = []
    for operations in SMALL:
        found = {name: journal.find(part="engines", route=name, operations=operations) for name in ENGINES}
        base = median(found["saturation"], "seconds")
        rows.append([str(operations), *(cell(found[name], "seconds") for name in ENGINES),
                     *(ratio(median(found[name], "seconds"), base) for name in ("datalog", "direct"))])
    yield from table(["operations", *ENGINES, "datalog ×", "direct ×"], rows)


def kinds(plan: Plan) -> Iterator[dict[str, Any]]:
    """What a growth curve is about: a machine, a model, threads and locations."""
    for machine, model in CASES:
        for threads, locations in plan.shapes:
            yield {"machine": machine, "model": model, "threads": threads, "locations": locations}


def report_sizes(journal: Journal, plan: Plan) -> Iterator[str]:
    yield "## 2. Saturation, by size"
    yield ""
    yield (f"`gradual check FILE.parquet --model M --engine saturation --json` in a fresh process, median of "
           f"{plan.repetitions}, numba's cache on disk filled before. *check*: `seconds` of the JSON record, which "
           "includes loading the compiled kernels the first time they are used (from some thousand operations on). "
           "*loaded*: the same check in a process that has loaded everything, median of "
           f"{max(plan.repetitions, LOADED_REPETITIONS)}. *wall*: the whole process, from the "
           "start of Python to the last byte written. *peak*: its resident memory.")
    rows = []
    for kind in kinds(plan):
        for operations in plan.sizes:
            found = journal.find(part="sizes", route="process", operations=operations, **kind)
            loaded = journal.find(part="sizes", route="loaded", operations=operations, **kind)
            rows.append([kind["machine"], kind["model"], words(found, "verdict"), words(found, "decided_by"),
                         str(kind["threads"]), str(kind["locations"]), number(float(operations)),
                         cell(found, "seconds"), cell(loaded, "seconds"), cell(found, "wall"),
                         cell(found, "peak_mb")])
    yield from table(["machine", "model", "verdict", "decided by", "threads", "locations", "operations", "check s",
                      "loaded s", "wall s", "peak MB"], rows, 4)


def exponent(points: Sequence[tuple[float, float]]) -> float | None:
    """The slope of log time over log operations, by least squares."""
    if len(points) < 2:
        return None
    return statistics.linear_regression(*zip(*((math.log(n), math.log(t)) for n, t in points), strict=True)).slope


def curve(journal: Journal, plan: Plan, route: str, field: str, kind: dict[str, Any]) -> list[tuple[float, float]]:
    found = ((n, median(journal.find(part="sizes", route=route, operations=n, **kind), field))
             for n in plan.loaded_sizes)
    return [(n, value) for n, value in found if value]


def fitted(points: Iterable[tuple[float, float]], start: int) -> str:
    """The exponent, with the number of points behind it."""
    points = [point for point in points if point[0] >= start]
    slope = exponent(points)
    return "—" if slope is None else f"{slope:.2f} ({len(points)})"


def report_growth(journal: Journal, plan: Plan) -> Iterator[str]:
    yield "## 3. Growth"
    yield ""
    yield (f"The exponent of operations in the time of the check, fitted up to {number(plan.largest)} operations (in "
           "brackets: the number of sizes); 1 is linear. *check* flatters, as loading the kernels is a constant part "
           "of it; *loaded* is the one to look at. A violation ends the check wherever it lies, so the exponents of "
           "violations say little.")
    starts = sorted({FIT_FROM, max(FIT_FROM, COMPILED_FROM)})
    if len(starts) > 1:
        yield (f"Below {number(COMPILED_FROM)} operations some stage still runs as plain Python: a fit that begins "
               "there compares two programs, and can even fall; the last column does not.")
    rows = []
    for kind in kinds(plan):
        check, loaded = (curve(journal, plan, route, "seconds", kind) for route in ("process", "loaded"))
        verdicts = words(journal.find(part="sizes", route="process", **kind), "verdict")
        rows.append([kind["machine"], kind["model"], verdicts, str(kind["threads"]), str(kind["locations"]),
                     fitted(check, FIT_FROM), *(fitted(loaded, start) for start in starts)])
    yield from table(["machine", "model", "verdicts", "threads", "locations", f"check, from {number(FIT_FROM)}",
                      *(f"loaded, from {number(start)}" for start in starts)], rows, 3)


def report_reading(journal: Journal, plan: Plan) -> Iterator[str]:
    trace = reference_trace(plan)
    yield "## 4. Against reading the data"
    yield ""
    yield (f"{number(trace.operations)} operations, {trace.threads} threads, {trace.locations} locations, tso machine, "
           "as CSV for pandas (`read_csv` alone, imports done) and as Parquet for the check (whole process). × is "
           "wall / seconds of read_csv. Both engines may read in several threads (pandas' own one does from 3.1 on), "
           "so × depends on the version of pandas and on the cores.")
    wall = {model: median(journal.find(part="sizes", route="process", machine="tso", model=model,
                                       operations=trace.operations, threads=trace.threads,
                                       locations=trace.locations), "wall") for model in ("SC", "TSO")}
    rows = []
    for engine in ("default", "pyarrow"):
        found = journal.find(part="reading", route=f"read_csv {engine}")
        read = median(found, "seconds")
        rows.append([f"read_csv, {engine} engine", cell(found, "seconds"),
                     *(text for model in wall for text in (number(wall[model]), ratio(wall[model], read)))])
    yield from table(["", "read s", "check SC, wall s", "×", "check TSO, wall s", "×"], rows, 1)


def report_unordered(journal: Journal, plan: Plan) -> Iterator[str]:
    yield "## 5. What is left open"
    yield ""
    yield (f"Percentage of the pairs of writes to one location that a store order leaves unordered, over "
           f"{plan.histories} histories of 200 operations, 4 threads, 8 locations.")
    rows = []
    for machine, model, name in (("sc", "SC", "CCv"), ("sc", "SC", "CCM"), ("sc", "SC", "saturation"),
                                 ("tso", "TSO", "wCCM"), ("tso", "TSO", "saturation")):
        found = journal.find(part="unordered", machine=machine, route=name)
        values = [s.unordered_percent for s in found if s.unordered_percent is not None]
        shown = ([f"{f(values):.2f}" for f in (statistics.mean, statistics.median, max)] if values
                 else [cell(found, "unordered_percent")] * 3)
        rows.append([machine, model, name, *shown, str(len(values))])
    yield from table(["machine", "model", "store order", "mean %", "median %", "max %", "histories"], rows, 3)


def report_axe(journal: Journal, plan: Plan) -> Iterator[str]:
    yield "## 6. Against axe"
    yield ""
    if not shutil.which("axe"):
        yield "There was no program `axe` on the path of this run, so nothing is compared."
        return
    yield (f"The traces of part 2 in axe's format, `axe check MODEL FILE`, at most {plan.axe_limit:g} s; whole "
           "processes. × is axe / gradual. Sizes above one that failed were not tried.")
    rows = []
    for kind in kinds(plan):
        for operations in plan.sizes:
            ours = journal.find(part="sizes", route="process", operations=operations, **kind)
            theirs = journal.find(part="axe", operations=operations, **kind)
            rows.append([kind["machine"], kind["model"], words(ours, "verdict"), words(theirs, "verdict"),
                         str(kind["threads"]), str(kind["locations"]), number(float(operations)), cell(ours, "wall"),
                         cell(theirs, "wall"), ratio(median(theirs, "wall"), median(ours, "wall")),
                         cell(ours, "peak_mb"), cell(theirs, "peak_mb")])
    yield from table(["machine", "model", "gradual says", "axe says", "threads", "locations", "operations",
                      "gradual s", "axe s", "×", "gradual MB", "axe MB"], rows, 4)


REPORTS = (report_engines, report_sizes, report_growth, report_reading, report_unordered, report_axe)


def write_report(journal: Journal, plan: Plan, notes: list[str], out: Path) -> None:
    lines = ["# Benchmark", "", "Written by `python experiments/bench.py`; one run, medians. Every measurement is in "
             "bench.csv, the curves are in bench.svg.", "", *(f"- {note}" for note in notes), ""]
    for report in REPORTS:
        lines += report(journal, plan)
    (out / "bench.md").write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
    with open(out / "bench.csv", "w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, [field.name for field in fields(Sample)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(sample) for sample in journal.samples)


# The plot


COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
"""Okabe and Ito's, which the colour-blind can tell apart."""
MARKERS = "os^D"


def plot(journal: Journal, plan: Plan, out: Path) -> None:
    """Six panels: the engines, a panel per machine and model, the memory."""
    try:
        import matplotlib
    except ImportError:
        tell("no plot: matplotlib is not installed")
        return
    matplotlib.use("Agg")
    matplotlib.rcParams |= {"svg.hashsalt": "gradual", "font.size": 9, "axes.titlesize": 10}
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, 3, figsize=(13, 8), layout="constrained")
    plot_engines(journal, axes.flat[0])
    for axis, (machine, model) in zip(axes.flat[1:5], CASES, strict=True):
        plot_case(journal, plan, axis, machine, model)
    plot_memory(journal, plan, axes.flat[5])
    figure.suptitle("solid: the check, everything loaded    dashed: the whole process    dotted: linear growth    "
                    "grey: all stages compiled from here on")
    handles, labels = axes.flat[1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(plan.shapes))
    figure.savefig(out / "bench.svg", metadata={"Date": None})
    figure.savefig(out / "bench.png", dpi=110, metadata={"Software": None})
    pyplot.close(figure)


def finish_axis(axis: Any, title: str, unit: str) -> None:
    axis.set(xscale="log", yscale="log", xlabel="operations", ylabel=unit, title=title)
    axis.grid(True, which="major", alpha=0.3)


def plot_engines(journal: Journal, axis: Any) -> None:
    for name, colour, marker in zip(ENGINES, COLOURS, MARKERS, strict=False):
        found = [(n, median(journal.find(part="engines", route=name, operations=n), "seconds")) for n in SMALL]
        if points := [(n, value) for n, value in found if value]:
            axis.plot(*zip(*points, strict=True), color=colour, marker=marker, label=name)
    finish_axis(axis, "engines: sc machine, model SC, 4 threads, 8 locations", "seconds")
    axis.set_xticks(SMALL, [str(n) for n in SMALL])
    axis.minorticks_off()
    axis.legend(fontsize=8)


def plot_case(journal: Journal, plan: Plan, axis: Any, machine: str, model: str) -> None:
    for (threads, locations), colour, marker in zip(plan.shapes, COLOURS, MARKERS, strict=False):
        kind = {"machine": machine, "model": model, "threads": threads, "locations": locations}
        for route, field, style in (("loaded", "seconds", "-"), ("process", "wall", "--")):
            if points := curve(journal, plan, route, field, kind):
                axis.plot(*zip(*points, strict=True), style, color=colour, marker=marker, markersize=4,
                          alpha=1 if style == "-" else 0.5,
                          label=f"{threads} threads, {locations} locations" if style == "-" else None)
    plot_guides(axis, plan)
    finish_axis(axis, f"{machine} machine, model {model}", "seconds")


def plot_guides(axis: Any, plan: Plan) -> None:
    """A slope to compare with, below the curves, and where a bend is due to compiling."""
    ends = [line.get_ydata()[-1] for line in axis.get_lines()]
    if ends:
        low = max(FIT_FROM, COMPILED_FROM)
        axis.plot([low, plan.largest], [min(ends) / 2 * low / plan.largest, min(ends) / 2], ":", color="black")
        axis.axvline(COMPILED_FROM, color="grey", linewidth=3, alpha=0.25, zorder=0)


def plot_memory(journal: Journal, plan: Plan, axis: Any) -> None:
    """The two shapes at the ends are enough to see what memory depends on."""
    styles = ("-", "--", "-.", ":")
    for (threads, locations), colour in zip((plan.shapes[0], plan.shapes[-1]), COLOURS, strict=False):
        for (machine, model), style in zip(CASES, styles, strict=True):
            kind = {"machine": machine, "model": model, "threads": threads, "locations": locations}
            if points := curve(journal, plan, "process", "peak_mb", kind):
                axis.plot(*zip(*points, strict=True), style, color=colour,
                          label=f"{threads} × {locations}, {machine}/{model}")
    finish_axis(axis, "peak memory (threads × locations, machine/model)", "MB")
    axis.yaxis.set_major_formatter("{x:.0f}")
    axis.yaxis.set_minor_formatter("{x:.0f}")
    axis.tick_params(axis="y", which="minor", labelsize=7)
    axis.legend(fontsize=7)


# The run


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="up to 100 000 operations, 2 shapes, 20 histories")
    parser.add_argument("--repetitions", type=int, metavar="N", help="of every measurement (3; 1 with --quick)")
    parser.add_argument("--out", type=Path, metavar="DIR", help="where the results go")
    chosen = parser.parse_args()
    if chosen.repetitions is not None and chosen.repetitions < 1:
        parser.error("--repetitions: at least 1")
    return chosen


def measure_all(journal: Journal, plan: Plan, notes: list[str], out: Path, folder: Path) -> None:
    """Results are written after each part: a long run that is stopped leaves what it has."""
    traces = Traces(folder)
    try:
        warm_up(traces)
    except Exception as error:
        tell(f"warming up failed, first times may include compiling: {reason(error)}")
    for part in (measure_engines, measure_sizes, measure_reading, measure_unordered, measure_axe):
        try:
            part(journal, traces, plan)
        except Exception as error:
            journal.samples.append(Sample(part.__name__, "the rest of it", failure=reason(error)))
            notes.append(f"{part.__name__} broke off: {reason(error)}.")
            tell(notes[-1])
        write_report(journal, plan, notes, out)


def main() -> None:
    chosen = options()
    out: Path = chosen.out or (RESULTS / "quick" if chosen.quick else RESULTS)
    out.mkdir(parents=True, exist_ok=True)
    plan = plan_of(chosen.quick, chosen.repetitions)
    journal, started = Journal(), time.perf_counter()
    code = fingerprint()
    notes = [*machine_notes(), f"{'A quick run' if chosen.quick else 'A full run'}, repetitions: {plan.repetitions}.",
             f"Code: sha256 {code} over gradual/, adapters/, datalog/."]
    with tempfile.TemporaryDirectory() as folder:
        measure_all(journal, plan, notes, out, Path(folder))
    notes.append(f"The run took {time.perf_counter() - started:.0f} s.")
    if fingerprint() != code:
        notes.append("**The code was edited during the run: the measurements are not of one program.**")
    write_report(journal, plan, notes, out)
    plot(journal, plan, out)
    print((out / "bench.md").read_text(encoding="utf-8"), end="")
    failures = sum(sample.failure is not None for sample in journal.samples)
    tell(f"{len(journal.samples)} measurements, {failures} failed; results in {os.path.relpath(out)}")


if __name__ == "__main__":
    main()
