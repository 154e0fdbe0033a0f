"""A thread while it is being read: its instructions, and what is known of its registers."""

from __future__ import annotations

from gradual.programs.program import Instruction, Load, Rmw, Thread
from gradual.programs.scan import Cursor, Token


class Assembly:
    """Collects one thread. Registers may hold constants or addresses, as long as nothing was loaded into them."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.instructions: list[Instruction] = []
        self.constants: dict[str, int] = {}
        self.addresses: dict[str, str] = {}
        self._nameless: list[int] = []

    def add(self, instruction: Instruction) -> None:
        if isinstance(instruction, Load | Rmw):
            self.constants.pop(instruction.register, None)
            self.addresses.pop(instruction.register, None)
            if not instruction.register:
                self._nameless.append(len(self.instructions))
        self.instructions.append(instruction)

    def set(self, register: str, value: int) -> None:
        self.addresses.pop(register, None)
        self.constants[register] = value

    def loaded(self, register: str) -> bool:
        return register not in self.constants and any(
            isinstance(i, Load | Rmw) and i.register == register for i in self.instructions)

    def constant(self, cursor: Cursor, token: Token) -> int:
        """The value of a register that is to be stored."""
        if token.text in self.constants:
            return self.constants[token.text]
        if self.loaded(token.text):
            raise cursor.error(f"{token.text} holds a value that was loaded: only constants can be stored here", token)
        raise cursor.error(f"nothing is known of the register {token.text}: give it a value first", token)

    def location(self, name: str) -> str:
        """The location meant by a name: itself, or what the register of that name points to."""
        return self.addresses.get(name, name)

    def thread(self) -> Thread:
        """The finished thread. Loads without a register get r0, r1, … as far as these are free."""
        taken = {i.register for i in self.instructions if isinstance(i, Load | Rmw)} | set(self.constants)
        free = (name for number in range(len(self.instructions) + len(taken) + 1)
                if (name := f"r{number}") not in taken)
        for at in self._nameless:
            self.instructions[at] = _into(self.instructions[at], next(free))
        return Thread(self.name, tuple(self.instructions), dict(self.constants))


def _into(instruction: Instruction, register: str) -> Instruction:
    if isinstance(instruction, Rmw):
        return Rmw(instruction.location, instruction.value, register, instruction.line)
    assert isinstance(instruction, Load)
    return Load(instruction.location, register, instruction.line)
