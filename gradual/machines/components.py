"""Machines put together from components. A machine is the list of them that a model's file names after `machine:`.

    memory             every store at once; alone it is the whole machine
    store buffer per thread, or per thread and location
                       stores wait in a FIFO, its head may leave at any time; a load returns the latest own entry of its
                       location
    no forwarding      a load waits instead while an own store to its location is in the buffer
    read set           per thread and location, the values it may still load: what reaches memory joins every thread's
                       set, the storing thread's becomes that value alone; a fence leaves what memory holds
    prophecy           a load may return a value that is still to come: a probe enters the buffer, and leaves only once
                       the read set has it; runs with stuck probes do not count
    coherence queues   what leaves a buffer enters a queue per thread and location, and from there the thread's memory
    stores in order    the stores of one thread reach every other one in program order

A fence waits until the buffers of its thread are empty, probes included; with coherence queues, until all of these are.
"""

from __future__ import annotations

from dataclasses import dataclass

MEMORY = "memory"
PER_THREAD = "store buffer per thread"
PER_LOCATION = "store buffer per thread and location"
NO_FORWARDING = "no forwarding"
READ_SET = "read set"
PROPHECY = "prophecy"
COHERENCE = "coherence queues"
IN_ORDER = "stores in order"
COMPONENTS = (MEMORY, PER_THREAD, PER_LOCATION, NO_FORWARDING, READ_SET, PROPHECY, COHERENCE, IN_ORDER)


class MachineError(ValueError):
    """Components that make no machine, or a program that a machine cannot run."""


@dataclass(frozen=True)
class Machine:
    """Which components there are."""

    components: tuple[str, ...]

    def __post_init__(self) -> None:
        for component in self.components:
            if component not in COMPONENTS:
                raise MachineError(f"no component of machines is called {component!r}; there are "
                                   f"{', '.join(COMPONENTS)}")
        if sum(self.has(base) for base in (MEMORY, PER_THREAD, PER_LOCATION)) != 1:
            raise MachineError(f"a machine has one of {MEMORY}, {PER_THREAD}, {PER_LOCATION}")
        for component, base in _RESTS_ON.items():
            if self.has(component) and not any(map(self.has, base)):
                raise MachineError(f"{component} needs {' or '.join(base)}")
        if self.has(COHERENCE) and (self.has(READ_SET) or self.has(NO_FORWARDING)):
            raise MachineError(f"{COHERENCE} do not go with {READ_SET} or {NO_FORWARDING}: no such machine is known "
                               "here")

    def has(self, component: str) -> bool:
        return component in self.components

    def __str__(self) -> str:
        return ", ".join(self.components)


_RESTS_ON = {
    NO_FORWARDING: (PER_THREAD, PER_LOCATION), READ_SET: (PER_LOCATION,), PROPHECY: (READ_SET,),
    COHERENCE: (PER_THREAD, PER_LOCATION), IN_ORDER: (COHERENCE,),
}


def machine_of(text: str) -> Machine:
    """The machine of a list such as `store buffer per thread, no forwarding`. Raises MachineError."""
    return Machine(tuple(part.strip() for part in text.split(",")))
