"""Observed runs of a program: do they fit it, and which of their outcomes does no model allow?

A history fits a program when its threads do the same, step by step: then its reads are the program's
loads, by thread and position in program order. Locations may be called differently (addresses, say).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from gradual.history import FENCE, READ, WRITE, History, InputError, value_text
from gradual.models import Model, load
from gradual.programs.executions import Executions
from gradual.programs.instructions import Failed, Fence, Load, Store
from gradual.programs.program import Program
from gradual.programs.unfolding import Event, values_text

NAMES = {Load: "a load", Store: "a store"}


@dataclass(frozen=True)
class Observed:
    """What the loads of the program returned (by event), and what its locations were left with, where that is known."""

    values: tuple[tuple[int, int], ...]
    finals: tuple[tuple[str, int], ...] = ()

    def text(self, program: Program) -> str:
        loads = [f"{event.thread}:{event.instruction.register}={value!s};" for load, value in self.values  # type: ignore[union-attr]
                 if (event := program.events[load])]
        return " ".join([*loads, *(f"[{location}]={value!s};" for location, value in self.finals)])


@dataclass
class Sighting:
    """An outcome that was observed: how often, first in which history, and which models allow it."""

    outcome: Observed
    first: str
    times: int = 0
    allowed: dict[str, bool] = field(default_factory=dict)


def observed(program: Program, history: History) -> Observed:
    """The outcome of a history of this program. Raises InputError where the two do not fit."""
    fit = _Fit(program, history)
    values: dict[int, int] = {}
    for number, operations in enumerate(fit.threads()):
        values |= fit.thread(number, operations)
    finals = {fit.location[at]: int(history.final_value[at]) for at in range(len(history.locations))
              if history.final_line[at] >= 0 and at in fit.location}
    return Observed(tuple(sorted(values.items())), tuple(sorted(finals.items())))


class _Fit:
    def __init__(self, program: Program, history: History) -> None:
        self.program = program
        self.history = history
        self.location: dict[int, str] = {}
        """The history's locations, by what the program calls them."""

    def error(self, message: str, line: int = 0) -> InputError:
        return InputError(f"this history is no run of {self.program.name}: {message}", self.history.file, line,
                          self.history.name)

    def threads(self) -> list[list[int]]:
        """The operations of each thread of the program: threads are told by name, by number, or by their turn."""
        names = self.history.threads
        if len(names) != len(self.program.threads):
            raise self.error(f"it has {len(names)} threads, the program {len(self.program.threads)}")
        operations: list[list[int]] = [[] for _ in names]
        for operation, thread in enumerate(self.history.thread.tolist()):
            operations[thread].append(operation)
        wanted = [thread.name for thread in self.program.threads]
        if set(names) == set(wanted):
            return [operations[names.index(name)] for name in wanted]
        numbers = [re.search(r"\d+$", name) for name in names]
        if all(numbers):
            return [operations[at] for at in sorted(range(len(names)), key=lambda at: int(numbers[at][0]))]  # type: ignore[index]
        return operations

    def thread(self, number: int, operations: list[int]) -> Mapping[int, int]:
        """The values of the thread's loads, by event: the way it took through the program."""
        fences = bool((self.history.kind == FENCE).any())  # many tracers do not log fences
        values, name = {}, self.program.threads[number].name
        following, done = self._following(number, None, fences), 0
        for operation in operations[:len(self.program.events)]:
            if not following:
                break
            event = self._taken(following, operation)
            self._same(event, operation)
            if event.reads:
                values[event.number] = int(self.history.read[operation])
            following, done = self._following(number, event.number, fences), done + 1
        while following:
            following, done = self._following(number, following[0].number, fences), done + 1
        if done != len(operations):
            raise self.error(f"thread {name} does {len(operations)} operations, in the program {done}")
        return values

    def _following(self, thread: int, before: int | None, fences: bool) -> list[Event]:
        """The events that may come next: several where a load can return several values."""
        found = self._children.get((thread, before), [])
        skipped = (Failed,) if fences else (Fence, Failed)
        return [later for event in found for later in (
            self._following(thread, event.number, fences) if isinstance(event.instruction, skipped) else [event])]

    @cached_property
    def _children(self) -> dict[tuple[int, int | None], list[Event]]:
        children: dict[tuple[int, int | None], list[Event]] = {}
        for event in self.program.events:
            children.setdefault((event.thread, event.before), []).append(event)
        return children

    def _taken(self, following: list[Event], operation: int) -> Event:
        """The one that returns what was read."""
        read = int(self.history.read[operation])
        fitting = [event for event in following if event.returns in (None, read)]
        if not fitting:
            raise self.error(f"{self.history.describe(operation)} where the program's loads return "
                             f"{values_text(self.program.values)} (--values can tell others)",
                             int(self.history.line[operation]))
        return fitting[0]

    def _same(self, event: Event, operation: int) -> None:
        history, instruction = self.history, event.instruction
        assert not isinstance(instruction, Failed), "it is no operation"
        line, kind = int(history.line[operation]), history.kind[operation]
        if isinstance(instruction, Fence):
            if kind != FENCE:
                raise self.error(f"{history.describe(operation)} where the program has a fence", line)
            return
        wanted = {(True, False): READ, (False, True): WRITE}.get((event.reads, event.writes))
        if kind == FENCE or (kind != wanted if wanted is not None else kind in (READ, WRITE)):
            raise self.error(f"{history.describe(operation)} where the program has "
                             f"{NAMES.get(type(instruction), 'an rmw')} of {instruction.location}", line)
        self._same_location(instruction.location, operation, line)
        if not isinstance(instruction, Load) and history.written[operation] != instruction.value:
            raise self.error(f"{history.describe(operation)} where the program stores "
                             f"{value_text(instruction.value)}", line)

    def _same_location(self, location: str, operation: int, line: int) -> None:
        at = int(self.history.location[operation])
        known = self.location.setdefault(at, location)
        others = [other for other, name in self.location.items() if name == location and other != at]
        if known != location or others:
            raise self.error(f"{self.history.describe(operation)} where the program accesses {location}", line)
        if self.history.initial[at] != self.program.initial.get(location, 0):
            raise self.error(f"{location} starts with {value_text(self.history.initial[at])}, in the program with "
                             f"{value_text(self.program.initial.get(location, 0))}", line)


