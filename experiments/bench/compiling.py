"""What the first check after an installation costs: a cache that is empty, and the same once more."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from experiments.bench.process import Limits, run
from experiments.bench.workloads import WARM_UP
from experiments.markdown import number, table
from experiments.trees import Tree

LIMITS = Limits(300.0, 16.0)


def compile_times(trees: list[Tree], folder: Path) -> list[str]:
    rows = []
    for tree in trees:
        with tempfile.TemporaryDirectory() as cache:
            rows.append([tree.name, *(number(_seconds(tree, folder, cache)) for _ in range(2))])
    return ["## The first check after an installation", "",
            "Seconds of the whole process, with nothing compiled yet and once more; 20 000 operations, TSO.", "",
            *table(["checkout", "first", "again"], rows, 1), ""]


def _seconds(tree: Tree, folder: Path, cache: str) -> float:
    job = {"file": str(WARM_UP["tso"].file(folder, "parquet")), "models": ["tso"]}
    return run(tree.command, LIMITS, json.dumps(job), {"GRADUAL_CACHE_DIR": cache, "NUMBA_CACHE_DIR": cache}).seconds
