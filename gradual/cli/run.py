"""`gradual run`: the executions of litmus tests."""

from __future__ import annotations

import json
import os
import time
from enum import Enum
from typing import Annotated, Any

import typer

from gradual.cli.app import app
from gradual.cli.common import Json, read_all, trace_options, usage_error


class RunModel(str, Enum):
    generic = "generic"
    sc = "sc"
    tso = "tso"
    pso = "pso"
    all = "all"


EXAMPLES = """Examples:

  gradual run traces/litmus/SB.litmus --model all

  echo 'st x 1, ld y || st y 1, ld x' | gradual run - --model tso

  gradual run SB.litmus --observed runs.jsonl      which observed outcomes does no model allow?

Programs are herd's .litmus files (X86, LISA, Generic) or plain text: P0: st x 1; ld y r0 P1: ... exists (0:r0=0).

Exit status: 0 the question was answered, whatever the answer; 1 an observed outcome that no model asked for allows; 2
usage or input error; 130 after Ctrl-C, when what was found so far is printed."""

Observed = Annotated[list[str] | None, typer.Option("--observed", metavar="HISTORIES", help="Traces of runs of the one "
                                                    "program given: tell which of their outcomes no model allows. "
                                                    "Repeatable.")]


@app.command(epilog=EXAMPLES)
def run(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Programs; - is standard input. With --observed "
                                               "the first is the program, the others are histories.")],
    model: Annotated[list[RunModel] | None, typer.Option(case_sensitive=False, help="The memory model; repeatable. "
                                                         "generic forbids nothing. [default: sc, tso, pso]")] = None,
    count: Annotated[bool, typer.Option("--count", help="Only count the executions.")] = False,
    query: Annotated[bool, typer.Option("--query", help="Only answer the condition, without enumeration; this is done "
                                        "anyway where there are over 10^10 executions to look at.")] = False,
    show: Annotated[int, typer.Option("--show", metavar="K", min=0, help="Show K executions: reads-from and store "
                                      "order.")] = 0,
    svg: Annotated[str | None, typer.Option("--svg", metavar="OUT", help="Draw why the condition's outcome is "
                                            "forbidden; of several, the program and model stand before the "
                                            "ending.")] = None,
    observed: Observed = None,
    as_json: Json = False,
) -> None:
    """List what a small program can do under SC, TSO and PSO: a litmus test."""
    models = _models(model)
    if count and (query or show):
        raise usage_error("--count only counts: it goes with neither --query nor --show")
    if observed:
        raise typer.Exit(_observed(files[0], [*observed, *files[1:]], models, as_json))
    status = _run(files, models, "count" if count else "query" if query else "list", show, as_json)
    if svg is not None and not status:
        _draw(files, models, svg)
    raise typer.Exit(status)


def _draw(files: list[str], models: list[str], out: str) -> None:
    """A picture for each program and model that forbids its outcome."""
    from gradual import programs
    from gradual.files import appearing
    from gradual.programs.executions import Executions
    from gradual.programs.forbidden import svg

    pictures = []
    for program in (programs.read(file) for file in files):
        condition = program.condition
        if condition is not None and condition.quantifier != "forall":
            for model in models:
                if model == "generic" or Executions(program, model).satisfying(condition.proposition) is not None:
                    continue
                if (picture := svg(program, model, condition.proposition)) is not None:
                    pictures.append((f"{program.name}-{model}", picture))
    root, ending = os.path.splitext(out)
    for at, (name, picture) in enumerate(pictures):
        safe = "".join(c if c.isalnum() or c in "-+_" else "_" for c in name)
        target = out if at == 0 else f"{root}-{safe}{ending}"
        try:
            with appearing(target) as stream:
                stream.write(picture.encode())
        except OSError as error:
            raise usage_error(f"--svg {target}: {(error.strerror or str(error)).lower()}") from None
    if not pictures:
        typer.echo("gradual: nothing to draw: no condition here is about a forbidden outcome", err=True)


