"""How operations are called: who did what, and where it stands in the trace."""

from __future__ import annotations

import numpy as np

from gradual.history import FENCE, NO_TICK, RMW, WRITE, History, visible


class Names:
    """The words for the operations of one history. Names of threads and addresses may hold anything."""

    def __init__(self, history: History) -> None:
        self._history = history
        places = history.line if not history.files else np.stack([history.thread, history.line])
        self.by_line = bool(len(history) and history.line.min() > 0
                            and np.unique(places, axis=-1).shape[-1] == history.operations)
        """Do lines tell its operations apart? Of JSON Lines one may hold a whole history."""

    def thread(self, operation: int) -> str:
        return self.thread_named(int(self._history.thread[operation]))

    def thread_named(self, thread: int) -> str:
        name = self._history.threads[thread]
        return f"thread {name}" if name.isdigit() else visible(name)

    def address(self, operation: int) -> str:
        history, access = self._history.access(operation)
        return visible(history.address(access))

    def place(self, operation: int) -> str:
        """Its line; or its number, counted from 1, where lines do not tell operations apart."""
        if self.by_line:
            return self._history.at_line(operation)
        return f"operation {self._history.number(operation) + 1}"

    def tick(self, operation: int) -> str:
        tick = self._history.tick[operation]
        return "" if tick == NO_TICK else f" (tick {tick})"

    def short(self, operation: int, address: str | None = None) -> str:
        """`W x=1`, as on a picture; with the address as it is called there."""
        return visible(self._history.what(operation, address))

    def store(self, write: int) -> str:
        """`x=1 of cpu0 (line 3)`: a store as a thing. Where sizes mix, the bytes of it that matter."""
        value = self._history.value_text(int(self._history.written[write]))
        here = visible(self._history.address(write))
        return f"{here}={value} of {self.thread(write)} ({self.place(write)})"

    def deed(self, operation: int) -> str:
        """`cpu0 wrote x=1 at line 3 (tick 9)`: an operation as something done."""
        return f"{self.thread(operation)} {self._verb(operation)} at {self.place(operation)}{self.tick(operation)}"

    def _verb(self, operation: int) -> str:
        (history, operation), kind = self._history.access(operation), self._history.kind[operation]
        if kind == FENCE:
            return "passed a fence"
        read, written = (history.value_text(int(column[operation])) for column in (history.read, history.written))
        if kind == RMW:
            return f"swapped {visible(history.address(operation))} from {read} to {written}"
        at = visible(history.address(operation))
        deed = f"wrote {at}={written}" if kind == WRITE else f"read {at}={read}"
        return f"{deed} in an rmw" if history.is_half(operation) else deed

    def full(self, operation: int) -> str:
        """File, line and tick, for those who look closer."""
        history = self._history
        parts = [f"{visible(history.what(operation))} by {self.thread(operation)}", visible(history.file_of(operation))]
        parts += [f"line {history.line[operation]}"] if self.by_line else []
        parts += [f"tick {history.tick[operation]}"] if history.tick[operation] != NO_TICK else []
        of = "" if self.by_line or not history.name else f" of history {visible(history.name)}"
        parts += [f"operation {history.number(operation) + 1} of {history.operations}{of}"]
        return ", ".join(part for part in parts if part)


def capital(text: str) -> str:
    """A sentence; but names of threads stay as they are."""
    return text[:1].upper() + text[1:] if text.startswith(("thread ", "by (", "as ")) else text
