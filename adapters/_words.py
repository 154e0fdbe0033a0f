"""RISC-V instruction words: what they do to memory, and which registers they are made from.

Registers are called x1, f1 and, of CSRs, by number or (those that keep what is written to them) by name. What is no
access and sets no register from others is "other": whoever follows registers forgets those that it sets.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from gradual.adapters._dependencies import Use

from gradual.history import ACQUIRE, EXCLUSIVE, FENCES, INSTRUCTIONS, RELEASE, TSO_FENCE

Names = tuple[bytes, ...]

OTHER: Use = ("other", b"", ())


class Instruction(NamedTuple):
    """What an instruction word says."""

    does: str = ""
    """An access: read, write, rmw, reserve (lr), conditional (sc), or unknown, if it is one that this file does not
    take apart; fence; nothing where it is none of these."""
    size: int = 0
    """Of an access its bytes, of a fence what it orders."""
    target: bytes = b""
    """The register that an access sets."""
    address: Names = ()
    """The registers that the address of an access is made from."""
    data: Names = ()
    """The same of what it writes."""
    marks: int = 0
    amo: bytes = b""
    """Which one, as in `amo_result`; amocas for a compare-and-swap."""
    use: Use = OTHER
    """What an instruction without an access does to registers."""


_AMOS = {0: b"amoadd", 1: b"amoswap", 4: b"amoxor", 5: b"amocas", 8: b"amoor", 12: b"amoand", 16: b"amomin",
         20: b"amomax", 24: b"amominu", 28: b"amomaxu"}
_LR, _SC, _LOAD_ACQUIRE, _STORE_RELEASE = 2, 3, 6, 7
_SCRATCH = {0x340: b"mscratch", 0x140: b"sscratch", 0x240: b"vsscratch"}
_UNKNOWN = Instruction("unknown")


def _x(number: int) -> bytes:
    return b"x%d" % number


def _f(number: int) -> bytes:
    return b"f%d" % number


def _set(target: bytes, *sources: bytes) -> Instruction:
    return Instruction(use=("set", target, sources))


def _control(*sources: bytes, link: bytes = b"") -> Instruction:
    return Instruction(use=("control", link, sources))


def _load(size: int, target: bytes, base: int) -> Instruction:
    return Instruction("read", size, target, (_x(base),))


def _store(size: int, source: bytes, base: int) -> Instruction:
    return Instruction("write", size, b"", (_x(base),), (source,))


@lru_cache(maxsize=1 << 16)
def decode(word: int, bits: int = 64) -> Instruction:
    """What a word means to a machine with registers of so many bits.

    >>> decode(0x00B53023)[:5]  # sd a1, 0(a0)
    ('write', 8, b'', (b'x10',), (b'x11',))
    >>> decode(0x00C58533).use  # add a0, a1, a2
    ('set', b'x10', (b'x11', b'x12'))
    """
    if word & 3 != 3:
        return (_quadrant0, _quadrant1, _quadrant2)[word & 3](word, bits)
    reader = _OPCODES.get(word & 0x7F)
    return Instruction() if reader is None else reader(_Fields.of(word))


class _Fields(NamedTuple):
    """The parts of a word of 32 bits."""

    word: int
    rd: int
    kind: int
    """funct3"""
    rs1: int
    rs2: int

    @classmethod
    def of(cls, word: int) -> _Fields:
        return cls(word, word >> 7 & 31, word >> 12 & 7, word >> 15 & 31, word >> 20 & 31)


_FLOATS = {1: 2, 2: 4, 3: 8, 4: 16}
"""Bytes of a floating-point access by its kind; the other kinds are vectors."""


def _opcode_load(at: _Fields) -> Instruction:
    return _load(1 << (at.kind & 3), _x(at.rd), at.rs1) if at.kind < 7 else _UNKNOWN


def _opcode_load_float(at: _Fields) -> Instruction:
    return _load(_FLOATS[at.kind], _f(at.rd), at.rs1) if at.kind in _FLOATS else _UNKNOWN


def _opcode_store(at: _Fields) -> Instruction:
    return _store(1 << at.kind, _x(at.rs2), at.rs1) if at.kind < 4 else _UNKNOWN


def _opcode_store_float(at: _Fields) -> Instruction:
    return _store(_FLOATS[at.kind], _f(at.rs2), at.rs1) if at.kind in _FLOATS else _UNKNOWN


def _opcode_atomic(at: _Fields) -> Instruction:
    function, size = at.word >> 27, 1 << at.kind
    marks = (ACQUIRE if at.word >> 26 & 1 else 0) | (RELEASE if at.word >> 25 & 1 else 0)
    target, base, source = _x(at.rd), (_x(at.rs1),), (_x(at.rs2),)
    if at.kind > 4:
        return _UNKNOWN
    if function == _LR:
        return Instruction("reserve", size, target, base, (), marks | EXCLUSIVE)
    if function == _SC:
        return Instruction("conditional", size, target, base, source, marks | EXCLUSIVE)
    if function == _LOAD_ACQUIRE:
        return Instruction("read", size, target, base, (), marks)
    if function == _STORE_RELEASE:
        return Instruction("write", size, b"", base, source, marks)
    if (name := _AMOS.get(function)) is None:
        return _UNKNOWN
    return Instruction("rmw", size, target, base, (*source, target) if name == b"amocas" else source, marks, name)


def _opcode_fence(at: _Fields) -> Instruction:
    if at.kind == 1:
        return Instruction("fence", INSTRUCTIONS)
    if at.kind:
        return _UNKNOWN  # of cache blocks: cbo.zero writes
    before, after = at.word >> 24 & 3, at.word >> 20 & 3
    if at.word >> 28 == 8 and (before, after) == (3, 3):
        return Instruction("fence", TSO_FENCE)
    sides = ("", "w", "r", "rw")
    return Instruction("fence", FENCES[f"{sides[before]}.{sides[after]}"]) if before and after else Instruction()


def _opcode_float(at: _Fields) -> Instruction:
    """Operations on floats: which registers are integers is the function's business."""
    function = at.word >> 27
    if function == 20:  # comparisons
        return _set(_x(at.rd), _f(at.rs1), _f(at.rs2))
    if function in (24, 28):  # to integers
        return _set(_x(at.rd), _f(at.rs1))
    if function in (26, 30):  # from integers; fli has no source at all
        return _set(_f(at.rd), *(() if function == 30 and at.rs2 else (_x(at.rs1),)))
    if function in (8, 11):  # between widths; square roots
        return _set(_f(at.rd), _f(at.rs1))
    if function in (0, 1, 2, 3, 4, 5):
        return _set(_f(at.rd), _f(at.rs1), _f(at.rs2))
    return Instruction()


