"""Checks what the engines say, by the definitions, in plain sets: it shares the events with them, and nothing else.

An *execution* must be one, meet the goal, and satisfy the model's axioms. A *play* must end where the goal is met, in a
configuration that is justified in itself, and each of its moves must stand against every terminal that the opponent can
lead to: all of them are visited, or, where there are too many, clingo is asked for one that refutes the move
(`datalog/moves.lp`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from math import prod

from gradual.events.execution import Execution
from gradual.events.goal import Goal
from gradual.events.ground import answer_set
from gradual.events.structure import INITIAL, Event
from gradual.programs.condition import And, Equal, Not, Place, Proposition, Register

Pairs = set[tuple[int, int]]
VISITED = 5_000
"""Configurations that are visited for a move; where there are more, clingo is asked instead."""


class CertificateError(Exception):
    """The evidence does not show what it should."""


class Certificate:
    """The definitions on one structure."""

    def __init__(self, goal: Goal) -> None:
        self.goal = goal
        self.events: tuple[Event, ...] = goal.structure.events
        self.initial = frozenset(e.number for e in self.events if e.thread == INITIAL)
        self.reads = frozenset(e.number for e in self.events if e.kind == "R")
        self.past = {e.number: self._past(e) for e in self.events}
        """What comes before each event: <."""
        self.next: dict[tuple[int, int | None], list[int]] = {}
        for event in self.events:
            if event.thread != INITIAL:
                self.next.setdefault((event.thread, event.before), []).append(event.number)
        self.writers = {read: frozenset(self._writers(self.events[read])) for read in self.reads}

    def _past(self, event: Event) -> frozenset[int]:
        if event.thread == INITIAL:
            return frozenset()
        found = set(self.initial)
        while event.before is not None:
            found.add(event.before)
            event = self.events[event.before]
        return frozenset(found)

    def _conflict(self, a: int, b: int) -> bool:
        """Of one thread, and neither comes before the other."""
        return (a != b and self.events[a].thread == self.events[b].thread != INITIAL
                and a not in self.past[b] and b not in self.past[a])

    def _writers(self, read: Event) -> Iterable[int]:
        """The writes that justify it."""
        for write in self.events:
            if write.kind == "W" and write.location == read.location and write.value == read.value:
                hidden = any(b.kind == "W" and b.location == read.location and write.number in self.past[b.number]
                             and b.number in self.past[read.number] for b in self.events)
                seen = read.number not in self.past[write.number] and not self._conflict(write.number, read.number)
                if self.goal.justifies == "label" or (seen and not hidden):
                    yield write.number

    # --- configurations and goals

    def _set(self, events: int) -> frozenset[int]:
        return frozenset(number for number in range(len(self.events)) if events >> number & 1)

    def _configuration(self, events: frozenset[int]) -> None:
        if not self.initial <= events or any(not self.past[event] <= events for event in events):
            raise CertificateError("this set of events is not closed by what comes before")
        chosen: dict[tuple[int, int | None], int] = {}
        for event in events - self.initial:
            place = (self.events[event].thread, self.events[event].before)
            if chosen.setdefault(place, event) != event:
                raise CertificateError("this set of events has a conflict in it")

    def _met(self, events: frozenset[int], co: Pairs | None = None) -> None:
        """Each thread has ended, and the proposition holds."""
        registers: dict[Place, int] = {}
        for thread, leaves in enumerate(self.goal.structure.leaves):
            ended = [leaf for leaf in leaves if leaf.event is None or leaf.event in events]
            if len(ended) != 1:
                raise CertificateError(f"thread {thread} has not ended")
            registers |= {Register(thread, name): value for name, value in ended[0].registers.items()}
        if not self._true(self.goal.proposition, registers, events, co):
            raise CertificateError("the outcome is another one")

    def _true(self, part: Proposition, registers: dict[Place, int], events: frozenset[int], co: Pairs | None) -> bool:
        if isinstance(part, Not):
            return not self._true(part.operand, registers, events, co)
        if isinstance(part, Equal):
            if isinstance(part.place, Register):
                return registers.get(part.place, 0) == part.value
            writes = {e for e in events if self.events[e].kind == "W" and self.events[e].location == part.place}
            last = [w for w in writes if not any((w, other) in (co or ()) for other in writes)]
            return [self.events[w].value for w in last] == [part.value]
        results = [self._true(operand, registers, events, co) for operand in part.operands]
        return all(results) if isinstance(part, And) else any(results)

    # --- plays of J+R

    def play(self, moves: list[int]) -> None:
        """Raises CertificateError where the moves are no play that meets the goal."""
        configurations = [self._set(events) for events in moves]
        if configurations[0] != self.initial:
            raise CertificateError("the play does not start with the initial writes")
        for configuration in configurations:
            self._configuration(configuration)
        for p, q in pairwise(configurations):
            if not p <= q:
                raise CertificateError("a move takes something back")
            self._against_all(p, q)
        last = configurations[-1]
        self._met(last)
        if any(not self.writers[read] & last for read in self.reads & last):
            raise CertificateError("the play ends with a read that nothing in it justifies")

    def _against_all(self, p: frozenset[int], q: frozenset[int]) -> None:
        """Every terminal that the opponent can lead to from p justifies the reads of q that it has not."""
        if self._configurations() > VISITED:
            self._asked(p, q)
            return
        seen, todo = {p}, [p]
        while todo:
            at = todo.pop()
            following = [at | {event} for event in self._enabled(at)]
            if not following and any(not self.writers[read] & at for read in (q & self.reads) - at):
                raise CertificateError("a move has a read that the opponent can leave unjustified")
            todo += [further for further in following if further not in seen]
            seen.update(following)

    def _configurations(self) -> int:
        """A node of each thread, or none."""
        return prod(1 + count for count in Counter(e.thread for e in self.events if e.thread != INITIAL).values())

    def _enabled(self, at: frozenset[int]) -> Iterable[int]:
        """What can come next in some thread, and is justified."""
        for (_, before), siblings in self.next.items():
            if (before is None or before in at) and at.isdisjoint(siblings):
                yield from (event for event in siblings if event not in self.reads or self.writers[event] & at)

    def _asked(self, p: frozenset[int], q: frozenset[int]) -> None:
        rules = [*(f"child({f'start({e.thread})' if e.before is None else e.before},{e.number})." for e in self.events
                   if e.thread != INITIAL),
                 *(f"p({event})." for event in p), *(f"q({event})." for event in q),
                 *(f"read({read})." for read in self.reads),
                 *(f"justifies({write},{read})." for read in self.reads for write in self.writers[read])]
        if answer_set(rules, ["moves.lp"], lambda _: True):
            raise CertificateError("a move has a read that the opponent can leave unjustified")

    # --- executions of SC, RA and C++

    def execution(self, execution: Execution, model: str, racy: bool = False) -> None:
        """Raises CertificateError where it is none that the model (sc, ra, c11, rc11) allows; or no racy one."""
        events = self._set(execution.events)
        self._configuration(events)
        co, rf = set(execution.co), {(write, read) for read, write in execution.rf.items()}
        self._orders(events, co)
        if set(execution.rf) != events & self.reads or any(
                write not in events or write not in self.writers[read] for write, read in rf):
            raise CertificateError("a read has no source, or one that does not give its value")
        if not racy:
            self._met(events, co)
        broken = self.breaks(execution, model)
        if broken:
            raise CertificateError(f"the execution breaks {model}: {broken}")
        if racy and not self._axioms(execution).races():
            raise CertificateError("there is no race in this execution")

    def breaks(self, execution: Execution, model: str) -> str:
        """What an execution breaks of a model; '' where the model allows it."""
        axioms = self._axioms(execution)
        return {"sc": axioms.sc, "ra": axioms.ra, "c11": axioms.cpp, "rc11": axioms.rc11}[model]()

    def _axioms(self, execution: Execution) -> _Axioms:
        return _Axioms(self, self._set(execution.events), {(write, read) for read, write in execution.rf.items()},
                       set(execution.co))

    def _orders(self, events: frozenset[int], co: Pairs) -> None:
        """co is a strict order, total on the writes of each location, with the initial write first."""
        writes = [self.events[event] for event in events if self.events[event].kind == "W"]
        for a in writes:
            for b in writes:
                related = ((a.number, b.number) in co) + ((b.number, a.number) in co)
                if related != int(a is not b and a.location == b.location):
                    raise CertificateError("co does not order the writes of each location, and nothing else")
                if a.thread == INITIAL and (b.number, a.number) in co:
                    raise CertificateError("something comes before an initial write")
        if any((b, c) in co and (a, c) not in co for a, b in co for c in events):
            raise CertificateError("co is not transitive")


class _Axioms:
    """The axioms of the models on one execution, as sets of pairs. Each tells what is broken, or ''."""

    def __init__(self, certificate: Certificate, events: frozenset[int], rf: Pairs, co: Pairs) -> None:
        self.events = {number: certificate.events[number] for number in events}
        self.rf, self.co = rf, co
        self.fr = {(read, later) for write, read in rf for first, later in co if first == write and later != read}
        self.sb = {(a, b) for b in events for a in certificate.past[b]}

    def sc(self) -> str:
        return "" if _acyclic(self.sb | self.rf | self.co | self.fr) else "sb, rf, co and fr form a cycle"

    def ra(self) -> str:
        hb = _plus(self.sb | self.rf)
        against = any((b, a) in hb for a, b in self.co | self.fr)
        return "co or fr goes against hb" if against else "" if _acyclic(hb) else "hb has a cycle"

    def rc11(self) -> str:
        return self.cpp() or ("" if _acyclic(self.sb | self.rf) else "sb and rf form a cycle")

    def cpp(self) -> str:
        hb, eco = self._hb(), _plus(self.rf | self.co | self.fr)
        if any((b, a) in eco or a == b for a, b in hb):
            return "eco goes against hb"
        pairs = {(e.pair, number) for number, e in self.events.items() if e.pair is not None}
        if pairs & _seq(self.fr, self.co):
            return "an rmw is not atomic"
        return "" if _acyclic(self._psc(hb, eco)) else "psc has a cycle"

    def races(self) -> bool:
        hb = self._hb()
        return any(a.kind == "W" and a is not b and a.location == b.location and b.kind != "F"
                   and "na" in (a.mode, b.mode) and (a.number, b.number) not in hb and (b.number, a.number) not in hb
                   for a in self.events.values() for b in self.events.values())

    def _some(self, kinds: str, modes: str) -> Pairs:
        """The identity on events of these kinds and modes."""
        return {(number, number) for number, e in self.events.items() if e.kind in kinds and e.mode in modes.split()}

    def _same_location(self, pairs: Pairs) -> Pairs:
        return {(a, b) for a, b in pairs if "F" not in (self.events[a].kind, self.events[b].kind)
                and self.events[a].location == self.events[b].location}

    def _hb(self) -> Pairs:
        every = self._some("RWF", "na rlx acq rel ar sc")
        writes, fences = self._some("W", "na rlx acq rel ar sc"), self._some("F", "rlx acq rel ar sc")
        pairs = {(e.pair, number) for number, e in self.events.items() if e.pair is not None}
        rs = _seq(writes, every | self._same_location(self.sb), self._some("W", "rlx acq rel ar sc"),
                  every | _plus(_seq(self.rf, pairs)))
        sw = _seq(self._some("RWF", "rel ar sc"), every | _seq(fences, self.sb), rs, self.rf,
                  self._some("R", "rlx acq rel ar sc"), every | _seq(self.sb, fences), self._some("RWF", "acq ar sc"))
        return _plus(self.sb | sw)

    def _psc(self, hb: Pairs, eco: Pairs) -> Pairs:
        every = self._some("RWF", "na rlx acq rel ar sc")
        strong, barrier = self._some("RWF", "sc"), self._some("F", "sc")
        elsewhere = self.sb - self._same_location(self.sb)
        scb = self.sb | _seq(elsewhere, hb, elsewhere) | self._same_location(hb) | self.co | self.fr
        base = _seq(strong | _seq(barrier, every | hb), scb, strong | _seq(every | hb, barrier))
        return base | _seq(barrier, hb | _seq(hb, eco, hb), barrier)


def _seq(*parts: Pairs) -> Pairs:
    first, *others = parts
    for other in others:
        after: dict[int, list[int]] = {}
        for b, c in other:
            after.setdefault(b, []).append(c)
        first = {(a, c) for a, b in first for c in after.get(b, ())}
    return first


def _plus(pairs: Pairs) -> Pairs:
    after: dict[int, set[int]] = {}
    for a, b in pairs:
        after.setdefault(a, set()).add(b)
    found: Pairs = set()
    for start in after:
        reached: set[int] = set()
        todo = [start]
        while todo:
            new = after.get(todo.pop(), set()) - reached
            reached |= new
            todo += new
        found |= {(start, end) for end in reached}
    return found


def _acyclic(pairs: Pairs) -> bool:
    sorter: TopologicalSorter[int] = TopologicalSorter()
    for a, b in pairs:
        sorter.add(b, a)
    try:
        sorter.prepare()
    except CycleError:
        return False
    return True
