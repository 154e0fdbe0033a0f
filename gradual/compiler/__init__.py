"""Kernels: functions in plain Python on rows of named fields, and the same lines compiled on records.

Plain needs no compiler and no delay: for some hundred operations. `compiled` makes the fast ones, in a second or
two; what was compiled is kept on disk under a digest of every source, so that a change in one file never meets what was
compiled with another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from gradual.compiler.kept import say

Function = TypeVar("Function", bound=Callable[..., Any])

COMPILED_FROM = 500
"""Operations from which compiled kernels pay: plain ones take as long for them as loading the others does."""
_seen = 0


def pays(operations: int) -> bool:
    """Is it time for compiled kernels? Counted are the operations of all histories so far."""
    global _seen
    _seen += operations
    return _seen >= COMPILED_FROM and can_compile()


def paid(operations: int) -> bool:
    """Is it, for what looks at operations that were counted already?"""
    return max(_seen, operations) >= COMPILED_FROM and can_compile()


@cache
def can_compile() -> bool:
    """Without LLVM everything is done by plain Python, which is said once."""
    try:
        import_module("llvmlite.binding")
    except Exception as error:  # an installation can be broken in many ways
        say(f"llvmlite cannot be used ({type(error).__name__}: {error}), so large traces take long")
        return False
    return True


def kernel(function: Function) -> Function:
    """Marks a function that `compiled` takes. Plain, it is what it is."""
    function.__kernel__ = True  # type: ignore[attr-defined]
    return function


def compiled(entry: str, modules: tuple[ModuleType, ...], examples: Mapping[str, Any]) -> Callable[..., int]:
    """A kernel, with all that it calls from some modules, compiled. `examples` are contexts with tables as it will get
    them, by the names that annotations give them."""
    from gradual.compiler import native, translation

    sources = [Path(str(file)) for file in (native.__file__, translation.__file__,
                                            *(module.__file__ for module in modules))]
    records = [f"{name} {table.dtype.descr}" for example in examples.values() for name, table in
               zip(example._fields, example, strict=True)]
    return native.function(
        entry, b"".join(path.read_bytes() for path in sources) + "".join(records).encode(),
        lambda: translation.Program(modules, examples).text(entry), len(_parameters(entry, modules)))


def _parameters(entry: str, modules: tuple[ModuleType, ...]) -> list[str]:
    function = next(vars(module)[entry] for module in modules if entry in vars(module))
    return [name for name in function.__annotations__ if name != "return"]


__all__ = ["COMPILED_FROM", "can_compile", "compiled", "kernel", "paid", "pays"]
