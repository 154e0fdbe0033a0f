"""J+R by counter-example-guided SAT, for structures with too many configurations to look at one by one.

Solver A proposes a play: configurations P₁ ⊆ … ⊆ Pₖ, the last one final and justified in itself. Solver B, given a move
from P to Q, looks for a way of the opponent from P to a terminal Z that leaves a read of Q unjustified. If there is
one, A learns

    for every i:  Pᵢ ⊆ Z and G ⊆ Pᵢ  →  no such read in Pᵢ₊₁,

where G are the reads of P without which Z could not be built: whoever has them and stays within Z can be led to Z. k
and the length of B's ways are R + 1, R being the most loads on a way, summed over the threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from gradual.events.goal import Goal
from gradual.events.sat import solve
from gradual.events.structure import EventStructure, mask, members
from gradual.programs.condition import And, Equal, Not, Proposition, Register

Clause = list[int]


class Cegar:
    """The game on one structure."""

    def __init__(self, goal: Goal) -> None:
        self.goal = goal
        self.structure = goal.structure
        self.justifying = self.structure.justifies(goal.justifies)
        self.rounds = 0
        self._opponent: tuple[_Opponent, Any] | None = None

    def play(self) -> list[int] | None:
        """The moves, as `Explicit.play` has them."""
        from pysat.solvers import Solver

        player = _Player(self, self.structure.most_reads + 1)
        with Solver(name="glucose4", bootstrap_with=player.clauses()) as a:
            while solve(a):
                self.rounds += 1
                play = player.play(a.get_model() or [])
                refuted = False
                for at, further in pairwise(play):
                    terminal = self.refutation(at, further) if at != further else None
                    if terminal is not None:
                        refuted = True
                        for clause in player.lesson(at, terminal):
                            a.add_clause(clause)
                if not refuted:
                    return list(dict.fromkeys(play))
        return None

    def refutation(self, at: int, further: int) -> int | None:
        """A terminal that the opponent can lead to from one configuration, and that leaves a read of the other
        unjustified."""
        from pysat.solvers import Solver

        if self._opponent is None:
            opponent = _Opponent(self)
            self._opponent = opponent, Solver(name="glucose4", bootstrap_with=opponent.clauses())
        opponent, solver = self._opponent
        return opponent.refutation(solver, at, further)

    def ending(self, justified: bool) -> int | None:
        """Any final configuration, whether a play leads there or not: one that is justified in itself, or just any."""
        from pysat.solvers import Solver

        player = _Player(self, moves=0)
        with Solver(name="glucose4", bootstrap_with=player.clauses(justified)) as solver:
            return player.play(solver.get_model() or [])[-1] if solve(solver) else None

    def unjustified(self, events: int) -> list[int]:
        """The reads that a configuration neither has nor justifies."""
        return [read for read in members(self.structure.reads & ~events) if not self.justifying[read] & events]


class _Layers:
    """Variables for several sets of events, one layer each, and what makes them configurations."""

    def __init__(self, game: Cegar, count: int) -> None:
        self.game = game
        self.structure: EventStructure = game.structure
        self.count = count
        self._next = count * len(self.structure)

    def __call__(self, layer: int, event: int) -> int:
        return layer * len(self.structure) + event + 1

    def fresh(self) -> int:
        self._next += 1
        return self._next

    def configuration(self, layer: int) -> Iterator[Clause]:
        """Closed downwards, with the initial writes, and of several events that may come next, one at most."""
        for event in self.structure.events:
            if event.before is not None:
                yield [-self(layer, event.number), self(layer, event.before)]
        for event_number in members(self.structure.initial):
            yield [self(layer, event_number)]
        for siblings in self.structure.children.values():
            yield from ([-self(layer, a), -self(layer, b)] for at, a in enumerate(siblings) for b in siblings[:at])

    def grows(self, layer: int) -> Iterator[Clause]:
        """The layer is in the next one."""
        return ([-self(layer, event), self(layer + 1, event)] for event in range(len(self.structure)))

    def justified(self, layer: int, by: int) -> Iterator[Clause]:
        """Each read of a layer is in another one, or justified by it; of one layer alone: justified by it."""
        for read in members(self.structure.reads):
            old = [] if layer == by else [self(by, read)]
            yield [-self(layer, read), *old, *(self(by, write) for write in members(self.game.justifying[read]))]

    def set(self, layer: int, model: list[int]) -> int:
        return mask(event for event in range(len(self.structure)) if model[self(layer, event) - 1] > 0)


class _Player:
    """Solver A."""

    def __init__(self, game: Cegar, moves: int) -> None:
        self.game = game
        self.structure = game.structure
        self.last = moves
        self.layer = _Layers(game, self.last + 1)

    def clauses(self, justified: bool = True) -> Iterator[Clause]:
        layer = self.layer
        for number in range(self.last + 1):
            yield from layer.configuration(number)
        for number in range(self.last):
            yield from layer.grows(number)
        if self.last:
            yield from ([-layer(0, event)] for event in range(len(self.structure))
                        if not self.structure.initial >> event & 1)
        if justified:
            yield from layer.justified(self.last, self.last)
        for leaves in self.structure.leaves:
            if all(leaf.event is not None for leaf in leaves):
                yield [layer(self.last, leaf.event) for leaf in leaves if leaf.event is not None]
        added: list[Clause] = []
        literal = self._literal(self.game.goal.proposition, added.append)
        yield from added
        yield [literal]

    def _literal(self, part: Proposition, add: Callable[[Clause], None]) -> int:
        """A variable that is true exactly where the proposition holds, given that all threads have ended."""
        if isinstance(part, Not):
            return -self._literal(part.operand, add)
        found = self.layer.fresh()
        if isinstance(part, Equal):
            assert isinstance(part.place, Register)
            ends = [(leaf.event, leaf.registers.get(part.place.name, 0) == part.value)
                    for leaf in self.structure.leaves[part.place.thread]]
            for event, fits in ends:
                at_the_end = [] if event is None else [-self.layer(self.last, event)]
                add([*at_the_end, found if fits else -found])
            return found
        literals = [self._literal(operand, add) for operand in part.operands]
        sign = 1 if isinstance(part, And) else -1
        for literal in literals:
            add([-sign * found, sign * literal])
        add([sign * found, *(-sign * literal for literal in literals)])
        return found

    def play(self, model: list[int]) -> list[int]:
        return [self.layer.set(number, model) for number in range(self.last + 1)]

    def lesson(self, at: int, terminal: int) -> Iterator[Clause]:
        outside = list(members(~terminal & (1 << len(self.structure)) - 1))
        needed = _needed(self.game, at, terminal)
        for number in range(self.last):
            guard = [self.layer(number, event) for event in outside]
            guard += [-self.layer(number, event) for event in needed]
            yield from ([*guard, -self.layer(number + 1, read)] for read in self.game.unjustified(terminal))


def _needed(game: Cegar, at: int, terminal: int) -> list[int]:
    """Reads of `at` with which `terminal` can be built, none of which can be spared."""
    needed = list(members(at & game.structure.reads & ~_built(game, game.structure.initial, terminal)))
    for read in needed.copy():
        start = game.structure.initial
        for other in needed:
            start |= game.structure.upto(other) if other != read else 0
        if _built(game, start, terminal) == terminal:
            needed.remove(read)
    return needed


def _built(game: Cegar, start: int, within: int) -> int:
    """All of `within` that follows, event by event, from `start`: what is there is taken to stay there, and reads must
    be justified or there from the start."""
    structure, found = game.structure, start
    while True:
        more = found
        for event in members(within & ~found):
            free = not structure.reads >> event & 1 or game.justifying[event] & more
            before = structure.below[event]
            if free and before & more == before:
                more |= 1 << event
        if more == found:
            return found
        found = more


class _Opponent:
    """Solver B: layer 0 is P, the last one the terminal; after them a layer for Q."""

    def __init__(self, game: Cegar) -> None:
        self.game = game
        self.structure = game.structure
        self.last = game.structure.most_reads + 1
        self.layer = _Layers(game, self.last + 2)
        self.missing = {read: self.layer.fresh() for read in members(self.structure.reads)}
        """Variables of the reads of Q that the terminal leaves unjustified."""

    def clauses(self) -> Iterator[Clause]:
        for number in range(1, self.last + 1):
            yield from self.layer.configuration(number)
            yield from self.layer.grows(number - 1)
            yield from self.layer.justified(number, number - 1)
        yield from self._terminal(self.last)
        for read, missing in self.missing.items():
            yield [-missing, self.layer(self.last + 1, read)]
            yield [-missing, -self.layer(self.last, read)]
            yield from ([-missing, -self.layer(self.last, write)] for write in members(self.game.justifying[read]))
        yield list(self.missing.values())

    def _terminal(self, layer: int) -> Iterator[Clause]:
        """No event can be added: each is there, or what comes before it is not, or another one is in its place, or
        nothing justifies it."""
        for siblings in self.structure.children.values():
            before = self.structure.events[siblings[0]].before
            there = [self.layer(layer, event) for event in siblings]
            start = [] if before is None else [-self.layer(layer, before)]
            for event in siblings:
                if self.structure.reads >> event & 1:
                    yield from ([*start, *there, -self.layer(layer, write)]
                                for write in members(self.game.justifying[event]))
                else:
                    yield [*start, *there]

    def refutation(self, solver: Any, at: int, further: int) -> int | None:
        """A terminal of AJ* from `at` that leaves a read of `further` unjustified."""
        assumptions = [self._sign(0, event, at) for event in range(len(self.structure))]
        assumptions += [self._sign(self.last + 1, event, further) for event in range(len(self.structure))]
        if not solve(solver, assumptions):
            return None
        return self.layer.set(self.last, solver.get_model() or [])

    def _sign(self, layer: int, event: int, events: int) -> int:
        return self.layer(layer, event) if events >> event & 1 else -self.layer(layer, event)
