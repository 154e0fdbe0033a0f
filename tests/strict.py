"""Tables that know neither rows before their first nor rows behind their last, as compiled ones should."""

from __future__ import annotations

from typing import Any


class Strict(list[Any]):
    def __getitem__(self, key: Any) -> Any:
        assert isinstance(key, slice) or 0 <= key < len(self), key
        return super().__getitem__(key)


def strict(table: Any) -> Any:
    """A plain table so, a compiled one as it is."""
    return Strict(table) if isinstance(table, list) else table
