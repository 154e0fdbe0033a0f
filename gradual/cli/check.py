"""`gradual check` and `gradual classify`."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gradual.cli.apart import with_memory
from gradual.cli.app import app
from gradual.cli.common import (
    ALL,
    AllowEmpty,
    Completion,
    CompletionChoice,
    Engine,
    EngineChoice,
    FailFast,
    Files,
    Format,
    Hex,
    Initial,
    InitialFrom,
    Join,
    Json,
    Memory,
    Models,
    Ranges,
    RealTime,
    Timeout,
    models_of,
    read_all,
    refused,
    size_of,
    trace_options,
    usage_error,
)
from gradual.cli.status import remembered
from gradual.cli.streams import tell

if TYPE_CHECKING:
    from gradual.judge import Judgement
    from gradual.telling.budget import Budget

EXAMPLES_CHECK = """Examples:

  gradual check trace.csv                          is it SC?

  gradual check trace.out.gz --addresses 0x7f4c0:0x834c0 --model all

  simulator | gradual check - --model tso --json

  simulator | gradual check - --model tso --stream          one history that never ends

  gradual check --join trace_rvfi_hart_00.dasm trace_rvfi_hart_01.dasm --model rvwmo

Exit status: 0 all consistent, 1 some violation, 2 usage or input error, 3 unknown and nothing worse; 70 a fault in
gradual, which says nothing about the trace; 130 after Ctrl-C, 141 when nobody reads the output any more."""


@app.command(epilog=EXAMPLES_CHECK)
def check(
    files: Files,
    model: Models = None,
    format: Format = None,
    addresses: Ranges = None,
    initial: Initial = None,
    initial_from: InitialFrom = None,
    real_time: RealTime = False,
    hex: Hex = False,
    join: Join = False,
    allow_empty: AllowEmpty = False,
    engine: Engine = EngineChoice.auto,
    completion: Completion = CompletionChoice.auto,
    timeout: Timeout = None,
    memory: Memory = None,
    fail_fast: FailFast = False,
    compare_orders: Annotated[bool, typer.Option("--compare-orders", help="Also tell how many write pairs CCv, CCM or "
                                                 "wCCM, and saturation leave unordered, side by side.")] = False,
    unordered: Annotated[bool, typer.Option("--unordered", help="Count the write pairs left unordered of histories of "
                                            "any size; otherwise of up to 20 000 operations.")] = False,
    as_json: Json = False,
    oneline: Annotated[bool, typer.Option("--oneline", help="One line for each history and model, without the "
                                          "evidence.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print no verdicts: the exit status tells.")] = False,
    witness: Annotated[str | None, typer.Option("--witness", metavar="OUT", help="Write the run that explains each "
                                                "consistent history to OUT, a JSON object per line.")] = None,
    stream: Annotated[bool, typer.Option("--stream", help="The file is one history that never ends: decide it as it "
                                         "comes, in bounded memory, and stop at the first violation.")] = False,
    window: Annotated[int | None, typer.Option("--window", min=1, metavar="N", help="Of a stream: operations that may "
                                               "be held. [default: 20000]")] = None,
    threads: Annotated[int | None, typer.Option("--threads", min=1, metavar="N", help="Of a stream: how many threads "
                                                "there are; nothing is forgotten before all have come.")] = None,
) -> None:
    """Check traces against memory models, with evidence."""
    from gradual.history import Oversights, told_unused
    from gradual.judge import PATIENCE, Judge
    from gradual.progress import Progress
    from gradual.telling.budget import Budget

    chosen = models_of(model)
    options = trace_options(addresses, initial, initial_from, real_time=real_time, hex=hex,
                            allow_empty=allow_empty, timeout=timeout)
    if (more := size_of(memory)) is not None:
        with_memory(more)
    if stream:
        from gradual.cli.stream import Following

        if len(files) > 1:
            raise usage_error("--stream follows one file; start gradual once for each")
        for given, option in ((witness, "--witness"), (join, "--join"),
                              (compare_orders, "--compare-orders"), (unordered, "--unordered"),
                              (engine.value == "datalog", "--engine datalog"),
                              (completion.value != "auto", "--completion"), (options.unknown, "--initial unknown")):
            if given:
                raise usage_error(f"{option} needs a whole history; leave it out, or --stream")
        following = Following(chosen, files[0], options, window=window, threads=threads or 0, as_json=as_json,
                              quiet=quiet)
        raise typer.Exit(following.run(format))
    if window is not None or threads is not None:
        raise usage_error("--window and --threads are for --stream")
    judge = Judge(chosen, engine.value, completion.value, timeout, compare_orders,
                  unordered or None, errors_once=not as_json, at_once=memory is None)
    budget = Budget()
    encode = json.JSONEncoder(check_circular=False).encode  # made once: there may be many
    with remembered(lambda: judge.status), _witnesses(witness, files) as keep, Progress() as progress:
        progress.start("reading")
        histories = read_all(files, format, options, oversights := Oversights(options), join=join)
        for found in judge.judgements(histories, progress, patience=0 if "-" in files else PATIENCE):
            if witness is not None and (run := found.witness) is not None:
                keep(run)
            progress.clear()
            if as_json and not quiet:
                print(encode(found.json), flush="-" in files)
            elif not quiet:
                told = found.line if oneline else _text(found, budget, timeout)
                tell(told, found.verdict.model, found.verdict.verdict, flush="-" in files)
            if fail_fast and found.verdict.verdict == "violation":
                break
        else:
            if oversights.unused:
                typer.echo(f"gradual: {told_unused(oversights.unused)}", err=True)
                judge.count_error()
    if not as_json and not quiet and progress.done > 1:
        typer.echo(judge.summary(), err=True)
    raise typer.Exit(judge.status)


def _text(found: Judgement, budget: Budget, timeout: float | None) -> str:
    """As short as `gradual explain` tells it, within the budget and what the limit leaves."""
    left = {} if timeout is None else {"at_most": timeout - found.verdict.seconds}
    return found.shortened(budget, **left).text


@contextmanager
def _witnesses(out: str | None, files: list[str]) -> Iterator[Callable[[dict[str, Any]], object]]:
    """Where witnesses are written to: never in the place of a trace."""
    from gradual.files import appearing

    if out is None:
        yield lambda record: None
        return
    if out == "-":
        raise usage_error("--witness needs a file; standard output is for the verdicts")
    if any(os.path.realpath(out) == os.path.realpath(file) for file in files):
        raise usage_error(f"--witness {out} would overwrite the trace of that name")
    try:
        with appearing(out) as stream:
            yield lambda record: stream.write(json.dumps(record).encode() + b"\n")
    except OSError as error:
        raise refused(f"--witness {out}", error) from None


@app.command(epilog="""Example:

  gradual classify traces/figures.csv

