"""Every run of a machine on a program with data flow, instruction by instruction: the outcomes it can end with.

SC is one memory; under TSO stores wait in a queue per thread, which loads look into, and fences and rmws drain.
"""

from __future__ import annotations

from typing import NamedTuple

from gradual.programs.expressions import Address, Apply, Old, Reg
from gradual.programs.instructions import Access, Branch, Fence, Label, Load, Move, Rmw, Store
from gradual.programs.program import Program

COMPUTE = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "xor": lambda a, b: a ^ b,
    "and": lambda a, b: a & b, "or": lambda a, b: a | b, "eq": lambda a, b: int(a == b), "ne": lambda a, b: int(a != b),
    "lt": lambda a, b: int(a < b), "ge": lambda a, b: int(a >= b)}


class State(NamedTuple):
    at: tuple[int, ...]
    registers: tuple[tuple[tuple[str, object], ...], ...]
    memory: tuple[tuple[str, int], ...]
    buffers: tuple[tuple[tuple[str, int], ...], ...]


def computed(value: object, registers: dict, old: int = 0) -> object:
    if isinstance(value, Reg):
        return registers.get(value.name, 0)
    if isinstance(value, Old):
        return old
    if isinstance(value, Apply):
        left, right = computed(value.left, registers, old), computed(value.right, registers, old)
        if isinstance(left, Address):
            return Address(left.base, left.offset + right)
        return COMPUTE[value.operator](left, right)
    return value


def outcomes(program: Program, model: str) -> set[tuple[int, ...]]:
    count = len(program.threads)
    start = State((0,) * count, tuple(tuple(sorted(t.constants.items())) for t in program.threads), (), ((),) * count)
    todo, seen, found = [start], {start}, set()
    while todo:
        state = todo.pop()
        following = [new for thread in range(count) for new in steps(program, model, state, thread)]
        if not following:
            memory = dict(state.memory)
            found.add(tuple(
                memory.get(place, program.initial.get(place, 0)) if isinstance(place, str) else
                dict(state.registers[place.thread]).get(place.name, 0) for place in program.observed))
        for new in following:
            if new not in seen:
                seen.add(new)
                todo.append(new)
    return found


def steps(program: Program, model: str, state: State, thread: int) -> list[State]:
    code = program.threads[thread].instructions
    registers, memory, buffer = dict(state.registers[thread]), dict(state.memory), state.buffers[thread]
    at = state.at[thread]
    found = []

    def after(at: int, buffer: tuple = buffer) -> State:
        def put(items: tuple, item: object) -> tuple:
            return (*items[:thread], item, *items[thread + 1:])

        return State(put(state.at, at), put(state.registers, tuple(sorted(registers.items()))),
                     tuple(sorted(memory.items())), put(state.buffers, buffer))

    if buffer:
        memory[buffer[0][0]] = buffer[0][1]
        found.append(after(at, buffer[1:]))
        memory = dict(state.memory)
    if at == len(code):
        return found
    step = code[at]
    if isinstance(step, Label):
        return [*found, after(at + 1)]
    if isinstance(step, Move):
        registers[step.register] = computed(step.value, registers)
        return [*found, after(at + 1)]
    if isinstance(step, Branch):
        target = next(i for i, other in enumerate(code) if isinstance(other, Label) and other.name == step.target)
        return [*found, after(target if computed(step.condition, registers) else at + 1)]
    if isinstance(step, Fence):
        return found if buffer and model == "tso" else [*found, after(at + 1)]
    location = str(computed(step.address, registers)) if isinstance(step, Access) else step.location
    waiting = [value for place, value in buffer if place == location]
    held = waiting[-1] if waiting else memory.get(location, program.initial.get(location, 0))
    kind = (Load if step.value is None else Store if step.register is None else Rmw) if isinstance(step, Access) else (
        type(step))
    if kind is Rmw and buffer:
        return found
    stored = None if kind is Load else computed(step.value, registers, held)
    if kind is not Store:
        registers[step.register] = held
    if kind is Store and model == "tso":
        return [*found, after(at + 1, (*buffer, (location, stored)))]
    if kind is not Load:
        memory[location] = stored
    return [*found, after(at + 1)]
