"""Commit logs of Spike, the RISC-V simulator: `spike --log-commits --log=FILE`, with or without `-l`. One log is one
history, a core is a thread; `_commits` says what becomes what.

    core   0: 3 0x0000000080000104 (0x00a12023) mem 0x0000000080002000 0x0000002a
    core   1: 3 0x0000000080000120 (0x00012503) x10 0x000000000000002a mem 0x0000000080002000

A line has the privilege, the pc, the instruction's word, the registers that it set, ` mem ADDRESS` for what it loaded
and ` mem ADDRESS VALUE` for what it stored. Lines of `-l` (disassembly, symbols, exceptions) are skipped; what
traps has no line of the first kind, and did nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

from gradual.adapters._commits import COMMIT, Log

from gradual.history import History, InputError, Options

SUMMARY = "Spike commit log (spike --log-commits)"
EXTENSIONS = ()
EXAMPLE = """\
core   0: 3 0x0000000080000100 (0x02a00513) x10 0x000000000000002a
core   0: 3 0x0000000080000104 (0x00a12023) mem 0x0000000080002000 0x0000002a
core   1: 3 0x0000000080000120 (0x00012503) x10 0x000000000000002a mem 0x0000000080002000
core   1: 3 0x0000000080000124 (0x0330000f)
core   1: 3 0x0000000080000128 (0x0aa125af) x11 0x000000000000002a mem 0x0000000080002000 mem 0x0000000080002000 0x00000054
"""  # noqa: E501 - as Spike prints it

_HEAD = re.compile(rb"^core +\d+: (?:\d 0x[0-9a-f]+ \(0x|0x[0-9a-f]+ \(0x[0-9a-f]+\) (?!DASM\())", re.MULTILINE)
_LINE = re.compile(rb"core +(\d+): " + COMMIT)


def recognise(head: bytes) -> bool:
    return bool(_HEAD.search(head))


def read(stream: BinaryIO, file: str, options: Options) -> Iterator[History | InputError]:
    try:
        yield _read(stream, file, options)
    except InputError as error:
        yield error


def _read(stream: BinaryIO, file: str, options: Options) -> History:
    log = Log(file, options)
    match = _LINE.match
    for number, line in enumerate(stream, 1):
        if (found := match(line)) is not None:
            core, pc, word, effects = found.groups()
            log.whole(line, number)
            log.hart(f"hart{int(core)}").commit(number, pc, word, effects)
    return log.finish("this log shows no load or store with its address (mem 0x…); Spike prints them with "
                      "--log-commits")
