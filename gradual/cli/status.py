"""The exit statuses: a violation that was found, and those that say nothing about the traces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

VIOLATION = 1
USAGE = 2
"""A usage or input error; output that cannot be written."""
LATE = 3
"""Something stayed unknown: of `run`, the time was over."""
FAULT = 70
"""A fault of ours, as sysexits.h has it: never 0, 1 or 3, which say something about a trace."""
INTERRUPTED = 130
"""Ctrl-C, as a shell has it for SIGINT."""
READER_GONE = 141
"""Nobody reads the output any more, as a shell has it for SIGPIPE."""


class Unwritten(OSError):
    """Output that cannot be written, after something was found."""

    status = USAGE


@contextmanager
def remembered(status: Callable[[], int]) -> Iterator[None]:
    """Whoever handles output that cannot be written learns the status that was reached until then."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        unwritten = Unwritten(*error.args)
        unwritten.status = status()
        raise unwritten from None


def after(error: OSError) -> int:
    """The status where output cannot be written: a violation stays one, whether it was told or not."""
    raised: BaseException | None = error
    while raised is not None:  # the last of the output is written, or tried again, on the way out
        if (isinstance(raised, Unwritten) and raised.status == VIOLATION) or (
                isinstance(raised, SystemExit) and raised.code == VIOLATION):
            return VIOLATION
        raised = raised.__context__
    return USAGE
