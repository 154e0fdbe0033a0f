"""Trace formats. One file per format; each file is one adapter.

An adapter is a module of this package with

    SUMMARY      one line for `gradual formats`
    EXTENSIONS   the file endings it goes by, without .gz
    EXAMPLE      a small trace, as text
    recognise(head: bytes) -> bool            is this the beginning of such a trace?
    read(stream, file, options) -> Iterator[History | InputError]
    PIECES       only where some lines alone can be read as a part of a history: `Pieces` says how
    write(histories, stream, *, lines=False)  only where the format can be written; with `lines`, it also tells
                                              where each operation stood in the trace it comes from

`read` gets a binary stream, already decompressed, and yields each history as soon as it is
complete. What cannot be read it yields as an InputError in the history's place and goes on with
the next one where the format lets it. Workers of a batch share a large file: for a history that is
not in `options.share` it may yield `Skipped`, where that saves work. The module's name is the
format's name. Adapters import what is heavy inside their functions.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from functools import cache
from typing import BinaryIO, Protocol, cast

from gradual.history import History, InputError, Options

from ._binary import looks_like
from ._table import table
from ._text import Pieces, stem
from ._valueless import KINDS as VALUELESS
from ._valueless import refusal

__all__ = ["VALUELESS", "Adapter", "Pieces", "WritingAdapter", "adapter", "by_extension", "names", "pieces",
           "recognise", "stem", "table", "writer"]


class Adapter(Protocol):
    """What a module of this package offers."""

    SUMMARY: str
    EXTENSIONS: tuple[str, ...]
    EXAMPLE: str

    @staticmethod
    def recognise(head: bytes) -> bool: ...

    @staticmethod
    def read(stream: BinaryIO, file: str, options: Options) -> Iterator[History | InputError]: ...


class WritingAdapter(Adapter, Protocol):
    """An adapter whose format can be written as well."""

    @staticmethod
    def write(histories: Iterable[History], stream: BinaryIO, *, lines: bool = False) -> None: ...


@cache
def names() -> tuple[str, ...]:
    """The formats there are: one per module of this package that does not start with `_`."""
    return tuple(sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_")))


@cache
def adapter(name: str) -> Adapter:
    """The adapter called `name`. Raises ValueError when there is none."""
    if name not in names():
        raise ValueError(f"no format called {name!r}; there are {', '.join(names())}")
    return cast(Adapter, importlib.import_module(f"{__name__}.{name}"))


def pieces(name: str) -> Pieces | None:
    """How pieces of such a trace are read, where they can be."""
    return cast("Pieces | None", getattr(adapter(name), "PIECES", None))


def writer(name: str) -> WritingAdapter:
    """The adapter called `name`, if it writes. Raises ValueError otherwise."""
    found = adapter(name)
    if not hasattr(found, "write"):
        can = ", ".join(n for n in names() if hasattr(adapter(n), "write"))
        raise ValueError(f"the format {name!r} can be read but not written; these can be written: {can}")
    return cast(WritingAdapter, found)


def by_extension(file: str) -> str | None:
    """The format a file's name points to."""
    lower = file.lower().removesuffix(".gz")
    return next((name for ending, name in _endings() if lower.endswith(ending)), None)


@cache
def _endings() -> tuple[tuple[str, str], ...]:
    return tuple((f".{extension}", name) for name in names() for extension in adapter(name).EXTENSIONS)


def recognise(head: bytes, file: str = "-") -> str:
    """The format of a trace, from its first bytes, else from its name. Raises InputError."""
    for name in names():
        if adapter(name).recognise(head):
            return name
    if why := refusal(head):
        raise InputError(why, file)
    if (kind := looks_like(head)) is not None:
        raise InputError(f"this is no trace and no text; it looks like {kind}", file)
    if (name_by_file := by_extension(file)) is not None:
        return name_by_file
    raise InputError("this is no trace format gradual knows; `gradual formats` lists them, --format chooses "
                     "one", file)
