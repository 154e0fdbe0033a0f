"""The last look at a program that was read: does its question speak of things that exist?"""

from __future__ import annotations

import os
from dataclasses import replace

from gradual.programs import riscv
from gradual.programs.condition import Register, comparisons, places
from gradual.programs.expressions import Pointer
from gradual.programs.instructions import Branch, Label, Thread
from gradual.programs.program import Program
from gradual.programs.scan import Cursor, ProgramError


def finish(program: Program, cursor: Cursor) -> Program:
    """The program with a name and without initial values of 0. Raises ProgramError."""
    if not any(thread.instructions for thread in program.threads):
        raise ProgramError("there is no instruction in this program", program.file, cursor.here.line)
    for thread in program.threads:
        _labels(program.file, thread)
    asked = [*(place for part in program.propositions for place in places(part)), *program.locations_shown]
    accessed = {name.split("+")[0] for name in program.mentioned}
    line = program.condition.line if program.condition else cursor.here.line
    for place in asked:
        if isinstance(place, Register) and not has(program, place):
            known = ", ".join(sorted(r.name for r in program.registers if r.thread == place.thread)) or "none"
            raise ProgramError(f"thread {place.thread} has no register {place.name}; it has {known}",
                               program.file, line)
        if isinstance(place, str) and place.split("+")[0] not in accessed:
            raise ProgramError(f"nothing in this program is called {place} (registers are written 0:{place})",
                               program.file, line)
    for value in {part.value for asked in program.propositions for part in comparisons(asked)}:
        if isinstance(value, Pointer) and not program.speaks_of(value):
            raise ProgramError(f"nothing in this program is called {value}, which something is compared with",
                               program.file, line)
    stem = os.path.basename(program.file).split(".")[0].strip("-")
    held = program.as_held()
    initial = {at: value for at, value in held.initial.items() if value}
    return replace(held, name=program.name or stem or "program", initial=initial)


def has(program: Program, register: Register) -> bool:
    """Can a register be asked about: is something put into it, or does it hold 0 without that?"""
    if register in program.registers or register.name in program.threads[register.thread].constants:
        return True
    return program.dialect == "RISCV" and register.name in riscv.REGISTERS


def _labels(file: str, thread: Thread) -> None:
    """Every jump has one place to go to."""
    labels: dict[str, Label] = {}
    for step in thread.instructions:
        if isinstance(step, Label) and labels.setdefault(step.name, step) is not step:
            raise ProgramError(f"{thread.name} has two labels {step.name}", file, step.line)
    for step in thread.instructions:
        if isinstance(step, Branch) and step.target not in labels:
            known = ", ".join(labels) or "none"
            raise ProgramError(f"{thread.name} has no label {step.target}; it has {known}", file, step.line)
