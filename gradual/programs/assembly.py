"""A thread while it is being read: its instructions, and what is known of its registers."""

from __future__ import annotations

from dataclasses import replace

from gradual.programs.expressions import Address, Known, Reg, Value
from gradual.programs.instructions import (
    Access,
    Branch,
    Instruction,
    Label,
    Load,
    Move,
    Rmw,
    Step,
    Thread,
    sets,
)
from gradual.programs.scan import Cursor, Token


class Assembly:
    """Collects one thread. Registers that are known to hold a number or an address are replaced by it, as long as
    every way through the thread comes by; so a thread without data flow has none left."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.instructions: list[Step] = []
        self._known: dict[str, Known] = {}
        self._start: dict[str, Known] = {}
        """What registers hold before the first instruction: set where nobody could look at them yet."""
        self._set: set[str] = set()
        """Registers that some instruction puts something into."""
        self._straight = True
        """There was no label and no jump yet."""
        self._nameless: list[int] = []

    # --- instructions

    def add(self, instruction: Instruction) -> None:
        self._add(instruction)
        if isinstance(instruction, Load | Rmw) and not instruction.register:
            self._nameless.append(len(self.instructions) - 1)

    def access(self, access: Access) -> None:
        """Adds it, as an instruction with constants where it computes nothing."""
        location, value = access.address, access.value or 0
        if isinstance(location, Address) and isinstance(value, int) and not access.conditional:
            self._add(access.done(str(location), value))
        else:
            self._add(access)

    def set(self, register: str, value: Value, line: int = 0) -> None:
        constant = self._straight and isinstance(value, int | Address)
        if not constant or register in self._set:
            self._add(Move(register, value, line))
        if constant:
            assert isinstance(value, int | Address)
            self._known[register] = value
            if register not in self._set:
                self._start[register] = value

    def label(self, name: str, line: int) -> None:
        self._straight = False
        self.instructions.append(Label(name, line))

    def branch(self, condition: Value, target: str, line: int) -> None:
        self._straight = False
        self.instructions.append(Branch(condition, target, line))

    def _add(self, step: Step) -> None:
        register = sets(step)
        if register is not None:
            self._set.add(register)
            if self._straight:
                self._known.pop(register, None)
                self._start.pop(register, None)
        self.instructions.append(step)

    # --- operands

    def holds(self, register: str) -> bool:
        """Was anything put into it?"""
        return register in self._known or register in self._set

    def value(self, cursor: Cursor, token: Token) -> Value:
        """What a register holds, which something must have been put into."""
        name = token.text
        if not self.holds(name):
            raise cursor.error(f"nothing is known of the register {name}: give it a value first", token)
        return self.register(name)

    def register(self, name: str) -> Value:
        """What a register holds; 0 where nothing was put into it."""
        return self._known[name] if self._straight and name in self._known else Reg(name)

    def address(self, name: str) -> Value:
        """The place meant by a name: what the register of that name holds, or the location called so."""
        if self._straight and isinstance(known := self._known.get(name), Address):
            return known
        return Reg(name) if self.holds(name) else Address(name)

    def constant(self, cursor: Cursor, token: Token) -> int:
        """The value of a register that is to be stored, where only constants can be."""
        value = self.value(cursor, token)
        if isinstance(value, int):
            return value
        raise cursor.error(f"{token.text} holds a value that was loaded: only constants can be stored here", token)

    def location(self, name: str) -> str:
        """The location meant by a name: itself, or what the register of that name points to."""
        known = self._known.get(name)
        return str(known) if isinstance(known, Address) else name

    def thread(self) -> Thread:
        """The finished thread. Loads without a register get r0, r1, … as far as these are free."""
        taken = {name for step in self.instructions if (name := sets(step))} | set(self._start)
        free = (name for number in range(len(self.instructions) + len(taken) + 1)
                if (name := f"r{number}") not in taken)
        for at in self._nameless:
            instruction = self.instructions[at]
            assert isinstance(instruction, Load | Rmw)
            self.instructions[at] = replace(instruction, register=next(free))
        return Thread(self.name, tuple(self.instructions), self._start)
