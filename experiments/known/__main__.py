"""Random histories that know their store order, real time or both, decided as `gradual check` does and by brute force.

    python -m experiments.known [--histories 5000] [--model tso --model rvwmo]

Five to ten operations with all that weak models look at. Every verdict is certified on the way. Of a violation, what it
rests on besides the model must be the least with which brute force finds none. Prints a table; histories on which
the two differ are kept in build/known/, and it exits with 1 if there is one.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from random import Random

from experiments.axioms.brute import Brute
from experiments.known.histories import knowing_history
from experiments.markdown import number, table
from experiments.trees import ROOT
from gradual.deciding.pipeline import check
from gradual.files import write
from gradual.history import History
from gradual.models import Model, load, shipped
from gradual.progress import Progress

KEPT = ROOT / "build" / "known"
CONSISTENT, ALONE = "consistent", "violation"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--histories", type=int, default=5_000)
    parser.add_argument("--model", action="append", help="a name or a .cat file; all when none is given")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    rng = Random(asked.seed)
    models = [load(name) for name in asked.model or ()] or [model for model in shipped() if model.checks
                                                            and not model.has_views]
    counted = {model: Counter[str]() for model in models}
    started = time.perf_counter()
    with Progress() as progress:
        progress.start("comparing")
        for progress.done in range(asked.histories):
            history = knowing_history(rng)
            for model in models:
                count(history, model, counted[model], f"{asked.seed}-{progress.done}")
    head = ["model", CONSISTENT, ALONE, "store-order", "real-time", "store-order+real-time", "not judged", "different"]
    print("\n".join(table(head, [[str(model), *(number(found[what]) for what in head[1:])]
                                 for model, found in counted.items()], 1)))
    print(f"\n{asked.histories} histories in {time.perf_counter() - started:.0f} s")
    return int(any(found["different"] for found in counted.values()))


def count(history: History, model: Model, counted: Counter[str], name: str) -> None:
    verdict = check(history, model, engine="schedule", unordered=False)
    if verdict.verdict == "unknown":
        counted["not judged"] += 1
        return
    found = CONSISTENT if verdict.verdict == CONSISTENT else "+".join(verdict.given) or ALONE
    counted[found] += 1
    if found != expected(history, model):
        counted["different"] += 1
        KEPT.mkdir(parents=True, exist_ok=True)
        write([history], KEPT / f"{model.key}-{name}.csv")
        print(f"{model}: {name} is {found}, and by brute force {expected(history, model)}", file=sys.stderr)


def expected(history: History, model: Model) -> str:
    """By brute force: consistent, or the least of what the history knows that makes it a violation."""
    if Brute(history).allows(model):
        return CONSISTENT
    for given in ((), *((name,) for name in history.given)):
        if not Brute(history.knowing(given)).allows(model):
            return "+".join(given) or ALONE
    return "+".join(history.given)


if __name__ == "__main__":
    sys.exit(main())
