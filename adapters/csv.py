"""CSV: a header and one row per operation."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from operator import itemgetter
from typing import BinaryIO

from gradual.history import History, InputError, Options, value_text

from ._rows import COLUMNS, Groups, Row, header, is_header, named_rows
from ._text import decode, encode, lines, shown

SUMMARY = ("CSV with a header: thread, op, address, value; optionally read, time, size, history, the rows of a history "
           "together")
EXTENSIONS = ("csv", "tsv")
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


def recognise(head: bytes) -> bool:
    return is_header(_cells(next(filter(str.strip, decode(head).split("\n")), "")))


def read(stream: BinaryIO, file: str, options: Options) -> Iterator[History | InputError]:
    numbered = lines(stream)
    line, first = next(((number, text) for number, text in numbered if text.strip()), (1, ""))
    names = _cells(first)
    try:
        columns = header(names)
    except ValueError as error:
        yield InputError(str(error), file, line)
        return
    places = [len(names) if column is None else names.index(column) for column in columns]
    feed = _Feed(numbered, line)
    reader = csv.reader(feed, delimiter=_delimiter(first), skipinitialspace=True, strict=True)
    yield from Groups(file, options).histories(_rows(reader, feed, places, len(names), file))


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
        line = feed.line + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield InputError(f"this row cannot be read as CSV ({error}); is there a stray quote?", file,
                             feed.take_back())
            continue
        if len(cells) > width and any(cells[width:]):
            yield InputError(f"this row has {len(cells)} cells, the header {width}: {shown(','.join(cells))}",
                             file, line)
        elif any(cells):
            cells += empty * (width + 1 - len(cells))
            yield line, select(cells)


class _Lines:
    """Where the csv module writes to. It quotes a carriage return only when that ends its lines too."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def write(self, row: str) -> None:
        self._stream.write(encode(row.removesuffix("\r\n") + "\n"))


def write(histories: Iterable[History], stream: BinaryIO) -> None:
    writer = csv.writer(_Lines(stream), lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for name, rows in named_rows(histories):
        for thread, op, address, value, read, time, size in rows:
            writer.writerow((thread, op, address, None if value is None else value_text(value),
                             None if read is None else value_text(read), time, size, name))
