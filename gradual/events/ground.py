"""Our rules with files of `datalog/`, put to clingo so that Ctrl-C is heard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Read = TypeVar("Read")
POLL = 0.1
"""Seconds between looks for Ctrl-C, which cannot interrupt the solver itself."""


def answer_set(rules: list[str], files: list[str], read: Callable[[Any], Read]) -> Read | None:
    """What is read from the first answer set; None where there is none."""
    from importlib import resources

    import clingo

    control = clingo.Control(["1", "--warn=none"])
    with resources.as_file(resources.files("gradual.datalog")) as folder:
        for file in files:
            control.load(str(folder / file))
    control.add("base", [], "\n".join(rules))
    control.ground([("base", [])])
    with control.solve(yield_=True, async_=True) as handle:
        handle.resume()
        while not handle.wait(POLL):
            pass
        found = handle.model()
        return None if found is None else read(found)
