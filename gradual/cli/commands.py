"""The commands, each in a file that adds it to the program."""

from __future__ import annotations

from copy import copy
from importlib import import_module
from typing import Annotated

import typer

from gradual.cli.app import app

COMMANDS = {"check": "check", "run": "run", "contrast": "contrast", "explain": "explain", "shrink": "shrink",
            "diff-models": "diff_models", "batch": "batch", "report": "batch", "fuzz": "fuzz", "classify": "check",
            "generate": "traces", "convert": "traces", "formats": "traces", "models": "models", "axe": "drop_in",
            "warm-up": "warm_up"}
"""As --help lists them, and where each of them is."""


def program(asked: str | None = None) -> typer.Typer:
    """The program with the command that is asked for, or with all of them. To read what sixteen commands take costs
    more time than a small check does."""
    names = [asked] if asked in COMMANDS else [*COMMANDS]
    for name in names:
        import_module(f"gradual.cli.{COMMANDS[name]}")
    known = {command.name or getattr(command.callback, "__name__", ""): command for command in app.registered_commands}
    chosen = copy(app)
    chosen.registered_commands = [known[name] for name in names]
    return chosen


def _version(wanted: bool) -> None:
    if wanted:
        from gradual.cli.version import version as told

        typer.echo(told())
        raise typer.Exit


@app.callback()
def _common(version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the "
                                                  "version, the commit, and what it decides with.")] = False) -> None:
    pass


__all__ = ["program"]
