"""How operations are called: who did what, and where it stands in the trace."""

from __future__ import annotations

import numpy as np

from gradual.history import FENCE, NO_TICK, RMW, WRITE, History, value_text
from gradual.telling.markup import visible


class Names:
    """The words for the operations of one history. Names of threads and addresses may hold anything."""

    def __init__(self, history: History) -> None:
        self._history = history
        line = history.line
        self.by_line = bool(len(line) and line.min() > 0 and len(np.unique(line)) == len(line))
        """Do lines tell its operations apart? Of JSON Lines one may hold a whole history."""

    def thread(self, operation: int) -> str:
        return self.thread_named(int(self._history.thread[operation]))

    def thread_named(self, thread: int) -> str:
        name = self._history.threads[thread]
        return f"thread {name}" if name.isdigit() else visible(name)

    def address(self, operation: int) -> str:
        return visible(self._history.address(operation))

    def place(self, operation: int) -> str:
        """Its line; or its number, counted from 1, where lines do not tell operations apart."""
        if self.by_line:
            return f"line {self._history.line[operation]}"
        return f"operation {operation + 1}"

    def tick(self, operation: int) -> str:
        tick = self._history.tick[operation]
        return "" if tick == NO_TICK else f" (tick {tick})"

    def short(self, operation: int, address: str | None = None) -> str:
        """`W x=1`, as on a picture; with the address as it is called there."""
        return visible(self._history.what(operation, address))

    def store(self, write: int) -> str:
        """`x=1 of cpu0 (line 3)`: a store as a thing."""
        value = value_text(self._history.written[write])
        return f"{self.address(write)}={value} of {self.thread(write)} ({self.place(write)})"

    def deed(self, operation: int) -> str:
        """`cpu0 wrote x=1 at line 3 (tick 9)`: an operation as something done."""
        return f"{self.thread(operation)} {self._verb(operation)} at {self.place(operation)}{self.tick(operation)}"

    def _verb(self, operation: int) -> str:
        history, kind = self._history, self._history.kind[operation]
        if kind == FENCE:
            return "passed a fence"
        read, written = value_text(history.read[operation]), value_text(history.written[operation])
        if kind == RMW:
            return f"swapped {self.address(operation)} from {read} to {written}"
        at = self.address(operation)
        return f"wrote {at}={written}" if kind == WRITE else f"read {at}={read}"

    def full(self, operation: int) -> str:
        """File, line and tick, for those who look closer."""
        history = self._history
        parts = [f"{visible(history.what(operation))} by {self.thread(operation)}", visible(history.file)]
        parts += [self.place(operation)] if self.by_line else []
        parts += [f"tick {history.tick[operation]}"] if history.tick[operation] != NO_TICK else []
        of = "" if self.by_line or not history.name else f" of history {visible(history.name)}"
        return ", ".join(part for part in [*parts, f"operation {operation + 1} of {len(history)}{of}"] if part)


def capital(text: str) -> str:
    """A sentence; but names of threads stay as they are."""
    return text[:1].upper() + text[1:] if text.startswith(("thread ", "by (", "as ")) else text
