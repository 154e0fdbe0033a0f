"""`kernels.py` once more, compiled by numba and cached on disk. Importing this imports numba."""

from __future__ import annotations

from pathlib import Path

# Under this module's name `kernel` means "compile": kernels.py asks for `__name__`.
_source = Path(__file__).with_name("kernels.py")
exec(compile(_source.read_text(encoding="utf-8"), str(_source), "exec"), globals())
