"""The machines of `machines/components.py` as their definitions have them: every step is taken one by one, stores enter
buffers, leave them, enter the queues of every thread and leave these, probes wait; nothing is done early, nothing is
left out. Slow, and for small programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gradual.machines.code import FULL_FENCE, LOAD, STORE, Code, Outcome, Threads
from gradual.machines.components import (
    COHERENCE,
    IN_ORDER,
    MEMORY,
    NO_FORWARDING,
    PER_THREAD,
    PROPHECY,
    READ_SET,
    Machine,
)

State = tuple[Any, ...]


def outcomes(machine: Machine, threads: Threads) -> frozenset[Outcome]:
    code = Code(threads)
    stepping = _Queues(machine, code) if machine.has(COHERENCE) else _Memory(machine, code)
    start = stepping.start, (None,) * code.loads
    todo, seen, found = [start], {start}, set()
    while todo:
        state, loaded = todo.pop()
        following = list(stepping.steps(state, loaded))
        if stepping.finished(state):
            found.add(loaded)
        for new in following:
            if new not in seen:
                seen.add(new)
                todo.append(new)
    return frozenset(found)


def put(items: tuple[Any, ...], at: int, item: Any) -> tuple[Any, ...]:
    return (*items[:at], item, *items[at + 1:])


class _Memory:
    """(places, memory, buffers per thread as lists of (address, value, is it a probe), read sets)"""

    def __init__(self, machine: Machine, code: Code) -> None:
        self.machine, self.code = machine, code
        count, locations = len(code.threads), code.locations
        sets = ((frozenset({0}),) * locations,) * count
        self.start: State = ((0,) * count, (0,) * locations, ((),) * count, sets)

    def finished(self, state: State) -> bool:
        return not any(state[2]) and all(
            place == len(thread) for place, thread in zip(state[0], self.code.threads, strict=True))

    def steps(self, state: State, loaded: tuple[Any, ...]) -> Iterator[tuple[State, tuple[Any, ...]]]:
        for thread in range(len(self.code.threads)):
            for new in self.leaving(state, thread):
                yield new, loaded
            place = state[0][thread]
            if place < len(self.code.threads[thread]):
                yield from self.issued(state, thread, place, loaded)

    def arrived(self, state: State, thread: int, address: int, value: int) -> State:
        places, memory, buffers, sets = state
        sets = tuple(put(own, address, frozenset({value}) if other == thread else own[address] | {value})
                     for other, own in enumerate(sets))
        return places, put(memory, address, value), buffers, sets

    def leaving(self, state: State, thread: int) -> Iterator[State]:
        buffer = state[2][thread]
        for at, (address, value, probe) in enumerate(buffer):
            first = at == 0 if self.machine.has(PER_THREAD) else all(other[0] != address for other in buffer[:at])
            if not first:
                continue
            left = put(state, 2, put(state[2], thread, (*buffer[:at], *buffer[at + 1:])))
            if not probe:
                yield self.arrived(left, thread, address, value)
            elif value in state[3][thread][address]:
                yield left

    def issued(self, state: State, thread: int, place: int,
               loaded: tuple[Any, ...]) -> Iterator[tuple[State, tuple[Any, ...]]]:
        kind, address = self.code.threads[thread][place]
        number, buffer = self.code.numbers[thread][place], state[2][thread]
        on = put(state, 0, put(state[0], thread, place + 1))
        if kind == STORE and self.machine.has(MEMORY):
            yield self.arrived(on, thread, address, number), loaded
        elif kind == STORE:
            yield put(on, 2, put(on[2], thread, (*buffer, (address, number, False)))), loaded
        elif kind == FULL_FENCE:
            if not buffer:
                sets = put(on[3], thread, tuple(frozenset({value}) for value in on[1]))
                yield put(on, 3, sets), loaded
        else:
            own = [value for at, value, probe in buffer if at == address and not probe]
            if own and self.machine.has(NO_FORWARDING):
                return
            values = own[-1:] or (state[3][thread][address] if self.machine.has(READ_SET) else [state[1][address]])
            for value in values:
                yield on, put(loaded, number, value)
            if self.machine.has(PROPHECY):
                for value in [0, *(v for v in range(1, self.code.stores + 1) if self.code.address[v] == address)]:
                    yield (put(on, 2, put(on[2], thread, (*buffer, (address, value, True)))),
                           put(loaded, number, value))


class _Queues:
    """(places, buffers, coherence queues per thread and location, queues per writer and thread, private memories)"""

    def __init__(self, machine: Machine, code: Code) -> None:
        self.machine, self.code = machine, code
        count, locations = len(code.threads), code.locations
        self.count = count
        self.start: State = ((0,) * count, ((),) * count, (((),) * locations,) * count, (((),) * count,) * count,
                             ((0,) * locations,) * count)

    def finished(self, state: State) -> bool:
        return not any(state[1]) and not any(any(queues) for queues in state[2]) and all(
            place == len(thread) for place, thread in zip(state[0], self.code.threads, strict=True))

    def steps(self, state: State, loaded: tuple[Any, ...]) -> Iterator[tuple[State, tuple[Any, ...]]]:
        for new in (*self.dispatched(state), *self.leaving(state)):
            yield new, loaded
        for thread, place in enumerate(state[0]):
            if place < len(self.code.threads[thread]):
                yield from self.issued(state, thread, place, loaded)

    def dispatched(self, state: State) -> Iterator[State]:
        places, buffers, queues, writers, memories = state
        for thread in range(self.count):
            for address, queue in enumerate(queues[thread]):
                if not queue:
                    continue
                value, owner = queue[0], self.code.owner[queue[0]]
                line = writers[owner][thread]
                if self.machine.has(IN_ORDER) and line[0] != value:
                    continue
                yield (places, buffers, put(queues, thread, put(queues[thread], address, queue[1:])),
                       put(writers, owner, put(writers[owner], thread, tuple(v for v in line if v != value))),
                       put(memories, thread, put(memories[thread], address, value)))

    def leaving(self, state: State) -> Iterator[State]:
        places, buffers, queues, writers, memories = state
        for thread, buffer in enumerate(buffers):
            for at, value in enumerate(buffer):
                address = self.code.address[value]
                if at and (self.machine.has(PER_THREAD) or any(self.code.address[v] == address for v in buffer[:at])):
                    continue
                entered = tuple(put(own, address, (*own[address], value)) for own in queues)
                yield (places, put(buffers, thread, (*buffer[:at], *buffer[at + 1:])), entered,
                       put(writers, thread, tuple((*line, value) for line in writers[thread])), memories)

    def issued(self, state: State, thread: int, place: int,
               loaded: tuple[Any, ...]) -> Iterator[tuple[State, tuple[Any, ...]]]:
        _, buffers, queues, _, memories = state
        kind, address = self.code.threads[thread][place]
        number = self.code.numbers[thread][place]
        on = put(state, 0, put(state[0], thread, place + 1))
        if kind == STORE:
            yield put(on, 1, put(buffers, thread, (*buffers[thread], number))), loaded
        elif kind == LOAD:
            waiting = [v for v in buffers[thread] if self.code.address[v] == address]
            under_way = [v for v in queues[thread][address] if self.code.owner[v] == thread]
            value = (waiting or under_way or [memories[thread][address]])[-1]
            yield on, put(loaded, number, value)
        elif not buffers[thread] and not any(any(own) for own in queues):
            yield on, loaded
