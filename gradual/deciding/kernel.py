"""Kernels: functions in plain Python on lists, and the same lines compiled by numba on arrays.

Plain needs no compiler and no delay: for a few thousand operations. `compiled` makes the fast ones. What was
compiled is kept on disk under a hash of every kernel source, so that a change in one file never meets what was
compiled with another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sized
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any, TypeVar

from gradual.compiling import Kept, can_compile, source_stamp

Function = TypeVar("Function", bound=Callable[..., Any])

COMPILED_FROM = 3000
"""Operations from which loading numba pays."""


def pays(history: Sized) -> bool:
    """Is it large enough for the compiled ones, where there are such?"""
    return len(history) >= COMPILED_FROM and can_compile()


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
    compilation = _Compilation(entries, modules, examples)
    stamp = source_stamp(__file__, *(str(module.__file__) for module in modules))
    for name, dispatcher in compilation.entries.items():
        dispatcher._cache = Kept(dispatcher.py_func, stamp, partial(compilation.compile_parts, name))
    return SimpleNamespace(**compilation.entries)


class _Compilation:
    """Dispatchers for the kernels of some modules, each seeing what its own module sees."""

    def __init__(self, entries: tuple[str, ...], modules: tuple[ModuleType, ...], examples: dict[str, Any]) -> None:
        self._numba: Any = import_module("numba")
        self._examples = examples
        self._plain = {value.__name__: value for module in modules for value in vars(module).values()
                       if hasattr(value, "__kernel__")}
        namespaces = {module.__name__: dict(vars(module)) for module in modules}
        self._dispatchers = {name: self._dispatcher(function, namespaces[function.__module__], name in entries)
                             for name, function in self._plain.items()}
        for namespace in namespaces.values():
            namespace.update({name: self._dispatchers[name] for name in self._dispatchers.keys() & namespace.keys()})
        self.entries = {name: self._dispatchers[name] for name in entries}
        self._done = set(entries)

    def _dispatcher(self, function: Any, namespace: dict[str, Any], entry: bool) -> Any:
        compiler = self._numba.njit(_nrt=False, nogil=True, error_model="numpy", forceinline=not entry,
                                    no_cpython_wrapper=not entry, no_cfunc_wrapper=True)
        return compiler(FunctionType(function.__code__, namespace, function.__name__))

    def compile_parts(self, entry: str) -> None:
        """Each function that an entry needs, after those that it calls itself, for the types that annotations say."""
        types = {name: self._numba.typeof(example) for name, example in self._examples.items()}
        with _as_parts():
            self._compile_called(entry, types)

    def _compile_called(self, caller: str, types: dict[str, Any]) -> None:
        for name in self._plain[caller].__code__.co_names:
            if name in self._plain and name not in self._done:
                self._done.add(name)
                self._compile_called(name, types)
                hints = [of for parameter, of in self._plain[name].__annotations__.items() if parameter != "return"]
                self._dispatchers[name].compile(tuple(types.get(of, self._numba.int64) for of in hints))
                self._dispatchers[name].disable_compile()
                for overload in self._dispatchers[name].overloads.values():
                    overload.library._ensure_finalized()


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
    steps: list[tuple[Any, str, Any]] = [
        (library, "_optimize_final_module", leave), (library, "_finalize_final_module", finish),
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
