"""Where values repeat: which write each read returned, searched together with the store order.

A read of a value that several wrote is *open*: it has candidates. What the order of the trace makes likely may be a
run already. If not, the engine performs such a read when one of its candidates is there, and learns about what reads
returned as about the order of writes. Of a run that it finds the whole reading is looked at once more: what depends on
sources and shows in no run (LR/SC, rules about two reads of one write, final values, what memory held) is a clause
then, and the engine goes on.

A refutation has, of all that was found to be wrong, what excludes every reading: as cases, and as lemmas what follows
from them, down to a solver's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gradual.deadline import Deadline
from gradual.deciding import engine
from gradual.deciding.completion.solver import solve
from gradual.deciding.engine.parts import Parts
from gradual.deciding.engine.proof import Proof, evidence, premise
from gradual.evidence.refutations import negated
from gradual.evidence.verdict import Claim, Cycle, Edge, Origin, Refutation, Step, Witness
from gradual.history import AMBIGUOUS, INITIAL, READ, History, candidates
from gradual.models.fit import Fit
from gradual.models.regular import AGAIN, ANEW, uses_reads_from

Reading = dict[int, int]
"""Readers, and the write that each is taken to have returned."""


@dataclass(frozen=True)
class Found:
    """What the search came to."""

    evidence: Witness | Cycle | Refutation
    conflicts: int


@dataclass(frozen=True)
class _Conflict:
    """Choices that do not go together, and why."""

    origins: tuple[Origin, ...]
    evidence: Cycle | Refutation | None
    """None: the certificate knows."""


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
        self._own: dict[tuple[int, int], frozenset[int]] = {}
        """The writes of each thread at each location, as far as somebody asked."""
        self._learnt: list[_Conflict] = []

    def run(self) -> Found:
        likely = self._likely()
        if likely is not None and isinstance(run := self._wrong(likely), Witness):
            return Found(run, 0)
        self._learnt += self._at_first()
        out = {origin for conflict in self._learnt for origin in conflict.origins}
        possible = {reader: tuple(write for write in writes if Origin(reader, write) not in out)
                    for reader, writes in self._candidates.items()}
        if not all(possible.values()):
            return Found(self._refuted(None), len(self._learnt))
        search = engine.Choosing(self._history, self._fit, possible, self._deadline)
        while (outcome := search.run()).status == engine.CONSISTENT:
            reading = search.returned()
            wrong = self._different(reading) or self._wrong(reading)
            if isinstance(wrong, Witness):
                return Found(wrong, outcome.conflicts)
            self._learnt.append(wrong)
            search.exclude(wrong.origins)
        if outcome.bad >= 0:
            return Found(evidence(self._history, self._fit, outcome), outcome.conflicts)
        proof = Proof(self._history, self._fit, outcome.log, search.origins)
        return Found(self._refuted(proof), outcome.conflicts)

    def _likely(self) -> Reading | None:
        """The last candidate before the read in the trace, of a final value the last one; else the first one. None
        where that is wrong in a way that the engine does not look at."""
        reading = {reader: max((write for write in writes if write < reader), default=writes[0])
                   for reader, writes in self._candidates.items()}
        future = any(write >= reader and write in self._own_writes(reader)
                     for reader, write in reading.items() if reader < len(self._history))
        return None if future or self._different(reading) else reading

    def _different(self, reading: Reading) -> _Conflict | None:
        """Two different values that memory is said to have held at a location."""
        first: dict[int, int] = {}
        for reader, write in reading.items():
            if write == INITIAL and reader < len(self._history):
                other = first.setdefault(int(self._history.location[reader]), reader)
                if self._history.read[other] != self._history.read[reader]:
                    return _Conflict((Origin(reader, INITIAL), Origin(other, INITIAL)), None)
        return None

    def _wrong(self, reading: Reading) -> Witness | _Conflict:
        """A run that shows all that was read; else what of it does not go together."""
        self._deadline.check()
        read_as = self._history.read_as(reading.items())
        chosen = tuple(Origin(*item) for item in sorted(reading.items()))
        outcome = engine.decide(read_as, self._fit, self._deadline)
        if outcome.status == engine.CONSISTENT:
            return Witness(outcome.order, origins=chosen)
        found = evidence(read_as, self._fit, outcome)
        return _Conflict(self._rests.on(found, read_as) if self._rests.grows else chosen, found)

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

    # --- evidence

    def _refuted(self, proof: Proof | None) -> Cycle | Refutation:
        """What was found to be wrong, as far as it is needed to exclude every reading."""
        found: list[_Reason] = [_Reason({*conflict.origins}, conflict) for conflict in self._learnt]
        if proof is not None:
            found += [_Reason(proof.rests_on(place), place) for place in proof.cases]
        clauses = _Clauses(self._candidates, [reason.claims for reason in found], self._deadline)
        cases: list[Cycle] = []
        lemmas: list[tuple[Claim, ...]] = []
        needed = [found[number] for number in clauses.needed()]
        for reason in needed:
            if isinstance(reason.of, int):
                assert proof is not None
                cases.append(proof.case(reason.of))
            elif isinstance(reason.of.evidence, Cycle):
                cases.append(replace(reason.of.evidence, origins=reason.of.origins))
            elif reason.of.evidence is not None:
                origins, refutation = reason.of.origins, reason.of.evidence
                not_these = tuple(origin._replace(holds=False) for origin in origins)
                cases += [replace(case, origins=origins) for case in refutation.cycles]
                lemmas += [(*lemma, *not_these) for lemma in refutation.lemmas]
        if len(cases) == 1 and not cases[0].origins and not cases[0].assumed:
            return cases[0]
        return Refutation(tuple(dict.fromkeys(cases)), (*lemmas, *clauses.lemmas()))


@dataclass(frozen=True)
class _Reason:
    """Claims that do not go together, and whose finding that is: of the reading as a whole, or an entry of the log."""

    claims: set[Claim]
    of: _Conflict | int


class _Clauses:
    """Sets of claims that do not go together, for a solver."""

    def __init__(self, candidates: dict[int, tuple[int, ...]], sets: Sequence[set[Claim]], deadline: Deadline) -> None:
        self._deadline = deadline
        self._number: dict[Claim, int] = {}
        self._clauses = [[-self._variable(claim) for claim in claims] for claims in sets]
        readers = sorted({claim.reader for claim in self._number if isinstance(claim, Origin)})
        self._somewhere = [[self._variable(Origin(reader, write)) for write in candidates[reader]]
                           for reader in readers]
        """Every value came from somewhere."""

    def _variable(self, claim: Claim) -> int:
        if not isinstance(claim, Origin) and claim[0] > claim[1]:
            return -self._variable((claim[1], claim[0]))
        return self._number.setdefault(claim, len(self._number) + 1)

    def needed(self) -> list[int]:
        """Those which exclude everything together."""
        from pysat.solvers import Solver

        first = len(self._number) + 1
        selected = list(range(first, first + len(self._clauses)))
        clauses = [[*clause, -s] for clause, s in zip(self._clauses, selected, strict=True)]
        with Solver(name="glucose4", bootstrap_with=self._somewhere + clauses) as solver:
            satisfiable = solve(solver, self._deadline, selected)
            assert not satisfiable
            core = sorted(solver.get_core() or [])
        self._clauses = [self._clauses[s - first] for s in core]
        return [s - first for s in core]

    def lemmas(self) -> Iterator[tuple[Claim, ...]]:
        """The solver's own proof."""
        from pysat.solvers import Solver

        claim = {number: claim for claim, number in self._number.items()}
        with Solver(name="glucose4", bootstrap_with=self._somewhere + self._clauses, with_proof=True) as solver:
            solve(solver, self._deadline)
            proof = solver.get_proof() or []
        for line in proof:
            numbers = list(map(int, line.split()[:-1])) if not line.startswith("d") else []
            if numbers:
                yield tuple(claim[number] if number > 0 else negated(claim[-number]) for number in numbers)
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

