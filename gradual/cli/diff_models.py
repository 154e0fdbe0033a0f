"""`gradual diff-models`."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from gradual.cli.app import app
from gradual.cli.common import (
    ALL,
    Files,
    Format,
    Hex,
    Initial,
    InitialFrom,
    Join,
    Json,
    Models,
    Ranges,
    RealTime,
    Timeout,
    models_of,
    read_all,
    trace_options,
)

PATIENCE = 30.0
"""Seconds for making the overtakings of a model few, where no time limit is given."""
SHOWN = 40
"""Overtakings of a history that are printed as text; JSON has all."""


@app.command("diff-models", epilog="""Examples:

  gradual diff-models trace.csv

  gradual diff-models trace.csv --model ztso --model rvwmo

  gradual diff-models trace.csv --all          every overtaking that the whole history needs

Exit status: 0 when every verdict is known, whatever it is; 2 after an input error, 3 when something stayed unknown.""")
def diff_models(files: Files, model: Models = None, format: Format = None, addresses: Ranges = None,
                initial: Initial = None, initial_from: InitialFrom = None, real_time: RealTime = False,
                hex: Hex = False, join: Join = False, timeout: Timeout = None, as_json: Json = False,
                whole: Annotated[bool, typer.Option("--all", help="Every overtaking of the whole history, not the "
                                                    "fewest that explain a difference.")] = False) -> None:
    """Tell why models differ on a history: which operations had to overtake others. The history is first shrunk to a
    few operations that the stronger model forbids. Models go from strong to weak; SC, TSO and PSO, unless --model says
    which."""
    from gradual.deciding.overtaking import compare
    from gradual.history import InputError, NotInTime
    from gradual.progress import Progress

    statuses = {0}
    chosen = models_of(model or [ALL])
    with Progress() as progress:
        options = trace_options(addresses, initial, initial_from, real_time=real_time, hex=hex, timeout=timeout)
        for item in read_all(files, format, options, join=join):
            if isinstance(item, InputError):
                statuses.add(3 if isinstance(item, NotInTime) else 2)
                progress.clear()
                typer.echo(f"gradual: {item}", err=True)
                continue
            progress.start(f"comparing models on {item.name}")
            patience = PATIENCE if timeout is None else None
            found = compare(item, chosen, timeout=timeout, patience=patience, whole=whole)
            if any(verdict.verdict == "unknown" for verdict in found.verdicts.values()):
                statuses.add(3)
            progress.clear()
            progress.done += 1
            typer.echo(json.dumps(_record(item, found)) if as_json else _text(item, found))
    raise typer.Exit(2 if 2 in statuses else max(statuses))


def _record(history: Any, found: Any) -> dict[str, Any]:
    return {
        "history": history.name, "source": history.file,
        "verdicts": {name: verdict.verdict for name, verdict in found.verdicts.items()},
        "differences": [{
            "stronger": d.stronger.name, "weaker": d.weaker.name, "minimal": d.minimal, "operations": d.of,
            "overtakings": [_pair(history, pair) for pair in d.overtakings],
        } for d in found.differences],
    }


def _pair(history: Any, pair: Any) -> dict[str, Any]:
    return {"operation": _operation(history, pair.later), "overtook": _operation(history, pair.earlier),
            "forwarded": _forwarded(history, pair)}


def _operation(history: Any, operation: int) -> dict[str, Any]:
    from gradual.history import NO_TICK

    place = {"operation": operation, "thread": history.threads[int(history.thread[operation])],
             "what": history.what(operation)}
    if history.files:
        place["file"] = history.file_of(operation)
    if history.line[operation] > 0:
        place["line"] = int(history.line[operation])
    if history.tick[operation] != NO_TICK:
        place["tick"] = int(history.tick[operation])
    return place


def _forwarded(history: Any, pair: Any) -> bool:
    return bool(history.source[pair.later] == pair.earlier)


def _text(history: Any, found: Any) -> str:
    verdicts = ", ".join(f"{name} {verdict.verdict}" for name, verdict in found.verdicts.items())
    lines = [f"{history.file}: {history.name}: {verdicts}"]
    for difference in found.differences:
        lines += _difference(history, difference)
    lines += [f"    {weaker.name} and not {stronger.name}: why was not found in time"
              for stronger, weaker in found.untold]
    if history.ambiguous and len({verdict.verdict for verdict in found.verdicts.values()}) > 1:
        needed = ("accesses to common bytes are of one size" if history.mixed else
                  "every write to a location has a value of its own")
        lines.append(f"    why is only told where {needed}; `gradual explain --model` tells of each model")
    return "\n".join(lines)


def _difference(history: Any, difference: Any) -> list[str]:
    from gradual.telling.words import buffers_stores, counted

    pairs = difference.overtakings
    title = f"    {difference.weaker.name} and not {difference.stronger.name}: "
    if not pairs:
        return [f"{title}not because of the order within threads alone; `gradual explain --model` tells more"]
    how = " in one run, which needs them all" if difference.minimal else " in a run, maybe more than are needed"
    if difference.of < len(history):
        how = f" in a run of {difference.of} operations that {difference.stronger.name} does not allow together"
    lines = [f"{title}{counted(len(pairs), 'overtaking')}{_whose(history, pairs)}{how}"]
    early = "from the store buffer" if buffers_stores(difference.weaker) else "before it was in memory"
    for pair in pairs[:SHOWN]:
        served = f", which served it {early}" if _forwarded(history, pair) else ""
        lines.append(f"      {history.describe(pair.later)} overtook {history.describe(pair.earlier)}{served}")
    if len(pairs) > SHOWN:
        lines.append(f"      and {len(pairs) - SHOWN} more; --json has all")
    return lines


def _whose(history: Any, pairs: Any) -> str:
    """` of stores by later loads`, where all are of one kind."""
    from gradual.history import READ, WRITE

    nouns = {int(READ): "loads", int(WRITE): "stores"}
    earlier, later = ({nouns.get(int(history.kind[pair[side]]), "accesses") for pair in pairs} for side in (0, 1))
    return f" of {_one(earlier)} by later {_one(later)}"


def _one(nouns: set[str]) -> str:
    return next(iter(nouns)) if len(nouns) == 1 else "accesses"
