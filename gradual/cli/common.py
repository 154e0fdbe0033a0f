"""What several commands ask for, and how they read it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gradual.cli.completions import format_names, model_names

if TYPE_CHECKING:
    from gradual.history import Oversights
    from gradual.models import Model, NoModel


class EngineChoice(str, Enum):
    auto = "auto"
    schedule = "schedule"
    datalog = "datalog"


class CompletionChoice(str, Enum):
    auto = "auto"
    enumerate = "enumerate"
    sat = "sat"
    direct = "direct"


Files = Annotated[list[str], typer.Argument(metavar="FILE...", help="Trace files; - is standard input.")]
Format = Annotated[str | None, typer.Option("--format", metavar="F", autocompletion=format_names,
                                            help="The format of the traces; recognised from their content when not "
                                                 "given (see `gradual formats`).")]
Ranges = Annotated[list[str] | None, typer.Option("--addresses", metavar="LO:HI", help="Keep only accesses with LO <= "
                                                  "address < HI, e.g. 0x7f4c0:0x834c0. Repeatable.")]
Initial = Annotated[list[str] | None, typer.Option("--initial", metavar="[ADDRESS=]VALUE|unknown", help="The value of "
                                                   "every location (or of ADDRESS) before any write; 0 when not given. "
                                                   "`unknown`: what is read and nobody wrote is what memory held, one "
                                                   "value for each location. Repeatable.")]


InitialFrom = Annotated[str | None, typer.Option("--initial-from", metavar="FILE", help="What memory held before any "
                                                 "write: an ELF program (its loaded segments), Verilog hex, or a CSV "
                                                 "table of address and value. The trace's own `init` rows and "
                                                 "--initial ADDRESS=VALUE come before it, --initial VALUE after it.")]
RealTime = Annotated[bool, typer.Option("--real-time", help="The times `begin` and `end` are those of one clock: an "
                                        "access that ended before another began came first. A violation that "
                                        "needs this is told as one in real time.")]


def seconds(value: float | None) -> float | None:
    """The callback of every option that is a time limit."""
    from gradual.deadline import seconds_of

    try:
        return None if value is None else seconds_of(value)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


Timeout = Annotated[float | None, typer.Option("--timeout", metavar="S", callback=seconds, help="Seconds for each "
                                               "history and model, reading included; then the verdict is unknown.")]
Memory = Annotated[str | None, typer.Option("--memory", metavar="SIZE", help="What a history may take, e.g. 500M or "
                                            "2G; then its verdict is unknown (of a batch: error).")]
Hex = Annotated[bool, typer.Option("--hex", help="Addresses and values of CSV and JSON are hex, with or without 0x.")]
AllowEmpty = Annotated[bool, typer.Option("--allow-empty", help="A history without operations is consistent, not an "
                                          "error.")]
Join = Annotated[bool, typer.Option("--join", help="The files are one run, as of a log per core: one history of all "
                                    "of them. A folder is a run of its own; a pattern in quotes stands for the files "
                                    "that match.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON object per line instead of text.")]


LEAST_MEMORY = 1 << 20
"""Bytes beside what is loaded at the start; some libraries are loaded when they are needed."""


def size_of(text: str | None) -> int | None:
    """What --memory says, in bytes."""
    if text is None:
        return None
    unit = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}.get(text[-1:].upper(), 1)
    try:
        size = int(float(text.rstrip("KMGTkmgt")) * unit)
    except (ValueError, OverflowError):
        size = 0
    if size <= 0:
        raise usage_error(f"--memory {text!r}: write a size such as 500M or 2G")
    if size < LEAST_MEMORY:
        raise usage_error(f"--memory {text}: less than 1M does not even hold the libraries; write a size such as "
                          "500M or 2G")
    return size


def usage_error(message: str) -> typer.Exit:
    typer.echo(f"gradual: {message}", err=True)
    return typer.Exit(2)


def refused(what: str, error: OSError) -> typer.Exit:
    """The usage error for what the system does not let us read or write."""
    from gradual.history import reason

    return usage_error(f"{what}: {reason(error)}")


def known_format(format: str | None) -> None:
    from gradual import adapters

    if format is not None and format not in adapters.names():
        raise usage_error(f"no format called {format!r}; there are {', '.join(adapters.names())}")


def known_machine(machine: str | None) -> None:
    """`help` lists them, and that is all that is done then."""
    from gradual.machines import MACHINES

    rows = "\n".join(f"  {name:<18} {text}" for name, text in MACHINES.items())
    if machine == "help":
        typer.echo(rows)
        raise typer.Exit
    if machine is not None and machine not in MACHINES:
        raise usage_error(f"no machine called {machine!r}; there are\n{rows}")


def trace_options(addresses: list[str] | None, initial: list[str] | None, initial_from: str | None = None, *,
                  real_time: bool = False, hex: bool = False, allow_empty: bool = False,
                  timeout: float | None = None) -> Any:
    from gradual.history import Addresses, InputError, Options, location_key, parse_number, read_image, word

    everywhere, unknown = 0, False
    at: dict[int | str, int] = {}
    for text in initial or ():
        address, equals, value = text.rpartition("=")
        if text.strip().lower() == "unknown":
            unknown = True
            continue
        try:
            number = word(parse_number(value))
        except ValueError as error:
            raise usage_error(f"--initial {text!r}: {error}; write VALUE, ADDRESS=VALUE or unknown") from None
        if not equals:
            everywhere = number
        elif not address.strip() or "=" in address or at.setdefault(location_key(address), number) != number:
            raise usage_error(f"--initial {text!r}: an address is needed, and one value for it")
    if unknown and any("=" not in text and text.strip().lower() != "unknown" for text in initial or ()):
        raise usage_error("--initial unknown: all other locations cannot have a value, too")
    try:
        image = read_image(initial_from) if initial_from is not None else None
        return Options(Addresses.parse(addresses or ()), everywhere, at, image, real_time, hex, allow_empty, timeout,
                       unknown)
    except InputError as error:
        raise usage_error(f"--initial-from {error}") from None
    except ValueError as error:
        raise usage_error(f"--addresses: {error}") from None


def read_all(files: list[str], format: str | None, options: Any, oversights: Oversights | None = None, *,
             join: bool = False, in_pieces: bool = False) -> Iterator[Any]:
    """Every history of every file, errors in their place; with `join`, one of all files, and one of each folder; or all
    of them in pieces, as they come.

    An --initial that none of them needs is an error after the last, unless the caller has its own way of saying so.
    """
    from gradual import files as trace_files
    from gradual.history import History, Oversights, told_hex, told_unused

    if files.count("-") > 1:
        raise usage_error("standard input can be read only once")
    known_format(format)
    found = oversights or Oversights(options)
    for file in [*_joined(files)] if join else files:
        warned = False
        for item in (trace_files.read_joined(file, format, options) if not isinstance(file, str) else
                     (trace_files.pieces if in_pieces else trace_files.read)(file, format, options)):
            if isinstance(item, History) and (names := found.hex_in(item)) and not warned:
                typer.echo(f"gradual: {told_hex(item.file, names)}", err=True)
                warned = True
            if not isinstance(item, History):
                found.unused.clear()  # what was not read may have them
            yield item
    if oversights is None and found.unused:
        raise usage_error(told_unused(found.unused))


def _joined(paths: Iterable[str]) -> Iterator[list[str]]:
    """What is one history each: the files together, also those that match patterns, and every folder by itself."""
    import glob
    import os

    files = []
    for path in paths:
        if os.path.isdir(path):
            yield [path]
        else:
            matches = [] if os.path.lexists(path) else sorted(glob.glob(path, recursive=True))
            files += matches or [path]
    if files:
        yield files


def write_all(histories: Iterable[Any], target: str, format: str | None, *, lines: bool = False) -> None:
    """As `files.write` does, its failures as usage errors."""
    from gradual import files as trace_files
    from gradual.history import InputError

    try:
        lost = trace_files.write(histories, target, format, lines=lines)
    except (ValueError, InputError) as error:
        raise usage_error(str(error)) from None
    except OSError as error:
        if target == "-":
            raise  # `main` says it, once for all output
        raise refused(target, error) from None
    if lost:
        typer.echo(f"gradual: {target}: {' and '.join(lost)} are left out: this format has none, so weak models "
                   "may judge it differently; CSV, JSON and Parquet have them", err=True)


def one_model(chosen: str, of_programs: bool = False) -> Model:
    """The model of that name or file; what is wrong with it is a usage error, as is one of programs for traces."""
    from gradual.models import ModelError, NoModel, load, of_traces

    try:
        return load(chosen) if of_programs else of_traces(load(chosen))
    except NoModel as error:
        raise no_model(error) from None
    except ModelError as error:
        raise usage_error(f"--model {error}") from None


def no_model(error: NoModel) -> typer.Exit:
    """The usage error for a name that no text has: there are models besides texts."""
    from gradual.cli.structures import NAMES

    if error.name.lower() in NAMES:
        return usage_error(f"{error.name} is a model of programs, whose executions it judges together: `gradual run "
                           f"--model {error.name}` takes it, and --compare")
    return usage_error(f"{error}; `gradual run` also takes {', '.join(NAMES)}")


def models_of(chosen: list[str] | None, every: Iterable[Model] = (), of_programs: bool = False) -> list[Model]:
    """The models asked for, each once: those that ship in the order of strength, then files as they were given.

    `every` is what `all` means, where it is not the usual models.
    """
    from gradual.models import shipped, told_apart, usual

    asked = [name for name in chosen or [DEFAULT_MODEL] if name.lower() != ALL]
    models = [one_model(name, of_programs) for name in asked]
    if len(asked) < len(chosen or [DEFAULT_MODEL]):
        models += every or usual()
    if len(models) == 1:
        return models
    strength = [model for model in shipped() if model in models]
    return told_apart([*strength, *(model for model in models if model not in strength)])


ALL = "all"
DEFAULT_MODEL = "sc"
MODEL_HELP = "The memory model: a name (`gradual models` lists them) or a .cat file"
OneModel = Annotated[str, typer.Option("--model", metavar="MODEL", autocompletion=model_names, help=f"{MODEL_HELP}.")]
Models = Annotated[list[str] | None, typer.Option("--model", metavar="MODEL", autocompletion=model_names,
                                                  help=f"{MODEL_HELP}; `all` for the usual ones; repeatable. "
                                                       f"[default: {DEFAULT_MODEL}]")]
Engine = Annotated[EngineChoice, typer.Option(help="schedule is near-linear; datalog climbs the ladder of "
                                              "criteria first; auto after small violations, to name it.")]
Completion = Annotated[CompletionChoice, typer.Option(help="auto: the engine; enumerate, sat: what the ladder leaves "
                                                      "open; direct: the plain SAT encoding.")]
FailFast = Annotated[bool, typer.Option("--fail-fast", help="Stop at the first violation.")]
