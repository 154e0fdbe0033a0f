"""Weak models: WMO beside axe, WMO and RVWMO beside TSO, in one run.

    PATH=…:$PATH python -m experiments.bench.weak [--timeout 120] [--largest 1000000] [--repetitions 5]

Traces of machines that reorder as the model allows: with times (WMO), with dependencies, kinds of fences, LR and SC,
acquire and release (RVWMO). Every measurement is a process of its own; ours is the check alone, with its certificate,
and the whole process: from axe's text beside axe, which is asked where it is on PATH, from Parquet beside TSO. These
take turns, and medians are told.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from math import inf
from statistics import median
from typing import Any

from experiments.bench.peers import Checkout, axe, gradual
from experiments.bench.process import Failed, Limits
from experiments.bench.workloads import Workload
from experiments.markdown import NOTHING, number, table
from experiments.trees import ROOT, THIS

TRACES = ROOT / "build" / "bench"
BESIDE_AXE = tuple(Workload("wmo", "consistent", "as issued", 32_768, threads, 16) for threads in (4, 16, 32))
MODELS = ("tso", "wmo", "rvwmo")
GIBIBYTES = 8.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds for each measurement")
    parser.add_argument("--largest", type=int, default=1_000_000, help="operations of the traces beside TSO")
    parser.add_argument("--repetitions", type=int, default=5, help="of these")
    asked = parser.parse_args()
    limits = Limits(asked.timeout, GIBIBYTES)
    head = ["trace", "ours", "whole process", "axe", "axe / ours", "axe / whole", "ours, MB"]
    print("\n".join(table(head, [_beside_axe(workload, limits) for workload in BESIDE_AXE], 1)), flush=True)
    print()
    large = [Workload(model, "consistent", "as issued", asked.largest, 8, 256) for model in MODELS]
    alone, whole = list[list[dict[str, Any]]](), list[list[float]]()
    for _ in range(asked.repetitions):
        alone.append([_measured(Checkout(THIS), workload, limits) for workload in large])
        whole.append([_whole(workload, "parquet", limits) for workload in large])
    print("\n".join(table(["trace", "ours", "of TSO", "whole process", "of TSO", "conflicts", "ours, MB"],
                          list(_beside_tso(large, alone, whole)), 1)))
    return int(any(found.get("verdict") != "consistent" for run in alone for found in run))


def _beside_tso(large: Sequence[Workload], alone: Sequence[Sequence[dict[str, Any]]],
                whole: Sequence[Sequence[float]]) -> Iterator[list[str]]:
    """A row per model, TSO first."""
    seconds = [median(found.get("seconds", inf) for found in runs) for runs in zip(*alone, strict=True)]
    wholes = [median(runs) for runs in zip(*whole, strict=True)]
    for workload, found, time, all_in_all in zip(large, alone[-1], seconds, wholes, strict=True):
        yield [_title(workload), f"{number(time)} s", _ratio(time, seconds[0]), f"{number(all_in_all)} s",
               _ratio(all_in_all, wholes[0]), number(found.get("conflicts")), _peak(found)]


def _title(workload: Workload) -> str:
    return f"{workload.model.upper()} {workload.operations} × {workload.threads} × {workload.locations}"


def _measured(peer: Any, workload: Workload, limits: Limits) -> dict[str, Any]:
    print(peer.name, *workload, file=sys.stderr, flush=True)
    try:
        found: list[dict[str, Any]] = peer.measure(workload, TRACES, limits)
    except Failed as failed:
        return {"failure": str(failed)}
    return sorted(found, key=lambda one: one["seconds"])[len(found) // 2]


def _beside_axe(workload: Workload, limits: Limits) -> list[str]:
    ours = _measured(Checkout(THIS), workload, limits)
    theirs = next((_measured(peer, workload, limits) for peer in axe()), {"failure": NOTHING})
    whole = _whole(workload, "axe", limits)
    ratios = [_ratio(theirs.get("seconds"), seconds) for seconds in (ours.get("seconds"), whole)]
    return [_title(workload), _shown(ours), f"{number(whole)} s", _shown(theirs), *ratios, _peak(ours)]


def _whole(workload: Workload, ending: str, limits: Limits) -> float:
    """Seconds of the whole process."""
    return gradual(THIS, limits, "check", workload.file(TRACES, ending), "--model", workload.model).seconds


def _ratio(seconds: float | None, of: float | None) -> str:
    return number(seconds / of) if seconds and of else NOTHING


def _peak(found: dict[str, Any]) -> str:
    return number(round(found["peak_mb"])) if "peak_mb" in found else NOTHING


def _shown(found: dict[str, Any]) -> str:
    return f"{number(found['seconds'])} s" if "seconds" in found else str(found["failure"])


if __name__ == "__main__":
    sys.exit(main())
