"""CPU seconds over operations, a panel per model: the mean over the shapes, and the range."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments.bench.journal import Journal
from experiments.bench.workloads import MODELS, ORDERS, Workload

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9")
"""Okabe and Ito's, which the colour-blind can tell apart."""
STYLES = dict(zip(ORDERS, ("-", "--"), strict=True))


def pyplot() -> Any:
    """Where figures are drawn; None without matplotlib, which is an extra."""
    try:
        import matplotlib
    except ImportError:
        print("no figure: matplotlib is not installed", file=sys.stderr)
        return None
    matplotlib.use("Agg")
    matplotlib.rcParams |= {"svg.hashsalt": "gradual", "font.size": 9}
    from matplotlib import pyplot

    return pyplot


def draw(journal: Journal, peers: Sequence[str], workloads: Sequence[Workload], file: Path) -> bool:
    """Whether there is a figure."""
    if (plot := pyplot()) is None:
        return False
    figure, axes = plot.subplots(1, len(MODELS), figsize=(12, 4), layout="constrained", sharey=True)
    for axis, model in zip(axes, MODELS, strict=True):
        consistent = [w for w in workloads if w.model == model and w.kind == "consistent"]
        for peer, colour in zip(peers, COLOURS, strict=False):
            _lines(axis, journal, peer, consistent, colour)
        axis.set(xscale="log", yscale="log", xlabel="operations", title=f"{model.upper()}, consistent")
        axis.grid(True, alpha=0.3)
    axes[0].set_ylabel("CPU seconds")
    axes[-1].legend(fontsize=8)
    figure.savefig(file, metadata={"Date": None})
    plot.close(figure)
    return True


def _lines(axis: Any, journal: Journal, peer: str, workloads: Sequence[Workload], colour: str) -> None:
    for order, style in STYLES.items():
        points: dict[int, list[float]] = {}
        for workload in workloads:
            if workload.order == order and (seconds := journal.median(peer, workload, "cpu")):
                points.setdefault(workload.operations, []).append(seconds)
        sizes = sorted(points)
        axis.plot(sizes, [statistics.geometric_mean(points[size]) for size in sizes], style, color=colour, marker="o",
                  markersize=3, label=f"{peer}, {order}")
        axis.fill_between(sizes, [min(points[size]) for size in sizes], [max(points[size]) for size in sizes],
                          color=colour, alpha=0.1)
