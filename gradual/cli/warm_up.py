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

    from gradual.adapters import _axe_scanner, _exec_scanner
    from gradual.compiler.kept import kept_in
    from gradual.deciding import criteria, engine, saturation

    started = time.perf_counter()
    engine.load()
    saturation.load()
    criteria.load()
    _axe_scanner.load()
    _exec_scanner.load()
    folders = {str(folder) for folder in kept_in.values()}
    kept = f"kept in {', '.join(sorted(folders))}" if folders else (
        "in vain: there is no folder to keep it in")
    typer.echo(f"compiled in {time.perf_counter() - started:.1f} s, {kept}")