def _opcode_system(at: _Fields) -> Instruction:
    if at.kind == 4:
        return _UNKNOWN  # a hypervisor's accesses
    if at.kind == 0:
        return Instruction()
    number = at.word >> 20
    csr = _SCRATCH.get(number, b"csr%d" % number)
    written = () if at.kind & 4 else (_x(at.rs1),)
    kept = () if at.kind & 3 == 1 else (csr,)
    return Instruction(use=("csr", _x(at.rd), (csr, *kept, *written)))


_OPCODES: dict[int, Callable[[_Fields], Instruction]] = {
    0x03: _opcode_load, 0x07: _opcode_load_float, 0x0F: _opcode_fence, 0x23: _opcode_store,
    0x27: _opcode_store_float, 0x2F: _opcode_atomic, 0x53: _opcode_float, 0x73: _opcode_system,
    0x13: lambda at: _set(_x(at.rd), _x(at.rs1)), 0x1B: lambda at: _set(_x(at.rd), _x(at.rs1)),
    0x33: lambda at: _set(_x(at.rd), _x(at.rs1), _x(at.rs2)), 0x3B: lambda at: _set(_x(at.rd), _x(at.rs1), _x(at.rs2)),
    0x17: lambda at: _set(_x(at.rd)), 0x37: lambda at: _set(_x(at.rd)), 0x6F: lambda at: _set(_x(at.rd)),
    0x63: lambda at: _control(_x(at.rs1), _x(at.rs2)), 0x67: lambda at: _control(_x(at.rs1), link=_x(at.rd)),
} | dict.fromkeys((0x43, 0x47, 0x4B, 0x4F), lambda at: _set(_f(at.rd), _f(at.rs1), _f(at.rs2), _f(at.word >> 27)))


# Compressed instructions. Registers of three bits are x8 to x15.


def _quadrant0(word: int, bits: int) -> Instruction:
    kind, other, base = word >> 13, 8 + (word >> 2 & 7), 8 + (word >> 7 & 7)
    if kind == 0:
        return _set(_x(other), b"x2") if word else Instruction()
    if kind == 4:  # bytes and halves
        return (_load(1, _x(other), base), _load(2, _x(other), base), _store(1, _x(other), base),
                _store(2, _x(other), base))[word >> 10 & 3]
    size, register = _compressed_access(kind, other, bits)
    return _load(size, register, base) if kind < 4 else _store(size, register, base)


def _quadrant2(word: int, bits: int) -> Instruction:
    kind, first, second = word >> 13, word >> 7 & 31, word >> 2 & 31
    if kind == 0:
        return _set(_x(first), _x(first))
    if kind == 4:
        return _jump_or_move(word >> 12 & 1, first, second)
    size, register = _compressed_access(kind, first if kind < 4 else second, bits)
    return _load(size, register, 2) if kind < 4 else _store(size, register, 2)


def _compressed_access(kind: int, register: int, bits: int) -> tuple[int, bytes]:
    """How wide a compressed access is, and of which register: 1 a double, 2 a word, 3 what depends on the machine."""
    if kind & 3 == 1:
        return 8, _f(register)
    if kind & 3 == 2:
        return 4, _x(register)
    return (4, _f(register)) if bits == 32 else (8, _x(register))


def _jump_or_move(link_or_add: int, first: int, second: int) -> Instruction:
    if second:
        return _set(_x(first), *((_x(first), _x(second)) if link_or_add else (_x(second),)))
    if not first:
        return Instruction()  # ebreak
    return _control(_x(first), link=b"x1" if link_or_add else b"")


def _quadrant1(word: int, bits: int) -> Instruction:
    kind, register = word >> 13, word >> 7 & 31
    if kind == 0 or (kind == 1 and bits != 32):
        return _set(_x(register), _x(register))
    if kind == 1:
        return _set(b"x1")
    if kind == 2 or (kind == 3 and register != 2):
        return _set(_x(register))
    if kind == 3:
        return _set(b"x2", b"x2")
    if kind == 4:
        short, other = _x(8 + (word >> 7 & 7)), _x(8 + (word >> 2 & 7))
        alone = word >> 10 & 3 != 3 or (word >> 12 & 1 and word >> 5 & 3 == 3)
        return _set(short, short) if alone else _set(short, short, other)
    return _control(_x(8 + (word >> 7 & 7))) if kind > 5 else Instruction()
