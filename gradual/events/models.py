"""The models that are decided on event structures, by the names the command line has for them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class EventModel:
    key: str
    name: str
    sentence: str
    executions: bool = True
    """It judges executions, which have a store order and rmws; otherwise it is a game on the structure."""
    races: bool = False
    """A race allows everything."""

    def __str__(self) -> str:
        return self.name


JR = EventModel("jr", "J+R", "Jeffrey and Riely: a read must be justified whatever the other threads go on to do",
                executions=False)
SC = EventModel("sc", "SC", "one access after another, as if the threads took turns at one memory")
RA = EventModel("ra", "RA", "Release-Acquire: what a read sees, its thread has seen")
C11 = EventModel("c11", "C++", "the memory model of C++, as RC11 repaired it, with values out of thin air", races=True)
RC11 = EventModel("rc11", "RC11", "C++ without cycles of program order and reads-from", races=True)

MODELS = {model.key: model for model in (JR, RA, C11, RC11, SC)}
