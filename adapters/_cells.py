"""Columns of a table that never were Arrow's: to load it takes longer than to read a small trace."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradual.history import Column


@dataclass(frozen=True)
class Integers:
    """int64, where they are given."""

    value: Column
    given: Column | None = None
    """bool; None: all of them are."""

    def __len__(self) -> int:
        return len(self.value)

    @property
    def null_count(self) -> int:
        return 0 if self.given is None else int(len(self) - np.count_nonzero(self.given))

    def slice(self, start: int, length: int) -> Integers:
        those = slice(start, start + length)
        return Integers(self.value[those], None if self.given is None else self.given[those])


@dataclass(frozen=True)
class Words:
    """Some words, and which of them each row has."""

    code: Column
    words: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.code)

    def slice(self, start: int, length: int) -> Words:
        return Words(self.code[start:start + length], self.words)
