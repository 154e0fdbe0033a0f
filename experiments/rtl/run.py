"""The RTL machine under the checker: no violation where it is sound, every planted fault found.

    python experiments/rtl/run.py [--histories 1000] [--buffers no|yes|both]
    python experiments/rtl/run.py --faults [--fault 5] [--histories 1000]

Without store buffers the machine is checked for SC, with them for TSO. `--faults` runs each fault until a history is
refused. Needs Icarus Verilog (Debian: apt-get install iverilog) and cocotb 2 (pip install cocotb). Exits with 1 when
a sound machine is refused, or a faulty one is not; with 2 when the simulation fails.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from faults import FAULTS, Fault
from machine import BATCH, Mix, histories
from simulator import SimulationError

import gradual
from gradual.deciding import many
from gradual.evidence.verdict import Verdict
from gradual.history import History
from gradual.models import Model, load

SC, TSO = load("sc"), load("tso")
MACHINES = {"no": [False], "yes": [True], "both": [False, True]}
FAULT_BATCH = 50
"""Histories per process in the search for a fault: most show at once."""


class Stopwatch:
    """Seconds by what they were spent on."""

    def __init__(self) -> None:
        self.simulation = self.checking = 0.0

    def batches(self, source: Iterator[History], size: int) -> Iterator[list[History]]:
        """The histories in lists; the time they take to come is the simulation's."""
        while True:
            started = time.perf_counter()
            batch = list(islice(source, size))
            self.simulation += time.perf_counter() - started
            if not batch:
                return
            yield batch

    def verdicts(self, batch: list[History], model: Model) -> Iterator[tuple[Verdict, History]]:
        """Consistent histories are decided together; what is left is looked at one by one, as far as anybody asks."""
        started = time.perf_counter()
        for together, history in zip(many.decide(batch, model), batch, strict=True):
            verdict = together or gradual.check(history, model)
            self.checking += time.perf_counter() - started
            yield verdict, history
            started = time.perf_counter()


def source(options: argparse.Namespace, buffers: bool, fault: int | None, batch: int) -> Iterator[History]:
    return histories(options.histories, options.cores, options.operations, options.locations, options.seed,
                     buffers=buffers, fault=fault, mix=Mix(options.writes, options.rmws, options.fences), batch=batch)


def sound(options: argparse.Namespace, buffers: bool) -> bool:
    """Run the sound machine; is every history consistent?"""
    model, watch, verdicts, beyond = TSO if buffers else SC, Stopwatch(), Counter[str](), 0
    for batch in watch.batches(source(options, buffers, None, BATCH), BATCH):
        for verdict, history in watch.verdicts(batch, model):
            verdicts[verdict.verdict] += 1
            if verdict.verdict == "violation":
                print(history.name, gradual.explain(verdict, history), sep="\n")
        if buffers:  # not timed: only to show that the buffers are at work
            beyond += sum(not (verdict or gradual.check(history, SC, engine="schedule"))
                          for verdict, history in zip(many.decide(batch, SC), batch, strict=True))
    share = 100 * watch.checking / watch.simulation
    print(f"{'with' if buffers else 'without'} store buffers, {model}: {verdicts.total()} histories, "
          f"{verdicts['violation']} violations, {verdicts['unknown']} unknown; "
          f"simulation {watch.simulation:.2f} s, checking {watch.checking:.2f} s ({share:.1f} % of it)"
          + (f"; {beyond} of them are not SC" if buffers else ""), flush=True)
    return verdicts["consistent"] == verdicts.total()


def hunt(options: argparse.Namespace, fault: Fault, buffers: bool) -> bool:
    """Run one fault until a history is refused; was it?"""
    model, watch, runs = TSO if buffers else SC, Stopwatch(), 0
    for batch in watch.batches(source(options, buffers, fault.number, FAULT_BATCH), FAULT_BATCH):
        for verdict, history in watch.verdicts(batch, model):
            runs += 1
            if verdict.verdict == "violation":
                small = gradual.shrink(history, model)
                _row(fault, model, runs, runs * options.operations, verdict.decided_by, len(small), watch)
                if options.explain:
                    print(gradual.explain(verdict, history))
                return True
    _row(fault, model, runs, runs * options.operations, "NOT CAUGHT", 0, watch)
    return False


def _row(fault: Fault, model: Model, runs: int, operations: int, seen: str, small: int, watch: Stopwatch) -> None:
    """`small`: operations of the history, shrunk."""
    print(f"{fault.number:>5}  {fault.name:<21} {model!s:<5} {runs:>5} {operations:>10}  {seen:<10} {small:>6} "
          f"{watch.simulation:>12.2f}  {watch.checking:>10.2f}", flush=True)


def hunts(options: argparse.Namespace) -> bool:
    """Every fault, those of the caches in both machines, those of the buffers where there are any."""
    print("fault  name                  model  runs operations  seen by    shrunk simulation s  checking s")
    chosen = [FAULTS[number] for number in options.fault or FAULTS]
    caught = [hunt(options, fault, buffers) for fault in chosen
              for buffers in ([True] if fault.buffers else MACHINES[options.buffers])]
    print(f"{sum(caught)} of {len(caught)} caught")
    return all(caught)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--histories", type=int, default=1000, help="how many, at most for a fault (default 1000)")
    parser.add_argument("--cores", type=int, default=3, help="2 to 4 (default 3)")
    parser.add_argument("--operations", type=int, default=60, help="per history (default 60)")
    parser.add_argument("--locations", type=int, default=8, help="up to 64 (default 8, twice what a cache holds)")
    parser.add_argument("--seed", type=int, default=0)
    for name, share in zip(("writes", "rmws", "fences"), Mix(), strict=True):
        parser.add_argument(f"--{name}", type=float, default=share, help=f"share of operations (default {share})")
    parser.add_argument("--buffers", choices=MACHINES, default="both", help="which machines (default both)")
    parser.add_argument("--faults", action="store_true", help="hunt faults instead of running the sound machines")
    parser.add_argument("--fault", type=int, action="append", choices=FAULTS, metavar="N", help="only this one")
    parser.add_argument("--explain", action="store_true", help="show the evidence against each fault")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    warm = gradual.generate(operations=30)
    for model in (SC, TSO):  # what loading the checker takes is not checking
        many.decide([warm], model)
    try:
        if options.faults or options.fault:
            return 0 if hunts(options) else 1
        passed = [sound(options, buffers) for buffers in MACHINES[options.buffers]]
        return 0 if all(passed) else 1
    except (SimulationError, ValueError) as problem:
        print(problem, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
