"""The figures of the paper as data, and how they are drawn.

How they are read: 4a and 4b check SC on valid histories, by operations and by CPUs; 5 has the violations of a broken
protocol, both ways; 6a and 6b are 4a and 4b for TSO. One more continues to a million operations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from experiments.paper.measure import ALGORITHMS, LADDER, Options, Task, tasks
from experiments.paper.sources import BROKEN, Client, sound
from experiments.paper.store import Store
from gradual.compiler import COMPILED_FROM

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TITLES = {
    "4a": "SC, valid histories, by operations", "4b": "SC, valid histories, by CPUs",
    "5": "SC, violations of a broken protocol",
    "6a": "TSO, valid histories, by operations", "6b": "TSO, valid histories, by CPUs",
    "large": "valid histories, up to a million operations",
}
OPERATIONS = (100, 200, 300, 400, 500)
CPUS = (2, 3, 4, 5, 6)
EACH = 50
"""Operations per CPU, by CPUs."""
BROKEN_OPERATIONS = (100, 200, 300, 400)
BROKEN_CPUS = (2, 4, 6, 8)
LARGE = (10 ** 3, 10 ** 4, 10 ** 5, 10 ** 6)
LARGE_THREADS, LARGE_LOCATIONS, LARGE_HISTORIES = 8, 64, 3
QUICK = {"direct SAT": 100, "ladder + enumerate": 200, "ladder + SAT": 200}
"""The longest histories a quick run lets an algorithm have,"""
QUICK_SHAPE = dict.fromkeys(QUICK, 300)
"""but where the shape of the times is looked at,"""
QUICK_BROKEN = {"direct SAT": 100}
"""and where they are violations, which the ladder soon sees."""
QUICK_LARGE = 10 ** 4

STYLES = {"direct SAT": ("o", ":"), "ladder + enumerate": ("s", "--"), "ladder + SAT": ("^", "-."),
          "engine": ("D", "-")}
FILLS = {"machine": "full", "gem5": "none", "rtl": "left"}

HISTORY = [*Client._fields, "number"]
"""The columns that say which history it was."""


class Panel(NamedTuple):
    """A pair of axes."""

    title: str
    x: str
    tasks: list[Task]


def panels(name: str, options: Options) -> list[Panel]:
    """What a figure shows, and so what must be measured."""
    if name == "5":
        return [Panel("4 CPUs", "operations", _points(name, ((4, n) for n in BROKEN_OPERATIONS), options)),
                Panel(f"{EACH} operations per CPU", "threads", _points(name, _by_cpus(BROKEN_CPUS), options))]
    if name == "large":
        return [Panel(f"{model.upper()}, {LARGE_THREADS} threads, {LARGE_LOCATIONS} locations", "operations",
                      _large(model, options)) for model in ("sc", "tso")]
    if name.endswith("a"):
        return [Panel("4 CPUs", "operations", _points(name, ((4, n) for n in OPERATIONS), options))]
    return [Panel(f"{EACH} operations per CPU", "threads", _points(name, _by_cpus(CPUS), options))]


def _by_cpus(cpus: Iterable[int]) -> Iterator[tuple[int, int]]:
    return ((count, EACH * count) for count in cpus)


def _points(name: str, sizes: Iterable[tuple[int, int]], options: Options) -> list[Task]:
    model = "tso" if name.startswith("6") else "sc"
    return [task for threads, operations in sizes for source in options.sources
            for task in tasks(_client(name, source, model, threads, operations),
                              _count(name, operations, options.histories), model,
                              _algorithms(name, source, operations, options.quick))]


def _count(name: str, operations: int, histories: int) -> int:
    """Of a broken protocol more where they are short, because fewer of these go wrong."""
    return -(-histories * max(BROKEN_OPERATIONS) // operations) if name == "5" else histories


def _client(name: str, source: str, model: str, threads: int, operations: int) -> Client:
    return Client(source, BROKEN[source] if name == "5" else sound(source, model), threads, operations)


def _algorithms(name: str, source: str, operations: int, quick: bool) -> list[str]:
    longest: dict[str, int] = {}
    if quick:
        shape = source == "machine" and name in ("4a", "6a")
        longest = QUICK_SHAPE if shape else QUICK_BROKEN if name == "5" else QUICK
    return [algorithm for algorithm in ALGORITHMS if operations <= longest.get(algorithm, operations)]


def _large(model: str, options: Options) -> list[Task]:
    sizes = [n for n in LARGE if n <= QUICK_LARGE or not options.quick]
    return [task for operations in sizes
            for task in tasks(Client("machine", model, LARGE_THREADS, operations, LARGE_LOCATIONS),
                              min(options.histories, LARGE_HISTORIES), model, ["engine"])]


def report(name: str, store: Store, options: Options, folder: Path) -> str:
    """Draws the figure, returns its tables."""
    shown = [(panel, store.frame(task.key for task in panel.tasks)) for panel in panels(name, options)]
    shown = [(panel, rows) for panel, rows in shown if len(rows)]
    if not shown:
        return "Nothing was measured.\n"
    prepared = [(panel, _violations(rows) if name == "5" else rows) for panel, rows in shown]
    _draw(name, prepared, folder)
    return "\n".join(f"{panel.title}; medians in seconds (and the range).\n\n{_table(rows, measured)}{_settled(rows)}"
                     for (panel, rows), (_, measured) in zip(prepared, shown, strict=True))


def _violations(rows: pd.DataFrame) -> pd.DataFrame:
    """A broken machine does not go wrong every time: only the histories that some algorithm refuses."""
    wrong = rows.assign(wrong=rows["verdict"] == "violation").groupby(HISTORY)["wrong"].transform("any")
    return rows[wrong]


def _table(rows: pd.DataFrame, measured: pd.DataFrame) -> str:
    """In Markdown. `rows` are those of `measured` that count; > stands before a median that is a time limit."""
    algorithms = [name for name in ALGORITHMS if name in set(measured["method"])]
    lines = ["| source | machine | CPUs | operations | histories | " + " | ".join(algorithms) + " |",
             "|---|---|--:|--:|--:|" + "--:|" * len(algorithms)]
    for place, group in measured.groupby(["source", "machine", "threads", "operations"]):
        mine = rows.loc[rows.index.intersection(group.index)]
        made, kept = (len(some[HISTORY].drop_duplicates()) for some in (group, mine))
        count = f"{made}" if made == kept else f"{kept} of {made} violate"
        cells = [_cell(mine[mine["method"] == name]) for name in algorithms]
        lines.append(f"| {' | '.join(map(str, place))} | {count} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _settled(rows: pd.DataFrame) -> str:
    """What came to the verdict in the end. The two ladders differ only where something is left to complete."""
    lines = []
    for method in (LADDER, "engine"):
        counts = rows[rows["method"] == method]["decided_by"].value_counts()
        if len(counts):
            told = ", ".join(f"{name} {n}" for name, n in counts.items())
            lines.append(f"\nWhat settled it, {method}: {told}.\n")
    return "".join(lines)


def _cell(rows: pd.DataFrame) -> str:
    if rows.empty:
        return ""
    seconds, undecided = rows["seconds"], int((rows["verdict"] == "unknown").sum())
    text = f"{'> ' if undecided * 2 >= len(rows) else ''}{seconds.median():.3g}"
    if undecided:
        return f"{text} ({undecided} undecided)"
    return f"{text} ({seconds.min():.2g}–{seconds.max():.2g})" if len(rows) > 1 else text


def _draw(name: str, shown: list[tuple[Panel, pd.DataFrame]], folder: Path) -> None:
    """Algorithms differ by marker and line, sources by how the marker is filled."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(shown), figsize=(1.2 + 4.4 * len(shown), 4.6), sharey=True, squeeze=False,
                                layout="constrained")
    for axis, (panel, rows) in zip(axes[0], shown, strict=True):
        _plot(axis, panel, rows)
        if name == "large":
            axis.set_xscale("log")
            axis.axvline(COMPILED_FROM, color="grey", linestyle=":")
            axis.text(COMPILED_FROM, 0.98, " compiled from here on", transform=axis.get_xaxis_transform(), fontsize=7,
                      va="top")
    axes[0][0].set_ylabel("seconds (median over the histories)")
    figure.suptitle(f"Fig. {name}: {TITLES[name]}" if name != "large" else TITLES[name].capitalize(), fontsize=11)
    figure.legend(handles=_legend(pd.concat([rows for _, rows in shown])), loc="outside lower center", ncols=4,
                  fontsize=8, frameon=False)
    figure.savefig(folder / f"fig{name}.png", dpi=140)
    plt.close(figure)


