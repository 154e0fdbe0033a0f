"""What the kernels for gem5's Exec logs work on: tables, and the numbers in them."""

from __future__ import annotations

from typing import Any, NamedTuple

REGISTERS, MANY = 256, 64
"""Of a CPU, by their numbers; and operations that a value may come from, as in `_dependencies`."""
PENDING = REGISTERS * MANY
"""Operations that a branch may wait to be told of: no more are in registers."""
SCRATCH = 512

FIELDS: dict[str, list[tuple[str, str]]] = {
    "text": [("byte", "u1")],
    # what a byte is: OF_NUMBER, OF_WORD, BLANK or nothing of these; and as a hex digit
    "sort": [("of", "u1"), ("digit", "u1")],
    # the text that is looked up, as `spell` writes it; and those that were met
    "spelling": [("sign", "u1")],
    "pool": [("letter", "u1")],
    # where they are in `pool`, found by their hash; `number` counts from 1, and 0 is an empty place
    "word": [("hash", "i8"), ("first", "i8"), ("past", "i8"), ("number", "i8")],
    # what stood between head and result, by the pc, in `path`: how long all of it is, and the pc; where the text of the
    # instruction begins; its numbers with neither data nor address, with data, an address, both
    "place": [("counter", "i8"), ("size", "i8"), ("pc_size", "i8"), ("key", "i8"), ("separators", "i8"),
              ("number0", "i4"), ("number1", "i4"), ("number2", "i4"), ("number3", "i4")],
    "path": [("here", "u1")],
    # what an instruction does; the register that it sets, in the log and by its text; those that it reads, `addresses`
    # of them for its address; the one with what it writes
    "instruction": [("does", "i4"), ("size", "i4"), ("whole", "i4"), ("riscv", "i4"), ("atomic", "i4"),
                    ("sets", "i4"), ("follow", "i4"), ("target", "i4"), ("sources", "i4"), ("source0", "i4"),
                    ("source1", "i4"), ("source2", "i4"), ("source3", "i4"), ("data", "i4"), ("marks", "i4"),
                    ("amo", "i4"), ("keeps", "i4")],
    # a thread and its CPU, as in `_thread.py` and `_cpu.py`; a pc is a place in `text`
    "cpu": [("whole", "i4"), ("called", "i4"), ("started", "i4"), ("unfinished", "i4"), ("ordering", "i4"),
            ("pc", "i8"), ("pc_past", "i8"), ("count", "i8"), ("first_fence", "i8"), ("last_fence", "i8"),
            ("held", "i4"), ("held_size", "i4"), ("held_address", "i8"), ("held_value", "i8"), ("held_line", "i8"),
            ("held_tick", "i8"),
            ("reserved", "i8"), ("reserved_size", "i8"), ("reserved_address", "i8"), ("reserved_value", "i8"),
            ("stored", "i4"), ("stored_pc", "i8"), ("stored_pc_past", "i8"), ("stored_address", "i8"),
            ("stored_value", "i8"), ("stored_tick", "i8"),
            ("pending", "i8"), ("pending_unknown", "i4"), ("dropped", "i8"),
            # where it was last, as in `now`
            ("counter", "i8"), ("step", "i8")],
    "register": [("known", "i4"), ("unknown", "i4"), ("many", "i8"), ("value", "i8")],
    # MANY operations for each register, in order
    "origin": [("of", "i8")],
    "pending": [("branch", "i8")],
    # for each operation of a CPU, counted from 1, and for the unknown, whether a branch depends on it
    "controlled": [("is_controlled", "u1")],
    # fences that wait for an access behind them, in lists that end with 0; the first place is empty
    "fence": [("orders", "i4"), ("next", "i8"), ("fence_line", "i8"), ("fence_tick", "i8")],
    # selected addresses, both ends included, as `biased`
    "range": [("low", "i8"), ("high", "i8")],
    "operation": [("thread", "i4"), ("kind", "i4"), ("address", "i8"), ("read", "i8"), ("written", "i8"),
                  ("line", "i8"), ("tick", "i8"), ("size", "i4"), ("fence", "i4"), ("marks", "i4"), ("pair", "i8")],
    "dependency": [("name", "i4"), ("later", "i4"), ("earlier", "i8")],
    "scratch": [("merged", "i8")],
    "now": [("at", "i8"), ("past", "i8"), ("number", "i8"), ("cpu", "i8"), ("instruction", "i8"),
            # the parts of the line
            ("head", "i8"), ("head_past", "i8"), ("at_pc", "i8"), ("at_pc_past", "i8"), ("key", "i8"),
            ("key_past", "i8"), ("separators", "i8"), ("at_tick", "i8"),
            ("has_data", "i8"), ("has_address", "i8"), ("data", "i8"), ("at_address", "i8"), ("parsed", "i8"),
            # its place in `place`, its pc as a number, and which line of the instruction it is
            ("place", "i8"), ("counter", "i8"), ("step", "i8"),
            # the text that was looked up last
            ("space", "i8"), ("slot", "i8"), ("hashed", "i8"), ("spelled", "i8"),
            ("operations", "i8"), ("dependencies", "i8"), ("first_dependency", "i8"), ("free_fence", "i8"),
            ("registers", "i8"), ("stride", "i8"),
            ("half", "i8"), ("merge", "i8"), ("merge_unknown", "i8"),
            ("bare_atomic", "i8"), ("outside", "i8"), ("lowest", "i8"), ("highest", "i8")],
}


class Log(NamedTuple):
    """Everything the kernels work on; FIELDS says what it is."""

    text: Any
    sort: Any
    spelling: Any
    pool: Any
    word: Any
    place: Any
    path: Any
    instruction: Any
    cpu: Any
    register: Any
    origin: Any
    pending: Any
    controlled: Any
    fence: Any
    range: Any
    operation: Any
    dependency: Any
    scratch: Any
    now: Any


DONE, MORE_TEXT, MORE_ROOM, NEW_WORD, ODD = range(5)
HEAD, MACRO, PLAIN = range(3)
SPACES = 6
"""What a text is looked up as: what stands before the pc, an instruction without a result, one with; PLAIN + 1 where
there is data, and 2 more where there is an address."""
DO_ODD, NOTHING, FOLLOW, LINK, REST, BARRIER, CALL, SILENT, LOAD, STORE, SWAP, RESERVE, CONDITIONAL, UNLOCK, OTHER = (
    range(15))
BLANK, OF_WORD, OF_NUMBER = range(1, 4)
NO_DIGIT = 16
STEPS, PLACE = 4, 192
"""Lines of an instruction that have places of their own, and the bytes of a place."""
SEPARATOR, LABEL = len(" : "), len(" D=0x")
SET, CONTROL, CSR, UNKNOWN = range(1, 5)
ADD, AND, OR, XOR, MAX, MIN, MAX_UNSIGNED, MIN_UNSIGNED = range(1, 9)
ADDR, DATA, CTRL = range(3)
READ, WRITE, RMW, FENCE = range(4)
ZERO_REGISTER, A0, RA, SPARE = range(4)
"""Registers whose numbers are known here; no instruction names the spare one."""
NONE = -1

TOP = -(1 << 63)
HASH = 1099511628211
TICK_DIGITS, HEX_DIGITS, WORD_BYTES, CALL_BYTES = 18, 16, 8, 4
NEW_LINE, SPACE, POINT, ZERO, NINE, COLON, EQUALS = b"\n .09:="
BIG_A, BIG_D, BIG_F, BIG_U, SMALL_C, SMALL_S, SMALL_X = b"ADFUcsx"
