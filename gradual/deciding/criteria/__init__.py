"""The ladder of many small histories in one compiled call; `ladder.py` and clingo say the same of one."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from gradual import compiler
from gradual.compiler.records import longer, rows
from gradual.deciding import engine
from gradual.deciding.criteria import kernels
from gradual.deciding.engine import kernels as scheduling
from gradual.deciding.engine import static
from gradual.deciding.engine.run import Run
from gradual.deciding.ladder import LADDERS, Rung
from gradual.models import Model

LARGEST = 200
"""Operations up to which bit sets are the faster way."""
_KINDS = {"ccv": kernels.CAUSAL, "wccm": kernels.WEAK, "wccm_pso": kernels.WEAK_APART}
"""The ladders by the programs of their lowest rungs."""


class Climbed:
    """How far one history gets."""

    def __init__(self, rung: Rung, failed: str | None, ordered: int) -> None:
        self.rung = rung
        """The last one."""
        self.failed = failed
        """The first criterion that fails."""
        self.ordered = ordered
        """The pairs of writes that the last rung orders."""


def climb(run: Run, model: Model) -> list[Climbed]:
    """The ladder below a model, for each history."""
    rungs = LADDERS[model.key]
    tables = _tables(len(run.histories), run)
    tables.now[0]["ladder"] = _KINDS[rungs[0].program]
    climb_all = load()
    while (wanted := climb_all(run.batch, run.building, tables)) != scheduling.DONE:
        if wanted == static.MORE_ROOM:
            run.more_room()
        else:
            tables = tables._replace(word=longer(tables.word, "word", 2 * len(tables.word), kernels.FIELDS))
    names = [name for rung in rungs for name in rung.criteria]
    lowest = kernels.CC if tables.now[0]["ladder"] == kernels.CAUSAL else kernels.WCCM
    return [Climbed(rungs[rung], None if failed < 0 else names[failed - lowest], ordered)
            for failed, ordered, rung in tables.found.tolist()]


def _tables(histories: int, run: Run) -> kernels.Criteria:
    nodes = run.operations + 32
    words = kernels.MATRICES * nodes * (nodes // 64 + 1)
    return kernels.Criteria(*(rows(name, length, False, kernels.FIELDS)
                              for name, length in (("word", words), ("found", histories), ("now", 1))))


@cache
def load() -> Callable[..., int]:
    """The compiled kernel."""
    run: Any = engine.examples()
    return compiler.compiled("climb_all", (scheduling, static, kernels), {
        "Batch": run.batch, "Building": run.building, "Tables": run.new_tables(), "Results": run.results,
        "Criteria": _tables(1, run)})


__all__ = ["LARGEST", "Climbed", "climb", "load"]
