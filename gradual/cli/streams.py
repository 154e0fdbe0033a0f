"""Standard output and messages on which no text from a trace can move the cursor."""

from __future__ import annotations

import io
from typing import TextIO


class Visible(io.TextIOWrapper):
    """Text whose control characters are spelled out, but for the ends of lines and tabs. What is data and no text
    goes to `buffer`, past this."""

    def write(self, text: str, /) -> int:
        from gradual.history.values import visible

        if not text.isprintable():
            text = "\n".join("\t".join(map(visible, line.split("\t"))) for line in text.split("\n"))
        return super().write(text)


def visible_stream(stream: TextIO) -> TextIO:
    """The same stream, with its text made visible."""
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    encoding, buffered, through = stream.encoding, stream.line_buffering, stream.write_through
    return Visible(stream.detach(), encoding=encoding, errors="backslashreplace", line_buffering=buffered,
                   write_through=through)
