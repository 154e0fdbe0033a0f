"""A process that does not outlive the one it works for."""

from __future__ import annotations

import os
import threading
import time

OFTEN = 0.5
"""Seconds between looks."""


def die_with(parent: int) -> None:
    """End this process soon after its parent, however that ends: what it computes is for nobody then."""
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(OFTEN)
    os._exit(1)
