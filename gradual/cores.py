"""The cores there are, and what is done on several of them at once: each task in a fork of this process, which has all
that this one has. A time limit in it is its own, and so is its end, whatever that comes from."""

from __future__ import annotations

import os
import pickle
import select
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Generic, NoReturn, TypeVar

from gradual.interrupts import held_back
from gradual.parent import die_with

Result = TypeVar("Result")

_processes = 1
"""Those that share the cores."""


def own() -> int:
    """The cores that this process has for itself."""
    there = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, there // _processes)


def share(processes: int) -> None:
    """From now on there are so many processes instead of this one."""
    global _processes
    _processes *= processes


def at_once(tasks: Sequence[Callable[[], Result]]) -> Iterator[Result]:
    """What the tasks give, in their order; as many are performed at a time as there are cores. Where a fork fails, its
    task is performed here while nothing else is: what was wanting may have been the memory for several."""
    forks = [_Fork(task) for task in tasks]
    most = min(own(), len(tasks))
    try:
        for fork, task in zip(forks, tasks, strict=True):
            while not fork.done:
                _go_on(forks, most)
            if fork.failed:
                for other in forks:
                    other.hear()
            yield task() if fork.failed else fork.result
    finally:
        for fork in forks:
            fork.end()


def _go_on(forks: Sequence[_Fork[Result]], most: int) -> None:
    """Start those for which there are cores, and wait for one of them."""
    for fork in [fork for fork in forks if not fork.done][:most]:
        fork.start(most)
    running = [fork for fork in forks if fork.running]
    for fork in select.select(running, (), ())[0] if running else ():
        fork.hear()


class _Fork(Generic[Result]):
    """A process with one task."""

    result: Result
    running = done = failed = False

    def __init__(self, task: Callable[[], Result]) -> None:
        self._task = task

    def start(self, processes: int) -> None:
        """Unless it runs already; done at once where the system has no process for it."""
        if self.running:
            return
        parent = os.getpid()
        try:
            self._pipe, theirs = os.pipe()
        except OSError:
            self.done = self.failed = True
            return
        try:
            with held_back():
                self._process = os.fork()
                self.running = True
                if not self._process:
                    self._perform(parent, theirs, processes)
        except OSError:
            os.close(self._pipe)
            self.done = self.failed = True
        finally:
            os.close(theirs)

    def _perform(self, parent: int, pipe: int, processes: int) -> NoReturn:
        """The life of the process. Why it fails is told where the task is performed again."""
        try:
            die_with(parent)
            share(processes)
            result = self._task()
            with open(pipe, "wb") as stream:
                pickle.dump(result, stream)
        finally:
            os._exit(0)

    def fileno(self) -> int:
        return self._pipe

    def hear(self) -> None:
        """What it gives, once it does."""
        if self.running:
            try:
                with open(self._pipe, "rb", closefd=False) as stream:
                    self.result = pickle.load(stream)
            except (EOFError, MemoryError, pickle.UnpicklingError):
                self.failed = True
            self.done = True
            self.end()

    def end(self) -> None:
        """Whatever it is at."""
        if self.running:
            self.running = False
            os.close(self._pipe)
            with suppress(ProcessLookupError):
                os.kill(self._process, signal.SIGKILL)
            with suppress(ChildProcessError):  # where SIGCHLD is ignored, nobody is left to wait for
                os.waitpid(self._process, 0)
