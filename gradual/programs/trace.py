"""Between programs and histories: an execution as a history to check, a history as a program to enumerate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gradual.evidence.verdict import Witness
from gradual.history import (
    FENCE,
    INITIAL,
    NO_LOCATION,
    NO_SOURCE,
    NO_TICK,
    READ,
    RMW,
    THIN_AIR,
    WRITE,
    History,
)
from gradual.history.annotations import annotated
from gradual.models import Model
from gradual.programs.axioms import Axioms
from gradual.programs.executions import Execution, Executions, value_of
from gradual.programs.instructions import FENCES, Failed, Fence, Instruction, Load, Rmw, Store, Thread
from gradual.programs.program import Program
from gradual.programs.unfolding import Event


def history_of(program: Program, execution: Execution, *, final: Iterable[str] = (),
               own_values: bool = False) -> History:
    """The history of an execution, event by event, with the last store of the locations in `final` demanded.

    With `own_values` every store writes a value of its own, so that a replay tells stores of equal values apart.
    """
    events = [program.events[number] for number in program.seen(execution.events)]
    number = {event.number: at for at, event in enumerate(events)} | {INITIAL: INITIAL}
    place = {name: at for at, name in enumerate(program.locations)}

    def value(source: int, location: str) -> int:
        return number[source] + 1 if own_values else value_of(program, source, location)

    wanted = set(final)
    ends = [execution.last(name) for name in program.locations]
    line = program.condition.line if program.condition else 0
    return History(
        program.name, program.file, tuple(thread.name for thread in program.threads), program.locations,
        np.array([event.thread for event in events], dtype=np.int32),
        np.array([_kind(event.instruction) for event in events], dtype=np.int8),
        np.array([NO_LOCATION if event.location is None else place[event.location] for event in events],
                 dtype=np.int32),
        np.array([value(execution.rf[e.number], e.location or "") if e.reads else 0 for e in events], dtype=np.int64),
        np.array([value(e.number, e.location or "") if e.writes else 0 for e in events], dtype=np.int64),
        np.array([number[execution.rf[e.number]] if e.reads else NO_SOURCE for e in events], dtype=np.int32),
        np.array([event.instruction.line for event in events], dtype=np.int64),
        np.full(len(events), NO_TICK, dtype=np.int64),
        np.array([value(INITIAL, name) for name in program.locations], dtype=np.int64),
        np.array([number[end] if name in wanted else NO_SOURCE
                  for name, end in zip(program.locations, ends, strict=True)], dtype=np.int32),
        np.array([value(end, name) for name, end in zip(program.locations, ends, strict=True)], dtype=np.int64),
        np.array([line if name in wanted else -1 for name in program.locations], dtype=np.int64),
        **_annotations(events, number))


def _annotations(events: Sequence[Event], number: Mapping[int, int]) -> dict[str, Any]:
    """Kinds of fences, marks of accesses, dependencies and pairs, where there are any."""
    orders = [event.instruction.pairs if isinstance(event.instruction, Fence) else 0 for event in events]
    depends = {name: [(number[load], number[event.number]) for event in events for load in getattr(event, name)]
               for name in ("addr", "data", "ctrl")}
    depends["pair"] = [(number[event.pair], number[event.number]) for event in events if event.pair is not None]
    marks = np.array([event.marks for event in events], dtype=np.int8)
    return annotated(fence=np.array(orders, dtype=np.int8), marks=marks, **{
        name: np.array(sorted(found), dtype=np.int32).reshape(-1, 2) for name, found in depends.items()}).annotations()


def witness(program: Program, execution: Execution, model: str | Model) -> tuple[History, Witness]:
    """An execution that the model allows, for `certificate.py` to replay: its history with own values, and a run.

    The run commits the stores of each location in the order co.
    """
    order = Axioms(program, model).run(execution)
    if order is None:
        raise ValueError(f"{model} does not allow this execution")
    number = {event: at for at, event in enumerate(program.seen(execution.events))}
    history = history_of(program, execution, final=program.locations, own_values=True)
    return history, Witness([number[event] for event in order])


def _kind(instruction: Instruction | Failed) -> int:
    return {Load: READ, Store: WRITE, Rmw: RMW, Fence: FENCE}[type(instruction)]


def program_of(history: History) -> tuple[Program, list[int]]:
    """The program a history is a run of, and the event of each operation. Each load gets a register of its own."""
    threads: list[list[Instruction]] = [[] for _ in history.threads]
    positions = []
    for operation in range(len(history)):
        thread = threads[history.thread[operation]]
        positions.append((int(history.thread[operation]), len(thread)))
        thread.append(_instruction(history, operation, f"r{len(thread)}"))
    starts = np.cumsum([0, *map(len, threads)]).tolist()
    initial = {name: int(value) for name, value in zip(history.locations, history.initial, strict=True)}
    program = Program(history.name, tuple(Thread(name, tuple(instructions)) for name, instructions
                                          in zip(history.threads, threads, strict=True)), initial, file=history.file)
    return program, [starts[thread] + at for thread, at in positions]


def _instruction(history: History, operation: int, register: str) -> Instruction:
    line, kind = int(history.line[operation]), history.kind[operation]
    if kind == FENCE:
        return Fence(line=line) if history.fence is None else replace(FENCES[int(history.fence[operation])], line=line)
    location, written = history.address(operation), int(history.written[operation])
    if kind == READ:
        return Load(location, register, line)
    return Store(location, written, line) if kind == WRITE else Rmw(location, written, register, line)


def allows(history: History, model: str | Model) -> bool:
    """Whether a model allows a history: its program, with reads-from fixed, has an execution left.

    The same question as `gradual.check` answers, put to what enumerates programs.
    """
    if (history.source == THIN_AIR).any() or (history.final == THIN_AIR).any():
        return False
    program, event = program_of(history)
    sources, ends = history.source.tolist(), history.final.tolist()
    rf = {event[load]: event[source] if (source := sources[load]) >= 0 else INITIAL for load in history.reads.tolist()}
    last = {name: event[end] if end >= 0 else INITIAL
            for name, end in zip(history.locations, ends, strict=True) if end != NO_SOURCE}
    return next(iter(Executions(program, model, rf, last)), None) is not None


def both_ways(history: History, model: str | Model) -> tuple[bool, bool]:
    """The verdict on a history as a trace, and as a program restricted to its reads-from. They must agree."""
    from gradual.deciding import pipeline

    return bool(pipeline.check(history, model)), allows(history, model)


def event_text(program: Program, event: Event, execution: Execution) -> str:
    """`W x=1`, `R x=1`, `RMW x: 0→1`, `f(st,ld)`, with the thread."""
    name = program.threads[event.thread].name
    assert not isinstance(event.instruction, Failed), "nobody sees it"
    if isinstance(event.instruction, Fence):
        return f"{event.instruction} ({name})"
    at = event.instruction.location
    read = value_of(program, execution.rf[event.number], at) if event.reads else 0
    if isinstance(event.instruction, Rmw):
        return f"RMW {at}: {read}→{event.instruction.value} ({name})"
    return f"R {at}={read} ({name})" if event.reads else f"W {at}={value_of(program, event.number, at)} ({name})"
