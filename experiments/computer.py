"""What a measurement was made on: results are worth little without it."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("gradual", "clingo", "python-sat", "llvmlite", "numpy", "pandas", "pyarrow")


def notes() -> Iterator[str]:
    yield (f"{_processor()}, {os.cpu_count()} cores, {_memory():.0f} GiB, {platform.system()}, "
           f"load {os.getloadavg()[0]:.1f}")
    yield f"Python {platform.python_version()}, " + ", ".join(f"{name} {_version(name)}" for name in PACKAGES)


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as lines:
            return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()


def _memory() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "?"
