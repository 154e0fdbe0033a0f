"""The executions of a program that a model allows, by clingo: `datalog/execution.lp` and the model, compiled.

An execution is a pair (rf, co): a source for each load, and a total order of the stores to each location,
the initial one first. Stores of equal values stay different sources. Where loads decide what takes place, it has a way
through each thread besides (`datalog/ways.lp`). What the model forbids is cut off during search, as clingo checks the
acyclicity of `#edge` while it chooses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from gradual import models
from gradual.deadline import OutOfTime
from gradual.history import INITIAL
from gradual.history.annotations import ACQUIRE, EXCLUSIVE, RCPC, RELEASE
from gradual.models.clingo import demanded
from gradual.programs.condition import And, Equal, Not, Place, Proposition, Register
from gradual.programs.expressions import Known, number_of
from gradual.programs.instructions import Failed, Fence, Rmw, Store
from gradual.programs.program import Program
from gradual.programs.scan import ProgramError
from gradual.programs.unfolding import Event, Returned

POLL = 0.1
"""Seconds between looks for Ctrl-C, which cannot interrupt the solver itself."""

MARKS = {"acquire": ACQUIRE, "release": RELEASE, "rcpc": RCPC, "exclusive": EXCLUSIVE}
"""What `execution.lp` calls the marks of an access."""

Outcome = tuple[int, ...]
"""The values of `Program.observed`, in that order."""


class Arrival(NamedTuple):
    """A store reaching a thread: what a model with a view per thread speaks of."""

    store: int
    thread: int


Node = int | Arrival
"""What the edges of a check connect: events, initial stores by -1, -2, … in the order of their locations, arrivals."""


@dataclass(frozen=True)
class Execution:
    """What takes place, who reads from whom, and the stores of each location in the order in which memory gets them."""

    events: tuple[int, ...]
    rf: dict[int, int]
    """Each load's source, by event; INITIAL for the initial value."""
    co: dict[str, tuple[int, ...]]

    def last(self, location: str) -> int:
        return self.co[location][-1] if self.co.get(location) else INITIAL


def value_of(program: Program, source: int, location: str) -> int:
    """The value that a store put there, or the initial one."""
    if source == INITIAL:
        return program.initial.get(location, 0)
    return program.events[source].instruction.value  # type: ignore[union-attr]


def outcome_of(program: Program, execution: Execution) -> Outcome:
    return tuple(_ends_with(program, execution, place) for place in program.observed)


def _ends_with(program: Program, execution: Execution, place: Place) -> int:
    if isinstance(place, str):
        return value_of(program, execution.last(place), place)
    taken = {None, *execution.events}
    end = next(end for end in program.ends[place.thread] if end.event in taken)
    held = end.registers.get(place.name, 0)
    if isinstance(held, Returned):
        return value_of(program, execution.rf[held.load], program.events[held.load].location or "")
    return number_of(held)


class Refused(ProgramError):
    """A program that a model says nothing about."""


def refusal(program: Program, model: models.Model) -> str | None:
    """Why a model says nothing about a program."""
    if model.has_views and program.has_rmws:
        return f"{model} has a view per thread, and what an rmw does in one is not defined"
    if model.splits_rmws and program.has_rmws:
        return (f"{model} takes an atomic operation for two events, and programs have it as one (lr and sc are two, "
                "where that will do)")
    return None


