"""Files that are no text, by how they begin: a trace packed or under a wrong name is soon found."""

from __future__ import annotations

from ._text import decode

_BEGINNINGS = {
    b"PK\x03\x04": "a zip archive; unpack it first", b"7z\xbc\xaf\x27\x1c": "a 7z archive; unpack it first",
    b"\xfd7zXZ\x00": "a file of xz; `xz -dc FILE | gradual check -` reads it",
    b"BZh": "a file of bzip2; `bzip2 -dc FILE | gradual check -` reads it",
    b"\x28\xb5\x2f\xfd": "a file of zstd; `zstd -dc FILE | gradual check -` reads it",
    b"\x7fELF": "a program", b"MZ": "a program for Windows", b"\x89PNG": "a picture (PNG)", b"%PDF": "a document (PDF)",
    b"SQLite format 3\x00": "an SQLite database", b"\x89HDF": "an HDF5 file",
}
_LOOKED_AT = 1024
_STRANGE = 0.3
"""The share of characters that are more than stray bytes of another encoding."""


def looks_like(head: bytes) -> str | None:
    """What a file looks like that begins so and is no text; None if it may be some.

    >>> looks_like(b"thread,op\\n"), looks_like(b"stra\\xdfe,op\\n"), looks_like(b"\\x7fELF\\x02\\x01")
    (None, None, 'a program')
    """
    head = head[:_LOOKED_AT]
    text = decode(head)
    if sum(not letter.isprintable() and not letter.isspace() for letter in text) <= _STRANGE * len(text):
        return None
    known = (kind for beginning, kind in _BEGINNINGS.items() if head.startswith(beginning))
    halves = (any(head[half::2]) for half in (0, 1))
    return next(known, {0: "nothing but zeros", 1: "UTF-16 without its byte order mark", 2: "binary data"}[sum(halves)])
