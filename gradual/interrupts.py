"""Ctrl-C that is not lost: a KeyboardInterrupt inside a library's callback or destructor is swallowed there."""

from __future__ import annotations

import signal
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


def _hear(_number: int, _frame: FrameType | None) -> None:
    global _heard
    _heard = True
    raise KeyboardInterrupt
