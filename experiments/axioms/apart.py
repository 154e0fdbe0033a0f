"""A history whose rmws are written as two operations, a load and a store: one by one, as one would by hand."""

from __future__ import annotations

from dataclasses import replace

from gradual.history import ATOMIC, EXCLUSIVE, FENCE, NO_TICK, READ, RMW, WRITE, Builder, History
from gradual.history.builder import More

ACQUIRE, RELEASE, RCPC = 1, 2, 4


def apart(history: History) -> History:
    """The same with a read and a write for each rmw, which are a pair and marked as the halves of one."""
    return _Writing(history).history()


class _Writing:
    def __init__(self, history: History) -> None:
        self._history = history
        self._builder = Builder(history.name, history.file)
        self._written = [0] * len(history.threads)
        """How many operations each thread has so far."""
        self._number: dict[int, int] = {}
        """What later operations call an operation: of an rmw, its load."""

    def history(self) -> History:
        history = self._history
        for e in range(len(history)):
            self._add(e)
        for at in range(len(history.locations)):
            self._builder.initial(history.locations[at], int(history.initial[at]))
            if history.final_line[at] >= 0:
                self._builder.final(history.locations[at], int(history.final_value[at]))
        found = self._builder.build()
        marks = found.marks.copy()  # type: ignore[union-attr]
        marks[(marks & ATOMIC) != 0] &= ~EXCLUSIVE
        return replace(found, marks=marks)

    def _add(self, e: int) -> None:
        history, builder, kind = self._history, self._builder, int(self._history.kind[e])
        thread = str(history.thread[e])
        if kind == FENCE:
            builder.fence(thread, 15 if history.fence is None else int(history.fence[e]), ctrl=self._needs("ctrl", e))
            self._count(e)
            return
        location, marks = history.address(e), 0 if history.marks is None else int(history.marks[e])
        read, written = int(history.read[e]), int(history.written[e])
        more: More = {"marks": marks, "addr": self._needs("addr", e), "ctrl": self._needs("ctrl", e)}
        more |= self._times(e)
        data = self._needs("data", e)
        if kind == RMW:
            builder.read(thread, location, read, **more | {"marks": ATOMIC | _part(marks, ACQUIRE)})
            self._count(e)
            store: More = {"addr": more["addr"], "data": data, "marks": ATOMIC | _part(marks, RELEASE),
                           "pair": self._number[e], "begin": more.get("begin", NO_TICK)}
            builder.write(thread, location, written, **store)
            self._written[history.thread[e]] += 1
        elif kind == READ:
            builder.read(thread, location, read, **more)
            self._count(e)
        elif kind == WRITE:
            more["data"] = data
            for load in self._needs("pair", e):
                more["pair"] = load
            builder.write(thread, location, written, **more)
            self._count(e)

    def _count(self, e: int) -> None:
        thread = self._history.thread[e]
        self._written[thread] += 1
        self._number[e] = self._written[thread]

    def _needs(self, name: str, e: int) -> list[int]:
        pairs = getattr(self._history, name)
        return [] if pairs is None else [self._number[int(a)] for a, b in pairs if b == e]

    def _times(self, e: int) -> More:
        found: More = {}
        if self._history.begin is not None:
            found["begin"] = int(self._history.begin[e])
        if self._history.end is not None:
            found["end"] = int(self._history.end[e])
        return found


def _part(marks: int, order: int) -> int:
    """Acquire or release, with RCpc."""
    return marks & (order | RCPC) if marks & order else 0
