"""What the cores of a machine are told to do, and what came of it."""

from __future__ import annotations

from array import array
from typing import NamedTuple

from gradual.history import NOTHING, Annotations


class Program(NamedTuple):
    """What the cores are told to do, in the order of issue; the machine adds the values read."""

    thread: list[int]
    kind: bytearray
    location: array[int]


class Ran(NamedTuple):
    """The values read and written, operation by operation, and what else a machine tells of them."""

    read: array[int]
    written: array[int]
    more: Annotations = NOTHING
