"""Memory that reading took and deciding can have."""

from __future__ import annotations

import sys
from contextlib import suppress

LARGE = 200_000
"""Operations of a history after which it pays to look."""


def give_back() -> None:
    """What is free goes back to the system. Allocators keep it for later, in pieces that large tables do not fit in."""
    if "pyarrow" in sys.modules:
        import pyarrow as pa

        pa.default_memory_pool().release_unused()
    with suppress(OSError, AttributeError):  # glibc has such a function
        import ctypes

        ctypes.CDLL(None).malloc_trim(0)
