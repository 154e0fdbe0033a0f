"""Tokens with their places, and a cursor over them: what all readers of programs share."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NoReturn

from gradual.history import InputError, parse_number, word


class ProgramError(InputError):
    """A program that cannot be read, with the line and the column where."""

    def __init__(self, message: str, file: str = "", line: int = 0, column: int = 0) -> None:
        super().__init__(message, file, line)
        self.column = column

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part)
        return f"{place}: {self.message}" if place else self.message


@dataclass(frozen=True)
class Token:
    text: str
    line: int
    column: int

    @property
    def is_name(self) -> bool:
        return self.text[:1].isalpha() or self.text[:1] == "_"

    @property
    def is_number(self) -> bool:
        return self.text.lstrip("+-")[:1].isdigit()


END = ""
"""The text of the token after the last one."""

_TOKEN = re.compile(r"""
    (?P<space>\s+) | (?P<comment>\(\*.*?\*\)) | (?P<string>"[^"\n]*") |
    (?P<token> [+-]?0[xX][0-9a-fA-F]+ | [+-]?[0-9]+ | [^\W\d]\w* | \|\||∥ | /\\ | \\/ | && | != | <> | \S )""",
                    re.VERBOSE | re.DOTALL)


def tokens(text: str, file: str, line_comment: str | None = None) -> list[Token]:
    """The tokens of a text, END last. Comments are (* … *), and what follows `line_comment` on a line."""
    if line_comment:
        text = re.sub(f"{line_comment}.*", lambda match: " " * len(match[0]), text)
    found = []
    line, start, at = 1, 0, 0  # the line, where it starts, where we are
    while at < len(text):
        match = _TOKEN.match(text, at)
        assert match is not None  # \s and \S leave nothing
        if match.lastgroup == "token":
            if match[0] == "(" and text.startswith("(*", at):
                raise ProgramError("this comment is never closed", file, line, at - start + 1)
            found.append(Token(match[0], line, at - start + 1))
        line += match[0].count("\n")
        if "\n" in match[0]:
            start = at + match[0].rindex("\n") + 1
        at = match.end()
    return [*found, Token(END, line, at - start + 1)]


class Cursor:
    """Reads tokens one by one. Every complaint carries the place of the token it is about."""

    def __init__(self, items: Sequence[Token], file: str) -> None:
        self.items = items
        self.file = file
        self.at = 0

    def rename(self, name: Callable[[str], str]) -> None:
        """Calls what is still to be read by other names."""
        self.items = [*self.items[:self.at], *(replace(token, text=name(token.text)) for token in self.items[self.at:])]

    @property
    def here(self) -> Token:
        return self.items[min(self.at, len(self.items) - 1)]

    def ahead(self, distance: int) -> str:
        return self.items[min(self.at + distance, len(self.items) - 1)].text

    def sees(self, *texts: str) -> bool:
        return self.here.text.lower() in texts

    def next(self) -> Token:
        token = self.here
        self.at += 1
        return token

    def take(self, *texts: str) -> Token | None:
        """The next token, if it is one of these."""
        return self.next() if self.sees(*texts) else None

    def expect(self, text: str, where: str) -> Token:
        return self.take(text) or self.fail(f"expected {text!r} {where}")

    def name(self, what: str) -> str:
        return self.next().text if self.here.is_name else self.fail(f"expected {what}")

    def address(self, what: str = "a location") -> str:
        """A location: a name, or a number, as in traces: 0x10 and 16 are one."""
        if self.here.is_number:
            return hex(parse_number(self.next().text))
        return self.name(what)

    def place(self, what: str = "a location") -> str:
        """A location, or one so many places further: `x`, `x+1`."""
        base = self.address(what)
        sign = self.here.text[:1]
        if sign not in ("+", "-") or not self.here.is_number:
            return base
        offset = self.number()
        return f"{base}+{offset}" if offset else base

    def number(self, what: str = "a number") -> int:
        if not self.here.is_number:
            self.fail(f"expected {what}")
        try:
            value = word(parse_number(self.here.text))
        except ValueError as error:
            raise self.error(str(error)) from None
        self.at += 1
        return value

    def error(self, message: str, token: Token | None = None) -> ProgramError:
        token = token or self.here
        return ProgramError(message, self.file, token.line, token.column)

    def fail(self, message: str) -> NoReturn:
        found = repr(self.here.text) if self.here.text else "the end"
        raise self.error(f"{message}, found {found}")
