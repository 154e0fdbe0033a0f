"""RISC-V instructions as herd spells them: loads, stores, lr, sc, amos, fences, arithmetic, branches.

    lw x5,0(x6)    sw.rl x7,0(x8)    lr.w.aq x9,0(x6)    sc.w x10,x7,0(x6)    amoswap.w.aq.rl x0,x5,(x6)    fence rw,w

A location is a cell of its own, whatever the size of the accesses to it; all of them must have one size. Registers that
nothing was put into hold 0, as x0 always does. The second suffix of acquire and release may be spelt .aqrl, too.
"""

from __future__ import annotations

from gradual.history.annotations import ACQUIRE, EXCLUSIVE, RCPC, RELEASE
from gradual.programs.assembly import Assembly
from gradual.programs.expressions import Old, Value, applied
from gradual.programs.instructions import NOWHERE, Access, Class, Fence
from gradual.programs.scan import Cursor, Token

ABI = {"zero": 0, "ra": 1, "sp": 2, "gp": 3, "tp": 4, "fp": 8, **{f"t{n}": 5 + n for n in range(3)},
       **{f"t{n}": 25 + n for n in range(3, 7)}, "s0": 8, "s1": 9, **{f"s{n}": 16 + n for n in range(2, 12)},
       **{f"a{n}": 10 + n for n in range(8)}}
"""The other names of registers."""
REGISTERS = {f"x{n}" for n in range(32)}
ZERO = "x0"

SIZES = {"b": 1, "h": 2, "w": 4, "d": 8}
COMPUTING = {"add": "add", "sub": "sub", "and": "and", "or": "or", "xor": "xor", "mul": "mul", "slt": "lt"}
"""Instructions on two registers, and the operator of each."""
IMMEDIATE = {f"{name}i": COMPUTING[name] for name in ("add", "and", "or", "xor", "slt")}
AMOS = {"swap": "", "add": "add", "and": "and", "or": "or", "xor": "xor", "min": "min", "max": "max",
        "minu": "min", "maxu": "max"}
"""amoswap, amoadd, …: how each makes the new value from the old one and its operand; minu and maxu without signs."""
BRANCHES = {"beq": "eq", "bne": "ne", "blt": "lt", "bge": "ge"}
WITH_ZERO = {f"{name}z": operator for name, operator in BRANCHES.items()}
MARKS = {"aq": ACQUIRE, "rl": RELEASE, "aqrl": ACQUIRE | RELEASE}
CLASSES: dict[str, Class] = {"r": "ld", "w": "st", "rw": "any"}
WORDS = ("lb, lh, lw, ld (lbu, lhu, lwu), sb, sh, sw, sd, lr, sc, amoswap, amoadd, amoand, amoor, amoxor, amomin, "
         "amomax (u, .w or .d), fence, fence.tso, fence.i, li, mv, add, sub, and, or, xor, mul, slt, addi, andi, ori, "
         "xori, slti, beq, bne, blt, bge, beqz, bnez, bltz, bgez, j and nop")


def canonical(name: str) -> str:
    """x10 for a0: what herd calls a register, too."""
    return f"x{ABI[name]}" if name in ABI else name


def instruction(cursor: Cursor, into: Assembly) -> None:
    word = cursor.here
    name, *suffixes = _mnemonic(cursor)
    if name == "fence":
        into.add(_fence(cursor, word, suffixes))
    elif name in ("lr", "sc") or (name.startswith("amo") and name[3:] in AMOS):
        _atomic(cursor, into, word, name, suffixes)
    elif name[:1] in ("l", "s") and name[1:].removesuffix("u") in SIZES and name not in ("su", "ldu"):
        _access(cursor, into, word, name, _marks(cursor, word, suffixes))
    elif suffixes or not _plain(cursor, into, word, name):
        raise cursor.error(f"no instruction called {'.'.join([name, *suffixes])!r} here; of RISC-V there are {WORDS}",
                           word)


def _mnemonic(cursor: Cursor) -> list[str]:
    """`amoswap.w.aq` in its parts."""
    parts = [cursor.name("an instruction").lower()]
    while cursor.take("."):
        parts.append(cursor.name("what belongs to the instruction").lower())
    return parts


def _plain(cursor: Cursor, into: Assembly, word: Token, name: str) -> bool:
    """What accesses no memory; False where there is no such instruction."""
    if name == "nop":
        return True
    if name == "j":
        into.branch(1, cursor.name("a label"), word.line)
    elif name in BRANCHES or name in WITH_ZERO:
        left = _read(cursor, into)
        right = _after_comma(cursor, into) if name in BRANCHES else 0
        cursor.expect(",", "before the label")
        into.branch(applied(BRANCHES.get(name) or WITH_ZERO[name], left, right), cursor.name("a label"), word.line)
    elif name in ("li", "mv") or name in COMPUTING or name in IMMEDIATE:
        register = _register(cursor)
        cursor.expect(",", "after the register")
        value = _computed(cursor, into, name)
        if register != NOWHERE:
            into.set(register, value, word.line)
    else:
        return False
    return True


