"""How many programs of a size there are, counted by looking at each. What is counted so far can be kept in a file."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from gradual.contrast.space import Space, connected, idle
from gradual.files import appearing

SAVED = 5.0
"""Seconds between two times that what is known is written down."""


class NotThisCount(Exception):
    """A file that holds something else than the count that is asked for."""


@dataclass
class Count:
    """Programs of exactly so many instructions; while it runs, those counted so far."""

    space: Space
    instructions: int
    algorithm_1: int = 0
    programs: int = 0
    """Classes."""
    algorithm_1_connected: int = 0
    connected: int = 0
    idle_free: int = 0
    """Connected, and without a location that is accessed once or never written."""
    done: int = 0
    """Parts of the space that are counted: those in which the threads have certain lengths and one first thread."""
    seconds: float = 0.0
    keep: Path | None = field(default=None, compare=False)

    def run(self) -> None:
        """Goes on where it was. With `keep`, what is known is there whatever happens."""
        started = time.perf_counter() - self.seconds
        saved = time.perf_counter()
        try:
            for number, part in enumerate(self._parts()):
                if number >= self.done:
                    self._add(*part)
                    self.done, self.seconds = number + 1, time.perf_counter() - started
                    if time.perf_counter() - saved > SAVED:
                        self.save()
                        saved = time.perf_counter()
        finally:
            self.save()

    def _parts(self) -> Iterator[tuple[tuple[int, ...], Iterator[tuple[int, ...]]]]:
        for lengths in self.space.partitions(self.instructions):
            for _, part in groupby(self.space.algorithm_1(lengths), key=lambda numbers: numbers[0]):
                yield lengths, part

    def _add(self, lengths: tuple[int, ...], part: Iterator[tuple[int, ...]]) -> None:
        """All of a part or nothing of it, so that Ctrl-C leaves numbers that are right."""
        every = classes = connecteds = kept = busy = 0
        for numbers in part:
            every += 1
            threads = self.space.threads_of(lengths, numbers)
            is_connected, is_least = connected(threads), self.space.is_least(lengths, numbers)
            connecteds += is_connected
            if is_least:
                classes += 1
                kept += is_connected
                busy += is_connected and not idle(threads)
        self.algorithm_1 += every
        self.algorithm_1_connected += connecteds
        self.programs += classes
        self.connected += kept
        self.idle_free += busy

    # --- on disk

    def save(self) -> None:
        if self.keep is not None:
            with appearing(str(self.keep)) as stream:
                stream.write(json.dumps(self._record()).encode())

    def _record(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if name != "keep"}

    @classmethod
    def resumed(cls, space: Space, instructions: int, keep: Path | None) -> Count:
        """What the file knows of this count, or one that begins. Raises NotThisCount, OSError."""
        count = cls(space, instructions, keep=keep)
        if keep is not None and os.path.exists(keep):
            try:
                known = json.loads(keep.read_text("utf-8"))
                same = known.pop("space") == asdict(space) and known["instructions"] == instructions
                if not same or set(known) | {"space"} != set(count._record()):
                    raise ValueError
                count = cls(space, **known, keep=keep)
            except (ValueError, KeyError, TypeError, AttributeError):
                raise NotThisCount(f"{keep} does not hold this count; name another file, or remove it") from None
        return count
