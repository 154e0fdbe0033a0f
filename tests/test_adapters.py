"""Every format reads what it should, and reads back what it wrote."""

from __future__ import annotations

import gzip
import importlib
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from gradual.adapters import _rows
from gradual.adapters import axe as axe_adapter
from hypothesis import given, settings
from hypothesis import strategies as st

from gradual import adapters
from gradual.history import (
    ACQUIRE,
    AQRL,
    EXCLUSIVE,
    FENCE,
    FENCES,
    FULL,
    INITIAL,
    NO_TICK,
    RCPC,
    READ,
    RELEASE,
    RMW,
    THIN_AIR,
    WRITE,
    WW,
    Addresses,
    Builder,
    History,
    InputError,
    Kind,
    Options,
    Share,
    Skipped,
    location_key,
)
from gradual.history.builder import More

TEXT = ("axe", "csv", "json", "jsonl")
BINARY = ("arrow", "parquet")
TABLES = ("arrow", "csv", "json", "jsonl", "parquet")
"""The formats that can say all there is in a history."""
LITMUS = Path(__file__).parents[2] / "shared" / "traces" / "axe-litmus"


def read(format_: str, data: str | bytes, file: str = "trace.x", **options: Any) -> list[History]:
    """The histories of a trace that has no errors."""
    stream = io.BytesIO(data.encode() if isinstance(data, str) else data)
    found = list(adapters.adapter(format_).read(stream, file, Options(**options)))
    assert not [str(one) for one in found if isinstance(one, InputError)]
    return found  # type: ignore[return-value]


def written(format_: str, *histories: History) -> bytes:
    stream = io.BytesIO()
    adapters.writer(format_).write(histories, stream)
    return stream.getvalue()


def whats(history: History) -> list[str]:
    return [f"{history.threads[history.thread[at]]}: {history.what(at)}" for at in range(len(history))]


def facts(history: History) -> dict[str, object]:
    """All that must survive writing and reading: everything but where it stood."""
    columns = ("thread", "kind", "location", "read", "written", "source", "tick", "initial", "final", "final_value")
    return {
        "name": history.name, "threads": history.threads, "locations": history.locations,
        "has final": (history.final_line >= 0).tolist(),
        "said": {name: column.tolist() for name, column in history.annotations().items()},
    } | {column: getattr(history, column).tolist() for column in columns}


def message_passing(name: str = "MP") -> History:
    builder = Builder(name, "trace.x")
    builder.write("0", "x", 1, tick=10, size=8)
    builder.fence("0", tick=11)
    builder.write("0", "0x20", 1)
    builder.read("1", "0x20", 1)
    builder.rmw("1", "x", 0, -1)
    builder.final("x", 1)
    return builder.build()


# The protocol


def test_the_formats_are_there() -> None:
    assert set(TEXT + BINARY) <= set(adapters.names())


def test_modules_called_csv_and_json_shadow_nothing() -> None:
    assert adapters.adapter("csv").csv is sys.modules["csv"] is not adapters.adapter("csv")  # type: ignore[attr-defined]
    assert importlib.import_module("gradual.adapters._objects").json is json is not adapters.adapter("json")


@pytest.mark.parametrize("name", TEXT)
def test_examples_are_traces(name: str) -> None:
    example = adapters.adapter(name).EXAMPLE
    first, second, *more = read(name, example)
    assert len(first) in (4, 5)
    assert (second.kind == RMW).any()
    for history in (first, second, *more):
        assert not (history.source == THIN_AIR).any()
    assert recognised(example.encode()) == [name]


def recognised(head: bytes) -> list[str]:
    return [name for name in TEXT + BINARY if adapters.adapter(name).recognise(head)]


@pytest.mark.parametrize("name", TEXT + BINARY)
def test_what_is_written_is_recognised(name: str) -> None:
    assert recognised(written(name, message_passing(), message_passing("again"))) == [name]


@pytest.mark.parametrize(("head", "names"), [
    (b"", []),
    (b"\n\n", []),
    (b"  1000: system.cpu0: T0 : 0x10966 @th1+26    : sd a5, 0(a0)  : MemWrite :  D=0x15 A=0x7f560\n", []),
    (b"1: load-req     0x0000000008 #0000 @64\n", []),
    (b"check this out\n", []),
    (b"\n# a comment\n\n  0 : v3 == 7", ["axe"]),
    (b"check", ["axe"]),
    (b"check \r\n", ["axe"]),
    (b"final M[0] == 1\n", ["axe"]),
    (b"\xef\xbb\xbf0: sync\r\n", ["axe"]),
    (b"0: < M[0] == 1; M[0] := 2 >", ["axe"]),
    (b"\xef\xbb\xbfHistory; TID ;Op;Addr;Data\r\n", ["csv"]),
    (b"\n\nthread\top\taddress\tvalue\n", ["csv"]),
    (b"thread,address,value\n", []),
    (b"op,address,value\n", []),
    (b"thread,cpu,core,op\r1,2\r", []),
    (b'[{"thread": 0}]', ["json"]),
    (b"\n [", ["json"]),
    (b"{\n", ["json"]),
    (b'{"histories": []}', ["json"]),
    (b'{"version": 1, "histories": [{"operations": [', ["json"]),
    (b'{"operations": []}', ["jsonl"]),
    (b'{"operations": []}\n{"operations": []}\n', ["jsonl"]),
    (b'{"history": "histories", "operations": [{"thr', ["jsonl"]),
    (b'{"history": "a very long name that fills the he', ["jsonl"]),
    (b'\n\n{"thread": 0, "op": "W"}\r\n{"thr', ["jsonl"]),
    (b"PAR1\x15\x04\x15", ["parquet"]),
    (b"ARROW1\0\0\xff\xff\xff\xff", ["arrow"]),
])
def test_heads(head: bytes, names: list[str]) -> None:
    assert recognised(head) == names


