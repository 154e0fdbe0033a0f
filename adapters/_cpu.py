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
    depends: More | None = None
    """On which operations of its thread."""

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
        self.count = 0
        """Its operations so far."""
        self._reserved: tuple[Access, int, int] | None = None
        """The last load-reserved, its number and its value."""
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
        """A load-reserved is a read that a store-conditional may follow. A locked load is held back: it may become
        half of an rmw."""
        self.settle()
        if access.marks & EXCLUSIVE:
            self.read(access, value)
            self._reserved = access, self.count, value
        else:
            self._held = access, value

    def release(self, access: Access, value: int) -> None:
        """The write that closes an indivisible pair, one operation if its read is the one before it."""
        if self._held is not None and self._held[0][:2] == access[:2]:
            (_, old), self._held = self._held, None
            self.rmw(access, old, value)
        else:
            self.write(access, value)

    def conditional(self, access: Access, value: int) -> None:
        """A store-conditional that succeeded, with the last load-reserved. One that stores what that had read, with no
        other operation between, is left out: it has no value of its own."""
        reserved, self._reserved = self._reserved, None
        if reserved is None or reserved[0][:2] != access[:2]:
            self._add(access, None, value)
        elif reserved[1:] != (self.count, value):
            self._add(access, None, value, reserved[1])

    def fail(self) -> None:
        """A store-conditional failed, so a later one needs a load-reserved of its own."""
        self.settle()
        self._reserved = None

    def settle(self) -> None:
        """The read that was held back is a read by itself."""
        if self._held is not None:
            held, self._held = self._held, None
            self.read(*held)

    def _add(self, access: Access, read: int | None, written: int | None, pair: int = 0) -> None:
        self.settle()
        for orders, at, when in self._fences:
            self.builder.fence(self.name, orders, line=at, tick=when)
        self.count += len(self._fences) + 1
        self._fences.clear()
        self._started = True
        address, line, tick, size = f"{access.address:#x}", access.line, access.tick, access.size
        more: More = access.depends.copy() if access.depends else {}
        if access.marks:
            more["marks"] = access.marks
        if pair:
            more["pair"] = pair
        if written is None:
            assert read is not None
            self.builder.read(self.name, address, read, line=line, tick=tick, size=size, **more)
        elif read is None:
            self.builder.write(self.name, address, written, line=line, tick=tick, size=size, **more)
        else:
            self.builder.rmw(self.name, address, read, written, line=line, tick=tick, size=size, **more)
