"""From the ladder's partial store order to a total one: the paper's two completions.

A completion takes a closure, in which the ladder's order is contained, and a deadline. It returns a Witness, or the
Refutation of every store order; it raises OutOfTime when the deadline passes first. `direct` takes the bare
history instead: it is the plain SAT encoding, there to compare with.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from gradual.deadline import Deadline
    from gradual.deciding.completion.closure import Closure
    from gradual.evidence.verdict import Refutation, Witness


class Completion(Protocol):
    def __call__(self, closure: Closure, deadline: Deadline) -> Witness | Refutation: ...


AUTO = "auto"
"""The engine, which needs no completion."""
COMPLETIONS = ("enumerate", "sat")
DIRECT = "direct"


def completion(name: str) -> Completion:
    """The completion called `name`."""
    if name not in COMPLETIONS:
        raise ValueError(f"no completion called {name!r}; there are {AUTO}, {', '.join(COMPLETIONS)}, {DIRECT}")
    return cast(Completion, importlib.import_module(f"{__name__}.{name}").complete)
