"""What goes wrong with an input, in words for the person who gave it."""

from __future__ import annotations

from gradual.history.values import visible


class InputError(Exception):
    """A history that cannot be checked as it was given, in words for the person who gave it."""

    def __init__(self, message: str, file: str = "", line: int = 0, history: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        self.line = line
        self.history = history

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line) if part)
        return visible(f"{place}: {self.message}" if place else self.message)


class NoAccess(InputError):
    """A trace without an operation, or none that was selected: of one core among several, that may be all right."""


class NoMemory(InputError):
    """A history that there is not enough memory to read."""

    def __init__(self, file: str, history: str = "", *, rest: bool = False) -> None:
        more = ", nor what follows" if rest else ""
        super().__init__(f"there is not enough memory to read it{more}; allow more, or split the file", file, 0,
                         history)
        self.rest = rest
        """Nothing more comes of this file."""


class NotInTime(InputError):
    """A history that could not be read within the time limit."""

    def __init__(self, file: str, seconds: float) -> None:
        super().__init__(f"not read within {seconds:g} s, nor what follows in this file; allow more time", file)


def reason(error: OSError) -> str:
    """Why the system refused, as part of a sentence."""
    return (error.strerror or str(error)).lower()