@given(st.binary(max_size=60))
def test_anything_can_be_asked_for_its_format(head: bytes) -> None:
    assert len(recognised(head)) <= 1


# Round trips


characters = st.sampled_from(",;\"'\n\r\t<>&#{}[]:=\\| \u2028→") | st.characters(codec="utf-8", exclude_characters="\0")
words = st.text(characters, min_size=1, max_size=8).filter(lambda text: text == text.strip())
words |= st.just("<script>alert(1)</script>")
addresses = words | st.integers(0, 2**64).map(str) | st.integers(0, 2**64).map(hex)
ticks = st.just(NO_TICK) | st.integers(0, 2**63 - 1)
NUMBERED = st.integers(0, 20).map(str)


class Annotated:
    """What may be said of the next operation of a thread, drawn by the rules of `Builder`."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw
        self._own: dict[str, list[str]] = {}
        """Of each thread: may something depend on its operations, and are they load-reserveds without a partner?"""

    def of(self, kind: Kind, thread: str) -> More:
        own = self._own.setdefault(thread, [])
        more: More = {}
        if kind != FENCE and (marks := self._draw(st.sampled_from([0, *AQRL.values()]))):
            more["marks"] = marks
        if self._draw(st.booleans()):
            more["begin"] = self._draw(ticks)
            more["end"] = max(more["begin"], self._draw(ticks)) if self._draw(st.booleans()) else NO_TICK
        sources = [at for at, what in enumerate(own, 1) if what]
        some = st.lists(st.sampled_from(sources), max_size=2) if sources else st.just([])
        more["ctrl"] = self._draw(some)
        if kind != FENCE:
            more["addr"] = self._draw(some)
        if kind in (WRITE, RMW):
            more["data"] = self._draw(some)
            more["order"] = self._draw(ticks)
        reads = [at for at, what in enumerate(own, 1) if what == "R"]
        exclusive = False
        if kind == WRITE and reads and self._draw(st.booleans()):
            more["pair"], exclusive = self._draw(st.sampled_from(reads)), True
            own[more["pair"] - 1] = "paired"
        elif kind in (READ, WRITE) and self._draw(st.booleans()):
            more["marks"], exclusive = more.get("marks", 0) | EXCLUSIVE, True
        own.append("R" if kind == READ else "RMW" if kind == RMW or exclusive else "")
        return more


@st.composite
def histories(draw: st.DrawFn, addresses: st.SearchStrategy[str] = addresses,
              threads: st.SearchStrategy[str] = words | NUMBERED, initial: bool = True,
              annotated: bool = False) -> History:
    """Any history: every value written is new, and reads return one of them, the first or none."""
    said = Annotated(draw)
    builder = Builder(draw(words), "trace.x")
    who = draw(st.lists(threads, unique=True, min_size=1, max_size=4))
    where = draw(st.lists(addresses, unique_by=location_key, min_size=1, max_size=4))
    bits, sizes = draw(st.sampled_from([(64, [0]), (8, [0, 1])]))  # values fit into the sizes
    operations = draw(st.lists(st.tuples(
        st.sampled_from([READ, WRITE, RMW, FENCE]), st.sampled_from(who), st.sampled_from(where), ticks,
        st.sampled_from(sizes), st.integers(0, 99)), max_size=8))
    fresh = draw(st.lists(st.integers(-(1 << bits - 1), (1 << bits) - 1).filter(bool), min_size=20, max_size=20,
                          unique_by=lambda value: value % (1 << bits)))
    values = {address: [0, fresh.pop()] for address in where}
    if initial:
        for address in draw(st.lists(st.sampled_from(where), unique=True)):
            values[address][0] = draw(st.sampled_from([0, fresh.pop()]))
            builder.initial(address, values[address][0])
    new = [fresh.pop() if kind in (WRITE, RMW) else 0 for kind, *_ in operations]
    for (kind, _, address, *_), value in zip(operations, new, strict=True):
        if kind in (WRITE, RMW):
            values[address].append(value)
    for (kind, thread, address, tick, size, pick), value in zip(operations, new, strict=True):
        seen = values[address][pick % len(values[address])]
        more = said.of(kind, thread) if annotated else {}
        if kind == FENCE:
            builder.fence(thread, draw(st.sampled_from([*FENCES.values()])) if annotated else FULL, tick=tick, **more)
        elif kind == READ:
            builder.read(thread, address, seen, tick=tick, size=size, **more)
        elif kind == WRITE:
            builder.write(thread, address, value, tick=tick, size=size, **more)
        else:
            builder.rmw(thread, address, seen, value, tick=tick, size=size, **more)
    for address in draw(st.lists(st.sampled_from(where), unique=True)):
        builder.final(address, draw(st.sampled_from(values[address])))
    return builder.build()


@pytest.mark.parametrize("name", TABLES)
@given(drawn=st.lists(histories(), min_size=1, max_size=3, unique_by=lambda history: history.name))
@settings(deadline=None)
def test_round_trip(name: str, drawn: list[History]) -> None:
    again = read(name, written(name, *drawn))
    assert [facts(history) for history in again] == [facts(history) for history in drawn]


@pytest.mark.parametrize("name", TABLES)
@given(drawn=st.lists(histories(annotated=True) | histories(), min_size=1, max_size=3,
                      unique_by=lambda history: history.name))
@settings(deadline=None)
def test_annotated_round_trip(name: str, drawn: list[History]) -> None:
    again = read(name, written(name, *drawn))
    assert [facts(history) for history in again] == [facts(history) for history in drawn]


@pytest.mark.parametrize("name", TABLES)
def test_every_spelling_round_trips(name: str) -> None:
    builder = Builder("all", "trace.x")
    for orders in FENCES.values():
        builder.fence("0", orders)
    for value, marks in enumerate([0, *AQRL.values()], 1):
        builder.write("1", "x", value, marks=marks)
        builder.read("1", "x", value, marks=marks)
        builder.rmw("1", "x", value, value + 100, marks=marks)
        builder.read("1", "x", value + 100, marks=marks | EXCLUSIVE)
    drawn = builder.build()
    (again,) = read(name, written(name, drawn))
    assert facts(again) == facts(drawn)
    assert again.fence is not None and again.fence[:11].tolist() == [*FENCES.values()]


def annotated() -> History:
    """Message passing with a release, a load-reserved and all dependencies there are."""
    builder = Builder("MP", "trace.x")
    builder.write("0", "x", 1, order=4)
    builder.fence("0", WW, begin=0)
    builder.write("0", "y", 1, marks=RELEASE | RCPC)
    builder.read("1", "y", 1, marks=ACQUIRE, begin=0, end=5)
    builder.read("1", "x", 0, addr=[1])
    builder.write("1", "x", 2, addr=[2, 1], data=[1], ctrl=[1, 2], pair=2, order=9)
    return builder.build()


def test_annotations_as_csv() -> None:
    assert written("csv", annotated()).decode().splitlines() == [
        "thread,op,address,value,read,time,size,fence,aqrl,begin,end,order,addr,data,ctrl,pair,history",
        "0,W,x,1,,,,,,,,4,,,,,MP",
        "0,F,,,,,,w.w,,0,,,,,,,MP",
        "0,W,y,1,,,,,rl.pc,,,,,,,,MP",
        "1,R,y,1,,,,,aq,0,5,,,,,,MP",
        "1,LR,x,0,,,,,,,,,1,,,,MP",
        "1,SC,x,2,,,,,,,,9,1 2,1,1 2,2,MP"]


def test_a_table_has_the_columns_that_are_needed() -> None:
    builder = Builder("timed", "x")
    builder.read("0", "x", 0, begin=3)
    with_times, plain = written("csv", message_passing(), builder.build()), written("csv", message_passing())
    assert with_times.startswith(b"thread,op,address,value,read,time,size,begin,history\n")
    assert plain.startswith(b"thread,op,address,value,read,time,size,history\n")


@pytest.mark.parametrize("name", ["arrow", "csv", "parquet"])
def test_a_column_that_comes_too_late_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_rows, "AHEAD", 8)
    with pytest.raises(InputError, match=r"this history has addr, aqrl, begin, ctrl, .* no column; write it first"):
        written(name, message_passing(), message_passing(), annotated())
    assert len(read(name, written(name, annotated(), message_passing(), message_passing()))) == 3


@pytest.mark.parametrize("text", [
    "thread,op,address,value,addr,data,ctrl,fence,aqrl,pair\n"
    "0,LR,x,0,,,,,AQ,\n0,F,,,,,1,R.RW,,\n0,W,x,1,1,1,1;1,,aqrl.pc,1\n",
    "thread;op;address;value;ctrl;addr;data;fence;aqrl;pair\n"
    "0;R;x;0;;;;;aq;\n0;fence.r.rw;;;1;;;;;\n0;sc;x;1;1;1;1;;aqrl.pc;1\n",
])
def test_annotations_are_spelled_freely(text: str) -> None:
    (history,) = read("csv", text)
    assert whats(history) == ["0: LR.aq x=0", "0: fence r.rw", "0: SC.aqrl.pc x=1"]
    assert {name: column.tolist() for name, column in history.annotations().items()} == {
        "fence": [0, 3, 0], "marks": [9, 0, 15], "addr": [[0, 2]], "data": [[0, 2]], "ctrl": [[0, 1], [0, 2]],
        "pair": [[0, 2]]}


def test_addr_and_data_alone_are_address_and_value() -> None:
    (history,) = read("csv", "thread,op,addr,data\n0,W,x,1\n1,R,x,1\n")
    assert whats(history) == ["0: W x=1", "1: R x=1"]
    (history,) = read("jsonl", '{"operations": [{"thread": 0, "op": "R", "address": "x", "data": 0},'
                               '{"thread": 0, "op": "W", "addr": "x", "value": 1, "data": [1]}]}')
    assert history.data is not None and history.data.tolist() == [[0, 1]]


def test_lists_in_parquet_are_dependencies() -> None:
    import pyarrow as pa
    from pyarrow import parquet

    stream = io.BytesIO()
    parquet.write_table(pa.table({"thread": [0, 0, 0], "op": ["R", "R", "W"], "address": ["x", "y", "z"],
                                  "value": [0, 0, 1], "ctrl": [None, [], [1, 2]]}), stream)
    (history,) = read("parquet", stream.getvalue())
    assert history.ctrl is not None and history.ctrl.tolist() == [[0, 2], [1, 2]]


@pytest.mark.parametrize("name", TABLES)
def test_dependencies_count_what_is_not_selected(name: str) -> None:
    builder = Builder("some", "x")
    builder.read("0", "0x10", 0)
    builder.read("0", "0x100", 0)
    builder.write("0", "0x10", 1, ctrl=[1, 2], pair=2)
    builder.read("0", "0x10", 1, addr=[2])
    data = written(name, builder.build())
    (history,) = read(name, data, addresses=Addresses([(0x10, 0x20)]))
    assert whats(history) == ["0: R 0x10=0", "0: SC 0x10=1", "0: R 0x10=1"]
    assert history.ctrl is not None and history.ctrl.tolist() == [[0, 1]]
    assert history.addr is None and history.pair is None


@given(drawn=st.lists(histories(initial=False), max_size=3))
@settings(deadline=None)
def test_axe_round_trip(drawn: list[History]) -> None:
    """axe numbers threads and locations: the same ones are the same, whatever they are called."""
    lost = ("name", "threads", "locations", "said", "tick")
    for before, after in zip(drawn, read("axe", written("axe", *drawn)), strict=True):
        assert len(set(after.threads)) == len(before.threads)
        assert len(set(after.locations)) == len({*before.location[before.location >= 0], *finals(before)})
        assert by_name(before, lost) == by_name(after, lost)


@pytest.mark.parametrize(("name", "initial"), [("axe", False), ("csv", True)])
def test_large_histories_are_written_alike(name: str, initial: bool) -> None:
    """By columns, from so many operations on, or row by row: the same text."""
    adapter = adapters.adapter(name)

    @given(drawn=st.lists(histories(initial=initial), max_size=2), lines=st.booleans())
    @settings(deadline=None, max_examples=40)
    def alike(drawn: list[History], lines: bool) -> None:
        told = []
        for limit in (1 << 30, 1):
            with pytest.MonkeyPatch.context() as patched:
                patched.setattr(adapter, "BY_COLUMNS", limit)
                stream = io.BytesIO()
                adapter.write(drawn, stream, lines=lines)
                told.append(stream.getvalue())
        assert told[0] == told[1]

    alike()


def finals(history: History) -> list[int]:
    return [at for at in range(len(history.locations)) if history.final_line[at] >= 0]


def by_name(history: History, lost: tuple[str, ...]) -> dict[str, object]:
    """The facts of a history, its locations numbered in the order they are first accessed."""
    order = list(dict.fromkeys([*history.location[history.location >= 0].tolist(), *finals(history)]))
    found = {key: value for key, value in facts(history).items() if key not in lost}
    found["location"] = [order.index(at) if at >= 0 else at for at in history.location]
    for key in ("initial", "final", "final_value", "has final"):
        found[key] = [found[key][at] for at in order]  # type: ignore[index]
    return found


@given(histories(addresses=st.integers(0, 99).map(str), threads=NUMBERED, initial=False))
@settings(deadline=None)
def test_axe_keeps_numbers(drawn: History) -> None:
    (after,) = read("axe", written("axe", drawn))
    lost = ("name", "locations", "said", "tick")
    assert by_name(after, lost) == by_name(drawn, lost)
    assert [after.address(at) for at in after.reads] == [drawn.address(at) for at in drawn.reads]
    assert "is" not in [word for line in written("axe", drawn).decode().split("\n") for word in line.split()[2:3]]


@pytest.mark.parametrize("name", ["arrow", "csv", "parquet"])
def test_histories_of_one_name_stay_apart(name: str) -> None:
    again = read(name, written(name, message_passing(), message_passing(), message_passing("MP#2")))
    assert [history.name for history in again] == ["MP", "MP#2", "MP#2#2"]
    assert {len(history) for history in again} == {5}


@pytest.mark.parametrize("name", TEXT + BINARY)
def test_a_history_without_operations(name: str) -> None:
    again = read(name, written(name, Builder("nothing", "x").build(), message_passing()))
    assert [(history.name, len(history)) for history in again] == [("nothing", 0), ("MP", 5)]
    assert again[0].locations == ()


@pytest.mark.parametrize("name", TEXT + BINARY)
def test_no_history_at_all(name: str) -> None:
    """A table without rows is one empty history; the other formats can say that there is none."""
    sizes = [len(history) for history in read(name, written(name))]
    assert sizes == ([0] if name in ("csv", "parquet", "arrow") else [])


@pytest.mark.parametrize("name", TEXT + BINARY)
def test_many_histories(name: str) -> None:
    """More rows than one Arrow batch holds, in histories across its bounds."""
    builder = Builder("long", "x")
    for value in range(1, 30_001):
        builder.write("0", "x", value)
    again = read(name, written(name, *[builder.build()] * 3))
    assert [len(history) for history in again] == [30_000] * 3
    assert all((history.written == range(1, 30_001)).all() for history in again)


@pytest.mark.parametrize("name", TEXT + BINARY)
def test_values_with_the_top_bit_set(name: str) -> None:
    builder = Builder("top", "x")
    builder.write("0", "1", 2**64 - 1)
    builder.read("0", "1", -1)
    (again,) = read(name, written(name, builder.build()))
    assert (again.written[0], again.read[1], again.source[1]) == (-1, -1, 0)


@pytest.mark.parametrize("name", TEXT)
def test_what_is_not_unicode_is_written_as_an_escape(name: str) -> None:
    (again,) = read(name, written(name, message_passing("run\udcff")).replace(b"\\udcff", b"?"))
    assert again.name == "run?"


@pytest.mark.parametrize("name", TEXT + BINARY)
def test_addresses_can_be_selected(name: str) -> None:
    builder = Builder("two", "x")
    builder.write("0", "0x10", 1)
    builder.write("0", "0x20", 2)
    data = written(name, builder.build())
    (history,) = read(name, data, addresses=Addresses([(0x20, 0x30)]))
    assert history.written.tolist() == [2]


# axe


def axe(text: str) -> list[str]:
    (history,) = read("axe", text)
    return whats(history)


def test_axe_statements() -> None:
    (history,) = read("axe", """
        # a comment of several words
        0: M[3] := 7
        1: v3 == 7 @ 100 : 110     # read it
        1: { M[3] == 7; M[3] := 8 } @ 101:
        2: <v3 == 8 ; M[ 3 ] := 0x9> @ :20
        2: sync@30:
        2: sync @ 40
        final M[3] == 9
    """, "dir/run.1.axe.gz")
    assert whats(history) == [
        "0: W 3=7", "1: R 3=7", "1: RMW 3: 7→8", "2: RMW 3: 8→9", "2: fence", "2: fence"]
    assert history.begin is not None and history.begin.tolist() == [NO_TICK, 100, 101, NO_TICK, 30, 40]
    assert history.end is not None and history.end.tolist() == [NO_TICK, 110, NO_TICK, 20, NO_TICK, NO_TICK]
    assert history.where(1) == "thread 1, line 4, time 100:110"
    assert history.line.tolist() == [3, 4, 5, 6, 7, 8]
    assert history.name == "run.1#1"
    assert history.final.tolist() == [3]
    assert history.final_line.tolist() == [9]


TIMES = [
    "0: M[0] := 1 @ 5:\n0: M[0] == 1 @ 6:9\n0: M[1] == 0 @ :10\n0: sync @ 20:\n1: { M[1] == 0; M[1] := 1 } @ 3:4\n",
    "0: sync @ 20:21\n0: M[1] == 0 @ :10\n",  # a sync's times count for nothing
    "0: M[0] == 0\n",
]


@pytest.mark.parametrize("text", TIMES)
def test_axe_times_round_trip(text: str) -> None:
    (history,) = read("axe", text)
    assert written("axe", history).decode().partition("\n")[2] == text + "check\n"
    for name in TABLES:
        (again,) = read(name, written(name, history))
        assert facts(again) == facts(history)


def said(kind: Kind = READ, **more: Any) -> History:
    builder = Builder("said", "x")
    if kind == FENCE:
        builder.fence("0", WW)
    else:
        builder.read("0", "0", 0)
        (builder.read if kind == READ else builder.write)("0", "0", int(kind == WRITE), **more)
    return builder.build()


@pytest.mark.parametrize(("history", "words"), [
    (said(FENCE), "axe has no fences that order some accesses only; CSV, JSON and Parquet have"),
    (said(WRITE, pair=1), "axe has no load-reserveds"),
    (said(WRITE, end=5), "axe would not read this: axe knows no end times of stores"),
    (said(READ, begin=5, end=5), "axe would not read this: an operation ends after it begins: 5 is not after 5"),
])
def test_what_axe_cannot_say_is_not_written(history: History, words: str) -> None:
    with pytest.raises(InputError, match=words):
        written("axe", history)


def test_axe_leaves_out_what_its_models_do_not_know() -> None:
    history = said(WRITE, marks=RELEASE, ctrl=[1], addr=[1])
    (again,) = read("axe", written("axe", history))
    assert again.annotations() == {}
    assert axe_adapter.left_out(history) == ["dependencies", "acquires, releases and reservations"]
    assert not axe_adapter.left_out(again)


@pytest.mark.parametrize(("text", "operations"), [
    ("0:M[0]:=1 0:M[0]==1", ["0: W 0=1", "0: R 0=1"]),
    ("0\n:\nM[\n0 ]\n# why not\n:=\n1\n@\n5:\n1: sync", ["0: W 0=1", "1: fence"]),
    ("0: M[0] := 1 @ 10:\n1: sync", ["0: W 0=1", "1: fence"]),
    ("0: M[0] := 1 @ 10: 1: sync", ["0: W 0=1", "1: fence"]),
    ("0: M[0] == 1 @ 10:20 1: sync", ["0: R 0=1", "1: fence"]),
    ("0: M[0] := 1 @ 10 1: sync", ["0: W 0=1", "1: fence"]),
    ("0: M[0] := 1 @ :\n1: sync", ["0: W 0=1", "1: fence"]),
    ("007: M[0x0A] := 0X0b\r\n7: v10 == 11\r\n", ["7: W 10=11", "7: R 10=11"]),
    ("\ufeff0: sync", ["0: fence"]),
    ("check", []),
])
def test_axe_is_free_form(text: str, operations: list[str]) -> None:
    assert axe(text) == operations


def test_axe_lines_of_spread_statements() -> None:
    (history,) = read("axe", "\n\n0: v1 :=\n\n1\n 0: sync 1: sync\ncheck")
    assert history.line.tolist() == [3, 6, 6]


def test_axe_histories_and_their_names() -> None:
    found = read("axe", """\
