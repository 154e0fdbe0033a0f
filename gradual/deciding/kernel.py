"""Kernels: functions in plain Python on lists, and the same lines compiled by numba on arrays.

Plain needs no compiler and no delay: for a few thousand operations. `compiled` makes the fast ones. What was
compiled is kept on disk under a hash of every kernel source, so that a change in one file never meets what was
compiled with another.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

COMPILED_FROM = 3000
"""Operations from which loading numba pays."""


def kernel(function: Function) -> Function:
    """Marks a function that `compiled` takes. Plain, it is what it is."""
    function.__kernel__ = True  # type: ignore[attr-defined]
    return function


def compiled(entries: tuple[str, ...], modules: tuple[ModuleType, ...], examples: dict[str, Any]) -> Any:
    """The kernels of some modules compiled together, as attributes.

    entries   those that Python calls: they are kept on disk, and hold all that they call
    examples  for each annotation of a parameter a value of that type. Every other parameter is a number of 64 bits,
              whatever it is called with: so each function is compiled once.
    """
    numba: Any = import_module("numba")
    namespace: dict[str, Any] = {"__name__": modules[-1].__name__}
    for module in modules:
        namespace.update({name: value for name, value in vars(module).items() if not name.startswith("__")})
    inside = {name: value for name, value in namespace.items() if hasattr(value, "__kernel__")}
    for name, function in inside.items():
        namespace[name] = numba.njit(_nrt=False, nogil=True, error_model="numpy", forceinline=name not in entries,
                               no_cpython_wrapper=name not in entries, no_cfunc_wrapper=True)(
            FunctionType(function.__code__, namespace, name))
    inner = {name: function for name, function in inside.items() if name not in entries}
    done: set[str] = set()

    def compile_inner(entry: str) -> None:
        """Each function that the entry needs, after those that it calls itself, for the types that annotations say."""
        with _as_parts():
            for called in inside[entry].__code__.co_names:
                _compile(called, inner, namespace, types(), done)

    @cache
    def types() -> dict[str, Any]:
        return {name: numba.typeof(example) for name, example in examples.items()}

    for name in entries:
        _keep(namespace[name], _stamp(*modules), partial(compile_inner, name))
    return SimpleNamespace(**{name: namespace[name] for name in entries})


def _compile(name: str, functions: dict[str, Any], namespace: dict[str, Any], types: dict[str, Any],
             done: set[str]) -> None:
    if name not in functions or name in done:
        return
    done.add(name)
    for called in functions[name].__code__.co_names:
        _compile(called, functions, namespace, types, done)
    hints = [of for parameter, of in functions[name].__annotations__.items() if parameter != "return"]
    number = import_module("numba").int64
    namespace[name].compile(tuple(types.get(of, number) for of in hints))
    namespace[name].disable_compile()


@contextmanager
def _as_parts() -> Iterator[None]:
    """What is compiled meanwhile is only ever a part of something else: no machine code is made of it, and it is
    optimised where it ends up. That halves the time; with a numba that is built otherwise nothing changes."""
    def leave(*_: Any) -> None:
        pass

    def finish(library: Any) -> None:
        library._finalize_dynamic_globals()
        library._finalized = True

    library = import_module("numba.core.codegen").CPUCodeLibrary
    context = import_module("numba.core.cpu").CPUContext
    steps = [(library, "_optimize_final_module", leave), (library, "_finalize_final_module", finish),
             (context, "get_executable", lambda *_: [].append)]  # a built-in function of its own: never called
    kept = [(owner, name, vars(owner).get(name)) for owner, name, _ in steps]
    known = all(method is not None for _, _, method in kept)
    for owner, name, method in steps if known else ():
        setattr(owner, name, method)
    try:
        yield
    finally:
        for owner, name, former in kept if known else ():
            setattr(owner, name, former)


def _stamp(*modules: ModuleType) -> str:
    sources = b"".join(Path(file).read_bytes() for file in (__file__, *(str(module.__file__) for module in modules)))
    return hashlib.sha256(sources).hexdigest()[:16]


def _keep(dispatcher: Any, stamp: str, compile_inner: Callable[[], None]) -> None:
    """Have a compiled function kept on disk, if there is a folder for it. What it calls is compiled when it is not
    found there."""
    base: Any = import_module("numba.core.caching").FunctionCache
    folder = cache_folder() or ""
    if not folder:
        compile_inner()
        return

    class Locator:
        """Where numba keeps a function, and what makes that stale."""

        @classmethod
        def from_function(cls, py_func: Any, py_file: str) -> Any:
            return cls()

        def ensure_cache_path(self) -> None:
            os.makedirs(folder, exist_ok=True)

        def get_cache_path(self) -> str:
            return folder

        def get_source_stamp(self) -> str:
            return stamp

        def get_disambiguator(self) -> str:
            return stamp

    class Kept(base):  # type: ignore[misc]
        _impl_class = type("Impl", (base._impl_class,), {"_locator_classes": [Locator]})

        def load_overload(self, signature: Any, context: Any) -> Any:
            found = super().load_overload(signature, context)
            if found is None:
                compile_inner()
            return found

    dispatcher._cache = Kept(dispatcher.py_func)


@cache
def cache_folder() -> str | None:
    """The first folder that can be written to: the user's choice, beside this file, the user's cache."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    beside = str(Path(__file__).parent / "__pycache__")
    for folder in (os.environ.get("NUMBA_CACHE_DIR"), beside, os.path.join(home, "gradual")):
        if folder:
            try:
                os.makedirs(folder, exist_ok=True)
                tempfile.TemporaryFile(dir=folder).close()
            except OSError:
                continue
            return folder
    return None


@cache
def say_when_new() -> None:
    """The first time after an installation the kernels are compiled, and that takes a while."""
    folder = cache_folder()
    if sys.stderr.isatty() and not (folder and any(Path(folder).glob("kernels.decide-*.nbi"))):
        sys.stderr.write("gradual: compiling its kernels, once and for all: a few seconds\n")
