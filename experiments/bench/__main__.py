"""How long checks take, and how much memory: this checkout, another one, and axe where it is on PATH, in one run.

    python -m experiments.bench [--before DIR] [--timeout 20] [--jobs 2] [--quick] [--out experiments/results]

10 000 to 1 000 000 operations, 4 to 64 threads, 16 and 256 locations, SC, TSO and PSO, consistent and broken, in the
order of issue and grouped by thread; and what compiling costs. Every cell is a process of its own, with everything
loaded before the clock starts; what is short is measured three times in it. Two are measured at once, so CPU seconds
say more than seconds. A peer that took too long is not asked for more operations or threads of the kind. Writes
bench.csv (every measurement), bench.md (tables) and bench.svg. Interrupted, the same command goes on where it was;
code that has changed is measured anew. Exits with 1 when a verdict is not what the machine calls for.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from experiments import computer
from experiments.bench.compiling import compile_times
from experiments.bench.figure import draw
from experiments.bench.journal import Journal, Sample
from experiments.bench.peers import REPETITIONS, Checkout, Peer, axe
from experiments.bench.process import Failed, Limits, end_all
from experiments.bench.report import disagreements, report
from experiments.bench.workloads import MODELS, Workload, matrix
from experiments.markdown import NOTHING
from experiments.trees import ROOT, THIS, add_before

TRACES = ROOT / "build" / "bench"


class Measuring:
    """The cells that are left, some at a time; the peers take turns, so that a busy hour hits all of them."""

    def __init__(self, peers: list[Peer], workloads: list[Workload], journal: Journal,
                 plan: argparse.Namespace) -> None:
        self._peers = peers
        self._workloads = workloads
        self._journal = journal
        self._plan = plan
        self._cells = 0
        self._started = time.perf_counter()

    def run(self) -> None:
        """What happens once after an installation, then everything else."""
        for peer in self._peers:
            peer.prepare(MODELS, TRACES, self._plan.memory)
        with ThreadPoolExecutor(self._plan.jobs) as pool:
            try:
                for _ in pool.map(self._measure_all, self._workloads):
                    pass
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                end_all()
                raise

    def _measure_all(self, workload: Workload) -> None:
        for peer in self._peers:
            if not self._journal.of(peer.name, workload) and not self._hopeless(peer, workload):
                self._measure(peer, workload)
        self._cells += 1
        print(f"{self._cells} of {len(self._workloads)} cells, {time.perf_counter() - self._started:.0f} s",
              file=sys.stderr, flush=True)

    def _hopeless(self, peer: Peer, workload: Workload) -> bool:
        """A smaller one of its kind took too much time or memory."""
        return (peer.name == "axe" and workload.operations > self._plan.axe_up_to) or any(
            self._journal.failure(peer.name, other) for other in self._workloads if workload.is_larger(other))

    def _measure(self, peer: Peer, workload: Workload) -> None:
        sample = Sample(peer.name, peer.code, *workload, self._plan.timeout)
        try:
            results = peer.measure(workload, TRACES, Limits(self._plan.timeout, self._plan.memory))
        except Failed as failed:
            results = [{"failure": str(failed)}]
        for result in results:
            self._journal.add(Sample(**(vars(sample) | result)))
        told = results[0].get("failure") or f"{results[0]['seconds']:.3f} s"
        print(peer.name, *workload, told, file=sys.stderr, flush=True)


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_before(parser)
    parser.add_argument("--quick", action="store_true", help="10 000 operations, two shapes: a minute or two")
    parser.add_argument("--timeout", type=float, default=20.0, metavar="S", help="seconds for each check")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), metavar="N",
                        help="cells at a time; no more than cores (2)")
    parser.add_argument("--axe-up-to", type=int, default=100_000, metavar="N",
                        help="operations; a million take it a minute or more, and 16 GB")
    parser.add_argument("--memory", type=float, default=16.0, metavar="GIB", help="for each process")
    parser.add_argument("--out", type=Path, metavar="DIR", help="where results go (experiments/results; quick: build/)")
    chosen = parser.parse_args()
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
        Measuring(peers, workloads, journal, plan).run()
    except KeyboardInterrupt:
        print("interrupted; the same command goes on from here", file=sys.stderr)
        raise SystemExit(130) from None
    drawn = draw(journal, names, workloads, plan.out / "bench.svg")
    wrong = list(disagreements(journal, workloads))
    notes = [*computer.notes(), f"time limit {plan.timeout:g} s, memory {plan.memory:g} GiB, medians of up to "
             f"{REPETITIONS}, {plan.jobs} at a time, {time.perf_counter() - started:.0f} s in all",
             *(f"{peer.name}: code {peer.code or 'of the program on PATH'}" for peer in peers),
             *(f"**wrong**: {text}" for text in wrong)]
    text = ["# Benchmark", "", "Written by `python -m experiments.bench`. Seconds, and CPU seconds, of the check with "
            "everything loaded (of axe: of its whole process), peak memory of the process, conflicts of the search; "
            f"{NOTHING} where a smaller one of its kind took too long. Every measurement is in bench.csv.", "",
            *(f"- {note}" for note in notes), "",
            *(["![seconds over operations](bench.svg)", ""] if drawn else []),
            *compiling, *report(journal, names, workloads)]
    (plan.out / "bench.md").write_text("\n".join(text) + "\n", encoding="utf-8")
    print("\n".join(text))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