# two words
# SB+po
0: sync
# inner
check check # ignored
# MP
# and more about it
0: sync
check 0: sync 0: sync check

# LB

0: sync""", "-")
    assert [(history.name, len(history)) for history in found] == [
        ("SB+po", 1), ("stdin#2", 0), ("stdin#3", 1), ("stdin#4", 2), ("LB", 1)]
    assert [history.line.tolist() for history in found] == [[3], [], [8], [9, 9], [13]]


def test_axe_names_what_it_numbers() -> None:
    builder = Builder("my\nrun", "x")
    builder.write("cpu3", "x", 1)
    builder.write("0", "0", 1)
    builder.write("007", "a\nb", 2)
    builder.write("7", "0x1", 2)
    assert written("axe", builder.build()).decode().split("\n") == [
        "# thread 1 is cpu3", "# thread 2 is 007", "# M[2] is x", "# M[3] is a b", "# my run",
        "1: M[2] := 1", "0: M[0] := 1", "2: M[3] := 2", "7: M[1] := 2", "check", ""]


def test_axe_has_no_initial_values() -> None:
    builder = Builder("n", "trace.x")
    builder.initial("x", 5)
    with pytest.raises(InputError, match=r"trace.x: axe has no initial values.*x starts with 5"):
        written("axe", builder.build())


@pytest.mark.skipif(not LITMUS.is_dir(), reason="the axe litmus suite is not beside the repository")
def test_axe_litmus_suite() -> None:
    found = read("axe", (LITMUS / "tests.axe").read_bytes())
    verdicts = (LITMUS / "SC.txt").read_text().splitlines()
    assert [history.name for history in found] == [line.split()[1] for line in verdicts]
    assert read("axe", written("axe", *found))[0].name == found[0].name


# CSV


def test_csv_columns_go_by_many_names() -> None:
    (history,) = read("csv", "CPU, Type ,colour,Addr,data,old,cycle,size\n"
                             "a,ld,red,x,0,,7,4\n"
                             "b,CAS,blue,x,0x2,0,0x10,4\n"
                             "a,MFENCE\n"
                             " a , St , , 0x10 , 5 \n", "dir/run.csv.gz")
    assert whats(history) == ["a: R x=0", "b: RMW x: 0→2", "a: fence", "a: W 0x10=5"]
    assert history.tick.tolist() == [7, 16, NO_TICK, NO_TICK]
    assert history.size is not None
    assert history.size.tolist() == [4, 4, 0, 0]
    assert history.name == "run"
    assert history.line.tolist() == [2, 3, 4, 5]


@pytest.mark.parametrize(("spellings", "operation"), [
    ("R r read LD load Load", "0: R x=0"),
    ("W w write ST store", "0: W x=0"),
    ("RMW rmw swap AMO cas atomic", "0: RMW x: 7→0"),
    ("F f fence SYNC mfence barrier", "0: fence"),
])
def test_csv_spellings(spellings: str, operation: str) -> None:
    for op in spellings.split():
        (history,) = read("csv", f"thread,op,address,value,expected\n0,{op},x,0,7\n")
        assert whats(history) == [operation]


def test_a_columns_own_name_wins() -> None:
    (history,) = read("csv", "cpu,thread,op,location,value,expected,read,core\n5,0,RMW,x,2,9,0,6\n")
    assert whats(history) == ["0: RMW x: 0→2"]


def test_csv_initial_and_final_values() -> None:
    (history,) = read("csv", "thread,op,address,value\n,init,,7\n,INIT,x,5\n0,R,x,5\n0,R,y,7\n0,W,y,1\n,final,y,1\n")
    assert history.source.tolist()[:2] == [INITIAL, INITIAL]
    assert history.initial.tolist() == [5, 7]
    assert history.final.tolist()[1] == 2


def test_csv_histories_and_lines() -> None:
    found = read("csv", "\r\nhistory,thread,op,address,value\r\n\r\n1,0,W,\"a\nb\",1\r\n1,0,R,x,0\r\n,,,\r\n"
                        "2,0,F\r\n2,0,W,x,1,,\r\n")
    assert [history.name for history in found] == ["1", "2"]
    assert [history.line.tolist() for history in found] == [[4, 6], [8, 9]]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_csv_delimiters(delimiter: str) -> None:
    (history,) = read("csv", "\ufeffthread,op,address,value\n0,W,x,1\n".replace(",", delimiter))
    assert whats(history) == ["0: W x=1"]


def test_csv_takes_the_floats_of_pandas() -> None:
    (history,) = read("csv", "thread,op,address,value,read,time\n0,RMW,x,2.0,0.0,5.\n")
    assert whats(history) == ["0: RMW x: 0→2"]


def test_csv_written() -> None:
    assert written("csv", message_passing('a "b"')).decode().split("\n") == [
        "thread,op,address,value,read,time,size,history", '0,W,x,1,,10,8,"a ""b"""', '0,F,,,,11,,"a ""b"""',
        '0,W,0x20,1,,,,"a ""b"""', '1,R,0x20,1,,,,"a ""b"""', '1,RMW,x,0xffffffffffffffff,0,,,"a ""b"""',
        ',final,x,1,,,,"a ""b"""', ""]


