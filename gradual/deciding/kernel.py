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
from collections.abc import Callable
from functools import cache
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

    @cache
    def compile_inner() -> None:
        _compile_in_order(inner, namespace, examples)

    for name in entries:
        _keep(namespace[name], _stamp(*modules), compile_inner)
    return SimpleNamespace(**{name: namespace[name] for name in entries})


def _compile_in_order(functions: dict[str, Any], namespace: dict[str, Any], examples: dict[str, Any]) -> None:
    """Each function after those that it calls, for the types that its annotations say."""
    numba: Any = import_module("numba")
    types = {name: numba.typeof(example) for name, example in examples.items()}
    done: set[str] = set()

    def compile_one(name: str) -> None:
        if name in done:
            return
        done.add(name)
        for called in functions[name].__code__.co_names:
            if called in functions:
                compile_one(called)
        hints = {key: of for key, of in functions[name].__annotations__.items() if key != "return"}
        namespace[name].compile(tuple(types.get(of, numba.int64) for of in hints.values()))
        namespace[name].disable_compile()

    for name in functions:
        compile_one(name)


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
