"""The command line. Holds no algorithm: reads, calls, prints, and chooses the exit status."""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Annotated, Any

import typer

app = typer.Typer(
    add_completion=False, no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False,
    help="Does a trace of loads and stores behave as SC, TSO or PSO promise? Every verdict is proved.",
    epilog="Start with:  gradual check trace.csv    gradual formats    gradual check --help")


class ModelChoice(str, Enum):
    sc = "sc"
    tso = "tso"
    pso = "pso"
    all = "all"


class EngineChoice(str, Enum):
    auto = "auto"
    saturation = "saturation"
    datalog = "datalog"


class CompletionChoice(str, Enum):
    auto = "auto"
    enumerate = "enumerate"
    sat = "sat"
    direct = "direct"


Files = Annotated[list[str], typer.Argument(metavar="FILE...", help="Trace files; - is standard input.")]
Format = Annotated[str | None, typer.Option("--format", metavar="F", help="The format of the traces; recognised "
                                            "from their content when not given (see `gradual formats`).")]
Ranges = Annotated[list[str] | None, typer.Option("--addresses", metavar="LO:HI", help="Keep only accesses with LO <= "
                                                  "address < HI, e.g. 0x7f4c0:0x834c0. Repeatable.")]
Initial = Annotated[list[str] | None, typer.Option("--initial", metavar="[ADDRESS=]VALUE", help="The value of every "
                                                   "location (or of ADDRESS) before any write; 0 when not given. "
                                                   "Repeatable.")]
Timeout = Annotated[float | None, typer.Option("--timeout", metavar="S", min=0.0, help="Seconds for each history and "
                                               "model; then the verdict is unknown.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON object per line instead of text.")]


def usage_error(message: str) -> typer.Exit:
    typer.echo(f"gradual: {message}", err=True)
    return typer.Exit(2)


def _options(addresses: list[str] | None, initial: list[str] | None) -> Any:
    from gradual.history import Addresses, Options, location_key, parse_number, word

    everywhere = 0
    at: dict[int | str, int] = {}
    for text in initial or ():
        address, equals, value = text.rpartition("=")
        try:
            number = word(parse_number(value))
        except ValueError as error:
            raise usage_error(f"--initial {text!r}: {error}; write VALUE or ADDRESS=VALUE") from None
        if not equals:
            everywhere = number
        elif not address.strip() or at.setdefault(location_key(address), number) != number:
            raise usage_error(f"--initial {text!r}: an address is needed, and one value for it")
    try:
        return Options(Addresses.parse(addresses or ()), everywhere, at)
    except ValueError as error:
        raise usage_error(f"--addresses: {error}") from None


def _read(files: list[str], format: str | None, options: Any) -> Iterator[Any]:
    """Every history of every file, errors in their place."""
    from gradual import adapters
    from gradual import files as trace_files

    if files.count("-") > 1:
        raise usage_error("standard input can be read only once")
    if format is not None and format not in adapters.names():
        raise usage_error(f"no format called {format!r}; there are {', '.join(adapters.names())}")
    for file in files:
        yield from trace_files.read(file, format, options)


EXAMPLES_CHECK = """Examples:

  gradual check trace.csv                          is it SC?

  gradual check trace.out.gz --addresses 0x7f4c0:0x834c0 --model all

  simulator | gradual check - --model tso --json

Exit status: 0 all consistent, 1 some violation, 2 usage or input error, 3 unknown and nothing worse."""


