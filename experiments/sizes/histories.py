"""Small random histories of accesses of 1, 2, 4 and 8 bytes to common bytes."""

from __future__ import annotations

from random import Random

from gradual.history import Builder, History

BASE = 0x80
SIZES = (1, 2, 4, 8)

Operation = tuple[str, int, int, int]
"""Its kind, thread, address and size."""


def random_history(rng: Random, most: int = 8, torn: bool = False) -> History:
    """A few threads on a few bytes. `torn`: misaligned accesses, too."""
    threads, span = rng.choice((2, 2, 3)), rng.choice((2, 4) if torn else (2, 4, 8, 8))
    sizes = [size for size in SIZES if size <= span] + rng.choice((0, 6)) * [1, 1, span // 2]
    plan = [_operation(rng, threads, span, sizes, torn) for _ in range(rng.randint(3, most - 2 * torn))]
    for row, (kind, thread, at, size) in enumerate(plan):
        later = [other for other in range(row + 1, len(plan)) if plan[other][:2] == ("W", thread)]
        if kind == "LR" and later:
            plan[later[0]] = "W", thread, at, size
    few = rng.choice((1, 3, 255))
    stored = {row: bytes(rng.randint(0 if few == 1 else 1, few) for _ in range(size))
              for row, (kind, _, _, size) in enumerate(plan) if kind in ("W", "RMW")}
    seen = _guessed if rng.random() < 0.6 else _happened
    return _built(plan, seen(rng, plan, stored, span), stored, torn)


def _happened(rng: Random, plan: list[Operation], stored: dict[int, bytes], span: int) -> dict[int, int]:
    """What reads return when operations happen in an order near to theirs, where a read takes bytes that its thread
    stored and that are not yet in memory. Some reads are torn, or of another time."""
    late = rng.choice((0, 1, 4))
    times = sorted(range(len(plan)), key=lambda row: row + rng.uniform(0, late * (2 if row in stored else 1)))
    memories = [bytes(span)]
    read: dict[int, int] = {}
    for place, row in enumerate(times):
        _, thread, at, size = plan[row]
        memory = bytearray(_seen(rng, memories))
        for own in range(row):
            if own in stored and own not in times[:place] and plan[own][1] == thread:
                memory[plan[own][2]:plan[own][2] + plan[own][3]] = stored[own]
        read[row] = int.from_bytes(memory[at:at + size], "little")
        if row in stored:
            memories.append(memories[-1][:at] + stored[row] + memories[-1][at + size:])
    return read


def _guessed(rng: Random, plan: list[Operation], stored: dict[int, bytes], span: int) -> dict[int, int]:
    """What reads return when each sees the stores in an order of its own, as many of them as it likes."""
    read = {}
    for row, (_, thread, at, size) in enumerate(plan):
        own = [store for store in stored if store < row and plan[store][1] == thread]
        others = [store for store in stored if plan[store][1] != thread]
        seen = [*own, *rng.sample(others, rng.randint(0, len(others)))]
        seen.sort(key=lambda store: store + rng.uniform(0, 4))
        memory = bytearray(span)
        for store in seen:
            memory[plan[store][2]:plan[store][2] + plan[store][3]] = stored[store]
        read[row] = int.from_bytes(memory[at:at + size], "little")
    return read


def _operation(rng: Random, threads: int, span: int, sizes: list[int], torn: bool) -> Operation:
    kind = rng.choices(("R", "W", "RMW", "F", "LR"), (8, 8, 1, 1, 1))[0]
    size = rng.choice(sizes)
    at = rng.randrange(span - size + 1) if torn and kind in "RW" and rng.random() < 0.3 else (
        rng.randrange(span // size) * size)
    return kind, rng.randrange(threads), at, size


def _seen(rng: Random, memories: list[bytes]) -> bytes:
    """What memory looks like to a read: as it is now, mostly."""
    memory = memories[-1]
    if rng.random() < 0.1:
        memory = rng.choice(memories)
    if rng.random() < 0.07:
        other, cut = rng.choice(memories), rng.randrange(len(memory))
        memory = memory[:cut] + other[cut:]
    return memory


def _built(plan: list[Operation], read: dict[int, int], stored: dict[int, bytes],
           torn: bool) -> History:
    builder = Builder("random", "random", tears=torn)
    open_loads: dict[int, tuple[int, int, int]] = {}
    count = dict.fromkeys(range(len(plan)), 0)
    for row, (kind, thread, at, size) in enumerate(plan):
        name, address, line = str(thread), hex(BASE + at), row + 1
        value = int.from_bytes(stored.get(row, b""), "little")
        count[thread] += 1
        if kind == "F":
            builder.fence(name, line=line)
        elif kind in ("R", "LR"):
            builder.read(name, address, read[row], line=line, size=size)
            if kind == "LR":
                open_loads[thread] = count[thread], at, size
        elif kind == "RMW":
            builder.rmw(name, address, read[row], value, line=line, size=size)
        elif open_loads.get(thread, ())[1:] == (at, size):
            builder.write(name, address, value, line=line, size=size, pair=open_loads.pop(thread)[0])
        else:
            builder.write(name, address, value, line=line, size=size)
    for row in [*stored][-1:] if len(plan) % 3 == 0 else ():
        _, _, at, size = plan[row]
        if size == max(other for kind, _, start, other in plan if kind != "F" and start == at):
            builder.final(hex(BASE + at), int.from_bytes(stored[row], "little"), line=len(plan) + 1)
    return builder.build()


def long_history(rng: Random, operations: int, values: int, span: int = 64) -> History:
    """A run of four threads on one memory: sequentially consistent. Bytes are of so many values."""
    builder, memory = Builder("long", "long"), bytearray(span)
    for row in range(operations):
        size = rng.choice(SIZES)
        at = rng.randrange(span // size) * size
        thread, address = str(rng.randrange(4)), hex(BASE + at)
        if rng.random() < 0.4:
            memory[at:at + size] = bytes(rng.randrange(values) for _ in range(size))
            builder.write(thread, address, int.from_bytes(memory[at:at + size], "little"), line=row + 1, size=size)
        else:
            builder.read(thread, address, int.from_bytes(memory[at:at + size], "little"), line=row + 1, size=size)
    return builder.build()
