"""A verdict as notebooks show it: its line, and the picture of a violation. Python programs get their verdicts so."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from gradual.evidence import verdict as plain
from gradual.history import History
from gradual.models import Model


@dataclass(frozen=True)
class Verdict(plain.Verdict):
    """A verdict that knows what it is about."""

    history: History | None = field(default=None, repr=False, compare=False)
    said_by: Model | None = field(default=None, repr=False, compare=False)
    """The model, with its text; `model` is its name."""

    def to_pandas(self) -> Any:
        """A DataFrame of one row, with the columns that batches have: rows of many verdicts go together."""
        import pandas as pd

        from gradual.telling.record import figures

        return pd.DataFrame([figures(self, self.history)] if self.history is not None else [])

    def _repr_html_(self) -> str | None:
        if self.history is None or self.said_by is None:
            return None
        from gradual.telling import words
        from gradual.telling.markup import Html, element, joined

        title, line = self.history.name, words.summary(self, self.history)
        shown = element("p", joined([element("b", title), line] if title else [line], ": "))
        return joined([shown, *map(Html, self._pictures(self.history, self.said_by))])

    def _pictures(self, history: History, model: Model) -> list[str]:
        from gradual.telling import prose, shortened, svg
        from gradual.telling.markup import block, element

        if self.verdict != "violation":
            return []
        short = shortened(self, history, model)
        try:
            return [svg(short, history, model)]
        except ValueError:  # some violations cannot be drawn
            return [element("pre", block(prose(short, history, model)))]


def knowing(verdict: plain.Verdict, history: History, model: Model) -> Verdict:
    """The verdict with what it is about."""
    said = {one.name: getattr(verdict, one.name) for one in fields(plain.Verdict)}
    return Verdict(**said, history=history, said_by=model)
