"""A command in a process of its own, with its wall time, CPU time and peak memory."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Container, Sequence
from typing import NamedTuple

PEAKS_PER_MB = 2**20 if sys.platform == "darwin" else 2**10
"""ru_maxrss is in bytes on macOS, in KiB elsewhere."""


_running: set[int] = set()


class Limits(NamedTuple):
    seconds: float
    gibibytes: float


class Failed(Exception):
    """Why there is no measurement, in a few words."""


class Late(Failed):
    """It took longer than it may."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"> {seconds:g} s")


class Done(NamedTuple):
    output: str
    seconds: float
    cpu: float
    peak_mb: float


def run(command: Sequence[str], limits: Limits, given: str = "", environment: dict[str, str] | None = None,
        fine: Container[int] = (0,)) -> Done:
    """Output goes to a file, as a pipe would slow the process down. Exit statuses that are not fine are failures.

    A peak begins with the size of who started the process, so this one has to stay small: it imports nothing heavy.
    """
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        stdin.write(given.encode())
        stdin.seek(0)
        started = time.perf_counter()
        process = subprocess.Popen(_limited(command, limits), stdin=stdin, stdout=stdout, stderr=stderr,
                                   start_new_session=True, env={**os.environ, **(environment or {})})
        status, usage, late = _wait(process, limits.seconds)
        seconds = time.perf_counter() - started
        stdout.seek(0)
        stderr.seek(0)
        if late:
            raise Late(limits.seconds)
        if os.waitstatus_to_exitcode(status) not in fine:
            said = stderr.read().decode(errors="replace").strip().splitlines()
            raise Failed(_reason(said[-1] if said else f"exit status {os.waitstatus_to_exitcode(status)}"))
        return Done(stdout.read().decode(errors="replace"), seconds, usage.ru_utime + usage.ru_stime,
                    usage.ru_maxrss / PEAKS_PER_MB)


def _wait(process: subprocess.Popen[bytes], limit: float) -> tuple[int, resource.struct_rusage, bool]:
    """Status, use of resources, and whether the process had to be ended."""
    late = threading.Event()

    def end() -> None:
        late.set()
        os.killpg(process.pid, signal.SIGKILL)

    alarm = threading.Timer(limit, end)
    alarm.start()
    _running.add(process.pid)
    try:
        _, status, usage = os.wait4(process.pid, 0)
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    finally:
        alarm.cancel()
        _running.discard(process.pid)
    process.returncode = status  # it has been waited for, which subprocess cannot know
    return status, usage, late.is_set()


def end_all() -> None:
    """Those that other threads wait for."""
    for process in list(_running):
        os.killpg(process, signal.SIGKILL)


def _limited(command: Sequence[str], limits: Limits) -> list[str]:
    """By a shell that becomes the command: nothing may be done between fork and exec where there are threads."""
    return ["sh", "-c", 'ulimit -v "$0" && exec "$@"', str(int(limits.gibibytes * 2**20)), *command]


def _reason(text: str) -> str:
    if "bad_alloc" in text or "MemoryError" in text or "Unable to allocate" in text:
        return "memory"
    return text[:60].replace("|", "/")
