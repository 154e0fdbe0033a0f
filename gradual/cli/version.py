"""What `gradual --version` says: which gradual this is, and what it decides with."""

from __future__ import annotations

import platform
import subprocess
from importlib import metadata
from pathlib import Path

from gradual import __version__

PACKAGE = Path(__file__).parents[1]
LIBRARIES = ("clingo", "python-sat", "llvmlite", "numpy", "pyarrow", "pandas")


def version() -> str:
    """
    gradual 0.1.0, commit 1a2b3c4
    Python 3.12.4, clingo 5.8.0, python-sat 1.8.dev24, …
    engines: …
    """
    commit = _commit()
    return "\n".join([
        f"gradual {__version__}" + (f", commit {commit[:12]}" if commit else ""),
        ", ".join([f"Python {platform.python_version()}", *(f"{name} {_installed(name)}" for name in LIBRARIES)]),
        f"engines: schedule (conflict-driven scheduling, {_compiled()}), datalog (clingo), enumerate, sat and direct "
        "(python-sat)"])


def _commit() -> str:
    """That was built, or that is checked out here; empty where nobody knows."""
    if (built := PACKAGE / "commit.txt").exists():
        return built.read_text().strip()
    if not (PACKAGE.parent / ".git").exists():
        return ""
    try:
        done = subprocess.run(["git", "-C", str(PACKAGE.parent), "rev-parse", "HEAD"], capture_output=True, text=True)
    except OSError:  # no git
        return ""
    return done.stdout.strip()


def _installed(library: str) -> str:
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return "missing"


def _compiled() -> str:
    try:
        from llvmlite import binding
    except Exception:  # whatever keeps it from loading, everything works without
        return "in plain Python: llvmlite cannot be loaded"
    return f"compiled by LLVM {'.'.join(map(str, binding.llvm_version_info))}"
