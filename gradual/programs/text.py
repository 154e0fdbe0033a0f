"""Programs in a plain form that is quick to type.

    # store buffering
    name SB
    init x=0, y=0                     where something does not start with 0
    P0: st x 1; f(st,ld); ld y r0     st, ld, rmw, f; a line, a ; or a , ends an instruction
    P1: st y 1; f(st,ld); ld x r0     the register may be left out: r0, r1, … in turn
    exists (0:r0=0 /\\ 1:r0=0)         or ~exists, forall; may be left out

The threads may also stand beside each other, without names: `st x 1, ld y || st y 1, ld x`.
"""

from __future__ import annotations

from gradual.programs import condition as conditions
from gradual.programs import pseudo
from gradual.programs.assembly import Assembly
from gradual.programs.condition import Place
from gradual.programs.finish import finish
from gradual.programs.instructions import Thread
from gradual.programs.program import Program
from gradual.programs.scan import END, Cursor, tokens

PARALLEL = ("||", "∥")
KEYWORDS = ("exists", "forall", "locations", "not", "init", "name", *pseudo.WORDS)


def parse(text: str, file: str = "") -> Program:
    """The program of a text in this form. Raises ProgramError."""
    return _Reader(text, file).program()


def write(program: Program) -> str:
    """The program in this form."""
    lines = [f"name {program.name}"] if program.name else []
    accessed = {event.location for event in program.events}
    told = {at: program.initial.get(at, 0) for at in program.locations if at in program.initial or at not in accessed}
    if told:
        lines.append("init " + ", ".join(f"{at}={value}" for at, value in told.items()))
    for number, thread in enumerate(program.threads):
        lines.append(f"P{number}: " + "; ".join(map(pseudo.show, thread.instructions)))
    if program.locations_shown:
        lines.append("locations [" + " ".join(f"{place};" for place in program.locations_shown) + "]")
    if program.condition:
        lines.append(str(program.condition))
    return "\n".join(lines) + "\n"


class _Reader:
    def __init__(self, text: str, file: str) -> None:
        self.cursor = Cursor(tokens(text, file, line_comment="#"), file)
        self.file = file
        self.name = ""
        self.initial: dict[str, int] = {}

    def program(self) -> Program:
        self._preamble()
        threads = self._threads()
        shown: tuple[Place, ...] = ()
        condition = None
        if self.cursor.sees("locations"):
            shown = conditions_locations(self.cursor, threads)
        if conditions.starts(self.cursor):
            condition = conditions.parse(self.cursor, lambda name, cursor: thread_number(name, cursor, threads))
        if self.cursor.here.text != END:
            raise self.cursor.error(f"the program ends here, but {self.cursor.here.text!r} follows")
        return finish(Program(self.name, tuple(threads), self.initial, condition, shown, "", self.file), self.cursor)

    def _preamble(self) -> None:
        while word := self.cursor.take("name", "init"):
            if word.text.lower() == "name":
                self.name = self._rest_of_line(word.line)
            else:
                self._initial()

    def _rest_of_line(self, line: int) -> str:
        parts = []
        while self.cursor.here.line == line and self.cursor.here.text != END:
            parts.append(self.cursor.next())
        if not parts:
            raise self.cursor.error("a name must follow `name`")
        text, end = "", parts[0].column
        for token in parts:  # as it was typed: SB+fences is four tokens
            text += " " * (token.column - end) + token.text
            end = token.column + len(token.text)
        return text

    def _initial(self) -> None:
        while self.cursor.ahead(1) == "=":
            location = self.cursor.address()
            self.cursor.next()
            self.initial[location] = self.cursor.number("the initial value, a number")
            self.cursor.take(",", ";")

    def _threads(self) -> list[Thread]:
        threads: list[Thread] = []
        beside = self.cursor.ahead(1) != ":"
        while beside or self.cursor.ahead(1) == ":":
            if beside:
                name = f"P{len(threads)}"
            else:
                token = self.cursor.next()
                name = token.text
                if any(thread.name == name for thread in threads):
                    raise self.cursor.error(f"there are two threads called {name}", token)
                self.cursor.next()
            threads.append(self._thread(name))
            if beside and not self.cursor.take(*PARALLEL):
                break
        return threads

    def _thread(self, name: str) -> Thread:
        thread, cursor = Assembly(name), self.cursor
        while True:
            while cursor.take(";", ","):
                pass
            if cursor.sees(END, *PARALLEL) or cursor.ahead(1) == ":" or conditions.starts(cursor):
                return thread.thread()
            pseudo.instruction(cursor, thread, KEYWORDS)


def thread_number(name: str, cursor: Cursor, threads: list[Thread]) -> int:
    """The thread meant by `0`, `P0` or its own name."""
    for number, thread in enumerate(threads):
        if name in (thread.name, f"P{number}", str(number)):
            return number
    raise cursor.error(f"there is no thread {name}; they are {', '.join(thread.name for thread in threads)}")


def conditions_locations(cursor: Cursor, threads: list[Thread]) -> tuple[Place, ...]:
    """`locations [x; 0:r0;]`: what the outcome shows besides."""
    cursor.next()
    cursor.expect("[", "after locations")
    found: list[Place] = []
    while not cursor.take("]"):
        found.append(conditions.parse_place(cursor, lambda name, at: thread_number(name, at, threads)))
        if not cursor.take(";", ",") and not cursor.sees("]"):
            raise cursor.error("expected ; or ] in the list of locations")
    return tuple(found)
