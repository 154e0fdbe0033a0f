"""`gradual batch` and `gradual report`."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gradual.cli.app import app
from gradual.cli.common import (
    AllowEmpty,
    Completion,
    CompletionChoice,
    Engine,
    EngineChoice,
    FailFast,
    Format,
    Hex,
    Initial,
    InitialFrom,
    Memory,
    Models,
    Ranges,
    RealTime,
    Timeout,
    known_format,
    models_of,
    refused,
    size_of,
    trace_options,
    usage_error,
)

if TYPE_CHECKING:
    from gradual.batch import Limits
    from gradual.batch.find import Trace
    from gradual.batch.results import Results
    from gradual.batch.run import Crew
    from gradual.batch.work import Settings

EXAMPLES_BATCH = """Examples:

  gradual batch runs/ --model sc --model tso --out results.parquet

  gradual batch 'runs/*/trace.out.gz' --addresses 0x7f4c0:0x834c0 --out results.parquet --junit results.xml

  gradual batch runs/ --out results.parquet --dask tcp://scheduler:8786

The same command again goes on where it was, and does nothing when all is done. In Python:
pandas.read_parquet("results.parquet").

Exit status: 0 all consistent, 1 some violation, 2 usage or input error, 3 unknown and nothing worse, 70 a fault
in gradual, 130 after Ctrl-C."""


@app.command(epilog=EXAMPLES_BATCH)
def batch(
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="Trace files, folders (searched for traces) and "
                                               "patterns in quotes.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The Parquet dataset with a row per history and "
                                      "model; a folder.")],
    model: Models = None,
    format: Format = None,
    addresses: Ranges = None,
    initial: Initial = None,
    initial_from: InitialFrom = None,
    real_time: RealTime = False,
    hex: Hex = False,
    join: Annotated[bool, typer.Option("--join", help="The traces of each folder are one run, as of a log per core: "
                                       "one history.")] = False,
    allow_empty: AllowEmpty = False,
    engine: Engine = EngineChoice.auto,
    completion: Completion = CompletionChoice.auto,
    timeout: Timeout = None,
    memory: Memory = None,
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", min=1, metavar="N", help="Processes, at most one per "
                                             "core. [default: one per core]")] = None,
    fail_fast: FailFast = False,
    only_violations: Annotated[Path | None, typer.Option("--only-violations", metavar="DIR", help="Copy the traces "
                                                         "that violate a model to DIR.")] = None,
    junit: Annotated[str | None, typer.Option("--junit", metavar="OUT.xml", help="Also write the verdicts for a CI "
                                              "system.")] = None,
    pages: Annotated[bool, typer.Option(help="Write a page that explains each violation (the first thousand), for "
                                        "`gradual report` to link to.")] = True,
    dask: Annotated[str | None, typer.Option("--dask", metavar="ADDRESS", help="Have the workers of this Dask cluster "
                                             "do it; they need gradual, and the files under the same paths.")] = None,
) -> None:
    """Check thousands of traces on all cores; nothing is lost when it is interrupted."""
    from gradual import cores
    from gradual.batch import BatchError, Limits
    from gradual.batch.pages import FOLDER
    from gradual.batch.work import Settings

    known_format(format)
    _refuse(paths, junit, only_violations, dask, memory, jobs)
    chosen = models_of(model)
    settings = Settings(engine.value, completion.value, timeout, size_of(memory),
                        str(out.absolute() / FOLDER) if pages else None, format,
                        trace_options(addresses, initial, initial_from, real_time=real_time, hex=hex,
                                      allow_empty=allow_empty, timeout=timeout), tuple(chosen))
    made_with = {"engine": engine.value, "completion": completion.value, "format": format,
                 "addresses": addresses or [], "initial": initial or [],
                 **({"initial_from": _digest(initial_from)} if initial_from is not None else {}),
                 **{name: True for name, asked in (("allow_empty", allow_empty), ("hex", hex), ("join", join),
                                                   ("real_time", real_time)) if asked}}
    models, workers = tuple(map(str, chosen)), min(jobs or cores.own(), cores.own())
    try:
        with closing(_crew(dask, workers, settings)) as crew:  # first of all: it takes a while to get ready
            traces = _traces(paths, format, only_violations, join)
            results = _results(out, made_with, Limits(timeout, settings.memory))
            whole = _run(crew, traces, models, results, workers, fail_fast, only_violations)
        unused = settings.options.initial_at.keys() - results.used if whole else ()
        status = _finish(results, [trace.source for trace in traces], models, junit,
                         _reading(format, addresses, initial, initial_from, hex=hex, join=join, real_time=real_time),
                         unused)
    except KeyboardInterrupt:
        typer.echo("gradual: interrupted; what was done is kept, and the same command goes on from there", err=True)
        raise
    except BatchError as error:
        raise usage_error(str(error)) from None
    except BrokenPipeError:
        raise  # nobody reads the table: `main` knows
    except OSError as error:
        from gradual.history import reason

        raise usage_error(f"{error.filename or out}: {reason(error)}; what was done is kept, and the same command "
                          "goes on from there") from None
    raise typer.Exit(status)


def _traces(paths: list[str], format: str | None, copies: Path | None, join: bool) -> list[Trace]:
    from gradual.batch.find import by_folder, find
    from gradual.telling.words import counted

    search = find(paths, format, copies)
    if search.left_alone:
        typer.echo(f"gradual: {counted(len(search.left_alone), 'file')} in the folders left alone, not being traces "
                   f"({', '.join(search.left_alone[:3])}{', …' if len(search.left_alone) > 3 else ''})", err=True)
    if not search.traces:
        raise usage_error(f"there is no trace in {', '.join(paths)}; `gradual formats` lists what is known")
    return by_folder(search.traces) if join else search.traces


def _results(out: Path, made_with: dict[str, Any], limits: Limits) -> Results:
    from gradual.batch.results import Results

    results = Results(out, made_with, limits)
    for note in results.notes:
        typer.echo(f"gradual: {note}", err=True)
    return results


def _run(crew: Crew, traces: list[Trace], models: tuple[str, ...], results: Results, workers: int,
         fail_fast: bool, only_violations: Path | None) -> bool:
    """Is everything done now?"""
    import pandas  # noqa: F401  (the table wants it in the end; now the workers are getting ready anyway)

    from gradual.batch.run import Batch
    from gradual.history import told_hex
    from gradual.telling.words import counted

    work = Batch(traces, models, results, workers, fail_fast, only_violations)
    work.run(crew)
    if again := results.tried_again:
        typer.echo(f"gradual: the limits have changed: {counted(again, 'row')}, unknown or errors, checked again",
                   err=True)
    if work.stopped:
        typer.echo("gradual: stopped at a violation; the same command without --fail-fast checks the rest", err=True)
    for line in work.not_copied:
        typer.echo(f"gradual: not copied: {line}", err=True)
    if work.hex:
        source, names = min(work.hex.items())
        files = source if len(work.hex) == 1 else f"{source} and {counted(len(work.hex) - 1, 'other file')}"
        typer.echo(f"gradual: {told_hex(files, names)}", err=True)
    return not work.stopped


def _crew(dask: str | None, jobs: int, settings: Settings) -> Crew:
    if dask is None:
        from gradual.batch.workers import Workers

        return Workers(jobs, settings)
    from gradual.batch.cluster import Cluster

    return Cluster(dask, settings)


def _digest(file: str) -> str:
    """Of what is in a file: when it changes, so may verdicts."""
    from hashlib import sha256

    return sha256(Path(file).read_bytes()).hexdigest()


def _reading(format: str | None, addresses: list[str] | None, initial: list[str] | None, initial_from: str | None,
             **asked: bool) -> str:
    """The options with which one of these files is read as here."""
    from shlex import quote

    given = [("--format", [format] if format else []), ("--addresses", addresses or []), ("--initial", initial or []),
             ("--initial-from", [initial_from] if initial_from is not None else [])]
    options = "".join(f" {name} {quote(value)}" for name, values in given for value in values)
    return options + "".join(f" --{name.replace('_', '-')}" for name, given in asked.items() if given)


def _refuse(paths: list[str], junit: str | None, only_violations: Path | None, dask: str | None, memory: str | None,
            jobs: int | None) -> None:
    """What would go wrong in the end is said at the beginning."""
    if "-" in paths:
        raise usage_error("batch reads files; for standard input there is `gradual check -`")
    if junit is not None and not os.path.isdir(os.path.dirname(junit) or "."):
        raise usage_error(f"--junit {junit}: there is no such folder")
    if dask is not None and (memory is not None or jobs is not None):
        raise usage_error("with --dask, memory and processes are the cluster's: dask worker --memory-limit, --nworkers")
    if only_violations is not None:
        try:
            only_violations.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise refused(f"--only-violations {only_violations}", error) from None


def _finish(results: Results, sources: list[str], models: Sequence[str], junit: str | None,
            options: str, unused: Collection[int | str]) -> int:
    """The table for people, the file for CI, the exit status: of what this command asked for, whenever checked."""
    from gradual.batch import results as stored
    from gradual.batch import table
    from gradual.history import told_unused
    from gradual.judge import FAULTY, exit_status, is_fault
    from gradual.telling.words import counted

    rows = stored.read(results.folder, table.COLUMNS, sources, models).to_pandas()
    for line in table.table(rows, options):
        typer.echo(line)
    if other := stored.count(results.folder) - len(rows):
        typer.echo(f"gradual: {results.folder} also holds {counted(other, 'row')} of other files or models", err=True)
    if junit is not None:
        from gradual.batch import junit as xml

        xml.write(stored.rows(results.folder, xml.COLUMNS, sources, models), junit)
    seen = set(rows["verdict"])
    if rows["message"].map(is_fault).any():
        seen.add(FAULTY)
    if unused:
        typer.echo(f"gradual: {told_unused(unused)}; with the right one, choose another --out", err=True)
        seen.add("error")
    return exit_status(seen)


@app.command(epilog="""Example:

  gradual report results.parquet -o report.html""")
def report(
    dataset: Annotated[Path, typer.Argument(metavar="RESULTS", help="What `gradual batch --out` wrote.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="OUT.html", help="The page to write.")] = Path(
        "report.html"),
) -> None:
    """Make one page of a batch, to be opened in a browser: verdicts, violations, unordered writes, times."""
    from gradual.history import InputError
    from gradual.report import report as make

    try:
        make(dataset, output)
        if str(output) != "-":
            typer.echo(f"gradual: wrote {output}", err=True)
    except (ValueError, InputError) as error:
        raise usage_error(str(error)) from None
    except BrokenPipeError:
        raise  # nobody reads the page: `main` knows
    except OSError as error:
        raise refused(str(output), error) from None
