"""The run that explains a consistent history, a line per step; with store buffers, where the model's machine has any.

A witness says when a write leaves its buffer. When it entered is known up to the reads of its thread, which
must find it there: here it enters as late as that allows.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gradual.deciding.engine.parts import Parts
from gradual.evidence.verdict import Verdict, Witness
from gradual.history import FENCE, RMW, WRITE, History, value_text, visible
from gradual.models import Model
from gradual.telling.names import Names
from gradual.telling.words import buffers_stores


def lines(verdict: Verdict, history: History, model: Model) -> Iterator[str]:
    """The interleaving; nothing for a verdict without one."""
    witness = verdict.evidence
    if not isinstance(witness, Witness):
        return
    if witness.store_order is not None:
        yield from _by_axioms(witness, history, model)
        return
    order = np.asarray(witness.order).tolist()
    if history.whole is not None:
        yield from _numbered(_accesses(order, history))
        return
    steps = _buffered(order, history, Names(history)) if buffers_stores(model) else _direct(order, history)
    yield from _numbered(steps)


def _numbered(steps: Iterator[str]) -> Iterator[str]:
    for number, step in enumerate(steps, 1):
        yield f"{number:>6}  {step}"


def _accesses(order: list[int], history: History) -> Iterator[str]:
    """Accesses that are several events, as memory sees them."""
    names, parts = Names(history), Parts(history)
    return (names.deed(event) for event in order if parts.whole(event) == event)


def _by_axioms(witness: Witness, history: History, model: Model) -> Iterator[str]:
    """No single order explains it: the store order does, with an order of the operations for each axiom."""
    names = Names(history)
    yield "The stores to each location, first to last:"
    for writes in witness.store_order or ():
        if len(writes):
            yield "  " + ", ".join(names.store(write) for write in writes)
    acyclic = [check.name for check in model.checks if check.kind == "acyclic"]
    for axiom, order in zip(acyclic, witness.orders, strict=True):
        yield f"An order that {axiom} allows:"
        yield from _numbered(names.deed(operation) for operation in order)


def _direct(order: list[int], history: History) -> Iterator[str]:
    """A read may come before the store of its own thread that it returns, where the model lets it."""
    names, place = Names(history), {operation: at for at, operation in enumerate(order)}
    for at, operation in enumerate(order):
        ahead = place.get(int(history.source[operation]), at) > at
        yield names.deed(operation) + (", its own store, before that is in memory" if ahead else "")


def _buffered(order: list[int], history: History, names: Names) -> Iterator[str]:
    waiting = _programs(history)
    entered = [0] * len(history.threads)
    buffers: list[list[int]] = [[] for _ in history.threads]
    for operation in _fences_in_turn(order, history):
        thread = int(history.thread[operation])
        program, buffer = waiting[thread], buffers[thread]
        while entered[thread] < len(program) and program[entered[thread]] <= operation:
            write = program[entered[thread]]
            entered[thread] += 1
            buffer.append(write)
            yield f"{names.deed(write)}: into its store buffer   {_content(buffer, history)}"
        if history.kind[operation] == WRITE:
            buffer.remove(operation)
            yield (f"{names.store(operation)} leaves the store buffer: it is in memory   "
                   f"{_content(buffer, history)}")
        else:
            yield f"{names.deed(operation)}{_from(operation, buffer, history)}"


def _fences_in_turn(order: list[int], history: History) -> Iterator[int]:
    """Two fences with nothing between them may stand in any order: here as in the program."""
    fences = [np.flatnonzero((history.kind == FENCE) & (history.thread == t)).tolist()[::-1]
              for t in range(len(history.threads))]
    for operation in order:
        if history.kind[operation] != FENCE:
            yield operation
            continue
        waiting = fences[int(history.thread[operation])]
        while waiting and waiting[-1] <= operation:
            yield waiting.pop()


def _programs(history: History) -> list[list[int]]:
    """The writes of each thread that go through a buffer, in program order."""
    programs: list[list[int]] = [[] for _ in history.threads]
    for write in np.flatnonzero(history.kind == WRITE).tolist():
        programs[int(history.thread[write])].append(write)
    return programs


def _from(operation: int, buffer: list[int], history: History) -> str:
    if history.kind[operation] == FENCE:
        return "" if buffer else ": its store buffer is empty"
    if history.kind[operation] == RMW:
        return " in memory, at once"
    own = any(history.location[write] == history.location[operation] for write in buffer)
    return f" from its store buffer   {_content(buffer, history)}" if own else " from memory"


def _content(buffer: list[int], history: History) -> str:
    held = ", ".join(f"{visible(history.address(w))}={value_text(history.written[w])}" for w in buffer)
    return f"[{held}]"
