"""`kernels.py` once more, compiled by numba and cached on disk. Importing this imports numba."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

# Under this module's name `kernel` means "compile": kernels.py asks for `__name__`.
_source = Path(__file__).with_name("kernels.py")
exec(compile(_source.read_text(encoding="utf-8"), str(_source), "exec"), globals())


@cache
def say_when_new() -> None:
    """The first time after an installation the kernels are compiled, and that takes a while."""
    if sys.stderr.isatty() and not any(_source.parent.glob("__pycache__/*.saturate-*.nbi")):
        sys.stderr.write("gradual: compiling its kernels, once and for all: about half a minute\n")
