"""The common table in Arrow's memory: what Parquet and Arrow files have in common."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from functools import partial
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from gradual.history import History, InputError, Options

from ._lines import BY_COLUMNS
from ._rows import (
    LINE,
    REQUIRED,
    Groups,
    Operation,
    Row,
    Tabled,
    header,
    named,
    named_rows,
    noted,
    operations,
    statements_after,
    statements_before,
)

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
_AT_FIRST, _TOGETHER = 1 << 16, 1 << 20
"""Rows that become histories at a time, at first and later, unless a history has more: somebody waits for the first."""

Names = tuple[str | None, ...]
"""The name of each column that `header` chose in a file."""


class Opened(NamedTuple):
    """A file whose batches have not been read."""

    names: list[str]
    batches: Callable[[list[str]], Iterable[pa.RecordBatch]]
    """With these columns, and maybe others."""
    empty: frozenset[str] = frozenset()
    """Columns that hold nothing, as far as that is known."""


def read(stream: BinaryIO, file: str, options: Options, opener: Callable[[Any], Opened],
         what: str) -> Iterator[History | InputError]:
    """The histories of the file that `opener` opens. The file's index is at its end: read it all."""
    import pyarrow as pa

    try:
        opened = opener(pa.BufferReader(stream.read()))
        names = opened.names
        columns = _filled(header(names), opened.empty)
        rest = _Ended(opened.batches([name for name in columns if name is not None]))
    except MemoryError:
        raise
    except (pa.ArrowException, OSError) as error:
        yield InputError(f"this cannot be read as {what}: {_first_line(error)}", file)
    except ValueError as error:
        yield InputError(str(error), file)
    else:
        del opened  # a large history is decided while this waits
        yield from noted(names, _histories(rest, columns, file, options))


def _filled(columns: Names, empty: Container[str | None]) -> Names:
    """Without the columns that hold nothing; those that every table has tell how many rows there are."""
    return (*columns[:REQUIRED], *(None if name in empty else name for name in columns[REQUIRED:]))


def _first_line(error: Exception) -> str:
    return str(error).split("\n", 1)[0]


def _histories(rest: _Ended, columns: Names, file: str, options: Options) -> Iterator[History | InputError]:
    """Histories by columns, some batches at a time; from where that does not work, by rows."""
    from ._arrays import table
    from ._columns import Declined, Table

    groups = Groups(file, options)
    held: list[pa.RecordBatch] = []
    row, wanted = 0, min(_AT_FIRST, _TOGETHER) if columns[-1] else 1 << 62
    while not options.hex:  # which columns know nothing of
        while ((sum(batch.num_rows for batch in held) < wanted or _goes_on(held, columns[-1]))
               and (batch := next(rest, None)) is not None):
            held.append(batch)
        rows = sum(batch.num_rows for batch in held)
        if not rows or rest.error is not None:
            break
        try:
            cells = table([name and [batch.column(name) for batch in held] for name in columns])
            found = Table(cells, rows, row + 1, file, options)
            del cells
        except Declined:
            break
        more = not rest.ended
        count = len(found.bounds) - 1 - more  # the last history may go on in the next batch
        if count:
            done = int(found.bounds[count])
            made = found.histories(count, groups, partial(_some_rows, held, columns, file, row))
            held, row = _between(held, done, rows), row + done
            yield from made
        if not more:
            return
        wanted = max(min(2 * wanted, _TOGETHER), 2 * (rows - int(found.bounds[count])))
    yield from groups.histories(_rows(chain(held, rest.again()), columns, file, row))


def _goes_on(batches: list[pa.RecordBatch], name: str | None) -> bool:
    """Is the last row of the history that the first one is of? Then it may go on: there is nothing to make yet."""
    if name is None or not batches or not batches[0].num_rows or not batches[-1].num_rows:
        return False
    return bool(batches[0].column(name)[0] == batches[-1].column(name)[-1])


