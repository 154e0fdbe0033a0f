"""Commit logs of CVA6 (`trace_rvfi_hart_XX.dasm`): one of each hart, whose number only the file's name tells; `--join`
makes one history of them. `_commits` says what becomes what.

    core   0: 0x0000000080000104 (0x00a12023) DASM(00a12023)
    3 0x0000000080000104 (0x00a12023) mem 0x0000000080002000 0x000000000000002a
    3 0x0000000080000120 (0x00012503) x10 0x000000000000002a mem 0x0000000080002000
    LD_PAGE_FAULT exception @ 0x0000000080000124 (0x00012503)

Lines that begin with the privilege count. `x` and the register's number may have blanks between them. A store's value
is all of its source register, also of atomics: the opcode tells how much of it is stored, and what becomes of it. A
store-conditional is printed whether it succeeds or not; its register tells. What traps did nothing. Loads into
floating-point registers are printed without their address, and are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import BinaryIO

from gradual.adapters._commits import COMMIT, Log

from gradual.history import History, InputError, Options

SUMMARY = "CVA6 commit logs (trace_rvfi_hart_XX.dasm), one per hart: --join makes them one history"
EXTENSIONS = ("dasm",)
EXAMPLE = """\
core   0: 0x0000000080000104 (0x00a12023) DASM(00a12023)
3 0x0000000080000104 (0x00a12023) mem 0x0000000080002000 0x000000000000002a
core   0: 0x0000000080000108 (0x0330000f) DASM(0330000f)
3 0x0000000080000108 (0x0330000f)
core   0: 0x000000008000010c (0x00012403) DASM(00012403)
3 0x000000008000010c (0x00012403) x 8 0x000000000000002a mem 0x0000000080002000
"""

_HEAD = re.compile(rb"^core +(?:INTERRUPT )?\d+: 0x[0-9a-f]+ \(0x[0-9a-f]+\) DASM\(|^\d 0x[0-9a-f]+ \(0x[0-9a-f]+\)",
                   re.MULTILINE)
_LINE = re.compile(COMMIT)
_HART = re.compile(r"hart_?([0-9a-fA-F]+)")


def recognise(head: bytes) -> bool:
    return bool(_HEAD.search(head))


def read(stream: BinaryIO, file: str, options: Options) -> Iterator[History | InputError]:
    try:
        yield _read(stream, file, options)
    except InputError as error:
        yield error


def _read(stream: BinaryIO, file: str, options: Options) -> History:
    log = Log(file, options, operands=True)
    hart, match = log.hart(_name(file)), _LINE.match
    for number, line in enumerate(stream, 1):
        if (found := match(line)) is not None:
            log.whole(line, number)
            hart.commit(number, *found.groups())
    return log.finish("this log shows no load or store with its address (mem 0x…). Rocket's commit log looks like this "
                      "and never has them: use TraceGen (groundtest) or Spike's commit log instead")


def _name(file: str) -> str:
    """`hart1` of trace_rvfi_hart_01.dasm: the number is hex; any other file is a thread of its own name."""
    found = _HART.search(PurePath(file).name)
    return f"hart{int(found[1], 16)}" if found else PurePath(file).name
