"""What is asked of an event structure: can its threads end so that a proposition holds?"""

from __future__ import annotations

from dataclasses import dataclass

from gradual.events.structure import EventStructure, Justifies, Leaf
from gradual.programs.condition import Place, Proposition, Register, holds, places


@dataclass(frozen=True)
class Goal:
    structure: EventStructure
    proposition: Proposition
    justifies: Justifies = "label"

    def met(self, leaves: tuple[Leaf, ...]) -> bool:
        """Does it hold where the threads end so? Of goals over registers."""
        registers: dict[Place, int] = {place: leaves[place.thread].registers.get(place.name, 0)
                                       for place in places(self.proposition) if isinstance(place, Register)}
        return holds(self.proposition, registers)
