"""The models as sentences of second-order logic: there is an execution, or a play, that ends as the goal wants it.

    V(X)       X is a configuration                     F(X)  moreover it is at an end that the goal is met by
    co(X, C)   C orders the writes of X by location     rf(X, S)  S gives each read of X a write of X that justifies it
    fr         = seq(inv rf, co)                         sb  = < within X
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from gradual.events.decide import Assignment
from gradual.events.execution import Execution
from gradual.events.formula import FALSE, TRUE, Formula, all_of, some_of
from gradual.events.goal import Goal
from gradual.events.logic import (
    Pair,
    Relation,
    Set,
    acyclic,
    closed,
    cross,
    empty,
    exists,
    for_all,
    ident,
    inj,
    inv,
    irrefl,
    maybe,
    seq,
    some_relation,
    some_set,
    sub,
    tc,
)
from gradual.events.models import RA, RC11, SC, EventModel
from gradual.events.structure import INITIAL, Event, mask, members
from gradual.programs.condition import And, Equal, Not, Proposition, Register


@dataclass(frozen=True)
class Variables:
    """The variables of a model that judges executions: events, store order, reads-from."""

    x: Set
    co: Relation
    rf: Relation

    @property
    def fr(self) -> Relation:
        found = seq(inv(self.rf), self.co)
        return Relation({(a, b): formula for (a, b), formula in found.pairs.items() if a != b})


class Sentences:
    """The models' sentences about one goal on one structure."""

    def __init__(self, goal: Goal) -> None:
        self.goal = goal
        self.structure = goal.structure
        self.events = range(len(goal.structure))
        self.justifying = goal.structure.justifies(goal.justifies)
        self._asked: Variables | None = None

    def execution_of(self, values: Assignment) -> Execution:
        """The execution that makes the last sentence true."""
        e = self._asked
        assert e is not None

        def true(formula: Formula) -> bool:
            return values.get(formula.literal, False)

        return Execution(mask(event for event, formula in e.x.members.items() if true(formula)),
                         {read: write for (write, read), formula in e.rf.pairs.items() if true(formula)},
                         frozenset(pair for pair, formula in e.co.pairs.items() if true(formula)))

    def of(self, model: EventModel, racy: bool = False) -> Formula:
        """The sentence of a model that judges executions; of C++, that there is a race."""
        if model == SC:
            return self.sequential()
        if model == RA:
            return self.release_acquire()
        return (self.race if racy else self.cpp)(thin_air=model != RC11)

    # --- the structure as sets and relations

    def kind(self, kind: str) -> Set:
        """All reads, writes or fences, whether they take place or not."""
        return Set({event.number: TRUE for event in self.structure.events if event.kind == kind})

    def modes(self, *names: str) -> Set:
        return Set({event.number: TRUE for event in self.structure.events if event.mode in names})

    @cached_property
    def sloc(self) -> Relation:
        """Different accesses of one location that can take place together."""
        found: dict[str, list[Event]] = {}
        for event in self.structure.events:
            if event.kind != "F":
                found.setdefault(event.location, []).append(event)
        return Relation({(a.number, b.number): TRUE for accesses in found.values() for a in accesses for b in accesses
                         if a is not b and self.together(a.number, b.number)})

    @cached_property
    def before(self) -> Relation:
        """<."""
        return Relation({(a, b): TRUE for b in self.events for a in members(self.structure.below[b])})

    @cached_property
    def justifies(self) -> Relation:
        return Relation({(write, read): TRUE for read in self.events for write in members(self.justifying[read])})

    def together(self, a: int, b: int) -> bool:
        return not self.structure.conflicts[a] >> b & 1

    # --- what all models say

    def configuration(self, x: Set) -> Formula:
        """V(X): closed by ≤, without conflict. Conflict is inherited, so it is enough to look at immediate conflict."""
        down = (x(event.number).implies(x(event.before)) for event in self.structure.events
                if event.before is not None)
        initial = (x(event) for event in members(self.structure.initial))
        apart = (~x(a) | ~x(b) for siblings in self.structure.children.values()
                 for at, a in enumerate(siblings) for b in siblings[:at])
        return all_of(down) & all_of(initial) & all_of(apart)

    def final(self, x: Set, co: Relation | None = None) -> Formula:
        """F(X)."""
        ended = (some_of(x(leaf.event) for leaf in leaves if leaf.event is not None)
                 for leaves in self.structure.leaves if all(leaf.event is not None for leaf in leaves))
        return self.configuration(x) & all_of(ended) & self._meets(self.goal.proposition, x, co)

    def _meets(self, part: Proposition, x: Set, co: Relation | None) -> Formula:
        if isinstance(part, Not):
            return ~self._meets(part.operand, x, co)
        if isinstance(part, Equal):
            return self._ends_with(part, x, co)
        parts = [self._meets(operand, x, co) for operand in part.operands]
        return all_of(parts) if isinstance(part, And) else some_of(parts)

    def _ends_with(self, part: Equal, x: Set, co: Relation | None) -> Formula:
        if isinstance(part.place, Register):
            name = part.place.name
            return some_of(TRUE if leaf.event is None else x(leaf.event)
                           for leaf in self.structure.leaves[part.place.thread]
                           if leaf.registers.get(name, 0) == part.value)
        assert co is not None, "only models with a store order know what a location ends with"
        writes = [event.number for event in self.structure.events
                  if event.kind == "W" and event.location == part.place]
        return some_of(x(a) & all_of(~co(a, b) for b in writes) for a in writes
                       if self.structure.events[a].value == part.value)

    def execution(self) -> Variables:
        """Variables for an execution: atoms only where something can hold."""
        writes = self.kind("W")
        ordered = self.sloc & cross(writes, writes)
        later = Relation({(a, b): TRUE for a, b in ordered.pairs if self.structure.events[b].thread != INITIAL})
        return Variables(some_set(self.events), some_relation(later.pairs),
                         some_relation(pair for pair in self.justifies.pairs if self.together(*pair)))

    def is_co(self, e: Variables) -> Formula:
        """∀xy: x, y ∈ X writes, sloc, x ≠ y  ↔  C(x, y) ∨ C(y, x); the initial write first."""
        pairs = {(min(pair), max(pair)) for pair in e.co.pairs}
        both = (e.x(a) & e.x(b) for a, b in pairs)
        either = (e.co(a, b) | e.co(b, a) for a, b in pairs)
        return all_of(left.implies(right) & right.implies(left) for left, right in zip(both, either, strict=True)) \
            & all_of(~e.co(a, b) | ~e.co(b, a) for a, b in pairs)

    def is_rf(self, e: Variables) -> Formula:
        """inj(S) ∧ sub(S, justifies) ∧ every read y ∈ X has a write x ∈ X with S(x, y)."""
        sources = (e.x(read).implies(some_of(e.x(write) & e.rf(write, read)
                                             for write in members(self.justifying[read])))
                   for read in members(self.structure.reads))
        there = all_of(formula.implies(e.x(a) & e.x(b)) for (a, b), formula in e.rf.pairs.items())
        return inj(e.rf) & sub(e.rf, self.justifies) & all_of(sources) & there

    def sb(self, e: Variables) -> Relation:
        """< within X."""
        return Relation({(a, b): e.x(b) for a, b in self.before.pairs})

    # --- SC and RA

    def sequential(self) -> Formula:
        """∃X, co, rf: F(X) ∧ co ∧ rf ∧ acyclic(< ∪ rf ∪ co ∪ fr)."""
        e = self.execution()
        return self._some(e, self.final(e.x, e.co) & acyclic(self.sb(e) | e.rf | e.co | e.fr, self.together))

    def release_acquire(self) -> Formula:
        """∃X, co, rf: F ∧ co ∧ rf ∧ acyclic(co) ∧ ∃hb ⊇ < ∪ rf: trans, irrefl, irrefl(co;hb), irrefl(fr;hb)."""
        e = self.execution()
        hb, is_hb = closed(self.sb(e) | e.rf, self.together)
        ordered = exists(hb, such_that=is_hb & irrefl(seq(e.co, hb)) & irrefl(seq(e.fr, hb)))
        return self._some(e, self.final(e.x, e.co) & acyclic(e.co, self.together) & ordered)

    def _some(self, e: Variables, such_that: Formula) -> Formula:
        self._asked = e
        return exists(e.x, e.co, e.rf, such_that=self.is_co(e) & self.is_rf(e) & such_that)

    # --- C++

    def cpp(self, thin_air: bool = True) -> Formula:
        """∃X, co, rf: F(X) ∧ co ∧ rf ∧ M. Without thin air, also acyclic(sb ∪ rf): RC11."""
        return self._cpp(racy=False, thin_air=thin_air)

    def race(self, thin_air: bool = True) -> Formula:
        """∃X, co, rf: V(X) ∧ co ∧ rf ∧ M ∧ race."""
        return self._cpp(racy=True, thin_air=thin_air)

    def _cpp(self, racy: bool, thin_air: bool) -> Formula:
        """M is RC11's:

            rs  = [W];(sb∩sloc)?;[W≥rlx];(rf;rmw)*
            sw  = [≥rel];([F];sb)?;rs;rf;[R≥rlx];(sb;[F])?;[≥acq]
            hb  = (sb ∪ sw)⁺      eco = (rf ∪ co ∪ fr)⁺
            scb = sb ∪ (sb∖sloc);hb;(sb∖sloc) ∪ (hb∩sloc) ∪ co ∪ fr
            psc = ([sc] ∪ [F sc];hb?);scb;([sc] ∪ hb?;[F sc]) ∪ [F sc];(hb ∪ hb;eco;hb);[F sc]
            M   = irrefl(hb;eco?) ∧ rmw ∩ (fr;co) = ∅ ∧ acyclic(psc)

        Supersets do where a closure is meant: what must hold of hb and eco holds of smaller ones too.
        """
        e = self.execution()
        x, co, rf, fr, sb, sloc = e.x, e.co, e.rf, e.fr, self.sb(e), self.sloc
        w, r, f = (ident(self.kind(kind) & x) for kind in "WRF")
        atomic = ident(self.modes("rlx", "acq", "rel", "ar", "sc"))
        acq, rel = ident(self.modes("acq", "ar", "sc")), ident(self.modes("rel", "ar", "sc"))
        sc, fsc = ident(self.modes("sc") & x), ident(self.modes("sc") & self.kind("F") & x)
        rmw = Relation({(event.pair, event.number): x(event.number) for event in self.structure.events
                        if event.pair is not None})
        rs, is_rs = self._release_sequence(seq(w, maybe(sb & sloc, x), w, atomic), seq(rf, rmw))
        sw = seq(rel, maybe(seq(f, sb), x), rs, rf, r, atomic, maybe(seq(sb, f), x), acq)
        hb, is_hb = closed(sb | sw, self.together)
        eco, is_eco = closed(rf | co | fr, self.together)
        elsewhere = sb - sloc
        scb = sb | seq(elsewhere, hb, elsewhere) | (hb & sloc) | co | fr
        psc = seq(sc | seq(fsc, maybe(hb, x)), scb, sc | seq(maybe(hb, x), fsc)) \
            | seq(fsc, hb | seq(hb, eco, hb), fsc)
        m = (is_rs & is_hb & is_eco & irrefl(seq(hb, eco)) & empty(rmw & seq(fr, co))
             & acyclic(psc, self.together))
        if not thin_air:
            m = m & acyclic(sb | rf, self.together)
        wanted = self.configuration(x) & self._races(x, hb) if racy else self.final(x, co)
        return self._some(e, exists(rs, hb, eco, such_that=m & wanted) & acyclic(co, self.together))

    def _release_sequence(self, start: Relation, step: Relation) -> tuple[Relation, Formula]:
        """A variable for start;step*, and that it is one, or more."""
        later: set[Pair] = set(start.pairs)
        todo = list(later)
        while todo:
            a, b = todo.pop()
            new = {(a, d) for c, d in step.pairs if c == b} - later
            later |= new
            todo += new
        rs = some_relation(later)
        return rs, sub(start, rs) & sub(seq(rs, step), rs)

    def _races(self, x: Set, hb: Relation) -> Formula:
        """A write and another access of its location in X, one of them na, unordered by hb."""
        events = self.structure.events
        return some_of(x(a) & x(b) & ~hb(a, b) & ~hb(b, a) for a, b in self.sloc.pairs
                       if events[a].kind == "W" and "na" in (events[a].mode, events[b].mode))

    # --- J+R

    def justified(self, p: Set, q: Set) -> Formula:
        """J(P, Q): every read y ∈ Q∖P has a write x ∈ P with justifies(x, y)."""
        return all_of(q(read).implies(p(read) | some_of(p(write) for write in members(self.justifying[read])))
                      for read in members(self.structure.reads))

    def always_justified(self, p: Set, q: Set) -> Formula:
        """AJ(P, Q) = J(P, Q) ∧ P ⊆ Q ∧ V(P) ∧ V(Q)."""
        return self.justified(p, q) & sub(p, q) & self.configuration(p) & self.configuration(q)

    def always_eventually(self, n: int, p: Set, q: Set) -> Formula:
        """AeJₙ(P, Q) = P ⊆ Q ∧ V(P) ∧ V(Q) ∧ ∀X (TCₙ(AJ)(P, X) → ∃Y (TCₙ(AJ)(X, Y) ∧ J(Y, Q)))."""
        x, y = some_set(self.events), some_set(self.events)
        answer = exists(y, such_that=tc(self.always_justified, n, self.events, x, y) & self.justified(y, q))
        led = tc(self.always_justified, n, self.events, p, x)
        return sub(p, q) & self.configuration(p) & self.configuration(q) & for_all(x, it_holds=led.implies(answer))

    def jeffrey_riely(self, n: int) -> Formula:
        """JRₙ = ∃X: TCₙ(AeJₙ)(∅, X) ∧ F(X) ∧ every read of X is justified by a write of X. ∅ has the initial writes."""
        x, start = some_set(self.events), Set(dict.fromkeys(members(self.structure.initial), TRUE))
        play = tc(lambda p, q: self.always_eventually(n, p, q), n, self.events, start, x)
        return exists(x, such_that=play & self.final(x) & self._justified_in_itself(x))

    def two_levels(self) -> Formula:
        """J+R, simplified: J(Y, Q) grows with Y, so it is enough that J(Z, Q) for every terminal Z of AJ*(P)."""
        steps = self.structure.most_reads + 1
        plays = [Set(dict.fromkeys(members(self.structure.initial), TRUE)),
                 *(some_set(self.events) for _ in range(steps))]
        moves = [sub(p, q) & self.configuration(q) & self._at_every_terminal(steps, p, q)
                 for p, q in pairwise(plays)]
        last = plays[-1]
        return exists(*plays[1:], such_that=all_of(moves) & self.final(last) & self._justified_in_itself(last))

    def _at_every_terminal(self, steps: int, p: Set, q: Set) -> Formula:
        way = [p, *(some_set(self.events) for _ in range(steps))]
        led = [self.justified(a, b) & sub(a, b) & self.configuration(b) for a, b in pairwise(way)]
        to_a_terminal = all_of(led) & self._terminal(way[-1])
        return for_all(*way[1:], it_holds=to_a_terminal.implies(self.justified(way[-1], q)))

    def _terminal(self, z: Set) -> Formula:
        """Nothing that is justified can be added."""
        stuck = []
        for siblings in self.structure.children.values():
            before = self.structure.events[siblings[0]].before
            there = some_of(map(z, siblings)) | (FALSE if before is None else ~z(before))
            stuck += [there | ~self._enabled(z, event) for event in siblings]
        return all_of(stuck)

    def _enabled(self, z: Set, event: int) -> Formula:
        if not self.structure.reads >> event & 1:
            return TRUE
        return some_of(z(write) for write in members(self.justifying[event]))

    def _justified_in_itself(self, x: Set) -> Formula:
        return all_of(x(read).implies(some_of(x(write) for write in members(self.justifying[read])))
                      for read in members(self.structure.reads))
