"""What the RISC-V instructions of a gem5 log do to memory: roles, sizes, atomics and fences.

gem5 spells `amoswap.d.aq` as `amoswap_d_aq`, and prints an atomic twice: the instruction, without a
result, then its micro-operations, of which one (`amoswap_d[l]`, `lr_w`, `sc_w`) carries the data.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from gradual.adapters._dependencies import Dependencies, Use

from gradual.history import AQRL, FENCES, INSTRUCTIONS

Role = tuple[str, int]
"""What an instruction does, and to how many bytes.

read, write       a load, a store
rmw               an AMO: its D= is the old value
reserve           the first half of an indivisible pair (lr): a read
conditional       its second half (sc): its D= is the status, 0 for success
rest              an AMO's second micro-operation, in old versions: the first has told all
nothing           names an address but moves no data (a prefetch)
fence             what it orders, in place of a size; 0 where its operands tell
ecall             a system call
link              a jump that sets ra without naming it
"""

_SIZES = {b"b": 1, b"h": 2, b"w": 4, b"d": 8}
_ORDERINGS = (b"", b"_aq", b"_rl", b"_aqrl")
_LOADS = (b"lb lbu lh lhu lw lwu ld flh flw fld "
          b"c_lbu c_lh c_lhu c_lw c_ld c_lwsp c_ldsp c_flw c_fld c_flwsp c_fldsp")
_STORES = b"sb sh sw sd fsh fsw fsd c_sb c_sh c_sw c_sd c_swsp c_sdsp c_fsw c_fsd c_fswsp c_fsdsp"
_NO_ACCESS = b"prefetch_i prefetch_r prefetch_w cbo_clean cbo_flush cbo_inval"

_AMOS: dict[bytes, Callable[[int, int], int]] = {
    b"amoswap": lambda old, source: source,
    b"amoadd": lambda old, source: old + source,
    b"amoand": lambda old, source: old & source,
    b"amoor": lambda old, source: old | source,
    b"amoxor": lambda old, source: old ^ source,
    b"amomax": max,
    b"amomin": min,
    b"amomaxu": max,
    b"amominu": min,
}


def _size(mnemonic: bytes) -> int:
    """The width a load or store is named for: `c_lwsp`, `flw` and `lwu` move a word."""
    return _SIZES[mnemonic.removeprefix(b"c_").removeprefix(b"f").removesuffix(b"sp")[1:2]]


def _roles() -> dict[bytes, Role]:
    roles: dict[bytes, Role] = {name: ("read", _size(name)) for name in _LOADS.split()}
    roles |= {name: ("write", _size(name)) for name in _STORES.split()}
    for width, size in _SIZES.items():
        for ordering in _ORDERINGS:
            roles[b"lr_" + width + ordering] = ("reserve", size)
            roles[b"sc_" + width + ordering] = ("conditional", size)
            roles |= {b"%s_%s%s" % (amo, width, ordering): ("rmw", size) for amo in _AMOS}
        roles |= {b"%s_%s[l]" % (amo, width): ("rmw", size) for amo in _AMOS}
        roles |= {b"%s_%s[s]" % (amo, width): ("rest", size) for amo in _AMOS}
    roles |= dict.fromkeys(_NO_ACCESS.split(), ("nothing", 0))
    roles |= dict.fromkeys((b"c_jal", b"c_jalr"), ("link", 0))
    return roles | {b"fence": ("fence", 0), b"fence_i": ("fence", INSTRUCTIONS), b"ecall": ("ecall", 0)}


ROLES = _roles()
ATOMIC = frozenset({"rmw", "reserve", "conditional"})


def amo_result(mnemonic: bytes, size: int, old: int, source: int) -> int:
    """The value an AMO leaves in memory; `old` and `source` are unsigned and of its width.

    >>> hex(amo_result(b"amoadd_w[l]", 4, 0xFFFFFFFF, 2))
    '0x1'
    >>> amo_result(b"amomax_w[l]", 4, 0xFFFFFFFF, 2), hex(amo_result(b"amomaxu_w[l]", 4, 0xFFFFFFFF, 2))
    (2, '0xffffffff')
    """
    name = mnemonic.partition(b"_")[0]
    if name in (b"amomax", b"amomin"):
        top = 1 << (8 * size - 1)
        old, source = (old ^ top) - top, (source ^ top) - top
    return _AMOS[name](old, source) & ((1 << 8 * size) - 1)


def fence_orders(operands: bytes) -> int:
    """What `fence` with these operands orders, one of FENCES; 0 where that is nothing, or not told.

    >>> [fence_orders(text) for text in (b"iorw, iorw", b"iorw, ow", b"r, rw", b"o, i", b"")]
    [15, 10, 3, 0, 0]
    """
    before, _, after = ("".join(letter for letter in side.decode(errors="replace") if letter in "rw")
                        for side in operands.partition(b","))
    return FENCES.get(f"{before}.{after}", 0)


def marks(mnemonic: bytes) -> int:
    """Acquire and release of an atomic.

    >>> marks(b"amoswap_d_aqrl"), marks(b"lr_w_aq"), marks(b"sc_w")
    (3, 1, 0)
    """
    return AQRL.get(mnemonic.rpartition(b"_")[2].decode(errors="replace"), 0)


_WRITES_RD = re.compile(
    rb"(?:c_)?(?:add|sub|and|or|xor|sll|srl|sra|slt|mul|mulh|mulhsu|mulhu|div|divu|rem|remu|sltu|andn|orn|xnor|min|max|minu|maxu|"
    rb"rol|ror|sh[123]add)(?:_?uw|[iuw]{0,2})|sltiu|c_addi4spn|c_addi16sp|c_mv|c_not|c_neg|(?:c_)?(?:sext|zext)_[bhw]|"
    rb"f(?:add|sub|mul|div|sqrt|madd|msub|nmadd|nmsub|sgnjn?|sgnjx|min|max|cvt|mv|eq|lt|le|class)(?:_\w+)?")
"""Instructions whose result comes from the registers that they name, and from nothing else."""
_CLEARS_RD = frozenset((b"lui", b"auipc", b"c_lui", b"c_li", b"jal"))
_READS_RD = re.compile(
    rb"c_(?:add|addi|addiw|addw|addi16sp|sub|subw|and|andi|or|xor|slli|srli|srai|mul|not|neg|[sz]ext_\w)")
_BRANCHES = re.compile(rb"(?:c_)?b(?:eq|ne|lt|ge|ltu|geu|eqz|nez|gt|le|gtu|leu)")
_JUMPS = frozenset((b"jalr", b"c_jr", b"c_jalr"))
_REGISTER = re.compile(rb"\b(?:ra|sp|gp|tp|[xf]\d+|t\d|s\d+|a\d|f[tas]\d+)\b")
"""Registers by their names; zero carries nothing."""


@lru_cache(maxsize=1 << 16)
def use(text: bytes) -> Use:
    """
    >>> use(b"addw a5, a4, a3"), use(b"c_addiw a5, 1"), use(b"bge a4, a5, -4")
    (('set', b'a5', (b'a4', b'a3')), ('set', b'a5', (b'a5',)), ('control', b'', (b'a4', b'a5')))
    """
    mnemonic, _, operands = text.strip().partition(b" ")
    target, _, rest = operands.partition(b",")
    target = target.strip()
    named = tuple(_REGISTER.findall(rest))
    if _BRANCHES.fullmatch(mnemonic):
        return "control", b"", tuple(_REGISTER.findall(operands))
    if mnemonic in _JUMPS:
        link = target if mnemonic == b"jalr" else b"ra" if mnemonic == b"c_jalr" else b""
        return "control", link, named if mnemonic == b"jalr" else tuple(_REGISTER.findall(operands))
    if mnemonic in _CLEARS_RD or mnemonic == b"c_jal":
        return "set", b"ra" if mnemonic == b"c_jal" else target, ()
    if mnemonic.startswith(b"csrr"):
        csr = rest.partition(b",")[0].strip()
        kept = () if mnemonic.startswith(b"csrrw") else (csr,)
        return "csr", target, (csr, *kept, *_REGISTER.findall(rest.partition(b",")[2]))
    if _WRITES_RD.fullmatch(mnemonic):
        return "set", target, (target, *named) if _READS_RD.fullmatch(mnemonic) else named
    return "other", target, ()


def made_from(does: str, text: bytes) -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
    """The registers that the address and the value of an access are made from.

    >>> made_from("write", b"sd a5, 8(a0)"), made_from("rmw", b"amoswap_d[l] a4, a5, (a1)")
    (((b'a0',), (b'a5',)), ((b'a1',), (b'a5',)))
    """
    operands = text.strip().partition(b" ")[2]
    first, _, rest = operands.partition(b",")
    data: tuple[bytes, ...] = ()
    if does not in ("read", "reserve"):
        data = (first if does == "write" else rest.partition(b",")[0].strip(),)
    return tuple(_REGISTER.findall(operands.rpartition(b"(")[2])), data


class Registers:
    """The registers of one CPU, as far as the log has shown them.

    Holds the result field of the line that set a register and reads it only when it is asked for:
    nearly every line sets one, and hardly any is asked for.
    """

    def __init__(self) -> None:
        self.results: dict[bytes, bytes] = {}
        self.dependencies = Dependencies()
        self._called = b""

    def value(self, name: bytes) -> int | None:
        """The value of a register, None where it is not known."""
        if name in (b"zero", b"x0"):
            return 0
        try:
            return int(self.results[name].split(None, 1)[0].removeprefix(b"D="), 16)
        except (LookupError, ValueError):
            return None

    def system_call(self, pc: bytes) -> None:
        """A call stands at `pc`; what it leaves in the registers depends on where the CPU goes on."""
        self._called = pc

    def continue_at(self, pc: bytes) -> None:
        """After the call: its result is unknown, and everything if another thread goes on here."""
        try:
            came, goes = (int(text.split(None, 1)[0].partition(b".")[0], 16) for text in (self._called, pc))
        except ValueError:  # old versions print the symbol instead of the pc
            came, goes = 0, -1
        if goes - came in (0, 4):  # 0: gem5 tries the call again
            self.results.pop(b"a0", None)
            self.dependencies.forget((b"a0",))
        else:
            self.results.clear()
            self.dependencies.forget()
