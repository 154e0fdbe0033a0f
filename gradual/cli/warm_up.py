"""`gradual warm-up`."""

from __future__ import annotations

import typer

from gradual.cli.app import app


@app.command("warm-up", epilog="""Example:

  RUN pip install gradual && gradual warm-up      in a container's build file

Exit status: 0.""")
def warm_up() -> None:
    """Compile what large traces need, now and once; otherwise the first of them waits for it."""
    import time

    from gradual.deciding import pipeline
    from gradual.deciding.kernel import COMPILED_FROM, cache_folder
    from gradual.machines import generate

    started = time.perf_counter()
    pipeline.check(generate("sc", 4, COMPILED_FROM, 8, 0), "sc")
    kept = f"kept in {cache_folder()}" if cache_folder() else "in vain: there is no folder to keep it in"
    typer.echo(f"compiled in {time.perf_counter() - started:.1f} s, {kept}")