class Executions:
    """The executions of `program` that `model` allows; with `rf` or `last` (by location) given, those that agree.

    `compiled` is what the model becomes: see `models/clingo.py`.
    """

    def __init__(self, program: Program, model: str | models.Model, rf: Mapping[int, int] | None = None,
                 last: Mapping[str, int] | None = None, compiled: Callable[[models.Model], str] = demanded) -> None:
        from importlib.resources import as_file, files

        import clingo

        self.program = program
        self.model = models.load(model)
        if reason := refusal(program, self.model):
            raise Refused(reason, program.file)
        self.found = 0
        """Executions met by the `count` or `outcomes` under way, or by the last one."""
        self._control = clingo.Control(["0", "--warn=no-atom-undefined"])
        self._add(rf or {}, last or {})
        with as_file(files("gradual.datalog")) as folder:
            self._control.load(str(folder / "execution.lp"))
            if program.branches:
                self._control.load(str(folder / "ways.lp"))
        self._control.add("base", [], compiled(self.model))
        self._control.ground([("base", [])])
        self._sources = {load.number: self._source_literals(load.number) for load in program.loads}
        if program.only is not None:
            with self._control.backend() as backend:
                backend.add_rule([], [-self._define(backend, program.only)])

    # --- in: facts

    def _add(self, rf: Mapping[int, int], last: Mapping[str, int]) -> None:
        with self._control.backend() as backend:
            for name, *arguments in self._facts(rf, last):
                backend.add_rule([backend.add_atom(self._symbol(name, *arguments))])

    def _facts(self, rf: Mapping[int, int], last: Mapping[str, int]) -> Iterator[tuple[Any, ...]]:
        self._location_numbers = {name: number for number, name in enumerate(self.program.locations)}
        for event in self.program.events:
            for fact in self._event_facts(event):
                yield fact if event.certain else ("would", self._symbol(*fact))
        if self.program.branches:
            yield from self._ways()
        for load, source in rf.items():
            yield "rf", self._store(source, self.program.events[load].location or ""), load
        for location, source in last.items():
            yield "last", self._store(source, location)

    def _event_facts(self, event: Event) -> Iterator[tuple[Any, ...]]:
        if isinstance(event.instruction, Failed):
            return
        yield "thread", event.number, event.thread
        if isinstance(event.instruction, Fence):
            yield "fence", event.number, self._string(event.instruction.set)
        else:
            at = self._location_numbers[event.instruction.location]
            if event.reads:
                yield "read", event.number, at
            if event.writes:
                yield "write", event.number, at
        if (before := self.program.previous(event)) is not None:
            yield "next", before, event.number
        yield from ((name, event.number) for name, mark in MARKS.items() if event.marks & mark)
        if event.pair is not None:
            yield "rmw", event.pair, event.number
        for name, loads in (("addr", event.addr), ("data", event.data), ("ctrl", event.ctrl)):
            yield from ((name, load, event.number) for load in loads)

    def _ways(self) -> Iterator[tuple[Any, ...]]:
        """Values are told by their places in a list: clingo has 32 bits for a number."""
        places: dict[int, int] = {}
        for event in self.program.events:
            if not event.certain:
                before = self._symbol("start", event.thread) if event.before is None else event.before
                yield "child", before, event.number
                if event.before is not None and self.program.events[event.before].certain:
                    yield "in", event.before
            if isinstance(event.instruction, Store | Rmw):
                yield "value", event.number, places.setdefault(event.instruction.value, len(places))
            if event.returns is not None:
                yield "returns", event.number, places.setdefault(event.returns, len(places))
        for location in self.program.locations:
            initial = self.program.initial.get(location, 0)
            yield "value", self._store(INITIAL, location), places.setdefault(initial, len(places))

    def _store(self, source: int, location: str) -> Any:
        """A store as the clingo programs name it."""
        return self._symbol("init", self._location_numbers[location]) if source == INITIAL else source

    def _string(self, text: str) -> Any:
        import clingo

        return clingo.String(text)

    def _symbol(self, name: str, *arguments: Any) -> Any:
        import clingo

        return clingo.Function(name, [clingo.Number(a) if isinstance(a, int) else
                                      clingo.Function(a) if isinstance(a, str) else a for a in arguments])

    # --- the atoms of interest

    def _literal(self, name: str, *arguments: Any) -> int | None:
        """The atom's literal; None where it cannot be true."""
        atom = self._control.symbolic_atoms[self._symbol(name, *arguments)]
        return None if atom is None else int(atom.literal)

    def _source_literals(self, load: int) -> list[tuple[int, int]]:
        """The possible sources of a load, each with its literal."""
        location = self.program.events[load].location or ""
        sources = [INITIAL, *(store.number for store in self.program.stores(location) if store.number != load)]
        literals = [(self._literal("rf", self._store(source, location), load), source) for source in sources]
        return [(literal, source) for literal, source in literals if literal is not None]

    def _last_literals(self, location: str) -> list[tuple[int, int]]:
        stores = [(self._literal("final", store.number), store.number) for store in self.program.stores(location)]
        return [(literal, store) for literal, store in stores if literal is not None]

    def _values(self, place: Place) -> list[tuple[list[int], int]]:
        """The values a place can end with, each with literals that all hold then; none for one it always ends with."""
        program = self.program
        if isinstance(place, Register):
            return [pair for end in program.ends[place.thread] if (taken := self._taken(end.event)) is not None
                    for pair in self._held(end.registers.get(place.name, 0), taken)]
        last = self._last_literals(place)
        stored = [([literal], value_of(program, source, place)) for literal, source in last]
        if any(store.certain for store in program.stores(place)):
            return stored
        return [*stored, ([-literal for literal, _ in last], value_of(program, INITIAL, place))]

    def _taken(self, event: int | None) -> list[int] | None:
        """Literals that hold where an event takes place; None where it cannot."""
        if event is None or self.program.events[event].certain:
            return []
        literal = self._literal("in", event)
        return None if literal is None else [literal]

    def _held(self, held: Known | Returned, taken: list[int]) -> list[tuple[list[int], int]]:
        """What a register can hold at an end."""
        if not isinstance(held, Returned):
            return [(taken, number_of(held))]
        location = self.program.events[held.load].location or ""
        return [([*taken, literal], value_of(self.program, source, location))
                for literal, source in self._sources[held.load]]

    # --- out: counts, outcomes, executions

    def count(self) -> int:
        """How many there are, without looking at any of them. After KeyboardInterrupt, `found` are those met."""
        self.found = 0
        try:
            self._solve()
        finally:
            self.found = int(self._control.statistics["summary"]["models"]["enumerated"])
        return self.found

    def outcomes(self, tally: Counter[Outcome] | None = None) -> Counter[Outcome]:
        """Each outcome with how many executions give it. A `tally` given is filled, so that it survives Ctrl-C.

        First the outcomes (clingo projects on them), then the executions of each: to look into every
        execution would cost more than to find it.
        """
        tally = Counter() if tally is None else tally
        self.found = 0
        for outcome, literals in self._projected(tally):
            tally[outcome] = 0

            def on_model(model: Any, outcome: Outcome = outcome) -> None:
                self.found += 1
                tally[outcome] += 1

            self._solve(assumptions=literals, on_model=on_model)
        return tally

    def _projected(self, tally: Counter[Outcome]) -> list[tuple[Outcome, list[int]]]:
        """The outcomes, each once, with the literals that make it. In the tally each has one execution for now."""
        observed = self._observed_literals()
        found: list[tuple[Outcome, list[int]]] = []

        def on_model(model: Any) -> None:
            held = [next(pair for pair in pairs if model.is_true(pair[0])) for pairs in observed]
            found.append((tuple([value for _, value in held]), [literal for literal, _ in held]))
            tally[found[-1][0]] = 1

        solving: Any = self._control.configuration.solve
        solving.project = "auto"
        try:
            self._solve(on_model=on_model)
        finally:
            solving.project = "no"
        return found

    def _observed_literals(self) -> list[list[tuple[int, int]]]:
        """For each place observed, its values with a literal each; equal values of several stores share one."""
        observed = []
        with self._control.backend() as backend:
            for place in self.program.observed:
                values = dict.fromkeys(value for _, value in self._values(place))
                observed.append([(self._define(backend, Equal(place, value)), value) for value in values])
            backend.add_project([literal for pairs in observed for literal, _ in pairs])
        return observed

    def _solve(self, **how: Any) -> None:
        """Solve in a thread of clingo's: otherwise Ctrl-C and alarms would not be heard."""
        with self._control.solve(async_=True, **how) as handle:
            try:
                while not handle.wait(POLL):
                    pass
                handle.get()
            except (KeyboardInterrupt, OutOfTime):
                handle.cancel()
                raise

    def __iter__(self) -> Iterator[Execution]:
        order = self._order_literals()
        with self._control.solve(yield_=True) as handle:
            for model in handle:
                yield self._execution(model, order)

    def _first(self, assumptions: list[int]) -> Execution | None:
        """Any one, where finding it may take long: Ctrl-C is heard."""
        with self._control.solve(yield_=True, async_=True, assumptions=assumptions) as handle:
            handle.resume()
            while not handle.wait(POLL):
                pass
            model = handle.model()
            return None if model is None else self._execution(model, self._order_literals())

    def _order_literals(self) -> list[tuple[int, int, int]]:
        return [(a.number, b.number, literal) for location in self.program.locations
                for a in self.program.stores(location) for b in self.program.stores(location)
                if a is not b and (literal := self._literal("co", a.number, b.number)) is not None]

    def _execution(self, model: Any, order: list[tuple[int, int, int]]) -> Execution:
        before: Counter[int] = Counter(b for _, b, literal in order if model.is_true(literal))
        taken = [(event.number, self._taken(event.number)) for event in self.program.events]
        events = tuple(event for event, literals in taken if literals is not None and all(map(model.is_true, literals)))
        there = set(events)
        rf = {load: next(source for literal, source in literals if model.is_true(literal))
              for load, literals in self._sources.items() if load in there}
        co = {location: tuple(sorted((store.number for store in self.program.stores(location)
                                      if store.number in there), key=before.__getitem__))
              for location in self.program.locations}
        return Execution(events, rf, co)

    # --- one execution

    def edges(self, execution: Execution) -> Iterator[tuple[str, str, Node, Node]]:
        """Of a model that is compiled as `derived`: the pairs of its checks in this execution, as (axiom, rule, start,
        end)."""
        with self._control.solve(yield_=True, assumptions=self._literals_of(execution)) as handle:
            model = handle.model()
            assert model is not None, "every execution is an answer set when nothing is forbidden"
            for atom in model.symbols(shown=True):
                if atom.name == "edge":
                    axiom, rule, start, end = atom.arguments
                    yield axiom.string, rule.string, _node(start), _node(end)

    def _literals_of(self, execution: Execution) -> list[int]:
        """What is true in one execution and in no other."""
        place = {store: at for order in execution.co.values() for at, store in enumerate(order)}
        return [*self._reads_from(execution), *(literal for a, b, literal in self._order_literals()
                                                if a in place and b in place and place[a] < place[b])]

    def _reads_from(self, execution: Execution) -> list[int]:
        """What is true with these ways and this reads-from."""
        taken = [literal for event in execution.events for literal in self._taken(event) or ()]
        return taken + [literal for load, literals in self._sources.items()
                        for literal, source in literals if execution.rf.get(load) == source]

    # --- questions, answered without enumeration

    def satisfying(self, proposition: Proposition) -> Execution | None:
        """Some execution whose outcome satisfies the proposition: one call of the solver, however many there are."""
        with self._control.backend() as backend:
            literal = self._define(backend, proposition)
        return self._first([literal])

    def reads_otherwise(self, proposition: Proposition, execution: Execution) -> bool:
        """Can the proposition also be satisfied with another reads-from?"""
        with self._control.backend() as backend:
            same = self._both(backend, self._reads_from(execution))
            literal = self._define(backend, proposition)
        return self._first([literal, -same]) is not None

    def reading(self, values: Mapping[int, int], finals: Mapping[str, int]) -> Execution | None:
        """Some execution in which each of these loads returns this value and these locations end with these."""
        with self._control.backend() as backend:
            literals = [self._either(backend, [literal for literal, source in self._sources[load] if value_of(
                self.program, source, self.program.events[load].location or "") == value])
                for load, value in values.items()]
            literals += [self._define(backend, Equal(location, value)) for location, value in finals.items()]
            literals += [literal for load in values for literal in self._taken(load) or ()]
        return self._first(literals)

    def _define(self, backend: Any, part: Proposition) -> int:
        """A literal that is true in exactly the executions that satisfy the proposition."""
        if isinstance(part, Not):
            return -self._define(backend, part.operand)
        if isinstance(part, Equal):
            return self._either(backend, [self._both(backend, literals) for literals, value in self._values(part.place)
                                          if value == part.value])
        operands = [self._define(backend, operand) for operand in part.operands]
        return (self._both if isinstance(part, And) else self._either)(backend, operands)

    # An atom is as true as what it stands for, both ways round: assumed, one that nothing supports was seen to hold.

    def _both(self, backend: Any, literals: list[int]) -> int:
        atom = int(backend.add_atom())
        backend.add_rule([atom], literals)
        for literal in literals:
            backend.add_rule([], [atom, -literal])
        return atom

    def _either(self, backend: Any, literals: list[int]) -> int:
        atom = int(backend.add_atom())
        for literal in literals:
            backend.add_rule([atom], [literal])
        backend.add_rule([], [atom, *(-literal for literal in literals)])
        return atom


def _node(symbol: Any) -> Node:
    """An event by its number, an initial store by its location's."""
    import clingo

    if symbol.type == clingo.SymbolType.Number:
        return int(symbol.number)
    if symbol.name == "a":
        return Arrival(int(symbol.arguments[1].number), int(symbol.arguments[0].number))
    return -1 - int(symbol.arguments[0].number)
