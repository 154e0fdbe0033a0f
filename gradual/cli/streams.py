"""Standard output and messages on which no text from a trace can move the cursor, and verdicts have colours."""

from __future__ import annotations

import io
import os
import sys
from typing import TextIO

COLOURS = {"violation": "1;31", "error": "31", "unknown": "33", "consistent": "32"}
"""Of verdicts, as terminals number them: bold red, red, yellow, green."""


class Visible(io.TextIOWrapper):
    """Text whose control characters are spelled out, but for the ends of lines and tabs. What is data and no text
    goes to `buffer`, past this."""

    def write(self, text: str, /) -> int:
        if not text.removesuffix("\n").isprintable():
            from gradual.history.values import visible

            text = visible(text, keep="\n\t")
        return super().write(text)

    def coloured(self, text: str, colour: str) -> None:
        """In colour on a terminal, unless NO_COLOR (no-color.org) is against it; in a pipe or a file, as it is."""
        if not self.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
            self.write(text)
            return
        super().write(f"\033[{colour}m")
        self.write(text)
        super().write("\033[0m")


def visible_stream(stream: TextIO) -> TextIO:
    """The same stream, with its text made visible."""
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    encoding, buffered, through = stream.encoding, stream.line_buffering, stream.write_through
    return Visible(stream.detach(), encoding=encoding, errors="backslashreplace", line_buffering=buffered,
                   write_through=through)


def tell(text: str, model: str, verdict: str, *, flush: bool = False) -> None:
    """Print what is said of a history; the verdict, behind the model's name in the first line, in colour."""
    before, said, after = text.partition(f": {model} {verdict}")
    if isinstance(sys.stdout, Visible) and said and "\n" not in before:
        sys.stdout.write(f"{before}: ")
        sys.stdout.coloured(said.removeprefix(": "), COLOURS[verdict])
        text = after
    print(text, flush=flush)