# JSON and JSON Lines


ROWS = [{"thread": 0, "op": "W", "address": 16, "value": 1}, {"cpu": 1.0, "kind": "R", "addr": "0x10", "val": "0x1"}]
DOCUMENTS = [
    ROWS,
    {"operations": ROWS},
    [{"operations": ROWS}],
    {"histories": [{"operations": ROWS, "final": None, "initial": None, "history": None}]},
]


@pytest.mark.parametrize("document", DOCUMENTS)
@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("name", ["json", "jsonl"])
def test_json_documents(document: object, indent: int | None, name: str) -> None:
    """The reader of JSON Lines takes a document on one line as well: they cannot always be told apart."""
    (history,) = read(name, json.dumps(document, indent=indent if name == "json" else None), "run.json")
    assert whats(history) == ["0: W 16=1", "1: R 16=1"]
    assert history.name == ("run" if document is ROWS else "run#1")


def test_json_initial_and_final_values() -> None:
    found = read("json", json.dumps([
        {"history": "one", "initial": {"x": 5}, "operations": [dict(ROWS[0], address="x")], "final": {"x": "0x1"}},
        {"history": 2, "initial": "0x7", "operations": [{"thread": 0, "op": "R", "address": "x", "value": 7}]},
    ]))
    assert [history.name for history in found] == ["one", "2"]
    assert [history.initial.tolist() for history in found] == [[5], [7]]
    assert found[0].final.tolist() == [0]
    assert found[1].source.tolist() == [INITIAL]