Exit status: 0 when everything could be read, whatever holds; 2 otherwise.""")
def classify(files: Files, model: Models = None, format: Format = None, addresses: Ranges = None,
             initial: Initial = None, initial_from: InitialFrom = None, real_time: RealTime = False, hex: Hex = False,
             join: Join = False, timeout: Timeout = None, as_json: Json = False) -> None:
    """Tell every criterion of each history: those below each model, and the model (all, unless --model says which)."""
    from gradual.deciding.classification import CLIMBED, names
    from gradual.deciding.classification import classify as classify_history
    from gradual.history import InputError
    from gradual.progress import Progress

    failed = False
    chosen = models_of(model or [ALL])
    told = names(chosen)
    width = max(6, *(len(name) + 1 for name in told))
    if not as_json:
        typer.echo(f"{'history':<24}" + "".join(f"{name:>{width}}" for name in told))
    with Progress() as progress:
        options = trace_options(addresses, initial, initial_from, real_time=real_time, hex=hex, timeout=timeout)
        for item in read_all(files, format, options, join=join):
            progress.start(getattr(item, "name", ""))
            if isinstance(item, InputError):
                failed = True
                criteria: dict[str, bool | None] = dict.fromkeys(told)
                name = item.history or _stem(item.file)
                typer.echo(f"gradual: {item}", err=True)
            elif len(item) > CLIMBED and timeout is None:
                failed, name, criteria = True, item.name, dict.fromkeys(told)
                typer.echo(f"gradual: {item.file}: {item.name} has {len(item)} operations, and the criteria below the "
                           f"models take hours beyond {CLIMBED}. `gradual check --model all` decides the models at "
                           "any size, and so does this with --timeout S", err=True)
            else:
                criteria = classify_history(item, chosen, timeout=timeout)
                name = item.name
            progress.clear()
            if as_json:
                typer.echo(json.dumps({"history": name, "source": item.file, "criteria": criteria}))
            else:
                typer.echo(f"{name:<24}" + "".join(f"{_mark(criteria[c]):>{width}}" for c in told))
    raise typer.Exit(2 if failed else 0)


def _mark(truth: bool | None) -> str:
    plain = "utf" not in (sys.stdout.encoding or "").lower()
    return "?" if truth is None else ("yes" if truth else "no") if plain else ("✓" if truth else "✗")


def _stem(file: str) -> str:
    from gradual.adapters import stem

    return stem(file)