def _computed(cursor: Cursor, into: Assembly, name: str) -> Value:
    if name == "li":
        return _held(cursor.number(), SIZES["d"])
    left = _read(cursor, into)
    if name == "mv":
        return left
    if name in COMPUTING:
        return _held(applied(COMPUTING[name], left, _after_comma(cursor, into)), SIZES["d"])
    cursor.expect(",", "between the operands")
    return _held(applied(IMMEDIATE[name], left, cursor.number()), SIZES["d"])


# --- accesses


def _access(cursor: Cursor, into: Assembly, word: Token, name: str, marks: int) -> None:
    """A load or a store. Acquire and release of these are RCpc, as herd has it."""
    marks |= RCPC if marks else 0
    size = SIZES[name[1]]
    if name[0] == "l":
        register = _register(cursor)
        into.access(Access(_place(cursor, into), None, register, word.line, marks=marks, size=size))
        if name.endswith("u") and register != NOWHERE:
            into.set(register, applied("unsigned", into.register(register), 8 * size), word.line)
    else:
        value = _held(_read(cursor, into), size)
        into.access(Access(_place(cursor, into), value, None, word.line, marks=marks, size=size))


def _atomic(cursor: Cursor, into: Assembly, word: Token, name: str, suffixes: list[str]) -> None:
    """lr, sc and amos: of 4 or 8 bytes, with RCsc acquire and release."""
    if suffixes[:1] not in (["w"], ["d"]):
        raise cursor.error(f"{name}.w or {name}.d: the size of the access must be said", word)
    size, marks = SIZES[suffixes[0]], _marks(cursor, word, suffixes[1:])
    register = _register(cursor)
    value: Value | None = None
    if name == "lr":
        marks |= EXCLUSIVE
    else:
        operand = _after_comma(cursor, into)
        value = _held(operand, size) if name == "sc" else _amo(name.removeprefix("amo"), operand, size)
        marks |= EXCLUSIVE if name == "sc" else 0
    into.access(Access(_place(cursor, into), value, register, word.line, marks=marks, size=size))


def _amo(name: str, operand: Value, size: int) -> Value:
    """What it writes."""
    if AMOS[name] not in ("min", "max"):
        return _held(applied(AMOS[name], Old(), operand) if AMOS[name] else operand, size)
    sign, bits = "unsigned" if name.endswith("u") else "signed", 8 * size
    return _held(applied(AMOS[name], applied(sign, Old(), bits), applied(sign, operand, bits)), size)


def _held(value: Value, size: int) -> Value:
    """As memory holds it, and as a load gets it: so many bytes, with a sign. As registers do: 8."""
    return applied("signed", value, 8 * size)


def _marks(cursor: Cursor, word: Token, suffixes: list[str]) -> int:
    found = 0
    for suffix in suffixes:
        if suffix not in MARKS:
            raise cursor.error(f".{suffix} is not understood; there are .aq, .rl and .aqrl", word)
        if found & MARKS[suffix]:
            raise cursor.error(f".{suffix} is said twice", word)
        found |= MARKS[suffix]
    return found


def _fence(cursor: Cursor, word: Token, suffixes: list[str]) -> Fence:
    if suffixes == ["tso"]:
        return Fence(line=word.line, special="tso")
    if suffixes == ["i"]:
        return Fence(line=word.line, special="i")
    if suffixes:
        raise cursor.error(f"fence.{'.'.join(suffixes)} is not understood; there are fence, fence.tso and fence.i",
                           word)
    if not cursor.here.is_name:
        return Fence(line=word.line)
    before = _class(cursor)
    cursor.expect(",", "between the two sets of the fence")
    return Fence(before, _class(cursor), word.line)


def _class(cursor: Cursor) -> Class:
    """`r`, `w`, `rw`; input and output (`iorw`) are nothing that programs here do."""
    token = cursor.here
    letters = cursor.name("r, w or rw").lower()
    memory = "".join(letter for letter in letters if letter in "rw")
    if set(letters) - set("iorw") or memory not in CLASSES:
        raise cursor.error(f"a fence is between r, w and rw, not {token.text!r}", token)
    return CLASSES[memory]


# --- operands


def _register(cursor: Cursor) -> str:
    """The register that something is put into; x0 throws it away."""
    token = cursor.here
    name = cursor.name("a register")
    if name not in REGISTERS:
        raise cursor.error(f"{name} is no register; there are x0 to x31, and a0, t0, s0, …", token)
    return NOWHERE if name == ZERO else name


def _read(cursor: Cursor, into: Assembly) -> Value:
    name = _register(cursor)
    return 0 if name == NOWHERE else into.register(name)


def _after_comma(cursor: Cursor, into: Assembly) -> Value:
    cursor.expect(",", "between the operands")
    return _read(cursor, into)


def _place(cursor: Cursor, into: Assembly) -> Value:
    """`,0(x6)` or `,(x6)`."""
    cursor.expect(",", "before the address")
    offset = 0 if cursor.sees("(") else cursor.number("the address, as in 0(x6)")
    cursor.expect("(", "before the register with the address")
    base = _read(cursor, into)
    cursor.expect(")", "after the register with the address")
    return applied("add", base, offset)
