"""A line on the terminal that says what takes so long. Nothing when nobody is looking."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType

PATIENCE = 2.0
"""Seconds before the line appears."""


def erase_line() -> None:
    """On a terminal. Past the text layer, which lets no text move the cursor."""
    sys.stderr.flush()
    sys.stderr.buffer.write(b"\r\x1b[K")
    sys.stderr.buffer.flush()


class Progress:
    """While open, shows `doing` with its time once that exceeds two seconds."""

    def __init__(self) -> None:
        self.doing = ""
        self.done = 0
        self._since = time.monotonic()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._shown = False

    def __enter__(self) -> Progress:
        if sys.stderr.isatty():
            self._thread = threading.Thread(target=self._run, daemon=True)
            self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._stop.set()
        if self._thread:
            self._thread.join()

    def start(self, doing: str) -> None:
        self.doing, self._since = doing, time.monotonic()

    def clear(self) -> None:
        """Make room for output."""
        if self._shown:
            erase_line()
            self._shown = False

    def _run(self) -> None:
        while not self._stop.wait(0.5):
            elapsed = time.monotonic() - self._since
            if self.doing and elapsed > PATIENCE:
                self._shown = True
                erase_line()
                sys.stderr.write(f"{self.done} done, now {self.doing}: {elapsed:.0f} s")
                sys.stderr.flush()
        self.clear()