def test_json_lines_of_objects() -> None:
    (history,) = read("json", '[\n{"thread": "}{\\"", "op": "F", "note": {"a": [{}]}\n},\n\n'
                              '{\n"thread": "{", "op": "F"}, {"thread": "x", "op": "F"}]')
    assert history.line.tolist() == [2, 5, 6]


def test_json_written_has_an_operation_per_line() -> None:
    (history,) = read("json", written("json", message_passing()))
    assert history.line.tolist() == [3, 4, 5, 6, 7]


def test_json_empty_documents() -> None:
    assert read("json", "[]") == read("json", '{"histories": []}') == read("jsonl", "") == []
    assert [len(history) for history in read("json", '{"operations": []}')] == [0]


def test_json_lines_of_rows_and_of_histories() -> None:
    def row(name: object, value: int) -> str:
        return json.dumps(dict(ROWS[0], history=name, value=value)) + "\r\n"

    whole = json.dumps({"operations": ROWS}) + "\n\n"
    found = read("jsonl", row("a", 1) + row("a", 2) + row(5, 1) + row("5", 2) + whole + whole + row("c", 1), "-")
    assert [(history.name, len(history)) for history in found] == [
        ("a", 2), ("5", 2), ("stdin#1", 2), ("stdin#2", 2), ("c", 1)]
    assert [history.line.tolist() for history in found] == [[1, 2], [3, 4], [5, 5], [7, 7], [9]]


