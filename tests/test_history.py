"""Histories: what is said of operations survives being built and taken apart; reads-from is the defined one."""

from __future__ import annotations

from dataclasses import fields
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_histories import random_history
from test_adapters import histories

from gradual.history import (
    ACQUIRE,
    AMBIGUOUS,
    EXCLUSIVE,
    FENCE,
    FENCES,
    FULL,
    INITIAL,
    NO_PLACE,
    NO_SOURCE,
    READ,
    RELEASE,
    RMW,
    RR,
    RW,
    THIN_AIR,
    TSO_FENCE,
    WR,
    WRITE,
    WW,
    Addresses,
    Builder,
    Column,
    History,
    InputError,
    Options,
)
from gradual.history.part import part
from gradual.history.reads_from import Values, by_sorting, sources


def test_fences_are_products() -> None:
    """`p.s` orders every access of p before it with every access of s after it; fence.tso is r.rw and w.w."""
    pairs = {("r", "r"): RR, ("r", "w"): RW, ("w", "r"): WR, ("w", "w"): WW}
    for before in ("r", "w", "rw"):
        for after in ("r", "w", "rw"):
            assert FENCES[f"{before}.{after}"] == sum(pairs[p, s] for p in before for s in after)
    assert FENCES["tso"] == TSO_FENCE == FENCES["r.rw"] | FENCES["w.w"]
    assert FENCES["rw.rw"] == FULL
    assert len(FENCES) == len({*FENCES.values()}) == 11 and FENCES["i"] & FULL == 0


def test_a_plain_history_has_no_annotations() -> None:
    builder = Builder("plain", "x")
    builder.fence("0", FULL)
    builder.read("0", "x", 0, addr=[], ctrl=())
    assert builder.build().annotations() == {}


def test_a_history_of_columns_is_that_of_a_call() -> None:
    builder = Builder("h", "file")
    builder.write("0", "x", 1)
    builder.fence("0")
    called = builder.build()
    made = History.of({name: value for name, value in vars(called).items() if value is not None})
    assert all(getattr(made, one.name) is getattr(called, one.name) for one in fields(History))
    assert repr(made) == repr(called)



def test_a_store_conditional_and_its_load_reserved() -> None:
    builder = Builder("pair", "x")
    builder.read("1", "x", 0)
    builder.read("0", "x", 0, marks=ACQUIRE)
    builder.write("0", "x", 1, pair=1, marks=RELEASE)
    builder.read("0", "y", 0, addr=[2])  # on the status
    history = builder.build()
    assert history.pair is not None and history.pair.tolist() == [[1, 2]]
    assert history.marks is not None
    assert history.marks.tolist() == [0, ACQUIRE | EXCLUSIVE, RELEASE | EXCLUSIVE, 0]
    assert [history.what(at) for at in range(4)] == ["R x=0", "LR.aq x=0", "SC.rl x=1", "R y=0"]
    with pytest.raises(InputError, match="a load-reserved that has a store-conditional already"):
        builder.write("0", "x", 2, pair=1)


