"""Several models, each pair of them: the first test that a row allows and a column forbids, and who includes whom."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any

from gradual.contrast.litmus import name
from gradual.contrast.search import BOUND, Difference
from gradual.contrast.sides import Side
from gradual.contrast.space import Space, size
from gradual.contrast.subject import Subject
from gradual.machines.code import Outcome, Threads
from gradual.progress import Progress


@dataclass
class Table:
    """While it runs, what is known so far."""

    sides: Sequence[Side]
    space: Space = field(default_factory=Space)
    bound: int = BOUND
    first: dict[tuple[str, str], Difference] = field(default_factory=dict)
    """By row and column: the first outcome that the row allows and the column forbids."""
    programs: int = 0
    finished: int = 0
    seconds: float = 0.0

    def run(self, progress: Progress) -> None:
        """After KeyboardInterrupt, what was found stays."""
        started = time.perf_counter()
        try:
            for size in range(1, self.bound + 1):
                progress.start(f"comparing programs of {size} instructions")
                for threads in self.space.programs(size):
                    self._compare(threads)
                    progress.done = self.programs = self.programs + 1
                self.finished = size
        finally:
            self.seconds = time.perf_counter() - started

    def _compare(self, threads: Threads) -> None:
        subject = Subject(threads)
        allowed = [(side, side.packed(subject)) for side in self.sides]
        if all(outcomes == allowed[0][1] for _, outcomes in allowed):
            return
        for (row, mine), (column, theirs) in permutations(allowed, 2):
            if (row.name, column.name) not in self.first and (own := mine - theirs):
                outcome = min(map(subject.code.unpacked, own))
                self.first[row.name, column.name] = Difference(threads, outcome, row, column)

    # --- what it says

    def included(self, row: Side, column: Side) -> bool:
        """Does the column allow all that the row does, as far as was looked?"""
        return (row.name, column.name) not in self.first

    def covers(self) -> list[tuple[Side, Side]]:
        """Who includes whom, without what follows."""
        below = {(a.name, b.name) for a, b in permutations(self.sides, 2)
                 if self.included(a, b) and not self.included(b, a)}
        return [(a, b) for a, b in permutations(self.sides, 2) if (a.name, b.name) in below and not any(
            (a.name, c.name) in below and (c.name, b.name) in below for c in self.sides)]

    def equals(self) -> list[tuple[Side, Side]]:
        return [(a, b) for at, a in enumerate(self.sides) for b in self.sides[at + 1:]
                if self.included(a, b) and self.included(b, a)]

    def tests(self) -> dict[tuple[Threads, Outcome], list[Difference]]:
        """Each test once, with the pairs that it tells apart, from small to large."""
        found: dict[tuple[Threads, Outcome], list[Difference]] = {}
        for difference in sorted(self.first.values(), key=lambda other: (sum(size(other.threads)[:2]), other.threads)):
            found.setdefault((difference.threads, difference.outcome), []).append(difference)
        return found

    # --- for people

    def lines(self) -> list[str]:
        names = [side.name for side in self.sides]
        cells = [["", *names], *([row.name, *(self._cell(row, column) for column in self.sides)]
                                 for row in self.sides)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        so_far = "" if self.finished >= self.bound else " (interrupted: this is what was found so far)"
        lines = [f"The first test that the row allows and the column forbids (⊂: none up to {self.finished} "
                 f"instructions){so_far}", ""]
        lines += ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
                  for row in cells]
        lines.append("")
        for (threads, outcome), differences in self.tests().items():
            counted, used, fences = size(threads)
            with_fences = f" + {fences} F" if fences else ""
            lines.append(f"{name(threads):<10} {counted}/{used}{with_fences:<6} {differences[0].program}   "
                         f"{' '.join(map(str, outcome))}")
        lines += ["", *(f"{a.name} = {b.name}" for a, b in self.equals()),
                  *(f"{a.name} ⊂ {b.name}" for a, b in self.covers()),
                  f"{self.programs} programs looked at in {self.seconds:.1f} s"]
        return lines

    def _cell(self, row: Side, column: Side) -> str:
        if row is column:
            return "·"
        difference = self.first.get((row.name, column.name))
        return "⊂" if difference is None else name(difference.threads)

    # --- for programs

    def json(self) -> dict[str, Any]:
        return {"models": [side.name for side in self.sides],
                "pairs": [self._pair(row, column) for row, column in permutations(self.sides, 2)],
                "order": [[a.name, b.name] for a, b in self.covers()],
                "equal": [[a.name, b.name] for a, b in self.equals()],
                "programs": self.programs, "bound": self.finished, "seconds": round(self.seconds, 6)}

    def _pair(self, row: Side, column: Side) -> dict[str, Any]:
        found: dict[str, Any] = {"row": row.name, "column": column.name, "included": self.included(row, column)}
        difference = self.first.get((row.name, column.name))
        if difference is not None:
            counted, used, fences = size(difference.threads)
            found |= {"test": name(difference.threads), "instructions": counted, "threads": used, "fences": fences,
                      "program": difference.program, "outcome": list(difference.outcome)}
        return found