def test_json_gaps_are_null() -> None:
    (history,) = read("json", '[{"thread": 0, "op": "F", "address": null, "value": null, "read": null, "time": NaN}]')
    assert whats(history) == ["0: fence"]


# Parquet and Arrow


def table(**columns: Any) -> bytes:
    import pyarrow as pa
    from pyarrow import parquet

    stream = io.BytesIO()
    parquet.write_table(pa.table(columns), stream)
    return stream.getvalue()


def test_parquet_of_other_types() -> None:
    import pyarrow as pa

    (history,) = read("parquet", table(
        TID=pa.array([0, 1, 1]), op=pa.array(["W", "rmw", "F"]).dictionary_encode(),
        addr=pa.array([16, 16, None], pa.uint64()), data=pa.array([1, 2, 0], pa.uint8()),
        expected=pa.array([float("nan"), 1.0, float("nan")]), cycle=pa.array([1, None, 3], pa.int32()),
        history=pa.array([b"h", b"h", b"h"], pa.binary()), other=pa.array([[1], [], None])))
    assert whats(history) == ["0: W 16=1", "1: RMW 16: 1→2", "1: fence"]
    assert history.tick.tolist() == [1, NO_TICK, 3]
    assert history.line.tolist() == [1, 2, 3]
    assert history.name == "h"


