"""The textbook histories, as text, with the verdicts that the definitions give them.

`W x1, R x2 ∥ RMW x0→3, fence ; x3` is two threads; after the semicolon, the final values demanded.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from gradual.history import Builder, History

NAMES = ("CC", "CCv", "CM", "CCM", "SC", "wCCM", "TSO", "PSO")


class Entry(NamedTuple):
    """A history in the notation above, and what each criterion and model says of it."""

    text: str
    expected: dict[str, bool]


def parse(text: str, name: str = "") -> History:
    """The history written in the notation of the theory page; threads are T0, T1, …"""
    program, _, finals = text.partition(";")
    builder = Builder(name or text, "")
    for number, thread in enumerate(program.split("∥")):
        for operation in filter(None, map(str.strip, thread.split(","))):
            _add(builder, f"T{number}", operation)
    for final in filter(None, map(str.strip, finals.split(","))):
        location, value = _access(final)
        builder.final(location, value)
    return builder.build()


def _add(builder: Builder, thread: str, operation: str) -> None:
    kind, _, access = operation.partition(" ")
    if kind == "fence":
        builder.fence(thread)
    elif kind == "RMW":
        access, _, written = access.partition("→")
        builder.rmw(thread, *_access(access), int(written))
    else:
        {"R": builder.read, "W": builder.write}[kind](thread, *_access(access))


def _access(text: str) -> tuple[str, int]:
    location, value = re.fullmatch(r"([a-z]+)(\d+)", text.strip()).groups()
    return location, int(value)


def _entry(text: str, verdicts: str) -> Entry:
    """An entry whose verdicts stand in the order of NAMES."""
    return Entry(text, {name: mark == "✓" for name, mark in zip(NAMES, verdicts.split(), strict=True)})


TABLE: dict[str, Entry] = {
    #                                                          CC CCv CM CCM SC wCCM TSO PSO
    "1a": _entry("W x1, R x2 ∥ W x2, R x1",                   "✓   ✗  ✓   ✗  ✗   ✗   ✗   ✗"),
    "1b": _entry("W z1, W x1, W y1 ∥ W x2, R z0, R y1, R x2", "✓   ✓  ✗   ✗  ✗   ✓   ✓   ✓"),
    "1c": _entry("W x1, W x2, R y1 ∥ W y1, W y2, R x1",       "✓   ✓  ✓   ✗  ✗   ✓   ✓   ✓"),
    "1d": _entry("W x1, R y0, W y1, R x1 ∥ W x2, R y0, W y2, R x2",
                                                              "✓   ✓  ✓   ✓  ✗   ✓   ✓   ✓"),
    "3":  _entry("W x1 ∥ W y1 ∥ R x1, R y0 ∥ R y1, R x0",     "✓   ✓  ✓   ✗  ✗   ✗   ✗   ✗"),
    "SB": _entry("W x1, R y0 ∥ W y1, R x0",                   "✓   ✓  ✓   ✗  ✗   ✓   ✓   ✓"),
    "future": _entry("R x1, W x1",                            "✗   ✗  ✗   ✗  ✗   ✗   ✗   ✗"),
}
"""The theory page's own table. (PSO, which it leaves out, is the last column.)"""

