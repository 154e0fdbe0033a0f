"""A command in a process of its own, with its wall time and its peak memory."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from typing import NamedTuple

PEAKS_PER_MB = 2**20 if sys.platform == "darwin" else 2**10
"""ru_maxrss is in bytes on macOS, in KiB elsewhere."""


class Limits(NamedTuple):
    seconds: float
    gibibytes: float


class Failed(Exception):
    """Why there is no measurement, in a few words."""


class Done(NamedTuple):
    output: str
    seconds: float
    peak_mb: float


def run(command: Sequence[str], limits: Limits, given: str = "", environment: dict[str, str] | None = None) -> Done:
    """Output goes to a file, as a pipe would slow the process down.

    A peak begins with the size of who started the process, so this one has to stay small: it imports nothing heavy.
    """
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        stdin.write(given.encode())
        stdin.seek(0)
        started = time.perf_counter()
        process = subprocess.Popen(command, stdin=stdin, stdout=stdout, stderr=stderr, start_new_session=True,
                                   env={**os.environ, **(environment or {})},
                                   preexec_fn=lambda: _limit_memory(limits.gibibytes))
        status, usage, late = _wait(process, limits.seconds)
        seconds = time.perf_counter() - started
        stdout.seek(0)
        stderr.seek(0)
        if late:
            raise Failed(f"> {limits.seconds:g} s")
        if status:
            said = stderr.read().decode(errors="replace").strip().splitlines()
            raise Failed(_reason(said[-1] if said else f"exit status {os.waitstatus_to_exitcode(status)}"))
        return Done(stdout.read().decode(errors="replace"), seconds, usage.ru_maxrss / PEAKS_PER_MB)


def _wait(process: subprocess.Popen[bytes], limit: float) -> tuple[int, resource.struct_rusage, bool]:
    """Status, use of resources, and whether the process had to be ended."""
    late = threading.Event()

    def end() -> None:
        late.set()
        os.killpg(process.pid, signal.SIGKILL)

    alarm = threading.Timer(limit, end)
    alarm.start()
    try:
        _, status, usage = os.wait4(process.pid, 0)
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    finally:
        alarm.cancel()
    process.returncode = status  # it has been waited for, which subprocess cannot know
    return status, usage, late.is_set()


def _limit_memory(gibibytes: float) -> None:
    size = int(gibibytes * 2**30)
    resource.setrlimit(resource.RLIMIT_AS, (size, size))


def _reason(text: str) -> str:
    if "bad_alloc" in text or "MemoryError" in text or "Unable to allocate" in text:
        return "memory"
    return text[:60].replace("|", "/")
