"""Long names in little room. What tells names of one hierarchy apart mostly stands at their end, so the middle goes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

MORE = 4
"""Letters that names get in addition while they look the same."""


def elided(text: str, longest: int) -> str:
    """
    >>> elided("tb.dut.core0.l1d.data_array.word3", 20)
    'tb.dut…a_array.word3'
    """
    if len(text) <= longest:
        return text
    start = (longest - 1) // 3
    return f"{text[:start]}…{text[start + 1 - longest:]}"


def distinct(names: Iterable[str], longest: int) -> dict[str, str]:
    """Each name, elided; those that would look the same get as many letters as it takes."""
    found = {name: elided(name, longest) for name in names}
    while len(set(found.values())) < len(found):
        longest += MORE
        often = Counter(found.values())
        found = {name: elided(name, longest) if often[short] > 1 else short for name, short in found.items()}
    return found
