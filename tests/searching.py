"""A history that only search refutes: no cycle follows from po and wr alone, and yet none is left."""

from __future__ import annotations

from theory import parse

from gradual.history import History

THREADS = ("W y1, R x1", "W y2, R x1", "W x2, R y2", "R x2, R y1",
           "W z1, R x2", "W z2, R x2", "W x1, R z2", "R x1, R z1")
"""If x1 precedes x2 then y1 and y2 precede each other; if x2 precedes x1 then z1 and z2 do."""


def searched(fenced: bool = False, copies: int = 1) -> History:
    """With fences it violates every model; copies on other locations make the search longer."""
    threads = []
    for copy in range(copies):
        for thread in THREADS:
            renamed = thread.translate({ord(x): x + "abcdefgh"[copy] for x in "xyz"}) if copy else thread
            threads.append(renamed.replace(", ", ", fence, ") if fenced else renamed)
    return parse(" ∥ ".join(threads), "searched")
