"""Time and memory from a hundred operations to ten million: `gradual check` and axe, whole processes.

    PATH=…:$PATH python -m experiments.bench.scale [--largest 10000000] [--timeout 300] [--memory 16]

SC, TSO, PSO, WMO and RVWMO; 8 threads, 256 locations, consistent; from axe's text, or Parquet for RVWMO, which axe has
not. Who took too long, or too much memory, is not asked for more operations of the model. Interrupted, the command goes
on where it was; code that has changed is measured anew. Writes scale.csv (every measurement), scale.md and scale.svg to
experiments/results. The exponent is the slope of CPU seconds over operations, both as logarithms.
"""

from __future__ import annotations

import argparse
import math
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from experiments import computer
from experiments.bench.figure import COLOURS, pyplot
from experiments.bench.journal import Journal, Sample
from experiments.bench.peers import Peer, Program, axe
from experiments.bench.process import Failed, Limits
from experiments.bench.workloads import Workload
from experiments.markdown import NOTHING, number, table
from experiments.trees import ROOT, THIS

TRACES = ROOT / "build" / "bench"
MODELS = ("sc", "tso", "pso", "wmo", "rvwmo")
SIZES = tuple(10**power for power in range(2, 8))
FITTED_FROM = 10_000
"""Operations below which starting up is most of the time."""
AXE_UP_TO = 100_000
MEASURES = {"seconds": "s", "cpu": "CPU s", "peak_mb": "MB"}


def workload(model: str, operations: int) -> Workload:
    return Workload(model, "consistent", "as issued", operations, 8, 256)


def cells(largest: int) -> Iterator[Workload]:
    """Small ones first."""
    return (workload(model, operations) for operations in SIZES if operations <= largest for model in MODELS)


def is_asked(peer: Peer, cell: Workload, journal: Journal, axe_up_to: int) -> bool:
    """Is it left to do, and worth while?"""
    if peer.name == "axe" and (cell.model == "rvwmo" or cell.operations > axe_up_to):
        return False
    smaller = [workload(cell.model, operations) for operations in SIZES if operations < cell.operations]
    return not journal.of(peer.name, cell) and not any(journal.failure(peer.name, other) for other in smaller)


def measure(peer: Peer, cell: Workload, limits: Limits) -> list[Sample]:
    sample = Sample(peer.name, peer.code, *cell, limits.seconds)
    try:
        results = peer.measure(cell, TRACES, limits)
    except Failed as failed:
        results = [{"failure": str(failed)}]
    except subprocess.CalledProcessError:
        results = [{"failure": "no trace"}]
    told = results[0].get("failure") or f"{results[0]['seconds']:.3f} s"
    print(peer.name, cell.model, cell.operations, told, file=sys.stderr, flush=True)
    return [Sample(**(vars(sample) | result)) for result in results]


# --- what is told


def exponent(journal: Journal, peer: str, model: str) -> float | None:
    """The slope of a straight line through the points."""
    points = [(math.log(operations), math.log(cpu)) for operations in SIZES if operations >= FITTED_FROM
              and (cpu := journal.median(peer, workload(model, operations), "cpu"))]
    return statistics.linear_regression(*zip(*points, strict=True)).slope if len(points) > 1 else None


def report(journal: Journal, peers: Sequence[str], largest: int) -> Iterator[str]:
    columns = [(peer, name) for peer in peers for name in MEASURES]
    rows = [[cell.model.upper(), number(cell.operations), *(_cell(journal, peer, cell, name) for peer, name in columns)]
            for cell in sorted(cells(largest), key=lambda cell: MODELS.index(cell.model))]
    yield from table(["model", "operations", *(f"{peer}, {MEASURES[name]}" for peer, name in columns)], rows, 1)
    yield from ("", f"## Exponents from {number(FITTED_FROM)} operations on", "")
    slopes = [[model.upper(), *(number(exponent(journal, peer, model)) for peer in peers)] for model in MODELS]
    yield from table(["model", *peers], slopes, 1)


def _cell(journal: Journal, peer: str, cell: Workload, name: str) -> str:
    value = journal.median(peer, cell, name)
    if value is None:
        return (name == "seconds" and journal.failure(peer, cell)) or NOTHING
    return number(round(value) if name == "peak_mb" else value)


def draw(journal: Journal, peers: Sequence[str], file: Path) -> bool:
    """CPU seconds and memory over operations, a colour per model, axe dashed. Whether there is a figure."""
    if (plot := pyplot()) is None:
        return False
    figure, axes = plot.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
    for axis, name, label in zip(axes, ("cpu", "peak_mb"), ("CPU seconds", "peak memory, MB"), strict=True):
        for model, colour in zip(MODELS, COLOURS, strict=False):
            for peer, style in zip(peers, ("-", "--"), strict=False):
                points = [(operations, value) for operations in SIZES
                          if (value := journal.median(peer, workload(model, operations), name))]
                if points:
                    axis.plot(*zip(*points, strict=True), style, color=colour, marker="o", markersize=3,
                              label=f"{model.upper()}, {peer}")
        axis.set(xscale="log", yscale="log", xlabel="operations", ylabel=label)
        axis.grid(True, alpha=0.3)
    axes[0].legend(fontsize=8)
    figure.savefig(file, metadata={"Date": None})
    plot.close(figure)
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--largest", type=int, default=SIZES[-1], metavar="N", help="operations")
    parser.add_argument("--timeout", type=float, default=300.0, metavar="S", help="seconds for each process")
    parser.add_argument("--memory", type=float, default=16.0, metavar="GIB", help="for each process")
    parser.add_argument("--axe-up-to", type=int, default=AXE_UP_TO, metavar="N",
                        help="operations; a million take it a minute or more, and 16 GB")
    parser.add_argument("--out", type=Path, default=ROOT / "experiments" / "results", metavar="DIR")
    asked = parser.parse_args()
    peers: list[Peer] = [Program(THIS), *axe()]
    names = [peer.name for peer in peers]
    journal = Journal(asked.out / "scale.csv", {peer.name: peer.code for peer in peers}, asked.timeout)
    try:
        for cell in cells(asked.largest):
            for peer in peers:
                if is_asked(peer, cell, journal, asked.axe_up_to):
                    for sample in measure(peer, cell, Limits(asked.timeout, asked.memory)):
                        journal.add(sample)
    except KeyboardInterrupt:
        print("interrupted; the same command goes on from here", file=sys.stderr)
        raise SystemExit(130) from None
    drawn = draw(journal, names, asked.out / "scale.svg")
    lines = ["# From a hundred operations to ten million", "",
             "Written by `python -m experiments.bench.scale`: medians of whole processes; every measurement is in "
             f"scale.csv; {NOTHING} where nobody was asked.", "",
             *(f"- {note}" for note in computer.notes()), "", *(["![time and memory](scale.svg)", ""] if drawn else []),
             *report(journal, names, asked.largest)]
    (asked.out / "scale.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
