"""Random histories, decided as `gradual check` does and by brute force over the axioms: do they agree?

    python -m experiments.axioms [--histories 20000] [--model rvwmo --model wmo]
    python -m experiments.axioms --values 2 --operations 9

Five to thirteen operations with dependencies, times, acquire and release, LR and SC, fences of all kinds, final values.
With few values, several writes share one: then everything that a read can have returned is tried. Every verdict is
certified on the way. Prints a table; histories on which the two differ are kept in build/axioms/, and it exits with 1
if there is one.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from random import Random

from experiments.axioms.brute import Brute, readings
from experiments.axioms.histories import random_history, with_values
from experiments.markdown import number, table
from experiments.trees import ROOT
from gradual.deciding.pipeline import check
from gradual.files import write
from gradual.history import History
from gradual.models import Model, load, shipped
from gradual.progress import Progress

KEPT = ROOT / "build" / "axioms"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--histories", type=int, default=20_000, help="how many, for each model")
    parser.add_argument("--model", action="append", help="a name or a .cat file; all when none is given")
    parser.add_argument("--values", type=int, default=0, help="of writes; otherwise each has its own")
    parser.add_argument("--operations", type=int, default=13, help="at most")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    rng = Random(asked.seed)
    models = [load(name) for name in asked.model or ()] or [model for model in shipped() if model.checks
                                                        and not model.has_views]
    compared = {model: Counter[str]() for model in models}
    started = time.perf_counter()
    with Progress() as progress:
        progress.start("comparing")
        for done in range(asked.histories):
            progress.done = done
            history = random_history(rng, asked.operations)
            if asked.values:
                history = with_values(history, rng, asked.values)
            brutes = list(map(Brute, readings(history)))
            for model, counted in compared.items():
                compare(history, model, brutes, counted, f"{asked.seed}-{done}")
    head = ["model", "consistent", "violation", "not judged", "different"]
    rows = [[str(model), *(number(counted[what]) for what in head[1:])] for model, counted in compared.items()]
    print("\n".join(table(head, rows, 1)))
    print(f"\n{asked.histories} histories in {time.perf_counter() - started:.0f} s")
    return int(any(counted["different"] for counted in compared.values()))


def compare(history: History, model: Model, brutes: list[Brute], counted: Counter[str], name: str) -> None:
    found = check(history, model, engine="schedule", unordered=False).verdict
    if found == "unknown":
        counted["not judged"] += 1
        return
    counted[found] += 1
    if (found == "consistent") != any(brute.allows(model) for brute in brutes):
        counted["different"] += 1
        KEPT.mkdir(parents=True, exist_ok=True)
        kept = KEPT / f"{model.key}-{name}.csv"
        write([history], kept)
        print(f"{model}: {kept} is {found}, and brute force says otherwise", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
