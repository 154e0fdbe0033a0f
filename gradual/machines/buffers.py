"""Machines with one memory: store buffers of some kind before it, read sets and prophecies beside it."""

from __future__ import annotations

from gradual.machines.code import EXCHANGE, FULL_FENCE, LOAD, STORE, Code
from gradual.machines.components import (
    MEMORY,
    NO_FORWARDING,
    PER_THREAD,
    PROPHECY,
    READ_SET,
    Machine,
    MachineError,
)
from gradual.machines.exploring import State, Step

Buffers = list[tuple[int, ...]]
"""A buffer per thread, or per thread and location: stores by their values; the probe of a value v is -1 - v."""


class Buffering:
    """A state is (place in each thread, memory, buffers, read sets); a read set is a mask of values."""

    def __init__(self, machine: Machine, code: Code, final: tuple[int, ...]) -> None:
        self._code = code
        self._final = final
        self._at_once = machine.has(MEMORY)
        self._waits = machine.has(NO_FORWARDING)
        self._sets = machine.has(READ_SET)
        self._prophecies = machine.has(PROPHECY)
        threads, self._width = len(code.threads), 1 if machine.has(PER_THREAD) else code.locations
        if self._sets and any(kind == EXCHANGE for thread in code.threads for kind, _ in thread):
            raise MachineError(f"what an rmw does is not defined for a machine with a {READ_SET}")
        self._loads_left = self._last_loads() if self._sets else []
        buffers: Buffers = [()] * (0 if self._at_once else threads * self._width)
        places, memory, sets = [0] * threads, [0] * code.locations, [1] * (threads * code.locations * self._sets)
        for thread in range(threads):
            self._go_on(thread, places, memory, buffers, sets)
        self.start: State = (tuple(places), tuple(memory), tuple(buffers), self._wanted_sets(places, sets))

    def _last_loads(self) -> list[int]:
        """Per thread and location, the place of the last load."""
        return [max((place for place, step in enumerate(thread) if step == (LOAD, address)), default=-1)
                for thread in self._code.threads for address in range(self._code.locations)]

    def end(self, state: State) -> int:
        return sum(state[1][address] << self._code.bits * (self._code.loads + at)
                   for at, address in enumerate(self._final))

    def _done(self, places: tuple[int, ...], buffers: tuple[tuple[int, ...], ...]) -> bool:
        if self._final:
            return not any(buffers) and all(
                place == len(thread) for place, thread in zip(places, self._code.threads, strict=True))
        for place, last in zip(places, self._code.last_load, strict=True):
            if place <= last:
                return False
        return not self._prophecies or all(value > 0 for buffer in buffers for value in buffer)

    # --- what happens by itself

    def _go_on(self, thread: int, places: list[int], memory: list[int], buffers: Buffers, sets: list[int]) -> None:
        """Stores enter the buffer, fences pass, until a load, the end, or a fence that has to wait."""
        if self._at_once:
            return
        code, width = self._code.threads[thread], self._width
        first = thread * width
        place = places[thread]
        while place < len(code):
            kind, address = code[place]
            if kind == STORE:
                at = first + address if width > 1 else first
                buffers[at] += (self._code.numbers[thread][place],)
            elif kind != FULL_FENCE or any(buffers[first:first + width]):
                break
            elif self._sets:
                for at in range(self._code.locations):
                    sets[thread * self._code.locations + at] = 1 << memory[at]
            place += 1
        places[thread] = place

    def _wanted_sets(self, places: list[int], sets: list[int]) -> tuple[int, ...]:
        """Nobody looks into the set of a location that its thread will not load any more."""
        if not self._sets:
            return ()
        locations = self._code.locations
        return tuple([held if self._loads_left[at] >= places[at // locations] or self._prophecies else 0
                      for at, held in enumerate(sets)])

    def _let_probes_go(self, address: int, places: list[int], memory: list[int], buffers: Buffers,
                       sets: list[int]) -> None:
        """Probes at the head of their buffers leave, once the value they stand for may be loaded."""
        locations = self._code.locations
        for thread in range(len(places)):
            at = thread * locations + address
            buffer = buffers[at]
            if buffer and buffer[0] < 0:
                while buffer and buffer[0] < 0 and sets[at] >> (-1 - buffer[0]) & 1:
                    buffer = buffer[1:]
                buffers[at] = buffer
                if not buffer:
                    self._go_on(thread, places, memory, buffers, sets)

    # --- steps

    def steps(self, state: State) -> list[Step] | None:
        places, _, buffers, _ = state
        if self._done(places, buffers):
            return None
        found: list[Step] = []
        for at, buffer in enumerate(buffers):
            if buffer and buffer[0] > 0:
                found.append(self._arrival(state, at, buffer[0]))
        for thread, place in enumerate(places):
            code = self._code.threads[thread]
            if place < len(code):
                kind, address = code[place]
                if kind == LOAD:
                    self._load(state, thread, place, address, found)
                elif self._at_once or kind == EXCHANGE:
                    self._direct(state, thread, kind, address, found)
        return found

    def _arrival(self, state: State, at: int, value: int) -> Step:
        """The head of a buffer reaches memory."""
        code = self._code
        thread, address = code.owner[value], code.address[value]
        places, memory, buffers, sets = map(list, state)
        memory[address] = value
        buffers[at] = buffers[at][1:]
        if sets:
            for other in range(address, len(sets), code.locations):
                sets[other] |= 1 << value
            sets[thread * code.locations + address] = 1 << value
        if not buffers[at]:
            self._go_on(thread, places, memory, buffers, sets)
        if self._prophecies:
            self._let_probes_go(address, places, memory, buffers, sets)
        return ((tuple(places), tuple(memory), tuple(buffers), self._wanted_sets(places, sets)), 0,
                ("arrives", thread, value))

    def _load(self, state: State, thread: int, place: int, address: int, found: list[Step]) -> None:
        memory, buffers, sets = state[1:]
        own = self._own(buffers, thread, address)
        number = self._code.numbers[thread][place]
        if own and self._waits:
            return
        if own:
            found.append(self._loaded(state, thread, own, number))
        elif sets:
            held, value = sets[thread * self._code.locations + address], 0
            while held:
                if held & 1:
                    found.append(self._loaded(state, thread, value, number))
                held, value = held >> 1, value + 1
        else:
            found.append(self._loaded(state, thread, memory[address], number))
        if self._prophecies:
            found += [self._foretold(state, thread, address, value, number)
                      for value in self._to_come(state, thread, address)]

    def _own(self, buffers: tuple[tuple[int, ...], ...], thread: int, address: int) -> int:
        """The latest own store to an address that is still in a buffer; 0 for none."""
        if self._at_once:
            return 0
        buffer = buffers[thread * self._width + (address if self._width > 1 else 0)]
        for value in reversed(buffer):
            if value > 0 and self._code.address[value] == address:
                return value
        return 0

    def _loaded(self, state: State, thread: int, value: int, number: int) -> Step:
        places, memory, buffers, sets = state
        step = ("loads", thread, number)
        bits = value << self._code.bits * number
        on = list(places)
        on[thread] += 1
        code = self._code.threads[thread]
        if on[thread] < len(code) and code[on[thread]][0] != LOAD:
            buffered, held = list(buffers), list(sets)
            self._go_on(thread, on, memory, buffered, held)
            return (tuple(on), memory, tuple(buffered), self._wanted_sets(on, held)), bits, step
        return (tuple(on), memory, buffers, self._wanted_sets(on, sets)), bits, step

    def _to_come(self, state: State, thread: int, address: int) -> list[int]:
        """Stores of other threads that have not reached memory: no other value can join the read set any more."""
        code, (places, _, buffers, _) = self._code, state
        return [value for value in range(1, code.stores + 1)
                if code.address[value] == address and (owner := code.owner[value]) != thread
                and (places[owner] <= code.position[value] or value in buffers[owner * code.locations + address])]

    def _foretold(self, state: State, thread: int, address: int, value: int, number: int) -> Step:
        places, memory, buffers, sets = map(list, state)
        buffers[thread * self._code.locations + address] += (-1 - value,)
        places[thread] += 1
        self._go_on(thread, places, memory, buffers, sets)
        following = (tuple(places), tuple(memory), tuple(buffers), self._wanted_sets(places, sets))
        return following, value << self._code.bits * number, ("foretold", thread, number)

    def _direct(self, state: State, thread: int, kind: int, address: int, found: list[Step]) -> None:
        """A step on memory itself: a store or fence without buffers, or an exchange once its buffer is empty."""
        places, memory, buffers, sets = map(list, state)
        width, value, bits = self._width, self._code.numbers[thread][places[thread]], 0
        step = ("passes", thread, 0)
        if kind == EXCHANGE:
            at = thread * width + (address if width > 1 else 0)
            if not self._at_once and buffers[at]:
                return
            value, number = value >> 16, value & 0xffff
            bits = memory[address] << self._code.bits * number
            step = ("loads", thread, number)
        elif kind == STORE:
            step = ("arrives", thread, value)
        if kind in (STORE, EXCHANGE):
            memory[address] = value
        places[thread] += 1
        self._go_on(thread, places, memory, buffers, sets)
        found.append(((tuple(places), tuple(memory), tuple(buffers), tuple(sets)), bits, step))