@pytest.mark.parametrize(("act", "words"), [
    (lambda builder: builder.fence("0", 9, line=7), "x:7: no fence orders 9; there are r.r, "),
    (lambda builder: builder.rmw("0", "x", 0, 1, marks=EXCLUSIVE, line=7), "x:7: an rmw is one operation"),
    (lambda builder: builder.fence("0", marks=ACQUIRE), "a fence is no acquire"),
    (lambda builder: builder.read("0", "x", 0, ctrl=[1]), "ctrl 1 is no earlier operation of thread 0"),
])
def test_what_no_operation_is(act: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        act(Builder("bad", "x"))


# Parts


@given(history=histories(annotated=True), chosen=st.data())
@settings(deadline=None)
def test_parts_keep_what_is_said(history: History, chosen: st.DataObject) -> None:
    keep = chosen.draw(st.lists(st.booleans(), min_size=len(history), max_size=len(history)))
    some = part(history, np.array(keep, dtype=bool), np.zeros(len(history.locations), dtype=bool))
    left = np.flatnonzero(keep).tolist()
    assert [some.what(at) for at in range(len(some))] == [history.what(at) for at in left]
    assert [some.times(at) for at in range(len(some))] == [history.times(at) for at in left]
    for name in ("addr", "data", "pair"):
        before, after = (getattr(one, name) for one in (history, some))
        wanted = [] if before is None else [pair for pair in before.tolist() if {*pair} <= {*left}]
        assert ([] if after is None else [[left[at] for at in pair] for pair in after.tolist()]) == wanted
    assert {(left[a], left[b]) for a, b in controlled(some)} == {
        pair for pair in controlled(history) if {*pair} <= {*left}}


def controlled(history: History) -> set[tuple[int, int]]:
    """Control dependencies, with those of whatever comes later in the thread."""
    given = [] if history.ctrl is None else history.ctrl.tolist()
    return {(a, c) for a, b in given for c in range(b, len(history)) if history.thread[b] == history.thread[c]}


# Reads-from


def slow_sources(values: Values) -> tuple[list[int], list[int]]:
    """The definition: the only write of the location and value, or the initial one."""
    def source(location: int, value: int, final: bool = False) -> int:
        found = [at for at in range(len(values.kind)) if values.kind[at] in (WRITE, RMW)
                 and values.location[at] == location and values.written[at] == value]
        found += [INITIAL] * bool(values.initial[location] == value and not (found and final))
        return found[0] if len(found) == 1 else AMBIGUOUS if found else THIN_AIR

    reads = [source(values.location[at], values.read[at]) if values.kind[at] in (READ, RMW) else NO_SOURCE
             for at in range(len(values.kind))]
    return reads, [source(at, values.final_value[at], final=True) if values.has_final[at] else NO_SOURCE
                   for at in range(len(values.initial))]


def test_sources_are_the_defined_ones() -> None:
    rng = np.random.default_rng(5)
    for _ in range(300):
        size, places = rng.integers(0, 12), rng.integers(1, 4)
        kind = rng.choice([READ, WRITE, RMW, FENCE], size)
        values = Values(kind, np.where(kind == FENCE, -1, rng.integers(0, places, size)), rng.integers(-2, 4, size),
                        rng.integers(-2, 4, size), rng.integers(-1, 2, places), rng.integers(-2, 4, places),
                        rng.random(places) < 0.5)
        found = sources(values)
        assert (found[0].tolist(), found[1].tolist()) == slow_sources(values)
        for one, other in zip(found, sources(values, backwards), strict=True):
            assert one.tolist() == other.tolist()


def backwards(codes: Column) -> Column:
    """Another numbering: any will do."""
    return len(codes) - by_sorting(codes)


def test_many_histories_at_once_have_the_sources_of_each() -> None:
    rng = Random(3)
    some = [random_history(rng, final=0.4) for _ in range(50)]
    starts = np.cumsum([0, *(len(one.locations) for one in some)])
    location = [np.where(one.kind == FENCE, -1, one.location + start) for one, start in zip(some, starts, strict=False)]
    columns = {name: np.concatenate([getattr(one, name) for one in some])
               for name in ("kind", "read", "written", "initial", "final_value", "final_line")}
    source, final = sources(Values(columns["kind"], np.concatenate(location), columns["read"], columns["written"],
                                   columns["initial"], columns["final_value"], columns["final_line"] >= 0))
    own = np.cumsum([0, *map(len, some)]).tolist()
    for at, one in enumerate(some):
        for found, wanted, begin, end in ((source, one.source, own[at], own[at + 1]),
                                          (final, one.final, starts[at], starts[at + 1])):
            local = found[begin:end]
            assert np.where(local >= 0, local - own[at], local).tolist() == wanted.tolist()


def test_a_write_that_reaches_memory_has_a_place_in_the_store_order() -> None:
    builder = Builder("seen", "trace.x", Options(Addresses([(0, 16)])))
    builder.write("0", 8, 1)
    builder.write("0", 99, 1)
    builder.read("1", 8, 1)
    builder.rmw("1", 8, 1, 2)
    builder.stored("1", 2, line=5)
    builder.stored("0", 2)  # which was not selected
    builder.stored("0", 1)
    history = builder.build()
    assert history.order is not None and history.order.tolist() == [1, NO_PLACE, 0]
    for thread, number, complaint in (("1", 2, "a second time"), ("1", 1, "and this is a read"),
                                      ("1", 3, "thread 1 has no operation 3"), ("2", 0, "has no operation 0")):
        with pytest.raises(InputError, match=complaint):
            builder.stored(thread, number, line=7)


def test_a_history_without_places_has_no_store_order() -> None:
    builder = Builder("plain", "trace.x")
    builder.write("0", "x", 1, order=NO_PLACE)
    assert builder.build().order is None
    with pytest.raises(InputError, match="order -2 is negative"):
        builder.write("0", "x", 2, order=-2)
