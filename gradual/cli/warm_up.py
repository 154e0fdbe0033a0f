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

    from gradual.compiling import keep_only_in, writable_folder
    from gradual.deciding import pipeline
    from gradual.deciding.kernel import COMPILED_FROM
    from gradual.machines import generate

    started = time.perf_counter()
    folder = writable_folder()
    if folder is not None:
        keep_only_in(folder)
    pipeline.check(generate("sc", 4, COMPILED_FROM, 8, 0), "sc")
    kept = f"kept in {folder}" if folder else "in vain: there is no folder to keep it in"
    typer.echo(f"compiled in {time.perf_counter() - started:.1f} s, {kept}")