def test_feather() -> None:
    import pyarrow as pa
    from pyarrow import feather

    stream = io.BytesIO()
    feather.write_feather(pa.table({"thread": ["0"], "op": ["W"], "address": ["x"], "value": [2**63 - 1]}), stream)
    assert recognised(stream.getvalue()) == ["arrow"]
    (history,) = read("arrow", stream.getvalue(), "run.feather")
    assert (history.name, history.written.tolist()) == ("run", [2**63 - 1])


def test_written_columns_are_typed() -> None:
    from pyarrow import parquet

    found = parquet.read_table(io.BytesIO(written("parquet", message_passing())))
    assert {field.name: str(field.type) for field in found.schema} == {
        "thread": "string", "op": "string", "address": "string", "value": "int64", "read": "int64",
        "time": "int64", "size": "int32", "history": "string"}
    assert found.column("value").to_pylist() == [1, None, 1, 1, -1, 1]


@pytest.mark.parametrize("name", BINARY)
def test_binary_formats_need_no_seeking(name: str) -> None:
    zipped = gzip.GzipFile(fileobj=io.BytesIO(gzip.compress(written(name, message_passing()))))
    (history,) = adapters.adapter(name).read(zipped, "trace.x", Options())  # type: ignore[arg-type]
    assert isinstance(history, History)
    assert facts(history) == facts(message_passing())


