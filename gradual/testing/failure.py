"""A history that is not consistent, as the failure of a test: in words, as a picture, as the smallest trace."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gradual.history import History
    from gradual.judge import Judgement

PATIENCE = 10.0
"""Seconds for finding the smallest history that shows it."""


class NotConsistent(AssertionError):
    """A history violates its model, or could not be shown not to: `found.verdict` says which."""

    def __init__(self, found: Judgement) -> None:
        super().__init__(found)
        self.found = found

    def __str__(self) -> str:
        if not self._violated:
            return self.found.line
        from gradual.telling.words import counted

        operations = (self.smallest.describe(operation) for operation in range(len(self.smallest)))
        return "\n".join([self.found.line, f"{counted(len(self.smallest), 'operation')} of it cannot be spared:",
                          *(f"    {operation}" for operation in operations), *self._proved.text.splitlines()[1:]])

    @property
    def _violated(self) -> bool:
        return self.found.verdict.verdict == "violation"

    @property
    def smallest(self) -> History:
        """The operations without any of which there would be no violation, or another one; the whole history where
        nothing is violated."""
        history: History = self._proved.item  # type: ignore[assignment]
        return history

    @cached_property
    def _proved(self) -> Judgement:
        """On the smallest history, the evidence as simple as it can be found."""
        from gradual.deciding import pipeline
        from gradual.deciding.shrinking import shrink
        from gradual.history import History

        if not self._violated or not isinstance(self.found.item, History):
            return self.found
        small = shrink(self.found.item, self.found.model, timeout=PATIENCE)
        return self.found._replace(item=small, verdict=pipeline.check(small, self.found.model)).shortened()

    @property
    def explanation(self) -> str:
        """Step by step, as `gradual explain` tells it; empty where nothing is violated."""
        from gradual.telling import prose

        return prose(self._proved.verdict, self.smallest, self.found.model) if self._violated else ""

    def save(self, folder: Path) -> list[Path]:
        """The files of a violation: why.txt, why.svg, and smallest.csv, which `gradual check` takes."""
        from gradual.files import write
        from gradual.telling import svg

        if not self._violated:
            return []
        folder.mkdir(parents=True, exist_ok=True)
        text, picture, trace = (folder / name for name in ("why.txt", "why.svg", "smallest.csv"))
        text.write_text(f"{self}\n\n{self.explanation}\n", encoding="utf-8")
        picture.write_text(svg(self._proved.verdict, self.smallest, self.found.model), encoding="utf-8")
        write([self.smallest], trace, lines=True)
        return [text, picture, trace]
