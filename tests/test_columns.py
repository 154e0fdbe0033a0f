"""Tables read by columns give the histories that their rows give."""

from __future__ import annotations

import gzip
import io
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from gradual.adapters import _batches, _columns, _table
from gradual.adapters import csv as csv_adapter
from gradual.adapters._rows import OP_NAMES
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import feather, parquet
from test_adapters import annotated, histories, message_passing, written

import gradual
from gradual import adapters
from gradual.history import AMBIGUOUS, Addresses, Builder, History, InputError, Options
from gradual.history.annotations import PAIRS

FORMATS = ("arrow", "csv", "parquet")


def everything(item: History | InputError) -> dict[str, object]:
    if isinstance(item, InputError):
        return vars(item)
    return {field.name: _plain(getattr(item, field.name)) for field in fields(item)}


def _plain(value: object) -> object:
    if not isinstance(value, np.ndarray):
        return value
    assert value.flags.writeable and value.flags.c_contiguous and value.flags.aligned
    return value.dtype.str, value.tolist()


class Read:
    """A trace, read by columns and read by rows: the same, or this fails."""

    def __init__(self, name: str, data: bytes | str, **options: Any) -> None:
        self.histories_by_rows: list[int] = []
        data = data.encode() if isinstance(data, str) else data
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "trace.x")
            file.write_bytes(data)
            fast = list(self._fast(name, data, str(file), Options(**options)))
            slow = list(self._slow(name, data, str(file), Options(**options)))
        assert [everything(item) for item in fast] == [everything(item) for item in slow]
        self.found = slow
        self.errors = [str(item) for item in slow if isinstance(item, InputError)]

    def _fast(self, name: str, data: bytes, file: str, options: Options) -> Iterator[History | InputError]:
        rows_of_batches, records = _batches._rows, csv_adapter._records

        def batches(held: Any, *rest: Any) -> Any:
            held = list(held) if isinstance(held, list) else held
            self.histories_by_rows.append(sum(map(len, held)) if isinstance(held, list) else -1)
            return rows_of_batches(held, *rest)

        def lines(*arguments: Any) -> Any:
            self.histories_by_rows.append(arguments[1])
            return records(*arguments)

        with patch.object(_batches, "_rows", batches), patch.object(csv_adapter, "_records", lines), \
                patch.object(csv_adapter, "_SMALL_PIECE", 0):
            yield from adapters.adapter(name).read(io.BytesIO(data), file, options)

    @staticmethod
    def _slow(name: str, data: bytes, file: str, options: Options) -> Iterator[History | InputError]:
        with patch.object(_columns.Table, "__init__", side_effect=_columns.Declined):
            yield from adapters.adapter(name).read(io.BytesIO(data), file, options)

    @property
    def by_columns(self) -> bool:
        return not self.histories_by_rows


def table(**columns: Any) -> bytes:
    stream = io.BytesIO()
    parquet.write_table(pa.table(columns), stream)
    return stream.getvalue()


def made(count: int, operations: int = 17) -> list[History]:
    return [gradual.generate("tso", threads=4, operations=operations, locations=3, seed=seed) for seed in range(count)]


# Any history


@pytest.mark.parametrize("name", FORMATS)
@given(drawn=st.lists(histories() | histories(annotated=True), min_size=1, max_size=4))
@settings(deadline=None)
def test_any_histories(name: str, drawn: list[History]) -> None:
    Read(name, written(name, *drawn))


@pytest.mark.parametrize("name", FORMATS)
@given(drawn=st.lists(histories(initial=False, addresses=st.integers(0, 40).map(hex) | st.integers(0, 40).map(str)),
                      min_size=1, max_size=3),
       low=st.integers(0, 40), initial=st.integers(0, 2),
       at=st.dictionaries(st.integers(0, 40), st.integers(0, 2**64 - 1)))
@settings(deadline=None)
def test_any_options(name: str, drawn: list[History], low: int, initial: int, at: dict[int | str, int]) -> None:
    Read(name, written(name, *drawn), initial=initial, initial_at=at, addresses=Addresses([(low, low + 8), (1, 4)]))


