"""Weak models: WMO beside axe, WMO and RVWMO beside TSO, in one run.

    PATH=…:$PATH python -m experiments.bench.weak [--timeout 120] [--largest 1000000]

Traces of machines that reorder as the model allows: with times (WMO), with dependencies, kinds of fences, LR and SC,
acquire and release (RVWMO). Every measurement is a process of its own; ours is the check alone, with its certificate,
and once the whole process from axe's text. axe is asked up to 100 000 operations, where it is on PATH.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from experiments.bench.peers import Checkout, axe
from experiments.bench.process import Failed, Limits, run
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
    asked = parser.parse_args()
    limits = Limits(asked.timeout, GIBIBYTES)
    head = ["trace", "ours", "whole process", "axe", "axe / ours", "axe / whole", "ours, MB"]
    print("\n".join(table(head, [_beside_axe(workload, limits) for workload in BESIDE_AXE], 1)), flush=True)
    print()
    large = [Workload(model, "consistent", "as issued", asked.largest, 8, 256) for model in MODELS]
    measured = [_measured(Checkout(THIS), workload, limits) for workload in large]
    first = measured[0].get("seconds")
    rows = [[_title(workload), _shown(found), _ratio(found.get("seconds"), first), number(found.get("conflicts")),
             _peak(found)] for workload, found in zip(large, measured, strict=True)]
    print("\n".join(table(["trace", "ours", "of TSO", "conflicts", "ours, MB"], rows, 1)))
    return int(any(found.get("verdict") != "consistent" for found in measured))


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
    text = str(workload.file(TRACES, "axe"))
    whole = run([sys.executable, "-m", "gradual.cli", "check", text, "--model", workload.model], limits)
    ratios = [_ratio(theirs.get("seconds"), seconds) for seconds in (ours.get("seconds"), whole.seconds)]
    return [_title(workload), _shown(ours), f"{number(whole.seconds)} s", _shown(theirs), *ratios, _peak(ours)]


def _ratio(seconds: float | None, of: float | None) -> str:
    return number(seconds / of) if seconds and of else NOTHING


def _peak(found: dict[str, Any]) -> str:
    return number(round(found["peak_mb"])) if "peak_mb" in found else NOTHING


def _shown(found: dict[str, Any]) -> str:
    return f"{number(found['seconds'])} s" if "seconds" in found else str(found["failure"])


if __name__ == "__main__":
    sys.exit(main())
