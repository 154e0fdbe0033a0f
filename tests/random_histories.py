"""Small random histories, most of which no machine would produce, to compare deciders on.

A history is drawn as rows that mean something whatever their neighbours are, so any subset of the
rows is a history too: hypothesis shrinks by dropping rows and lowering numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import NamedTuple

from hypothesis import strategies as st

from gradual.history import FENCE, READ, RMW, WRITE, Builder, History, Kind
from gradual.history.annotations import FENCES, FULL

LOCATIONS = "xyzuvw"
THIN_AIR_VALUE = 999
EVERY_KIND = tuple(FENCES.values())
"""Of fences."""


class Row(NamedTuple):
    """One operation before the values are known."""

    thread: int
    kind: Kind
    location: int
    pick: int
    """Which write a read returns: 0 is the initial one, n the n-th of the location (cyclically). Of a fence: its
    kind."""


def assemble(rows: Sequence[Row], finals: Mapping[int, int] | None = None, *, thin_air: int = -1,
             fences: Sequence[int] = (FULL,)) -> History:
    """The history of `rows`: the n-th row, counted from 1, writes the value n, so values are unique.

    `finals` picks the write some locations must end with, as `Row.pick` does; the row `thin_air`
    returns a value nobody wrote; `fences` are the kinds of fences there are.
    """
    values: dict[int, list[int]] = {}
    for value, row in enumerate(rows, 1):
        if row.kind in (WRITE, RMW):
            values.setdefault(row.location, [0]).append(value)
    builder = Builder("random", "")
    for value, row in enumerate(rows, 1):
        thread, address = f"T{row.thread}", LOCATIONS[row.location]
        choices = values.get(row.location, [0])
        read = THIN_AIR_VALUE if value - 1 == thin_air else choices[row.pick % len(choices)]
        if row.kind == FENCE:
            builder.fence(thread, fences[row.pick % len(fences)], line=value)
        elif row.kind == READ:
            builder.read(thread, address, read, line=value)
        elif row.kind == WRITE:
            builder.write(thread, address, value, line=value)
        else:
            builder.rmw(thread, address, read, value, line=value)
    for location, pick in (finals or {}).items():
        choices = values.get(location, [0])
        builder.final(LOCATIONS[location], choices[pick % len(choices)])
    return builder.build()


def random_history(rng: Random, *, max_threads: int = 3, max_locations: int = 3, min_operations: int = 3,
                   max_operations: int = 7, rmw: float = 0.1, fence: float = 0.06, final: float = 0.05,
                   thin_air: float = 0.005, fences: Sequence[int] = (FULL,)) -> History:
    """A random history; `rmw` and `fence` are chances per operation, `final` per location.

    Reads may return any write of their location, later own ones included. Only a third of the
    histories are drawn like that: nearly all of them are violations that every decider finds at
    once. Another third lets reads return what their thread could believe, and the last third
    looks like the litmus tests on which the models differ.
    """
    threads, locations = rng.randint(min(2, max_threads), max_threads), rng.randint(1, max_locations)
    size, shape = rng.randint(min_operations, max_operations), rng.choice(("any", "sensible", "litmus"))
    kinds = [_random_kind(rng, rmw, fence) for _ in range(size)]
    rows = [Row(rng.randrange(threads), kind, rng.randrange(locations), rng.randrange(60)) for kind in kinds]
    if shape == "litmus":
        rows = _writes_first(rng, rows)
    if shape != "any":
        rows = _sensible(rng, rows, stale=0.6 if shape == "litmus" else 0)
    finals = {location: rng.randrange(60) for location in range(locations) if rng.random() < final}
    thin = rng.randrange(size) if size and rng.random() < thin_air else -1
    return assemble(rows, finals, thin_air=thin, fences=fences)


def _random_kind(rng: Random, rmw: float, fence: float) -> Kind:
    number = rng.random()
    if number < rmw + fence:
        return RMW if number < rmw else FENCE
    return rng.choice((READ, WRITE))


def _writes_first(rng: Random, rows: Sequence[Row]) -> list[Row]:
    """The rows with most writes before most reads: threads that write, then look around."""
    return sorted(rows, key=lambda row: rng.random() + {WRITE: 0.0, READ: 0.7}.get(row.kind, 0.35))


def _sensible(rng: Random, rows: Sequence[Row], stale: float) -> list[Row]:
    """The rows with new picks: the last own write (the initial one if none), or one of other threads.

    `stale` is the chance to take the former without looking at the others.
    """
    picked: list[Row] = []
    for at, row in enumerate(rows):
        writes = [i for i, other in enumerate(rows)
                  if other.kind in (WRITE, RMW) and other.location == row.location]
        own = max((n for n, i in enumerate(writes, 1) if rows[i].thread == row.thread and i < at), default=0)
        foreign = [n for n, i in enumerate(writes, 1) if rows[i].thread != row.thread]
        pick = own if rng.random() < stale else rng.choice([own, *foreign])
        picked.append(row if row.kind == FENCE else row._replace(pick=pick))
    return picked


@st.composite
def histories(draw: st.DrawFn, *, max_threads: int = 3, max_locations: int = 3, max_operations: int = 7,
              rmws: bool = True, fences: bool = True, finals: bool = True) -> History:
    """Random histories that shrink to few operations, threads and locations, and to initial reads."""
    kinds = [READ, WRITE, *([RMW] if rmws else []), *([FENCE] if fences else [])]
    rows = draw(st.lists(
        st.builds(Row, st.integers(0, max_threads - 1), st.sampled_from(kinds),
                  st.integers(0, max_locations - 1), st.integers(0, max_operations)),
        max_size=max_operations))
    ends = st.dictionaries(st.integers(0, max_locations - 1), st.integers(0, max_operations), max_size=1)
    return assemble(rows, draw(ends) if finals else {})
