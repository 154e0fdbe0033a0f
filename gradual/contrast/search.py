"""Compares two models program by program, smallest first, until they differ."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from gradual.contrast.sides import Side
from gradual.contrast.space import Space, fences
from gradual.contrast.subject import Subject
from gradual.machines.code import Outcome, Threads, notation
from gradual.progress import Progress

BOUND = 6
"""Instructions of the largest programs, where nothing else is said."""
LONG = 600.0
"""Seconds beyond which one size is only begun when that is asked for."""
LISTED, SHARE, RATE, SLOWER = 150_000, 0.1, 2000, 1.8
"""For a guess: classes listed in a second; how many of them are compared; how many of those of six instructions in a
second; and how much longer it takes for each instruction more."""


@dataclass(frozen=True)
class Difference:
    """A program with an outcome that one side allows and the other forbids."""

    threads: Threads
    outcome: Outcome
    allowed_by: Side
    forbidden_by: Side

    @property
    def program(self) -> str:
        return notation(self.threads)

    @property
    def fences(self) -> int:
        return fences(self.threads)


@dataclass
class Contrast:
    """Two models compared. While it runs, what is known so far."""

    a: Side
    b: Side
    space: Space = field(default_factory=Space)
    bound: int = BOUND
    reduced: bool = True
    """Leave out programs whose outcomes follow from those of smaller ones."""
    programs: int = 0
    """How many were looked at."""
    finished: int = 0
    """All programs of up to so many instructions were."""
    seconds: float = 0.0
    found: list[Difference] = field(default_factory=list)

    @property
    def differs(self) -> bool | None:
        """None: not within the sizes that were finished, and the bound lies beyond."""
        return True if self.found else False if self.finished >= self.bound else None

    def run(self, progress: Progress, every: bool = False, go_on: bool = False) -> None:
        """Find the first difference, or with `every` all of its size. Sizes that take too long are only begun with
        `go_on`. After KeyboardInterrupt, what was found stays."""
        started = time.perf_counter()
        try:
            for size in range(1, self.bound + 1):
                if not go_on and self.takes(size) > LONG:
                    return
                for difference in self._of_size(size, progress):
                    self.found.append(difference)
                    if not every:
                        return
                if self.found:
                    return
                self.finished = size
        finally:
            self.seconds = time.perf_counter() - started

    def takes(self, size: int) -> float:
        """Seconds, by experience, to compare all programs of a size."""
        classes = self.space.count(size)
        compared = classes * SHARE if self.reduced else classes
        return float(classes / LISTED + compared / RATE * SLOWER ** (size - BOUND))

    def _of_size(self, size: int, progress: Progress) -> Iterator[Difference]:
        progress.start(f"comparing programs of {size} instructions")
        for threads in self.space.programs(size, self.reduced):
            self.programs += 1
            progress.done = self.programs
            difference = self._compared(threads)
            if difference is not None:
                yield difference

    def _compared(self, threads: Threads) -> Difference | None:
        """Where each side allows something of its own, what the first one does."""
        subject = Subject(threads)
        by_a, by_b = self.a.packed(subject), self.b.packed(subject)
        if by_a == by_b:
            return None
        for mine, theirs, one, other in ((by_a, by_b, self.a, self.b), (by_b, by_a, self.b, self.a)):
            if own := mine - theirs:
                return Difference(threads, min(map(subject.code.unpacked, own)), one, other)
        return None
