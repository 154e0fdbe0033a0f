"""Where values repeat: which write each read returned, searched together with the store order.

A read of a value that several wrote is *open*: it has candidates. Which of them it returned is a choice, and a SAT
solver makes one for all open reads (and final values) at a time. The engine is asked whether that can be. If not, its
evidence rests on some of the choices: these do not go together, a clause. The reads it rests on are opened again, and
the engine is asked about the others, until nothing is wrong any more: so a round learns several clauses that have no
read in common. With nothing chosen at all, what is known for sure may be wrong already; and what the order of the trace
makes likely may be a run already.

A refutation has the engine's evidence of each clause that it needs as cases, under the choices that they rest on, and
as lemmas what follows from them, down to the solver's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gradual.deadline import Deadline
from gradual.deciding import engine
from gradual.deciding.completion.solver import solve
from gradual.deciding.engine.parts import Parts
from gradual.deciding.engine.proof import evidence, premise
from gradual.evidence.verdict import Claim, Cycle, Edge, Origin, Refutation, Step, Witness
from gradual.history import AMBIGUOUS, INITIAL, READ, History, candidates
from gradual.models.fit import Fit
from gradual.models.regular import AGAIN, ANEW, uses_reads_from

Reading = dict[int, int]
"""Readers, and the write that each is taken to have returned."""

AT_ONCE = 50
"""Clauses that a round learns at most."""


@dataclass(frozen=True)
class Found:
    """What the search came to."""

    evidence: Witness | Cycle | Refutation
    conflicts: int


@dataclass(frozen=True)
class _Conflict:
    """Choices that do not go together, and why."""

    origins: tuple[Origin, ...]
    evidence: Cycle | Refutation


def decide(history: History, fit: Fit, deadline: Deadline) -> Found:
    """A run that explains every value, or why there is none."""
    return _Search(history, fit, deadline).run()


class _Search:
    def __init__(self, history: History, fit: Fit, deadline: Deadline) -> None:
        self._history = history
        self._fit = fit
        self._deadline = deadline
        self._candidates = candidates(history)
        self._rests = Rests(history, fit, self._candidates)
        self._learnt: list[_Conflict] = []
        self._own: dict[tuple[int, int], frozenset[int]] = {}
        """The writes of each thread at each location, as far as somebody asked."""
        self._engine_conflicts = 0
        self._witness = Witness(())
        self._one_value: list[list[int]] = []
        """Of readers that cannot both have returned what memory held, where nobody knows that."""

    def run(self) -> Found:
        from pysat.solvers import Solver

        known = self._ask({})
        if known is not None:
            return self._found(known.evidence)
        if self._may_be(self._likely) and self._ask(self._likely) is None:
            return self._found(self._witness)
        self._learnt += self._at_first()
        with Solver(name="glucose4", bootstrap_with=self._clauses(self._learnt)) as solver:
            solver.set_phases([variable if write == self._likely[reader] else -variable
                               for (reader, write, _), variable in self._variable.items()])
            while solve(solver, self._deadline):
                reading = self._reading(solver.get_model() or [])
                if different := list(self._different(reading)):
                    self._one_value += different
                    solver.append_formula(different)
                    continue
                conflicts = list(self._conflicts(reading))
                if not conflicts:
                    return self._found(self._witness)
                self._learnt += conflicts
                solver.append_formula(map(self._clause, conflicts))
        return self._found(self._refutation())

    def _found(self, evidence: Witness | Cycle | Refutation) -> Found:
        return Found(evidence, self._engine_conflicts + len(self._learnt))

    # --- choices as literals

    @cached_property
    def _variable(self) -> dict[Origin, int]:
        origins = (Origin(reader, write) for reader, writes in self._candidates.items() for write in writes)
        return {origin: number for number, origin in enumerate(origins, 1)}

    def _clause(self, conflict: _Conflict) -> list[int]:
        return [-self._variable[origin] for origin in conflict.origins]

    def _clauses(self, conflicts: Iterable[_Conflict]) -> list[list[int]]:
        """Every value came from somewhere, and what was learnt."""
        somewhere = [[self._variable[Origin(reader, write)] for write in writes]
                     for reader, writes in self._candidates.items()]
        return somewhere + self._one_value + [self._clause(conflict) for conflict in conflicts]

    def _different(self, reading: Reading) -> Iterator[list[int]]:
        """Clauses against different values that memory is said to have held at a location."""
        first: dict[int, int] = {}
        for reader, write in reading.items():
            if write == INITIAL and reader < len(self._history):
                other = first.setdefault(int(self._history.location[reader]), reader)
                if self._history.read[other] != self._history.read[reader]:
                    yield [-self._variable[Origin(reader, INITIAL)], -self._variable[Origin(other, INITIAL)]]

    def _reading(self, model: list[int]) -> Reading:
        """What a model of the clauses says; clauses only forbid, so of several any one will do."""
        true = set(model)
        return {reader: write for (reader, write, _), variable in self._variable.items() if variable in true}

    @cached_property
    def _likely(self) -> Reading:
        """The last candidate before the read in the trace, of a final value the last one; else the first one."""
        return {reader: max((write for write in writes if write < reader), default=writes[0])
                for reader, writes in self._candidates.items()}

    # --- what is wrong with them

    def _may_be(self, reading: Reading) -> bool:
        """Is nothing wrong with it that the engine does not look at: reads of one's own future, and two values that
        memory held?"""
        future = any(write >= reader and write in self._own_writes(reader)
                     for reader, write in reading.items() if reader < len(self._history))
        return not future and not any(self._different(reading))

    def _at_first(self) -> Iterator[_Conflict]:
        """Single choices that coherence forbids."""
        if self._fit.coherence is not None:
            for reader, writes in self._candidates.items():
                if reader < len(self._history):
                    yield from self._forbidden(reader, writes)

    def _forbidden(self, read: int, writes: tuple[int, ...]) -> Iterator[_Conflict]:
        """A read returns nothing of its own future, nor what its thread wrote before it wrote there again."""
        scope, own = self._fit.coherence or "", self._own_writes(read)
        last = max((write for write in own if write < read), default=None)
        for write in writes:
            cycle = None
            if write >= read and write in own:
                back = (Edge("po", read, write),) if write != read else ()
                cycle = Cycle((*back, Edge("wr", write, read)), scope)
            elif last is not None and (write == INITIAL or (write < last and write in own)):
                steps = () if write == INITIAL else (Step(write, last, (Edge("po", write, last),), scope),)
                cycle = Cycle((Edge("po", last, read), Edge("rw", read, last)), scope, steps)
            if cycle is not None:
                yield _Conflict((Origin(read, write),), cycle)

    def _own_writes(self, read: int) -> frozenset[int]:
        """The writes of its thread to its location."""
        history = self._history
        place = int(history.thread[read]), int(history.location[read])
        if place not in self._own:
            mine = (history.thread == place[0]) & (history.location == place[1]) & (history.kind != READ)
            self._own[place] = frozenset(np.flatnonzero(mine).tolist())
        return self._own[place]

    def _conflicts(self, reading: Reading) -> Iterator[_Conflict]:
        """What is wrong with a reading, in parts that have no reader in common."""
        for _ in range(AT_ONCE):
            conflict = self._ask(reading)
            if conflict is None:
                return
            yield conflict
            gone = {origin.reader for origin in conflict.origins}
            reading = {reader: write for reader, write in reading.items() if reader not in gone}

    def _ask(self, reading: Reading) -> _Conflict | None:
        self._deadline.check()
        read_as = self._history.read_as(reading.items())
        outcome = engine.decide(read_as, self._fit, self._deadline)
        self._engine_conflicts += outcome.conflicts
        if outcome.status == engine.CONSISTENT:
            self._witness = Witness(outcome.order, origins=tuple(Origin(*chosen) for chosen in reading.items()))
            return None
        found = evidence(read_as, self._fit, outcome)
        origins = self._rests.on(found, read_as)
        if len(origins) < len(reading) and not self._rests.grows:
            origins = tuple(Origin(*chosen) for chosen in reading.items())
        return _Conflict(origins, found)

    # --- evidence

    def _refutation(self) -> Refutation:
        needed = self._needed()
        cases: list[Cycle] = []
        lemmas: list[tuple[Claim, ...]] = []
        for conflict in needed:
            if isinstance(conflict.evidence, Cycle):
                cases.append(replace(conflict.evidence, origins=conflict.origins))
                continue
            not_these = tuple(origin._replace(holds=False) for origin in conflict.origins)
            cases += [replace(case, origins=conflict.origins) for case in conflict.evidence.cycles]
            lemmas += [(*lemma, *not_these) for lemma in conflict.evidence.lemmas]
        return Refutation(tuple(dict.fromkeys(cases)), (*lemmas, *self._lemmas(needed)))

    def _needed(self) -> list[_Conflict]:
        """The conflicts that exclude every reading together."""
        from pysat.solvers import Solver

        first = len(self._variable) + 1
        selected = list(range(first, first + len(self._learnt)))
        clauses = [[*self._clause(conflict), -s] for conflict, s in zip(self._learnt, selected, strict=True)]
        with Solver(name="glucose4", bootstrap_with=self._clauses(()) + clauses) as solver:
            solver.solve(assumptions=selected)
            return [self._learnt[s - first] for s in sorted(solver.get_core() or [])]

    def _lemmas(self, conflicts: list[_Conflict]) -> Iterator[tuple[Claim, ...]]:
        """The solver's own proof, as clauses over choices."""
        from pysat.solvers import Solver

        origin = {number: origin for origin, number in self._variable.items()}
        with Solver(name="glucose4", bootstrap_with=self._clauses(conflicts), with_proof=True) as solver:
            solver.solve()
            proof = solver.get_proof() or []
        for line in proof:
            numbers = list(map(int, line.split()[:-1])) if not line.startswith("d") else []
            if numbers:
                yield tuple(origin[abs(number)]._replace(holds=number > 0) for number in numbers)
        yield ()


