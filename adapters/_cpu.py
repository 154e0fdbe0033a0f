"""One CPU of a gem5 log, and the lines that show it."""

from __future__ import annotations

from typing import NamedTuple

from gradual.adapters._arm import Exclusive
from gradual.adapters._arm import operands as arm_operands
from gradual.adapters._arm import register as arm_register
from gradual.adapters._riscv import Registers
from gradual.adapters._text import shown
from gradual.adapters._thread import Access, Thread

from gradual.history import Builder


class Line(NamedTuple):
    """A line with a result, taken apart."""

    number: int
    tick: bytes
    pc: bytes
    text: bytes
    """The instruction; with x86, the indented name of the one that the operation belongs to."""
    result: bytes
    """What follows the operation class: D=, A= and the rest."""
    operation: bytes
    """With x86, the micro-operation."""

    @property
    def of(self) -> str:
        """riscv, x86 or arm: only RISC-V's instructions are not indented, and x86's are in capitals."""
        return "riscv" if not self.text.startswith(b" ") else "x86" if self.text.isupper() else "arm"

    @property
    def operands(self) -> bytes:
        return self.text.partition(b" ")[2]

    @property
    def register(self) -> bytes:
        """The first operand: what an instruction sets, unless it stores or branches."""
        if self.of == "arm":
            return arm_register(arm_operands(self.text)[0])
        return self.operands.partition(b",")[0].rstrip()

    @property
    def source(self) -> bytes:
        """The second operand."""
        return self.operands.partition(b",")[2].partition(b",")[0].strip()

    def __str__(self) -> str:
        what = self.operation if self.of == "x86" else self.text
        return shown(what.decode(errors="replace").strip())


class Cpu(Thread):
    """One CPU as the log has shown it so far."""

    def __init__(self, name: str, builder: Builder) -> None:
        super().__init__(name, builder)
        self.registers = Registers()
        self.pc = b""
        self.called = False
        """Whether the last instruction was a system call."""
        self.whole = False
        """Whether instructions that access no memory are in the log too."""
        self.unfinished: dict[tuple[bytes, int], int] = {}
        """Accesses without a value, by pc and address: the line of each."""
        self.last_store: tuple[bytes, int, int, int] | None = None
        self.exclusive: Exclusive | None = None
        """A store-conditional of Arm whose status is not known yet."""
        self.ordering = 0
        """The acquire and release of the last atomic: its micro-operations do not name them."""

    def repeats(self, pc: bytes, access: Access, value: int) -> bool:
        """Whether this store is the one before it, printed again.

        An instruction cannot follow itself: a loop has a branch between. Where the log has no branches
        (somebody selected lines), only the same tick will do.
        """
        last, self.last_store = self.last_store, (pc, access.address, value, access.tick)
        return last is not None and self.pc == pc and last[:3] == self.last_store[:3] and (
            self.whole or last[3] == access.tick)
