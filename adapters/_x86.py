"""What the x86 micro-operations of a gem5 log do to memory.

gem5 prints `MOV_R_M : ld   eax, DS:[rdi]`: the instruction, its micro-operation, and the register,
whose name is the only place where the width of the access shows.
"""

from __future__ import annotations

import re

from gradual.history import FENCES, FULL

Role = tuple[str, int]
"""As in the RISC-V table, and

release           the second half of a locked pair: a write
unsized           an access whose width or value the line does not tell
"""

_ROLES = {
    b"ld": "read", b"ldis": "read", b"ldst": "read", b"ldstl": "reserve",
    b"st": "write", b"stis": "write", b"stul": "release",
    b"cda": "nothing", b"clflushopt": "nothing", b"clwb": "nothing", b"tia": "nothing", b"lea": "nothing",
    b"ldfp": "unsized", b"ldfp87": "unsized", b"ldifp87": "unsized", b"stfp": "unsized", b"stfp87": "unsized",
    b"ldsplit": "unsized", b"ldsplitl": "unsized", b"stsplit": "unsized", b"stsplitul": "unsized",
}
_WIDTHS = (
    (8, re.compile(rb"r(?:[abcd]x|[sb]p|[sd]i|\d+)|t\d+")),
    (4, re.compile(rb"e(?:[abcd]x|[sb]p|[sd]i)|[rt]\d+d")),
    (2, re.compile(rb"[abcd]x|[sb]p|[sd]i|[rt]\d+w")),
    (1, re.compile(rb"[abcd]l|[sb]pl|[sd]il|[rt]\d+b")),
)
_FENCES = {b"MFENCE": FULL, b"LFENCE": FENCES["r.rw"], b"SFENCE": FENCES["w.w"]}
_WITHOUT_ADDRESS = (b"mfence", b"lfence", b"sfence", b"ld", b"st")
"""How micro-operations begin that matter although no address is printed (accesses: to complain)."""
_BARE = re.compile(rb"[A-Z]\w*")
"""The class of an operation (`IntAlu`), where its micro-operation would stand: the instruction is printed by itself."""
_HIGH_BYTES = (b"ah", b"bh", b"ch", b"dh")


def width(register: bytes) -> int:
    """How many bytes a register of this name holds, 0 where the name does not tell.

    >>> [width(name) for name in (b"rax", b"r8d", b"si", b"t1b", b"%xmm0_low")]
    [8, 4, 2, 1, 0]
    """
    return next((size for size, names in _WIDTHS if names.fullmatch(register)), 0)


def named(text: bytes) -> bool:
    """Whether an instruction that is printed indented is certainly one of x86: in capitals, but for system calls.

    >>> named(b"  MOV_R_M "), named(b"  syscall "), named(b"  ldr   x1, [x0]")
    (True, True, False)
    """
    return text.isupper() or text.strip() == b"syscall"


def bare_fence(instruction: bytes, operation: bytes) -> int:
    """What a fence orders that is printed without its micro-operation, as gem5 does; 0 for anything else.

    >>> bare_fence(b"MFENCE", b"IntAlu") == FULL, bare_fence(b"XCHG_M_R", b"mfence"), bare_fence(b"NOP", b"IntAlu")
    (True, 0, 0)
    """
    return _FENCES.get(instruction, 0) if _BARE.fullmatch(operation) else 0


def role(instruction: bytes, operation: bytes) -> Role | None:
    """What a micro-operation does; None where it is no access that gem5 is known to have.

    A prefetch is a load into a register nobody reads, so the instruction's name decides. So it does
    with LFENCE and SFENCE, whatever micro-operation carries them out. A load into `ah` prints the whole
    register, so its value is not where the others have it; a store from `ah` prints the byte.
    """
    mnemonic, _, operands = operation.partition(b" ")
    if mnemonic.upper() in _FENCES:
        return ("fence", _FENCES.get(instruction, _FENCES[mnemonic.upper()]))
    does = _ROLES.get(mnemonic)
    if does is None:
        return None
    if does == "nothing" or instruction.startswith(b"PREFETCH"):
        return ("nothing", 0)
    register = operands.partition(b",")[0].strip()
    if register in _HIGH_BYTES:
        return (does, 1) if does in ("write", "release") else ("unsized", 0)
    size = width(register)
    return (does, size) if size and does != "unsized" else ("unsized", 0)


def does(text: bytes, operation: bytes, accesses: bool) -> Role:
    """What a line says that a micro-operation does; `text` is the instruction, indented. `accesses`: its address is
    printed."""
    instruction = text.strip()
    if not accesses and (orders := bare_fence(instruction, operation)):
        return "fence", orders
    if not accesses and not operation.startswith(_WITHOUT_ADDRESS):
        return "nothing", 0
    found = role(instruction, operation) if instruction.isupper() else None
    return found or ("unknown" if accesses else "nothing", 0)
