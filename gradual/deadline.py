"""A time limit that is passed along and asked about."""

from __future__ import annotations

import time


class Deadline:
    """`check` raises TimeoutError once `seconds` have passed; with None it never does."""

    def __init__(self, seconds: float | None = None) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds

    @property
    def seconds_left(self) -> float | None:
        return None if self._end is None else max(0.0, self._end - time.monotonic())

    def check(self) -> None:
        if self._end is not None and time.monotonic() >= self._end:
            raise TimeoutError


NEVER = Deadline(None)
