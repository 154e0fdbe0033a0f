"""What a user asks of every adapter: addresses, initial values, a share of the histories."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from gradual.history.errors import InputError
from gradual.history.image import Image
from gradual.history.values import parse_number


class Addresses:
    """The address ranges a user selected, half-open. No range keeps everything."""

    def __init__(self, ranges: Iterable[tuple[int, int]] = ()) -> None:
        self.ranges = tuple(ranges)

    @classmethod
    def parse(cls, texts: Iterable[str]) -> Addresses:
        return cls(cls._range(text) for text in texts)

    @staticmethod
    def _range(text: str) -> tuple[int, int]:
        low, colon, high = text.partition(":")
        try:
            bounds = parse_number(low), parse_number(high)
        except ValueError:
            colon = ""
        if not colon or bounds[0] >= bounds[1]:
            raise ValueError(f"{text!r} is not an address range; write LO:HI, for example 0x1000:0x2000")
        return bounds

    def __bool__(self) -> bool:
        return bool(self.ranges)

    def __contains__(self, address: int) -> bool:
        return any(low <= address < high for low, high in self.ranges)

    def __str__(self) -> str:
        return ", ".join(f"{low:#x}:{high:#x}" for low, high in self.ranges)


BLOCK = 256
"""Histories of one file that stay together when several readers share it."""


class Share(NamedTuple):
    """Of the histories of a file, every so many blocks."""

    place: int = 0
    of: int = 1

    def has(self, number: int) -> bool:
        return number // BLOCK % self.of == self.place


EVERY = Share()


class Skipped(InputError):
    """In the place of a history that is not in the reader's share."""


@dataclass(frozen=True)
class Options:
    """What a user asks of every adapter."""

    addresses: Addresses = field(default_factory=Addresses)
    """Only accesses inside these ranges are kept (fences always are)."""
    initial: int = 0
    """The value every location starts with, unless the trace or `initial_at` says otherwise."""
    initial_at: dict[int | str, int] = field(default_factory=dict)
    """Initial values of single locations, by address."""
    image: Image | None = None
    """What memory held at first, where neither the trace nor `initial_at` says otherwise."""
    real_time: bool = False
    """Times are those of one clock: an access that ended before another began came first."""
    hex: bool = False
    """Addresses and values in tables are hex, with or without 0x."""
    allow_empty: bool = False
    """Take a history without operations for one; otherwise it is an error: most likely nothing was recorded."""
    timeout: float | None = None
    """Seconds for reading a history from a file; then there is a `NotInTime` in its place."""
    unknown: bool = False
    """What locations start with is not known, in place of `initial`: whatever was read and nobody wrote."""
    share: Share = EVERY
    """The histories that are wanted. An adapter may give `Skipped` for others: where that is much faster."""


DEFAULT = Options()
