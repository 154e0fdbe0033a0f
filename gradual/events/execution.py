"""An execution of an event structure: what takes place, who reads from whom, and the store order."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Execution:
    events: int
    """A mask."""
    rf: dict[int, int]
    """Of each read, the write it reads from."""
    co: frozenset[tuple[int, int]]
    """Pairs of writes of one location."""
