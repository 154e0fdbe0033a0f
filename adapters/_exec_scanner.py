"""gem5's Exec logs at the speed of the disk: a compiled scanner follows the lines, and operations are made by columns.

A line that it finds odd is read by whoever reads line by line, with the CPU as it was before that line.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from functools import cache
from io import BytesIO
from itertools import chain
from typing import Any, BinaryIO, Protocol

import numpy as np
from gradual.adapters import _exec_accesses, _exec_kernels, _exec_lines, _exec_registers
from gradual.adapters import _exec_tables as log
from gradual.adapters._cpu import Cpu
from gradual.adapters._exec_cpus import Cpus, empty, signed
from gradual.adapters._exec_instructions import Instructions, announced
from gradual.adapters._riscv import Role
from gradual.adapters._selection import Selection

from gradual import compiler
from gradual.compiler.waiting import in_time
from gradual.deadline import Deadline
from gradual.history import Builder, Column
from gradual.history.builder import Block

FEW = 20_000
"""Lines after which the scanner pays: to load it takes as long as to read so many."""
BLOCK = 1 << 20
"""Bytes that are read at a time."""
TEXTS = 1 << 15
"""Texts that are remembered; then all are forgotten."""
PLACES = 1 << 12
"""Of instructions in the program, that are remembered."""
OPERATIONS, DEPENDENCIES = 1 << 14, 1 << 16
"""That are made at a time."""
TROUBLE, TROUBLE_WITH_CPU, BEARABLE, PATIENCE = 10, 200, 2, 20_000
"""What an odd line costs, of no CPU or of one; what may be lost with each line; and before that is asked: about
microseconds."""
_FIELDS = [name for name, _ in log.FIELDS["instruction"]]
_COLUMNS = ("thread", "kind", "read", "written", "line", "tick", "size", "fence", "marks")
_NAMES = ("addr", "data", "ctrl")
_SIZES = {"text": 0, "spelling": 1 << 10, "pool": 1 << 22, "word": 4 * TEXTS, "place": PLACES,
          "path": PLACES * log.PLACE, "instruction": TEXTS, "range": 0, "operation": OPERATIONS,
          "dependency": DEPENDENCIES, "scratch": 2 * log.SCRATCH, "now": 1}


class Reader(Protocol):
    """Who reads line by line."""

    builder: Builder
    selection: Selection
    heads: dict[bytes, Cpu]
    cpus: dict[tuple[bytes, bytes], Cpu]
    bare_atomic: int

    def lines(self, numbered: Iterable[tuple[int, bytes]]) -> None: ...

    def cpu_of(self, line: bytes) -> Cpu | None: ...

    def role_of(self, text: bytes, operation: bytes, accesses: bool) -> Role | None: ...


@cache
def load() -> Callable[..., int]:
    """The compiled scanner."""
    tables = log.Log(**{name: empty(name, 1) for name in log.FIELDS})
    modules = log, _exec_lines, _exec_registers, _exec_accesses, _exec_kernels
    return compiler.compiled("scan_log", modules, {"Log": tables})


class Scanner:
    """Goes on where a reader stops."""

    def __init__(self, reader: Reader, line: int) -> None:
        self._reader = reader
        self._instructions = Instructions(reader.role_of)
        self._tables = {name: empty(name, size) for name, size in _SIZES.items()}
        self._tables["sort"] = _sorts()
        self._tables["range"] = _ranges(reader.selection.addresses.ranges)
        self._now: Any = self._tables["now"][0]
        self._cpus = Cpus(self._instructions.names, self._now)
        self._now["number"], self._now["bare_atomic"] = line, reader.bare_atomic
        self._first, self._trouble = line, 0
        """The first line, and what odd ones have cost."""
        self._prepared: Any = None
        """The tables as they were given to the scanner last."""
        self._spelled = self._met = 0
        """Bytes in `pool`, and instructions."""
        self._data = b""
        """The pcs that the CPUs were at, and the text."""

    def read(self, piece: bytes, stream: BinaryIO) -> None:
        """A piece of the text, and what follows it."""
        scan = in_time(load, Deadline(self._reader.builder.options.timeout))
        self._begin()
        while piece and not self._too_odd():
            self._go_on(piece)
            self._scan(scan)
            piece = stream.read(BLOCK)
        self._end(piece, stream)

    def _too_odd(self) -> bool:
        """Whether the odd lines of this log take longer than all lines would take without a scanner."""
        return self._trouble > BEARABLE * (int(self._now["number"]) - self._first) + PATIENCE

    def _begin(self) -> None:
        """Take over from the reader."""
        cpus = [*self._reader.cpus.values()]
        self._data = b"\n".join(text for cpu in cpus for text in _pcs(cpu))
        for cpu in cpus:
            self._number(cpu)
        self._now["at"] = len(self._data)

    def _go_on(self, piece: bytes) -> None:
        """With more text. Of the former what was not read is kept, and the pcs."""
        rows, kept, length = self._cpus.tables["cpu"], [], 0
        for first, past in (("pc", "pc_past"), ("stored_pc", "stored_pc_past")):
            for number, (start, end) in enumerate(zip(rows[first].tolist(), rows[past].tolist(), strict=True)):
                kept.append(self._data[start:end])
                rows[first][number], rows[past][number] = length, length + end - start
                length += end - start
        kept.append(b"\n")
        self._data = b"".join([*kept, self._data[self._now["at"]:], piece])
        self._now["at"] = length + 1

    def _scan(self, scan: Callable[..., int]) -> None:
        self._tables["text"] = np.frombuffer(self._data, dtype=self._tables["text"].dtype)
        answer = log.MORE_ROOM
        while answer != log.MORE_TEXT:
            if answer != log.NEW_WORD or self._now["space"] == log.HEAD:
                tables = self._ready()
            self._now["registers"] = len(self._instructions.names.names)
            answer = scan(tables)
            if answer == log.NEW_WORD:
                self._learn()
            elif answer == log.ODD:
                self._odd()

    def _ready(self) -> Any:
        """All tables, with room for what comes."""
        from gradual.compiler.native import Prepared

        self._make_room()
        self._now["stride"] = self._cpus.stride
        tables = log.Log(**self._tables | self._cpus.tables)
        if self._prepared is None or any(map(operator.is_not, self._prepared.tables, tables)):
            self._prepared = Prepared(tables)
        return self._prepared

    def _make_room(self) -> None:
        """For more operations. There is always room for all fences that may come before the next."""
        if not self._now["free_fence"]:
            self._cpus.more_fences()
        room = 2 * len(self._cpus.tables["fence"]) + OPERATIONS
        if (self._now["operations"] + room // 2 > len(self._tables["operation"])
                or 2 * self._now["dependencies"] > DEPENDENCIES or len(self._tables["operation"]) < room):
            self._flush()
            self._tables["operation"] = empty("operation", room)
        most = int(self._cpus.tables["cpu"]["count"].max(initial=0))
        self._cpus.reach(most + len(self._tables["operation"]))

    # Texts that are new

    def _learn(self) -> None:
        """Remember a text."""
        space = int(self._now["space"])
        key = self._data[self._now["head"] : self._now["head_past"]] if space == log.HEAD else (
            self._data[self._now["key"] : self._now["key_past"]])
        if self._met == TEXTS or self._spelled + len(key) > len(self._tables["pool"]):
            self._tables["word"]["number"] = self._tables["place"]["size"] = 0
            self._spelled = self._met = 0
            return  # its place is another now: it is looked up again
        if space == log.HEAD:
            self._learn_head(key)
            return
        with_data, with_address = bool(space - log.PLAIN & 1), bool(space - log.PLAIN & 2)
        row = announced(key + b"\n") if space == log.MACRO else self._instructions.row(key, with_data, with_address)
        self._tables["instruction"][self._met] = tuple(row.get(name, 0) for name in _FIELDS)
        self._met += 1
        self._remember(self._tables["spelling"]["sign"][: self._now["spelled"]], self._met)

    def _learn_head(self, head: bytes) -> None:
        """Whatever it is, the line's CPU is known behind it."""
        line = self._data[self._now["at"] : self._now["past"]]
        cpu = self._reader.cpu_of(line)
        if cpu is None or self._reader.heads.get(head) is not cpu:
            self._odd()
        else:
            self._remember(np.frombuffer(head, dtype=np.uint8), self._number(cpu) + 1)

    def _remember(self, text: Column, number: int) -> None:
        """The text that was looked up last."""
        past = self._spelled + len(text)
        self._tables["pool"]["letter"][self._spelled : past] = text
        self._tables["word"][self._now["slot"]] = (self._now["hashed"], self._spelled, past, number)
        self._spelled = past

    def _number(self, cpu: Cpu) -> int:
        known = len(self._cpus.cpus)
        number = self._cpus.number(cpu)
        if number == known:
            self._cpus.put(number, self._data, 0)
        return number

    # Lines that are odd

    def _odd(self) -> None:
        """Have a line read by the reader."""
        now = self._now
        line = self._data[now["at"] : now["past"]]
        cpu = self._cpus.cpus[now["cpu"]] if now["cpu"] >= 0 else self._reader.cpu_of(line)
        self._trouble += TROUBLE if cpu is None else TROUBLE_WITH_CPU
        if cpu is not None:
            number = self._number(cpu)
            self._flush()
            self._cpus.fetch(number, self._data)
            self._reader.bare_atomic = int(now["bare_atomic"])
            self._reader.lines([(int(now["number"]), line)])
            now["bare_atomic"] = self._reader.bare_atomic
            self._cpus.put(number, self._data, int(now["at"]))
        now["at"] = now["past"]
        now["number"] += 1

    def _end(self, piece: bytes, stream: BinaryIO) -> None:
        """Leave all to the reader, also what is left: a line that has no end, or much."""
        self._flush()
        for number in range(len(self._cpus.cpus)):
            self._cpus.fetch(number, self._data)
        reader, now = self._reader, self._now
        reader.bare_atomic = int(now["bare_atomic"])
        if now["outside"]:
            for name in ("lowest", "highest"):
                reader.selection.has(int(now[name]) + (1 << 63))
        rest = self._data[now["at"] :] + piece
        reader.lines(enumerate(chain(BytesIO(rest + stream.readline()), stream), int(now["number"])))

    # Operations

    def _flush(self) -> None:
        """Hand the operations to the history."""
        count, told = int(self._now["operations"]), int(self._now["dependencies"])
        if not count:
            return
        rows, depends = self._tables["operation"][:count], self._tables["dependency"][:told]
        pairs = {}
        for at, name in enumerate(_NAMES):
            those = depends[depends["name"] == at]
            pairs[name] = np.column_stack([those["later"], those["earlier"]])
        paired = np.flatnonzero(rows["pair"])
        pairs["pair"] = np.column_stack([paired, rows["pair"][paired]])
        columns = {name: rows[name] for name in _COLUMNS}
        names = [cpu.name for cpu in self._cpus.cpus]
        self._reader.builder.extend(Block(names, address=rows["address"].view(np.uint64), depends=pairs, **columns))
        self._now["operations"] = self._now["dependencies"] = 0


def _pcs(cpu: Cpu) -> list[bytes]:
    return [cpu.pc, *([] if cpu.last_store is None else [cpu.last_store[0]])]


def _sorts() -> Column:
    table = empty("sort", 256)
    for byte in range(256):
        letter = chr(byte)
        table["digit"][byte] = b"0123456789abcdef".find(byte) % 256 if byte else log.NO_DIGIT
        table["of"][byte] = log.OF_NUMBER if byte < 128 and letter.isdigit() else (
            log.OF_WORD if letter == "_" or byte >= 128 or letter.isalpha() else log.BLANK * (letter == " "))
    return table


def _ranges(ranges: Iterable[tuple[int, int]]) -> Column:
    """As the scanner compares them: everything, where none is selected."""
    wanted = [(max(low, 0), min(high, 1 << 64)) for low, high in ranges or [(0, 1 << 64)]]
    table = empty("range", len(wanted))
    for row, (low, high) in zip(table, wanted, strict=True):
        row["low"], row["high"] = (signed(low), signed(high - 1)) if low < high else (1, 0)
    for name in ("low", "high"):
        table[name] ^= np.int64(log.TOP)
    return table


__all__ = ["BLOCK", "FEW", "Reader", "Scanner", "load"]
