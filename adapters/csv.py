"""CSV: a header and one row per operation."""

from __future__ import annotations

import csv
import io
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, repeat
from operator import itemgetter
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import numpy as np

from gradual.history import Column, History, InputError, Options, value_text

from . import _lines
from ._lines import BY_COLUMNS
from ._rows import (
    COLUMNS,
    LINE,
    Groups,
    Operation,
    Row,
    Tabled,
    final_lines,
    header,
    is_header,
    named,
    noted,
    operations,
    statements_after,
    statements_before,
)
from ._rows import lines as came_from
from ._text import Pieces, decode, encode, lines, shown

if TYPE_CHECKING:
    import pyarrow as pa

SUMMARY = ("CSV with a header: thread, op, address, value; optionally read, time, size, history, the rows of a history "
           "together; order, the store order, where it is known; for weak models fence, aqrl, begin, end, addr, data, "
           "ctrl, pair. # begins a comment line")
EXTENSIONS = ("csv", "tsv")
PIECES = Pieces(headed=True, named=True)
EXAMPLE = """\
history,thread,op,address,value,read
MP,0,W,x,1,
MP,0,F,,,
MP,0,W,y,1,
MP,1,R,y,1,
MP,1,R,x,0,
swap,,init,x,5,
swap,0,RMW,x,6,5
swap,1,R,x,6,
swap,,final,x,6,
"""
_COMMENT = "#"
"""How a line begins that is none of the table."""
_SMALL, _LARGE = 200_000, 1 << 30
"""The bytes of a file worth reading by columns: for less Arrow takes too long to load, more is too much to hold."""
_SMALL_PIECE = 20_000
"""The same of a piece of a stream: others will follow."""


def recognise(head: bytes) -> bool:
    rows = (line for line in decode(head).split("\n") if line.strip() and not line.startswith(_COMMENT))
    return is_header(_cells(next(rows, "")))


def read(stream: BinaryIO, file: str, options: Options) -> Iterator[History | InputError]:
    source: Iterable[bytes] = stream
    piece = isinstance(stream, io.BytesIO)
    if piece or (file != "-" and os.path.isfile(file)):  # nobody is still writing it
        data, source = _ahead(stream)
        small = _SMALL_PIECE if piece else _SMALL
        if not options.hex and small <= len(data) <= _LARGE and isinstance(source, io.BytesIO):
            by_columns = _by_columns(data, file, options)
            if by_columns is not None:
                yield from by_columns
                return
    numbered = lines(source)
    line, first = next(((number, text) for number, text in numbered if text.strip() and not text.startswith(_COMMENT)),
                       (1, ""))
    names = _cells(first)
    try:
        columns = header(names)
    except ValueError as error:
        yield InputError(str(error), file, line)
        return
    records = _records(numbered, line, first, names, columns, file)
    yield from noted(names, Groups(file, options).histories(records))


def _records(numbered: Iterator[tuple[int, str]], line: int, first: str, names: list[str],
             columns: tuple[str | None, ...], file: str) -> Iterator[Row | InputError]:
    """The rows of the lines that follow `line`; `first` is the header."""
    places = [len(names) if column is None else names.index(column) for column in columns]
    feed = _Feed(numbered, line)
    reader = csv.reader(feed, delimiter=_delimiter(first), skipinitialspace=True, strict=True)
    return _rows(reader, feed, places, len(names), file)


def _ahead(stream: BinaryIO) -> tuple[bytes, Iterable[bytes]]:
    """What is in a file, up to a limit, and its lines as if nothing was read."""
    pieces, size = [], 0
    try:
        while size <= _LARGE and (piece := cast(io.BufferedReader, stream).read1(1 << 16)):
            pieces.append(piece)
            size += len(piece)
    except (EOFError, OSError, zlib.error) as error:
        return b"", _broken(b"".join(pieces), error)
    data = b"".join(pieces)
    if size <= _LARGE:
        return data, io.BytesIO(data)
    return data, chain(io.BytesIO(data + stream.readline()), stream)


def _broken(data: bytes, error: Exception) -> Iterator[bytes]:
    """The whole lines before a damage."""
    yield from io.BytesIO(data[: data.rfind(b"\n") + 1])
    raise error