CELLS = {
    "thread": ["0", "1", " 1", "", "main"],
    "op": ["R", "W", "w ", "rmw", "F", "F", "Load", "LR", "sc", "F.w.w", "sync.tso", "init", "final", "", "?"],
    "address": ["x", "y", " x", "0x10", "16", "010", "", "-1", "18446744073709551615"],
    "value": ["0", "1", "0x2", "3", " 4", "5.0", "", "-1", "0xffffffffffffffff", "18446744073709551615", "1e3", "x"],
    "read": ["0", "1", "", "", "y"], "time": ["", "5", "0x10", "-1", "9223372036854775808"],
    "size": ["", "", "4", "8", "-1", "3000000000"],
    "fence": ["", "", "r.r", "RW.rw", "tso", "x"], "aqrl": ["", "", "aq", "rl.pc", "acquire"],
    "begin": ["", "3", "0", "0x4", "-1", "soon"], "end": ["", "", "5", "4", "2"],
    "order": ["", "", "3", "0", "-1", "aq"],
    "addr": ["", "", "1", "1;2", "9"], "data": ["", "", "", "1"], "ctrl": ["", "", "", "1 2", "0"],
    "pair": ["", "", "", "1", "x"], "history": ["a", "a", "a ", "b", "", "trace"],
}
cells = {name: st.sampled_from(some[:3]) | st.sampled_from(some) for name, some in CELLS.items()}


@given(rows=st.lists(st.fixed_dictionaries(cells), max_size=12), sort=st.booleans(), delimiter=st.sampled_from(",;\t"),
       end=st.sampled_from(["\n", "\r\n"]), quoted=st.booleans(),
       left_out=st.sets(st.sampled_from(["size", "history"])) | st.sets(st.sampled_from([*CELLS][6:])))
@settings(deadline=None)
def test_any_cells(rows: list[dict[str, str]], sort: bool, delimiter: str, end: str, quoted: bool,
                   left_out: set[str]) -> None:
    if sort:
        rows.sort(key=lambda row: row["history"].strip())
    columns = [name for name in CELLS if name not in left_out]
    lines = [[f'"{row[name]}"' if quoted and name in ("op", "thread") else row[name] for name in columns]
             for row in rows]
    Read("csv", "".join(delimiter.join(line) + end for line in [columns, *lines]))
    texts = {name: pa.array([row[name] for row in rows], pa.string()) for name in columns}
    Read("parquet", table(**texts))
    gaps = {name: pa.array([row[name] or None for row in rows], pa.string()) for name in columns}
    Read("parquet", table(**gaps | {"op": gaps["op"].dictionary_encode(), "history": gaps["thread"].cast(pa.binary())}))


@st.composite
def depending(draw: st.DrawFn) -> dict[str, list[str]]:
    """Rows of two threads that name each other in all ways there are, most of them right."""
    columns: dict[str, list[str]] = {name: [] for name in CELLS}
    for history in draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=3, unique=True)):
        own: dict[str, list[str]] = {"0": [], "1": []}
        for value in range(draw(st.integers(1, 12))):
            thread, op = draw(st.sampled_from("01")), draw(st.sampled_from([*OP_NAMES, "R", "init"]))
            row = {"thread": thread, "op": op, "address": draw(st.sampled_from(["8", "16", "24"])),
                   "value": str((value + 1) * (op not in ("R", "LR"))), "read": "0" * (op == "RMW"),
                   "history": history}
            if op == "init":
                row |= {"address": f"{value}", "ctrl": "1"}
            else:
                near = [str(at) for at, other in enumerate(own[thread], 1) if other not in ("W", "F")] or [""]
                near = near * 9 + ["0", str(len(own[thread]) + 1), "1"]
                some = st.lists(st.sampled_from(near), max_size=2).map(lambda found: "; ".join(filter(None, found)))
                row |= {"ctrl": draw(some), "addr": draw(some) if op != "F" else "",
                        "data": draw(some) if op in ("W", "SC", "RMW") else ""}
                reserved = [str(at) for at, other in enumerate(own[thread], 1) if other == "LR"] or [""]
                row["pair"] = draw(st.sampled_from([*reserved, ""] * 9 + near[-2:])) if op in ("W", "SC") else ""
                own[thread].append(op)
            for name, column in columns.items():
                column.append(row.get(name, ""))
    return columns


