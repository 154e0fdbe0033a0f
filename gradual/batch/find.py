"""Which files a batch checks: files, folders and patterns become a list, each file once."""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from gradual import adapters
from gradual.batch import MARKER
from gradual.files import format_of, is_text
from gradual.history import reason


@dataclass(frozen=True)
class Trace:
    """A file to check, or what stands in the way of one."""

    path: str
    size: int | None = None
    modified: int | None = None
    """Microseconds since 1970."""
    error: str = ""
    """Why it cannot be read, where that is known already."""
    parts: tuple[str, ...] = ()
    """Of a folder whose traces are one history: those."""

    @property
    def source(self) -> str:
        """Its name as text: bytes that are not UTF-8 are spelled out."""
        return printable(self.path)


def printable(path: str) -> str:
    return os.fsencode(path).decode("utf-8", "backslashreplace")


@dataclass
class Search:
    """What was found, in the order of the arguments and by name within a folder."""

    traces: list[Trace]
    left_alone: list[str]
    """Files in folders that are no traces, as far as one can see."""


def find(paths: Iterable[str], format: str | None, without: Path | None = None) -> Search:
    """The traces that `paths` stand for, but for a folder. With a `format`, every file in a folder counts as one."""
    search = Search([], [])
    seen: dict[object, int | None] = {}
    """Where among the traces each file stands, None for what is none."""
    folders: set[object] = set() if without is None else {_identity(os.stat(without))}
    for path in paths:
        for file, error, named in _files(path, folders):
            identity, trace = _look(file, error, named)
            at = seen.get(identity)
            if at is not None:
                if os.path.islink(search.traces[at].path) and not os.path.islink(file):
                    search.traces[at] = trace  # of several names, one that is no link
            elif trace.error or named or (trace.size is not None and (format is not None or _is_trace(file))):
                seen[identity] = len(search.traces)
                search.traces.append(trace)
            elif identity not in seen:  # by this name; another one may tell more
                seen[identity] = None
                search.left_alone.append(printable(file))
    return search


def by_folder(traces: Iterable[Trace]) -> list[Trace]:
    """Each folder as one trace, made of those in it."""
    folders: dict[str, list[Trace]] = {}
    for trace in traces:
        folders.setdefault(os.path.dirname(trace.path) or ".", []).append(trace)
    return [Trace(folder, sum(one.size or 0 for one in inside), max(one.modified or 0 for one in inside),
                  next((f"{one.source}: {one.error}" for one in inside if one.error), ""),
                  tuple(one.path for one in inside))
            for folder, inside in folders.items()]


def _files(path: str, folders: set[object]) -> Iterator[tuple[str, str, bool]]:
    """Files, what is wrong with them, and whether somebody asked for this very file."""
    if os.path.isdir(path):
        yield from _walk(path, folders)
    elif not os.path.lexists(path) and (matches := sorted(glob.glob(path, recursive=True))):
        for match in matches:
            if os.path.isdir(match):
                yield from _walk(match, folders)
            else:
                yield match, "", True
    else:
        yield path, "", True


def _walk(folder: str, seen: set[object]) -> Iterator[tuple[str, str, bool]]:
    """Each folder once: links to folders are followed in the end, and may lead back."""
    unreadable: list[OSError] = []
    starts = [folder]
    for start in starts:
        for here, folders, files in os.walk(start, onerror=unreadable.append):
            for error in unreadable:
                yield str(error.filename), reason(error), False
            unreadable.clear()
            identity = _identity(os.stat(here))
            if identity in seen or MARKER in files:  # the latter are results, not traces
                folders.clear()
                continue
            seen.add(identity)
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            starts += [path for name in folders if os.path.islink(path := os.path.join(here, name))]
            for name in sorted(files):
                if not name.startswith(".") and not name.endswith(".part"):
                    yield os.path.join(here, name), "", False
    for error in unreadable:
        yield str(error.filename), reason(error), False


def _look(file: str, error: str, named: bool) -> tuple[object, Trace]:
    """The file, and what tells it from others, whatever path leads to it."""
    try:
        status = os.stat(file)
    except OSError as problem:
        return file, Trace(file, error=error or reason(problem))
    size = status.st_size if stat.S_ISREG(status.st_mode) else None
    if size is None and named:  # it may never end, and gives what it has only once
        error = error or "this is no file but a pipe or a device; `gradual check` reads those"
    return _identity(status), Trace(file, size, status.st_mtime_ns // 1000, error)


def _identity(status: os.stat_result) -> object:
    return status.st_dev, status.st_ino


def _is_trace(file: str) -> bool:
    """By its name or its content. Tables of other things are many: they need the columns of a trace."""
    format = adapters.by_extension(file)
    return format not in (None, "csv") or format_of(file, format) is not None or (format == "csv" and not is_text(file))
