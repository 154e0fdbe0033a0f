"""The figures of the paper as data, and how they are drawn.

How the figures are read: 4a and 4b check SC on valid histories, by operations and by CPUs; 5 is the violations of a
broken MI protocol, by operations and by CPUs; 6a and 6b are 4a and 4b for TSO.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from experiments.paper.measure import ALGORITHMS, Point

STYLES = {"direct SAT": ("o", ":"), "ladder + enumerate": ("s", "--"), "ladder + SAT": ("^", "-."),
          "saturation": ("D", "-")}
TITLES = {
    "4a": "SC, valid histories, 4 CPUs", "4b": "SC, valid histories, 50 operations per CPU",
    "5": "SC, broken protocol", "6a": "TSO, valid histories, 4 CPUs",
    "6b": "TSO, valid histories, 50 operations per CPU",
    "large": "continued to a million operations (8 threads)",
}
X = {"4a": "operations", "4b": "threads", "5": "operations", "6a": "operations", "6b": "threads", "large": "operations"}


def points(name: str, source: str, count: int, quick: bool) -> list[Point]:
    """What a figure needs measured."""
    sound = "sc" if name.startswith("4") else "tso"
    if source == "gem5":
        sound = "sc"
    sizes = (100, 200, 300) if quick else (100, 200, 300, 400, 500)
    if name in ("4a", "6a"):
        return [Point(name, source, sound, _model(name), 4, n, count) for n in sizes]
    if name in ("4b", "6b"):
        cpus = (2, 4) if quick else (2, 3, 4, 5, 6)
        return [Point(name, source, sound, _model(name), t, 50 * t, count) for t in cpus]
    if name == "5":
        cpus = (4,) if quick or source == "gem5" else (2, 4, 6, 8)
        return [Point(name, source, "broken-drop", "sc", t, n, count, tuple(ALGORITHMS)[1:])
                for t in cpus for n in sizes if n <= 400]
    return [Point(name, source, "tso", "tso", 8, 10 ** e, min(count, 3), ("saturation",))
            for e in ((3, 4) if quick else (3, 4, 5, 6))]


def _model(name: str) -> str:
    return "sc" if name.startswith("4") else "tso"


def table(frame: pd.DataFrame, name: str) -> str:
    """Medians, in Markdown; — where an algorithm ran out of time."""
    rows = frame[frame["figure"] == name]
    if rows.empty:
        return "no measurement\n"
    x = X[name]
    lines = [f"| source | {x} | histories | " + " | ".join(ALGORITHMS) + " |",
             "|---|--:|--:|" + "--:|" * len(ALGORITHMS)]
    for (source, value), group in rows.groupby(["source", x]):
        cells = []
        for algorithm in ALGORITHMS:
            mine = group[group["algorithm"] == algorithm]
            if mine.empty:
                cells.append("")
            elif (mine["verdict"] == "unknown").any():
                cells.append("— (time limit)")
            else:
                cells.append(f"{mine['seconds'].median():.4g}")
        lines.append(f"| {source} | {value} | {group['number'].nunique()} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def draw(frame: pd.DataFrame, name: str, folder: Path) -> None:
    """SVG and PNG, distinguishable without colour."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    rows = frame[(frame["figure"] == name) & (frame["verdict"] != "unknown")]
    if rows.empty:
        return
    figure, axes = plt.subplots(figsize=(5.5, 4))
    for algorithm, (marker, line) in STYLES.items():
        for source, mine in rows[rows["algorithm"] == algorithm].groupby("source"):
            medians = mine.groupby(X[name])["seconds"].median()
            axes.plot(medians.index, medians.values, marker=marker, linestyle=line, markersize=4,
                      label=f"{algorithm} ({source})", alpha=1.0 if source == "machine" else 0.6)
    axes.set_yscale("log")
    if name == "large":
        axes.set_xscale("log")
    axes.set_xlabel("CPUs" if X[name] == "threads" else "operations")
    axes.set_ylabel("seconds (median)")
    axes.set_title(f"Fig. {name}: {TITLES[name]}" if name != "large" else TITLES[name], fontsize=9)
    axes.grid(True, which="major", alpha=0.3)
    axes.legend(fontsize=6)
    figure.tight_layout()
    for kind in ("svg", "png"):
        figure.savefig(folder / f"fig{name}.{kind}", dpi=120)
    plt.close(figure)


def wrong_shapes(frame: pd.DataFrame) -> Iterator[str]:
    """What must hold on any machine: direct SAT is slowest, saturation fastest, every violation is caught."""
    for name in ("4a", "6a"):
        rows = frame[(frame["figure"] == name) & (frame["operations"] == 300) & (frame["source"] == "machine")]
        medians = rows.groupby("algorithm")["seconds"].median()
        if len(medians) and medians.idxmax() != "direct SAT":
            yield f"Fig. {name}: {medians.idxmax()} is slower than direct SAT at 300 operations"
        if len(medians) and medians.idxmin() != "saturation":
            yield f"Fig. {name}: {medians.idxmin()} is faster than saturation at 300 operations"
    for name in ("4a", "4b", "6a", "6b"):
        if (frame[frame["figure"] == name]["verdict"] == "violation").any():
            yield f"Fig. {name}: a valid history is called a violation"
    key = ["source", "threads", "operations", "number"]
    for _, group in frame[frame["figure"] == "5"].groupby(key):
        if group["verdict"].nunique() > 1:
            yield f"Fig. 5: the algorithms disagree on {group[key].iloc[0].to_dict()}"