@app.command(epilog=EXAMPLES_CHECK)
def check(
    files: Files,
    model: Annotated[list[ModelChoice] | None, typer.Option("--model", case_sensitive=False, help="The memory "
                                                            "model; repeatable. [default: sc]")] = None,
    format: Format = None,
    addresses: Ranges = None,
    initial: Initial = None,
    engine: Annotated[EngineChoice, typer.Option(help="saturation is near-linear; datalog climbs the ladder of "
                                                 "criteria first; auto for small violations.")] = EngineChoice.auto,
    completion: Annotated[CompletionChoice, typer.Option(help="How to order the writes that are left open; direct is "
                                                         "the plain SAT encoding.")] = CompletionChoice.auto,
    timeout: Timeout = None,
    compare_orders: Annotated[bool, typer.Option("--compare-orders", help="Also tell how many write pairs CCv, CCM or "
                                                 "wCCM, and saturation leave unordered, side by side.")] = False,
    as_json: Json = False,
    witness: Annotated[str | None, typer.Option("--witness", metavar="OUT", help="Write the run that explains each "
                                                "consistent history to OUT, a JSON object per line.")] = None,
) -> None:
    """Check traces against memory models, with evidence."""
    from gradual.judge import Judge
    from gradual.progress import Progress

    gc.set_threshold(200_000, 20, 100)  # verdicts hold no cycles: looking for them costs more than it frees
    judge = Judge(_models(model), engine.value, completion.value, timeout, compare_orders)
    options = _options(addresses, initial)
    with _witnesses(witness, files) as keep, Progress() as progress:
        progress.start("reading")
        for found in judge.judgements(_read(files, format, options), progress, live="-" in files):
            if witness is not None and (run := found.witness) is not None:
                keep(run)
            progress.clear()
            print(json.dumps(found.json) if as_json else found.text, flush="-" in files)
    if not as_json and progress.done > 1:
        typer.echo(judge.summary(), err=True)
    raise typer.Exit(judge.status)


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
        raise usage_error(f"--witness {out}: {(error.strerror or str(error)).lower()}") from None


def _models(chosen: list[ModelChoice] | None) -> list[str]:
    """The names of the models asked for, each once, in the order of strength."""
    from gradual.models import MODELS

    wanted = {choice.value.upper() for choice in chosen or [ModelChoice.sc]}
    return [name for name in MODELS if name in wanted or "ALL" in wanted]


@app.command(epilog="""Example:

  gradual classify traces/figures.csv

Exit status: 0 when everything could be read, whatever holds; 2 otherwise.""")
def classify(files: Files, format: Format = None, addresses: Ranges = None, initial: Initial = None,
             timeout: Timeout = None, as_json: Json = False) -> None:
    """Tell every criterion of each history: CC CCv CM CCM SC wCCM TSO PSO."""
    from gradual.classification import CRITERIA
    from gradual.classification import classify as classify_history
    from gradual.history import InputError
    from gradual.progress import Progress

    failed = False
    if not as_json:
        typer.echo(f"{'history':<24}" + "".join(f"{name:>6}" for name in CRITERIA))
    with Progress() as progress:
        for item in _read(files, format, _options(addresses, initial)):
            progress.start(getattr(item, "name", ""))
            if isinstance(item, InputError):
                failed = True
                criteria: dict[str, bool | None] = dict.fromkeys(CRITERIA)
                name = item.history or _stem(item.file)
                typer.echo(f"gradual: {item}", err=True)
            else:
                criteria = classify_history(item, timeout=timeout)
                name = item.name
            progress.clear()
            if as_json:
                typer.echo(json.dumps({"history": name, "source": item.file, "criteria": criteria}))
            else:
                typer.echo(f"{name:<24}" + "".join(f"{_mark(criteria[c]):>6}" for c in CRITERIA))
    raise typer.Exit(2 if failed else 0)


def _mark(truth: bool | None) -> str:
    plain = "utf" not in (sys.stdout.encoding or "").lower()
    return "?" if truth is None else ("yes" if truth else "no") if plain else ("✓" if truth else "✗")


def _stem(file: str) -> str:
    from gradual.adapters import stem

    return stem(file)


