"""numba: whether it can be used here, and what it compiled, kept on disk for the next time.

What is kept is read from the first folder that holds it whole, so that an installation nobody may write to can bring it
along; and written to the first that takes it. Where none does, a full disk or a container without a home, it is
compiled every time, and that is said once.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from multiprocessing import parent_process
from pathlib import Path
from typing import Any

from gradual.deadline import Deadline

COMPILING = "its kernels were still being compiled, which `gradual warm-up` does once and for all"
"""Why the time was over."""


@cache
def can_compile() -> bool:
    """Without numba everything is done by plain Python, which is said once."""
    try:
        import_module("numba")
    except Exception as error:  # an installation can be broken in many ways
        _say(f"numba cannot be used ({type(error).__name__}: {error}), so large traces take long")
        return False
    return True


_first: dict[str, threading.Thread] = {}


def in_time(name: str, call: Callable[[], Any], deadline: Deadline) -> Any:
    """What `call` gives, which compiles the first time: that cannot be interrupted, so it goes on by itself when
    the deadline passes (TimeoutError), and is there the next time."""
    if deadline.seconds_left is None:
        return call()
    thread = _first.get(name)
    if thread is None:
        thread = _first[name] = threading.Thread(target=suppressed, args=(call,))
        thread.start()
    try:
        thread.join(deadline.seconds_left)
        deadline.check()
    except TimeoutError:
        raise TimeoutError(COMPILING) from None
    return call()


def suppressed(call: Callable[[], Any]) -> None:
    """Whoever waits calls again, and meets the failure."""
    with suppress(Exception):
        call()


def compiling() -> bool:
    """Is something still being compiled that nobody waits for?"""
    return any(thread.is_alive() for thread in _first.values())


class Kept:
    """In the place of numba's cache of a function. What the function calls is compiled when it is not found."""

    def __init__(self, function: Any, stamp: str, compile_parts: Callable[[], None] = lambda: None) -> None:
        self._function = function
        self._stamp = stamp
        self._compile_parts = compile_parts
        self.cache_path = next(folders(), "")

    def load_overload(self, signature: Any, context: Any) -> Any:
        context.refresh()
        for folder in folders():
            files = self._in(folder)
            try:
                found = files.load_overload(signature, context)
            except Exception:  # damaged, in one of many ways: it is as good as missing, and made anew
                _remove(files)
                continue
            if found is not None:
                return found
        self._compile_parts()
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        for folder in folders():
            with suppress(OSError):
                os.makedirs(folder, exist_ok=True)
                self._in(folder).save_overload(signature, compiled)
                return
        say_not_kept()

    def _in(self, folder: str) -> Any:
        return _function_cache(folder, self._stamp)(self._function)


def source_stamp(*files: str) -> str:
    """Of all sources that a compiled function comes from: with another one it is stale."""
    return hashlib.sha256(b"".join(Path(file).read_bytes() for file in files)).hexdigest()[:16]


def _function_cache(folder: str, stamp: str) -> Any:
    """numba's cache, for one folder."""
    base: Any = import_module("numba.core.caching").FunctionCache

    class Locator:
        """Where numba keeps a function, and what makes that stale."""

        @classmethod
        def from_function(cls, py_func: Any, py_file: str) -> Any:
            return cls()

        def ensure_cache_path(self) -> None:
            pass

        def get_cache_path(self) -> str:
            return folder

        def get_source_stamp(self) -> str:
            return stamp

        def get_disambiguator(self) -> str:
            return stamp

    implementation = type("Impl", (base._impl_class,), {"_locator_classes": [Locator]})
    return type("InFolder", (base,), {"_impl_class": implementation})


def _remove(files: Any) -> None:
    index = Path(files._cache_file._index_path)
    for file in (index, *index.parent.glob(f"{index.stem}.*.nbc")):
        with suppress(OSError):
            file.unlink()


_only: list[str] = []


def keep_only_in(folder: str) -> None:
    """From now on: what is elsewhere is not for those who come after."""
    _only[:] = [folder]


def folders() -> Iterator[str]:
    """Where it may be, the best place first: the user's choice, beside this file, the user's cache, a folder for
    what is temporary."""
    if _only:
        yield from _only
        return
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        yield chosen
    yield str(Path(__file__).parent / "__pycache__")
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    yield os.path.join(home, "gradual")
    temporary = _own_temporary()
    if temporary is not None:
        yield temporary


@cache
def _own_temporary() -> str | None:
    """A folder among the temporary ones which nobody else can have put anything into: what is kept is trusted."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    try:
        folder = os.path.join(tempfile.gettempdir(), f"gradual-{user}")
        with suppress(FileExistsError):
            os.mkdir(folder, 0o700)
        found = os.lstat(folder)
    except OSError:
        return None
    return folder if stat.S_ISDIR(found.st_mode) and found.st_uid == user and not found.st_mode & 0o077 else None


def writable_folder() -> str | None:
    """The first that can be written to."""
    for folder in folders():
        try:
            os.makedirs(folder, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
        except OSError:
            continue
        return folder
    return None


@cache
def say_not_kept() -> None:
    """Once, whatever is compiled."""
    _say("what is compiled cannot be kept, so it is compiled every time: no folder takes it of "
         f"{', '.join(folders())}. Set NUMBA_CACHE_DIR to one that does")


def _say(what: str) -> None:
    if parent_process() is None:  # of many workers none needs to say it
        sys.stderr.write(f"gradual: {what}\n")


@cache
def say_when_new() -> None:
    """The first time after an installation the kernels are compiled, and that takes a while."""
    if sys.stderr.isatty() and not any(any(Path(folder).glob("*.decide-*.nbi")) for folder in folders()):
        sys.stderr.write("gradual: compiling its kernels, once and for all: a few seconds\n")
