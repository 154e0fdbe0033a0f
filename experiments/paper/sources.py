"""Where histories come from: the operational machines, gem5's own logs, the RTL."""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from gradual import files
from gradual.history import Addresses, History, Options
from gradual.machines import generate

NAMES = ("machine", "gem5", "rtl")
BROKEN = {"machine": "broken-drop", "gem5": "MIbug", "rtl": "missing-invalidation"}
"""What comes nearest to the published fault, a cache that keeps a line another one takes over."""
MIXES = {"plain": (0.0, 0.0), "full": (0.08, 0.07)}
"""Shares of rmws and fences."""
PROJECT = Path(__file__).resolve().parents[2]
RTL = PROJECT / "experiments/rtl"


def _logs_folder() -> Path:
    """Real logs with their manifest: where GRADUAL_GEM5_LOGS says, beside the project, or the few that come with it."""
    beside = PROJECT.parent / "shared/traces/gem5"
    return Path(os.environ.get("GRADUAL_GEM5_LOGS") or (beside if beside.exists() else PROJECT / "traces/gem5"))


LOGS = _logs_folder()


class Missing(Exception):
    """This source has no such histories here. The text says why."""


class Client(NamedTuple):
    """Random programs of one kind, and what runs them."""

    source: str
    machine: str
    """One of `gradual.machines`; MI or MIbug of gem5; sc, tso or the name of a fault of the RTL."""
    threads: int
    operations: int
    locations: int = 8
    write_ratio: float = 0.55
    """As the clients of the gem5 logs have it, so that the sources compare."""
    mix: str = "plain"
    seed: int = 1


def sound(source: str, model: str) -> str:
    """The machine of a source that keeps `model`. gem5's CPUs are in order, so what it has is SC at least."""
    return "MI" if source == "gem5" else model


def available(client: Client, count: int) -> int:
    """How many of `count` histories there are; of gem5 every log, however many are asked for. Raises Missing."""
    if client.source == "gem5":
        return len(_logs(client))
    if client.source == "rtl":
        _rtl_configuration(client)
    return count


def histories(client: Client, count: int) -> Iterator[History]:
    """The first `count` of what is available. Equal clients give equal histories. Raises Missing."""
    if client.source == "machine":
        return _run_machine(client, count)
    if client.source == "gem5":
        return map(_read, _logs(client)[:count])
    return _run_rtl(client, count)


def _run_machine(client: Client, count: int) -> Iterator[History]:
    rmws, fences = MIXES[client.mix]
    for number in range(count):
        yield generate(client.machine, client.threads, client.operations, client.locations, client.seed + number,
                       write_ratio=client.write_ratio, rmw_ratio=rmws, fence_ratio=fences)


def _logs(client: Client) -> list[dict[str, str]]:
    chosen = [row for row in _manifest() if row["cpu"] == "TimingSimpleCPU" and
              (row["protocol"], row["client"], int(row["threads"]), int(row["operations"])) ==
              (client.machine, client.mix, client.threads, client.operations)]
    if not chosen:
        raise Missing(f"gem5 has no {client.machine} log of {client.threads} CPUs and {client.operations} operations")
    return chosen


@cache
def _manifest() -> list[dict[str, str]]:
    if not (LOGS / "manifest.csv").exists():
        raise Missing(f"there are no gem5 logs in {LOGS} (elsewhere: GRADUAL_GEM5_LOGS)")
    with (LOGS / "manifest.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def _read(row: dict[str, str]) -> History:
    low = int(row["address"], 16)
    options = Options(Addresses([(low, low + int(row["bytes"]))]))
    return next(item for item in files.read(LOGS / row["log"], None, options) if isinstance(item, History))


def rtl_module(name: str) -> Any:
    """experiments/rtl is a folder of scripts, which find each other by the path."""
    if str(RTL) not in sys.path:
        sys.path.append(str(RTL))
    return import_module(name)


def rtl_faults() -> list[Any]:
    """The faults of the RTL in the order of its table; none where it cannot be simulated."""
    return [] if rtl_module("simulator").missing() else list(rtl_module("faults").FAULTS.values())


def _rtl_configuration(client: Client) -> dict[str, Any]:
    """Buffers and fault, as `histories` of the RTL wants them."""
    if problem := rtl_module("simulator").missing():
        raise Missing(problem)
    if not 2 <= client.threads <= 4:
        raise Missing(f"the RTL has 2 to 4 cores, not {client.threads}")
    if client.machine in ("sc", "tso"):
        return {"buffers": client.machine == "tso"}
    fault = next(fault for fault in rtl_faults() if fault.name == client.machine)
    return {"buffers": fault.buffers, "fault": fault.number}


def _run_rtl(client: Client, count: int) -> Iterator[History]:
    machine = rtl_module("machine")
    yield from machine.histories(count, client.threads, client.operations, client.locations, client.seed,
                                 mix=machine.Mix(client.write_ratio, *MIXES[client.mix]), **_rtl_configuration(client))
