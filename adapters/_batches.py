"""The common table in Arrow's memory: what Parquet and Arrow files have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import repeat
from typing import TYPE_CHECKING, Any, BinaryIO

from gradual.history import History, InputError, Options

from ._rows import COLUMNS, Groups, Row, header, named_rows

if TYPE_CHECKING:
    import pyarrow as pa

TABLE = """\
thread  op      address  value  read   time   size   history
string  string  string   int64  int64  int64  int32  string
0       W       x        1                           SB
0       R       y        0                           SB
1       W       y        1                           SB
1       R       x        0                           SB
"""
_ROWS = 1 << 16

Opened = tuple[list[str], "Iterable[pa.RecordBatch]"]
"""The column names of a file and its batches."""


def read(stream: BinaryIO, file: str, options: Options, opener: Callable[[Any], Opened],
         what: str) -> Iterator[History | InputError]:
    """The histories of the file that `opener` opens. The file's index is at its end: read it all."""
    import pyarrow as pa

    try:
        names, batches = opener(pa.BufferReader(stream.read()))
        columns = header(names)
    except (pa.ArrowException, OSError) as error:
        yield InputError(f"this cannot be read as {what}: {_first_line(error)}", file)
    except ValueError as error:
        yield InputError(str(error), file)
    else:
        yield from Groups(file, options).histories(_rows(batches, columns, file))


def _first_line(error: Exception) -> str:
    return str(error).split("\n", 1)[0]


def _rows(batches: Iterable[pa.RecordBatch], columns: tuple[str | None, ...],
          file: str) -> Iterator[Row | InputError]:
    import pyarrow as pa

    row = 0
    try:
        for batch in batches:
            cells = [repeat(None) if name is None else _cells(batch.column(name)) for name in columns]
            for found in zip(*cells, strict=False):
                row += 1
                yield row, found
    except (pa.ArrowException, OSError, ValueError) as error:
        yield InputError(f"the rest of the file cannot be read: {_first_line(error)}", file, row)


def _cells(column: pa.Array) -> list[object]:
    """A column's cells; text that a writer did not mark as text is bytes."""
    import pyarrow as pa

    if pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
        column = column.cast(pa.large_string())
    cells: list[object] = column.to_pylist()
    return cells


def schema() -> pa.Schema:
    import pyarrow as pa

    text, number = pa.string(), pa.int64()
    types = (text, text, text, number, number, number, pa.int32(), text)
    return pa.schema(list(zip(COLUMNS, types, strict=True)))


def write(histories: Iterable[History], writer: Any) -> None:
    """Write histories to a Parquet or Arrow writer, and close it."""
    with writer:
        for batch in _batches(histories):
            writer.write_batch(batch)


def _batches(histories: Iterable[History]) -> Iterator[pa.RecordBatch]:
    """Histories as batches of a good size: many small histories share one, a large one fills several."""
    import pyarrow as pa

    def batch() -> pa.RecordBatch:
        return pa.record_batch([list(column) for column in zip(*rows, strict=True)], schema=schema())

    rows: list[tuple[object, ...]] = []
    for name, operations in named_rows(histories):
        for operation in operations:
            rows.append((*operation, name))
            if len(rows) == _ROWS:
                yield batch()
                rows.clear()
    if rows:
        yield batch()
