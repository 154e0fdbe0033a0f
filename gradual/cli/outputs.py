"""The pictures and pages of violations, as files."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

import typer

from gradual.cli.common import refused, usage_error

if TYPE_CHECKING:
    from gradual.evidence.verdict import Verdict
    from gradual.history import History
    from gradual.models import Model


class Outputs:
    """Where they go to: never in the place of what is read, and each to a place of its own.

    targets  by what to make: svg, page or dot
    """

    def __init__(self, targets: dict[str, str | None], sources: list[str]) -> None:
        self._targets = {kind: target for kind, target in targets.items() if target is not None}
        self._taken = {os.path.realpath(source) for source in sources}
        for target in self._targets.values():
            if target == "-":
                raise usage_error("pictures and pages need a file; standard output is for the text")
            if os.path.realpath(target) in self._taken:
                raise usage_error(f"{target} is what is read, or named twice")
            self._taken.add(os.path.realpath(target))
        self._written = False

    def __bool__(self) -> bool:
        return bool(self._targets)

    def write(self, verdict: Verdict, history: History, model: Model) -> None:
        """One violation, its evidence shortened."""
        from gradual.files import appearing
        from gradual.telling import dot, page, svg

        makers: dict[str, Callable[[Verdict, History, Model], str]] = {"svg": svg, "page": page, "dot": dot}
        for kind, target in self._targets.items():
            path = self._further(target, history.name, verdict.model) if self._written else target
            try:
                with appearing(path) as stream:
                    stream.write(makers[kind](verdict, history, model).encode())
            except OSError as error:
                raise refused(path, error) from None
        self._written = True

    def _further(self, target: str, name: str, model: str) -> str:
        """The name for a violation after the first; numbered where that name is taken."""
        from gradual.files import safe_name

        stem, ending = os.path.splitext(target)
        named = f"{stem}-{safe_name(name)}-{safe_name(model)}"
        path, number = f"{named}{ending}", 1
        while os.path.realpath(path) in self._taken:
            number += 1
            path = f"{named}-{number}{ending}"
        self._taken.add(os.path.realpath(path))
        return path

    def complain(self, why: str) -> None:
        """If there was nothing to write."""
        if self._targets and not self._written:
            typer.echo(f"gradual: {why}, so there is nothing to draw; nothing was written", err=True)