class Rests:
    """Which choices evidence rests on."""

    def __init__(self, history: History, fit: Fit, open_readers: Iterable[int]) -> None:
        self._operations = len(history)
        self._parts = Parts(history)
        self._open = frozenset(open_readers)
        steps = {transition.step.relation for transition in fit.transitions
                 if not (transition.start == transition.end == 0)}
        self._by_source = bool(steps & {"rf", "rfi", "rfe", AGAIN, ANEW}) or uses_reads_from(fit.irregular)
        self.grows = not uses_reads_from(fit.irregular)
        """Does less that is chosen order less? Otherwise evidence rests on all that is."""

    def on(self, evidence: Cycle | Refutation, read_as: History) -> tuple[Origin, ...]:
        cycles = [evidence] if isinstance(evidence, Cycle) else evidence.cycles
        readers = {reader for cycle in cycles for reader in self._of_cycle(cycle, read_as)} & self._open
        origins = [Origin(reader, int(read_as.source[reader] if reader < self._operations
                                      else read_as.final[reader - self._operations])) for reader in sorted(readers)]
        return tuple(origin for origin in origins if origin.write != AMBIGUOUS)

    def _of_cycle(self, cycle: Cycle, history: History) -> Iterator[int]:
        for edge in cycle.edges:
            yield from self._of_edge(edge, history)
        for pair in cycle.assumed:
            for write, _ in self._parts.shared(*pair):
                yield self._operations + int(history.location[write])
        for step in cycle.steps:
            for edge in step.path:
                yield from self._of_edge(edge, history)
            yield self._parts.beside(step.path[-1].end, step.after)
            if history.pair is not None:
                for store in (step.before, step.path[-1].end):
                    yield from history.pair[history.pair[:, 1] == store][:, 0].tolist()

    def _of_edge(self, edge: Edge, history: History) -> Iterator[int]:
        if edge.kind == "wr":
            yield edge.end
        elif edge.kind == "rw":
            yield edge.start
        elif edge.kind == "po" and self._by_source:
            yield from (*self._parts.of(edge.start), *self._parts.of(edge.end))
        if edge.kind in ("ww", "rw") and premise(edge, history) is None:
            yield self._operations + int(history.location[edge.end])

