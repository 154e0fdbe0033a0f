"""One history that never ends: memory and speed of `gradual check - --stream`, a planted violation, small streams.

    python -m experiments.streams [--operations 10000000] [--planted 9000000] [--histories 3000] [--out FOLDER]

A TSO machine (8 threads, 256 locations) writes CSV into a pipe. Sampled are the resident memory of the checker and the
operations it has certified; its CPU seconds are the system's count at the end. Then the same stream with one load that
returns what its own thread had seen overwritten. Then small histories, consistent and not, each cut into pieces of 1 to
20 operations, forgetting after every piece: the verdict of the stream against that of the whole history.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, TextIO

import numpy as np

from experiments import computer
from experiments.markdown import number, table
from gradual.deciding.pipeline import check
from gradual.deciding.stream import OVERFULL, End, Stream
from gradual.history import FENCE, NO_TICK, READ, RMW, WRITE, History, Kind, history_from_columns
from gradual.history.part import part
from gradual.machines import generate
from gradual.machines.sound import StoreBuffers
from gradual.models import load, usual

THREADS, LOCATIONS, TOGETHER = 8, 256, 10_000
WRITES, RMWS, FENCES = 0.45, 0.05, 0.03
SIZES = (1, 3, 5, 10, 20)
"""Operations of a piece of a small stream."""


# --- an endless machine


def feed(operations: int, planted: int, out: TextIO) -> None:
    """Write what a TSO machine does, as CSV, and the line of the load that is wrong to standard error."""
    rng = Random(1)
    machine = StoreBuffers(THREADS, LOCATIONS, rng)
    seen: list[dict[int, tuple[int, int]]] = [{} for _ in range(THREADS)]
    """Of each thread, per location, the last two different values that it loaded."""
    out.write("thread,op,address,value,read\n")
    for start in range(0, operations, TOGETHER):
        rows = []
        for at in range(start, min(start + TOGETHER, operations)):
            machine.tick()
            core, x, chance, value = machine.any_core(), int(rng.random() * LOCATIONS), rng.random(), at + 1
            if planted and at >= planted and (stale := _stale(seen[core])):
                planted, (x, old) = 0, stale
                rows.append(f"{core},R,x{x},{old},")
                sys.stderr.write(f"{at + 2}\n")
            elif chance < WRITES:
                machine.write(core, x, value)
                rows.append(f"{core},W,x{x},{value},")
            elif chance < WRITES + RMWS:
                rows.append(f"{core},RMW,x{x},{value},{machine.rmw(core, x, value)}")
            elif chance < WRITES + RMWS + FENCES:
                machine.fence(core)
                rows.append(f"{core},F,,,")
            else:
                found = machine.read(core, x)
                _, last = seen[core].get(x, (0, 0))
                if found != last:
                    seen[core].pop(x, None)
                    seen[core][x] = last, found
                rows.append(f"{core},R,x{x},{found},")
        out.write("\n".join(rows) + "\n")


def _stale(seen: dict[int, tuple[int, int]]) -> tuple[int, int] | None:
    """A location, and what the thread loaded there before something newer: the last one."""
    return next(((x, old) for x, (old, _) in reversed(seen.items()) if old), None)


class Followed(NamedTuple):
    samples: list[tuple[int, float]]
    """Operations certified, and the checker's memory in MB."""
    record: dict[str, Any]
    cpu: float
    seconds: float
    status: int
    planted: int
    """The line."""


