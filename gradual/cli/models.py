"""`gradual models`."""

from __future__ import annotations

from typing import Annotated

import typer

from gradual.cli.app import app
from gradual.cli.common import one_model


@app.command(epilog="""Examples:

  gradual models              what there is, from strong to weak

  gradual models tso          the text of one, to read or to start a model of your own from

  gradual models my.cat       is it understood?""")
def models(
    name: Annotated[str | None, typer.Argument(metavar="[MODEL]", help="A name or a .cat file: print its "
                                               "text.")] = None,
) -> None:
    """List the memory models, or print the text of one."""
    from gradual.cli.structures import NAMES
    from gradual.events.models import MODELS
    from gradual.models import shipped

    if name is not None:
        typer.echo(one_model(name, of_programs=True).text, nl=False)
        return
    for model in shipped():
        typer.echo(f"{model}: {model.sentence}")
        above = f"weaker than {', '.join(model.weaker_than)}; " if model.weaker_than else ""
        typer.echo(f"    {above}machine: {model.machine or 'none'}; {model.file}")
    typer.echo("\nOf programs alone (`gradual run`), models that judge executions together:")
    for name in NAMES:
        typer.echo(f"{name}: {MODELS[name].sentence}")
    typer.echo("\nAny file that ends in .cat is a model too: gradual check trace.csv --model my.cat")
