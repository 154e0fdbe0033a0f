"""Results that survive an interruption: kept as soon as they are there, each of them once."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

OFTEN = 5.0
"""Seconds between two times of writing."""

Row = dict[str, Any]
Key = tuple[Any, ...]


class Store:
    """Rows by their key, in one Parquet file that is replaced whole. To be used in a `with`."""

    def __init__(self, file: Path, key: tuple[str, ...]) -> None:
        self._file = file
        known = _read(file) if file.exists() else []
        self._rows: dict[Key, Row] = {tuple(row[name] for name in key): row for row in known}
        self._written = time.monotonic()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *error: object) -> None:
        self.write()

    def get(self, key: Key) -> Row | None:
        return self._rows.get(key)

    def put(self, key: Key, row: Row) -> None:
        self._rows[key] = row
        if time.monotonic() - self._written > OFTEN:
            self.write()

    def write(self) -> None:
        if not self._rows:
            return
        self._file.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self._file.with_suffix(".part")
        pd.DataFrame(list(self._rows.values())).to_parquet(unfinished, index=False)
        unfinished.replace(self._file)
        self._written = time.monotonic()

    def frame(self, keys: Iterable[Key]) -> pd.DataFrame:
        """The rows of these keys, as far as there are any."""
        return pd.DataFrame([self._rows[key] for key in dict.fromkeys(keys) if key in self._rows])


def _read(file: Path) -> list[Row]:
    try:
        rows: list[Row] = pd.read_parquet(file).to_dict("records")
    except (OSError, ValueError) as error:
        raise SystemExit(f"{file} cannot be read ({error}); delete it, or choose another --out") from None
    return rows
