"""Compiling against a time limit."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from gradual.deadline import Deadline

COMPILING = "its kernels were still being compiled, which `gradual warm-up` does once and for all"
"""Why the time was over."""

Result = TypeVar("Result")
_first: dict[Any, threading.Thread] = {}


def in_time(load: Callable[[], Result], deadline: Deadline) -> Result:
    """What `load` gives, which compiles the first time: that cannot be interrupted, so it goes on by itself when the
    deadline passes (TimeoutError), and is there the next time."""
    if deadline.seconds_left is None:
        return load()
    if load not in _first:
        _first[load] = threading.Thread(target=_suppressed, args=(load,))
        _first[load].start()
    try:
        _first[load].join(deadline.seconds_left)
        deadline.check()
    except TimeoutError:
        raise TimeoutError(COMPILING) from None
    return load()


def _suppressed(load: Callable[[], Any]) -> None:
    """Whoever waits calls again, and meets the failure."""
    with suppress(Exception):
        load()


def compiling() -> bool:
    """Is something still being compiled that nobody waits for?"""
    return any(thread.is_alive() for thread in _first.values())
