"""A batch of histories in the tables of the engine, which grow as the kernels ask."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

from gradual import compiler
from gradual.compiler import records
from gradual.compiler.records import get, put
from gradual.deciding.engine import batch, kernels, static, tables
from gradual.deciding.engine.choices import Candidates
from gradual.deciding.engine.choices import tables as choice_tables
from gradual.deciding.engine.plan import Edge, Plan
from gradual.history import History
from gradual.models.fit import Fit

ENDLESS = 1 << 62


class Run:
    """The batch, the building of its static edges, and the tables of the engine once these are known."""

    def __init__(self, histories: Sequence[History], fit: Fit, compiled: bool | None = None, *,
                 extra: Sequence[Edge] = (), patience: int = ENDLESS,
                 candidates: Candidates | None = None) -> None:
        """Compiled or not; None: as it pays."""
        if compiled is None:
            compiled = compiler.pays(sum(map(len, histories)))
        plan = Plan(fit, histories)
        self.plain = not compiled
        self._states = plan.states
        self._threads = max(len(history.threads) for history in histories)
        self.operations = max(map(len, histories))
        self.locations = max(len(history.locations) for history in histories)
        planned = plan.batch(self.plain, extra, patience)
        if candidates is not None:
            open_reads, choices = choice_tables(plan, candidates, self.plain)
            planned = planned._replace(open=open_reads, candidate=choices)
        self._begin(histories, planned)

    def _begin(self, histories: Sequence[History], planned: batch.Batch) -> None:
        self._room = 1
        self.histories = histories
        self.batch = planned
        self.building = self._new_building()
        self.results = batch.Results(self._rows("result", len(histories), batch.FIELDS),
                                     self._rows("run", len(planned.operation), batch.FIELDS))
        self.tables = self.new_tables()

    def of(self, places: Sequence[int]) -> Run:
        """Some of these histories, in their order, compiled: to begin with by the same plan."""
        found, few = copy(self), len(places) < len(self.histories)
        found._begin([self.histories[place] for place in places], batch.some(self.batch, places) if few else self.batch)
        return found

    def _rows(self, name: str, length: int, fields: dict[str, str] = tables.FIELDS) -> Any:
        return records.rows(name, length, self.plain, fields)

    def _longer(self, table: Any, name: str, length: int) -> Any:
        return records.longer(table, name, length, tables.FIELDS)

    # --- static edges

    def _new_building(self) -> batch.Building:
        n, gatherers = self.operations, len(self.batch.gatherer) - 1
        most = (self._states + gatherers) * n
        virtual = max(most * min(self._room, 8) // 8, len(self.batch.virtual) + 8)
        fields = batch.FIELDS
        return batch.Building(
            self._rows("edge", self._room * (max(20, 15 + 3 * gatherers) * n // 5 + len(self.batch.given) + 8)),
            self._rows("mark", n + virtual, fields),
            self._rows("thread", self._threads + 2, fields),
            self._rows("held_by", gatherers * (self.locations + 1), fields),
            self._rows("cell", (n + 8) * min(self._room, gatherers), fields),
            self._rows("seen", self.locations, fields), self._rows("virtual_at", self._states * n, fields),
            self._rows("building", 1, fields))

    def more_room(self) -> None:
        """For more static edges and virtual nodes; the history at hand begins again."""
        history = get(self.building.now[0], "history")
        self._room *= 2
        self.building = self._new_building()
        put(self.building.now[0], history=history)

    # --- the tables of the engine

    def new_tables(self) -> tables.Tables:
        """As large as the histories need: of one alone, for the edges that were built, once they are."""
        now, rows = self.building.now[0], self._rows
        alone = len(self.histories) == 1
        nodes, edges = (get(now, name) if alone else len(rooms) for name, rooms in (
            ("nodes", self.building.mark), ("edges", self.building.edge)))
        candidates = len(self.batch.candidate)
        pairs = 2 << candidates.bit_length() if candidates else 0
        return tables.Tables(
            rows("node", nodes + 1), rows("turn", nodes + 1), rows("slot", self.operations + self.locations + 1),
            rows("part", len(self.batch.part)), rows("place", self.locations), rows("open", len(self.batch.open)),
            self.building.edge, rows("out", edges), rows("into", edges),
            rows("pair", pairs), rows("literal", 2 * pairs), rows("bucket", 4 * pairs), rows("held", 1 + pairs),
            rows("entry", 0), rows("passage", 0), rows("queue", kernels.LOOK + 1), rows("now", 1))

    def grow(self, wanted: int) -> None:
        """Make the room that a kernel asked for."""
        g = self.tables
        if wanted == static.MORE_ROOM:
            if get(self.building.now[0], "full"):
                self.more_room()
            self.tables = self.new_tables()._replace(entry=g.entry, passage=g.passage)
            put(self.tables.now[0], entries=get(g.now[0], "entries"), passages=get(g.now[0], "passages"))
        elif wanted == kernels.MORE_PAIRS:
            length = max(64, 2 * len(g.pair))
            self.tables = g._replace(pair=self._longer(g.pair, "pair", length),
                                     literal=self._longer(g.literal, "literal", 2 * length),
                                     bucket=self._rows("bucket", 4 * length))
        elif wanted == kernels.MORE_CLAUSES:
            self.tables = g._replace(held=self._longer(g.held, "held", 2 * (len(g.held) + len(g.pair)) + 64))
        else:
            self.tables = g._replace(entry=self._longer(g.entry, "entry", 2 * len(g.entry) + 64),
                                     passage=self._longer(g.passage, "passage", 2 * len(g.passage) + 1024))
