"""A time limit: passed along and asked about, and, for what does not ask, an alarm."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType

AGAIN = 0.02
"""Seconds until the alarm is tried again, where it must not ring, or rang in a destructor or a library's callback."""

LOOK = 0.05
"""Seconds between two looks at a deadline, about."""

LONGEST = 1e8
"""Seconds, three years: longer ones mean that there is no limit, and clocks do not take them."""


class OutOfTime(Exception):
    """A time limit is over. Python's TimeoutError is an error of the system: whoever looks for those would take it for
    a file that cannot be read."""


def seconds_of(limit: float) -> float:
    """A time limit that makes sense. Raises ValueError."""
    if not limit >= 0:
        raise ValueError(f"a time limit is a number of seconds, not negative; {limit:g} is none")
    return min(limit, LONGEST)


class Deadline:
    """`check` raises OutOfTime once `seconds` have passed; with None it never does."""

    def __init__(self, seconds: float | None = None, spent: float = 0.0) -> None:
        """`spent` seconds of it are gone already."""
        self._seconds = None if seconds is None else seconds_of(seconds)
        self._end = None if self._seconds is None else time.monotonic() + self._seconds - spent

    @property
    def seconds(self) -> float | None:
        """All that there were."""
        return self._seconds

    @property
    def seconds_left(self) -> float | None:
        return None if self._end is None else max(0.0, self._end - time.monotonic())

    def check(self) -> None:
        if self._end is not None and time.monotonic() >= self._end:
            raise OutOfTime

    def grace(self) -> Deadline:
        """A little later, for what only makes sure of an answer that is there."""
        return Deadline(None if self._seconds is None else (self.seconds_left or 0.0) + 0.1 * self._seconds + 0.2)


NEVER = Deadline(None)


class Pace:
    """Steps for a loop of compiled code, which cannot be interrupted, until the next look at the deadline."""

    def __init__(self, steps: int) -> None:
        self.steps = steps
        self._since = time.monotonic()

    def look(self, deadline: Deadline, *, all_taken: bool) -> None:
        """Raises OutOfTime. The next steps are as many as take about LOOK seconds, by what these took."""
        deadline.check()
        now = time.monotonic()
        if all_taken:
            self.steps = max(1, int(self.steps * min(2.0, LOOK / max(now - self._since, 1e-6))))
        self._since = now


class _Alarm:
    """The alarm that is set. Signals belong to the process, so there is one at a time."""

    def __init__(self, seconds: float, alone: bool) -> None:
        self.alone = alone
        self.started = time.monotonic()
        self.seconds = seconds
        self.shared_by = 1

    @property
    def end(self) -> float:
        return self.started + self.seconds * self.shared_by

    def arm(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, max(self.end - time.monotonic(), 1e-6))


_alarms: list[_Alarm] = []
"""Those that are set, the innermost last."""
_UNTOUCHED = ("<frozen importlib._bootstrap>", contextmanager.__code__.co_filename, __file__)
"""Where an alarm must not ring: half a module would be there for ever, half an alarm be taken away."""


@contextmanager
def alarm(seconds: float | None, *, alone: bool = False) -> Iterator[None]:
    """Raises OutOfTime inside once the time is over, between any two steps of Python; `alone` makes alarms around
    it wait until then.

    Only in the main thread, where signals are heard, and only if nobody else uses this one: otherwise those who ask a
    Deadline are the only ones to notice. Loops in compiled code must ask in any case. No time at all is over at once.
    """
    if seconds is not None and seconds <= 0:
        raise OutOfTime
    if seconds is None or not _possible():
        yield
        return
    _alarms.append(_Alarm(min(seconds, LONGEST), alone))
    unheard = sys.unraisablehook
    try:
        if len(_alarms) == 1:
            signal.signal(signal.SIGALRM, _ring)
            sys.unraisablehook = partial(_unheard, unheard)
        _arm_next()
        yield
    finally:
        _alarms.pop()
        _arm_next()
        if not _alarms:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            sys.unraisablehook = unheard
    if _is_time():
        raise OutOfTime  # of one around it that had to wait


def share(count: int) -> None:
    """What is being done serves so many histories: together they have so many times the time."""
    if _alarms and count > 1 and threading.current_thread() is threading.main_thread():
        _alarms[-1].shared_by = count
        _arm_next()


def shared_by() -> int:
    return _alarms[-1].shared_by if _alarms else 1


def _possible() -> bool:
    return (hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
            and (bool(_alarms) or signal.getsignal(signal.SIGALRM) in (signal.SIG_DFL, _ring)))


def _heard() -> list[_Alarm]:
    return _alarms[-1:] if _alarms and _alarms[-1].alone else _alarms


def _arm_next() -> None:
    if _alarms:
        min(_heard(), key=lambda one: one.end).arm()
    else:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _ring(number: int, frame: FrameType | None) -> None:
    if not _alarms:
        return  # it rang for one that was being taken away
    while frame is not None:
        if frame.f_code.co_filename in _UNTOUCHED:
            signal.setitimer(signal.ITIMER_REAL, AGAIN)
            return
        frame = frame.f_back
    if _is_time():
        raise OutOfTime
    _arm_next()  # as above


def _is_time() -> bool:
    return any(one.end <= time.monotonic() for one in _heard())


def _unheard(told: Callable[[sys.UnraisableHookArgs], object], what: sys.UnraisableHookArgs) -> None:
    """It rang inside a library's callback or destructor, where Python swallows it: it has to ring again."""
    if isinstance(what.exc_value, OutOfTime):
        signal.setitimer(signal.ITIMER_REAL, AGAIN)
    else:
        told(what)
