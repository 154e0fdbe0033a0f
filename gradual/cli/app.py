"""The program itself; every command adds itself to it."""

from __future__ import annotations

import typer

app = typer.Typer(
    add_completion=False, no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False,
    help="Does a trace of loads and stores behave as SC, TSO or PSO promise? Every verdict is proved.",
    epilog="Start with:  gradual check trace.csv    gradual formats    gradual check --help")
