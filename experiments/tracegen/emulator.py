"""In the place of a rocket-chip emulator with TraceGen: a small machine of ours, printed as TraceGen prints.

    python experiments/tracegen/emulator.py [MACHINE] SEED
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import gradual
from gradual.history import FENCE, NO_TICK, READ, RMW, History

WORD = 8


def lines(history: History) -> Iterator[tuple[int, str]]:
    """Each with its cycle. Where the machine has no clock, an operation takes two cycles, as they come."""
    for operation in range(len(history)):
        thread = int(history.thread[operation])
        begin = 10 * operation if history.begin is None else int(history.begin[operation])
        end = begin + 1 if history.end is None or history.end[operation] == NO_TICK else int(history.end[operation])
        kind, tag = history.kind[operation], operation % 256
        if kind == FENCE:
            yield from ((begin, f"{thread}: fence-req @{begin}"), (end, f"{thread}: fence-resp @{end}"))
            continue
        address = f"0x{WORD * int(history.location[operation]):010x}"
        name, value = {READ: ("load-req ", ""), RMW: ("swap-req ", f"{history.written[operation]} ")}.get(
            kind, ("store-req ", f"{history.written[operation]} "))
        yield begin, f"{thread}: {name}{value}{address} #{tag} @{begin}"
        yield end, f"{thread}: resp {history.read[operation]} #{tag} @{end}"


def main() -> None:
    machine, seed = (sys.argv[1:-1] or ["wmo"])[0], int(sys.argv[-1])
    history = gradual.generate(machine, threads=2, operations=60, locations=3, seed=seed)
    print(f"using random seed {seed}")
    for _, line in sorted(lines(history), key=lambda found: found[0]):
        print(line)
    print(f"FINISHED {len(history.threads)}")


if __name__ == "__main__":
    main()
