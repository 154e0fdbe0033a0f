"""From a partial store order to a total one: three ways behind one interface.

A completion takes a history, a model and a deadline. It returns a Witness, or the proof that there
is none; it raises TimeoutError when the deadline passes first.
"""

from __future__ import annotations

import importlib
from typing import Protocol, cast

from gradual.deadline import Deadline
from gradual.history import History
from gradual.models import Model
from gradual.verdict import Cycle, Refutation, Witness


class Completion(Protocol):
    def __call__(self, history: History, model: Model, deadline: Deadline) -> Witness | Cycle | Refutation: ...


COMPLETIONS = ("enumerate", "sat", "direct")
AUTO = "enumerate"
"""The one that measured best (`experiments/ladder.py`)."""


def completion(name: str) -> Completion:
    """The completion called `name`."""
    if name not in COMPLETIONS:
        raise ValueError(f"no completion called {name!r}; there are {', '.join(COMPLETIONS)}")
    return cast(Completion, importlib.import_module(f"{__name__}.{name}").complete)