def follow(operations: int, planted: int = 0) -> Followed:
    """The checker at the end of a pipe."""
    feeder = [sys.executable, "-m", "experiments.streams", "--feed", str(operations), "--planted", str(planted)]
    checker = [sys.executable, "-m", "gradual.cli", "check", "-", "--stream", "--model", "tso", "--json"]
    started, samples, record = time.perf_counter(), [], {}
    with subprocess.Popen(feeder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as source:
        follower = subprocess.Popen(checker, stdin=source.stdout, stdout=subprocess.PIPE, text=True)
        assert source.stdout and source.stderr and follower.stdout
        source.stdout.close()
        for line in follower.stdout:
            record = json.loads(line)
            if (memory := _memory(follower.pid)) is not None:
                samples.append((record["operations"], memory))
        _, status, usage = os.wait4(follower.pid, 0)
        follower.returncode = os.waitstatus_to_exitcode(status)
        told = source.stderr.read().split()
    line = int(told[0]) if told and told[0].isdigit() else 0
    return Followed(samples, record, usage.ru_utime + usage.ru_stime, time.perf_counter() - started,
                    follower.returncode, line)


def _memory(process: int) -> float | None:
    try:
        text = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return None
    found = [line.split()[1] for line in text.splitlines() if line.startswith("VmRSS")]
    return int(found[0]) / 1000 if found else None


# --- small streams


def pieces(history: History, size: int) -> Iterator[History]:
    """A history some operations at a time."""
    for start in range(0, len(history), size):
        chosen = np.zeros(len(history), dtype=bool)
        chosen[start:start + size] = True
        yield part(history, chosen, np.zeros(len(history.locations), dtype=bool))


def streamed(history: History, model: str, size: int, **limits: int) -> tuple[End, Stream]:
    """What comes of a history, forgetting after every piece."""
    stream = Stream(load(model), kept=0, real_time=history.real_time, **limits)  # type: ignore[arg-type]
    for piece in pieces(history, size):
        stream.take(piece)
        if stream.end is not None:
            break
    return stream.close(), stream


def small(rng: Random) -> History:
    """A history of a machine or of none, perhaps with a load that returns something else, perhaps out of step."""
    if rng.random() < 0.3:
        history = _anything(rng)
    else:
        machine, threads = rng.choice([model.name.lower() for model in usual()]), rng.randint(1, 4)
        history = generate(machine, threads, rng.randint(20, 120), rng.randint(1, 6), rng.randrange(1 << 30))
        if rng.random() < 0.5:
            history = _spoilt(history, rng)
    return _out_of_step(history, rng) if rng.random() < 0.5 else history


def _anything(rng: Random) -> History:
    threads, locations, size = rng.randint(1, 4), rng.randint(1, 4), rng.randint(4, 40)
    kind = np.array(rng.choices((READ, WRITE, RMW, FENCE), (5, 5, 1, 1), k=size), dtype=np.int8)
    thread = np.array([rng.randrange(threads) for _ in range(size)], dtype=np.int32)
    location = np.array([rng.randrange(locations) for _ in range(size)], dtype=np.int32)
    written = np.where((kind == WRITE) | (kind == RMW), np.arange(1, size + 1), 0)
    read = np.zeros(size, dtype=np.int64)
    for at in np.flatnonzero((kind == READ) | (kind == RMW)).tolist():
        read[at] = rng.choice([0, *written[(location == location[at]) & (written > 0)].tolist()])
    location[kind == FENCE] = -1
    return _history(range(threads), [f"x{x}" for x in range(locations)], thread, kind, location, read, written)


def _history(threads: Any, locations: Any, *columns: Any) -> History:
    size, places = len(columns[0]), len(locations)
    return history_from_columns(
        "small", "", [str(thread) for thread in threads], locations, *columns, np.arange(1, size + 1),
        np.full(size, -1), np.zeros(places, dtype=np.int64), np.zeros(places, dtype=np.int64), np.full(places, -1))


def _spoilt(history: History, rng: Random) -> History:
    loads = np.flatnonzero(history.kind == Kind.READ).tolist()
    read = history.read.copy()
    if loads:
        load = rng.choice(loads)
        stores = history.writes[history.location[history.writes] == history.location[load]]
        read[load] = rng.choice([0, *history.written[stores].tolist()])
    return _history(history.threads, history.locations, history.thread, history.kind, history.location, read,
                    history.written)


def _out_of_step(history: History, rng: Random) -> History:
    """The same threads, otherwise interleaved: loads may stand before the stores they read."""
    late = rng.choice((2, 5, 20))
    when = np.arange(len(history)) + np.array([rng.random() * late for _ in range(len(history))])
    for thread in range(len(history.threads)):
        own = np.flatnonzero(history.thread == thread)
        when[own] = np.sort(when[own])
    order = np.argsort(when, kind="stable")
    columns = (column[order] for column in (history.thread, history.kind, history.location, history.read,
                                            history.written))
    return _history(history.threads, history.locations, *columns)


def in_real_time(history: History, rng: Random) -> History:
    """With times around when things happened, some left out; its lines in the order of their begins, or of their ends,
    or a little out of it."""
    size, longest = len(history), rng.choice((0, 5, 40))
    now = 10 * np.arange(1, size + 1)
    begin, end = (now + sign * np.array([rng.randint(0, 4 + longest) for _ in range(size)]) for sign in (-1, 1))
    when = rng.choice((begin, end, now)) + np.array([rng.random() * rng.choice((0, 0, 30)) for _ in range(size)])
    for thread in range(len(history.threads)):
        own = np.flatnonzero(history.thread == thread)
        when[own] = np.maximum.accumulate(when[own])
    unknown = np.array([rng.random() for _ in range(size)]) < rng.choice((0, 0, 0.1))
    times = np.where((history.kind == FENCE) | unknown, NO_TICK, [np.maximum(begin, 0), end])
    order = np.argsort(when, kind="stable")
    columns = (column[order] for column in (history.thread, history.kind, history.location, history.read,
                                            history.written))
    timed = _history(history.threads, history.locations, *columns)
    return replace(timed, begin=times[0][order], end=times[1][order], real_time=True)


def compared(histories: int, seed: int, timed: bool = False) -> tuple[Counter[str], int, int]:
    """What streams came to beside the whole histories; operations, and how many of them were forgotten on the way.

    One in five has a window that is too small; of the others the number of threads is known. Where they are timed,
    nobody knows it, and lines may be late."""
    rng, found, operations, forgotten = Random(seed), Counter[str](), 0, 0
    for _ in range(histories):
        history, model, size = small(rng), rng.choice(usual()).name.lower(), rng.choice(SIZES)
        limits = {"window": rng.choice((8, 20, 40))} if rng.random() < 0.2 else {"threads": len(history.threads)}
        if timed:
            history, limits = in_real_time(history, rng), {} if "threads" in limits else limits
        whole = check(history, model, unordered=False, engine="schedule")
        truth = whole.verdict
        end, stream = streamed(history, model, size, **limits)
        told = end.verdict.verdict
        if told == "unknown":
            excused = bool(stream.checkpoint.assumed) or end.verdict.decided_by == OVERFULL
            told = "overfull" if excused and (timed or "window" in limits) else "unknown without a reason"
        elif told != truth or (told == "violation" and len(end.verdict.given) < len(whole.given)):
            told = "WRONG"
        found[f"{truth}: {told}"] += 1
        operations += len(history)
        forgotten += stream.window.forgotten
    return found, operations, forgotten


# --- all of it


def plot(samples: list[tuple[int, float]], file: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 3.5))
    axes.plot([operations / 1e6 for operations, _ in samples], [memory for _, memory in samples])
    axes.set(xlabel="million operations", ylabel="resident memory, MB", ylim=(0, None))
    figure.tight_layout()
    figure.savefig(file)