@given(rows=depending(), low=st.sampled_from([0, 0, 8, 16]))
@settings(deadline=None)
def test_any_dependencies(rows: dict[str, list[str]], low: int) -> None:
    chosen: dict[str, Any] = {"addresses": Addresses([(low, 64)])} if low else {}
    lines = [",".join(line) for line in (rows, *zip(*rows.values(), strict=True))]
    Read("csv", "\n".join(lines), **chosen)
    given = {name: pa.array([cell or None for cell in column], pa.string()) for name, column in rows.items()}
    Read("parquet", table(**given), **chosen)
    with suppress(pa.ArrowInvalid):
        whole = {name: given[name].cast(pa.int32()) for name in ("addr", "data", "pair")}
        Read("parquet", table(**given | whole), **chosen)


numbers = st.none() | st.integers(0, 5) | st.sampled_from([-1, 2**53, 2**62])
TYPES = [pa.int64(), pa.float64(), pa.string(), pa.int8(), pa.uint64(), pa.dictionary(pa.int8(), pa.int64()),
         pa.bool_()]


@given(rows=st.lists(st.tuples(numbers, st.sampled_from("RWF"), *[numbers] * 4), min_size=1, max_size=9),
       types=st.tuples(*[st.sampled_from(TYPES)] * 5))
@settings(deadline=None)
def test_any_types(rows: list[tuple[Any, ...]], types: tuple[pa.DataType, ...]) -> None:
    thread, op, *rest = map(list, zip(*rows, strict=True))
    columns: dict[str, Any] = {"op": op}
    for name, of, column in zip(["thread", "address", "value", "time", "history"], types, [thread, *rest], strict=True):
        try:
            columns[name] = pa.array(column, pa.int64()).cast(getattr(of, "value_type", of))
        except pa.ArrowInvalid:
            columns[name] = pa.array(column, pa.int64())
        if pa.types.is_dictionary(of):
            columns[name] = columns[name].dictionary_encode()
    Read("parquet", table(**columns))
    stream = io.BytesIO()
    feather.write_feather(pa.table(columns), stream, chunksize=2)
    Read("arrow", stream.getvalue())


@pytest.mark.parametrize(("name", "note"), [
    ("fnce", "no column is called 'fnce', so it was not read: is fence meant?"), ("Sizes", "is size meant?"),
    ("colour", ""), ("date", "")])
def test_names_that_nearly_are_those_of_columns(name: str, note: str, tmp_path: Path) -> None:
    text = f"thread,op,address,value,{name}\n" + "0,W,x,1,\n1,R,x,1,\n" * 2
    (tmp_path / "t.csv").write_text(text)
    rows = [dict(zip(text.split("\n")[0].split(","), line.split(","), strict=True)) for line in text.split("\n")[1:-1]]
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "t.parquet")
    for source in (tmp_path / "t.csv", tmp_path / "t.parquet", rows):
        (found,) = gradual.read(source) if isinstance(source, Path) else _table.table(source, Options())
        told = [words for words in found.notes if "column" in words]  # type: ignore[union-attr]
        assert len(told) == bool(note) and note in "".join(told)


def test_hex_without_0x() -> None:
    columns = {"thread": ["0", "0"], "op": ["W", "R"], "address": ["10", "0x10"], "value": ["12", "0x12"]}
    for read in (Read("parquet", table(**columns), hex=True), Read("csv", "thread,op,address,value\n0,W,10,12\n"
                                                                  "0,R,0x10,0x12\n", hex=True)):
        (found,) = read.found
        assert isinstance(found, History) and found.source.tolist() == [-3, 0]


def test_columns_that_nobody_asks_for_or_that_hold_nothing_are_not_read() -> None:
    data = table(thread=["0"], op=["W"], address=["x"], value=[1], colour=["red"], time=pa.nulls(1, pa.int64()),
                 fence=pa.nulls(1, pa.string()))
    with patch.object(_batches, "_histories", return_value=iter(())) as histories:
        list(adapters.adapter("parquet").read(io.BytesIO(data), "x", Options()))
    rest, columns, *_ = histories.call_args.args
    assert {name for name in columns if name} == {"thread", "op", "address", "value"}
    assert next(rest).schema.names == ["thread", "op", "address", "value"]


# What goes by columns


@pytest.mark.parametrize("name", FORMATS)
def test_generated_histories_go_by_columns(name: str) -> None:
    for some in (made(1, 3000), made(60)):
        read = Read(name, written(name, *some))
        assert read.by_columns
        assert len(read.found) == len(some)