def _models(chosen: list[RunModel] | None) -> list[str]:
    wanted = {choice.value for choice in chosen or (RunModel.sc, RunModel.tso, RunModel.pso)}
    return [choice.value for choice in RunModel if choice is not RunModel.all
            and (choice.value in wanted or "all" in wanted)]


def _run(files: list[str], models: list[str], task: str, show: int, as_json: bool) -> int:
    from gradual.progress import Progress

    with Progress() as progress:
        return max((_file(file, models, task, show, as_json, progress) for file in files), default=0)


def _file(file: str, models: list[str], task: str, show: int, as_json: bool, progress: Any) -> int:
    """One program under every model, and the exit status for it. Ctrl-C ends it all, once what was found is out."""
    from gradual import programs
    from gradual.programs.scan import ProgramError

    try:
        program = programs.read(file)
        for name in models:
            progress.start(f"{program.name} under {name}")
            if not _answer(program, name, task, show, as_json, progress):
                raise typer.Exit(130)
            progress.done += 1
    except ProgramError as error:
        progress.clear()
        typer.echo(f"gradual: {error}", err=True)
        return 2
    return 0


def _answer(program: Any, model: str, task: str, show: int, as_json: bool, progress: Any) -> bool:
    """One program under one model, printed. False after Ctrl-C."""
    from gradual.programs import observe
    from gradual.programs.scan import ProgramError

    if task == "count":
        return _count(program, model, as_json, progress)
    if task == "query" and program.condition is None:
        raise ProgramError("there is no condition to answer (exists, ~exists or forall)", program.file)
    large = program.condition is not None and program.size > observe.LISTED and not show
    found = observe.answer(program, model) if task == "query" or large else observe.outcomes(program, model, show)
    progress.clear()
    print(json.dumps(found.json()) if as_json else "\n".join(found.lines()) + "\n", flush=True)
    if large and task != "query":
        typer.echo(f"gradual: {program.name} has over 10^{len(str(program.size)) - 1} executions before any model: "
                   "only its condition was answered (--count counts, --show K lists)", err=True)
    return found.complete


def _count(program: Any, model: str, as_json: bool, progress: Any) -> bool:
    """Without a model the number is a product; with one every execution is met."""
    from gradual.programs.executions import Executions

    started, complete = time.perf_counter(), True
    if model == "generic":
        number = program.size
    else:
        executions = Executions(program, model)
        try:
            number = executions.count()
        except KeyboardInterrupt:
            number, complete = executions.found, False
    seconds = time.perf_counter() - started
    progress.clear()
    if as_json:
        print(json.dumps({"program": program.name, "source": program.file, "model": model, "executions": number,
                          "complete": complete, "seconds": round(seconds, 6)}), flush=True)
    else:
        so_far = "" if complete else " so far (interrupted)"
        print(f"{program.name}: {model} {number} executions{so_far} ({seconds:.3f} s)", flush=True)
    return complete


def _observed(file: str, traces: list[str], models: list[str], as_json: bool) -> int:
    from gradual import programs
    from gradual.programs.observed import Sightings
    from gradual.programs.scan import ProgramError

    try:
        sightings = Sightings(programs.read(file), models)
    except ProgramError as error:
        raise usage_error(str(error)) from None
    failed = [_add(sightings, item) for item in read_all(traces, None, trace_options(None, None))].count(False)
    if as_json:
        for sighting in sightings.found.values():
            print(json.dumps({"program": sightings.program.name, "outcome": sighting.outcome.text(sightings.program),
                              "times": sighting.times, "first": sighting.first, "allowed": sighting.allowed}))
    else:
        print("\n".join(sightings.lines()))
    return 1 if sightings.forbidden else 2 if failed else 0


def _add(sightings: Any, item: Any) -> bool:
    """A history, or the error in its place; False when it could not be used."""
    from gradual.history import InputError

    try:
        if isinstance(item, InputError):
            raise item
        sightings.add(item)
    except InputError as error:
        typer.echo(f"gradual: {error}", err=True)
        return False
    return True
