"""The program itself; every command adds itself to it."""

from __future__ import annotations

import os
import sys
from typing import Any

import typer
from typer.core import TyperGroup


def silence() -> None:
    """Nobody takes the output any more: let the interpreter flush it into nothing."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _Commands(TyperGroup):
    """A reader that goes away is no violation, though click would end with 1."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            silence()
            raise typer.Exit(READER_GONE) from None


READER_GONE = 141
"""As a shell has it for SIGPIPE: this says nothing about the traces."""

app = typer.Typer(
    cls=_Commands,
    add_completion=False, no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False,
    help="Does a trace of loads and stores behave as its memory model promises? Every verdict is proved.",
    epilog="Start with:  gradual check trace.csv    gradual formats    gradual check --help")
