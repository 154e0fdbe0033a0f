"""What must hold on any machine, however fast: not times but their order, and verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pandas as pd

from experiments.paper.figures import HISTORY
from experiments.paper.measure import ALGORITHMS
from experiments.paper.orders import PAIRS, column

AT = 300
"""Operations at which the algorithms are compared."""
SLOWEST, FASTEST = "direct SAT", "engine"


def wrong_shapes(frames: dict[str, pd.DataFrame]) -> Iterator[str]:
    """What is not as it must be, a line each. `frames`: the measurements of each figure, and of the percentages."""
    for name in ("4a", "6a"):
        if name in frames:
            yield from _wrong_times(name, frames[name])
    for name in ("4a", "4b", "6a", "6b", "large"):
        if name in frames:
            yield from _wrong_on_valid(name, frames[name])
    if "5" in frames:
        yield from _missed(frames["5"])
    if "percentages" in frames:
        yield from _wrong_orders(frames["percentages"])


def _wrong_times(name: str, rows: pd.DataFrame) -> Iterator[str]:
    """Of the machines, which always have this size; logs need not."""
    rows = rows[(rows["operations"] == AT) & (rows["source"] == "machine")] if len(rows) else rows
    if rows.empty:
        return
    medians = rows.groupby("method")["seconds"].median()
    for algorithm in ALGORITHMS:
        if algorithm not in medians:
            yield f"Fig. {name}: {algorithm} was not measured at {AT} operations; allow more time"
    if SLOWEST in medians and medians.idxmax() != SLOWEST:
        yield f"Fig. {name}: {medians.idxmax()} is slower than {SLOWEST} at {AT} operations"
    if FASTEST in medians and medians.idxmin() != FASTEST:
        yield f"Fig. {name}: {medians.idxmin()} is faster than {FASTEST} at {AT} operations"


def _wrong_on_valid(name: str, rows: pd.DataFrame) -> Iterator[str]:
    """Only direct SAT may run out of time: its tables say where."""
    for row in rows.to_dict("records"):
        if row["verdict"] == "violation" or (row["verdict"] != "consistent" and row["method"] != SLOWEST):
            yield f"Fig. {name}: {row['method']} says {row['verdict']} of a valid history, {_which(row)}"


def _missed(rows: pd.DataFrame) -> Iterator[str]:
    """Every violation is caught by every algorithm that was asked; and what gem5 logged of the bug is one."""
    violations = 0
    for _, group in rows.groupby(HISTORY) if len(rows) else ():
        found = "violation" in set(group["verdict"])
        violations += found
        for row in group.to_dict("records"):
            if row["verdict"] == "unknown":
                yield f"Fig. 5: {row['method']} does not decide {_which(row)}; allow more time"
            elif row["verdict"] != "violation" and (found or row["source"] == "gem5"):
                yield f"Fig. 5: {row['method']} says {row['verdict']} of what must be a violation, {_which(row)}"
    if not violations:
        yield "Fig. 5: there was no violation to catch"


def _wrong_orders(rows: pd.DataFrame) -> Iterator[str]:
    """Each order contains the one before, so it leaves less open."""
    chain = [column("CCv", "ww", PAIRS[0]), column("CCM", "ww", PAIRS[0]), "saturation"]
    for weak, strong in pairwise(chain):
        more = int((rows[strong] > rows[weak] + 1e-9).sum())
        if more:
            yield f"Percentages: on {more} histories less is ordered by {strong} than by {weak}"


def _which(row: dict[str, object]) -> str:
    return (f"{row['source']} {row['machine']}, {row['threads']} threads, {row['operations']} operations, "
            f"history {int(str(row['number'])) + 1}")
