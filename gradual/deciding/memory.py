"""A limit on memory, for a process that decides histories."""

from __future__ import annotations

import resource

from gradual.deadline import NEVER
from gradual.deciding import many


def limit(more: int) -> None:
    """What this process holds already, with all it needs loaded and compiled, and so many bytes more."""
    many.prepare(NEVER)
    with open("/proc/self/statm", encoding="ascii") as stream:
        held = int(stream.read().split()[5]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_DATA, (held + more, held + more))
