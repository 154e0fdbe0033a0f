"""The tokens of a model file, each with its place; what is wrong with a model names that place."""

from __future__ import annotations

import re
from typing import NamedTuple


class ModelError(ValueError):
    """A model that cannot be read, or that there is not: with file, line and column where they are known."""

    def __init__(self, message: str, file: str = "", line: int = 0, column: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        self.line = line
        self.column = column

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part)
        return f"{place}: {self.message}" if place else self.message

    def __reduce__(self) -> tuple[type[ModelError], tuple[str, str, int, int]]:
        return type(self), (self.message, self.file, self.line, self.column)


class Token(NamedTuple):
    kind: str
    """name, string, comment or symbol; end after the last one."""
    text: str
    file: str
    line: int
    column: int

    def error(self, message: str) -> ModelError:
        return ModelError(message, self.file, self.line, self.column)

    def __str__(self) -> str:
        return {"end": "the end of the file", "string": f'"{self.text}"'}.get(self.kind, f"`{self.text}`")


_NAME = r"[A-Za-z_](?:[\w.'-]*[\w'])?"
_TOKEN = re.compile(rf"""
    (?P<space>\s+) | (?P<line>(?://|\#)[^\n]*) | (?P<open>\(\*) | "(?P<string>[^"]*)" | (?P<name>{_NAME}) |
    (?P<symbol>\^-1 | \+\+ | \|\| | -> | \S)""", re.VERBOSE)
_COMMENT = re.compile(r"\(\*|\*\)")


def tokens(text: str, file: str) -> list[Token]:
    """Comments are kept: those after the title may say something to us."""
    found: list[Token] = []
    at, line, start = 0, 1, 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        assert match is not None and match.lastgroup is not None  # \s and \S leave nothing
        kind, words, column = match.lastgroup, match[match.lastgroup], at - start + 1
        end = match.end()
        if kind == "open":
            end = _close(text, at)
            if end < 0:
                raise ModelError("this comment is never closed", file, line, column)
            kind, words = "comment", text[at + 2:end - 2].strip()
        if words == '"':
            raise ModelError("this string is never closed", file, line, column)
        if kind not in ("space", "line"):
            found.append(Token(kind, words, file, line, column))
        line += text.count("\n", at, end)
        start = max(start, text.rfind("\n", at, end) + 1)
        at = end
    return [*found, Token("end", "", file, line, at - start + 1)]


def _close(text: str, start: int) -> int:
    """The place after the comment that opens at `start`; comments nest. -1 where it never ends."""
    depth = 0
    for match in _COMMENT.finditer(text, start):
        depth += 1 if match[0] == "(*" else -1
        if depth == 0:
            return match.end()
    return -1
