"""Lines of text made of columns, many at a time: for writing large histories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gradual.history import Column, value_text

if TYPE_CHECKING:
    import pyarrow as pa

BY_COLUMNS = 1000
"""Operations from which on a history is written so: for fewer, loading Arrow takes longer."""
_TOGETHER = 1 << 16


def blocks(operations: int) -> Iterator[slice]:
    """Some at a time."""
    return (slice(start, start + _TOGETHER) for start in range(0, operations, _TOGETHER))


def names(codes: Column, of: Sequence[str], where: Column | None = None) -> pa.Array:
    """A text for each code, none outside of `where`."""
    import pyarrow as pa

    return pa.array(of, pa.string()).take(pa.array(codes, mask=None if where is None else ~where))


def numbers(column: Column, where: Column | None = None) -> pa.Array:
    import pyarrow as pa

    return pa.array(column, mask=None if where is None else ~where).cast(pa.string())


def values(column: Column, where: Column) -> pa.Array:
    """Values as people read them: `value_text` of each."""
    import pyarrow as pa
    from pyarrow import compute

    found = numbers(column, where)
    high = (column < 0) & where
    if not high.any():
        return found
    return compute.replace_with_mask(found, pa.array(high), pa.array([value_text(int(v)) for v in column[high]]))


def text(columns: Sequence[pa.Array | str], between: str = "") -> bytes:
    """A line for each row; what is null is empty."""
    import pyarrow as pa
    from pyarrow import compute

    rows = next(len(column) for column in columns if not isinstance(column, str))
    last = columns[-1]
    ended = pa.scalar(f"{last}\n") if isinstance(last, str) else compute.binary_join_element_wise(
        last, "\n", "", null_handling="replace", null_replacement="")
    lines = compute.binary_join_element_wise(*columns[:-1], ended, between, null_handling="replace",
                                             null_replacement="")
    _, ends, characters = lines.buffers()
    assert lines.offset == 0
    return memoryview(characters)[: int(np.frombuffer(ends, dtype=np.int32)[rows])].tobytes()
