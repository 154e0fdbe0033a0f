"""The parts of a line of an Exec log, and the texts among them that were met before: kernels."""

from __future__ import annotations

from gradual.adapters._exec_tables import (
    BIG_A,
    BIG_D,
    BIG_F,
    BIG_U,
    BLANK,
    COLON,
    DONE,
    EQUALS,
    HASH,
    HEAD,
    HEX_DIGITS,
    LABEL,
    MORE_TEXT,
    NEW_LINE,
    NEW_WORD,
    NINE,
    NO_DIGIT,
    NONE,
    ODD,
    OF_NUMBER,
    OF_WORD,
    PLACE,
    SEPARATOR,
    SMALL_C,
    SMALL_S,
    SMALL_X,
    SPACE,
    SPACES,
    STEPS,
    TICK_DIGITS,
    ZERO,
    Log,
)

from gradual.compiler import kernel


@kernel
def split(g: Log) -> int:
    """Tick, head and pc, the text of the instruction, the result."""
    now = g.now[0]
    now.cpu = NONE
    at, size, tick = now.at, len(g.text), 0
    while at < size and g.text[at].byte == SPACE:
        at += 1
    first = at
    while at < size and g.text[at].byte >= ZERO and g.text[at].byte <= NINE:
        tick, at = 10 * tick + g.text[at].byte - ZERO, at + 1
    if at + 1 >= size:
        return MORE_TEXT
    now.at_tick, now.head = tick, at + 2
    if at == first or at - first > TICK_DIGITS or g.text[at].byte != COLON or g.text[at + 1].byte != SPACE:
        return odd_line(g, at)
    past = field(g, now.head)
    now.head_past = past
    if past == NONE:
        return odd_line(g, now.head)
    cpu = find(g, HEAD, now.hashed, past - now.head)
    now.at_pc = past + SEPARATOR
    if cpu == 0:
        found = odd_line(g, now.head)
        return NEW_WORD if found == ODD else found
    now.cpu = cpu - 1
    if met(g):
        place = g.place[now.place]
        now.at_pc_past, now.key, now.separators = now.at_pc + place.pc_size, now.at_pc + place.key, place.separators
        now.spelled = NONE
        if now.separators > 2:
            return result(g, now.at_pc + place.size)
        now.past = now.at_pc + place.size
        return DONE
    past = field_past(g, now.at_pc)
    now.at_pc_past = past
    if past == NONE:
        return odd_line(g, now.at_pc)
    now.key = past + SEPARATOR
    at = spell(g, now.key)
    if at == NONE:
        return odd_line(g, now.key)
    if now.separators > 2:
        keep(g, at)
        return result(g, at)
    now.past = at + 1
    keep(g, at + 1)
    return DONE


@kernel
def met(g: Log) -> bool:
    """Whether what stands between the head and the result is what stood there when the CPU was here before. A second
    line of an instruction has another place than the first."""
    now = g.now[0]
    c = g.cpu[now.cpu]
    at = now.at_pc
    now.place = NONE
    if at + 2 >= len(g.text) or g.text[at].byte != ZERO or g.text[at + 1].byte != SMALL_X:
        return False
    hex_number(g, at + 2)
    now.step = (c.step + 1) & (STEPS - 1) if c.counter == now.parsed else 0
    now.counter = now.parsed
    number = ((now.counter >> 1) * STEPS + now.step) & (len(g.place) - 1)
    place = g.place[number]
    if place.counter != now.counter:  # it is kept when it comes again
        place.counter, place.size = now.counter, 0
        return False
    now.place = number
    if place.size == 0 or at + place.size > len(g.text):
        return False
    first, differs = now.place * PLACE, 0
    for each in range(place.size):
        differs = differs | (g.text[at + each].byte ^ g.path[first + each].here)
    return differs == 0


@kernel
def keep(g: Log, past: int) -> None:
    """Remember what stands here, up to the result."""
    now = g.now[0]
    if now.place == NONE:
        return
    place = g.place[now.place]
    place.size, place.pc_size = past - now.at_pc, now.at_pc_past - now.at_pc
    place.key, place.separators = now.key - now.at_pc, now.separators
    place.number0, place.number1, place.number2, place.number3 = 0, 0, 0, 0
    if place.size > PLACE:
        place.size = 0
    for each in range(place.size):
        g.path[now.place * PLACE + each].here = g.text[now.at_pc + each].byte


@kernel
def odd_line(g: Log, at: int) -> int:
    """Leave the line that goes on here to others, if all of it is there."""
    while at < len(g.text):
        if g.text[at].byte == NEW_LINE:
            g.now[0].past = at + 1
            return ODD
        at += 1
    return MORE_TEXT


@kernel
def separates(g: Log, at: int) -> bool:
    """Whether a field ends at this blank."""
    return at + 2 < len(g.text) and g.text[at + 1].byte == COLON and g.text[at + 2].byte == SPACE


@kernel
def field(g: Log, at: int) -> int:
    """The end of the field that begins here, and its hash; NONE where it is the last."""
    hashed = HEAD
    while at < len(g.text):
        byte = g.text[at].byte
        if byte == SPACE and separates(g, at):
            g.now[0].hashed = hashed
            return at
        if byte == NEW_LINE:
            return NONE
        hashed = (hashed << 5) - hashed + byte
        at += 1
    return NONE


