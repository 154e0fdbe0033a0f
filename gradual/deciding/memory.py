"""The memory of a process that decides histories: how much there is, and a limit."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from gradual.deadline import NEVER
from gradual.deciding import many

FREE = Path("/proc/meminfo")
OF_A_CONTAINER = Path("/sys/fs/cgroup")
LIMIT_AND_USE = (("memory.max", "memory.current"), ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"))


def free() -> int:
    """Bytes that can be had before others suffer, as far as the system says; none where it says nothing."""
    return min(_free(), default=0)


def _free() -> Iterator[int]:
    with suppress(OSError):
        said = dict(line.split(":") for line in FREE.read_text("ascii").splitlines())
        yield int(said["MemAvailable"].split()[0]) << 10
        for limit, use in LIMIT_AND_USE:
            with suppress(OSError, ValueError):  # there is none, or `max`
                yield int((OF_A_CONTAINER / limit).read_text("ascii")) - int((OF_A_CONTAINER / use).read_text("ascii"))


def limit(more: int) -> None:
    """What this process holds already, with all it needs loaded and compiled, and so many bytes more."""
    many.prepare(NEVER)
    with open("/proc/self/statm", encoding="ascii") as stream:
        held = int(stream.read().split()[5]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_DATA, (held + more, held + more))
