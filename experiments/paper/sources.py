"""Where histories come from: the operational machines, gem5's own logs, the RTL."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from pathlib import Path

from gradual import files
from gradual.history import Addresses, History, Options
from gradual.machines import generate

LOCATIONS = 8
LOGS = Path(os.environ.get("GRADUAL_GEM5_LOGS", Path(__file__).resolve().parents[3] / "shared/traces/gem5"))
"""Real logs with their manifest; elsewhere, say where in GRADUAL_GEM5_LOGS."""

NAMES = ("machine", "gem5", "rtl")


class Missing(Exception):
    """This source has no such histories here. The text says why."""


def histories(source: str, machine: str, threads: int, operations: int, count: int, seed: int) -> Iterator[History]:
    """`count` histories (or as many as there are) of so many operations in all. Raises Missing."""
    if source == "machine":
        for number in range(count):
            yield generate(machine, threads, operations, LOCATIONS, seed + number, fence_ratio=0.0, rmw_ratio=0.0)
    elif source == "gem5":
        yield from _logs(machine, threads, operations, count)
    else:
        yield from _rtl(machine, threads, operations, count, seed)


def _logs(machine: str, threads: int, operations: int, count: int) -> Iterator[History]:
    """In-order CPUs, plain loads and stores: MI for the sound machines, MIbug for the broken one."""
    if not (LOGS / "manifest.csv").exists():
        raise Missing(f"no gem5 logs in {LOGS}")
    protocol = "MIbug" if machine.startswith("broken") else "MI"
    with (LOGS / "manifest.csv").open(newline="") as stream:
        chosen = [row for row in csv.DictReader(stream)
                  if row["protocol"] == protocol and row["cpu"] == "TimingSimpleCPU" and row["client"] == "plain"
                  and int(row["threads"]) == threads and int(row["operations"]) == operations]
    if not chosen:
        raise Missing(f"no {protocol} log with {threads} CPUs and {operations} operations")
    for row in chosen[:count]:
        low = int(row["address"], 16)
        options = Options(Addresses([(low, low + int(row["bytes"]))]))
        yield next(item for item in files.read(LOGS / row["log"], None, options) if isinstance(item, History))


def _rtl(machine: str, threads: int, operations: int, count: int, seed: int) -> Iterator[History]:
    try:
        from experiments.rtl import machine as rtl
    except ImportError as error:
        raise Missing(f"the RTL cannot be run here: {error}") from None
    yield from rtl.paper_histories(machine, threads, operations, count, seed)