def _is_plain(data: bytes, characters: Column, ends: Column, delimiter: str) -> bool:
    """Does every reader of CSV find the same cells in this, and a record per line? Quotes must enclose whole cells."""
    returns = data.count(b"\r")
    if b"\n#" in data or data.startswith(b"#"):
        return False
    if b"\0" in data or b"\n\n" in data or b"\n\r\n" in data or returns != data.count(b"\r\n"):
        return False
    if data.find(b'"', ends[0]) < 0:
        return True
    quotes = np.flatnonzero(characters == ord('"'))
    quotes = quotes[quotes > ends[0]]
    opening, closing = quotes[::2], quotes[1::2]
    around = np.isin(np.arange(256), [*delimiter.encode(), *b"\r\n"])
    return (len(opening) == len(closing) and closing[-1] + 1 < len(data)
            and bool((around[characters[opening - 1]] & around[characters[closing + 1]]).all())
            and bool((np.searchsorted(ends, opening) == np.searchsorted(ends, closing)).all()))


def _of_arrow(data: bytes) -> Any:
    """The same in memory of Arrow's own: its threads may outlive an alarm and let go of it when Python has ended."""
    import pyarrow as pa

    buffer = pa.allocate_buffer(len(data))
    np.frombuffer(buffer, dtype=np.uint8)[:] = np.frombuffer(data, dtype=np.uint8)
    return buffer


def _by_columns(data: bytes, file: str, options: Options) -> Iterator[History | InputError] | None:
    """The histories of a plain CSV file by columns; None where it is not plain enough for that."""
    from pyarrow import ArrowException, BufferReader, string
    from pyarrow import csv as arrow

    from ._arrays import table as cells_of
    from ._columns import Declined, Table, has_gaps

    characters = np.frombuffer(data, dtype=np.uint8)
    ends = np.flatnonzero(characters == ord("\n"))
    if not len(ends) or np.diff(ends, prepend=0, append=len(data)).max() >= csv.field_size_limit():
        return None
    first = decode(data[: ends[0] + 1])
    names = _cells(first)
    if not _is_plain(data, characters, ends, _delimiter(first)):
        return None
    try:
        columns = header(names)
        places = [None if column is None else str(names.index(column)) for column in columns]
        wanted = [place for place in places if place is not None]
        table = arrow.read_csv(
            BufferReader(_of_arrow(data)),
            arrow.ReadOptions(skip_rows=1, column_names=[str(at) for at in range(len(names))]),
            arrow.ParseOptions(delimiter=_delimiter(first), ignore_empty_lines=False),
            arrow.ConvertOptions(column_types=dict.fromkeys(wanted, string()), include_columns=wanted,
                                 strings_can_be_null=True, null_values=[""]))
        rows = len(ends) - data.endswith(b"\n")
        if not rows or table.num_rows != rows:
            return None
        cells = cells_of([place and table.column(place).chunks for place in places])
        if has_gaps(cells[1]):
            return None
        found = Table(cells, rows, 2, file, options)
    except (ValueError, ArrowException, Declined):
        return None

    def some(start: int, stop: int) -> Iterator[Row | InputError]:
        upto = len(data) if stop == len(ends) else int(ends[stop]) + 1
        numbered = enumerate(io.BytesIO(data[int(ends[start]) + 1 : upto]), start + 2)
        return _records(((line, text.decode("utf-8", "surrogateescape")) for line, text in numbered), start + 1,
                        first, names, columns, file)

    return noted(names, found.histories(len(found.bounds) - 1, Groups(file, options), some))


def _delimiter(line: str) -> str:
    return max(",;\t", key=line.count)


def _cells(line: str) -> list[str]:
    """The cells of the header."""
    try:
        return next(csv.reader([line.rstrip("\r\n")], delimiter=_delimiter(line), skipinitialspace=True), [])
    except csv.Error:
        return [line]


