"""Numbers and names as traces spell them, and as people read them."""

from __future__ import annotations

import re


def visible(text: str) -> str:
    """Text from a trace without characters that would move the cursor."""
    return text if text.isprintable() else "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


_NUMBER = re.compile(r"\s*[+-]?(0[xX][0-9a-fA-F]{1,4000}|[0-9]{1,4000})\s*", re.ASCII)


def parse_number(text: str) -> int:
    """A number as traces spell it: decimal, or hex with 0x. Raises ValueError.

    >>> parse_number("0x10"), parse_number("007"), parse_number("-1")
    (16, 7, -1)
    """
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{text!r} is not a number")
    return int(text, 16 if "x" in text or "X" in text else 10)


def word(value: int) -> int:
    """`value` as a 64-bit word in two's complement: values are compared as the memory holds them.

    >>> word(0xFFFFFFFFFFFFFFFF) == word(-1) == -1
    True
    """
    if not -(1 << 63) <= value < 1 << 64:
        shown = str(value) if abs(value) < 10**40 else "of over 40 digits"
        raise ValueError(f"value {shown} does not fit into 64 bits")
    return value - (1 << 64) if value >= 1 << 63 else value


def value_text(value: int) -> str:
    """A value for people: decimal, or hex when the top bit of the word is set."""
    return str(value) if value >= 0 else hex(int(value) + (1 << 64))


def location_key(address: int | str) -> int | str:
    """What identifies a location: 0x10, "0x10" and 16 are one; any other text stands for itself."""
    if isinstance(address, str):
        try:
            return parse_number(address)
        except ValueError:
            return address.strip()
    return int(address)
