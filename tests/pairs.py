"""A model's checks on one execution of a program, by the definitions: sets of events and of pairs, nothing clever."""

from __future__ import annotations

from itertools import product

from gradual.history import INITIAL
from gradual.history.annotations import ACQUIRE, EXCLUSIVE, RCPC, RELEASE
from gradual.models import Model
from gradual.models import syntax as s
from gradual.programs.executions import Execution
from gradual.programs.program import Fence, Program

Pairs = set[tuple[object, object]]


class Evaluator:
    """Events are numbers, initial writes the names of their locations."""

    def __init__(self, program: Program, execution: Execution) -> None:
        events = [program.events[number] for number in program.seen(execution.events)]
        accessed = {event.location for event in events if event.location is not None}
        self.events: set[object] = {event.number for event in events} | accessed
        location = {event.number: event.location for event in events} | {name: name for name in accessed}
        thread = {event.number: event.thread for event in events} | {name: name for name in accessed}
        every = list(product(self.events, repeat=2))
        self.relations: dict[str, Pairs] = {name: set() for name in s.RELATIONS}
        self.sets: dict[str, set[object]] = {name: set() for name in s.SETS}
        r = self.relations
        r["id"] = {(e, e) for e in self.events}
        r["loc"] = {(a, b) for a, b in every if location[a] == location[b] is not None}
        r["int"] = {(a, b) for a, b in every if thread[a] == thread[b]}
        r["ext"] = set(every) - r["int"]
        r["po"] = {(a.number, b.number) for a in events for b in events
                   if a.thread == b.thread and a.number < b.number}
        r["po-loc"] = r["po"] & r["loc"]
        r["rf"] = {(program.events[load].location if source == INITIAL else source, load)
                   for load, source in execution.rf.items()}
        for name, order in execution.co.items():
            whole = (name, *order)
            r["co"] |= {(whole[i], whole[j]) for i in range(len(whole)) for j in range(i + 1, len(whole))}
        r["fr"] = {(b, d) for a, b in r["rf"] for c, d in r["co"] if a == c and b != d}
        for name in ("rf", "co", "fr"):
            r[name + "i"], r[name + "e"] = r[name] & r["int"], r[name] & r["ext"]
        for name in ("addr", "data", "ctrl"):  # a program has no times: tdep is empty
            r[name] = {(load, event.number) for event in events for load in getattr(event, name)}
        r["ctrl"] |= {(a, d) for a, b in r["ctrl"] for c, d in r["po"] if b == c}
        r["rmw"] = {(event.pair, event.number) for event in events if event.pair is not None}
        sets = self.sets
        sets["_"] = self.events
        sets["R"] = {event.number for event in events if event.reads}
        sets["W"] = {event.number for event in events if event.writes} | accessed
        sets["M"], sets["IW"] = sets["R"] | sets["W"], accessed
        sets["AMO"] = sets["R"] & sets["W"]
        acquire, release, pc, sets["EX"] = ({event.number for event in events if event.marks & mark}
                                            for mark in (ACQUIRE, RELEASE, RCPC, EXCLUSIVE))
        sets["X"] = sets["AMO"] | sets["EX"]
        sets["Acq"], sets["Rel"], sets["AcqRel"] = acquire - release, release - acquire, acquire & release
        sets["A"], sets["Q"], sets["L"] = acquire & sets["R"] - pc, acquire & sets["R"] & pc, release & sets["W"]
        for event in events:
            if isinstance(event.instruction, Fence):
                sets["F"].add(event.number)
                sets[event.instruction.set].add(event.number)

    def allows(self, model: Model) -> bool:
        return all(self.holds(check) for check in model.checks)

    def holds(self, check: s.Check) -> bool:
        found = self.value(check.expression, {})
        if check.kind == "empty":
            return not found
        closure = _closure(found) if check.kind == "acyclic" else found
        return not any(a == b for a, b in closure)

    def value(self, e: s.Expression, variables: dict[str, set]) -> set:
        def of(part: s.Expression) -> set:
            return self.value(part, variables)

        if isinstance(e, s.Name):
            return self.sets[e.name] if e.name in s.SETS else self.relations[e.name]
        if isinstance(e, s.Nothing):
            return set()
        if isinstance(e, s.Named):
            return of(e.of)
        if isinstance(e, s.Variable):
            return variables[e.name]
        if isinstance(e, s.Union):
            return of(e.left) | of(e.right)
        if isinstance(e, s.Intersection):
            return of(e.left) & of(e.right)
        if isinstance(e, s.Difference):
            return of(e.left) - of(e.right)
        if isinstance(e, s.Sequence):
            return _then(of(e.left), of(e.right))
        if isinstance(e, s.Product):
            return set(product(of(e.left), of(e.right)))
        if isinstance(e, s.Complement):
            return (self.events if is_set(e.of) else set(product(self.events, repeat=2))) - of(e.of)
        if isinstance(e, s.Identity):
            return {(a, a) for a in of(e.of)}
        if isinstance(e, s.Inverse):
            return {(b, a) for a, b in of(e.of)}
        if isinstance(e, s.Plus):
            return _closure(of(e.of))
        if isinstance(e, s.Star):
            return _closure(of(e.of)) | self.relations["id"]
        if isinstance(e, s.Maybe):
            return of(e.of) | self.relations["id"]
        if isinstance(e, s.Domain):
            return {a for a, _ in of(e.of)}
        if isinstance(e, s.Range):
            return {b for _, b in of(e.of)}
        assert isinstance(e, s.Fixpoint)
        now: dict[str, set] = {name: set() for name, _ in e.definitions}
        while True:
            after = {name: self.value(definition, {**variables, **now}) for name, definition in e.definitions}
            if after == now:
                return now[e.name]
            now = after


def is_set(e: s.Expression) -> bool:
    if isinstance(e, s.Name):
        return e.name in s.SETS
    if isinstance(e, s.Named | s.Complement):
        return is_set(e.of)
    if isinstance(e, s.Union | s.Intersection | s.Difference):
        return is_set(e.left) or is_set(e.right)
    return isinstance(e, s.Domain | s.Range)


def _then(left: Pairs, right: Pairs) -> Pairs:
    return {(a, d) for a, b in left for c, d in right if b == c}


def _closure(pairs: Pairs) -> Pairs:
    whole = set(pairs)
    while more := _then(whole, pairs) - whole:
        whole |= more
    return whole
