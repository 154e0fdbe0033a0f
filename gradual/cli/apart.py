"""A command in a process of its own, where memory is limited: not every library survives the want of it."""

from __future__ import annotations

import os
import signal
import sys

import typer

from gradual.cli.status import INTERRUPTED, LATE


def with_memory(more: int) -> None:
    """Go on in a process that may take so many bytes; this one only waits for it and ends as it does."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        from gradual.deciding.memory import limit

        limit(more)
        return
    status = _ended(child)
    if status >= 0:
        raise typer.Exit(status)
    typer.echo(f"gradual: stopped by {signal.Signals(-status).name}: a history needed more memory than --memory "
               "allows, and nothing after it was checked", err=True)
    raise typer.Exit(INTERRUPTED if -status == signal.SIGINT else LATE)


def _ended(child: int) -> int:
    """Its exit status, or minus the signal; Ctrl-C reaches it as well."""
    try:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    except KeyboardInterrupt:
        return _ended(child)
