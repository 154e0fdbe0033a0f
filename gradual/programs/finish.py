"""The last look at a program that was read: does its question speak of things that exist?"""

from __future__ import annotations

import os
from dataclasses import replace

from gradual.programs.condition import Register
from gradual.programs.program import Program
from gradual.programs.scan import Cursor, ProgramError


def finish(program: Program, cursor: Cursor) -> Program:
    """The program with a name and without initial values of 0. Raises ProgramError."""
    if not any(thread.instructions for thread in program.threads):
        raise ProgramError("there is no instruction in this program", program.file, cursor.here.line)
    asked = [*(program.condition.places if program.condition else ()), *program.locations_shown]
    accessed = {event.location for event in program.events} | set(program.initial)
    line = program.condition.line if program.condition else cursor.here.line
    for place in asked:
        if isinstance(place, Register) and place not in program.registers:
            known = ", ".join(sorted(r.name for r in program.registers if r.thread == place.thread)) or "none"
            raise ProgramError(f"thread {place.thread} has no register {place.name}; it has {known}",
                               program.file, line)
        if isinstance(place, str) and place not in accessed:
            raise ProgramError(f"nothing in this program is called {place} (registers are written 0:{place})",
                               program.file, line)
    stem = os.path.basename(program.file).split(".")[0].strip("-")
    initial = {at: value for at, value in program.initial.items() if value}
    return replace(program, name=program.name or stem or "program", initial=initial)
