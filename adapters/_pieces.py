"""A stream made of pieces of bytes as they come: what is read of another one after something was done to it."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import BinaryIO, cast


def stream_of(pieces: Iterator[bytes], block: int = io.DEFAULT_BUFFER_SIZE) -> BinaryIO:
    """No piece may be empty."""
    return cast(BinaryIO, io.BufferedReader(_Pieces(pieces), block))


class _Pieces(io.RawIOBase):
    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._left = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        if not self._left:
            self._left = next(self._pieces, b"")
        piece, self._left = self._left[:len(buffer)], self._left[len(buffer):]
        buffer[:len(piece)] = piece
        return len(piece)
