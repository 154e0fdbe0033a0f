"""Numbers and names as traces spell them, and as people read them."""

from __future__ import annotations

import re
from collections.abc import Sequence


def visible(text: str, keep: str = "") -> str:
    """Text from a trace: what moves a cursor, turns text around or cannot be seen is spelled out as in Python, but for
    the characters to `keep`. For terminals, pages and XML alike: it leaves nothing in that one of them forbids.

    >>> print(visible("a\\x1b[2J\\n"), visible("a\\nb", keep="\\n") == "a\\nb")
    a\\x1b[2J\\n True
    """
    if text.isprintable() or text in keep:
        return text
    unseen = (letter for letter in set(text) if not letter.isprintable() and letter not in keep)
    return text.translate({ord(letter): letter.encode("unicode_escape").decode() for letter in unseen})


_NUMBER = re.compile(r"\s*[+-]?(0[xX][0-9a-fA-F]{1,4000}|[0-9]{1,4000})\s*", re.ASCII)


def parse_number(text: str) -> int:
    """A number as traces spell it: decimal, or hex with 0x. Raises ValueError.

    >>> parse_number("0x10"), parse_number("007"), parse_number("-1")
    (16, 7, -1)
    """
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{text!r} is not a number")
    return int(text, 16 if "x" in text or "X" in text else 10)


_HEX = re.compile(r"[0-9a-fA-F]+", re.ASCII)


def as_hex(text: str) -> str:
    """Text that is a hex number without 0x, with it.

    >>> as_hex("1a"), as_hex(" 10"), as_hex("0x10"), as_hex("x")
    ('0x1a', '0x10', '0x10', 'x')
    """
    return f"0x{text.strip()}" if _HEX.fullmatch(text.strip()) else text


def look_like_hex(names: Sequence[str]) -> bool:
    """Are these, all of them, hex numbers without 0x? Decimal ones alone are not, nor are `a` and `b`.

    >>> look_like_hex(["10", "1a"]), look_like_hex(["beef", "BEEF"]), look_like_hex(["10", "20"]), look_like_hex("ab")
    (True, True, False, False)
    """
    if any(_HEX.fullmatch(name) is None for name in names) or "".join(names).isdecimal():
        return False
    return any(name[0].isdigit() for name in names) or len({name.lower() for name in names}) < len(names)


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


def first_byte(address: int | str) -> int | None:
    """Where the bytes of a location start: a name has none.

    >>> first_byte("0x10"), first_byte("x"), first_byte(-1)
    (16, None, None)
    """
    key = location_key(address)
    return key if isinstance(key, int) and key >= 0 else None


def bytes_text(size: int) -> str:
    """How many bytes.

    >>> bytes_text(1), bytes_text(4)
    ('1 byte', '4 bytes')
    """
    return "1 byte" if size == 1 else f"{size} bytes"


def span_text(start: int, size: int) -> str:
    """Some bytes of memory, by their addresses.

    >>> span_text(0x80, 1), span_text(0x80, 4)
    ('0x80', '0x80..0x83')
    """
    return f"{start:#x}" if size == 1 else f"{start:#x}..{start + size - 1:#x}"


def location_key(address: int | str) -> int | str:
    """What identifies a location: 0x10, "0x10" and 16 are one; any other text stands for itself."""
    if isinstance(address, str):
        try:
            return parse_number(address)
        except ValueError:
            return address.strip()
    return int(address)
