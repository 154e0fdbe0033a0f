"""The command line. Holds no algorithm: reads, calls, prints, and chooses the exit status.

Nothing is imported here before `main` runs: a Ctrl-C, or a broken installation, must meet its guards.
"""

from __future__ import annotations

import errno
import gc
import os
import sys
from collections.abc import Callable

from gradual import interrupts
from gradual.cli.status import FAULT, INTERRUPTED, READER_GONE, after


def main() -> None:
    """The console script."""
    guarded(_commands)


def _commands() -> None:
    gc.set_threshold(200_000, 20, 100)  # little of what we make is in cycles: looking for them costs more than it frees
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy's, which takes longer to start them than all the rest
    from gradual.cli.commands import program

    program(sys.argv[1] if len(sys.argv) > 1 else None)()


def guarded(run: Callable[[], None]) -> None:
    """No traceback for what is not our fault, and no exit status that means something else."""
    try:
        interrupts.listen()
        _prepare_streams()
        try:
            run()
        finally:
            sys.stdout.flush()
            gc.freeze()  # or the end is spent on looking for cycles in all that is thrown away anyway
    except BrokenPipeError:
        silence()
        _end(READER_GONE)
    except KeyboardInterrupt:
        silence()
        _end(INTERRUPTED)
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:  # all input is read under guard: this is the output
            from gradual.history import reason

            silence()
            why = "it is closed" if error.errno == errno.EBADF else reason(error)
            sys.stderr.write(f"gradual: the output cannot be written: {why}\n")
            _end(after(error))
        tell_fault()
        silence()
        _end(FAULT)


def _end(status: int) -> None:
    """What was raised is told; only the status counts."""
    raise SystemExit(status) from None


def _prepare_streams() -> None:
    """Odd names are no reason to fail. A closed stream (`>&-`) becomes one that refuses, or for messages takes, all:
    otherwise the first file that is opened gets its number."""
    for number, name, way in ((0, "stdin", os.O_RDONLY), (1, "stdout", os.O_RDONLY), (2, "stderr", os.O_WRONLY)):
        if getattr(sys, name) is None:
            place = os.open(os.devnull, way)
            if place != number:
                os.dup2(place, number)
                os.close(place)
            if number:
                setattr(sys, name, open(number, "w", encoding="utf-8", closefd=False))  # noqa: SIM115  (it stays open)
    from gradual.cli.streams import visible_stream

    sys.stdout, sys.stderr = visible_stream(sys.stdout), visible_stream(sys.stderr)


def silence() -> None:
    """Nobody takes the output any more: let the interpreter flush it into nothing."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def tell_fault() -> None:
    """What is being handled is our own."""
    import traceback

    traceback.print_exc()
    sys.stderr.write("gradual: this is a fault in gradual; please report it, with the lines above and the trace\n")
