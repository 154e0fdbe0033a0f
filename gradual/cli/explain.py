"""`gradual explain`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gradual.cli.app import app
from gradual.cli.common import (
    Format,
    Initial,
    Models,
    Ranges,
    Timeout,
    model_names,
    read_all,
    trace_options,
    usage_error,
)

if TYPE_CHECKING:
    from gradual.history import History
    from gradual.judge import Judgement
    from gradual.verdict import Verdict

EXAMPLES = """Examples:

  gradual explain trace.csv                          why is it not SC?

  gradual explain traces/figures.csv --history fig-1d --html why.html

  gradual explain trace.csv --model tso --witness    how can it be TSO?

Pictures and pages show one violation: of several, the first has the name OUT, and each further one its history and
model in front of the ending (why.html, why-fig-1c-SC.html).

Exit status: 0 all consistent, 1 some violation, 2 usage or input error, 3 unknown and nothing worse."""


@app.command(epilog=EXAMPLES)
def explain(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The trace file; - is standard input.")],
    model: Models = None,
    history: Annotated[str | None, typer.Option("--history", metavar="NAME", help="Only the history of this "
                                                "name.")] = None,
    format: Format = None,
    addresses: Ranges = None,
    initial: Initial = None,
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

    outputs = _Outputs({"svg": svg, "page": html, "dot": dot}, file)
    judge = Judge(model_names(model), timeout=timeout)
    found = False
    with Progress() as progress:
        progress.start("reading")
        items = _chosen(read_all([file], format, trace_options(addresses, initial)), history)
        for judgement in judge.judgements(items, progress, patience=0):
            progress.start("explaining")
            text = _text(judgement, witness, outputs)
            progress.clear()
            if found:
                typer.echo()
            typer.echo(text)
            found = True
    if history is not None and not found:
        raise usage_error(f"there is no history called {history!r} in {file}")
    outputs.complain()
    raise typer.Exit(judge.status)


def _chosen(items: Iterator[Any], name: str | None) -> Iterator[Any]:
    """All, or those of a name; what cannot be read has no name to go by, and is told in any case."""
    from gradual.history import InputError

    for item in items:
        own = item.history if isinstance(item, InputError) else item.name
        if name is None or own == name or (isinstance(item, InputError) and not own):
            yield item


def _text(judgement: Judgement, witness: bool, outputs: _Outputs) -> str:
    from gradual import words
    from gradual.explanation import prose, shortened
    from gradual.explanation import witness as run
    from gradual.history import History

    item, verdict = judgement.item, judgement.verdict
    if not isinstance(item, History) or verdict.verdict == "error":
        return judgement.text
    title = f"{judgement.title}: {words.summary(verdict, item)}"
    if verdict.verdict == "violation":
        verdict = shortened(verdict, item)
        outputs.write(verdict, item)
        return f"{title}\n\n{prose(verdict, item)}"
    return f"{title}\n\n{run(verdict, item)}" if witness and verdict else title


class _Outputs:
    """Where pictures and pages go to: never in the place of the trace, and each to a place of its own."""

    def __init__(self, targets: dict[str, str | None], trace: str) -> None:
        self._targets = {kind: target for kind, target in targets.items() if target is not None}
        self._taken: set[str] = set()
        for target in self._targets.values():
            if target == "-":
                raise usage_error("pictures and pages need a file; standard output is for the text")
            if os.path.realpath(target) in {os.path.realpath(trace), *self._taken}:
                raise usage_error(f"{target} is the trace, or named twice")
            self._taken.add(os.path.realpath(target))
        self._written = 0

    def write(self, verdict: Verdict, history: History) -> None:
        from gradual import explanation
        from gradual.files import appearing

        makers: dict[str, Callable[[Verdict, History], str]] = {
            "svg": explanation.svg, "page": explanation.page, "dot": explanation.dot}
        for kind, target in self._targets.items():
            path = self._further(target, history.name, verdict.model) if self._written else target
            try:
                with appearing(path) as stream:
                    stream.write(makers[kind](verdict, history).encode())
            except OSError as error:
                raise usage_error(f"{path}: {(error.strerror or str(error)).lower()}") from None
        self._written += 1

    def _further(self, target: str, name: str, model: str) -> str:
        """The name for a violation after the first; numbered where that name is taken."""
        stem, ending = os.path.splitext(target)
        safe = "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in name)[:100]
        path, number = f"{stem}-{safe}-{model}{ending}", 1
        while os.path.realpath(path) in self._taken:
            number += 1
            path = f"{stem}-{safe}-{model}-{number}{ending}"
        self._taken.add(os.path.realpath(path))
        return path

    def complain(self) -> None:
        if self._targets and not self._written:
            typer.echo("gradual: no violation, so there is nothing to draw; nothing was written", err=True)
