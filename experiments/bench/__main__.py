"""How long checks take, and how much memory: this checkout, another one, and axe where it is on PATH, in one run.

    python -m experiments.bench [--before DIR] [--timeout 60] [--quick] [--out experiments/results]

10 000 to 1 000 000 operations, 4 to 64 threads, 16 and 256 locations, SC, TSO and PSO, consistent and broken, in the
order of issue and grouped by thread; then what compiling costs. Every measurement is a process of its own, with
everything loaded before the clock starts. Writes bench.csv (every measurement), bench.md (tables) and bench.svg.
Interrupted, the same command goes on where it was; code that has changed is measured anew. Exits with 1 when a verdict
is not what the machine calls for.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from experiments import computer
from experiments.bench.compiling import compile_times
from experiments.bench.figure import draw
from experiments.bench.journal import Journal, Sample
from experiments.bench.peers import Checkout, Peer, axe
from experiments.bench.process import Failed, Limits
from experiments.bench.report import disagreements, report
from experiments.bench.workloads import Workload, matrix
from experiments.trees import ROOT, THIS, add_before

TRACES = ROOT / "build" / "bench"
LONG = 2.0
"""Seconds: what takes longer is measured once, since noise shows in short times."""


def measure(peer: Peer, workload: Workload, journal: Journal, plan: argparse.Namespace) -> None:
    """As often as asked for, as far as it is not there yet."""
    while _wanted(journal.of(peer.name, workload), plan.repetitions):
        print(peer.name, *workload, file=sys.stderr, flush=True)
        sample = Sample(peer.name, peer.code, *workload, plan.timeout)
        try:
            result = peer.measure(workload, TRACES, Limits(plan.timeout, plan.memory))
        except Failed as failed:
            result = {"failure": str(failed)}
        journal.add(Sample(**(vars(sample) | result)))


def _wanted(samples: list[Sample], repetitions: int) -> bool:
    if any(sample.failure for sample in samples):
        return False
    return not samples or (len(samples) < repetitions and (samples[0].seconds or 0) < LONG)


def hopeless(peer: Peer, workload: Workload, workloads: list[Workload], journal: Journal) -> bool:
    """A smaller one of its kind took too much time or memory."""
    return any(journal.failure(peer.name, smaller) for smaller in workloads
               if smaller.operations < workload.operations and
               smaller._replace(operations=workload.operations) == workload)


def measure_all(peers: list[Peer], workloads: list[Workload], journal: Journal, plan: argparse.Namespace) -> None:
    """The peers take turns, so that a busy hour hits all of them."""
    for workload in workloads:
        for peer in peers:
            if peer.name == "axe" and workload.operations > plan.axe_up_to:
                continue
            if not hopeless(peer, workload, workloads, journal):
                measure(peer, workload, journal, plan)


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_before(parser)
    parser.add_argument("--quick", action="store_true", help="10 000 operations, two shapes, once: under two minutes")
    parser.add_argument("--timeout", type=float, default=60.0, metavar="S", help="seconds for each check")
    parser.add_argument("--axe-up-to", type=int, default=100_000, metavar="N",
                        help="operations; a million take it a minute or more, and 16 GB")
    parser.add_argument("--memory", type=float, default=16.0, metavar="GIB", help="for each process")
    parser.add_argument("--repetitions", type=int, metavar="N",
                        help=f"of what takes less than {LONG:g} s (3; quick: 1)")
    parser.add_argument("--out", type=Path, metavar="DIR", help="where results go (experiments/results; quick: build/)")
    chosen = parser.parse_args()
    chosen.repetitions = chosen.repetitions or (1 if chosen.quick else 3)
    chosen.out = chosen.out or (ROOT / "build" / "bench-quick" if chosen.quick else ROOT / "experiments" / "results")
    return chosen


def main() -> None:
    plan, started = options(), time.perf_counter()
    trees = [THIS, *([plan.before] if plan.before else [])]
    peers: list[Peer] = [*map(Checkout, trees), *axe()]
    names, workloads = [peer.name for peer in peers], list(matrix(plan.quick))
    journal = Journal(plan.out / "bench.csv", {peer.name: peer.code for peer in peers}, plan.timeout)
    try:
        compiling = compile_times(trees, TRACES)
        measure_all(peers, workloads, journal, plan)
    except KeyboardInterrupt:
        print("interrupted; the same command goes on from here", file=sys.stderr)
        raise SystemExit(130) from None
    drawn = draw(journal, names, workloads, plan.out / "bench.svg")
    wrong = list(disagreements(journal, workloads))
    notes = [*computer.notes(), f"time limit {plan.timeout:g} s, memory {plan.memory:g} GiB, medians of up to "
             f"{plan.repetitions}, {time.perf_counter() - started:.0f} s in all",
             *(f"{peer.name}: code {peer.code or 'of the program on PATH'}" for peer in peers),
             *(f"**wrong**: {text}" for text in wrong)]
    text = ["# Benchmark", "", "Written by `python -m experiments.bench`. Seconds of the check with everything loaded "
            "(of axe: of its whole process), peak memory of the process, conflicts of the search. Every measurement "
            "is in bench.csv.", "", *(f"- {note}" for note in notes), "",
            *(["![seconds over operations](bench.svg)", ""] if drawn else []),
            *compiling, *report(journal, names, workloads)]
    (plan.out / "bench.md").write_text("\n".join(text) + "\n", encoding="utf-8")
    print("\n".join(text))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
