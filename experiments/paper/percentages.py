"""How many write pairs each store order leaves open, and which criterion sees a violation first.

    python -m experiments.paper.percentages [--quick]

Counted: unordered pairs of writes to one location, initial writes left out, over all such pairs of a history; then the
mean over the histories. The paper: 6.6 % with CCM, 57.75 % with CCv (200 histories of 200 operations).
"""

from __future__ import annotations

from collections import Counter

import pandas as pd

import gradual
from experiments.paper.sources import Missing, histories
from gradual.compare import unordered_percent


def orders(source: str, count: int, operations: int = 200) -> pd.DataFrame:
    """The percentages on valid histories."""
    try:
        return pd.DataFrame([unordered_percent(history, "SC", None)
                             for history in histories(source, "sc", 4, operations, count, 1)])
    except Missing:
        return pd.DataFrame()


def detections(source: str, machine: str, count: int, operations: int) -> Counter[str]:
    """Of the violations, which criterion of the ladder failed first."""
    found: Counter[str] = Counter()
    try:
        for history in histories(source, machine, 4, operations, count, 1):
            verdict = gradual.check(history, "sc", engine="datalog", timeout=60)
            found[verdict.decided_by or "?" if verdict.verdict == "violation" else verdict.verdict] += 1
    except Missing:
        pass
    return found


def report(quick: bool) -> str:
    lines = ["| histories | count | " + " | ".join(("CCv", "CCM", "saturation")) + " |", "|---|--:|--:|--:|--:|"]
    for source in ("machine", "gem5"):
        frame = orders(source, 4 if quick else 200, 200)
        if len(frame):
            means = " | ".join(f"{frame[name].mean():.2f} %" for name in ("CCv", "CCM", "saturation"))
            lines.append(f"| {source}, 4 threads, 200 operations, valid | {len(frame)} | {means} |")
    lines += ["", "| violations | " + "first seen by |", "|---|---|"]
    for source, machine in (("machine", "broken-drop"), ("machine", "broken"), ("gem5", "broken")):
        for operations in (100, 200) if quick else (100, 200, 300, 400):
            found = detections(source, machine, 4 if quick else 100, operations)
            if found:
                text = ", ".join(f"{name} {n}" for name, n in found.most_common())
                name = "gem5, MIbug" if source == "gem5" else machine
                lines.append(f"| {name}, 4 threads, {operations} operations | {text} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    import sys

    print(report("--quick" in sys.argv))
