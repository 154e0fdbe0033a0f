"""What the RISC-V instructions of a gem5 log do to memory: roles, sizes, atomics and fences.

gem5 spells `amoswap.d.aq` as `amoswap_d_aq`, and prints an atomic twice: the instruction, without a
result, then its micro-operations, of which one (`amoswap_d[l]`, `lr_w`, `sc_w`) carries the data.
"""

from __future__ import annotations

from collections.abc import Callable

from gradual.history import FENCES, INSTRUCTIONS, ORDERS

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
    return ORDERS.get(mnemonic.rpartition(b"_")[2].decode(errors="replace"), 0)


class Registers:
    """The registers of one CPU, as far as the log has shown them.

    Holds the result field of the line that set a register and reads it only when it is asked for:
    nearly every line sets one, and hardly any is asked for.
    """

    def __init__(self) -> None:
        self.results: dict[bytes, bytes] = {}
        self._called = b""

    def value(self, name: bytes) -> int | None:
        """The value of a register, None where it is not known."""
        if name in (b"zero", b"x0"):
            return 0
        try:
            return int(self.results[name].split(None, 1)[0].removeprefix(b"D="), 16)
        except (KeyError, ValueError):
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
        else:
            self.results.clear()
