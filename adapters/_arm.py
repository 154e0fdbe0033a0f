"""What the AArch64 instructions of a gem5 log do to memory.

gem5 prints them indented, `  ldr   x1, [x1, #2432]`, and several things alike: `ldr` of a word and of two, `dmb` of
all kinds, and of a store-conditional neither the value nor, reliably, the status.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from gradual.adapters._thread import Access

from gradual.history import ACQUIRE, EXCLUSIVE, FENCES, FULL, INSTRUCTIONS, RCPC, RELEASE

Role = tuple[str, int]
"""As in the RISC-V table. The size is 0 where it is 4 or 8, which the line does not tell. And

call              a system call
exclusive         a store-conditional: the branch that follows tells whether it succeeded
"""

_ACCESS = re.compile(rb"(ld|st)(r|ur|tr|ar|lr|apr|apur|lur|xr|axr|lxr)(sw|s?[bh])?(?:_uop)?")
_MARKS = {b"ar": ACQUIRE, b"apr": ACQUIRE | RCPC, b"apur": ACQUIRE | RCPC, b"lr": RELEASE, b"lur": RELEASE,
          b"xr": EXCLUSIVE, b"axr": ACQUIRE | EXCLUSIVE, b"lxr": RELEASE | EXCLUSIVE}
_SIZES = {b"b": 1, b"h": 2, b"w": 4}
_WORDS = {b"strxi_uop": ("write", 8), b"strxr_uop": ("write", 8), b"ldrxi_uop": ("read", 8), b"ldrxr_uop": ("read", 8)}
_NOTHING = re.compile(rb"prfu?m|dc|ic|at|tlbi")
_OTHER_FILES = (b"Float", b"Simd", b"Vector")
"""How the classes of accesses begin that use other registers than the general ones."""
_GENERAL = re.compile(rb"[xw](?:\d+|zr)|w?sp|ureg\d")
_BARRIERS = {b"ld": FENCES["r.rw"], b"st": FENCES["w.w"], b"sy": FULL}
_DOMAINS = (b"ish", b"osh", b"nsh")
_MICRO = re.compile(rb"\. ?\d+$")
_SETS_FLAGS = re.compile(rb"(?:add|sub|and|bic|adc|sbc|neg|ngc)s|c?cm[pn]|tst|fcc?mpe?")


def operands(text: bytes) -> list[bytes]:
    """
    >>> operands(b"  ldr   x1, [x1, #2432]")
    [b'x1', b'[x1', b'#2432]']
    """
    return [word.strip() for word in text.strip().partition(b" ")[2].split(b",")]


def register(name: bytes) -> bytes:
    """What a register is looked up by, whatever the width that it is called by.

    >>> register(b"x1"), register(b"w1"), register(b"wzr")
    (b'X1', b'X1', b'zero')
    """
    if name in (b"xzr", b"wzr"):
        return b"zero"
    return b"X" + name[1:] if name[:1] in (b"x", b"w") else name


def role(text: bytes, kind: bytes) -> Role | None:
    """What an instruction of this class does; None where it is no access or fence that this file knows.

    >>> role(b"  ldrsb   w1, [x2]", b"MemRead"), role(b"  str   x1, [x2]", b"MemWrite"), role(b"  dmb   ", b"IntAlu")
    (('read', 1), ('write', 0), ('fence', 0))
    """
    mnemonic = text.strip().partition(b" ")[0]
    if mnemonic in (b"dmb", b"dsb"):
        return "fence", _orders(operands(text)[0])
    if mnemonic == b"isb":
        return "fence", INSTRUCTIONS
    if calls(text):
        return "call", 0
    if _NOTHING.fullmatch(mnemonic):
        return "nothing", 0
    if kind.startswith(_OTHER_FILES) or not _GENERAL.fullmatch(operands(text)[0]):
        return None
    return _WORDS.get(mnemonic) or _access(mnemonic)


def _access(mnemonic: bytes) -> Role | None:
    found = _ACCESS.fullmatch(mnemonic)
    if found is None:
        return None
    exclusive = _MARKS.get(found[2], 0) & EXCLUSIVE
    plain, pair = ("read", "reserve") if found[1] == b"ld" else ("write", "exclusive")
    return pair if exclusive else plain, _SIZES[found[3][-1:]] if found[3] else 0


def _orders(option: bytes) -> int:
    """What a barrier orders; 0 where its option is not printed.

    >>> [_orders(option) == FENCES[kind] for option, kind in ((b"ishld", "r.rw"), (b"st", "w.w"), (b"ish", "rw.rw"))]
    [True, True, True]
    """
    for domain in _DOMAINS:
        if option.startswith(domain):
            option = option.removeprefix(domain) or b"sy"
    return _BARRIERS.get(option, 0)


def marks(text: bytes) -> int:
    """Acquire, release and exclusive, of an access.

    >>> marks(b"  ldaxr   x1, xzr, [x2]") == ACQUIRE | EXCLUSIVE, marks(b"  ldr   x1, [x2]")
    (True, 0)
    """
    found = _ACCESS.fullmatch(text.strip().partition(b" ")[0])
    return 0 if found is None else _MARKS.get(found[2], 0)


def sets(text: bytes) -> tuple[bytes, bool]:
    """The register that an instruction without an access sets, and whether what it prints is the value of that."""
    mnemonic = text.strip().partition(b" ")[0]
    return register(operands(text)[0]), _SETS_FLAGS.fullmatch(mnemonic) is None


def calls(text: bytes) -> bool:
    """Whether it is a system call."""
    return text.strip().partition(b" ")[0] in (b"svc", b"hvc", b"smc")


class Branch(NamedTuple):
    """The branch that looks at the status of a store-conditional."""

    on_success: bool
    """Whether it is taken when the store succeeded."""
    pc: int
    target: bytes
    """`<main+16>`, or an address."""

    def taken(self, pc: bytes) -> bool | None:
        """Whether it was, if the CPU goes on at this pc; None where that is neither way."""
        at, _, symbol = pc.strip().partition(b" @")
        address = int(at.partition(b".")[0], 16)
        if address == self.pc + 4:
            return False
        label = _MICRO.sub(b"", symbol)
        return True if self.target in (b"<%s>" % label, b"%#x" % address) else None


class Exclusive(NamedTuple):
    """A store-conditional of which it is not known yet whether it succeeded."""

    access: Access
    values: dict[bytes, int | None]
    """Of the two registers that it names: one holds what it stores, the other gets the status."""
    words: str
    status: bytes = b""
    branch: Branch | None = None

    def followed(self, text: bytes, pc: bytes) -> Exclusive:
        """With the branch, if this is the one that looks at the status."""
        mnemonic, status = text.strip().partition(b" ")[0], register(operands(text)[0])
        if mnemonic not in (b"cbz", b"cbnz") or status not in self.values or len(self.values) != 2:
            return self
        at = int(pc.split(None, 1)[0].partition(b".")[0], 16)
        return self._replace(status=status, branch=Branch(mnemonic == b"cbz", at, operands(text)[-1]))

    @property
    def stored(self) -> tuple[bytes, int | None]:
        """The register with what is stored, and that, as far as it is known."""
        return next((name, value) for name, value in self.values.items() if name != self.status)
