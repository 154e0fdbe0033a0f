"""A program of the space as a litmus test: with names, registers, and the outcome as its question."""

from __future__ import annotations

from functools import cache

from gradual.contrast.space import fences, least
from gradual.machines.code import FULL_FENCE, NAMES, STORE, Outcome, Threads, parsed
from gradual.programs.condition import And, Condition, Equal, Register
from gradual.programs.program import Fence, Instruction, Load, Program, Store, Thread

KNOWN = {
    "CoWR": "WX1 RX", "CoRR": "RX RX|WX1", "SB": "WX1 RY|WY2 RX", "MP": "WX1 WY2|RY RX", "LB": "RX WY1|RY WX2",
    "S": "WX1 WY2|RY WX3", "R": "WX1 WY2|WY3 RX", "2+2W": "WX1 WY2|WY3 WX4", "WRC": "WX1|RX WY2|RY RX",
    "RWC": "WX1|RX RY|WY2 RX", "IRIW": "WX1|WY2|RX RY|RY RX", "3.LB": "RX WY1|RY WZ2|RZ WX3",
    "3.SB": "WX1 RY|WY2 RZ|WZ3 RX", "CoRR2": "WX1|WX2|RX RX|RX RX",
    "K": "WX1 WY2 RY|WY3 RY RX", "L": "WX1 F RY|WY2 RY RX",
}
"""What people call some programs; those without fences lend their names to those with some. K and L are the paper's."""


def name(threads: Threads) -> str:
    """What people call it, with `+f` and how many fences were added; else the program itself, as a word."""
    if (known := _known().get(least(threads))) is not None:
        return known
    bare = tuple(tuple(step for step in thread if step[0] != FULL_FENCE) for thread in threads)
    known = _known().get(least(bare))
    if known is None:
        return "-".join("".join(_word(kind, address) for kind, address in thread) for thread in threads)
    added = fences(threads)
    return known + (f"+f{added if added > 1 else ''}" if added else "")


@cache
def _known() -> dict[Threads, str]:
    return {least(parsed(text)): known for known, text in KNOWN.items()}


def _word(kind: int, address: int) -> str:
    return "F" if kind == FULL_FENCE else f"{'W' if kind == STORE else 'R'}{NAMES[address]}"


def program(threads: Threads, outcome: Outcome | None = None) -> Program:
    """The program; with an outcome, the question whether it exists."""
    value, made, places = 0, [], []
    for number, thread in enumerate(threads):
        instructions: list[Instruction] = []
        for kind, address in thread:
            at = NAMES[address].lower()
            if kind == FULL_FENCE:
                instructions.append(Fence())
            elif kind == STORE:
                value += 1
                instructions.append(Store(at, value))
            else:
                register = f"r{sum(isinstance(other, Load) for other in instructions)}"
                instructions.append(Load(at, register))
                places.append(Register(number, register))
        made.append(Thread(f"P{number}", tuple(instructions)))
    condition = None
    if outcome is not None:
        equal = tuple(Equal(place, read) for place, read in zip(places, outcome, strict=True))
        condition = Condition("exists", equal[0] if len(equal) == 1 else And(equal))
    return Program(name(threads), tuple(made), condition=condition)