@app.command(epilog="""Examples:

  gradual generate --machine tso --operations 200 --seed 7 > trace.csv

  gradual generate --machine broken --histories 100 --format jsonl | gradual check -

Broken machines fail now and then: with few operations, or many locations, most histories are still consistent.""")
def generate(
    threads: Annotated[int, typer.Option(min=1, help="Threads of the client.")] = 4,
    operations: Annotated[int, typer.Option(min=0, help="Operations of all threads together.")] = 200,
    locations: Annotated[int, typer.Option(min=1, help="Locations they share.")] = 8,
    seed: Annotated[int, typer.Option(help="Equal seeds give equal histories.")] = 0,
    machine: Annotated[str, typer.Option(help="sc, tso, pso, broken, or one way of being broken: "
                                         "--machine help lists them.")] = "sc",
    histories: Annotated[int, typer.Option(min=0, metavar="N", help="How many histories.")] = 1,
    format: Annotated[str | None, typer.Option("--format", metavar="F", help="The format to write. [default: csv, or "
                                               "by the ending of --output]")] = None,
    output: Annotated[str, typer.Option("--output", "-o", metavar="OUT", help="Where to; - is standard "
                                        "output.")] = "-",
) -> None:
    """Make random histories with unique values on small machines, sound or broken."""
    from gradual.machines import MACHINES
    from gradual.machines import generate as run

    if machine not in MACHINES:
        rows = "\n".join(f"  {name:<18} {text}" for name, text in MACHINES.items())
        if machine == "help":
            typer.echo(rows)
            return
        raise usage_error(f"no machine called {machine!r}; there are\n{rows}")
    made = (run(machine, threads, operations, locations, seed + number, name=f"{machine}-{seed + number}")
            for number in range(histories))
    _write(made, output, format or ("csv" if output == "-" else None))


@app.command(epilog="""Examples:

  gradual convert trace.out.gz trace.csv --addresses 0x7f4c0:0x834c0

  gradual convert trace.axe - --to jsonl""")
def convert(
    source: Annotated[str, typer.Argument(metavar="A", help="The trace to read; - is standard input.")],
    target: Annotated[str, typer.Argument(metavar="B", help="The trace to write; - is standard output.")],
    format: Annotated[str | None, typer.Option("--format", "--from", metavar="F", help="The format of A; recognised "
                                               "from its content when not given.")] = None,
    to: Annotated[str | None, typer.Option("--to", metavar="F", help="The format of B; by its ending when not "
                                           "given.")] = None,
    addresses: Ranges = None,
    initial: Initial = None,
) -> None:
    """Rewrite a trace in another format. Histories that cannot be read are reported and left out."""
    from itertools import chain

    from gradual.history import InputError

    failed = []

    def good() -> Iterator[Any]:
        for item in _read([source], format, _options(addresses, initial)):
            if isinstance(item, InputError):
                failed.append(item)
                typer.echo(f"gradual: {item}", err=True)
            else:
                yield item

    histories = good()
    first = next(histories, None)
    if first is not None:  # a file for nothing would pass for an empty trace
        _write(chain([first], histories), target, to)
    raise typer.Exit(2 if failed else 0)


def _write(histories: Iterator[Any], target: str, format: str | None) -> None:
    from gradual import files as trace_files
    from gradual.history import InputError

    try:
        trace_files.write(histories, target, format)
    except (ValueError, InputError) as error:
        raise usage_error(str(error)) from None
    except OSError as error:
        if target == "-":
            raise  # `main` says it, once for all output
        raise usage_error(f"{target}: {(error.strerror or str(error)).lower()}") from None


@app.command()
def formats() -> None:
    """List the trace formats, with an example each."""
    from gradual import adapters

    for name in adapters.names():
        adapter = adapters.adapter(name)
        writes = "read and written" if hasattr(adapter, "write") else "read"
        typer.echo(f"{name}: {adapter.SUMMARY} ({writes}; {', '.join('.' + e for e in adapter.EXTENSIONS)})")
        typer.echo("\n".join(f"    {line}" for line in adapter.EXAMPLE.strip("\n").splitlines()) + "\n")


def _version(wanted: bool) -> None:
    if wanted:
        from gradual import __version__

        typer.echo(f"gradual {__version__}")
        raise typer.Exit


@app.callback()
def _common(version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True,
                                                  help="Print the version.")] = False) -> None:
    pass


def main() -> None:
    """The console script: quiet when the reader of a pipe goes away or the user interrupts."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        _silence()
        sys.exit(1)
    except OSError as error:  # the output, as all input is read under guard: a full disk, a closed terminal
        _silence()
        sys.stderr.write(f"gradual: {(error.strerror or str(error)).lower()}\n")
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)


def _silence() -> None:
    """Nobody takes the output any more: let the interpreter flush it into nothing."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
