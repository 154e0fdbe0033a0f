"""What an explanation is made of: sentences, most of which tell an arrow, gathered under headings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gradual.evidence.verdict import Edge


@dataclass(frozen=True)
class Sentence:
    text: str
    rule: str = ""
    """The rule it goes by, in words, where the reader meets it first."""
    edge: Edge | None = None
    """The arrow it tells."""

    def __str__(self) -> str:
        return f"{self.text}   [{self.rule}]" if self.rule else self.text


@dataclass(frozen=True)
class Passage:
    heading: str
    parts: tuple[Part, ...]
    conclusion: str = ""


Part = Sentence | Passage


def lines(parts: Iterable[Part], depth: int = 0) -> Iterator[str]:
    """As plain text: what belongs to a heading stands below it, further in."""
    for part in parts:
        if isinstance(part, Sentence):
            yield f"{'':{depth}}{part}"
            continue
        if part.heading:
            yield f"{'':{depth}}{part.heading}"
        for inner in part.parts:
            yield from lines([inner], depth + (4 if isinstance(inner, Sentence) else 2))
        if part.conclusion:
            yield f"{'':{depth + 2}}{part.conclusion}"


def edges(parts: Iterable[Part]) -> Iterator[Edge]:
    """The arrows, in the order in which they are told."""
    for part in parts:
        if isinstance(part, Passage):
            yield from edges(part.parts)
        elif part.edge is not None:
            yield part.edge
