"""The common table as Python programs hold it: a DataFrame, or a list of dicts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gradual.history import History, InputError, Options


def table(rows: Any, options: Options) -> Iterator[History | InputError]:
    """The histories of a pandas DataFrame or of dicts; rows are counted from 1, as lines are."""
    from ._rows import Groups, header, noted

    if hasattr(rows, "columns"):
        names, columns = [str(name) for name in rows.columns], [rows[name].tolist() for name in rows.columns]
    else:
        rows = list(rows)
        if not all(hasattr(row, "get") for row in rows):
            raise TypeError("a history is a History, a path, a DataFrame or a list of dicts")
        names = list(dict.fromkeys(str(name) for row in rows for name in row))
        columns = [[row.get(name) for row in rows] for name in names]
    try:
        chosen = header(names)
    except ValueError as error:
        yield InputError(str(error))
        return
    missing = [None] * len(columns[0])
    cells = [missing if name is None else _plain(columns[names.index(name)]) for name in chosen]
    yield from noted(names, Groups("", options).histories(enumerate(zip(*cells, strict=True), 1)))


def _plain(column: list[Any]) -> list[Any]:
    """Without pandas' own sign for what is missing."""
    return [None if type(cell).__name__ in ("NAType", "NaTType") else cell for cell in column]
