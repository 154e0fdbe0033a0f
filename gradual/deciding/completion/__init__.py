"""From a partial store order to a total one.

A completion takes a greedy schedule of a saturated order that got stuck, and a deadline. It returns
a Witness, or the Refutation of every store order; it raises TimeoutError when the deadline passes first.
`direct` takes the bare history instead: it is the plain SAT encoding, there to compare with.
"""

from __future__ import annotations

import importlib
from typing import Protocol, cast

from gradual.deadline import Deadline
from gradual.deciding.schedule import Schedule
from gradual.evidence.verdict import Refutation, Witness


class Completion(Protocol):
    def __call__(self, stuck: Schedule, deadline: Deadline) -> Witness | Refutation: ...


COMPLETIONS = ("enumerate", "sat")
AUTO = "enumerate"
"""The one that measured best (`experiments/ladder.py`)."""
DIRECT = "direct"


def completion(name: str) -> Completion:
    """The completion called `name`."""
    if name not in COMPLETIONS:
        raise ValueError(f"no completion called {name!r}; there are auto, {', '.join(COMPLETIONS)}, {DIRECT}")
    return cast(Completion, importlib.import_module(f"{__name__}.{name}").complete)