def _plot(axis: Axes, panel: Panel, rows: pd.DataFrame) -> None:
    for (algorithm, source), mine in rows.groupby(["method", "source"]):
        marker, line = STYLES[algorithm]
        medians = mine.groupby(panel.x)["seconds"].median()
        axis.plot(medians.index, medians.to_numpy(), marker=marker, linestyle=line, markersize=6, linewidth=1.3,
                  fillstyle=FILLS[source], color=_colour(algorithm))
        late = mine.assign(late=mine["verdict"] == "unknown").groupby(panel.x)["late"].mean()
        for x in late.index[late >= 0.5]:  # the median is where the time limit cut it off
            axis.annotate("↑ time limit", (x, medians[x]), xytext=(0, 6), textcoords="offset points", fontsize=7,
                          ha="center")
    axis.set_yscale("log")
    axis.set_title(panel.title, fontsize=9)
    axis.set_xlabel("CPUs" if panel.x == "threads" else "operations")
    if panel.x == "threads":
        axis.set_xticks(sorted(rows["threads"].unique()))
    axis.grid(True, which="major", alpha=0.3)


def _colour(algorithm: str) -> str:
    return f"C{list(STYLES).index(algorithm)}"


def _legend(rows: pd.DataFrame) -> list[Any]:
    from matplotlib.lines import Line2D

    algorithms = [Line2D([], [], marker=marker, linestyle=line, color=_colour(name), label=name)
                  for name, (marker, line) in STYLES.items() if name in set(rows["method"])]
    sources = [Line2D([], [], marker="o", linestyle="", color="black", fillstyle=fill,
                      label=", ".join([name, *sorted(rows[rows["source"] == name]["machine"].unique())]))
               for name, fill in FILLS.items() if name in set(rows["source"])]
    return algorithms + sources