@pytest.mark.parametrize("name", FORMATS)
def test_dependencies_go_by_columns(name: str) -> None:
    for some in ([gradual.generate("rvwmo", operations=3000)], [
            gradual.generate("rvwmo", operations=40, seed=seed) for seed in range(20)], [annotated()]):
        read = Read(name, written(name, *some))
        assert read.by_columns
        assert {name for history in some for name in history.annotations()} >= {*PAIRS}


def test_many_spellings_go_by_columns() -> None:
    read = Read("csv", "history;cpu;op;colour;addr;data;old;cycle;size\n"
                       "a;0;W;;0x10;0x1;;;8\na;1;R;red;16;1;;7;8\na;1;rmw; ;0X10;2;1;0x8;8\na; 1;F;;;;;;\n"
                       ";0;ld;;lock;0xffffffffffffffff;;;\ntrace;0;st;;lock;18446744073709551615;;;\n"
                       "b;0;W;;0x18;1;;;4\nb;0;W;;0x1c;1;;;4\nb;0;R;;0x1C;1;;;4")
    assert read.by_columns
    first, second, third = read.found
    assert isinstance(first, History) and isinstance(second, History) and isinstance(third, History)
    assert (first.locations, first.threads) == (("0x10",), ("0", "1"))
    assert (first.source.tolist(), first.line.tolist()) == ([-3, 0, 0, -3], [2, 3, 4, 5])
    assert (second.name, second.source.tolist()) == ("trace", [1, -3])
    assert third.size is not None and second.size is None


def test_annotations_of_single_operations_go_by_columns() -> None:
    read = Read("csv", "history,thread,op,address,value,fence,aqrl,begin,end\na,0,W,x,1,,rl,5,\na,0,F,,,w.w,,,\n"
                       "a,0,LR,x,1,,aqrl.pc,6,7\na,0,F,,,,,,\nb,0,F,,,,,,\nb,0,F.rw.rw,,,rw.rw,,,\nc,0,F.tso,,,,,,9\n")
    assert read.by_columns
    first, second, third = read.found
    assert isinstance(first, History) and isinstance(second, History) and isinstance(third, History)
    assert {name: column.tolist() for name, column in first.annotations().items()} == {
        "fence": [0, 8, 0, 15], "marks": [2, 0, 15, 0], "begin": [5, -1, 6, -1], "end": [-1, -1, 7, -1]}
    assert second.annotations() == {}
    assert {name: column.tolist() for name, column in third.annotations().items()} == {"fence": [11], "end": [9]}


def test_types_go_by_columns() -> None:
    nan = float("nan")
    assert Read("parquet", table(
        TID=pa.array([0, 1, 1]), op=pa.array(["W", "rmw", "F"]).dictionary_encode(),
        addr=pa.array([16.0, 16.0, nan]), data=pa.array([2**64 - 1, 2, 0], pa.uint64()),
        expected=pa.array([nan, -1.0, None]), cycle=pa.array([1, None, 3], pa.int32()), size=pa.nulls(3),
        history=pa.array([b"h", b"h", b"h"], pa.binary()))).by_columns


def test_dictionaries_of_bytes_are_no_names() -> None:
    for of in (pa.binary(), pa.large_binary()):
        stream = io.BytesIO()
        columns: dict[str, Any] = {"thread": pa.array([b"0"], of).dictionary_encode(), "op": ["W"], "address": ["x"]}
        feather.write_feather(pa.table(columns | {"value": [1]}), stream)
        assert Read("arrow", stream.getvalue()).errors


# What goes by rows


def nothing(name: str = "nothing") -> History:
    """The table has a row for it that says so, which is odd."""
    return Builder(name, "x").build()


@pytest.mark.parametrize("name", FORMATS)
def test_only_odd_histories_go_by_rows(name: str) -> None:
    twice = Builder("twice", "x")
    for thread in "01":
        twice.write(thread, "x", 1)
    some = [*made(3), nothing(), message_passing(), *made(2), twice.build(), *made(2)]
    read = Read(name, written(name, *some))
    assert len(read.histories_by_rows) == 1
    assert len(read.found) == len(some)
    twice.final("y", 0)
    assert not Read(name, written(name, *made(2), twice.build())).errors
    Read(name, written(name, *some), initial=1)


