"""RISC-V commit logs: every instruction with its word, the registers that it set and the memory that it touched.

Spike prints them, and RTL that copies Spike. What becomes what, where there is a choice:

- Accesses, fences and dependencies are read from the instruction words. An unselected load, or an instruction that
  `_words` does not know, makes a register unknown: that drops dependencies and never adds one.
- A load-reserved and the store-conditional that succeeded are a read and a write, marked as a pair; a failed
  store-conditional is nothing.
- A load into x0 shows no value and is left out. An AMO into x0 does not show the value that it read: where it adds or
  xors, that is computed from its source register; otherwise it is taken for a write. Both only weaken what is checked.
- Fences before a thread's first and after its last selected access order nothing and are left out.
"""

from __future__ import annotations

import re

from gradual.adapters._dependencies import NOWHERE, UNKNOWN_ONLY, Dependencies
from gradual.adapters._riscv import amo_result
from gradual.adapters._selection import Selection, note_dropped
from gradual.adapters._text import stem
from gradual.adapters._thread import Access, Thread
from gradual.adapters._words import Instruction, decode

from gradual.history import NO_TICK, Builder, History, NoAccess, Options

COMMIT = rb"\d 0x([0-9a-f]+) \(0x([0-9a-f]+)\)(.*)"
"""A commit: privilege, pc, instruction word, effects."""
_REGISTER = re.compile(rb" ([xf]) *(\d+) +0x([0-9a-f]+)")
_MEMORY = re.compile(rb" mem 0x([0-9a-f]+)(?: 0x([0-9a-f]+))?")

Values = dict[bytes, int]
"""What registers were set to."""


class Log:
    """One log, or what has been read of it."""

    def __init__(self, file: str, options: Options, *, operands: bool = False) -> None:
        self.builder = Builder(stem(file), file, options, tears=True)
        self.selection = Selection(options.addresses)
        self.operands = operands
        """Whether a store's value is what its source register holds, also of atomics: not what memory is left with."""
        self._harts: dict[str, Hart] = {}

    def hart(self, name: str) -> Hart:
        if name not in self._harts:
            self._harts[name] = Hart(name, self)
        return self._harts[name]

    def whole(self, line: bytes, number: int) -> None:
        """Refuse a last line that may have lost some of its digits."""
        if not line.endswith(b"\n"):
            raise self.builder.error("the log ends in the middle of this line (there is no line end); take it out",
                                     number)

    def finish(self, nothing: str) -> History:
        """The history; `nothing` says why a log of this kind may show no access."""
        if not len(self.builder):
            raise NoAccess(self.selection.missed() or nothing, self.builder.file, 0, self.builder.name)
        note_dropped(self.builder, (hart.dependencies for hart in self._harts.values()))
        return self.selection.built(self.builder)


class Hart(Thread):
    """One hart as the log has shown it so far."""

    def __init__(self, name: str, log: Log) -> None:
        super().__init__(name, log.builder)
        self.dependencies = Dependencies()
        self._log = log
        self._values: Values = {}

    def commit(self, line: int, pc: bytes, word: bytes, effects: bytes) -> None:
        """An instruction, as COMMIT takes it apart."""
        instruction = decode(int(word, 16), 32 if len(pc) == 8 else 64)
        sets = {letter + number: int(value, 16) for letter, number, value in _REGISTER.findall(effects)}
        if instruction.does == "fence":
            self.fence(instruction.size, line, NO_TICK)
        elif not instruction.does:
            self.follow(instruction, tuple(sets))
        else:
            touched = [(int(address, 16), int(value, 16) if value else None)
                       for address, value in _MEMORY.findall(effects)]
            self.access(instruction, line, sets, touched)
        self._values.update(sets)

    def follow(self, instruction: Instruction, sets: tuple[bytes, ...]) -> None:
        """An instruction without an access, and the registers that it set."""
        if instruction.use[0] == "other":
            self.dependencies.forget(sets)
        else:
            self.dependencies.follow(instruction.use, True)

    def access(self, instruction: Instruction, line: int, sets: Values, touched: list[tuple[int, int | None]],
               tick: int = NO_TICK) -> None:
        """An access: the addresses that it touched, those that it wrote with their values."""
        came, before = UNKNOWN_ONLY, self.count
        addresses = {address for address, _ in touched}
        if not touched and instruction.does == "conditional":
            self.fail()
            came = NOWHERE
        elif any(self._log.selection.has(address) for address in addresses):
            self._record(instruction, Access(min(addresses), instruction.size, line, tick, instruction.marks), sets,
                         [value for _, value in touched if value is not None], len(addresses) > 1)
            came = frozenset({self.count}) if self.count > before else NOWHERE
        for register in (instruction.target,) if instruction.does != "unknown" else sets:
            self.dependencies.come(register, came)

    def _record(self, instruction: Instruction, access: Access, sets: Values, stored: list[int], several: bool) -> None:
        """A selected access becomes an operation, if it took place and has a value."""
        does = instruction.does
        if several or does == "unknown":
            raise self.builder.error("this instruction accesses memory in a way that is not known here, as vectors and "
                                     "cache blocks do; select addresses that loads, stores and atomics access",
                                     access.line)
        loaded = sets.get(instruction.target)
        if does == "conditional" and not self._succeeded(loaded, stored, access.line):
            self.fail()
            return
        if does in ("read", "reserve") and loaded is None:
            if does == "reserve":
                self.fail()
            return
        access = access._replace(depends=self.dependencies.of_access(instruction.address, instruction.data))
        if does in ("read", "reserve"):
            assert loaded is not None
            (self.read if does == "read" else self.reserve)(access, loaded & access.mask)
            return
        if not stored and instruction.amo != b"amocas":
            raise self.builder.error("this store shows no value", access.line)
        if does == "rmw":
            self._atomic(instruction, access, None if loaded is None else loaded & access.mask, stored)
        else:
            (self.write if does == "write" else self.conditional)(access, stored[-1] & access.mask)

    def _succeeded(self, status: int | None, stored: list[int], line: int) -> bool:
        if status is None and self._log.operands:
            raise self.builder.error("this store-conditional sets x0, so nothing tells whether it succeeded", line)
        return bool(stored) if status is None else status == 0

    def _atomic(self, instruction: Instruction, access: Access, old: int | None, stored: list[int]) -> None:
        amo, new = instruction.amo, stored[-1] & access.mask if stored else None
        if self._log.operands and new is not None and amo != b"amoswap":
            if old is None:
                raise self.builder.error("this atomic sets x0, so nothing tells what memory was left with", access.line)
            new = amo_result(amo, access.size, old, new)
        if old is None and new is not None and (source := self._values.get(instruction.data[0])) is not None:
            old = {b"amoadd": new - source, b"amoxor": new ^ source}.get(amo)
        if new is None:  # a compare-and-swap that failed
            if old is not None:
                self.read(access, old)
        elif old is None:
            self.builder.note("atomics that set x0 show no value that they read, and are taken for stores")
            self.write(access, new)
        else:
            self.rmw(access, old & access.mask, new)
