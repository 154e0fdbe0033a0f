"""Why J+R forbids an outcome: the read that the other threads can leave without a justification."""

from __future__ import annotations

from dataclasses import dataclass

from gradual.events.cegar import Cegar
from gradual.events.goal import Goal
from gradual.events.structure import members


@dataclass(frozen=True)
class Missing:
    """ending     a configuration with the outcome; None where the program has none
    justified  it is justified in itself, if only a play could get there
    played     how far a play gets within it
    reads      the reads that hold it up, each with a terminal the opponent can lead to that leaves it unjustified;
               where the ending is not justified in itself, the reads that nothing in it justifies, each with the ending
    """

    ending: int | None
    justified: bool = False
    played: int = 0
    reads: tuple[tuple[int, int], ...] = ()


def missing(goal: Goal) -> Missing:
    """For a goal that no play meets."""
    game = Cegar(goal)
    ending = game.ending(justified=True)
    if ending is not None:
        return _held_up(game, ending)
    anything = game.ending(justified=False)
    if anything is None:
        return Missing(None)
    alone = [read for read in members(anything & goal.structure.reads) if not game.justifying[read] & anything]
    return Missing(anything, reads=tuple((read, anything) for read in alone))


def _held_up(game: Cegar, ending: int) -> Missing:
    """Plays towards the ending as far as that goes: each thread up to a read that the opponent can refuse."""
    structure, played = game.structure, game.structure.initial
    while True:
        reached, reads = played, []
        for event in members(ending & ~played):
            before = structure.below[event]
            if before & reached != before:
                continue
            terminal = game.refutation(played, played | structure.upto(event)) if structure.reads >> event & 1 else None
            if terminal is None:
                reached |= 1 << event
            else:
                reads.append((event, terminal))
        if reached == played:
            return Missing(ending, True, played, tuple(reads))
        played = reached