READINGS: dict[str, Entry] = {
    #                                                          CC CCv CM CCM SC wCCM TSO PSO
    # cf has to use wr, not wr_e: 1 before 4 only through the second rmw's own-thread source
    "own source in cf": _entry("W x1, R x4 ∥ RMW x0→2, RMW x2→4",
                                                              "✓   ✓  ✓   ✗  ✗   ✗   ✗   ✗"),
    # rule (2) has to use wr: reading one's own x1 after x2 was seen is what puts z1 before z2, and
    # the other half, in the same way, z2 before z1
    "own source in rule 2": _entry(
        "W z1, W x2, W a1 ∥ W x1, W y1, R a1, R x1 ∥ R y1, R z2 ∥ "
        "W z2, W u2, W b1 ∥ W u1, W v1, R b1, R u1 ∥ R v1, R z1",
                                                              "✓   ✓  ✓   ✗  ✗   ✗   ✗   ✓"),
    # no criterion sees what is wrong here: the two orders of x1 and x2 have to be tried
    "1d, fences": _entry("W x1, fence, R y0, W y1, fence, R x1 ∥ W x2, fence, R y0, W y2, fence, R x2",
                                                              "✓   ✓  ✓   ✓  ✗   ✓   ✗   ✗"),
    # rw[R] is minus identity too: an rmw reads what it overwrites
    "one rmw": _entry("RMW x0→1",                             "✓   ✓  ✓   ✓  ✓   ✓   ✓   ✓"),
    "two rmws of one source": _entry("RMW x0→1 ∥ RMW x0→2",   "✓   ✓  ✓   ✗  ✗   ✗   ✗   ✗"),
    "rmw reads itself": _entry("RMW x1→1",                    "✗   ✗  ✗   ✗  ✗   ✗   ✗   ✗"),
    "thin air": _entry("R x1",                                "✗   ✗  ✗   ✗  ✗   ✗   ✗   ✗"),
    "SB, fences": _entry("W x1, fence, R y0 ∥ W y1, fence, R x0",
                                                              "✓   ✓  ✓   ✗  ✗   ✗   ✗   ✗"),
    "SB, one fence": _entry("W x1, fence, R y0 ∥ W y1, R x0", "✓   ✓  ✓   ✗  ✗   ✓   ✓   ✓"),
    "SB of rmws": _entry("RMW x0→1, R y0 ∥ RMW y0→1, R x0",   "✓   ✓  ✓   ✗  ✗   ✗   ✗   ✗"),
    "SB, rmws between": _entry("W x1, RMW z0→1, R y0 ∥ W y1, RMW u0→1, R x0",
                                                              "✓   ✓  ✓   ✗  ✗   ✗   ✗   ✓"),
    "MP": _entry("W x1, W y1 ∥ R y1, R x0",                   "✗   ✗  ✗   ✗  ✗   ✗   ✗   ✓"),
    "MP, fence": _entry("W x1, fence, W y1 ∥ R y1, R x0",     "✗   ✗  ✗   ✗  ✗   ✗   ✗   ✗"),
    "MP through an rmw": _entry("W x1, RMW y0→1 ∥ R y1, R x0", "✗   ✗  ✗   ✗  ✗   ✗   ✗   ✓"),
    "MP from an rmw": _entry("RMW x0→1, W y1 ∥ R y1, R x0",   "✗   ✗  ✗   ✗  ✗   ✗   ✗   ✗"),
    "LB": _entry("R x1, W y1 ∥ R y1, W x1",                   "✗   ✗  ✗   ✗  ✗   ✗   ✗   ✗"),
    "CoRR": _entry("W x1, W x2 ∥ R x2, R x1",                 "✗   ✗  ✗   ✗  ✗   ✗   ✗   ✗"),
    # a demanded final value is a constraint on the store order, so CC and CM do not see it
    "2+2W": _entry("W x1, W y2 ∥ W y1, W x2 ; x1, y1",        "✓   ✗  ✓   ✗  ✗   ✗   ✗   ✓"),
    "overwritten at the end": _entry("W x1, W x2 ; x1",       "✓   ✗  ✓   ✗  ✗   ✗   ✗   ✗"),
    "untouched at the end": _entry("W x1 ; x0",               "✓   ✗  ✓   ✗  ✗   ✗   ✗   ✗"),
    "thin air at the end": _entry("W x1 ; x9",                "✓   ✗  ✓   ✗  ✗   ✗   ✗   ✗"),
    "either at the end": _entry("W x1 ∥ W x2 ; x1",           "✓   ✓  ✓   ✓  ✓   ✓   ✓   ✓"),
}
"""Histories that tell the readings of the errata, of rmws, fences and final values apart."""

HISTORIES = TABLE | READINGS