# Streams


STREAMS = {
    "axe": ["0: sync\n", "check\n", "0: sync\n", "check\n"],
    "jsonl": ['{"operations": []}\n', '{"operations": []}\n'],
    "csv": ["thread,op,address,value,history\n", "0,F,,,a\n", "0,F,,,b\n", "0,F,,,c\n"],
}


@pytest.mark.parametrize(("name", "asked"), [("axe", [2, 4]), ("jsonl", [1, 2]), ("csv", [3, 4, 4])])
def test_histories_come_as_soon_as_they_are_complete(name: str, asked: list[int]) -> None:
    given: list[str] = []

    def stream() -> Any:
        for line in STREAMS[name]:
            given.append(line)
            yield line.encode()

    found = adapters.adapter(name).read(stream(), "-", Options())
    assert [(isinstance(history, History), len(given)) for history in found] == [(True, count) for count in asked]


def test_a_pipe_is_not_read_ahead() -> None:
    reader, writer = os.pipe()
    with open(reader, "rb") as stream, open(writer, "wb", buffering=0) as pipe:
        found = adapters.adapter("jsonl").read(stream, "-", Options())
        for name in ("a", "b"):
            pipe.write(b'{"history": "%s", "operations": []}\n' % name.encode())
            history = next(found)
            assert isinstance(history, History)
            assert history.name == name


@pytest.mark.parametrize("name", TEXT + BINARY)
def test_shares_of_a_file_are_together_the_whole(name: str) -> None:
    """Errors count as well, and so do histories of rows among whole ones: all readers number alike."""
    data = written(name, *(small(f"h{number}", number) for number in range(900)))
    bad = {"axe": b"0: M[0] := one\ncheck\n", "jsonl": b'{"operations": 1}\n{"operations": [}\n' + b"".join(
        json.dumps({"thread": 0, "op": "W", "address": "x", "value": 1, "history": f"rows{k % 2}"}).encode() + b"\n"
        for k in range(4))}.get(name, b"")
    data = bad + data + bad
    whole = shared(name, data, Share())
    shares = [Share(place, 3) for place in range(3)]
    parts = [shared(name, data, share) for share in shares]
    assert {len(part) for part in parts} == {len(whole)} and len(whole) >= 900
    for number, item in enumerate(whole):
        own, = (part[number] for share, part in zip(shares, parts, strict=True) if share.has(number))
        assert own == item
    skips = sum(item == "Skipped" for part in parts for item in part)
    assert skips > 1500 if name in ("axe", "json", "jsonl") else skips == 0


def small(name: str, value: int) -> History:
    builder = Builder(name, "")
    builder.write("0", "0", value + 1)
    return builder.build()


def shared(name: str, data: bytes, share: Share) -> list[str]:
    found = adapters.adapter(name).read(io.BytesIO(data), "trace.x", Options(share=share))
    return ["Skipped" if isinstance(item, Skipped) else str(item) if isinstance(item, InputError)
            else f"{item.name} {whats(item)} {item.line}" for item in found]
