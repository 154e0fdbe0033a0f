"""Histories on which reasoning without search is not enough: random 3-SAT, and crowds of threads that mostly write.

    python -m experiments.hard [--before DIR] [--timeout 20] [--quick]

Every history by the engine, by the plain encoding (`direct`) and, with --before, by the checkout there: verdict,
seconds, conflicts. A route that ran out of time is not tried on larger ones of the kind. Written to
experiments/results/hard.md. Exits with 1 when a verdict is not the one the formula or the machine calls for.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import gradual
from experiments import computer
from experiments.markdown import number, table
from experiments.satisfiability import first_formula, history_of, random_formula
from experiments.trees import THIS, Tree, Worker, add_before
from gradual.history import History
from gradual.machines import generate

RESULTS = Path(__file__).parent / "results"
VARIABLES = (10, 20, 40, 80)
CROWDS = ((4_000, 2_000), (20_000, 10_000), (100_000, 50_000))
"""Operations and threads: two operations each, on average."""
CROWD_LOCATIONS = 16
CROWD_WRITES = 0.9
WRONG = {"consistent": ("violation", "error"), "violation": ("consistent", "error")}
GRACE = 10.0
"""Seconds beyond twice the time limit after which a process is ended: some versions look at the clock too late."""

Answer = dict[str, Any]


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
    """One that can be satisfied and one that cannot."""
    for wanted, verdict in ((True, "consistent"), (False, "violation")):
        yield Hard(f"3-SAT, {'satisfiable' if wanted else 'unsatisfiable'}", f"{variables} variables",
                   partial(_formula, variables, wanted), ("sc", "tso"), verdict)


def _formula(variables: int, satisfiable: bool) -> History:
    return history_of(first_formula(variables, satisfiable), "formula")


def crowd(operations: int, threads: int) -> Iterator[Hard]:
    """Nearly no reads, so nearly nothing is forced: two operations per thread, 90 % of them writes."""
    for machine in ("sc", "tso"):
        yield Hard(f"90 % writes, {machine} machine", f"{threads} threads",
                   partial(generate, machine, threads, operations, CROWD_LOCATIONS, 1, write_ratio=CROWD_WRITES,
                           rmw_ratio=0, fence_ratio=0), (machine,), "consistent")


def routes(before: Tree | None) -> list[Route]:
    return [Route("engine", THIS, {}), Route("direct", THIS, {"completion": "direct"}),
            *([Route("before", before, {})] if before else [])]


class Runner:
    """A route in a worker of its own, and where it ran out of time."""

    def __init__(self, route: Route, timeout: float) -> None:
        self.route = route
        self.worker = Worker(route.tree)
        self._timeout = timeout
        self._gave_up: set[tuple[str, str]] = set()

    def warm_up(self, file: Path) -> None:
        """Import and compile before the clock starts; the plain encoding compiles nothing, and is slow on many."""
        small, large = history_of(random_formula(4, 1), "small"), generate("sc", 4, 20_000, 16, 1)
        gradual.write([small] if self.route.name == "direct" else [small, large], file)
        options = {"timeout": 60, **self.route.options}
        self.worker.ask({"file": str(file), "models": ["sc", "tso"], "options": options}, 300)

    def judge(self, hard: Hard, file: Path, model: str) -> Answer:
        if (hard.kind, model) in self._gave_up:
            return {"verdict": "not tried"}
        limit = 2 * self._timeout + GRACE
        answers = self.worker.ask({"file": str(file), "models": [model],
                                   "options": {"timeout": self._timeout, **self.route.options}}, limit)
        answer = answers[0] if answers else {"verdict": "ended", "seconds": limit}
        if answer["verdict"] not in ("consistent", "violation"):
            self._gave_up.add((hard.kind, model))
        return answer


def rows(hard: Hard, runners: list[Runner], file: Path) -> Iterator[tuple[list[str], bool]]:
    """A row per model, and whether a verdict in it is wrong."""
    history = hard.make()
    gradual.write([history], file)
    for model in hard.models:
        answers = [runner.judge(hard, file, model) for runner in runners]
        cells = [cell for answer in answers for cell in (
            answer["verdict"], number(answer.get("seconds")), number(answer.get("conflicts")))]
        row = [hard.kind, hard.size, number(len(history)), number(len(history.threads)), model.upper(), *cells]
        yield row, any(answer["verdict"] in WRONG[hard.expected] for answer in answers)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_before(parser)
    parser.add_argument("--timeout", type=float, default=20.0, metavar="S", help="seconds for each check")
    parser.add_argument("--quick", action="store_true", help="the small ones only; nothing is written")
    chosen = parser.parse_args()
    run = routes(chosen.before)
    head = ["history", "size", "operations", "threads", "model",
            *(f"{route.name}{what}" for route in run for what in ("", ", s", ", conflicts"))]
    lines, wrong = table(head, [], 2), 0
    print("\n".join(lines), flush=True)
    runners = [Runner(route, chosen.timeout) for route in run]
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        file = Path(name) / "hard.jsonl"
        for runner in runners:
            stack.enter_context(runner.worker)
            runner.warm_up(file)
        for hard in hard_histories(chosen.quick):
            for row, bad in rows(hard, runners, file):
                wrong += bad
                lines.append(f"| {' | '.join(row)} |{' **wrong**' if bad else ''}")
                print(lines[-1], flush=True)
    if not chosen.quick:
        write(lines, chosen.timeout)
    sys.exit(bool(wrong))


def write(lines: list[str], timeout: float) -> None:
    head = ["# Hard histories", "", f"Written by `python -m experiments.hard`; time limit {timeout:g} s, seconds of "
            "the check with everything loaded.", "", *(f"- {note}" for note in computer.notes()), ""]
    (RESULTS / "hard.md").write_text("\n".join([*head, *lines]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
