"""One CPU of a log in which every instruction has its line: its accesses become operations."""

from __future__ import annotations

from typing import NamedTuple

from gradual.adapters._riscv import Registers
from gradual.adapters._text import shown

from gradual.history import EXCLUSIVE, Builder
from gradual.history.builder import More


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
    def operands(self) -> bytes:
        return self.text.partition(b" ")[2]

    @property
    def register(self) -> bytes:
        """The first operand: what an instruction sets, unless it stores or branches."""
        return self.operands.partition(b",")[0]

    @property
    def source(self) -> bytes:
        """The second operand."""
        return self.operands.partition(b",")[2].partition(b",")[0].strip()

    def __str__(self) -> str:
        what = self.operation if self.text.startswith(b" ") else self.text
        return shown(what.decode(errors="replace").strip())


class Access(NamedTuple):
    """Where an access goes and where it stands."""

    address: int
    size: int
    line: int
    tick: int
    marks: int = 0

    @property
    def mask(self) -> int:
        """What an access of this width keeps of a register."""
        return (1 << 8 * self.size) - 1


class Cpu:
    """One CPU as the log has shown it so far; hands its operations to the history."""

    def __init__(self, name: str, builder: Builder) -> None:
        self.name = name
        self.builder = builder
        self.registers = Registers()
        self.pc = b""
        self.called = False
        """Whether the last instruction was a system call."""
        self.whole = False
        """Whether instructions that access no memory are in the log too."""
        self.unfinished: dict[tuple[bytes, int], int] = {}
        """Accesses without a value, by pc and address: the line of each."""
        self._last_store: tuple[bytes, int, int, int] | None = None
        self._held: tuple[Access, int] | None = None
        self._fences: list[tuple[int, int, int]] = []
        self._count = 0
        """Its operations so far."""
        self._reserved: tuple[Access, int] | None = None
        """The last load-reserved, once it is an operation by itself, and its number."""
        self.ordering = 0
        """The acquire and release of the last atomic: its micro-operations do not name them."""
        self._started = False

    def repeats(self, pc: bytes, access: Access, value: int) -> bool:
        """Whether this store is the one before it, printed again.

        An instruction cannot follow itself: a loop has a branch between. Where the log has no branches
        (somebody selected lines), only the same tick will do.
        """
        last, self._last_store = self._last_store, (pc, access.address, value, access.tick)
        return last is not None and self.pc == pc and last[:3] == self._last_store[:3] and (
            self.whole or last[3] == access.tick)

    def fence(self, orders: int, line: int, tick: int) -> None:
        self.settle()
        if self._started:
            self._fences.append((orders, line, tick))

    def read(self, access: Access, value: int) -> None:
        self._add(access, value, None)

    def write(self, access: Access, value: int) -> None:
        self._add(access, None, value)

    def rmw(self, access: Access, read: int, written: int) -> None:
        self._add(access, read, None if read == written else written)

    def reserve(self, access: Access, value: int) -> None:
        """Hold a read back: it may become half of an rmw."""
        self.settle()
        self._held = access, value

    def release(self, access: Access, value: int) -> None:
        """The write that closes an indivisible pair, one operation if its read is the one before it.

        Which of the two an acquire or release belongs to is lost then, so that is left out.
        """
        if self._held is not None and self._held[0][:2] == access[:2]:
            (_, old), self._held = self._held, None
            self.rmw(access._replace(marks=0), old, value)
        else:
            self.write(access, value)

    def conditional(self, access: Access, value: int) -> None:
        """A store-conditional that succeeded: as `release`, or else paired with the last load-reserved."""
        reserved, self._reserved = self._reserved, None
        if self._held is None and reserved is not None and reserved[0][:2] == access[:2]:
            self._add(access, None, value, reserved[1])
        else:
            self.release(access, value)

    def fail(self) -> None:
        """A store-conditional failed, so a later one needs a load-reserved of its own."""
        self.settle()
        self._reserved = None

    def settle(self) -> None:
        """The read that was held back is a read by itself."""
        if self._held is not None:
            held, self._held = self._held, None
            self.read(*held)
            if held[0].marks & EXCLUSIVE:
                self._reserved = held[0], self._count

    def _add(self, access: Access, read: int | None, written: int | None, pair: int = 0) -> None:
        self.settle()
        for orders, at, when in self._fences:
            self.builder.fence(self.name, orders, line=at, tick=when)
        self._count += len(self._fences) + 1
        self._fences.clear()
        self._started = True
        address, line, tick, size = f"{access.address:#x}", access.line, access.tick, access.size
        more: More = {"marks": access.marks} if access.marks else {}
        if pair:
            more["pair"] = pair
        if written is None:
            assert read is not None
            self.builder.read(self.name, address, read, line=line, tick=tick, size=size, **more)
        elif read is None:
            self.builder.write(self.name, address, written, line=line, tick=tick, size=size, **more)
        else:
            self.builder.rmw(self.name, address, read, written, line=line, tick=tick, size=size, **more)
