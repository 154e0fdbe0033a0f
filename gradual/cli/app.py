"""The program itself; every command adds itself to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup


class Escaped(Exception):
    """Carries what click would make an exit status of its own of, 1 for most, to `main`, which knows better."""


class _Commands(TyperGroup):
    def main(self, *args: Any, **extra: Any) -> Any:
        try:
            return super().main(*args, **extra)
        except Escaped as escaped:
            raise escaped.__cause__ or escaped from None

    def make_context(self, *args: Any, **extra: Any) -> Any:
        with _past_click():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: Any) -> Any:
        with _past_click():
            return super().invoke(ctx)


@contextmanager
def _past_click() -> Iterator[None]:
    try:
        yield
    except (EOFError, OSError) as error:
        raise Escaped from error


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False,
    help="Does a trace of loads and stores behave as its memory model promises? Every verdict is proved.",
    epilog="Start with:  gradual check trace.csv    gradual formats    gradual check --help\n\n"
           "Exit status 70 is a fault in gradual, never anything about a trace; each command's --help has the others.")
