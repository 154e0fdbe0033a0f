"""Compiling against a time limit: LLVM cannot be interrupted, so it works in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from contextvars import ContextVar
from typing import TypeVar

from gradual.deadline import NEVER, Deadline, OutOfTime

COMPILING = "its kernels were still being compiled, which `gradual warm-up` does once and for all"
"""Why the time was over."""

Result = TypeVar("Result")
_deadline: ContextVar[Deadline] = ContextVar("deadline", default=NEVER)


def in_time(load: Callable[[], Result], deadline: Deadline) -> Result:
    """What `load` gives, which compiles the first time. OutOfTime where that takes longer: it goes on by itself,
    and what it makes is there the next time."""
    before = _deadline.set(deadline)
    try:
        return load()
    finally:
        _deadline.reset(before)


def make_in_time(name: str, stamp: str, text: str, make: Callable[[str], bytes]) -> bytes:
    """Machine code, made here where there is no limit. Elsewhere it is kept as well, whoever waits for it."""
    seconds = _deadline.get().seconds_left
    if seconds is None:
        return make(text)
    command = [sys.executable, "-m", "gradual.compiler", name, stamp]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               start_new_session=True)
    try:
        code, _ = process.communicate(text.encode(), timeout=seconds)
    except (subprocess.TimeoutExpired, OutOfTime):  # by this clock, or by the alarm of whoever called
        raise OutOfTime(COMPILING) from None
    return make(text) if process.returncode else code
