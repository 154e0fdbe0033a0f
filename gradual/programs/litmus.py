"""herd's .litmus files: a header, initial values in braces, a table with a column per thread, a condition.

    X86 SB
    { x=0; y=0; }
     P0          | P1          ;
     MOV [x],$1  | MOV [y],$1  ;
     MOV EAX,[y] | MOV EAX,[x] ;
    exists (0:EAX=0 /\\ 1:EAX=0)

X86, RISCV, LISA, and Generic: the same table with the pseudo-code of `pseudo.py` in its cells.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable

from gradual.programs import condition as conditions
from gradual.programs import lisa, pseudo, riscv, x86
from gradual.programs.assembly import Assembly
from gradual.programs.condition import Place
from gradual.programs.expressions import Pointer
from gradual.programs.finish import finish
from gradual.programs.instructions import Step
from gradual.programs.program import Program
from gradual.programs.scan import END, Cursor, Token, tokens
from gradual.programs.text import conditions_locations, thread_number

DIALECTS: dict[str, Callable[[Cursor, Assembly], None]] = {
    "X86": x86.instruction,
    "RISCV": riscv.instruction,
    "LISA": lisa.instruction,
    "Generic": lambda cursor, into: pseudo.instruction(cursor, into, ()),
}
OTHERS = ("X86_64", "ARM", "AARCH64", "PPC", "MIPS", "C", "CPP", "JAVA", "ASL", "BPF", "PTX", "VULKAN")
"""Architectures of herd whose name at the top is a header all the same."""

REGISTERS: dict[str, Callable[[str], str]] = {"RISCV": riscv.canonical}
"""Of dialects in which registers have several names: the one for all of them."""

_HEADER = re.compile(r"\s*(?:\(\*.*?\*\)\s*)*([A-Za-z]\w*)[ \t]+(\S[^\n{]*)", re.DOTALL)


def recognises(text: str) -> bool:
    """Does the text open as a .litmus file does: an architecture and a name?"""
    match = _HEADER.match(text)
    return match is not None and (_dialect(match[1]) is not None or (match[1].upper() in OTHERS and "{" in text))


def _dialect(name: str) -> str | None:
    return next((dialect for dialect in DIALECTS if dialect.lower() == name.lower()), None)


def parse(text: str, file: str = "") -> Program:
    """The program of a .litmus file. Raises ProgramError."""
    return _Reader(text, file).program()


def _without_preface(text: str) -> str:
    """The text with blanks between its first line and the brace, where all kinds of remarks stand: Key=value, comments
    (one with a brace in it ends before that, one that is never closed at the brace)."""
    preface = re.match(r"(?:\s*\(\*.*?\*\))*[^\n{]*\n?((?:\(\*.*?\*\)|[^{])*)", text, re.DOTALL)
    if preface is None:
        return text
    start, end = preface.span(1)
    return text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]


class _Reader:
    def __init__(self, text: str, file: str) -> None:
        self.file = file
        self.cursor = Cursor(tokens(_without_preface(text), file, line_comment="//"), file)
        match = _HEADER.match(text)
        self.name = match[2].strip() if match else ""
        self.initial: dict[str, int] = {}
        self.given: list[tuple[Token, str, int]] = []
        """Registers with their initial values: the token of the thread, the register, a number or an address."""

    def program(self) -> Program:
        dialect = self._header()
        if dialect in REGISTERS:
            self.cursor.rename(REGISTERS[dialect])
        self._initial()
        columns = self._columns()
        self._give(columns)
        self._rows(columns, DIALECTS[dialect])
        threads = [column.thread() for column in columns]
        shown: tuple[Place, ...] = ()
        condition = None

        def number(name: str, cursor: Cursor) -> int:
            return thread_number(name, cursor, threads)

        if self.cursor.sees("locations"):
            shown = conditions_locations(self.cursor, threads)
        only = conditions.parse_proposition(self.cursor, number) if self.cursor.take("filter") else None
        if self.cursor.sees("final", "observed"):
            raise self.cursor.error(f"{self.cursor.here.text} is not understood here; exists, ~exists, forall, filter "
                                    "and locations are")
        if conditions.starts(self.cursor):
            condition = conditions.parse(self.cursor, number)
        if self.cursor.here.text != END:
            raise self.cursor.error(f"the program ends here, but {self.cursor.here.text!r} follows")
        program = Program(self.name, tuple(threads), self.initial, condition, shown, dialect, self.file, only=only)
        return finish(program, self.cursor)

    def _header(self) -> str:
        """The architecture. What stands between the header and the brace (comments, Key=value) means nothing here."""
        dialect = _dialect(self.cursor.here.text)
        if dialect is None:
            raise self.cursor.error(f"programs for {self.cursor.here.text} cannot be read; there are "
                                    f"{', '.join(DIALECTS)}")
        while not self.cursor.sees("{", END):
            self.cursor.next()
        self.cursor.expect("{", "before the initial values")
        return dialect

    def _initial(self) -> None:
        while not self.cursor.take("}"):
            if not self.cursor.take(";"):
                self._initially()

    def _initially(self) -> None:
        """`x=1`, `int x=1`, `int *x=&y`, `[x]=1`, `0:r0=1`, `0:r0=x`, `int 0:r0`."""
        cursor = self.cursor
        while cursor.here.is_name and (cursor.items[min(cursor.at + 1, len(cursor.items) - 1)].is_name
                                       or cursor.ahead(1) in ("*", "[") or cursor.ahead(2) == ":"):
            cursor.next()  # a type
            cursor.take("*")
        if cursor.ahead(1) == ":":
            token = cursor.next()
            cursor.next()
            self.given.append((token, cursor.name("a register"), self._value()))
            return
        place = conditions.parse_place(cursor, lambda name, at: 0)
        self.initial[str(place)] = self._value()

    def _value(self) -> int:
        return conditions.parse_value(self.cursor) if self.cursor.take("=") else 0

    def _columns(self) -> list[Assembly]:
        columns: list[Assembly] = []
        while True:
            token = self.cursor.here
            if self.cursor.name("the name of a thread (P0)") != f"P{len(columns)}":
                raise self.cursor.error(f"expected P{len(columns)}, found {token.text!r}", token)
            columns.append(Assembly(token.text))
            if self.cursor.take(";"):
                return columns
            self.cursor.expect("|", "between the threads")

    def _give(self, columns: list[Assembly]) -> None:
        for token, register, value in self.given:
            number = token.text.removeprefix("P")
            if not number.isdigit() or int(number) >= len(columns):
                raise self.cursor.error(f"there is no thread {token.text}", token)
            columns[int(number)].set(register, value.address if isinstance(value, Pointer) else value)

    def _rows(self, columns: list[Assembly], instruction: Callable[[Cursor, Assembly], None]) -> None:
        while not self.cursor.sees(END) and not conditions.starts(self.cursor):
            for number, column in enumerate(columns):
                while self.cursor.here.is_name and self.cursor.ahead(1) == ":":
                    column.label(self.cursor.here.text, self.cursor.next().line)
                    self.cursor.next()
                if not self.cursor.sees("|", ";"):
                    instruction(self.cursor, column)
                if not self.cursor.sees("|", ";"):
                    raise self.cursor.error(f"expected | or ; after the instruction, found {self.cursor.here.text!r}")
                if self.cursor.sees(";"):
                    break
                if number == len(columns) - 1:
                    raise self.cursor.error(f"there are only {len(columns)} threads")
                self.cursor.next()
            self.cursor.expect(";", "at the end of the row")


# --- writing -----------------------------------------------------------------------------------


def write(program: Program) -> str:
    """The program as a .litmus file: in its own dialect, else in LISA where that has words for it."""
    dialect = _writable(program)
    show: Callable[[Step], list[str]] = {
        "X86": x86.show, "LISA": lisa.show, "Generic": lambda step: [pseudo.show(step)]}[dialect]
    cells = [[row for instruction in thread.instructions for row in show(instruction)] for thread in program.threads]
    given = [f"{number}:{name}={value};" for number, thread in enumerate(program.threads)
             for name, value in thread.constants.items()]
    initial = " ".join([*(f"{at}={program.initial.get(at, 0)};" for at in program.named), *given])
    lines = [f"{dialect} {program.name}", f"{{ {initial} }}", *_table(cells)]
    if program.locations_shown:
        lines.append("locations [" + " ".join(f"{place};" for place in program.locations_shown) + "]")
    if program.condition:
        lines.append(str(program.condition))
    return "\n".join(lines) + "\n"


def _writable(program: Program) -> str:
    if program.dialect == "RISCV":
        raise ValueError("RISC-V programs are read, not written")
    if program.dialect == "X86" and all(map(x86.can_show, program.threads)):
        return "X86"
    if program.dialect != "Generic" and all(map(lisa.can_show, program.threads)):
        return "LISA"
    return "Generic"


def _table(cells: list[list[str]]) -> list[str]:
    columns = [[f"P{number}", *rows] for number, rows in enumerate(cells)]
    widths = [max(map(len, column)) for column in columns]
    return [" " + " | ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) + " ;"
            for row in itertools.zip_longest(*columns, fillvalue="")]
