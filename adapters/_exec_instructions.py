"""What the instructions of gem5's Exec logs do, as the numbers that `_exec_kernels` works on.

Said is here nothing new: the tables of `_riscv` and `_x86` are asked once for each text.
"""

from __future__ import annotations

from collections.abc import Callable

from gradual.adapters import _exec_tables as log
from gradual.adapters import _riscv, _x86
from gradual.adapters._dependencies import SCRATCH, Use

from gradual.history import EXCLUSIVE

Row = dict[str, int]
"""Fields of an instruction; those that are not there are 0."""
RoleOf = Callable[[bytes, bytes, bool], "_riscv.Role | None"]
"""From text, operation and whether there is an address, to a role."""

ODD: Row = {}
SOURCES = 4
_DOES = {
    "read": log.LOAD, "write": log.STORE, "rmw": log.SWAP, "reserve": log.RESERVE,
    "conditional": log.CONDITIONAL, "release": log.UNLOCK, "unknown": log.OTHER, "unsized": log.OTHER}
_OTHERS = {"nothing": log.NOTHING, "fence": log.BARRIER, "ecall": log.CALL, "link": log.LINK,
           "rest": log.REST}
_FOLLOWS = {"set": log.SET, "control": log.CONTROL, "csr": log.CSR, "other": log.UNKNOWN}
_AMOS = {b"amoadd": log.ADD, b"amoand": log.AND, b"amoor": log.OR, b"amoxor": log.XOR,
         b"amomax": log.MAX, b"amomin": log.MIN, b"amomaxu": log.MAX_UNSIGNED,
         b"amominu": log.MIN_UNSIGNED}


class Full(Exception):
    """There are no numbers left."""


class Names:
    """The registers of a log by their numbers."""

    def __init__(self) -> None:
        self._numbers = {b"zero": log.ZERO_REGISTER, b"x0": log.ZERO_REGISTER, b"a0": log.A0,
                         b"ra": log.RA}
        self.names = [b"zero", b"a0", b"ra", b"(spare)"]
        """By number."""

    def number(self, name: bytes) -> int:
        """Raises Full."""
        found = self._numbers.get(name)
        if found is None:
            if len(self.names) == log.REGISTERS:
                raise Full
            found = self._numbers[name] = len(self.names)
            self.names.append(name)
        return found


def announced(text: bytes) -> Row:
    """An instruction without a result: `text` is the end of its line."""
    mnemonic = text.partition(b" ")[0]
    role = _riscv.ROLES.get(mnemonic)
    atomic = role is not None and role[0] in _riscv.ATOMIC
    return {"does": log.NOTHING, "atomic": int(atomic), "marks": _riscv.marks(mnemonic) if atomic else 0}


class Instructions:
    """Takes instructions with their results apart."""

    def __init__(self, role_of: RoleOf) -> None:
        self.names = Names()
        self._role_of = role_of

    def row(self, key: bytes, data: bool, address: bool) -> Row:
        """What stands between pc and result; whether that has data and an address."""
        text, *operations = key.split(b" : ")
        riscv = not text.startswith(b" ")
        if not text or b"FAULTING" in key or not (riscv or (operations and _x86.named(text))):
            return ODD
        try:
            role = self._role_of(text, operations[0] if operations else b"", address)
            row = self._row(text, role, data, address)
        except Full:
            return ODD
        whole = role is None or not (riscv or address)
        return row and row | {"riscv": int(riscv), "whole": int(whole)}

    def _row(self, text: bytes, role: _riscv.Role | None, data: bool, address: bool) -> Row:
        register = text.partition(b" ")[2].partition(b",")[0].rstrip()
        if role is None and not address:
            return self._followed(text, data) | {"does": log.FOLLOW, "sets": self._number(register, data)}
        does, size = role or ("unknown", 0)
        if does in _DOES:
            return self._access(does, size, text) if address else {"does": log.SILENT}
        if does == "fence":
            orders = size or _riscv.fence_orders(text.partition(b" ")[2])
            return {"does": log.BARRIER if orders else log.NOTHING, "size": orders}
        row: Row = {"does": _OTHERS.get(does, log.DO_ODD)}
        if does == "link":
            row |= self._followed(text, True)
        if does == "rest":
            row["sets"] = self.names.number(register)
        return row

    def _number(self, name: bytes, wanted: bool = True) -> int:
        return self.names.number(name) if wanted else log.NONE

    def _followed(self, text: bytes, sets: bool) -> Row:
        use: Use = _riscv.use(text)
        kind, target, sources = use
        if kind == "other" and not sets:
            return {}
        aims = kind != "control" or target != b""
        row = {"follow": _FOLLOWS[kind], "target": self._number(target, aims), **self._read(sources)}
        return row | {"keeps": int(kind == "csr" and sources[0] in SCRATCH)}

    def _read(self, sources: tuple[bytes, ...]) -> Row:
        """The registers that are read."""
        if len(sources) > SOURCES:
            raise Full
        return {"sources": len(sources)} | {f"source{at}": self.names.number(name) for at, name in enumerate(sources)}

    def _access(self, does: str, size: int, text: bytes) -> Row:
        row: Row = {"does": _DOES[does], "size": size, "atomic": int(does in _riscv.ATOMIC), "data": log.NONE}
        if text.startswith(b" "):
            return row
        mnemonic, _, operands = text.partition(b" ")
        address, data = _riscv.made_from(does, text)
        row |= {"sets": self._number(operands.partition(b",")[0].rstrip(), does != "write"), **self._read(address)}
        if data and does != "unknown":
            row["data"] = self.names.number(data[0])
        if does in _riscv.ATOMIC:
            row["amo"] = _AMOS.get(mnemonic.partition(b"_")[0], 0)
            row["marks"] = _riscv.marks(mnemonic) | (0 if does == "rmw" else EXCLUSIVE)
        return row
