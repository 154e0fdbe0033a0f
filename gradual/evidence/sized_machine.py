"""A run of accesses that are several events each: a memory of bytes, with store buffers before it, step by step.

A store leaves its buffer as a whole. A load takes each of its bytes from the last store of its thread that holds it and
is still in the buffer, else from memory, all at one moment. Under PSO a store may overtake those that have no byte in
common with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

import numpy as np

from gradual.evidence.errors import CertificateError, require
from gradual.evidence.machine import require_atomicity, require_fences
from gradual.evidence.observed import FENCE, READ, WRITE, Observed
from gradual.evidence.order import each_once
from gradual.evidence.verdict import Witness
from gradual.history import INITIAL


def require_whole(observed: Observed, witness: Witness) -> None:
    """Raise unless the events of each access stand together."""
    require(witness.store_order is None, "accesses of several events need one order of all")
    first = np.array([observed.accesses.first(int(event)) for event in each_once(witness.order, len(observed.history))])
    began = np.flatnonzero(np.diff(first, prepend=-1) != 0)
    require(len(np.unique(first)) == len(began), "the run tears an access")


def replay_parts(observed: Observed, model: str, order: Sequence[int]) -> None:
    """Raise unless the machine of a model can do this run, which leaves the memory as is demanded."""
    events = each_once(order, len(observed.history))
    _Machine(observed, model).run(events.tolist())
    if observed.fences.any():
        require_fences(observed, events)
    if observed.history.pair is not None:
        require_atomicity(observed, events)


class _Machine:
    def __init__(self, observed: Observed, model: str) -> None:
        history = observed.history
        self._observed = observed
        self._model = model
        self._history = history
        self._kind = history.kind.tolist()
        self._row = np.asarray(history.part_of).tolist()
        self._location = history.location.tolist()
        self._program: list[list[int]] = [np.flatnonzero(history.thread == thread).tolist()
                                          for thread in range(len(history.threads))]
        """The events of each thread that are still to come."""
        self._memory = history.initial.tolist()
        self._writer = [INITIAL] * len(self._memory)
        self._chosen = dict(observed.named)

    def run(self, events: list[int]) -> None:
        at = 0
        while at < len(events):
            access = events[at:at + len(self._observed.accesses.events(events[at]))]
            self._step(access)
            at += len(access)
        for location in np.flatnonzero(self._history.final_line >= 0).tolist():
            require(self._memory[location] == self._history.final_value[location],
                    "the memory is left with other values")

    def _step(self, access: list[int]) -> None:
        to_come = self._program[int(self._history.thread[access[0]])]
        earlier = list(takewhile(lambda event: self._row[event] < self._row[access[0]], to_come))
        self._require_order(earlier, access)
        if self._kind[access[0]] == FENCE:
            to_come.remove(access[0])
            return
        for event in access if self._kind[access[0]] != WRITE else ():
            self._load(event, earlier)
        for event in access:
            to_come.remove(event)
            if self._kind[event] != READ:
                self._memory[self._location[event]] = int(self._history.written[event])
                self._writer[self._location[event]] = event

    def _require_order(self, earlier: list[int], access: list[int]) -> None:
        """May the access come before these of its thread? Fences are looked at by themselves."""
        kind, places = self._kind[access[0]], {self._location[event] for event in access}
        for event in earlier:
            buffered = self._kind[event] == WRITE and self._model != "SC" and (
                kind == READ or (self._model == "PSO" and self._location[event] not in places))
            fence = self._model != "SC" and FENCE in (kind, self._kind[event])
            if not (buffered or fence):
                raise self._error(access[0], "comes too early")

    def _load(self, event: int, earlier: list[int]) -> None:
        here = self._location[event]
        buffered = [store for store in earlier if self._kind[store] == WRITE and self._location[store] == here]
        value = int(self._history.written[buffered[-1]]) if buffered else self._memory[here]
        if value != self._history.read[event]:
            raise self._error(event, "finds another value")
        source = buffered[-1] if buffered else self._writer[here]
        if self._chosen.get(event, source) != source:
            raise self._error(event, "reads another write than is said")

    def _error(self, event: int, what: str) -> CertificateError:
        return CertificateError(f"the machine cannot do this: {self._history.describe(event)} {what}")
