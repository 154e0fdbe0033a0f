"""Times of the ladder and of the completions, as medians and ratios from one run.

    python experiments/ladder.py             everything (some minutes)
    python experiments/ladder.py --quick     small sizes, for a look

Histories come from the operational machines: 4 threads, 8 locations, seeds 1, 2, …
"""

from __future__ import annotations

import argparse
import platform
import statistics
import time
from collections.abc import Callable, Iterator

import gradual
from gradual.deadline import Deadline
from gradual.deciding import rules
from gradual.deciding.completion import completion
from gradual.deciding.completion.closure import Closure, Contradiction
from gradual.deciding.completion.direct import before, clauses, complete
from gradual.deciding.ladder import climb
from gradual.deciding.saturation import forced_pairs
from gradual.history import History
from gradual.models import Model, load
from gradual.models.fit import fit

SC, TSO = load("sc"), load("tso")
THREADS, LOCATIONS = 4, 8
PROGRAMS = (("cc", SC), ("ccv", SC), ("cm", SC), ("ccm", SC), ("wccm", TSO))


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def histories(machine: str, operations: int, count: int) -> list[History]:
    return [gradual.generate(machine, threads=THREADS, operations=operations, locations=LOCATIONS, seed=seed)
            for seed in range(1, count + 1)]


def violations(operations: int, count: int) -> Iterator[History]:
    seed = 0
    while count:
        seed += 1
        history = gradual.generate("broken", threads=THREADS, operations=operations, locations=LOCATIONS, seed=seed)
        if not gradual.check(history, "sc"):
            count -= 1
            yield history


def ladder_times(sizes: list[int], repetitions: int) -> None:
    print(f"\nThe ladder: seconds, median of {repetitions} SC histories, {THREADS} threads, {LOCATIONS} locations")
    print(f"{'operations':>10}" + "".join(f"{program:>8}" for program, _ in PROGRAMS))
    for operations in sizes:
        made = histories("sc", operations, repetitions)
        medians = [statistics.median(seconds(lambda h=h, p=p, m=m: rules._run(p, rules.facts(h, fit(m)))) for h in made)
                   for p, m in PROGRAMS]
        print(f"{operations:>10}" + "".join(f"{median:>8.3f}" for median in medians), flush=True)


def route(name: str, history: History, model: Model) -> None:
    """One way to a verdict, without the certificate: the ladder unless `direct`, then a completion."""
    if name == "direct":
        complete(history, fit(model), Deadline())
    elif not any(answer.failed for answer in climb(history, model, Deadline())):
        finish(name, history, model)


def finish(name: str, history: History, model: Model) -> None:
    """Close what is forced, then search."""
    try:
        closure = Closure(history, fit(model))
        closure.infer()
    except Contradiction:
        return
    completion(name)(closure, Deadline())


def route_times(kind: str, sizes: list[int], repetitions: int, direct_up_to: int) -> None:
    print(f"\nRoutes, SC, {kind} histories: seconds, median of {repetitions}; ratio to ladder+enumerate")
    print(f"{'operations':>10}{'direct':>10}{'l+sat':>10}{'l+enum':>10}{'direct/l+enum':>15}{'l+sat/l+enum':>14}")
    for operations in sizes:
        valid = kind == "valid"
        made = histories("sc", operations, repetitions) if valid else list(violations(operations, repetitions))
        times = {}
        for name in ("direct", "sat", "enumerate"):
            if name != "direct" or operations <= direct_up_to:
                times[name] = statistics.median(seconds(lambda h=h, n=name: route(n, h, SC)) for h in made)
        direct, sat, enumerate_ = (times.get(name, float("nan")) for name in ("direct", "sat", "enumerate"))
        print(f"{operations:>10}{direct:>10.2f}{sat:>10.2f}{enumerate_:>10.2f}{direct / enumerate_:>15.1f}"
              f"{sat / enumerate_:>14.2f}", flush=True)


def order_encoding(history: History, model: Model) -> None:
    """What `sat` could do instead: the order of all operations encoded, with what saturation knows as units."""
    from pysat.solvers import Solver

    n = len(history)
    with Solver(name="glucose4") as solver:
        for a, b in forced_pairs(history, fit(model), Deadline()):
            solver.add_clause([before(a, b, n)])
        for clause in clauses(history, fit(model)):
            solver.add_clause(clause)
        assert solver.solve()


def acyclicity_times(sizes: list[int], repetitions: int) -> None:
    print(f"\nAcyclicity after saturation, SC, valid: seconds, median of {repetitions}")
    print(f"{'operations':>10}{'lazy':>10}{'order':>10}{'order/lazy':>12}")
    for operations in sizes:
        made = histories("sc", operations, repetitions)
        lazy = statistics.median(seconds(lambda h=h: finish("sat", h, SC)) for h in made)
        order = statistics.median(seconds(lambda h=h: order_encoding(h, SC)) for h in made)
        print(f"{operations:>10}{lazy:>10.3f}{order:>10.3f}{order / lazy:>12.1f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--quick", action="store_true", help="small sizes")
    quick = parser.parse_args().quick
    print(f"{platform.machine()}, {platform.system()}, Python {platform.python_version()}")
    repetitions = 3
    ladder_times([100, 200] if quick else list(range(100, 1001, 100)), repetitions)
    sizes = [50, 100] if quick else [100, 200, 300, 400, 500]
    route_times("valid", sizes, repetitions, direct_up_to=500)
    route_times("violating", sizes, repetitions, direct_up_to=500)
    acyclicity_times([50, 100] if quick else [100, 200, 300], repetitions)


if __name__ == "__main__":
    main()
