"""Machine code, kept on disk for the next time.

It is read from the first folder that holds it whole, so that an installation nobody may write to can bring it along,
and written to the first that takes it. Where none does, a full disk or a container without a home, it is compiled every
time, and that is said once. A file begins with a digest of the rest: cut short, it is as good as missing.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

DIGEST = 32

kept_in: dict[str, Path] = {}
"""Where the machine code of each kernel in use is kept; those that are not here are compiled at every start."""


def kept(name: str, stamp: str, make: Callable[[], bytes]) -> bytes:
    """What is kept of a kernel under a stamp of all that it comes from; made when it is not there."""
    from hashlib import sha256  # which loads a library of its own

    file = f"{name}-{stamp}.o"
    for folder in folders():
        with suppress(OSError):
            content = (folder / file).read_bytes()
            if sha256(content[DIGEST:]).digest() == content[:DIGEST]:
                kept_in[name] = folder
                return content[DIGEST:]
    code = make()
    for folder in folders():
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            _write(folder / file, sha256(code).digest() + code)
            kept_in[name] = folder
            return code
    _say_not_kept()
    return code


def _write(path: Path, content: bytes) -> None:
    """All of it or nothing: others may be reading."""
    new = path.with_suffix(f".{os.getpid()}")
    try:
        new.write_bytes(content)
        new.replace(path)
    except OSError:
        with suppress(OSError):
            new.unlink()
        raise


def folders() -> Iterator[Path]:
    """The best place first: the user's choice, or else beside this file, or the user's cache; then a temporary one."""
    if chosen := os.environ.get("GRADUAL_CACHE_DIR"):
        yield Path(chosen)
    else:
        yield Path(__file__).parent / "__pycache__"
        yield Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "gradual"
    temporary = _own_temporary()
    if temporary is not None:
        yield temporary


def _own_temporary() -> Path | None:
    """A folder among the temporary ones which nobody else can have put anything into: what is kept is trusted."""
    import tempfile

    user = os.getuid() if hasattr(os, "getuid") else 0
    try:
        folder = Path(tempfile.gettempdir(), f"gradual-{user}")
        with suppress(FileExistsError):
            folder.mkdir(0o700)
        found = folder.lstat()
    except OSError:
        return None
    return folder if stat.S_ISDIR(found.st_mode) and found.st_uid == user and not found.st_mode & 0o077 else None


@cache
def _say_not_kept() -> None:
    say("what is compiled cannot be kept, so it is compiled every time: no folder takes it of "
        f"{', '.join(map(str, folders()))}. Set GRADUAL_CACHE_DIR to one that does")


def say(what: str) -> None:
    from multiprocessing import parent_process

    if parent_process() is None:  # of many workers none needs to say it
        sys.stderr.write(f"gradual: {what}\n")