class _Feed:
    """Lines for the csv module, which can be taken back: a stray quote makes it swallow what follows."""

    def __init__(self, source: Iterator[tuple[int, str]], line: int) -> None:
        self._source = source
        self._again: list[tuple[int, str]] = []
        self.taken: list[tuple[int, str]] = []
        """The lines of the record under way, with their numbers."""
        self.line = line
        """The last of these numbers."""

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        numbered = self._again.pop() if self._again else next(self._source)
        while not self.taken and numbered[1].startswith(_COMMENT):
            numbered = next(self._source)
        self.taken.append(numbered)
        self.line, text = numbered
        return text

    def take_back(self) -> int:
        """Give all lines of the record but its first once more. Returns where the first stands."""
        self._again += reversed(self.taken[1:])
        self.line = self.taken[0][0]
        return self.line


def _rows(reader: Iterator[list[str]], feed: _Feed, places: list[int], width: int,
          file: str) -> Iterator[Row | InputError]:
    """The records as rows of the common table; cells missing at a record's end are empty ones."""
    select, empty = itemgetter(*places), [""]
    while True:
        feed.taken.clear()
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield InputError(f"this row cannot be read as CSV ({error}); is there a stray quote?", file,
                             feed.take_back())
            continue
        line = feed.taken[0][0]
        if len(cells) > width and any(cells[width:]):
            yield InputError(f"this row has {len(cells)} cells, the header {width}: {shown(','.join(cells))}",
                             file, line)
        elif any(cells):
            cells += empty * (width + 1 - len(cells))
            yield line, select(cells)


class _Lines:
    """Where the csv module writes to. It quotes a carriage return only when that ends its lines too, and knows of no
    comments."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def write(self, row: str) -> None:
        if row.startswith(_COMMENT):
            first, comma, rest = row.partition(",")
            row = f'"{first}"{comma}{rest}'
        self._stream.write(encode(row.removesuffix("\r\n") + "\n"))


def write(histories: Iterable[History], stream: BinaryIO, *, lines: bool = False) -> None:
    writer = csv.writer(_Lines(stream), lineterminator="\r\n")
    table = Tabled(histories)
    columns = (*table.columns, LINE) if lines else table.columns
    writer.writerow(columns)

    def write_rows(rows: Iterable[tuple[Operation, int | None]], name: str) -> None:
        for (thread, op, address, value, read, *more), line in rows:
            row = (*table.cells((thread, op, address, _value(value), _value(read), *more)), name)
            writer.writerow((*row, line) if lines else row)

    for name, history in named(table):
        write_rows(zip(statements_before(history), repeat(None)), name)
        if len(history) < BY_COLUMNS:
            write_rows(zip(operations(history), came_from(history), strict=True), name)
        else:
            for text in _by_columns_text(history, name, columns):
                stream.write(text)
        write_rows(zip(statements_after(history), final_lines(history), strict=True), name)


def _by_columns_text(history: History, name: str, columns: Sequence[str]) -> Iterator[bytes]:
    """The rows of the operations, many at a time."""
    from ._columns import Columns, schema_of

    of, has = Columns(history, name), schema_of([column for column in columns if column != LINE])
    for those in _lines.blocks(len(history)):
        batch = of.batch(those, has)
        cells = [_texts(column, batch.column(column)) for column in has.names]
        if LINE in columns:
            cells.append(_lines.numbers(history.line[those], history.line[those] != 0))
        yield _lines.text(cells, ",")


def _texts(name: str, column: pa.Array) -> pa.Array:
    """Cells as the csv module would write them."""
    import pyarrow as pa

    if not pa.types.is_integer(column.type):
        distinct = column.dictionary_encode()
        spelled = [_quoted(cell, name == COLUMNS[0]) for cell in distinct.dictionary.to_pylist()]
        return pa.array(spelled, pa.string()).take(distinct.indices)
    if name not in ("value", "read"):
        return column.cast(pa.string())
    return _lines.values(column.fill_null(0).to_numpy(), np.array(column.is_valid()))


def _quoted(cell: str, first: bool) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\r\n").writerow([cell, ""])
    text = line.getvalue().removesuffix(",\r\n")
    return f'"{text}"' if first and text.startswith(_COMMENT) else text


def _value(cell: str | int | None) -> str | None:
    return value_text(cell) if isinstance(cell, int) else None