def report(operations: int, planted: int, histories: int, out: Path) -> Iterator[str]:
    yield "# One history that never ends"
    yield ""
    yield from (f"{note}  " for note in computer.notes())
    if operations:
        whole = follow(operations)
        certified = whole.record["certified_line"] - 1
        plot(whole.samples, out / "streams.svg")
        yield ""
        yield (f"{number(operations)} operations of a TSO machine ({THREADS} threads, {LOCATIONS} locations) through a "
               f"pipe: {whole.record['verdict']}, {number(certified)} certified, exit status {whole.status}; "
               f"{whole.cpu:.1f} CPU seconds of the checker, {number(round(operations / whole.cpu))} operations per "
               f"CPU second ({whole.seconds:.0f} s by the clock, the machine beside it).")
        yield ""
        shown = whole.samples[:: max(1, len(whole.samples) // 12)]
        yield from table(("operations", "memory, MB"), [(number(at), f"{memory:.0f}") for at, memory in shown], 0)
        yield ""
        yield "![memory against operations](streams.svg)"
    if operations and planted:
        broken = follow(operations, planted)
        edges = [*broken.record["cycle"], *(edge for step in broken.record["steps"] for edge in step["path"])]
        lines = sorted({end["line"] for edge in edges for end in (edge["from"], edge["to"])})
        yield ""
        yield (f"With a wrong load at line {broken.planted}: {broken.record['verdict']}, exit status {broken.status}, "
               f"after {number(broken.record['operations'])} operations, at lines {lines}: "
               f"`{broken.record['message'][:300]}`")
    if histories:
        found, counted, forgotten = compared(histories, 1)
        yield ""
        yield (f"{number(histories)} small histories ({number(counted)} operations, {number(forgotten)} forgotten on "
               "the way), the whole one and its stream; overfull: the window was too small, and said so.")
        yield ""
        yield from table(("whole: stream", "histories"), [(what, number(many)) for what, many in sorted(found.items())],
                         1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--operations", type=int, default=10_000_000)
    parser.add_argument("--planted", type=int, default=9_000_000)
    parser.add_argument("--histories", type=int, default=3000)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    parser.add_argument("--feed", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.feed is not None:
        feed(options.feed, options.planted, sys.stdout)
        return
    lines = []
    for line in report(options.operations, options.planted, options.histories, options.out):
        print(line, flush=True)
        lines.append(line)
    (options.out / "streams.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