class Sightings:
    """The outcomes observed of a program, each judged once, however often it was seen."""

    def __init__(self, program: Program, models: Sequence[str | Model]) -> None:
        self.program = program
        self.found: dict[Observed, Sighting] = {}
        self._executions = {model: Executions(program, model) for model in map(load, models)}

    def add(self, history: History) -> Sighting:
        outcome = observed(self.program, history)
        sighting = self.found.get(outcome)
        if sighting is None:
            sighting = self.found[outcome] = Sighting(outcome, history.name or history.file)
            for model, executions in self._executions.items():
                reached = executions.reading(dict(outcome.values), dict(outcome.finals))
                sighting.allowed[model.key] = reached is not None
        sighting.times += 1
        return sighting

    @property
    def forbidden(self) -> list[Sighting]:
        """What no model allows."""
        return [sighting for sighting in self.found.values() if not any(sighting.allowed.values())]

    def lines(self) -> list[str]:
        lines = [f"Test {self.program.name}", f"Observed {len(self.found)} outcomes in "
                 f"{sum(sighting.times for sighting in self.found.values())} histories"]
        for sighting in self.found.values():
            allowed = ", ".join(model.name for model in self._executions if sighting.allowed[model.key]) or "NO MODEL"
            lines.append(f"{sighting.times:<6}:>{sighting.outcome.text(self.program)}   allowed by {allowed}"
                         f"   first seen in {sighting.first}")
        return lines
