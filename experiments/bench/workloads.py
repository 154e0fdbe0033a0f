"""The traces that are measured: sizes, shapes, machines, and how the threads lie in the file.

    python -m experiments.bench.workloads FILE MACHINE OPERATIONS THREADS LOCATIONS ORDER

makes one. A process of its own does that: what it needs of memory must not show in the peaks of those it is made for.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from experiments.trees import ROOT

SIZES = (10_000, 100_000, 1_000_000)
SHAPES = tuple((threads, locations) for threads in (4, 16, 64) for locations in (16, 256))
"""Threads and locations."""
QUICK_SIZES, QUICK_SHAPES = (10_000,), ((4, 16), (16, 256))
MODELS = ("sc", "tso", "pso")
KINDS = ("consistent", "broken")
ORDERS = ("as issued", "by thread")
"""Operations in the order of issue, or one thread after the other: the same history, and no hint how it went."""
BROKEN = "broken-drop"
"""Its fault violates all three models."""
FAULTS_IN_ALL = 20
"""So few that a violation has to be looked for."""
SEED = 1
_one_at_a_time = threading.Lock()


class Workload(NamedTuple):
    """One trace and the model it is checked against."""

    model: str
    kind: str
    order: str
    operations: int
    threads: int
    locations: int

    @property
    def machine(self) -> str:
        return BROKEN if self.kind == "broken" else self.model

    def file(self, folder: Path, ending: str) -> Path:
        """Made once: that takes longer than checking it."""
        name = f"{self.machine}-{self.operations}-{self.threads}t-{self.locations}l-{self.order.replace(' ', '-')}"
        path = folder / f"{name}.{ending}"
        with _one_at_a_time:  # several cells may want the same one
            if not path.exists():
                folder.mkdir(parents=True, exist_ok=True)
                arguments = (path, self.machine, self.operations, self.threads, self.locations, self.order)
                subprocess.run([sys.executable, "-m", __name__, *map(str, arguments)], check=True, cwd=ROOT)
        return path

    def is_larger(self, other: Workload) -> bool:
        """Of the same kind with as many locations, and not fewer operations or threads."""
        return (self != other and self.operations >= other.operations and self.threads >= other.threads
                and self._replace(operations=other.operations, threads=other.threads) == other)


WARM_UP = {model: Workload(model, "consistent", "as issued", 20_000, 4, 16) for model in (*MODELS, "wmo", "rvwmo")}
"""Large enough that whatever is compiled is loaded."""


def matrix(quick: bool) -> Iterator[Workload]:
    """Sizes grow: who failed on a small one is not asked for a larger one of its kind."""
    for operations in QUICK_SIZES if quick else SIZES:
        for threads, locations in QUICK_SHAPES if quick else SHAPES:
            for model in MODELS:
                for kind in KINDS:
                    for order in ORDERS:
                        yield Workload(model, kind, order, operations, threads, locations)


def make(path: Path, machine: str, operations: int, shape: tuple[int, int], order: str) -> None:
    import gradual
    from gradual.machines import generate

    faults = FAULTS_IN_ALL / operations if machine == BROKEN else None
    history = generate(machine, shape[0], operations, shape[1], SEED, fault_ratio=faults)
    unfinished = path.with_name(f"part-{path.name}")
    if order == "by thread":
        rows = path.with_name(f"rows-{path.stem}.parquet")
        gradual.write([history], rows)
        _group_by_thread(rows)
        if path.suffix == rows.suffix:
            rows.replace(unfinished)
        else:
            histories: Any = gradual.read(rows)
            gradual.write(histories, unfinished)
            rows.unlink()
    else:
        gradual.write([history], unfinished)
    unfinished.replace(path)


def _group_by_thread(file: Path) -> None:
    """Arrow's sort keeps the order of equals, which is program order; rows without a thread are initial values."""
    import pyarrow.compute
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(file)
    threads = pyarrow.compute.fill_null(table["thread"], "")
    pyarrow.parquet.write_table(table.take(pyarrow.compute.sort_indices(threads)), file)


if __name__ == "__main__":
    make(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), (int(sys.argv[4]), int(sys.argv[5])), sys.argv[6])
