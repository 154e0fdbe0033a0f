"""Numbers and tables as Markdown shows them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

NOTHING = "—"


def number(value: float | None) -> str:
    """Three digits that count; whole numbers in full."""
    if value is None:
        return NOTHING
    if isinstance(value, int):
        return f"{value:,}".replace(",", " ")
    digits = max(0, 2 - math.floor(math.log10(abs(value)))) if value else 0
    return f"{value:,.{min(digits, 4)}f}".replace(",", " ")


def table(head: Sequence[str], rows: Iterable[Sequence[str]], text_columns: int) -> list[str]:
    """The lines of a table whose first columns are text, the others numbers."""
    rule = [":--" if at < text_columns else "--:" for at in range(len(head))]
    return [f"| {' | '.join(row)} |" for row in (head, rule, *rows)]
