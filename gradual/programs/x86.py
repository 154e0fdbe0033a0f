"""X86 instructions as herd spells them: MOV, XCHG, MFENCE, SFENCE, LFENCE."""

from __future__ import annotations

from dataclasses import dataclass

from gradual.programs.assembly import Assembly
from gradual.programs.instructions import Fence, Instruction, Load, Move, Rmw, Step, Store, Thread
from gradual.programs.scan import Cursor, Token

MOVES = ("mov", "movl", "movq")
FENCES = {"mfence": ("any", "any"), "sfence": ("st", "st"), "lfence": ("ld", "ld")}
COMPUTING = ("inc", "dec", "add", "sub", "xadd", "cmpxchg", "and", "or", "xor", "not", "neg")


@dataclass(frozen=True)
class Operand:
    token: Token
    location: str | None = None
    value: int | None = None

    @property
    def register(self) -> str | None:
        return self.token.text if self.location is None and self.value is None else None


def instruction(cursor: Cursor, into: Assembly) -> None:
    cursor.take("lock")
    word = cursor.here
    name = word.text.lower()
    if name in FENCES:
        cursor.next()
        before, after = FENCES[name]
        into.add(Fence(before, after, word.line))  # type: ignore[arg-type]
    elif name in MOVES:
        cursor.next()
        _move(cursor, into, word, *_operands(cursor, into))
    elif name in ("xchg", "xchgl", "xchgq"):
        cursor.next()
        _exchange(cursor, into, word, *_operands(cursor, into))
    elif name in COMPUTING:
        raise cursor.error(f"{word.text} computes from what it reads: programs here store constants only (use XCHG)")
    else:
        raise cursor.error(f"no instruction called {word.text!r} here; of X86 there are MOV, XCHG, MFENCE, SFENCE "
                           "and LFENCE")


def _operands(cursor: Cursor, into: Assembly) -> tuple[Operand, Operand]:
    first = _operand(cursor, into)
    cursor.expect(",", "between the operands")
    return first, _operand(cursor, into)


def _operand(cursor: Cursor, into: Assembly) -> Operand:
    token = cursor.here
    if cursor.take("["):
        location = into.location(cursor.address())
        cursor.expect("]", "after the location")
        return Operand(token, location=location)
    if cursor.take("$") or token.is_number:
        return Operand(token, value=cursor.number("the constant"))
    cursor.name("an operand: [x], $1 or a register")
    return Operand(token)


def _move(cursor: Cursor, into: Assembly, word: Token, target: Operand, source: Operand) -> None:
    if target.value is not None:
        raise cursor.error("nothing can be moved into a constant", target.token)
    if target.location is not None:
        if source.location is not None:
            raise cursor.error("MOV has one operand in memory at most", source.token)
        value = source.value if source.value is not None else into.constant(cursor, source.token)
        into.add(Store(target.location, value, word.line))
    elif source.location is not None:
        into.add(Load(source.location, target.token.text, word.line))
    else:
        into.set(target.token.text,
                 source.value if source.value is not None else into.constant(cursor, source.token))


def _exchange(cursor: Cursor, into: Assembly, word: Token, first: Operand, second: Operand) -> None:
    memory, register = (first, second) if first.location is not None else (second, first)
    if memory.location is None or register.register is None:
        raise cursor.error("XCHG exchanges a register with a location, as in XCHG [x],EAX", word)
    into.add(Rmw(memory.location, into.constant(cursor, register.token), register.register, word.line))


def show(instruction: Step) -> list[str]:
    """The instruction as rows of a litmus table; an exchange needs its constant in the register first."""
    if isinstance(instruction, Move):
        return [f"MOV {instruction.register},${instruction.value}"]
    assert isinstance(instruction, Instruction), "can_show was asked"
    if isinstance(instruction, Load):
        return [f"MOV {instruction.register},[{instruction.location}]"]
    if isinstance(instruction, Store):
        return [f"MOV [{instruction.location}],${instruction.value}"]
    if isinstance(instruction, Rmw):
        return [f"MOV {instruction.register},${instruction.value}",
                f"XCHG [{instruction.location}],{instruction.register}"]
    return [next(name.upper() for name, classes in FENCES.items()
                 if classes == (instruction.before, instruction.after))]


def can_show(thread: Thread) -> bool:
    """Is everything in this thread X86?"""
    return all((i.before, i.after) in FENCES.values() and not i.special if isinstance(i, Fence) else
               isinstance(i, Instruction) or (isinstance(i, Move) and isinstance(i.value, int))
               for i in thread.instructions)
