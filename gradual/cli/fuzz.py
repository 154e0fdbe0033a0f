"""`gradual fuzz`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gradual.cli.app import app
from gradual.cli.common import (
    Format,
    Hex,
    Initial,
    InitialFrom,
    Models,
    Ranges,
    Timeout,
    known_machine,
    models_of,
    refused,
    trace_options,
    usage_error,
)
from gradual.cli.common import seconds as limit
from gradual.cli.completions import machine_names

if TYPE_CHECKING:
    from gradual.fuzz.loop import Tally
    from gradual.judge import Judgement

EXAMPLES = """Examples:

  gradual fuzz --machine broken-drop                        until the first violation

  gradual fuzz --machine tso --model tso --runs 1000 --pattern hot

  gradual fuzz --command './run.sh {program} {trace}' --model tso --time 3600 --keep-going --save violations/

  gradual fuzz --command 'gcc -O1 -pthread {c} -o {c}.out && {c}.out' --model tso --runs 100

A command gets the client as JSON in {program} and as C in {c}, and leaves the trace in {trace} (or prints it, where the
command does not mention {trace}); {seed} is the seed. Other braces, as in awk '{print}' and ${HOME}, stay as they
are, and {{seed}} is {seed} itself. Patterns: uniform, hot, false-sharing, producer-consumer,
eviction, or mixed (each in turn).

Exit status: 0 no violation, 1 some violation, 2 usage error or a run that failed, 3 unknown and nothing worse,
70 a fault in gradual, 130 after Ctrl-C."""


@app.command(epilog=EXAMPLES)
def fuzz(
    machine: Annotated[str | None, typer.Option("--machine", metavar="M", autocompletion=machine_names,
                                                help="One of the machines of `gradual "
                                                "generate`; --machine help lists them.")] = None,
    command: Annotated[str | None, typer.Option("--command", metavar="TEMPLATE", help="A simulator to run instead, as "
                                                "a shell command; see below.")] = None,
    model: Models = None,
    threads: Annotated[int, typer.Option(min=1, help="Threads of a client.")] = 4,
    operations: Annotated[int, typer.Option(min=1, help="Operations of all its threads together.")] = 100,
    locations: Annotated[int, typer.Option(min=1, help="Locations they share.")] = 8,
    pattern: Annotated[str, typer.Option(help="How the clients use memory.")] = "mixed",
    seed: Annotated[int, typer.Option(help="Of the first client; the next ones count up.")] = 0,
    runs: Annotated[int | None, typer.Option(min=1, metavar="N", help="Stop after N runs. [default: 1000, unless "
                                             "--time is given]")] = None,
    seconds: Annotated[float | None, typer.Option("--time", callback=limit, metavar="S", help="Stop after S "
                                                  "seconds.")] = None,
    keep_going: Annotated[bool, typer.Option("--keep-going", help="Do not stop at the first violation.")] = False,
    save: Annotated[Path | None, typer.Option("--save", metavar="DIR", help="Keep violating histories there, whole and "
                                              "shrunk, with client (JSON, C), command and seed.")] = None,
    run_timeout: Annotated[float, typer.Option("--run-timeout", min=0.1, metavar="S", help="Seconds for one run of the "
                                               "command; then it is stopped, and the loop goes on.")] = 60.0,
    timeout: Timeout = None,
    format: Format = None,
    addresses: Ranges = None,
    initial: Initial = None,
    initial_from: InitialFrom = None,
    hex: Hex = False,
) -> None:
    """Test a machine with random clients: run, check, shrink what violates, and report."""
    from gradual.fuzz.client import MIXED, PATTERNS, random_client
    from gradual.fuzz.loop import Loop
    from gradual.fuzz.machine import Command, Small
    from gradual.progress import Progress

    if (machine is None) == (command is None):
        raise usage_error("choose one: --machine M, or --command TEMPLATE")
    if pattern != MIXED and pattern not in PATTERNS:
        raise usage_error(f"no pattern called {pattern!r}; there are {', '.join([*PATTERNS, MIXED])}")
    known_machine(machine)
    _usable(save)
    tested = (Small(machine) if machine is not None
              else Command(command or "", format, trace_options(addresses, initial, initial_from, hex=hex),
                           run_timeout))
    clients = (random_client(threads, operations, locations, number, pattern) for number in count(seed))
    loop = Loop(clients, tested, models_of(model), runs=runs or (1000 if seconds is None else None), seconds=seconds,
                keep_going=keep_going, save=save, timeout=timeout,
                again=_again(machine, command, threads, operations, locations, pattern))
    with Progress() as progress:
        def tell(found: Judgement) -> None:
            progress.clear()
            typer.echo(found.text)

        progress.start("running clients")
        try:
            loop.run(progress, tell)
            interrupted = False
        except KeyboardInterrupt:
            interrupted = True
    for line in _report(loop.tally):
        typer.echo(line)
    raise typer.Exit(130 if interrupted else loop.status)


def _again(machine: str | None, command: str | None, threads: int, operations: int, locations: int,
           pattern: str) -> str:
    """This command, but for model, seed and runs."""
    from shlex import quote

    tested = f"--machine {machine}" if machine is not None else f"--command {quote(command or '')}"
    return (f"gradual fuzz {tested} --threads {threads} --operations {operations} --locations {locations} "
            f"--pattern {pattern}")


def _usable(save: Path | None) -> None:
    """What would go wrong after hours is said at once."""
    if save is not None:
        try:
            save.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise refused(f"--save {save}", error) from None


def _report(tally: Tally) -> Iterator[str]:
    from gradual.telling.words import counted, tallied

    seconds, histories = max(tally.seconds, 1e-9), max(tally.histories, 1)
    made = "1 history" if tally.histories == 1 else f"{tally.histories} histories"
    yield (f"{made}, {counted(tally.operations, 'operation')} in {seconds:.1f} s "
           f"({tally.histories / seconds:.0f} histories/s); running took {tally.simulating:.1f} s")
    yield "verdicts: " + (tallied(tally.verdicts) or "none")
    if tally.judged:
        yield (f"coverage: {tally.unordered_percent / tally.judged:.1f} % of write pairs left unordered, "
               f"{tally.communications / histories:.1f} reads per history from another thread")
    if tally.first_violation is not None:
        runs, operations, after = tally.first_violation
        yield f"first violation: history {runs}, after {counted(operations, 'operation')} and {after:.1f} s"
        yield "seen by: " + ", ".join(f"{name} {n}" for name, n in tally.deciders.most_common())
        smaller = [f"{before} to {counted(after, 'operation')}" for before, after in tally.shrunk[:5]]
        yield "shrunk: " + ", ".join(smaller) + (
            f", and {len(tally.shrunk) - 5} more" if len(tally.shrunk) > 5 else "")
    yield from tally.saved[:10]
    if len(tally.saved) > 10:
        yield f"and {counted(len(tally.saved) - 10, 'more file')}"
