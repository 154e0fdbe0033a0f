"""Saturation: everything that every store order must contain, as far as paths alone tell.

The least ww with R = (static ∪ ww ∪ rw)⁺ and R_WW ∪ cf[R] ⊆ ww, over the static edges of any model that fits the engine.
It contains pww (SC) and wpww (TSO), and lies in every store order that the model allows: how much of the order is
forced. Time is near-linear in practice, memory linear in operations × chains.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from gradual.deadline import Deadline
from gradual.deciding import kernel
from gradual.deciding.engine import static_edges
from gradual.deciding.engine.tables import MEMORY
from gradual.deciding.saturation import kernels
from gradual.evidence.verdict import Pair
from gradual.history import RMW, WRITE, Column, History
from gradual.models.fit import Fit


class Saturation:
    """The forced order of a history without thin-air reads."""

    def __init__(self, history: History, fit: Fit, deadline: Deadline, *, compiled: bool | None = None) -> None:
        self._history = history
        if compiled is None:
            compiled = len(history) >= kernel.COMPILED_FROM
        self._plain = not compiled
        self._kernels: Any = _compiled() if compiled else kernels
        nodes, start, end, bad = static_edges(history, fit, compiled=compiled)
        self.contradicted = bad >= 0
        """Are there paths that no store order allows?"""
        self._graph = self._new_graph(nodes, start, end)
        answer = kernels.CONTRADICTION if self.contradicted else kernels.AGAIN
        while answer in (kernels.AGAIN, kernels.FULL):
            deadline.check()
            if answer == kernels.FULL:
                self._grow()
            answer = self._kernels.saturate(self._graph)
        self.contradicted = answer == kernels.CONTRADICTION

    # --- questions

    def ordered_pairs(self) -> int:
        """How many pairs of writes to one location are ordered (after a contradiction: were, by then)."""
        return int(self._kernels.ordered_pairs(self._graph))

    def precedes(self, a: int, b: int) -> bool:
        """Does write a come before write b of the same location?"""
        g = self._graph
        return bool(g.clock[b * g.count[kernels.CHAINS] + g.chain[a]] >= g.position[a])

    def pairs(self) -> list[Pair]:
        """The partial store order, transitively closed. Quadratic: for small histories."""
        return [(v, w) for v, w in write_pairs(self._history) if self.precedes(v, w)]

    # --- tables

    def _new_graph(self, nodes: int, start: Column, end: Column) -> kernels.Graph:
        history, n = self._history, len(self._history)
        room = 2 * len(end) + 2 * n + 64
        g = kernels.Graph(
            self._column(history.thread), self._column(history.kind), self._column(history.location), self._column(history.source),
            self._filled(start, room), self._filled(end, room), self._filled([], nodes, -1), self._filled([], room),
            self._filled([], nodes, -1), self._filled([], nodes), self._filled([], 1), self._filled([], 1),
            self._filled([], 1), self._filled([], 1), self._filled([], 1), self._filled([], n, -1),
            self._filled([], n, -1), self._filled([], nodes), self._filled([], nodes), self._filled([], 3))
        g.count[kernels.EDGES], g.count[kernels.NODES] = len(end), nodes
        self._chain_edges(g, g.edge_end)
        chains = max(int(self._kernels.find_chains(g)), 1)
        if nodes * chains * 4 > MEMORY:
            raise MemoryError
        g.count[kernels.CHAINS] = chains
        self._chain_edges(g, g.edge_start)
        self._chain_readers(g)
        group, member, group_chain, write = self._groups(np.asarray(g.chain[:n]))
        return g._replace(clock=self._filled([], nodes * chains, -1), group=self._column(group),
                          member=self._column(member), group_chain=self._column(group_chain),
                          write=self._column(write))

    def _column(self, column: Any) -> Any:
        return np.asarray(column).tolist() if self._plain else np.ascontiguousarray(column, dtype=np.int32)

    def _filled(self, values: Any, length: int, rest: int = 0) -> Any:
        found = np.full(length, rest, dtype=np.int32)
        found[:len(values)] = values
        return found.tolist() if self._plain else found

    def _chain_edges(self, g: kernels.Graph, by: Any) -> None:
        """Chain the edges by one of their ends."""
        count = int(g.count[kernels.EDGES])
        first, following = _chained(np.asarray(by[:count]), len(g.first_out))
        g.first_out[:] = first.tolist() if self._plain else first
        g.next_out[:count] = following.tolist() if self._plain else following

    def _chain_readers(self, g: kernels.Graph) -> None:
        reads = np.flatnonzero(self._history.source >= 0)
        first, following = _chained(self._history.source[reads], len(self._history))
        first[first >= 0] = reads[first[first >= 0]]
        following[following >= 0] = reads[following[following >= 0]]
        after = np.full(len(self._history), -1, dtype=np.int32)
        after[reads] = following
        g.reader[:] = first.tolist() if self._plain else first
        g.next_reader[:] = after.tolist() if self._plain else after

    def _groups(self, chain: Column) -> tuple[Column, Column, Column, Column]:
        """The writes by location and chain."""
        history = self._history
        writes = np.flatnonzero((history.kind == WRITE) | (history.kind == RMW))
        writes = writes[np.lexsort((writes, chain[writes], history.location[writes]))]
        location, of = history.location[writes], chain[writes]
        begins = np.flatnonzero(np.r_[True, (np.diff(location) != 0) | (np.diff(of) != 0)][:len(writes)])
        group = np.searchsorted(location[begins], np.arange(len(history.locations) + 1))
        return group, np.r_[begins, len(writes)], of[begins], writes

    def _grow(self) -> None:
        g = self._graph
        room = 2 * len(g.edge_end)
        if room * 4 > MEMORY:
            raise MemoryError
        self._graph = g._replace(edge_start=self._filled(g.edge_start, room), edge_end=self._filled(g.edge_end, room),
                                 next_out=self._filled(g.next_out, room))


def _chained(by: Column, count: int) -> tuple[Column, Column]:
    """For each of `count` numbers the last place in `by` that holds it, and for each place the one before it."""
    first, following = np.full(count, -1, dtype=np.int32), np.full(len(by), -1, dtype=np.int32)
    if len(by):
        order = np.argsort(by, kind="stable")
        same = np.r_[False, by[order][1:] == by[order][:-1]]
        following[order] = np.where(same, np.r_[-1, order[:-1]], -1)
        first[by] = np.arange(len(by))
    return first, following


@cache
def _compiled() -> Any:
    column = np.zeros(1, dtype=np.int32)
    example = kernels.Graph(*[column] * len(kernels.Graph._fields))
    return kernel.compiled(("find_chains", "saturate", "ordered_pairs"), (kernels,), {"Graph": example})


def write_pairs(history: History) -> Iterator[Pair]:
    """All pairs of different writes to one location, either way round."""
    location = history.location.tolist()
    at: dict[int, list[int]] = {}
    for w in history.writes.tolist():
        at.setdefault(location[w], []).append(w)
    for v in history.writes.tolist():
        for w in at[location[v]]:
            if v != w:
                yield v, w
