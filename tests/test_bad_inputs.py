"""What cannot be read is told in the user's terms, with its place, and costs its own history only."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradual import adapters
from gradual.history import Addresses, Builder, History, InputError, Options

Outcome = str | tuple[int, str]
"""The name of a history that was read, or the line and the text of an error."""


def outcomes(name: str, data: str | bytes, **options: Any) -> list[Outcome]:
    stream = io.BytesIO(data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data)
    found: list[Outcome] = []
    for one in adapters.adapter(name).read(stream, f"trace.{name}", Options(**options)):
        if isinstance(one, History):
            found.append(one.name)
        else:
            place, _, _ = str(one).partition(": ")
            assert place == (f"trace.{name}:{one.line}" if one.line else f"trace.{name}")
            assert len(str(one)) < 400
            assert "\n" not in str(one)
            found.append((one.line, one.message))
    return found


def assert_only_b_is_lost(found: list[Outcome], line: int, words: str) -> None:
    """Of three histories the second is told as an error, and the first and third are read."""
    assert len(found) == 3, found
    before, error, after = found
    assert isinstance(before, str) and isinstance(after, str)
    assert isinstance(error, tuple)
    assert error[0] == line
    assert words in error[1]


# The common table, in the three formats that spell cells as text or JSON


OP = "is not one of R, W, RMW, F (or read, write"
CELLS: list[tuple[dict[str, object], str]] = [
    ({"op": "fetch"}, f"op 'fetch' {OP}"),
    ({"op": "R W"}, f"op 'R W' {OP}"),
    ({"op": "1"}, f"op '1' {OP}"),
    ({"op": ""}, "op is missing"),
    ({"op": "x" * 5000}, f"…' {OP}"),
    ({"op": "R\nW"}, f"op 'R\\nW' {OP}"),
    ({"thread": ""}, "thread is missing"),
    ({"thread": "  "}, "thread is missing"),
    ({"thread": "", "op": "F"}, "thread is missing"),
    ({"address": ""}, "address is missing"),
    ({"address": "", "op": "final"}, "address is missing"),
    ({"value": ""}, "value is missing"),
    ({"value": "", "op": "init"}, "value is missing"),
    ({"value": "12z"}, "value '12z' is not a number"),
    ({"value": "0x"}, "value '0x' is not a number"),
    ({"value": "0xfg"}, "value '0xfg' is not a number"),
    ({"value": "1_000"}, "value '1_000' is not a number"),
    ({"value": "1.5"}, "value '1.5' is not a number"),
    ({"value": "1e3"}, "value '1e3' is not a number"),
    ({"value": "--1"}, "value '--1' is not a number"),
    ({"value": "9" * 5000}, "…' is not a number"),
    ({"value": "²"}, "value '²' is not a number"),
    ({"value": "x", "op": "init", "thread": ""}, "value 'x' is not a number"),
    ({"value": "x", "op": "final", "thread": ""}, "value 'x' is not a number"),
    ({"value": str(2**64)}, "value 18446744073709551616 does not fit into 64 bits"),
    ({"value": str(-(2**63) - 1)}, "does not fit into 64 bits"),
    ({"value": "0x10000000000000000"}, "does not fit into 64 bits"),
    ({"op": "rmw"}, "an rmw needs the value it read, in the column 'read'"),
    ({"op": "rmw", "read": " "}, "an rmw needs the value it read, in the column 'read'"),
    ({"op": "rmw", "read": "?"}, "read '?' is not a number"),
    ({"op": "rmw", "read": str(2**65)}, "does not fit into 64 bits"),
    ({"time": "noon"}, "time 'noon' is not a number"),
    ({"time": "-5"}, "time '-5' is not between 0 and 2^63"),
    ({"time": str(2**63)}, "is not between 0 and 2^63"),
    ({"time": "12.5"}, "time '12.5' is not a number"),
    ({"time": "x", "op": "F"}, "time 'x' is not a number"),
    ({"size": "word"}, "size 'word' is not a number"),
    ({"size": "-1"}, "size '-1' is not 1, 2, 4 or 8 bytes"),
    ({"size": "0"}, "size '0' is not 1, 2, 4 or 8 bytes; leave it out where it is not known"),
    ({"size": "3"}, "size '3' is not 1, 2, 4 or 8 bytes"),
    ({"size": str(2**31)}, "is not 1, 2, 4 or 8 bytes"),
    ({"fence": "x", "op": "F"}, "fence 'x' is not one of r.r, r.w, r.rw, w.r, w.w, w.rw, rw.r, rw.w, rw.rw, tso, i"),
    ({"fence": "r.r"}, "fence 'r.r' says what a fence orders, and this is none"),
    ({"fence": "r.r", "op": "F.w.w"}, "op and fence say that this fence orders different things; keep fence 'r.r'"),
    ({"op": "F.x"}, "fence 'x' is not one of r.r, r.w, r.rw, w.r, w.w, w.rw, rw.r, rw.w, rw.rw, tso, i"),
    ({"aqrl": "acquire"}, "aqrl 'acquire' is not one of aq, rl, aqrl, aq.pc, rl.pc, aqrl.pc"),
    ({"aqrl": "aq", "op": "F"}, "a fence is no acquire or release by itself; say what it orders by its kind"),
    ({"begin": "noon"}, "begin 'noon' is not a number"),
    ({"begin": "-1"}, "begin '-1' is not between 0 and 2^63"),
    ({"end": str(2**63)}, "is not between 0 and 2^63"),
    ({"begin": "7", "end": "6"}, "this ends at 6, before it begins at 7"),
    ({"order": "first"}, "order 'first' is not a number"),
    ({"order": "-1"}, "order '-1' is not between 0 and 2^63"),
    ({"order": "aq"}, "order 'aq' is no place in the store order; acquire and release stand in the column aqrl"),
    ({"order": "1", "op": "R"}, "order is a place in the store order, and this is a read"),
    ({"order": "1", "op": "F"}, "order is a place in the store order, and this is a fence"),
    ({"addr": "x"}, "addr 'x' is not a number"),
    ({"ctrl": "1,2"}, "ctrl '1,2' is not a number"),
    ({"addr": "1"}, "addr must name an operation that reads, or a store-conditional: nothing depends on a write"),
    ({"addr": "2"}, "addr 2 is no earlier operation of thread 0; this is its operation 2, counted from 1"),
    ({"ctrl": "0"}, "ctrl 0 is no earlier operation of thread 0"),
    ({"data": "1 7"}, "data must name an operation that reads"),
    ({"data": "1", "op": "R"}, "data is a dependency of a write, and this is a read"),
    ({"addr": "1", "op": "F"}, "addr is a dependency of an access, and this is a fence"),
    ({"pair": "1"}, "pair leads from a store-conditional, a write, to its load-reserved, a read"),
    ({"pair": "3"}, "pair 3 is no earlier operation of thread 0"),
    ({"pair": "one"}, "pair 'one' is not a number"),
    ({"thread": "\udcff"}, "thread '\\xff' is not UTF-8 text"),
    ({"address": "a\udc80"}, "address 'a\\x80' is not UTF-8 text"),
    ({"value": "\udcfe1"}, "value '\\xfe1' is not a number"),
]
VALUES: list[tuple[dict[str, object], str]] = [
    ({"value": 1.5}, "value 1.5 is not a whole number"),
    ({"value": 1e300}, "is not a whole number, or too large"),
    ({"value": 2.0**60}, "is not a whole number, or too large"),
    ({"value": float("inf")}, "value inf is not a whole number"),
    ({"value": float("nan")}, "value is missing"),
    ({"value": True}, "value true is not a number"),
    ({"value": None}, "value is missing"),
    ({"value": [1]}, "value a list is not a number"),
    ({"value": {"a": 1}}, "value an object is not a number"),
    ({"value": 2**64}, "does not fit into 64 bits"),
    ({"op": 5}, f"op 5 {OP}"),
    ({"op": None}, "op is missing"),
    ({"op": ["R"]}, "op a list is neither a name nor a number"),
    ({"op": "rmw", "read": None}, "an rmw needs the value it read"),
    ({"op": "rmw", "read": False}, "read false is not a number"),
    ({"thread": True}, "thread true is neither a name nor a number"),
    ({"thread": 0.5}, "thread 0.5 is not a whole number"),
    ({"thread": None}, "thread is missing"),
    ({"address": []}, "address a list is neither a name nor a number"),
    ({"address": None}, "address is missing"),
    ({"address": "\ud800"}, "is not UTF-8 text"),
    ({"time": -1}, "time -1 is not between 0 and 2^63"),
    ({"time": {}}, "time an object is not a number"),
    ({"size": 4.5}, "size 4.5 is not a whole number"),
    ({"aqrl": 1}, "aqrl 1 is not one of aq, rl"),
    ({"aqrl": []}, "aqrl a list is neither a name nor a number"),
    ({"fence": True, "op": "F"}, "fence true is neither a name nor a number"),
    ({"begin": 0.5}, "begin 0.5 is not a whole number"),
    ({"order": 1.5}, "order 1.5 is not a whole number"),
    ({"order": [1]}, "order a list is not a number"),
    ({"addr": ["x"]}, "addr 'x' is not a number"),
    ({"ctrl": {}}, "ctrl an object is not a number"),
    ({"pair": [1]}, "pair a list is not a number"),
]
COLUMNS = ("thread", "op", "address", "value", "read", "time", "size", "fence", "aqrl", "begin", "end", "order",
           "addr", "data", "ctrl", "pair", "history")


def cells(name: str, **others: object) -> dict[str, object]:
    return {"thread": "0", "op": "W", "address": "x", "value": "1", "history": name} | others


def csv_row(row: dict[str, object]) -> str:
    return ",".join('"' + str(row.get(column, "")).replace('"', '""') + '"' for column in COLUMNS) + "\n"


def csv_of(*rows: dict[str, object] | str) -> str:
    return ",".join(COLUMNS) + "\n" + "".join(row if isinstance(row, str) else csv_row(row) for row in rows)


def jsonl_of(*rows: dict[str, object] | str) -> str:
    return "".join(row if isinstance(row, str) else dumped(row) + "\n" for row in rows)


def dumped(value: object) -> str:
    """JSON in which an undecodable byte stands as the byte it is."""
    text = json.dumps(value)
    for byte in range(0x80, 0x100):
        text = text.replace(f"\\udc{byte:02x}", chr(0xDC00 + byte))
    return text


@pytest.mark.parametrize(("bad", "words"), CELLS)
def test_csv_cells(bad: dict[str, object], words: str) -> None:
    text = csv_of(cells("a"), cells("b"), cells("b", **bad), cells("b", value="2"), cells("b", op="?"), cells("c"))
    assert_only_b_is_lost(outcomes("csv", text), 4, words)


@pytest.mark.parametrize(("bad", "words"), CELLS + VALUES)
def test_json_lines_rows(bad: dict[str, object], words: str) -> None:
    text = jsonl_of(cells("a"), cells("b"), cells("b", **bad), cells("b", value="2"), cells("b", op="?"), cells("c"))
    assert_only_b_is_lost(outcomes("jsonl", text), 3, words)


@pytest.mark.parametrize("name", ["json", "jsonl"])
@pytest.mark.parametrize(("bad", "words"), CELLS + VALUES)
def test_json_histories(name: str, bad: dict[str, object], words: str) -> None:
    texts = [dumped({"operations": [cells(""), cells("", value=2) | row]}) for row in ({}, bad, {})]
    text = '{"histories": [' + ",\n".join(texts) + "]}" if name == "json" else "\n".join(texts)
    found = outcomes(name, text)
    assert_only_b_is_lost(found, 2, words)
    assert found[1][1].startswith("operation 2: ")


@pytest.mark.parametrize("name", ["arrow", "parquet"])
@pytest.mark.parametrize(("bad", "words"), [case for case in CELLS if "UTF-8" not in case[1] and "xfe" not in case[1]])
def test_table_cells(name: str, bad: dict[str, str], words: str) -> None:
    rows = [cells("a"), cells("b"), cells("b", **bad), cells("b", value="2"), cells("c")]
    assert_only_b_is_lost(outcomes(name, table(name, rows)), 3, words)


def table(name: str, rows: list[dict[str, object]], *columns: str) -> bytes:
    import pyarrow as pa
    from pyarrow import feather, parquet

    found = pa.table({column: [row.get(column) for row in rows] for column in columns or COLUMNS})
    stream = io.BytesIO()
    if name == "arrow":
        feather.write_feather(found, stream)
    else:
        parquet.write_table(found, stream)
    return stream.getvalue()


# What only a whole history shows


WHOLE: list[tuple[list[dict[str, object]], int, str]] = [
    ([cells("b", op="final"), cells("b", op="final", value="2")], 4, "x is given two final values"),
    ([cells("b", address="16", size="4"), cells("b", address="17", size="2")], 4, "2 bytes at 0x11 is not aligned"),
    ([cells("b", size="4"), cells("b", size="2")], 4, "x is accessed with 2 bytes here and with 4 in line"),
]


@pytest.mark.parametrize(("rows", "line", "words"), WHOLE)
def test_histories_that_make_no_sense(rows: list[dict[str, object]], line: int, words: str) -> None:
    assert_only_b_is_lost(outcomes("csv", csv_of(cells("a"), *rows, cells("c"))), line, words)
    assert_only_b_is_lost(outcomes("jsonl", jsonl_of(cells("a"), *rows, cells("c"))), line - 1, words)


def test_selected_addresses_must_be_numbers() -> None:
    text = csv_of(cells("a", address="16"), cells("b"), cells("c", address="16"))
    found = outcomes("csv", text, addresses=Addresses([(0, 32)]))
    assert_only_b_is_lost(found, 3, "address 'x' is not a number, so --addresses cannot select it")


def test_selected_addresses_must_occur() -> None:
    text = csv_of(cells("a", address="16"), cells("b", address="64"), cells("c", address="16"))
    found = outcomes("csv", text, addresses=Addresses([(0, 32)]))
    assert_only_b_is_lost(found, 0, "no access falls inside --addresses")


# Rows that cannot be read: nobody knows which history they belong to


BLANK = "," * 13
"""From the value to the history."""
UNREADABLE_CSV = [
    ('0,W,x,"1,,,,b\n', "is there a stray quote?"),
    ('0,W,"x"y,1,,,,b\n', "is there a stray quote?"),
    (f"0,W,x,1{BLANK}b,extra\n", "this row has 18 cells, the header 17"),
    (f"0,W,x,1{BLANK}\udcff\n", "history '\\xff' is not UTF-8 text"),
    ('0,W,x,"' + "1" * 140_000 + '",,,,b\n', "cannot be read as CSV"),
    ("0,W,x\r0,W,x,1\n", "cannot be read as CSV"),
]
UNREADABLE_JSON = [
    ("{\n", "this is not JSON: Expecting property name"),
    ("thread 0 writes x\n", "this is not JSON: Expecting value at column 1"),
    ('{"thread": 0, "op": "W", \n', "this is not JSON"),
    ("{} {}\n", "this is not JSON: Extra data at column 4"),
    ("5\n", "expected an object, an operation or a history, found 5"),
    ("null\n", "found null"),
    ('"text"\n', "found 'text'"),
    ("[[]]\n", "found a list"),
    ("[" * 100_000 + "\n", "nested too deeply"),
    ('{"value": ' + "1" * 5000 + "}\n", "this is not JSON gradual can read"),
    ('{"op": "W", "Op": "R"}\n', "the columns 'op' and 'Op' both give the op; keep one"),
    ('{"tid": "0", "cpu": "1"}\n', "the columns 'tid' and 'cpu' both give the thread; keep one"),
    ('{"history": true}\n', "history true is neither a name nor a number"),
    ('{"history": [[]]}\n', "history a list is neither a name nor a number"),
    ("\udcff\udcfe\n", "this is not JSON"),
]


@pytest.mark.parametrize(("bad", "words"), UNREADABLE_CSV)
def test_csv_rows_that_cannot_be_read(bad: str, words: str) -> None:
    text = csv_of(cells("a"), cells("b"), bad, bad, cells("b", value="3"), cells("c"), cells("c", value="2"))
    assert_only_b_is_lost(outcomes("csv", text), 4, words)


@pytest.mark.parametrize(("bad", "words"), UNREADABLE_JSON)
def test_json_lines_that_cannot_be_read(bad: str, words: str) -> None:
    text = jsonl_of(cells("a"), cells("b"), bad, bad, cells("b", value="3"), cells("c"), cells("c", value="2"))
    assert_only_b_is_lost(outcomes("jsonl", text), 3, words)


def test_a_lost_row_between_two_histories_spoils_both() -> None:
    """One of them lacks an operation, and a verdict on it would be worth nothing."""
    found = outcomes("jsonl", jsonl_of(cells("a"), "?\n", cells("b"), cells("c"), cells("d")))
    assert [one if isinstance(one, str) else one[0] for one in found] == [2, 3, "c", "d"]
    assert found[1] == (3, "line 2 could not be read and may belong to this history")


def test_a_lost_first_row_spoils_the_first_history() -> None:
    found = outcomes("jsonl", jsonl_of("?\n", "?\n", cells("a"), cells("a", value=2), cells("b")))
    assert [one if isinstance(one, str) else one[0] for one in found] == [1, "b"]


def test_a_lost_last_row_spoils_the_last_history() -> None:
    found = outcomes("csv", csv_of(cells("a"), cells("b"), '0,"\n'))
    assert [one if isinstance(one, str) else one[0] for one in found] == ["a", 4]


@pytest.mark.parametrize("bad", ['{"operations": [', '{"operations": [}', '"operations', '{"operations": 1e}'])
def test_a_lost_line_that_was_a_history_spoils_no_other(bad: str) -> None:
    good = '{"operations": []}\n'
    found = outcomes("jsonl", good + bad + "\n" + bad + "\n" + good)
    assert [one if isinstance(one, str) else one[0] for one in found] == ["trace#1", 2, 3, "trace#4"]
    rows = outcomes("jsonl", jsonl_of(cells("a"), bad + "\n", cells("b")))
    assert [one if isinstance(one, str) else one[0] for one in rows] == ["a", 2, "b"]


@pytest.mark.parametrize("name", ["csv", "jsonl"])
def test_rows_of_a_history_stand_together(name: str) -> None:
    rows = [cells("a"), cells("b"), cells("a", value=2), cells("a", value=3), cells("c"), cells("b")]
    found = outcomes(name, csv_of(*rows) if name == "csv" else jsonl_of(*rows))
    assert [one if isinstance(one, str) else one[0] for one in found] == [
        "a", "b", 4 - (name == "jsonl"), "c", 7 - (name == "jsonl")]
    assert "history 'a' comes back after another began; sort the file by history" in found[2][1]


# Files of which nothing can be read


HEADERS = [
    ("", 1, "missing column 'thread'; the header has no names"),
    ("\n\n", 1, "missing column 'thread'; the header has no names"),
    ("0,W,x,1\n0,R,x,1\n", 1, "missing column 'thread'; the header has 0, W, x, 1; expected are thread, op, "),
    ("\nthread,address,value\n", 2, "missing column 'op'; the header has thread, address, value;"),
    ("op,address,value\n", 1, "missing column 'thread'; the header has op, address, value;"),
    ("thread,kind,value\n", 1, "missing column 'address'; the header has thread, kind, value;"),
    ("thread,op,address\n", 1, "missing column 'value'; the header has thread, op, address;"),
    ("thread,op,address,value,Value\n", 1, "the columns 'value' and 'Value' both give the value; keep one"),
    ("tid,cpu,op,address,value\n", 1, "the columns 'tid' and 'cpu' both give the thread; keep one"),
    ("\udcff\udcfe\0t\0\n", 1, "missing column 'thread'"),
    ("thread,op,address,value\r0,W,x,1\r", 1, "missing column"),
    ("{" + '"thread": 0}' * 1000, 1, "missing column 'thread'"),
]


@pytest.mark.parametrize(("text", "line", "words"), HEADERS)
def test_csv_headers(text: str, line: int, words: str) -> None:
    ((found, message),) = outcomes("csv", text)
    assert found == line
    assert words in str(message)


DOCUMENTS = [
    ("", 1, "this is not JSON: Expecting value"),
    ("[", 1, "this is not JSON"),
    ('[\n{"thread": 0,\n"op" "W"}\n]', 3, "this is not JSON: Expecting ':' delimiter at column 6"),
    ('{"histories": [\n{"operations": []},\n{"operations": [\n', 4, "this is not JSON"),
    ('{"a": "\n"}', 1, "this is not JSON: Invalid control character"),
    ("[{}}}}{", 1, "this is not JSON"),
    ("\udcff", 1, "this is not JSON"),
    ("5", 1, "expected an object, an operation or a history, found 5"),
    ("null", 1, "found null"),
    ("[[]]", 1, "found a list"),
    ('{"histories": 5}', 1, "found 5"),
    ('[\n{"op": "W"}, 7]', 2, "thread is missing"),
    ("{}", 1, "op is missing"),
    ('{"traces": []}', 1, "op is missing"),
    ("[" * 100_000, 1, "nested too deeply"),
    ("1" * 5000, 1, "this is not JSON gradual can read"),
]


@pytest.mark.parametrize(("text", "line", "words"), DOCUMENTS)
def test_json_documents(text: str, line: int, words: str) -> None:
    ((found, message),) = outcomes("json", text)
    assert (found, words in str(message)) == (line, True), message


HISTORIES: list[tuple[dict[str, object], str]] = [
    ({"operations": 5}, "operations is not a list but 5"),
    ({"operations": None}, "operations is not a list but null"),
    ({"operations": {}}, "operations is not a list but an object"),
    ({"operations": [5]}, 'operation 1: expected an object such as {"op": "W", …}, found 5'),
    ({"operations": [[]]}, "found a list"),
    ({"operations": [{"tid": 0, "cpu": 0}]}, "operation 1: the columns 'tid' and 'cpu' both give the thread"),
    ({"history": []}, "history a list is neither a name nor a number"),
    ({"history": True}, "history true is neither a name nor a number"),
    ({"initial": "x"}, "initial 'x' is not a number"),
    ({"initial": []}, "initial a list is not a number"),
    ({"initial": 2**64}, "does not fit into 64 bits"),
    ({"initial": {"x": None}}, "initial value of x is missing"),
    ({"initial": {"x": 0.5}}, "initial value of x 0.5 is not a whole number"),
    ({"initial": {" ": 5}}, "address is missing"),
    ({"final": 5}, "final is not an object of addresses and values but 5"),
    ({"final": {"x": "?"}}, "final value of x '?' is not a number"),
    ({"final": {"x": 1, "x ": 2}}, "x is given two final values"),
]


@pytest.mark.parametrize("name", ["json", "jsonl"])
@pytest.mark.parametrize(("bad", "words"), HISTORIES)
def test_json_objects(name: str, bad: dict[str, object], words: str) -> None:
    texts = [json.dumps({"operations": []} | history) for history in ({}, bad, {})]
    text = "[" + ",\n".join(texts) + "]" if name == "json" else "\n".join(texts)
    assert_only_b_is_lost(outcomes(name, text), 2, words)


@pytest.mark.parametrize("name", ["arrow", "parquet"])
def test_tables_that_are_none(name: str) -> None:
    good = table(name, [cells("a")])
    for data in (b"", good[:4], good[:-1], good[: len(good) // 2], b"PAR1PAR1", b"ARROW1\0\0ARROW1"):
        ((line, message),) = outcomes(name, data)
        assert line == 0
        assert str(message).startswith(f"this cannot be read as {name.capitalize()}: ")


@pytest.mark.parametrize("name", ["arrow", "parquet"])
def test_tables_with_a_piece_missing(name: str) -> None:
    ((line, message),) = outcomes(name, table(name, [cells("a")])[4:])
    assert (line, str(message)[:37]) == (0, "the rest of the file cannot be read: ")


@pytest.mark.parametrize("name", ["arrow", "parquet"])
def test_tables_without_a_column(name: str) -> None:
    ((line, message),) = outcomes(name, table(name, [cells("a")], "thread", "op", "address"))
    assert (line, "missing column 'value'; the header has thread, op, address;" in str(message)) == (0, True)


def test_table_with_bytes_that_are_no_text() -> None:
    import pyarrow as pa
    from pyarrow import parquet

    stream = io.BytesIO()
    parquet.write_table(pa.table({"thread": [b"\xff"], "op": ["F"], "address": ["x"], "value": [1]}), stream)
    ((_, message),) = outcomes("parquet", stream.getvalue())
    assert str(message).startswith("the rest of the file cannot be read: ")


def test_table_with_a_column_of_another_kind() -> None:
    import datetime

    rows = [cells(name, value=datetime.date(2020, 1, 1)) for name in "abc"]
    found = outcomes("parquet", table("parquet", rows))
    assert found == [(row, "value 2020-01-01 is not a number") for row in (1, 2, 3)]


# axe


AXE = [
    ("0: M[3] ~= 7", 0, "expected `==` or `:=`, found '~= 7'"),
    ("0: M[3] = 7", 0, "expected `==` or `:=`, found '= 7'"),
    ("0: M[3] := 7z", 0, "expected a value, found '7z'"),
    ("0: M[3] := x", 0, "expected a value, found 'x'"),
    ("0: M[3] := 0x", 0, "expected a value, found '0x'"),
    ("0: M[3] := 1.5", 0, "expected a thread number or `final` or `check`, found '.5'"),
    ("0: M[x] := 1", 0, "expected an address such as M[3] or `sync` or `{` or `<`, found 'M[x] := 1'"),
    ("0: M[3 := 1", 0, "expected an address such as M[3]"),
    ("0: M3 := 1", 0, "expected an address such as M[3]"),
    ("0: x := 1", 0, "expected an address such as M[3]"),
    ("0: fence", 0, "or `sync` or `{` or `<`, found 'fence'"),
    ("0: syncs", 0, "found 'syncs'"),
    ("0 M[3] := 1", 0, "expected `:`, found 'M[3] := 1'"),
    ("cpu0: M[3] := 1", 0, "expected a thread number or `final` or `check`, found 'cpu0: M[3] := 1'"),
    ("-1: M[3] := 1", 0, "expected a thread number"),
    ("0:: M[3] := 1", 0, "found ': M[3] := 1'"),
    ("0:=1", 0, "expected `:`, found ':=1'"),
    ("M[3] := 1", 0, "expected a thread number"),
    ("0: M[3] :=\n\n1:", 2, "expected a thread number or `final` or `check`, found ':'"),
    ("0: M[3] :=", 0, "expected a value, found the end of the history"),
    ("0: M[3]\n\n", 0, "expected `==` or `:=`, found the end of the history"),
    ("0:", 0, "found the end of the history"),
    ("0: { M[3] == 1 }", 0, "expected `;`, found '}'"),
    ("0: { M[3] := 1; M[3] := 2 }", 0, "expected `==`, found ':= 1; M[3] := 2 }'"),
    ("0: { M[3] == 1; M[3] == 2 }", 0, "expected `:=`, found '== 2 }'"),
    ("0: { M[3] == 1; M[3] := 2 >", 0, "expected `}`, found '>'"),
    ("0: < M[3] == 1; M[3] := 2 }", 0, "expected `>`, found '}'"),
    ("0: { M[3] == 1; M[3] := 2", 0, "expected `}`, found the end of the history"),
    ("0: { M[3] == 1; M[4] := 2 }", 0, "an rmw reads and writes one address; this reads M[3] and writes M[4]"),
    ("\n0: sync\n0: < v3 == 1; M[0x4] := 2 >", 2, "this reads v3 and writes M[0x4]"),
    ("final M[3] := 1", 0, "expected `==`, found ':= 1'"),
    ("final 3 == 1", 0, "expected an address such as M[3], found '3 == 1'"),
    ("final M[3] == 1 @ 5:", 0, "expected a time such as @ 10:20, found '@ 5:'"),
    ("final M[3] == 1\nfinal M[3] == 2", 1, "3 is given two final values"),
    ("finally", 0, "expected a thread number or `final` or `check`, found 'finally'"),
    ("0: M[3] := 1 @", 0, "expected a time such as @ 10:20, found '@'"),
    ("0: M[3] := 1 @ noon", 0, "expected a time such as @ 10:20, found '@ noon'"),
    ("0: M[3] := 1 @ -5:", 0, "expected a time such as @ 10:20"),
    ("0: M[3] := 1 @ 5:\n0: M[3] == 1 @ 5:", 1, "begin times must increase in a thread: 5 comes after 5"),
    ("0: sync @ 5:\n0: M[3] == 0 @ 4:", 1, "begin times must increase in a thread: 4 comes after 5"),
    ("0: M[3] := 1 @ 5:6", 0, "axe knows no end times of stores; leave out the 6"),
    ("0: M[3] == 0 @ 5:5", 0, "an operation ends after it begins: 5 is not after 5"),
    ("0: M[3] == 0 @ 5:\n0: M[3] == 0 @ :4", 1, "an operation ends after it begins: 4 is not after 5"),
    ("0: M[3] == 0 @ 5:9223372036854775808", 0, "is not between 0 and 2^63"),
    ("0: sync @ 9223372036854775808:", 0, "time '9223372036854775808' is not between 0 and 2^63"),
    ("0: M[3] := 18446744073709551616", 0, "does not fit into 64 bits"),
    ("0: M[3] := " + "9" * 5000, 0, "is not a number"),
    ("0: M[3] := 0x" + "f" * 5000, 0, ""),
    ("initial M[3] == 1", 0, "found 'initial M[3] == 1'"),
    ("checked", 0, "found 'checked'"),
    ("0: M[\udcff] := 1", 0, "found 'M[\\xff] := 1'"),
    ("\udcfe\udcff", 0, "found '\\xfe\\xff'"),
    ("\0", 0, "found '\\x00'"),
    ("// comment", 0, "found '// comment'"),
    ("x" * 5000, 0, "…'"),
]


@pytest.mark.parametrize(("bad", "further", "words"), AXE)
def test_axe_statements(bad: str, further: int, words: str) -> None:
    good = "0: M[0] := 1\n1: M[0] == 1\n"
    text = f"# A\n{good}check\n# b\n{bad}\n# end of it\n\ncheck\n# C\n{good}"
    found = outcomes("axe", text)
    assert_only_b_is_lost(found, 6 + further, words)
    assert (found[0], found[2]) == ("A", "C")


@pytest.mark.parametrize(("bad", "further", "words"), AXE)
def test_axe_statements_on_lines_with_others(bad: str, further: int, words: str) -> None:
    found = outcomes("axe", f"check 0: sync 0: M[9]:= 1 {bad} check 1: sync")
    assert_only_b_is_lost(found, 1 + further, words.partition(", found")[0])


def test_undecodable_comments_do_no_harm() -> None:
    assert outcomes("axe", "# caf\udce9\n0: sync # \udcff\ncheck\n# \udcff\ncheck") == ["trace#1", "trace#2"]


# Whatever the bytes are


def damaged(name: str) -> st.SearchStrategy[bytes]:
    """The example of a format with a piece of it replaced, or something else altogether."""
    example = adapters.adapter(name).EXAMPLE.encode()
    ends = st.tuples(st.integers(0, len(example)), st.integers(0, 6))
    pieces = st.binary(max_size=4) | st.sampled_from([b'"', b"\n", b"{", b"}", b"[", b",", b"null", b"1e9", b"\r"])
    return st.builds(lambda at, piece: example[: at[0]] + piece + example[sum(at):], ends, pieces) | st.binary()


@pytest.mark.parametrize("name", ["axe", "csv", "json", "jsonl"])
@given(data=st.data())
@settings(deadline=None)
def test_nothing_but_histories_and_input_errors(name: str, data: st.DataObject) -> None:
    outcomes(name, data.draw(damaged(name)))


@pytest.mark.parametrize("name", ["arrow", "parquet"])
@given(data=st.binary(max_size=100))
@settings(deadline=None)
def test_nothing_but_input_errors(name: str, data: bytes) -> None:
    for head in (b"", b"PAR1", b"ARROW1\0\0"):
        assert all(isinstance(one, tuple) for one in outcomes(name, head + data))


def test_errors_name_their_history() -> None:
    (error,) = adapters.adapter("csv").read(io.BytesIO(csv_of(cells("b", op="?")).encode()), "-", Options())
    assert isinstance(error, InputError)
    assert (str(error)[:16], error.history) == ("-:2: op '?' is n", "b")


def test_good_histories_are_what_they_were() -> None:
    """An error beside it changes nothing in a history."""
    builder = Builder("c", "trace.csv")
    builder.write("0", "x", 1, line=4)
    stream = io.BytesIO(csv_of(cells("a"), cells("b", value="?"), cells("c")).encode())
    *_, last = adapters.adapter("csv").read(stream, "trace.csv", Options())
    assert repr(last) == repr(builder.build())


@pytest.mark.parametrize(("head", "kind"), [
    (b"\x7fELF\x02\x01\x01" + bytes(9), "a program"),
    (b"PK\x03\x04\x14\0\0\0\x08\0\xb2\x9c", "a zip archive; unpack it first"),
    (b"\x28\xb5\x2f\xfd\x04\x88\xd9\x01", "a file of zstd"), (b"\xfd7zXZ\0\0\x04\xe6", "a file of xz"),
    ("thread,op,address,value\n0,W,x,1\n".encode("utf-16-le"), "UTF-16 without its byte order mark"),
    (bytes(100), "nothing but zeros"), (bytes(range(255, 0, -3)) * 4, "binary data")])
@pytest.mark.parametrize("ending", ["csv", "jsonl", "axe", "out", "log", "parquet"])
def test_what_is_no_text_is_said_to_be_none(head: bytes, kind: str, ending: str) -> None:
    with pytest.raises(InputError, match=f"this is no trace and no text; it looks like {kind}"):
        adapters.recognise(head, f"trace.{ending}")


def test_bytes_of_another_encoding_are_text() -> None:
    assert adapters.recognise("Straße;Größe;Öl\n".encode("latin-1"), "t.csv") == "csv"
    assert adapters.recognise(b"\x1b[1mcolours\x1b[0m\r\n", "t.csv") == "csv"
