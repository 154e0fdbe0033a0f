"""The causal ladder: criteria weaker than the models, polynomial, each one rung above the last.

CC < CCv, CM < CCM < SC, and wCCM < TSO. A program of `datalog/` answers for one or two rungs at
once, because the upper one is built from what the lower one computed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gradual.deadline import Deadline
from gradual.evidence.verdict import Pair
from gradual.history import History
from gradual.models import Model
from gradual.models.fit import fit


class Rung(NamedTuple):
    """A program and the criteria it decides, the weaker first."""

    program: str
    criteria: tuple[str, ...]
    published: bool = True
    """Is it one of the paper's?"""


LADDERS: dict[str, tuple[Rung, ...]] = {
    "sc": (Rung("ccv", ("CC", "CCv")), Rung("ccm", ("CM", "CCM"))),
    "tso": (Rung("wccm", ("wCCM",)),),
    "pso": (Rung("wccm_pso", ("wCCM-PSO",), published=False),),
}
"""By the keys of the models that ship; no other model has a ladder."""


def criteria(model: Model) -> tuple[str, ...]:
    """The published criteria below a model, from weak to strong."""
    return tuple(name for rung in LADDERS.get(model.key, ()) if rung.published for name in rung.criteria)


class Answer(NamedTuple):
    """What one rung says: which of its criteria fail, and the store order it forces."""

    rung: Rung
    failed: tuple[str, ...]
    ww: list[Pair]

    @property
    def ordered_pairs(self) -> int:
        """How many pairs of writes the store order has, whichever way round."""
        return len({(min(pair), max(pair)) for pair in self.ww if pair[0] != pair[1]})


def climb(history: History, model: Model, deadline: Deadline) -> Iterator[Answer]:
    """The answers of the rungs below `model`, from the bottom up. The caller stops where it wants."""
    from gradual.deciding import rules

    rungs = LADDERS.get(model.key, ())
    given = rules.facts(history, fit(model)) if rungs else {}
    for rung in rungs:
        found = rules.run(rung.program, given, deadline)
        failed = tuple(name for name in rung.criteria
                       if name.lower() in found.violated or (name == rung.criteria[-1] and not found.acyclic))
        yield Answer(rung, failed, found.ww)