def test_ambiguous_histories_in_the_middle() -> None:
    rows = [(name, op, value) for name in "abc" for op, value in (("W", 1), ("W", 1 + (name != "b")), ("R", 1))]
    lines = [f"0,{op},x,{value},{name}\n" for name, op, value in rows]
    read = Read("csv", "thread,op,address,value,history\n" + "".join(lines))
    assert read.by_columns and not read.errors
    assert [history.source.tolist()[2] for history in read.found] == [0, AMBIGUOUS, 0]


HEAD = "thread,op,address,value,read,time,size,history\n"


@pytest.mark.parametrize("row", [
    "0,init,,5,,,,b", "0,init,x,,,,,b", ",final,,1,,,,b", "0,jump,x,1,,,,b", ",W,x,1,,,,b", "0,W,,1,,,,b",
    "0,W,x,,,,,b", "0,W,x,a,,,,b",
    "0,W,x,18446744073709551616,,,,b", "0,RMW,x,7,,,,b", "0,RMW,x,7,?,,,b", "0,W,x,7,,-5,,b", "0,F,,,,soon,,b",
    "0,W,x,7,,,2147483648,b", "0,W,0x11,7,,,4,b", "0,W,x,7,,,,a",
])
def test_odd_rows_go_by_rows_alone(row: str) -> None:
    read = Read("csv", f"{HEAD}0,W,0x10,1,,,4,a\n0,W,0x10,1,,,4,b\n{row}\n0,R,0x10,1,,,4,c\n0,R,0x10,0,,,4,c\n")
    assert len(read.histories_by_rows) == 1 and read.histories_by_rows != [1]
    assert len(read.errors) == (row != "0,init,,5,,,,b")
    numbered = [line.split(",") for line in ("0,W,0x10,1,,,4,a", "0,W,0x10,1,,,4,b", row, "0,R,0x10,1,,,4,c")]
    columns = dict(zip(HEAD.strip().split(","), zip(*numbered, strict=True), strict=True))
    assert Read("parquet", table(**columns)).histories_by_rows in ([2], [1])


@pytest.mark.parametrize("text", [
    "0,W,x\n", "0,W,x,1,,,,a,more\n", "0,W,x,1,,,,a,\n", "\n0,W,x,1\n", "   \n0,W,x,1,,,,a\n",
    ",,,,,,,\n0,W,x,1,,,,a\n",
    '0,W,"x\ny",1,,,,a\n0,W,x,1,,,,a\n', '0,W,"x,1,,,,a\n0,W,y,1,,,,a\n', '0,W,"x""y",1,,,,a\n', '0,W,x"y,1,,,,a\n',
    '0,W, "x",1,,,,a\n', "0,W,x,1,,,,a\r0,W,y,1,,,,a\n", "0,W,x\0,1,,,,a\n", "", "0,,x,1,,,,a\n",
    "0,W," + "x" * 140_000 + ",1,,,,a\n", '0,W,x,1,,,,"a"',
])
def test_odd_files_go_by_rows(text: str) -> None:
    assert Read("csv", HEAD + text).histories_by_rows == [1]


@pytest.mark.parametrize("data", [
    b"", b"\n" + HEAD.encode() + b"0,W,x,1,,,,\n", b"thread,op,address\n0,W,x\n", b"thread,cpu,core,op\n", b"a\n",
    HEAD.encode() + b"0,W,x\xff,1,,,,a\n0,W,x,1,,,,b\n",
])
def test_odd_csv(data: bytes) -> None:
    Read("csv", data)


@pytest.mark.parametrize("data", [
    b"\xef\xbb\xbf" + HEAD.encode() + b"0,W,x,1,,,,\n",
    HEAD.replace("\n", "\r\n").encode() + b"0,W,x,1,,,,\r\n1,R,x,1,,,,\r\n",
    HEAD.encode() + b'"0","W","x, y",1,,,"","a"\n"1","R",x,"0",,,,"a"\n',
    b'"thread","op",address,value,"\xff"\n0,W,x,1,\xfe\n',
])
def test_plain_enough_csv(data: bytes) -> None:
    assert Read("csv", data).by_columns


@pytest.mark.parametrize("column", ["thread", "value", "history"])
def test_text_that_is_none_in_parquet(column: str) -> None:
    for spoilt in (b"abc\xff\xfe\xfd", b"abc\xed\xa0\x80"):  # a lone surrogate
        buffers = pa.array(["abc", "def"]).buffers()[:2]
        bad = pa.Array.from_buffers(pa.string(), 2, [*buffers, pa.py_buffer(spoilt)])
        columns: dict[str, Any] = {"thread": ["0", "1"], "op": ["W", "R"], "address": ["x", "x"], "value": ["1", "1"]}
        read = Read("parquet", table(**columns | {column: bad}))
        assert "the rest of the file cannot be read" in read.errors[-1]


