"""Ctrl-C that is not lost: a KeyboardInterrupt inside a library's callback or destructor is swallowed there."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_heard = False


def listen() -> None:
    """From now on every Ctrl-C is remembered, besides being raised as always; not where it is ignored (`nohup`)."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _hear)


def heed() -> None:
    """Raise again what was raised and swallowed. Long loops ask."""
    if _heard:
        raise KeyboardInterrupt


@contextmanager
def held_back() -> Iterator[None]:
    """A process that is started now never gets it, from its first moment on; this one gets it afterwards."""
    noted: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, _: noted.append(number))  # another thread may be given it
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # of this thread, and so of the new process
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        signal.signal(signal.SIGINT, handler)
        if noted:
            signal.raise_signal(signal.SIGINT)


def _hear(_number: int, _frame: FrameType | None) -> None:
    global _heard
    _heard = True
    raise KeyboardInterrupt
