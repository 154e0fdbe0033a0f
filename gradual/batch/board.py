"""How far a batch is: a bar on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterable

from gradual.progress import erase_line

BAR = 24
PLAIN = 10.0
"""Seconds between plain lines."""
SMOOTH = 0.2
"""Seconds between changes of the bar."""


class Board:
    """Counts what has been done; `sizes` are those of the files to check, `skipped` were checked before."""

    def __init__(self, sizes: dict[str, int], skipped: int = 0) -> None:
        self._sizes = sizes
        self._sources: set[str] = set()
        self.verdicts: Counter[str] = Counter()
        self.histories = 0
        self._skipped = skipped
        self._bytes = sum(sizes.values())
        self._bytes_done = 0
        self._started = self._shown = time.monotonic()
        self._tty = sys.stderr.isatty()

    @property
    def files(self) -> int:
        return self._skipped + len(self._sources)

    @property
    def total(self) -> int:
        return self._skipped + len(self._sizes)

    def seen(self, sources: Iterable[str]) -> None:
        """Files that are done."""
        for source in set(sources) - self._sources:
            self._sources.add(source)
            self._bytes_done += self._sizes[source]

    def show(self) -> None:
        now = time.monotonic()
        if now - self._shown >= (SMOOTH if self._tty else PLAIN):
            self._shown = now
            self.clear()
            self._say(f"{self._bar()} {self}" if self._tty else f"gradual: {self}\n")

    def clear(self) -> None:
        if self._tty:
            erase_line()

    def _say(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()

    def _bar(self) -> str:
        full = BAR * self.files // max(self.total, 1)
        return "[" + "#" * full + "." * (BAR - full) + "]"

    def __str__(self) -> str:
        seconds = max(time.monotonic() - self._started, 1e-3)
        left = ""
        if self._bytes_done and self.files < self.total:
            left = f", {_clock(seconds / self._bytes_done * (self._bytes - self._bytes_done))} left"
        return (f"{self.files}/{self.total} files, {self.histories} histories, {self.histories / seconds:.0f}/s, "
                f"{self.verdicts['violation']} violations, {self.verdicts['error']} errors{left}")


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