@kernel
def field_past(g: Log, at: int) -> int:
    """The end of the field that begins here; NONE where it is the last."""
    while at < len(g.text) and g.text[at].byte != NEW_LINE:
        if g.text[at].byte == SPACE and separates(g, at):
            return at
        at += 1
    return NONE


@kernel
def spell(g: Log, at: int) -> int:
    """The text up to the result, without what makes no difference: which number an operand is, how many blanks there
    are. Then the result begins, or the line ends; NONE where it is too long."""
    now = g.now[0]
    hashed, to, blanks, of, most = 0, 0, 0, 0, len(g.spelling) - SEPARATOR
    now.separators = 2
    exact = at + 1 < len(g.text) and g.text[at].byte == SMALL_C and g.text[at + 1].byte == SMALL_S  # of CSRs
    while at < len(g.text) and to < most:
        byte, before = g.text[at].byte, of
        of = g.sort[byte].of
        if of == BLANK:
            if separates(g, at):
                now.separators += 1
                now.spelled, now.hashed, now.key_past = to, hashed, at
                at += SEPARATOR
                if result_begins(g, at):
                    return at
                for sign in range(SEPARATOR):
                    g.spelling[to + sign].sign = COLON if sign == 1 else SPACE
                to += SEPARATOR
                hashed = (hashed << 5) - hashed + COLON
                continue
            blanks += 1
            if blanks > 2:
                at += 1
                continue
        else:
            blanks = 0
            if of == OF_NUMBER and before < OF_WORD and not exact:
                byte = ZERO
                while at + 1 < len(g.text) and g.sort[g.text[at + 1].byte].of >= OF_WORD:
                    at += 1
            elif byte == NEW_LINE:
                if now.separators == 2:
                    now.spelled, now.hashed, now.key_past = to, hashed, at
                return at if now.separators == 2 else NONE
        g.spelling[to].sign = byte
        hashed = (hashed << 5) - hashed + byte
        to, at = to + 1, at + 1
    return NONE


@kernel
def result_begins(g: Log, at: int) -> bool:
    """Whether data or an address stand here, or nothing."""
    if at < len(g.text) and g.text[at].byte == NEW_LINE:
        return g.now[0].separators > 2
    return at + 2 < len(g.text) and g.text[at].byte == SPACE and (
        g.text[at + 1].byte == BIG_D or g.text[at + 1].byte == BIG_A) and g.text[at + 2].byte == EQUALS


@kernel
def result(g: Log, start: int) -> int:
    """Data, an address, and what has no meaning here."""
    now = g.now[0]
    now.has_data, now.has_address = 0, 0
    at = labelled(g, start, BIG_D)
    if at != start:
        now.has_data, now.data = 1, now.parsed
    behind = labelled(g, at, BIG_A)
    if behind != at:
        now.has_address, now.at_address = 1, now.parsed
    at = behind
    if at == NONE or at == len(g.text) or (g.text[at].byte != SPACE and g.text[at].byte != NEW_LINE):
        return odd_line(g, start)
    while at < len(g.text) and g.text[at].byte != NEW_LINE:
        byte = g.text[at].byte
        # more data or a second address, a further field, FAULTING
        if byte == COLON or (at + 2 < len(g.text) and (
                (byte == SPACE and g.text[at + 2].byte == EQUALS)
                or (byte == BIG_F and g.text[at + 1].byte == BIG_A and g.text[at + 2].byte == BIG_U))):
            return odd_line(g, at)
        at += 1
    now.past = at + 1
    return MORE_TEXT if at == len(g.text) else DONE


@kernel
def labelled(g: Log, at: int, label: int) -> int:
    """Behind ` D=0x1f`, whose number is left in `parsed`; where that is not here, at the same place."""
    if at == NONE or at + LABEL >= len(g.text) or g.text[at].byte != SPACE or g.text[at + 1].byte != label or (
            g.text[at + 2].byte != EQUALS):
        return at
    if g.text[at + 3].byte != ZERO or g.text[at + 4].byte != SMALL_X:
        return NONE
    past = hex_number(g, at + LABEL)
    return NONE if past == at + LABEL or past - at - LABEL > HEX_DIGITS else past


@kernel
def hex_number(g: Log, at: int) -> int:
    """Behind hex digits, whose number is left in `parsed`."""
    found = 0
    while at < len(g.text) and g.sort[g.text[at].byte].digit < NO_DIGIT:
        found, at = found << 4 | g.sort[g.text[at].byte].digit, at + 1
    g.now[0].parsed = found
    return at


# Texts that were met


@kernel
def find(g: Log, space: int, hashed: int, size: int) -> int:
    """The number of a text, 0 where it is new: then its place is left in `now`. A head is compared where it stands."""
    now = g.now[0]
    hashed, last = hashed * SPACES + space, len(g.word) - 1
    slot = ((hashed * HASH) >> 32) & last
    while g.word[slot].number != 0:
        if g.word[slot].hash == hashed and g.word[slot].past - g.word[slot].first == size:
            start, differs = g.word[slot].first, 0
            if space == HEAD:
                for at in range(size):
                    differs = differs | (g.text[now.head + at].byte ^ g.pool[start + at].letter)
            else:
                for at in range(size):
                    differs = differs | (g.spelling[at].sign ^ g.pool[start + at].letter)
            if differs == 0:
                return g.word[slot].number
        slot = (slot + 1) & last
    now.space, now.slot, now.hashed = space, slot, hashed
    return 0
