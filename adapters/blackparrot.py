"""Logs of BlackParrot, and of any simulation that prints axe's notation behind `#AXE` among the rest of its output.

    #AXE 0: M[12] := 7

The prefix is taken off, other lines are skipped, and what is left is read as axe's format is. Lines count as in the
log.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

from gradual.adapters import axe
from gradual.adapters._pieces import stream_of

from gradual.history import History, InputError, Options

SUMMARY = "axe lines behind #AXE in a log, as BlackParrot prints them"
EXTENSIONS = ()
EXAMPLE = """\
[CCE] coherence network is up
#AXE 0: M[12] := 7
#AXE 1: M[12] == 7
bp_nonsynth_host: finished
#AXE 1: { M[12] == 7; M[12] := 8 }
"""

_PREFIX = b"#AXE"
_HEAD = re.compile(rb"^.*#AXE\s+(?:\d+\s*:|check\b|final\b)", re.MULTILINE)


def recognise(head: bytes) -> bool:
    return bool(_HEAD.search(head))


def read(stream: BinaryIO, file: str, options: Options) -> Iterator[History | InputError]:
    """Lines without the prefix are empty, so that the others keep their numbers."""
    behind = (line.partition(_PREFIX)[2] or b"\n" for line in stream)
    yield from axe.read(stream_of(behind), file, options)
