"""Several traces of one run as one history: a file for each core, say."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from gradual.history.annotations import ABSENT, FULL, TORN, Column
from gradual.history.builder import Builder, More
from gradual.history.columns import FENCE, READ, WRITE, History
from gradual.history.errors import InputError
from gradual.history.options import Options
from gradual.history.reads_from import noted


def joined(name: str, file: str, parts: Sequence[History], options: Options) -> History:
    """One history of all their threads, which keeps the file that each came from. Raises InputError."""
    torn = any(part.marks is not None and bool((part.marks & TORN).any()) for part in parts)
    builder = Builder(name, file, options, tears=torn)
    came_from: dict[str, str] = {}
    for part in parts:
        builder.file = part.file
        for thread in part.threads:
            if thread in came_from:
                raise InputError(f"thread {thread} is in {came_from[thread]} too; files can be joined when each has "
                                 "threads of its own", part.file, 0, name)
            came_from[thread] = part.file
        _replay(part, builder)
    builder.file = file
    whole = builder.build()
    return replace(whole, files=tuple(came_from[thread] for thread in whole.threads))


def _replay(part: History, builder: Builder) -> None:
    """Hand everything in a history to a builder; what it is that is unusual about it will be found again."""
    said = part.initial != builder.options.initial if part.unknown is None else ~part.unknown
    for at in said.nonzero()[0]:
        builder.initial(part.locations[at], int(part.initial[at]))
    rows = zip(part.thread.tolist(), part.kind.tolist(), part.read.tolist(), part.written.tolist(), part.line.tolist(),
               part.tick.tolist(), _sizes(part), _annotated(part), strict=True)
    for operation, (thread, kind, read, written, line, tick, size, more) in enumerate(rows):
        name = part.threads[thread]
        if kind == FENCE:
            orders = FULL if part.fence is None else int(part.fence[operation])
            builder.fence(name, orders, line=line, tick=tick, **more)
            continue
        address = part.address(operation)
        if kind == READ:
            builder.read(name, address, read, line=line, tick=tick, size=size, **more)
        elif kind == WRITE:
            builder.write(name, address, written, line=line, tick=tick, size=size, **more)
        else:
            builder.rmw(name, address, read, written, line=line, tick=tick, size=size, **more)
    for at in (part.final_line >= 0).nonzero()[0]:
        builder.final(part.locations[at], int(part.final_value[at]))
    for note in {*part.notes} - {*noted(replace(part, notes=())).notes}:
        builder.note(f"{os.path.basename(part.file)}: {note}")


def _sizes(part: History) -> list[int]:
    return [0] * len(part) if part.size is None else part.size.tolist()


def _annotated(part: History) -> list[More]:
    """What is said of each operation, as a builder takes it."""
    counts = [0] * len(part.threads)
    own = []
    for thread in part.thread.tolist():
        counts[thread] += 1
        own.append(counts[thread])
    found: list[More] = [{} for _ in own]
    for name in ("marks", "begin", "end", "order"):
        column: Column | None = getattr(part, name)
        if column is not None:
            for operation in (column != ABSENT.get(name, 0)).nonzero()[0]:
                found[operation][name] = int(column[operation])
    for name in ("addr", "data", "ctrl"):
        pairs: Column | None = getattr(part, name)
        for earlier, later in () if pairs is None else pairs.tolist():
            found[later].setdefault(name, []).append(own[earlier])
    for earlier, later in () if part.pair is None else part.pair.tolist():
        found[later]["pair"] = own[earlier]
    return found
