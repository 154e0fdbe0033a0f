"""The statements of axe's text, found byte by byte, to be compiled.

Takes the grammar of `axe.py` as nearly everybody writes it. A history with anything else in it (a number of many
digits, a letter that does not belong there) is *odd*: it is passed over up to its `check`, and `axe.py` reads it
statement by statement, and has the words for what is wrong. Text may come in pieces: a statement that the end of a
piece may have cut is left for the next.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from gradual.compiler import kernel

FIELDS: dict[str, list[tuple[str, str]]] = {
    "text": [("byte", "u1")],
    # an operation, or what a location is left with; `begin` and `end` are NEVER where they are not told
    "statement": [("kind", "i4"), ("line", "i4"), ("thread", "i8"), ("address", "i8"), ("read", "i8"),
                  ("written", "i8"), ("begin", "i8"), ("end", "i8")],
    # where its text begins and ends, the line on which it begins, and how many statements there are up to its end
    "history": [("first", "i8"), ("past", "i8"), ("line", "i8"), ("statements", "i8"), ("odd", "i8")],
    # where the scanner is, and the history there: where it begins, is anything of it there; `last` when no more text
    # comes; how many rows there are; and what was read last
    "now": [("at", "i8"), ("line", "i8"), ("first", "i8"), ("first_line", "i8"), ("begun", "i8"), ("odd", "i8"),
            ("last", "i8"), ("statements", "i8"), ("histories", "i8"),
            ("number", "i8"), ("begin", "i8"), ("end", "i8")],
}


class Scan(NamedTuple):
    """Everything the kernels work on; FIELDS says what it is."""

    text: Any
    statement: Any
    history: Any
    now: Any


READ, WRITE, RMW, FENCE, FINAL = range(5)
NEVER = -1
CUT, ODD = -1, -2
"""In the place of a position: the text ends before it is clear, and: this is for the other reader."""
MORE_TEXT, MORE_ROOM = range(2)
DIGITS, HEX_DIGITS = 18, 16
"""What fits into 64 bits."""

TAB, NEW_LINE, RETURN, SPACE, HASH, MINUS, ZERO, NINE = b"\t\n\r #-09"
COLON, SEMICOLON, LESS, EQUALS, GREATER, AT = b":;<=>@"
BIG_A, BIG_F, BIG_M, BIG_X, BIG_Z, OPENING, CLOSING, UNDERLINE = b"AFMXZ[]_"
SMALL_A, SMALL_C, SMALL_F, SMALL_H, SMALL_I, SMALL_K, SMALL_L, SMALL_N, SMALL_S, SMALL_V, SMALL_X, SMALL_Y, SMALL_Z = (
    b"acfhiklnsvxyz")
SMALL_E, OPENED, CLOSED, ASCII = *b"e{}", 128


@kernel
def scan(g: Scan) -> int:
    """Statements up to the end of the text, or of the room for them."""
    now = g.now[0]
    while now.statements < len(g.statement) and now.histories < len(g.history):
        line = now.line
        at = blank(g, now.at)
        start = now.line
        if at == len(g.text):
            if now.last == 1 and now.begun == 1:
                end_history(g, at, at)
            now.line = line
            return MORE_TEXT
        now.begun = 1
        past = ODD
        if now.odd == 0:
            past = check(g, at)
            if past >= 0:
                end_history(g, at, past)
                continue
            if past == ODD:
                past = statement(g, at)
        if past >= 0:
            g.statement[now.statements].line = start
            now.statements += 1
            now.at = past
            continue
        now.at, now.line = at, start
        if past == CUT and now.last == 0:
            return MORE_TEXT
        now.odd = 1
        past = next_check(g, at)
        if past == CUT and now.last == 0:
            now.line = start
            return MORE_TEXT
        if past == CUT:
            end_history(g, len(g.text), len(g.text))
        else:
            end_history(g, past, past + 5)
    return MORE_ROOM


@kernel
def end_history(g: Scan, at: int, past: int) -> None:
    """The history ends at its `check`; the next begins behind it."""
    now = g.now[0]
    history = g.history[now.histories]
    history.first, history.past, history.line = now.first, at, now.first_line
    history.statements, history.odd = now.statements, now.odd
    now.histories += 1
    now.begun, now.odd = 0, 0
    now.at, now.first, now.first_line = past, past, now.line


@kernel
def blank(g: Scan, at: int) -> int:
    """Behind white space and comments."""
    now = g.now[0]
    while at < len(g.text):
        byte = g.text[at].byte
        if byte == HASH:
            while at < len(g.text) and g.text[at].byte != NEW_LINE:
                at += 1
            continue
        if byte == NEW_LINE:
            now.line += 1
        elif byte != SPACE and byte != TAB and byte != RETURN:
            return at
        at += 1
    return at


@kernel
def on_line(g: Scan, at: int) -> int:
    """Behind blanks and tabs."""
    while at < len(g.text) and (g.text[at].byte == SPACE or g.text[at].byte == TAB):
        at += 1
    return at


@kernel
def is_word(byte: int) -> bool:
    return (byte >= ZERO and byte <= NINE) or (byte >= BIG_A and byte <= BIG_Z) or (
        byte >= SMALL_A and byte <= SMALL_Z) or byte == UNDERLINE or byte >= ASCII


@kernel
def sign(g: Scan, at: int, byte: int) -> int:
    """Behind this sign, blank before it."""
    if at < 0:
        return at
    at = blank(g, at)
    if at == len(g.text):
        return CUT
    return at + 1 if g.text[at].byte == byte else ODD


@kernel
def two_signs(g: Scan, at: int, first: int, second: int) -> int:
    at = sign(g, at, first)
    if at < 0:
        return at
    if at == len(g.text):
        return CUT
    return at + 1 if g.text[at].byte == second else ODD


@kernel
def letter(g: Scan, at: int, byte: int) -> int:
    """Behind this letter, which must come next."""
    if at < 0:
        return at
    if at == len(g.text):
        return CUT
    return at + 1 if g.text[at].byte == byte else ODD


@kernel
def word_ends(g: Scan, at: int) -> int:
    if at < 0:
        return at
    if at == len(g.text):
        return at if g.now[0].last == 1 else CUT
    return ODD if is_word(g.text[at].byte) else at


@kernel
def number(g: Scan, at: int) -> int:
    """Behind a number, which goes into `now`; blank before it."""
    now = g.now[0]
    if at < 0:
        return at
    at = blank(g, at)
    if at == len(g.text):
        return CUT
    negative = g.text[at].byte == MINUS
    if negative:
        at += 1
    found, digits = 0, at
    if at + 1 < len(g.text) and g.text[at].byte == ZERO and (
            g.text[at + 1].byte == SMALL_X or g.text[at + 1].byte == BIG_X):
        at, digits = at + 2, at + 2
        while at < len(g.text):
            digit = hex_digit(g.text[at].byte)
            if digit < 0:
                break
            found, at = found << 4 | digit, at + 1
        if at - digits > HEX_DIGITS or (negative and at - digits == HEX_DIGITS):
            return ODD
        if at == digits:
            return CUT if at == len(g.text) else ODD
        now.number = found
        at = word_ends(g, at)
    else:
        at = natural(g, at)
    if negative:
        now.number = -now.number
    return at


@kernel
def hex_digit(byte: int) -> int:
    if byte >= ZERO and byte <= NINE:
        return byte - ZERO
    if byte >= SMALL_A and byte <= SMALL_F:
        return byte - SMALL_A + 10
    if byte >= BIG_A and byte <= BIG_F:
        return byte - BIG_A + 10
    return -1


@kernel
def natural(g: Scan, at: int) -> int:
    """Behind a decimal number without a sign, which goes into `now` and must come next."""
    found, digits = 0, at
    while at < len(g.text) and g.text[at].byte >= ZERO and g.text[at].byte <= NINE:
        found, at = 10 * found + g.text[at].byte - ZERO, at + 1
    if at == digits or at - digits > DIGITS:
        return CUT if at == len(g.text) else ODD
    g.now[0].number = found
    return word_ends(g, at)


@kernel
def address(g: Scan, at: int) -> int:
    """Behind M[3] or v3, and the number in `now`."""
    if at < 0:
        return at
    at = blank(g, at)
    if at == len(g.text):
        return CUT
    if g.text[at].byte == SMALL_V:
        if at + 1 == len(g.text):
            return CUT
        digit = g.text[at + 1].byte
        if digit < ZERO or digit > NINE:
            return ODD
        at = number(g, at + 1)
    else:
        at = sign(g, number(g, sign(g, sign(g, at, BIG_M), OPENING)), CLOSING)
    return ODD if at >= 0 and g.now[0].number < 0 else at


@kernel
def check(g: Scan, at: int) -> int:
    """Behind the word `check`."""
    if g.text[at].byte != SMALL_C:
        return ODD
    at = letter(g, letter(g, letter(g, letter(g, at + 1, SMALL_H), SMALL_E), SMALL_C), SMALL_K)
    return word_ends(g, at)


@kernel
def next_check(g: Scan, at: int) -> int:
    """The next word `check` outside of comments."""
    while True:
        at = blank(g, at)
        if at == len(g.text):
            return CUT
        found = check(g, at) if at == 0 or not is_word(g.text[at - 1].byte) else ODD
        if found == CUT:
            return CUT
        if found >= 0:
            return at
        at += 1


@kernel
def statement(g: Scan, at: int) -> int:
    """Behind one statement, which goes into the next row."""
    row = g.statement[g.now[0].statements]
    now = g.now[0]
    now.begin, now.end = NEVER, NEVER
    if g.text[at].byte == SMALL_F:
        row.kind, row.thread = FINAL, 0
        at = final(g, at)
    else:
        at = natural(g, at)
        row.thread = now.number
        at = sign(g, at, COLON)
        if at >= 0:
            at = operation(g, at)
        if at >= 0:
            at = times(g, at)
    row.begin, row.end = now.begin, now.end
    return at


@kernel
def final(g: Scan, at: int) -> int:
    row = g.statement[g.now[0].statements]
    at = letter(g, letter(g, letter(g, letter(g, at + 1, SMALL_I), SMALL_N), SMALL_A), SMALL_L)
    at = address(g, word_ends(g, at))
    row.address = g.now[0].number
    at = number(g, two_signs(g, at, EQUALS, EQUALS))
    row.read, row.written = g.now[0].number, g.now[0].number
    return at


@kernel
def operation(g: Scan, at: int) -> int:
    row = g.statement[g.now[0].statements]
    at = blank(g, at)
    if at == len(g.text):
        return CUT
    byte = g.text[at].byte
    row.address, row.read, row.written = 0, 0, 0
    if byte == SMALL_S:
        row.kind = FENCE
        return word_ends(g, letter(g, letter(g, letter(g, at + 1, SMALL_Y), SMALL_N), SMALL_C))
    if byte == OPENED:
        return exchange(g, at + 1, CLOSED)
    if byte == LESS:
        return exchange(g, at + 1, GREATER)
    at = address(g, at)
    row.address = g.now[0].number
    if at < 0:
        return at
    at = blank(g, at)
    if at == len(g.text):
        return CUT
    reads = g.text[at].byte == EQUALS
    at = number(g, two_signs(g, at, EQUALS if reads else COLON, EQUALS))
    if reads:
        row.kind, row.read = READ, g.now[0].number
    else:
        row.kind, row.written = WRITE, g.now[0].number
    return at


@kernel
def exchange(g: Scan, at: int, end: int) -> int:
    """The inside of an rmw."""
    row = g.statement[g.now[0].statements]
    row.kind = RMW
    at = address(g, at)
    row.address = g.now[0].number
    at = number(g, two_signs(g, at, EQUALS, EQUALS))
    row.read = g.now[0].number
    at = address(g, sign(g, at, SEMICOLON))
    if at >= 0 and row.address != g.now[0].number:
        return ODD
    at = number(g, two_signs(g, at, COLON, EQUALS))
    row.written = g.now[0].number
    return sign(g, at, end)


@kernel
def times(g: Scan, at: int) -> int:
    """Behind `@ begin:end`, where it is there. An end stands on the line of its colon, and is not the thread of the
    next operation."""
    now = g.now[0]
    line = now.line
    behind = blank(g, at)
    if behind == len(g.text) and now.last == 0:
        return CUT
    if behind == len(g.text) or g.text[behind].byte != AT:
        now.line = line
        return at
    at = blank(g, behind + 1)
    if at == len(g.text):
        return CUT
    if g.text[at].byte != COLON:
        at = natural(g, at)
        if at < 0:
            return at
        now.begin = now.number
    at = on_line(g, at)
    if at == len(g.text):
        return at if now.last == 1 else CUT
    if g.text[at].byte != COLON:
        return at
    at += 1
    start = on_line(g, at)
    if start == len(g.text):
        return at if now.last == 1 else CUT
    if g.text[start].byte < ZERO or g.text[start].byte > NINE:
        return at
    past = natural(g, start)
    if past < 0:
        return past
    follows = on_line(g, past)
    if follows + 1 >= len(g.text) and now.last == 0:
        return CUT
    if follows < len(g.text) and g.text[follows].byte == COLON and (
            follows + 1 == len(g.text) or g.text[follows + 1].byte != EQUALS):
        return at
    now.end = now.number
    return past
