"""The same search as one question to clingo, the program itself a choice of the solver: `datalog/contrast.lp`."""

from __future__ import annotations

import time
from typing import Any

from gradual.contrast.search import Contrast
from gradual.contrast.space import LONGEST, least
from gradual.machines.code import FENCE, LOAD, STORE, Instruction, Threads
from gradual.models.clingo import demanded, refuted
from gradual.programs.executions import POLL
from gradual.progress import Progress


class Query(Contrast):
    """Sizes one after the other; for each, both directions. Raises NotPositive for a model it cannot ask about.

    The difference is one of smallest size, not always the first of it. `programs` counts the classes asked about.
    """

    def run(self, progress: Progress, every: bool = False, go_on: bool = False) -> None:
        started = time.perf_counter()
        try:
            for size in range(1, self.bound + 1):
                progress.start(f"asking about programs of {size} instructions")
                self.programs += self.space.count(size)
                for one, other in ((self.a, self.b), (self.b, self.a)):
                    threads = self._asked(size, demanded(one.model), refuted(other.model))
                    if threads is not None:
                        difference = self._compared(threads)
                        assert difference is not None, "the two engines do not agree"
                        self.found.append(difference)
                        return
                self.finished = size
        finally:
            self.seconds = time.perf_counter() - started

    def _asked(self, size: int, allowing: str, forbidding: str) -> Threads | None:
        from importlib.resources import as_file, files

        import clingo

        threads = min(size, self.space.threads or size)
        if threads * LONGEST < size:
            return None
        control = clingo.Control(["1", "--warn=no-atom-undefined", *(f"-c{name}={value}" for name, value in (
            ("n", size), ("t", threads), ("l", self.space.locations), ("f", int(self.space.fences)),
            ("reduced", int(self.reduced))))])
        with as_file(files("gradual.datalog")) as folder:
            control.load(str(folder / "execution.lp"))
            control.load(str(folder / "contrast.lp"))
        control.add("base", [], allowing)
        control.add("base", [], forbidding)
        control.ground([("base", [])])
        with control.solve(yield_=True, async_=True) as handle:
            handle.resume()
            while not handle.wait(POLL):
                pass
            model = handle.model()
            return None if model is None else least(_threads(model.symbols(shown=True), threads))


def _threads(atoms: Any, threads: int) -> Threads:
    steps: list[dict[int, Instruction]] = [{} for _ in range(threads)]
    for atom in atoms:
        if atom.name == "access":
            thread, place, kind, address = atom.arguments
            steps[thread.number][2 * place.number] = STORE if kind.name == "w" else LOAD, address.number
        elif atom.name == "fenced":
            thread, place = atom.arguments
            steps[thread.number][2 * place.number + 1] = FENCE
    return tuple(tuple(step for _, step in sorted(thread.items())) for thread in steps if thread)

