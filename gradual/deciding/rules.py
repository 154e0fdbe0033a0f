"""Runs a clingo program of `datalog/` on a history: facts in through the API, relations out.

The programs are stratified, so grounding alone computes every relation; solving only decides the
acyclicity that a program demands with `#edge`.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from typing import cast

from gradual.deadline import Deadline, OutOfTime
from gradual.deciding import engine
from gradual.history import INITIAL, History
from gradual.models.fit import Fit

Facts = dict[str, list[tuple[int, ...]]]

IN_PROCESS = 400
"""Histories up to this many operations take a fraction of a second: too short for a process of its own."""


@dataclass(frozen=True)
class Relations:
    """What a program derived."""

    acyclic: bool
    """Every `#edge` relation of the program is."""
    violated: frozenset[str]
    """The criteria found violated without a cycle of `#edge`."""
    ww: list[tuple[int, int]]
    """The partial store order, transitively closed."""


def facts(history: History, fit: Fit) -> Facts:
    """The history as the relations described in `datalog/history.lp`."""
    location = history.location.tolist()
    source = history.source.tolist()
    thread = history.thread.tolist()
    reads = history.reads.tolist()
    wr: list[tuple[int, ...]] = [(source[r], r) for r in reads if source[r] >= 0]
    edges, _ = engine.static_edges(history, fit)
    return {
        "op": [(o,) for o in range(len(history))],
        "read": [(r, location[r]) for r in reads],
        "write": [(w, location[w]) for w in history.writes.tolist()],
        "wr": wr,
        "wr_initial": [(r,) for r in reads if source[r] == INITIAL],
        "external": [(w, r) for w, r in wr if thread[w] != thread[r]],
        "last": [(w,) for w in history.final.tolist() if w >= 0],
        "po": _successive(thread),
        "ppo": [(a, b) for a, b, by in edges.tolist() if by == engine.PROGRAM_ORDER],
        "po_loc": _successive([None if x < 0 else (t, x) for t, x in zip(thread, location, strict=True)]),
    }


def _successive(groups: Sequence[object]) -> list[tuple[int, ...]]:
    """Each operation to the next of its group; None is in no group."""
    last: dict[object, int] = {}
    edges: list[tuple[int, ...]] = []
    for operation, group in enumerate(groups):
        if group is not None:
            if group in last:
                edges.append((last[group], operation))
            last[group] = operation
    return edges


def run(program: str, given: Facts, deadline: Deadline) -> Relations:
    """Run `datalog/<program>.lp`. Raises OutOfTime when the deadline passes first."""
    deadline.check()
    if len(given["op"]) <= IN_PROCESS:
        return _run(program, given)
    return _run_apart(program, given, deadline)


def _run(program: str, given: Facts) -> Relations:
    import clingo

    control = clingo.Control(["--warn=no-atom-undefined"])
    with control.backend() as backend:
        for name, rows in given.items():
            for row in rows:
                atom = clingo.Function(name, [clingo.Number(number) for number in row])
                backend.add_rule([backend.add_atom(atom)])
    with as_file(files("gradual.datalog")) as folder:
        control.load(str(folder / f"{program}.lp"))
    control.ground([("base", [])])
    atoms = control.symbolic_atoms
    ww = [tuple(argument.number for argument in atom.symbol.arguments) for atom in atoms.by_signature("ww", 2)]
    violated = frozenset(atom.symbol.arguments[0].name for atom in atoms.by_signature("violated", 1))
    return Relations(bool(control.solve().satisfiable), violated, cast("list[tuple[int, int]]", ww))


def _run_apart(program: str, given: Facts, deadline: Deadline) -> Relations:
    """The same in a process that can be stopped, by the deadline or by Ctrl-C: grounding cannot be interrupted."""
    try:
        done = subprocess.run([sys.executable, "-m", __name__, str(os.getpid())], input=pickle.dumps((program, given)),
                              capture_output=True, timeout=deadline.seconds_left, check=True)
    except subprocess.TimeoutExpired:
        raise OutOfTime from None
    except subprocess.CalledProcessError as error:
        raise MemoryError(f"clingo stopped with status {error.returncode}") from error
    return cast(Relations, pickle.loads(done.stdout))


if __name__ == "__main__":
    from gradual.deciding import rules  # so that the answer is pickled under its importable name
    from gradual.parent import die_with

    die_with(int(sys.argv[1]))
    sys.stdout.buffer.write(pickle.dumps(rules._run(*pickle.load(sys.stdin.buffer))))
