"""What memory held before a trace began, from a file: an ELF program, Verilog hex, or a table of addresses and values.

ELF          the segments that are loaded, at their virtual addresses, in the byte order the file names; what a segment
             has in memory and not in the file (.bss) is zero. A location is as wide as the accesses to it, where the
             trace tells their size, else a word of the program's: 4 or 8 bytes.
Verilog hex  as $readmemh reads it: words of hex digits, all as wide as the widest, `@` and the number of the next word,
             comments, `_`. Word n stands at the byte address n times its width, its least significant byte first, so a
             file of bytes (`objcopy -O verilog`) has byte addresses. Words with x or z say nothing. A location is as
             wide as the accesses to it, else as a word of the file.
CSV          a header with `address` and `value`, a row per location, whatever its width.
"""

from __future__ import annotations

import csv
import re
import struct
from collections.abc import Iterator
from typing import NamedTuple

from gradual.history.errors import InputError, reason
from gradual.history.values import location_key, parse_number, word

WIDEST, LAST = 8, (1 << 64) - 1
LOADED = 1
"""The type of an ELF segment that is loaded."""


class Block(NamedTuple):
    """Some bytes of memory."""

    start: int
    content: bytes
    zeros: int = 0
    """How many more follow, all zero."""

    def bytes_at(self, address: int, size: int) -> bytes | None:
        """None where it has not all of them."""
        if not self.start <= address <= address + size <= self.start + len(self.content) + self.zeros:
            return None
        return self.content[address - self.start:address - self.start + size].ljust(size, b"\0")


class Image:
    """What memory held, as far as a file says."""

    def __init__(self, blocks: tuple[Block, ...] = (), width: int = WIDEST, big: bool = False,
                 values: dict[int | str, int] | None = None) -> None:
        self._blocks = blocks
        self._width = width
        self._big = big
        self._values = values or {}

    def tells(self, address: int | str) -> bool:
        """Has it a value for just this location, whatever its width?"""
        return address in self._values

    def value(self, address: int | str, size: int = 0) -> int | None:
        """What a location of so many bytes (0: nobody says) held; None where the file does not say."""
        if address in self._values:
            return self._values[address]
        wide = size or self._width
        if isinstance(address, str) or wide > WIDEST:
            return None
        for block in self._blocks:
            if (found := block.bytes_at(address, wide)) is not None:
                return word(int.from_bytes(found, "big" if self._big else "little"))
        return None


def read_image(path: str) -> Image:
    """The image in a file, recognised by its content. Raises InputError."""
    try:
        with open(path, "rb") as stream:
            content = stream.read()
    except OSError as error:
        raise InputError(reason(error), path) from None
    try:
        if content.startswith(b"\x7fELF"):
            return _elf(content)
        text = content.decode("utf-8-sig")
        return _table(text) if _is_table(text) else _hex(text)
    except UnicodeDecodeError:
        raise InputError("this is no ELF program, and no text: Verilog hex or CSV", path) from None
    except struct.error:
        raise InputError("this begins as an ELF program does, and ends too soon", path) from None
    except ValueError as error:
        raise InputError(str(error), path) from None


def _elf(content: bytes) -> Image:
    kind, order = content[4:5], content[5:6]
    if kind not in (b"\1", b"\2") or order not in (b"\1", b"\2"):
        raise ValueError("this begins as an ELF program does, but is of no class and byte order there is")
    wide, big = kind == b"\2", order == b"\2"
    end = ">" if big else "<"
    table, = struct.unpack_from(end + ("Q" if wide else "I"), content, 32 if wide else 28)
    size, count = struct.unpack_from(end + "HH", content, 54 if wide else 42)
    blocks = []
    for at in range(table, table + size * count, size or 1):
        if wide:
            segment, _, offset, address, _, filled, held = struct.unpack_from(end + "IIQQQQQ", content, at)
        else:
            segment, offset, address, _, filled, held = struct.unpack_from(end + "IIIIII", content, at)
        if segment == LOADED:
            if offset + filled > len(content):
                raise ValueError(f"this ELF program ends too soon: the segment at {address:#x} is not all there")
            blocks.append(Block(address, content[offset:offset + filled], max(held - filled, 0)))
    if not blocks:
        raise ValueError("this ELF file has no segments that are loaded; give the linked program")
    return Image(tuple(blocks), 8 if wide else 4, big)


# --- Verilog hex


_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_WORD = re.compile(r"[0-9a-fA-FxXzZ?][0-9a-fA-FxXzZ?_]*")
_ADDRESS = re.compile(r"@[0-9a-fA-F][0-9a-fA-F_]*")


def _tokens(text: str) -> Iterator[tuple[int, str]]:
    """Words and addresses with their lines, comments taken out."""
    blank = _COMMENT.sub(lambda comment: re.sub(r"[^\n]", " ", comment[0]), text)
    for number, line in enumerate(blank.split("\n"), 1):
        yield from ((number, token) for token in line.split())


def _hex(text: str) -> Image:
    tokens = list(_tokens(text))
    for line, token in tokens:
        if not _WORD.fullmatch(token) and not _ADDRESS.fullmatch(token):
            raise ValueError(f"line {line}: {token[:40]!r} is neither a word of hex digits nor @ with the number of "
                             "one; expected are an ELF program, Verilog hex, or CSV with a header address,value")
    words = [token.replace("_", "") for _, token in tokens if not token.startswith("@")]
    if not words:
        raise ValueError("there is nothing in it")
    width = (max(map(len, words)) + 1) // 2
    blocks: list[Block] = []
    at, start, run = 0, 0, bytearray()
    for line, token in tokens:
        digits = token.replace("_", "")
        if token.startswith("@") or re.search("[xXzZ?]", digits):
            blocks.append(Block(start * width, bytes(run)))
            run.clear()
            at = start = int(digits[1:], 16) if token.startswith("@") else at + 1
            if at * width > LAST:
                raise ValueError(f"line {line}: {token[:40]} is beyond the last address, {LAST:#x}")
        else:
            run += int(digits, 16).to_bytes(width, "little")
            at += 1
    blocks.append(Block(start * width, bytes(run)))
    return Image(tuple(block for block in reversed(blocks) if block.content), width)


# --- CSV


def _is_table(text: str) -> bool:
    return {"address", "value"} <= {*_names(text)}


def _names(text: str) -> list[str]:
    first = next((line for line in text.splitlines() if line.strip() and not line.startswith("#")), "")
    return [name.strip().strip('"').lower() for name in re.split("[,;\t]", first)]


def _table(text: str) -> Image:
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1)
             if line.strip() and not line.startswith("#")]
    names, values = _names(text), dict[int | str, int]()
    delimiter = max(",;\t", key=lines[0][1].count)
    for (number, _), cells in zip(lines[1:], csv.reader((line for _, line in lines[1:]), delimiter=delimiter),
                                  strict=False):
        row = dict(zip(names, cells, strict=False))
        address, value = row.get("address", "").strip(), row.get("value", "")
        try:
            if not address:
                raise ValueError("address is missing")
            found = word(parse_number(value))
            if values.setdefault(location_key(address), found) != found:
                raise ValueError(f"{address} is given two values")
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from None
    return Image(values=values)
