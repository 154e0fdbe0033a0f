"""Histories on which reasoning without search is not enough: random 3-SAT, and crowds of threads that mostly write.

    python -m experiments.hard [--before DIR] [--timeout 20] [--quick]

Every history by the engine, by the plain encoding (`direct`) and, with --before, by the checkout there: verdict, seconds,
conflicts. A route that ran out of time is not tried on larger ones of the kind. Written to experiments/results/hard.md.
Exits with 1 when a verdict is not the one the formula or the machine calls for.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import gradual
from experiments import computer
from experiments.markdown import number, table
from experiments.satisfiability import history_of, random_formula, satisfiable
from experiments.trees import THIS, Tree, Worker, add_before
from gradual.history import History
from gradual.machines import generate

RESULTS = Path(__file__).parent / "results"
VARIABLES = (10, 20, 40, 80)
CROWDS = ((4_000, 2_000), (20_000, 10_000), (100_000, 50_000))
"""Operations and threads: two operations each, on average."""
CROWD_LOCATIONS = 16
CROWD_WRITES = 0.9
GRACE = 10.0
"""Seconds beyond twice the time limit after which a process is ended: some versions do not look at the clock in time."""


@dataclass(frozen=True)
class Hard:
    """A history to decide, made when it is needed."""

    kind: str
    size: str
    make: Callable[[], History]
    models: tuple[str, ...]
    expected: str


class Route(NamedTuple):
    name: str
    tree: Tree
    options: dict[str, Any]


def hard_histories(quick: bool) -> Iterator[Hard]:
    for variables in VARIABLES[:2] if quick else VARIABLES:
        yield from formulas(variables)
    for operations, threads in CROWDS[:1] if quick else CROWDS:
        yield from crowd(operations, threads)


def formulas(variables: int) -> Iterator[Hard]:
    """One that can be satisfied and one that cannot: the first of their kind."""
    for wanted, verdict in ((True, "consistent"), (False, "violation")):
        formula = next(f for f in (random_formula(variables, seed) for seed in count(1)) if satisfiable(f) == wanted)
        yield Hard(f"3-SAT, {'satisfiable' if wanted else 'unsatisfiable'}", f"{variables} variables",
                   lambda f=formula: history_of(f, "formula"), ("sc", "tso"), verdict)


def crowd(operations: int, threads: int) -> Iterator[Hard]:
    """Nearly no reads, so nearly nothing is forced: two operations per thread, 90 % of them writes."""
    for machine in ("sc", "tso"):
        yield Hard(f"90 % writes, {machine} machine", f"{threads} threads",
                   lambda m=machine: generate(m, threads, operations, CROWD_LOCATIONS, 1, write_ratio=CROWD_WRITES,
                                              rmw_ratio=0, fence_ratio=0), (machine,), "consistent")


def routes(before: Tree | None) -> list[Route]:
    return [Route("engine", THIS, {}), Route("direct", THIS, {"completion": "direct"}),
            *([Route("before", before, {})] if before else [])]


class Race:
    """Every route on every history, in a worker of its own."""

    def __init__(self, timeout: float, folder: Path) -> None:
        self._timeout = timeout
        self._file = folder / "hard.jsonl"
        self._gave_up: set[tuple[str, str, str]] = set()
        self.wrong = 0

    def rows(self, hard: Hard, workers: dict[str, tuple[Route, Worker]]) -> Iterator[list[str]]:
        history = hard.make()
        gradual.write([history], self._file)
        for model in hard.models:
            cells = [cell for route, worker in workers.values() for cell in self._cells(hard, model, route, worker)]
            yield [hard.kind, hard.size, number(len(history)), number(len(history.threads)), model.upper(), *cells]

    def _cells(self, hard: Hard, model: str, route: Route, worker: Worker) -> list[str]:
        key = hard.kind, model, route.name
        if key in self._gave_up:
            return ["not tried", "—", "—"]
        job = {"file": str(self._file), "models": [model], "options": {"timeout": self._timeout, **route.options}}
        answers = worker.ask(job, 2 * self._timeout + GRACE)
        if answers is None:
            self._gave_up.add(key)
            return ["ended", f"> {number(2 * self._timeout + GRACE)}", "—"]
        answer = answers[0]
        if answer["verdict"] == "unknown":
            self._gave_up.add(key)
        elif answer["verdict"] != hard.expected:
            self.wrong += 1
            print(f"{hard.kind}, {hard.size}, {model}, {route.name}: {answer['verdict']} {answer.get('message', '')}, "
                  f"expected {hard.expected}", file=sys.stderr)
        return [answer["verdict"], number(answer.get("seconds")), number(answer.get("conflicts"))]


def warm_up(workers: dict[str, tuple[Route, Worker]], folder: Path) -> None:
    """Every process imports and compiles before the clock starts."""
    crowd, file = generate("sc", 4, 20_000, 16, 1), folder / "warm.jsonl"
    small = history_of(random_formula(4, 1), "small")
    for route, worker in workers.values():
        gradual.write([small] if route.name == "direct" else [small, crowd], file)
        worker.ask({"file": str(file), "models": ["sc", "tso"], "options": route.options | {"timeout": 60}}, 300)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_before(parser)
    parser.add_argument("--timeout", type=float, default=20.0, metavar="S", help="seconds for each check")
    parser.add_argument("--quick", action="store_true", help="the small ones only; nothing is written")
    chosen = parser.parse_args()
    run = routes(chosen.before)
    head = ["history", "size", "operations", "threads", "model",
            *(f"{route.name}{what}" for route in run for what in ("", ", s", ", conflicts"))]
    lines = [*table(head, [], 2)]
    print("\n".join(lines), flush=True)
    with tempfile.TemporaryDirectory() as name:
        workers = {route.name: (route, Worker(route.tree)) for route in run}
        race = Race(chosen.timeout, Path(name))
        try:
            warm_up(workers, Path(name))
            for hard in hard_histories(chosen.quick):
                for row in race.rows(hard, workers):
                    lines.append(f"| {' | '.join(row)} |")
                    print(lines[-1], flush=True)
        finally:
            for _, worker in workers.values():
                worker.stop()
    if not chosen.quick:
        notes = [f"- {note}" for note in computer.notes()]
        text = ["# Hard histories", "", f"`python -m experiments.hard --timeout {chosen.timeout:g}`, seconds of the check "
                "with everything loaded.", "", *notes, "", *lines]
        (RESULTS / "hard.md").write_text("\n".join(text) + "\n", encoding="utf-8")
    sys.exit(bool(race.wrong))


if __name__ == "__main__":
    main()
