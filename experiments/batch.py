"""How batches scale, what they cost, and whether a pipe stays small: ratios from one run, medians.

    python experiments/batch.py [--histories 10000] [--repetitions 3] [--pipe 100000]

Histories of 200 operations (sc machine, 4 threads, 8 locations, model SC) in a folder of files, in one JSON Lines file
and in one Parquet file. `check` is the whole process of `gradual check --json`; `batch` that of `gradual batch`.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import gradual
from gradual.machines import generate

GRADUAL = [sys.executable, "-m", "gradual.cli"]


def seconds(*command: object) -> float:
    started = time.perf_counter()
    done = subprocess.run([*GRADUAL, *map(str, command)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if done.returncode:
        sys.exit(f"{command}: {done.stderr.decode()}")
    return time.perf_counter() - started


def compare(name: str, traces: Path, histories: int, repetitions: int, folder: Path) -> None:
    """The three ways, in turn, so that a noisy machine is as noisy for each."""
    files = sorted(traces.iterdir()) if traces.is_dir() else [traces]
    ways = {"check": ["check", "--json", *files],
            "batch, 1 process": ["batch", traces, "-j", 1, "--out"],
            "batch, 2 processes": ["batch", traces, "-j", 2, "--out"]}
    times: dict[str, list[float]] = {}
    for repetition in range(repetitions):
        for way, command in ways.items():
            out = [folder / f"{name}-{way}-{repetition}"] if command[0] == "batch" else []
            times.setdefault(way, []).append(seconds(*command, *out))
    medians = {way: statistics.median(found) for way, found in times.items()}
    print(f"\n{name}: {histories} histories of 200 operations")
    for way, found in medians.items():
        print(f"  {way:<20} {found:7.2f} s   {histories / found:6.0f} histories/s")
    print(f"  2 processes against 1: {medians['batch, 1 process'] / medians['batch, 2 processes']:.2f} ×")
    print(f"  batch against check: {100 * medians['batch, 1 process'] / medians['check'] - 100:+.1f} %")


def pipe(histories: int) -> None:
    """Resident memory of `gradual check -` while histories keep coming."""
    lines = list(_lines(200))
    with subprocess.Popen([*GRADUAL, "check", "-", "--format", "csv", "--json"], stdin=subprocess.PIPE,
                          stdout=subprocess.DEVNULL) as process:
        assert process.stdin is not None
        process.stdin.write(b"thread,op,address,value,read,history\n")
        print(f"\npipe: {histories} histories of 20 operations into `gradual check - --json`")
        for number in range(histories):
            name = f"h{number}".encode()
            process.stdin.write(b"".join(line + name + b"\n" for line in lines[number % len(lines)]))
            if number % (histories // 10) == histories // 10 - 1:
                process.stdin.flush()
                print(f"  after {number + 1:>7}: {_resident(process.pid):6.1f} MB", flush=True)


def _lines(count: int) -> Iterator[list[bytes]]:
    for seed in range(count):
        history = generate("sc", 2, 20, 2, seed)
        yield [b"%d,%s,%s,%d,%d," % (history.thread[o], b"RWXF"[kind:kind + 1].replace(b"X", b"RMW"),
                                     history.address(o).encode() if kind != 3 else b"",
                                     history.written[o] if kind in (1, 2) else history.read[o], history.read[o])
               for o, kind in enumerate(history.kind.tolist())]


def _resident(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--histories", type=int, default=10_000)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--pipe", type=int, default=100_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        made = [generate("sc", 4, 200, 8, seed, name=f"sc-{seed}") for seed in range(arguments.histories)]
        for one in ("one.jsonl", "one.parquet"):
            gradual.write(made, folder / one)
        (folder / "files").mkdir()
        for history in made:
            gradual.write([history], folder / f"files/{history.name}.csv")
        for name in ("files", "one.jsonl", "one.parquet"):
            compare(name, folder / name, arguments.histories, arguments.repetitions, folder)
        pipe(arguments.pipe)


if __name__ == "__main__":
    main()
