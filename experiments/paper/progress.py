"""How far a long run is: one line rewritten on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import sys
import time

OFTEN = 10.0
"""Seconds between plain lines."""


class Progress:
    """Counts steps, and expects the time left from weights: steps differ by orders of magnitude."""

    def __init__(self, weights: list[float]) -> None:
        self._total, self._weight = len(weights), sum(weights)
        self._done, self._passed = 0, 0.0
        self._started = self._said = time.monotonic()
        self._rewrites = sys.stderr.isatty()

    def now(self, doing: str) -> None:
        """Say what comes next."""
        if self._rewrites:
            sys.stderr.write(f"\r\x1b[K{self.line(doing)}")
        elif time.monotonic() - self._said > OFTEN:
            self._said = time.monotonic()
            sys.stderr.write(f"{self.line(doing)}\n")
        sys.stderr.flush()

    def step(self, weight: float) -> None:
        self._done += 1
        self._passed += weight

    def line(self, doing: str) -> str:
        left = ""
        if self._passed:
            seconds = (time.monotonic() - self._started) * max(self._weight - self._passed, 0) / self._passed
            left = f", about {seconds:.0f} s left" if seconds < 100 else f", about {seconds / 60:.0f} min left"
        return f"{self._done}/{self._total}{left}: {doing}"

    def close(self) -> None:
        if self._rewrites:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
