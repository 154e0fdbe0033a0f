"""What nobody has published: which criterion catches which fault, and what the unordered percentage depends on.

    python -m experiments.paper.study [--quick]
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np

import gradual
from gradual.machines import FAULTS, generate

CRITERIA = ("CC", "CCv", "CM", "CCM", "saturation", "enumerate", "sat")


def faults(count: int) -> str:
    """Of each fault of the small machines: how many histories violate SC, and which criterion sees it first."""
    lines = ["| fault | histories | violate SC | " + " | ".join(CRITERIA) + " |",
             "|---|--:|--:|" + "--:|" * len(CRITERIA)]
    for name in FAULTS:
        found: Counter[str] = Counter()
        for seed in range(count):
            verdict = gradual.check(generate(name, 4, 100, 8, seed), "sc", engine="datalog", timeout=60)
            if verdict.verdict == "violation":
                found[verdict.decided_by or "?"] += 1
        cells = " | ".join(str(found[criterion]) for criterion in CRITERIA)
        lines.append(f"| {name} | {count} | {sum(found.values())} | {cells} |")
    return "\n".join(lines) + "\n"


def unordered(threads: int, locations: int, write_ratio: float, count: int) -> float:
    """The mean percentage that saturation leaves open on valid SC histories of 200 operations."""
    found = []
    for seed in range(count):
        history = generate("sc", threads, 200, locations, seed, write_ratio=write_ratio, rmw_ratio=0, fence_ratio=0)
        verdict = gradual.check(history, "sc", engine="saturation")
        if verdict.write_pairs:
            found.append(verdict.unordered_percent)
    return float(np.mean(found)) if found else 0.0


def heat_map(folder: Path, count: int) -> str:
    """Percentages by threads and locations, one map per write ratio."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    threads, locations, ratios = (2, 4, 8), (1, 2, 4, 8, 16, 32), (0.2, 0.5, 0.8)
    figure, axes = plt.subplots(1, len(ratios), figsize=(11, 3.2))
    lines = ["| write ratio | threads | " + " | ".join(f"{x} locations" for x in locations) + " |",
             "|--:|--:|" + "--:|" * len(locations)]
    for ratio, axis in zip(ratios, axes, strict=True):
        cells = np.array([[unordered(t, x, ratio, count) for x in locations] for t in threads])
        axis.imshow(cells, cmap="Greys", vmin=0, vmax=60, aspect="auto")
        axis.set(title=f"{ratio:.0%} writes", xticks=range(len(locations)), xticklabels=locations,
                 yticks=range(len(threads)), yticklabels=threads, xlabel="locations", ylabel="threads")
        for row, line in enumerate(cells):
            for column, cell in enumerate(line):
                axis.text(column, row, f"{cell:.0f}", ha="center", va="center", color="white" if cell > 30 else "black")
            lines.append(f"| {ratio} | {threads[row]} | " + " | ".join(f"{cell:.1f}" for cell in line) + " |")
    figure.suptitle("% of write pairs that saturation leaves unordered, SC histories of 200 operations", fontsize=9)
    figure.tight_layout()
    for kind in ("svg", "png"):
        figure.savefig(folder / f"unordered.{kind}", dpi=120)
    plt.close(figure)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    import sys

    quick = "--quick" in sys.argv
    print(faults(20 if quick else 100))
    print(heat_map(Path("."), 3 if quick else 20))