class _Ended(Iterator["pa.RecordBatch"]):
    """Batches up to the first that cannot be read; `again` ends with the error of that."""

    def __init__(self, batches: Iterable[pa.RecordBatch]) -> None:
        self._batches = iter(batches)
        self.ended = False
        self.error: Exception | None = None

    def __next__(self) -> pa.RecordBatch:
        import pyarrow as pa

        try:
            return next(self._batches)
        except MemoryError:
            raise
        except StopIteration:
            self.ended = True
        except (pa.ArrowException, OSError, ValueError) as error:
            self.ended, self.error = True, error
        self._batches = iter(())  # and what they are read from
        raise StopIteration

    def again(self) -> Iterator[pa.RecordBatch]:
        yield from self
        if self.error is not None:
            raise self.error


def _between(batches: list[pa.RecordBatch], start: int, stop: int) -> list[pa.RecordBatch]:
    """The batches with these rows only, counted from 0."""
    found = []
    for batch in batches:
        if start < batch.num_rows and stop > 0:
            found.append(batch.slice(max(0, start), stop - max(0, start)))
        start, stop = start - batch.num_rows, stop - batch.num_rows
    return found


def _some_rows(batches: list[pa.RecordBatch], columns: Names, file: str, row: int, start: int,
               stop: int) -> Iterator[Row | InputError]:
    return _rows(_between(batches, start, stop), columns, file, row + start)


def _rows(batches: Iterable[pa.RecordBatch], columns: Names, file: str, row: int = 0) -> Iterator[Row | InputError]:
    """The rows of `batches`, before which there were `row` others."""
    import pyarrow as pa

    try:
        for batch in batches:
            cells = [repeat(None) if name is None else _cells(batch.column(name)) for name in columns]
            for found in zip(*cells, strict=False):
                row += 1
                yield row, found
    except MemoryError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        yield InputError(f"the rest of the file cannot be read: {_first_line(error)}", file, row)


def _cells(column: pa.Array) -> list[object]:
    """A column's cells; text that a writer did not mark as text is bytes."""
    import pyarrow as pa

    column.validate(full=True)
    if pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
        column = column.cast(pa.large_string())
    cells: list[object] = column.to_pylist()
    return cells


def write(histories: Iterable[History], opener: Callable[[pa.Schema], Any], with_lines: bool) -> None:
    """Write histories to the Parquet or Arrow writer that `opener` opens, and close it."""
    from ._columns import schema_of

    table = Tabled(histories)
    schema = schema_of((*table.columns, LINE) if with_lines else table.columns)
    with opener(schema) as writer:
        for batch in _with_lines(table, schema) if with_lines else _batches(table, schema):
            writer.write_batch(batch)


def _with_lines(table: Tabled, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """A batch per history, with a column for the lines: such histories are few and small."""
    for name, rows in named_rows(table):
        yield _batch([(*table.cells(row), name, line) for row, line in rows], schema)


def _batch(rows: list[Operation], schema: pa.Schema) -> pa.RecordBatch:
    import pyarrow as pa

    return pa.record_batch([list(column) for column in zip(*rows, strict=True)], schema=schema)


def _batches(table: Tabled, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Histories as batches of a good size: many small histories share one, a large one fills several."""
    from ._columns import Columns

    rows: list[Operation] = []
    for name, history in named(table):
        small = len(history) < BY_COLUMNS
        for operation in chain(statements_before(history), operations(history) if small else ()):
            rows.append((*table.cells(operation), name))
            if len(rows) >= _ROWS:
                yield _batch(rows, schema)
                rows.clear()
        if not small:
            if rows:
                yield _batch(rows, schema)
                rows.clear()
            columns = Columns(history, name)
            for start in range(0, len(history), _ROWS):
                yield columns.batch(slice(start, start + _ROWS), schema)
        rows += [(*table.cells(statement), name) for statement in statements_after(history)]
    if rows:
        yield _batch(rows, schema)
