"""What nobody has published: which criterion catches which fault, and what the unordered percentage depends on.

    python -m experiments.paper.study [--quick] [--source machine gem5 rtl]
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pandas as pd

from experiments.paper import criteria
from experiments.paper.measure import LADDER, Options, Task, leave_out, tasks
from experiments.paper.sources import Client, rtl_faults
from experiments.paper.store import Store
from gradual.machines import FAULTS

FAULT_THREADS, FAULT_OPERATIONS, FAULT_WRITES = 4, 100, 0.4
FAULT_HISTORIES = 100
THREADS, LOCATIONS, RATIOS = (2, 4, 8), (1, 2, 4, 8, 16, 32), (0.2, 0.5, 0.8)
OPERATIONS = 200
MAP_HISTORIES = 20


def wanted(options: Options) -> list[Task]:
    return [*faulty(options), *mapped(options)]


def faulty(options: Options) -> list[Task]:
    """Every fault, with rmws and fences. Store buffers are no fault of SC: those of the RTL are asked about TSO."""
    count = 5 if options.quick else FAULT_HISTORIES
    models = [("machine", name, "sc") for name in FAULTS]
    if "rtl" in options.sources or not options.quick:
        some = rtl_faults()[::4 if options.quick else 1]  # a second or two for each to start the simulator
        if not some:
            leave_out("the faults of the RTL, which cannot be simulated here (make rtl installs what it needs)")
        models += [("rtl", fault.name, "tso" if fault.buffers else "sc") for fault in some]
    return [task for source, name, model in models for task in tasks(
        Client(source, name, FAULT_THREADS, FAULT_OPERATIONS, write_ratio=FAULT_WRITES, mix="full"), count, model,
        [LADDER])]


def mapped(options: Options) -> list[Task]:
    count = 2 if options.quick else MAP_HISTORIES
    return [task for ratio, threads, locations in product(RATIOS, THREADS, LOCATIONS)
            for task in tasks(Client("machine", "sc", threads, OPERATIONS, locations, ratio), count, "sc",
                              ["engine"])]


def report(store: Store, options: Options, folder: Path) -> str:
    rows = store.frame(task.key for task in mapped(options))
    cells = rows[rows["write_pairs"] > 0].groupby(["write_ratio", "threads", "locations"])["unordered_percent"].mean()
    _draw(cells, folder)
    return "\n".join([
        "### Which criterion catches which fault", "", f"{FAULT_THREADS} threads, {FAULT_OPERATIONS} operations, 8 "
        f"locations, {FAULT_WRITES:.0%} writes, rmws and fences too. The criterion that failed first, from weak to "
        "strong.", "",
        criteria.table(store.frame(task.key for task in faulty(options))),
        "### Unordered pairs by threads, locations and writes", "",
        f"Percent of the pairs of writes to one location that saturation leaves open on SC histories of {OPERATIONS} "
        "operations (means).", "", _table(cells)])


def _table(cells: pd.Series) -> str:
    lines = ["| writes | threads | " + " | ".join(f"locations: {x}" for x in LOCATIONS) + " |",
             "|--:|--:|" + "--:|" * len(LOCATIONS)]
    lines += [f"| {ratio:.0%} | {threads} | " + " | ".join(f"{cells[ratio, threads, x]:.1f}" for x in LOCATIONS) + " |"
              for ratio, threads in product(RATIOS, THREADS)]
    return "\n".join(lines) + "\n"


def _draw(cells: pd.Series, folder: Path) -> None:
    """A map per write ratio, with the numbers in it."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(RATIOS), figsize=(11, 3.4), sharey=True, layout="constrained")
    largest = cells.max()
    for ratio, axis in zip(RATIOS, axes, strict=True):
        values = [[cells[ratio, t, x] for x in LOCATIONS] for t in THREADS]
        image = axis.imshow(values, cmap="Greys", vmin=0, vmax=largest, aspect="auto")
        axis.set(title=f"{ratio:.0%} writes", xticks=range(len(LOCATIONS)), xticklabels=LOCATIONS,
                 yticks=range(len(THREADS)), yticklabels=THREADS, xlabel="locations")
        for row, column in product(range(len(THREADS)), range(len(LOCATIONS))):
            value = values[row][column]
            axis.text(column, row, f"{value:.0f}", ha="center", va="center",
                      color="white" if value > largest / 2 else "black")
    axes[0].set_ylabel("threads")
    figure.colorbar(image, ax=axes, label="% unordered (mean)")
    figure.suptitle(f"Pairs of writes to one location that saturation leaves unordered: SC histories of {OPERATIONS} "
                    "operations", fontsize=10)
    figure.savefig(folder / "unordered.png", dpi=140)
    plt.close(figure)


if __name__ == "__main__":
    from experiments.paper.__main__ import main

    main(["study"])
