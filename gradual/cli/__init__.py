"""The command line. Holds no algorithm: reads, calls, prints, and chooses the exit status."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from gradual.cli import (  # noqa: F401
    batch,
    check,
    contrast,
    diff_models,
    explain,
    fuzz,
    models,
    run,
    shrink,
    traces,
    warm_up,
)
from gradual.cli.app import READER_GONE, app, silence

COMMANDS = ("check", "run", "contrast", "explain", "shrink", "diff_models", "batch", "report", "fuzz", "classify",
            "generate", "convert", "formats", "models", "warm_up")
"""As --help lists them."""
app.registered_commands.sort(key=lambda command: COMMANDS.index(getattr(command.callback, "__name__", "")))


def _version(wanted: bool) -> None:
    if wanted:
        from gradual import __version__

        typer.echo(f"gradual {__version__}")
        raise typer.Exit


@app.callback()
def _common(version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True,
                                                  help="Print the version.")] = False) -> None:
    pass


def main() -> None:
    """The console script: quiet when the reader of a pipe goes away or the user interrupts."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        silence()
        sys.exit(READER_GONE)
    except OSError as error:  # the output, as all input is read under guard: a full disk, a closed terminal
        from gradual.history import reason

        silence()
        sys.stderr.write(f"gradual: {reason(error)}\n")
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
