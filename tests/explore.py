"""Every run of an explicit machine: is there one in which each read returns its source write?

The machines hold writes, not values, so a run agrees with the history's reads-from and not merely
with its values. SC is one memory. TSO puts a FIFO store buffer before it for each thread, PSO one
for each thread and location. A read takes the newest own buffered write, or else what memory
holds. A fence waits until the thread's buffers are empty; an rmw until the buffer it would write
through is, and then reads and writes memory at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from brute import Events

from gradual.history import FENCE, INITIAL, NO_SOURCE, READ, THIN_AIR, WRITE, History
from gradual.models.model import model_named

Queue = tuple[int, ...]


class State(NamedTuple):
    """A machine between two steps: hashable, so that no state is visited twice."""

    done: tuple[int, ...]
    """Per thread, how many of its operations are executed."""
    memory: tuple[int, ...]
    """Per location, the write it holds."""
    buffers: tuple[tuple[Queue, ...], ...]
    """Per thread its queues of writes, oldest first: none (SC), one (TSO), one per location (PSO)."""


def explore(history: History, model_name: str) -> bool:
    """Whether some run of the model's machine is this history, final values included."""
    machine = _Machine(history, model_named(model_name).name)
    todo = [machine.start()]
    seen = set(todo)
    while todo:
        state = todo.pop()
        if machine.finished(state):
            return True
        for following in machine.steps(state):
            if following not in seen:
                seen.add(following)
                todo.append(following)
    return False


def accepts(history: History, model_name: str, order: Sequence[int]) -> bool:
    """Whether the machine can do just this: memory sees the operations in `order`, a write where it leaves its buffer.

    When a write enters its buffer nobody sees; as early as can be is as good as later.
    """
    machine = _Machine(history, model_named(model_name).name)
    state: State | None = machine.start()
    for operation in order:
        state = state and machine.does(machine.issued(state), operation)
    return state is not None and machine.finished(state) and len(order) == len(history)


class _Machine:
    def __init__(self, history: History, model: str) -> None:
        self.model = model
        self.kind: list[int] = history.kind.tolist()
        self.location: list[int] = history.location.tolist()
        events = Events(history)
        held = {write: INITIAL if write < 0 else write for write in (*events.initials, *events.operations)}
        self.source = [held[events.source[e]] if e in events.source else THIN_AIR for e in events.operations]
        self.final = [held[events.last[at]] if at in events.last else THIN_AIR if history.final_line[at] >= 0
                      else NO_SOURCE for at in range(len(events.initials))]
        self.programs: list[list[int]] = [[] for _ in history.threads]
        for operation, thread in enumerate(history.thread.tolist()):
            self.programs[thread].append(operation)

    def start(self) -> State:
        locations = len(self.final)
        queues = {"SC": 0, "TSO": 1, "PSO": locations}[self.model]
        threads = len(self.programs)
        return State((0,) * threads, (INITIAL,) * locations, (((),) * queues,) * threads)

    def finished(self, state: State) -> bool:
        """Everything executed, everything drained, and memory as the history demands.

        A final value nobody wrote is THIN_AIR, which memory never holds.
        """
        return (state.done == tuple(map(len, self.programs))
                and not any(any(queues) for queues in state.buffers)
                and all(wanted in (NO_SOURCE, held)
                        for wanted, held in zip(self.final, state.memory, strict=True)))

    def issued(self, state: State) -> State:
        """With every write in its buffer that can be."""
        while True:
            for thread, program in enumerate(self.programs):
                done = state.done[thread]
                if done < len(program) and self.kind[program[done]] == WRITE and state.buffers[thread]:
                    (state,) = self._executes(state, thread, program[done])
                    break
            else:
                return state

    def does(self, state: State, operation: int) -> State | None:
        """After the one step that is `operation` to memory; None where that is not possible now."""
        thread = next((t for t, program in enumerate(self.programs) if operation in program), None)
        if thread is None:
            return None
        if self.kind[operation] == WRITE and state.buffers[thread]:
            queues = state.buffers[thread]
            drained = zip(filter(None, queues), self._drains(state, thread), strict=True)
            return next((after for queue, after in drained if queue[0] == operation), None)
        program, done = self.programs[thread], state.done[thread]
        if done == len(program) or program[done] != operation:
            return None
        return next(self._executes(state, thread, operation), None)

    def steps(self, state: State) -> Iterator[State]:
        for thread, program in enumerate(self.programs):
            yield from self._drains(state, thread)
            if state.done[thread] < len(program):
                yield from self._executes(state, thread, program[state.done[thread]])

    def _drains(self, state: State, thread: int) -> Iterator[State]:
        """The oldest write of any queue reaches memory."""
        for at, queue in enumerate(state.buffers[thread]):
            if queue:
                queues = _replace(state.buffers[thread], at, queue[1:])
                yield State(state.done, _replace(state.memory, self.location[queue[0]], queue[0]),
                            _replace(state.buffers, thread, queues))

    def _executes(self, state: State, thread: int, operation: int) -> Iterator[State]:
        """The thread's next operation, if the machine allows it now with the source it must have."""
        queues, location = state.buffers[thread], self.location[operation]
        done = _replace(state.done, thread, state.done[thread] + 1)
        if self.kind[operation] == FENCE:
            if not any(queues):
                yield state._replace(done=done)
            return
        at = location if self.model == "PSO" else 0
        queue = queues[at] if queues else ()
        if self.kind[operation] == READ:
            if self._visible(state.memory, queue, location) == self.source[operation]:
                yield state._replace(done=done)
        elif self.kind[operation] == WRITE and queues:
            filled = _replace(queues, at, (*queue, operation))
            yield State(done, state.memory, _replace(state.buffers, thread, filled))
        elif self.kind[operation] == WRITE or (  # on SC a write goes the way of an rmw
                not queue and state.memory[location] == self.source[operation]):
            yield State(done, _replace(state.memory, location, operation), state.buffers)

    def _visible(self, memory: tuple[int, ...], queue: Queue, location: int) -> int:
        """The newest own buffered write of the location, or else what memory holds."""
        own = [write for write in queue if self.location[write] == location]
        return own[-1] if own else memory[location]


def _replace(items: tuple, at: int, item: object) -> tuple:
    return (*items[:at], item, *items[at + 1:])