@pytest.mark.parametrize("together", [1, 7, 40, 200])
def test_histories_across_batches(together: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_batches, "_TOGETHER", together)
    monkeypatch.setattr(_batches, "_ROWS", 10)
    some = [*made(5), nothing(), message_passing(), *made(1, 200), *made(4, 3), *made(2)]
    read = Read("arrow", written("arrow", *some))
    assert len(read.found) == len(some)
    assert read.histories_by_rows == [1]
    names = [history.name for history in some]
    columns = {"thread": [0] * 50, "op": ["F"] * 50, "address": [""] * 50, "value": [""] * 50,
               "history": [names[at // 4 % 5] + str(at // 4 % 5) for at in range(50)]}
    stream = io.BytesIO()
    feather.write_feather(pa.table(columns), stream, chunksize=3)
    assert len(Read("arrow", stream.getvalue()).errors) == 8


@pytest.mark.parametrize("name", ["arrow", "parquet"])
def test_a_history_without_a_name_beside_many(name: str) -> None:
    names = [None, *(f"h{n}" for n in range(128))]
    columns = pa.table({"history": pa.array(names).dictionary_encode(), "thread": ["0"] * 129, "op": ["W"] * 129,
                        "address": ["x"] * 129, "value": pa.array([*range(1, 130)])})
    stream = io.BytesIO()
    parquet.write_table(columns, stream) if name == "parquet" else feather.write_feather(columns, stream)
    found = Read(name, stream.getvalue()).found
    assert [item.name for item in found[1:]] == names[1:] and found[0].name not in names  # type: ignore[union-attr]


@pytest.mark.parametrize("name", ["arrow", "parquet"])
def test_damaged_files(name: str) -> None:
    data = bytearray(written(name, *made(40)))
    for at in range(8, len(data), max(1, len(data) // 60)):
        damaged = bytes(data[:at]) + bytes([data[at] ^ 0x55]) + bytes(data[at + 1:])
        Read(name, damaged)


def test_zipped_and_damaged_csv(tmp_path: Path) -> None:
    data = gzip.compress(written("csv", *made(900)))
    for name, some in (("whole.csv.gz", data), ("cut.csv.gz", data[: len(data) * 3 // 4])):
        file = tmp_path / name
        file.write_bytes(some)
        fast = [everything(item) for item in gradual.read(file)]
        with patch.object(csv_adapter, "_SMALL", 1 << 40):
            assert [everything(item) for item in gradual.read(file)] == fast
        assert len(fast) > 500


def test_large_csv_is_read_as_it_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "trace.csv"
    file.write_bytes(written("csv", *made(900)))
    fast = [everything(item) for item in gradual.read(file)]
    monkeypatch.setattr(csv_adapter, "_LARGE", 100_000)
    monkeypatch.setattr(csv_adapter, "_by_columns", None)
    assert [everything(item) for item in gradual.read(file)] == fast


# Writing


@pytest.mark.parametrize("name", ["arrow", "parquet"])
@given(drawn=st.lists(histories() | histories(annotated=True), max_size=4))
@settings(deadline=None)
def test_written_by_columns(name: str, drawn: list[History]) -> None:
    with patch.object(_batches, "BY_COLUMNS", 0), patch.object(_batches, "_ROWS", 3):
        by_columns = written(name, *drawn)
    with patch.object(_batches, "BY_COLUMNS", 1 << 40):
        by_rows = written(name, *drawn)
    tables = [parquet.read_table(io.BytesIO(data)) if name == "parquet" else feather.read_table(io.BytesIO(data))
              for data in (by_columns, by_rows)]
    assert tables[0].equals(tables[1])


def test_reading_holds_nothing_but_the_history(tmp_path: Path) -> None:
    """While a large history is decided, its reader waits: with none of Arrow's memory."""
    gradual.write([gradual.generate("tso", operations=2000)], tmp_path / "large.parquet")
    before = pa.total_allocated_bytes()
    reading = gradual.read(tmp_path / "large.parquet")
    assert len(next(reading)) == 2000  # type: ignore[arg-type]
    assert pa.total_allocated_bytes() == before
    assert next(reading, None) is None
