"""`gradual explain`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gradual.cli.app import app
from gradual.cli.common import (
    Format,
    Hex,
    Initial,
    InitialFrom,
    Join,
    Models,
    Ranges,
    RealTime,
    Timeout,
    models_of,
    read_all,
    trace_options,
    usage_error,
)
from gradual.cli.outputs import Outputs
from gradual.cli.streams import tell

if TYPE_CHECKING:
    from gradual.judge import Judgement

EXAMPLES = """Examples:

  gradual explain trace.csv                          why is it not SC?

  gradual explain traces/figures.csv --history fig-1d --html why.html

  gradual explain trace.csv --model tso --witness    how can it be TSO?

Pictures and pages show one violation: of several, the first has the name OUT, and each further one its history and
model in front of the ending (why.html, why-fig-1c-SC.html).

Exit status: 0 all consistent, 1 some violation, 2 usage or input error, 3 unknown and nothing worse, 70 a fault
in gradual."""


@app.command(epilog=EXAMPLES)
def explain(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The trace file; - is standard input.")],
    model: Models = None,
    history: Annotated[str | None, typer.Option("--history", metavar="NAME", help="Only the history of this "
                                                "name.")] = None,
    format: Format = None,
    addresses: Ranges = None,
    initial: Initial = None,
    initial_from: InitialFrom = None,
    real_time: RealTime = False,
    hex: Hex = False,
    join: Join = False,
    timeout: Timeout = None,
    witness: Annotated[bool, typer.Option("--witness", help="Of a consistent history, print the run that explains it, "
                                          "a line per step.")] = False,
    svg: Annotated[str | None, typer.Option("--svg", metavar="OUT", help="Also draw the violation.")] = None,
    html: Annotated[str | None, typer.Option("--html", metavar="OUT", help="Also write a page with text, picture and "
                                             "the lines of the trace.")] = None,
    dot: Annotated[str | None, typer.Option("--dot", metavar="OUT", help="Also write the picture for "
                                            "Graphviz.")] = None,
) -> None:
    """Tell why a trace violates a model, step by step, in words and as a picture."""
    from gradual.judge import Judge
    from gradual.progress import Progress

    outputs = Outputs({"svg": svg, "page": html, "dot": dot}, [file])
    judge = Judge(models_of(model), timeout=timeout, errors_once=True)
    found = False
    with Progress() as progress:
        progress.start("reading")
        options = trace_options(addresses, initial, initial_from, real_time=real_time, hex=hex, timeout=timeout)
        items = _chosen(read_all([file], format, options, join=join), history)
        for judgement in judge.judgements(items, progress, patience=0):
            progress.start("explaining")
            text = _text(judgement, witness, outputs, timeout)
            progress.clear()
            if found:
                typer.echo()
            tell(text, judgement.verdict.model, judgement.verdict.verdict)
            found = True
    if history is not None and not found:
        raise usage_error(f"there is no history called {history!r} in {file}")
    outputs.complain("no violation")
    raise typer.Exit(judge.status)


def _chosen(items: Iterator[Any], name: str | None) -> Iterator[Any]:
    """All, or those of a name; what cannot be read has no name to go by, and is told in any case."""
    from gradual.history import InputError

    for item in items:
        own = item.history if isinstance(item, InputError) else item.name
        if name is None or own == name or (isinstance(item, InputError) and not own):
            yield item


def _text(judgement: Judgement, witness: bool, outputs: Outputs, timeout: float | None) -> str:
    from gradual.deadline import Deadline, OutOfTime, alarm
    from gradual.history import History
    from gradual.telling import prose, words
    from gradual.telling import witness as run

    item, verdict, model = judgement.item, judgement.verdict, judgement.model
    if not isinstance(item, History) or verdict.verdict == "error":
        return judgement.text
    title = f"{judgement.title}: {words.summary(verdict, item)}"
    if verdict.verdict == "violation":
        left = Deadline(timeout, item.reading + verdict.seconds).seconds_left
        with suppress(OutOfTime), alarm(left):  # the evidence as it is tells as much, at greater length
            verdict = judgement.shortened().verdict
        outputs.write(verdict, item, model)
        return f"{title}\n\n{prose(verdict, item, model)}"
    return f"{title}\n\n{run(verdict, item, model)}" if witness and verdict.verdict == "consistent" else title
