"""Columns of a table as numpy has them: to load Arrow takes longer than to read a small trace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gradual.history import Column


@dataclass(frozen=True)
class Integers:
    """int64 or uint64, where they are given."""

    value: Column
    given: Column | None = None
    """bool; None: all of them are."""

    def __len__(self) -> int:
        return len(self.value)

    def slice(self, start: int, length: int) -> Integers:
        those = slice(start, start + length)
        return Integers(self.value[those], None if self.given is None else self.given[those])


@dataclass(frozen=True)
class Words:
    """Some words, and which of them each row has, -1 where it has none."""

    code: Column
    words: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.code)

    def slice(self, start: int, length: int) -> Words:
        return Words(self.code[start:start + length], self.words)


def narrow(count: int) -> np.dtype[Any]:
    """What holds -1 and so many numbers from 0 on."""
    return np.min_scalar_type(-max(count, 1))
