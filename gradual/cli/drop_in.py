"""`gradual axe`, as a command among the others; `axe.py` does it."""

from __future__ import annotations

from typing import Annotated

import typer

from gradual.cli.app import app
from gradual.cli.common import refused, usage_error

EXAMPLES = """Examples:

  gradual axe check WMO trace.axe                 OK or NO for each history, as axe prints them

  gradual axe check TSO - -i                      standard input; -i ignores the times

  gradual axe test WMO tests.axe answers.txt      are the answers those of the file?

  gradual axe --install ~/bin                     leaves an executable `axe` there, for scripts that call it

What axe judges is judged with its output, its order and its exit status: 0 after OK and NO alike, 1 when a trace
cannot be read or a model or an option is not known, 255 for any other wrong command line and a failed test. --strict,
behind the files, makes it that of `gradual check`: 0 all OK, 1 some NO, 2 an error. A thread that reads what it
writes only later is a NO, where axe looks past it; a value that nobody wrote is a NO, where axe gives up. The other
models (`gradual models`) and .cat files stand in MODEL's place as well; POW is not there, and -g, which is about POW,
changes nothing. For axe's shrinking scripts there is `gradual shrink`."""


@app.command(context_settings={"ignore_unknown_options": True}, epilog=EXAMPLES)
def axe(
    words: Annotated[list[str] | None, typer.Argument(metavar="check MODEL FILE | test MODEL FILE ANSWERS",
                                                      help="As axe has them, with -g, -i and --strict behind.")] = None,
    install: Annotated[str | None, typer.Option("--install", metavar="DIR", help="Leave an executable `axe` in "
                                                "DIR.")] = None,
) -> None:
    """The command line of the checker axe, for the scripts that call it."""
    from gradual.cli import axe as drop_in

    if install is None:
        raise typer.Exit(drop_in.run(words or []))
    if words:
        raise usage_error("--install DIR stands alone")
    try:
        typer.echo(f"{drop_in.install(install)} now calls this installation of gradual")
    except FileExistsError:
        raise usage_error(f"there is an axe in {install} already; remove it, or choose another folder") from None
    except OSError as error:
        raise refused(f"--install {install}", error) from None
