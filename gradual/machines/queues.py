"""Machines in which a store reaches each thread at a time of its own.

Nothing is dispatched: per location there is the list of stores in the order in which they left their buffers, and per
thread a place in each list. A load moves its thread's place as far as it likes, and what was passed over has then been
delivered. That is what the queues of `components.py` amount to, with far fewer states; the tests compare the two.
"""

from __future__ import annotations

from gradual.machines.code import EXCHANGE, FULL_FENCE, LOAD, STORE, Code
from gradual.machines.components import COHERENCE, IN_ORDER, PER_THREAD, Machine, MachineError
from gradual.machines.exploring import State, Step


class Delivering:
    """A state is (place in each thread, buffers, stores per location as they left, places of each thread in these)."""

    def __init__(self, machine: Machine, code: Code, final: tuple[int, ...]) -> None:
        if any(kind == EXCHANGE for thread in code.threads for kind, _ in thread):
            raise MachineError(f"what an rmw does is not defined for a machine with {COHERENCE}")
        self._code = code
        self._final = final
        self._in_order = machine.has(IN_ORDER)
        threads, self._width = len(code.threads), 1 if machine.has(PER_THREAD) else code.locations
        places = [0] * threads
        buffers: list[tuple[int, ...]] = [()] * (threads * self._width)
        for thread in range(threads):
            self._go_on(thread, places, buffers)
        self.start: State = (tuple(places), tuple(buffers), ((),) * code.locations,
                             ((0,) * code.locations,) * threads)

    def end(self, state: State) -> int:
        return sum((state[2][address][-1] if state[2][address] else 0) << self._code.bits * (self._code.loads + at)
                   for at, address in enumerate(self._final))

    def _go_on(self, thread: int, places: list[int], buffers: list[tuple[int, ...]]) -> None:
        """Stores enter the buffer until a load, a fence or the end."""
        code, place = self._code.threads[thread], places[thread]
        while place < len(code) and code[place][0] == STORE:
            at = thread * self._width + (code[place][1] if self._width > 1 else 0)
            buffers[at] += (self._code.numbers[thread][place],)
            place += 1
        places[thread] = place

    def _done(self, places: tuple[int, ...], buffers: tuple[tuple[int, ...], ...]) -> bool:
        if self._final:
            return not any(buffers) and all(
                place == len(thread) for place, thread in zip(places, self._code.threads, strict=True))
        return all(place > last for place, last in zip(places, self._code.last_load, strict=True))

    def steps(self, state: State) -> list[Step] | None:
        places, buffers, left, delivered = state
        if self._done(places, buffers):
            return None
        found: list[Step] = []
        for at, buffer in enumerate(buffers):
            if buffer:
                value = buffer[0]
                address = self._code.address[value]
                found.append(((places, _with(buffers, at, buffer[1:]), _with(left, address, (*left[address], value)),
                               delivered), 0, ("arrives", self._code.owner[value], value)))
        for thread, place in enumerate(places):
            if place < len(self._code.threads[thread]):
                kind, address = self._code.threads[thread][place]
                if kind == FULL_FENCE:
                    self._fence(state, thread, found)
                elif kind == LOAD:
                    self._load(state, thread, address, found)
        return found

    def _fence(self, state: State, thread: int, found: list[Step]) -> None:
        """It passes when the buffer is empty and everything has been delivered to everybody."""
        places, buffers, left, delivered = state
        if not any(buffers[thread * self._width:(thread + 1) * self._width]):
            ends = tuple(map(len, left))
            everywhere = tuple([ends if place <= last else at for at, place, last
                                in zip(delivered, places, self._code.last_load, strict=True)])
            found.append((self._on(thread, places, buffers, left, everywhere), 0, ("passes", thread, 0)))

    def _load(self, state: State, thread: int, address: int, found: list[Step]) -> None:
        places, buffers, left, delivered = state
        code, order, here = self._code, left[address], delivered[thread][address]
        number = code.numbers[thread][places[thread]]
        shift, step = code.bits * number, ("loads", thread, number)
        buffer = buffers[thread * self._width + (address if self._width > 1 else 0)]
        own = next((value for value in reversed(buffer) if code.address[value] == address), 0)
        last = 0
        if not own:
            last = next((at for at in range(len(order), 0, -1) if code.owner[order[at - 1]] == thread), 0)
            if last > here:
                own = order[last - 1]
        if own:
            found.append((self._on(thread, places, buffers, left, delivered), own << shift, step))
            if not last:
                return
        for at in range(max(here, last), len(order) + 1):
            moved = self._moved(thread, address, at, left, delivered[thread])
            if moved is not None:
                value = order[at - 1] if at else 0
                found.append((self._on(thread, places, buffers, left, _with(delivered, thread, moved)),
                              value << shift, step))

    def _moved(self, thread: int, address: int, to: int, left: tuple[tuple[int, ...], ...],
               here: tuple[int, ...]) -> tuple[int, ...] | None:
        """The thread's places once its place in one list is `to`; None where that moves it further still."""
        if to == here[address]:
            return here
        moved = _with(here, address, to)
        if not self._in_order:
            return moved
        owner, position = self._code.owner, self._code.position
        latest: dict[int, int] = {}
        todo = list(left[address][here[address]:to])
        while todo:
            value = todo.pop()
            if latest.get(owner[value], -1) >= position[value]:
                continue
            latest[owner[value]] = position[value]
            for at, order in enumerate(left):
                for place in range(len(order), moved[at], -1):
                    other = order[place - 1]
                    if owner[other] == owner[value] and position[other] < position[value]:
                        if at == address:
                            return None
                        todo += order[moved[at]:place]
                        moved = _with(moved, at, place)
                        break
        return moved

    def _on(self, thread: int, places: tuple[int, ...], buffers: tuple[tuple[int, ...], ...],
            left: tuple[tuple[int, ...], ...], delivered: tuple[tuple[int, ...], ...]) -> State:
        """The state after a thread's load or fence."""
        place = places[thread] + 1
        code = self._code.threads[thread]
        if place > self._code.last_load[thread]:  # nobody will ask what was delivered to it
            delivered = _with(delivered, thread, ())
        if place < len(code) and code[place][0] == STORE:
            on, buffered = list(places), list(buffers)
            on[thread] = place
            self._go_on(thread, on, buffered)
            return tuple(on), tuple(buffered), left, delivered
        return _with(places, thread, place), buffers, left, delivered


def _with(items: tuple, at: int, item: object) -> tuple:  # type: ignore[type-arg]
    return (*items[:at], item, *items[at + 1:])
