"""Saturation: everything that every store order must contain, as far as paths alone tell.

The least ww with R = (static ∪ ww ∪ rw)⁺ and R_WW ∪ cf[R] ⊆ ww, over the static edges of any model that fits
the engine. It contains pww (SC) and wpww (TSO), and lies in every store order that the model allows: how much of the
order is forced. Time is near-linear in practice, memory linear in operations × chains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from gradual import compiler
from gradual.compiler import records
from gradual.compiler.records import get, put, told
from gradual.compiler.waiting import in_time
from gradual.deadline import Deadline, Pace
from gradual.deciding.engine import kernels as engine_kernels
from gradual.deciding.engine import static
from gradual.deciding.engine.run import Run
from gradual.deciding.saturation import kernels
from gradual.evidence.verdict import Pair
from gradual.history import History
from gradual.models.fit import Fit

BUDGET, PLAIN_BUDGET = 500_000, 20_000
"""Entries of clocks until the first look at the deadline."""


class Saturation:
    """The forced order of histories without thin-air reads."""

    def __init__(self, run: Run, deadline: Deadline) -> None:
        self._run = run
        self._graph = self._new_graph(8 * run.operations + 64, 2 * run.operations + 64, 64)
        self._ordered = kernels.Ordered(records.rows("ordered", len(run.histories), run.plain, kernels.FIELDS))
        saturate_all = kernels.saturate_all if run.plain else in_time(load, deadline)
        pace = Pace(PLAIN_BUDGET if run.plain else BUDGET)
        while True:
            put(self._graph.now[0], budget=pace.steps)
            answer = saturate_all(self._run.batch, self._run.building, self._graph, self._ordered)
            if answer == kernels.DONE:
                break
            pace.look(deadline, all_taken=answer == kernels.PAUSE)
            if answer == kernels.MORE_ROOM:
                self._make_room()

    def _new_graph(self, arrows: int, nodes: int, clocks: int) -> kernels.Graph:
        operations, locations = self._run.operations, self._run.locations

        def rows(name: str, length: int) -> Any:
            return records.rows(name, length, self._run.plain, kernels.FIELDS)

        return kernels.Graph(
            rows("event", nodes), rows("arrow", arrows), rows("home", locations), rows("group", operations + 1),
            rows("clock", clocks), rows("so_far", 1))

    def _make_room(self) -> None:
        """For what is missing: edges being built, nodes, clocks, or inferred edges."""
        g, built = self._graph, self._run.building.now[0]
        now = g.now[0]
        if get(now, "doing") == kernels.ROUND:
            self._graph = g._replace(arrow=self._longer(g.arrow, "arrow", 2 * len(g.arrow)))
        elif get(now, "doing") == kernels.BUILD:
            self._run.more_room()
        else:
            nodes = max(get(built, "nodes") + self._run.locations, len(g.event))
            arrows = max(2 * get(built, "edges") + 4 * self._run.operations, len(g.arrow))
            clocks = max(nodes * get(now, "chains"), len(g.clock))
            self._graph = self._new_graph(arrows, nodes, clocks)
            put(self._graph.now[0], history=get(now, "history"), doing=kernels.LAY_OUT)

    def _longer(self, table: Any, name: str, length: int) -> Any:
        return records.longer(table, name, length, kernels.FIELDS)

    # --- questions

    def ordered_pairs(self, history: int = 0) -> int:
        """How many pairs of writes to one location are ordered (after a contradiction: were, by then)."""
        return get(self._ordered.history[history], "pairs")

    def all_ordered_pairs(self) -> list[int]:
        """The same, of each history."""
        return [pairs for pairs, _ in told(self._ordered.history)]

    def contradicted(self, history: int = 0) -> bool:
        """Are there paths that no store order allows?"""
        return get(self._ordered.history[history], "contradicted") == 1

    def precedes(self, a: int, b: int) -> bool:
        """Of the last history: does write a come before write b of the same location?"""
        g = self._graph
        clock = g.clock[b * get(g.now[0], "chains") + get(g.event[a], "chain")]
        return get(clock, "latest") >= get(g.event[a], "position")


@cache
def load() -> Callable[..., int]:
    """The compiled kernel."""
    from gradual.deciding.engine import examples

    small = Saturation.__new__(Saturation)
    small._run = examples()
    ordered = kernels.Ordered(records.rows("ordered", 1, False, kernels.FIELDS))
    contexts = {"Batch": small._run.batch, "Building": small._run.building, "Graph": small._new_graph(1, 1, 1),
                "Ordered": ordered, "Tables": small._run.new_tables(), "Results": small._run.results}
    return compiler.compiled("saturate_all", (engine_kernels, static, kernels), contexts)


def forced_pairs(history: History, fit: Fit, deadline: Deadline) -> list[Pair]:
    """The partial store order, transitively closed. Quadratic: for small histories."""
    saturation = Saturation(Run([history], fit), deadline)
    return [(v, w) for v, w in all_write_pairs(history) if saturation.precedes(v, w)]


def all_write_pairs(history: History) -> Iterator[Pair]:
    """All pairs of different writes to one location, either way round."""
    location = history.location.tolist()
    at: dict[int, list[int]] = {}
    for w in history.writes.tolist():
        at.setdefault(location[w], []).append(w)
    for v in history.writes.tolist():
        for w in at[location[v]]:
            if v != w:
                yield v, w
