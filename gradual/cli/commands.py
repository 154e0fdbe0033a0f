"""All commands together, as --help lists them."""

from __future__ import annotations

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
from gradual.cli.app import app

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


__all__ = ["app"]
