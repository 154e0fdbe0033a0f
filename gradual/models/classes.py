"""Operations that no set of a model tells apart, as one class: so a set is a few bits, however long the histories."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from gradual.history import Column, History
from gradual.models.sets import Labels, labels, members, of_lists
from gradual.models.syntax import Expression

KINDS, FENCES, MARKS = 4, 32, 64
"""More than there are of each."""


class Classes:
    """The classes of the operations of some histories, one behind the other, for the sets that will be asked for."""

    def __init__(self, histories: Sequence[History], sets: Iterable[Expression]) -> None:
        of_all = labels(histories)
        told_apart = _codes(of_all)
        listed = {test: members(of_all, test) for test in dict.fromkeys(sets) if of_lists(test)}
        for mask in listed.values():
            told_apart = _numbered(told_apart)[0] * 2 + mask
        self.number, example = _numbered(told_apart)
        """Of each operation, its class."""
        self.size = np.bincount(self.number, minlength=len(example))
        """How many operations each has."""
        fence, marks = (None if column is None else column[example] for column in (of_all.fence, of_all.marks))
        self._examples = Labels(of_all.kind[example], fence, marks, histories)
        self._members = {test: mask[example] for test, mask in listed.items()}

    def of(self, test: Expression) -> Column:
        """Which classes are in a set."""
        if test not in self._members:
            self._members[test] = members(self._examples, test)
        return self._members[test]


def _codes(of: Labels) -> Column:
    """A number of each operation, the same for those that no name tells apart."""
    codes = of.kind.astype(np.int32)
    if of.fence is not None:
        codes += KINDS * of.fence.astype(np.int32)
    if of.marks is not None:
        codes += KINDS * FENCES * of.marks.astype(np.int32)
    return codes


def _numbered(codes: Column) -> tuple[Column, Column]:
    """The numbers again, as small as they can be; and an operation of each."""
    example = np.full(int(codes.max(initial=-1)) + 1, -1)
    example[codes] = np.arange(len(codes))
    there = np.flatnonzero(example >= 0)
    number = np.zeros(len(example), dtype=np.int32)
    number[there] = np.arange(len(there))
    return number[codes], example[there]
