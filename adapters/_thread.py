"""One thread of a log in which every instruction has its line: its accesses become operations."""

from __future__ import annotations

from typing import NamedTuple

from gradual.history import EXCLUSIVE, Builder
from gradual.history.builder import More


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


class Thread:
    """One thread as the log has shown it so far; hands its operations to the history."""

    def __init__(self, name: str, builder: Builder) -> None:
        self.name = name
        self.builder = builder
        self.held: tuple[Access, int] | None = None
        self.fences: list[tuple[int, int, int]] = []
        self.count = 0
        """Its operations so far."""
        self.reserved: tuple[Access, int, int] | None = None
        """The last load-reserved, its number and its value."""
        self.started = False

    def fence(self, orders: int, line: int, tick: int) -> None:
        self.settle()
        if self.started:
            self.fences.append((orders, line, tick))

    def read(self, access: Access, value: int) -> None:
        self._add(access, value, None)

    def write(self, access: Access, value: int) -> None:
        self._add(access, None, value)

    def rmw(self, access: Access, read: int, written: int) -> None:
        if read == written:  # a read needs no data
            self.read(access._replace(depends=_without_data(access.depends)), read)
        else:
            self._add(access, read, written)

    def reserve(self, access: Access, value: int) -> None:
        """A load-reserved is a read that a store-conditional may follow. A locked load is held back: it may become
        half of an rmw."""
        self.settle()
        if access.marks & EXCLUSIVE:
            self.read(access, value)
            self.reserved = access, self.count, value
        else:
            self.held = access, value

    def release(self, access: Access, value: int) -> None:
        """The write that closes an indivisible pair, one operation if its read is the one before it."""
        if self.held is not None and self.held[0][:2] == access[:2]:
            (_, old), self.held = self.held, None
            self.rmw(access, old, value)
        else:
            self.write(access, value)

    def conditional(self, access: Access, value: int) -> None:
        """A store-conditional that succeeded, with the last load-reserved. One that stores what that had read, with no
        other operation between, is left out: it has no value of its own."""
        reserved, self.reserved = self.reserved, None
        if reserved is None or reserved[0][:2] != access[:2]:
            self._add(access, None, value)
        elif reserved[1:] != (self.count, value):
            self._add(access, None, value, reserved[1])

    def fail(self) -> None:
        """A store-conditional failed, so a later one needs a load-reserved of its own."""
        self.settle()
        self.reserved = None

    def settle(self) -> None:
        """The read that was held back is a read by itself."""
        if self.held is not None:
            held, self.held = self.held, None
            self.read(*held)

    def _add(self, access: Access, read: int | None, written: int | None, pair: int = 0) -> None:
        self.settle()
        for orders, at, when in self.fences:
            self.builder.fence(self.name, orders, line=at, tick=when)
        self.count += len(self.fences) + 1
        self.fences.clear()
        self.started = True
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


def _without_data(depends: More | None) -> More:
    found: More = depends.copy() if depends else {}
    found.pop("data", None)
    return found
