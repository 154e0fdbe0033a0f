"""`gradual shrink`."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gradual.cli.app import app
from gradual.cli.common import (
    DEFAULT_MODEL,
    Format,
    Hex,
    Initial,
    InitialFrom,
    Join,
    OneModel,
    Ranges,
    RealTime,
    one_model,
    read_all,
    seconds,
    trace_options,
    usage_error,
    write_all,
)
from gradual.cli.completions import format_names
from gradual.cli.status import LATE

if TYPE_CHECKING:
    from gradual.deadline import Deadline
    from gradual.models import Model

SHOWN = 20
"""Operations up to which the shrunk history is printed."""
KINDS = {"thin-air": "a thin-air read", "own-future": "a read of its own thread's future", "final": "a final value",
         "cycle": "a cycle", "store-order": "a cycle with the trace's own store order",
         "real-time": "a cycle in real time",
         "store-order+real-time": "a cycle with the trace's own store order and real time"}


@app.command(epilog="""Examples:

  gradual shrink trace.csv --model tso -o small.csv

  gradual shrink many.jsonl --history run-17 -o small.axe

  gradual shrink trace.log.gz --addresses 0x7f4c0:0x834c0      only shows what is left

Exit status: 0 after shrinking, 2 when nothing violates the model or after an error, 3 when that is unknown.""")
def shrink(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The trace; - is standard input.")],
    model: OneModel = DEFAULT_MODEL,
    output: Annotated[str | None, typer.Option("--output", "-o", metavar="OUT", help="Where the small history is "
                                               "written, with the lines it comes from; - is standard output.")] = None,
    history: Annotated[str | None, typer.Option("--history", metavar="NAME", help="Which history of the file. "
                                                "[default: the first that violates the model]")] = None,
    format: Format = None,
    to: Annotated[str | None, typer.Option("--to", metavar="F", autocompletion=format_names,
                                           help="The format of OUT; by its ending when not "
                                           "given, csv on standard output.")] = None,
    addresses: Ranges = None,
    initial: Initial = None,
    initial_from: InitialFrom = None,
    real_time: RealTime = False,
    hex: Hex = False,
    join: Join = False,
    timeout: Annotated[float | None, typer.Option("--timeout", metavar="S", callback=seconds, help="Seconds for "
                                                  "all; then the smallest history so far is the result.")] = None,
) -> None:
    """Shrink a violating history to the few operations that cannot be spared."""
    from gradual.deadline import Deadline
    from gradual.progress import Progress

    _refuse(output, to, file)
    chosen = one_model(model)
    started, deadline = time.perf_counter(), Deadline(timeout)
    with Progress() as progress:
        progress.start("reading")
        options = trace_options(addresses, initial, initial_from, real_time=real_time, hex=hex, timeout=timeout)
        items = read_all([file], format, options, join=join)
        candidates = _wanted(items, history, file)
        found = _first_violation(candidates, chosen, deadline, progress)
    if output is not None:
        write_all([found.history], output, to or ("csv" if output == "-" else None), lines=True)
    typer.echo(_report(found, time.perf_counter() - started), err=output == "-")


def _refuse(output: str | None, to: str | None, file: str) -> None:
    """What cannot be written is said before the work is done."""
    from gradual import adapters

    try:
        if to is not None:
            adapters.writer(to)
        if output in (None, "-"):
            return
        if os.path.realpath(output or "") == os.path.realpath(file):
            raise usage_error(f"--output {output} would overwrite the trace")
        name = to or adapters.by_extension(output or "")
        if name is None:
            raise usage_error(f"{output}: its name says no format; choose one with --to")
        adapters.writer(name)
    except ValueError as error:
        raise usage_error(str(error)) from None


def _wanted(items: Iterator[Any], name: str | None, file: str) -> Iterator[Any]:
    """The history of that name, or all; bad ones are reported."""
    from gradual.history import InputError, NotInTime

    names = []
    for item in items:
        called = item.history if isinstance(item, InputError) else item.name
        names.append(called)
        if name is not None and called != name:
            continue
        if isinstance(item, NotInTime):
            typer.echo(f"gradual: {item}", err=True)
            raise typer.Exit(LATE)
        if isinstance(item, InputError):
            typer.echo(f"gradual: {item}", err=True)
        else:
            yield item
        if name is not None:
            return
    if name is not None:
        there = ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
        raise usage_error(f"there is no history {name!r} in {file}; there are {there}")


def _first_violation(candidates: Iterator[Any], model: Model, deadline: Deadline, progress: Any) -> Any:
    """The shrunk form of the first history that violates the model."""
    from gradual.deciding.shrinking import NotViolated, Shrinking

    def shrunk(item: Any) -> Any:
        try:
            return Shrinking(item, model, timeout=deadline.seconds_left, progress=progress)
        except NotViolated as error:
            others.append((item.name, error))
            return None

    others: list[tuple[str, NotViolated]] = []
    for item in candidates:
        if (found := shrunk(item)) is not None:
            return found
    unknown = [(name, error) for name, error in others if error.verdict.verdict == "unknown"]
    if unknown:
        name, reason = unknown[0]
        typer.echo(f"gradual: {name}: {model} unknown: {reason}", err=True)
        raise typer.Exit(3)
    if not others:
        raise typer.Exit(2)  # the reasons have been told
    what = "it is" if len(others) == 1 else f"its {len(others)} histories are"
    raise usage_error(f"nothing to shrink: {what} {model} consistent")


def _report(found: Any, seconds: float) -> str:
    from gradual.evidence.verdict import Refutation
    from gradual.telling.words import counted

    whole, small = found.whole, found.history
    kind = "a cycle in every store order" if isinstance(found.verdict.evidence, Refutation) else KINDS[found.kind]
    left = ", ".join(counted(len(names), noun) for names, noun in
                     ((small.threads, "thread"), (small.locations, "location")))
    rest = "" if found.minimal else "; the time is over, so some of these may still be superfluous"
    title = (f"{whole.file}: {whole.name}: {found.model} violation, {kind}: from {counted(len(whole), 'operation')} "
             f"to {len(small)} ({left}, {seconds:.2f} s){rest}")
    if len(small) > SHOWN:
        return title
    return "\n".join([title, *(f"    {line}" for line in _lines(found))])


def _lines(found: Any) -> Iterator[str]:
    from gradual.history import value_text

    whole, small = found.whole, found.history
    for operation in found.operations:
        yield whole.describe(operation)
    for at, line in enumerate(small.final_line.tolist()):
        if line >= 0:
            where = f" (line {line})" if line else ""
            yield f"{small.locations[at]} is left with {value_text(int(small.final_value[at]))}{where}"
