"""Every run of an explicit machine on a program: the outcomes it can end with.

SC is one memory. Under TSO and PSO stores wait in their thread's buffer: TSO lets out the oldest, PSO the oldest of any
location. Fences take no step of their own; they hold back what comes after them while stores before them wait:
f(…,ld) the later loads, f(…,st) the leaving of the later stores.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gradual.programs.program import Fence, Program, Rmw, Store

Pending = tuple[int, str, int]
"""A store that waits: its position in its thread, location and value."""


class State(NamedTuple):
    done: tuple[int, ...]
    memory: tuple[tuple[str, int], ...]
    buffers: tuple[tuple[Pending, ...], ...]
    loaded: tuple[tuple[tuple[int, int], int], ...]
    """What the load at (thread, position) returned."""


Loaded = tuple[tuple[tuple[int, int], int], ...]
Memory = tuple[tuple[str, int], ...]


def ends(program: Program, model: str) -> set[tuple[Loaded, Memory]]:
    """The values of all loads, by (thread, position), and the memory, at the end of every run."""
    memory = tuple(sorted((location, program.initial.get(location, 0)) for location in program.locations))
    start = State((0,) * len(program.threads), memory, ((),) * len(program.threads), ())
    todo, seen, found = [start], {start}, set()
    while todo:
        state = todo.pop()
        following = list(_steps(program, model, state))
        if not following:
            assert all(done == len(t.instructions) for done, t in zip(state.done, program.threads, strict=True))
            found.add((tuple(sorted(state.loaded)), state.memory))
        for new in following:
            if new not in seen:
                seen.add(new)
                todo.append(new)
    return found


def _steps(program: Program, model: str, state: State) -> Iterator[State]:
    for thread in range(len(program.threads)):
        yield from _drains(program, model, state, thread)
        yield from _executes(program, model, state, thread)


def _held(program: Program, thread: int, position: int, buffer: tuple[Pending, ...], what: str) -> bool:
    """Does a fence before `position` hold back a load or store there, for a store before the fence?"""
    instructions = program.threads[thread].instructions
    return any(isinstance(fence, Fence) and _orders(fence, what) and any(store[0] < at for store in buffer)
               for at, fence in enumerate(instructions[:position]))


def _orders(fence: Fence, what: str) -> bool:
    """Does the fence keep earlier stores ahead of later loads, or stores?"""
    if fence.special:
        return fence.special == "tso" and what == "st"
    return fence.before in ("any", "st") and fence.after in ("any", what)


def _drains(program: Program, model: str, state: State, thread: int) -> Iterator[State]:
    buffer = state.buffers[thread]
    for at, (position, location, value) in enumerate(buffer):
        first = at == 0 if model == "tso" else all(other[1] != location for other in buffer[:at])
        if first and not _held(program, thread, position, buffer, "st"):
            yield state._replace(memory=_stored(state, location, value),
                                 buffers=_at(state.buffers, thread, (*buffer[:at], *buffer[at + 1:])))


def _executes(program: Program, model: str, state: State, thread: int) -> Iterator[State]:
    position, buffer = state.done[thread], state.buffers[thread]
    if position == len(program.threads[thread].instructions):
        return
    instruction = program.threads[thread].instructions[position]
    state = state._replace(done=_at(state.done, thread, position + 1))
    if isinstance(instruction, Fence):
        yield state
        return
    location = instruction.location
    own = [value for _, at, value in buffer if at == location]
    if isinstance(instruction, Store):
        if model == "sc":
            yield state._replace(memory=_stored(state, location, instruction.value))
        else:
            waiting = (*buffer, (position, location, instruction.value))
            yield state._replace(buffers=_at(state.buffers, thread, waiting))
        return
    if _held(program, thread, position, buffer, "ld"):
        return
    value = own[-1] if own else dict(state.memory)[location]
    state = state._replace(loaded=(*state.loaded, ((thread, position), value)))
    if not isinstance(instruction, Rmw):
        yield state
    elif not (buffer if model == "tso" else own) and not _held(program, thread, position, buffer, "st"):
        yield state._replace(memory=_stored(state, location, instruction.value))


def _stored(state: State, location: str, value: int) -> tuple[tuple[str, int], ...]:
    return tuple((at, value if at == location else held) for at, held in state.memory)


def _at(items: tuple, at: int, item: object) -> tuple:
    return (*items[:at], item, *items[at + 1:])
