"""`gradual generate`, `gradual convert` and `gradual formats`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from gradual.cli.app import app
from gradual.cli.common import (
    Hex,
    Initial,
    InitialFrom,
    Join,
    Ranges,
    known_machine,
    read_all,
    trace_options,
    usage_error,
    write_all,
)
from gradual.cli.completions import format_names, machine_names


@app.command(epilog="""Examples:

  gradual generate --machine tso --operations 200 --seed 7 > trace.csv

  gradual generate --machine broken --histories 100 --format jsonl | gradual check -

Broken machines fail now and then: with few operations, or many locations, most histories are still consistent.""")
def generate(
    threads: Annotated[int, typer.Option(min=1, help="Threads of the client.")] = 4,
    operations: Annotated[int, typer.Option(min=0, help="Operations of all threads together.")] = 200,
    locations: Annotated[int, typer.Option(min=1, help="Locations they share.")] = 8,
    seed: Annotated[int, typer.Option(help="Equal seeds give equal histories.")] = 0,
    machine: Annotated[str, typer.Option(autocompletion=machine_names,
                                         help="A sound machine, or one way of being broken: --machine help "
                                         "lists them.")] = "sc",
    histories: Annotated[int, typer.Option(min=0, metavar="N", help="How many histories.")] = 1,
    order: Annotated[bool, typer.Option("--order", help="Also tell in which order the stores reached memory.")] = False,
    format: Annotated[str | None, typer.Option("--format", metavar="F", autocompletion=format_names,
                                               help="The format to write. [default: csv, or "
                                               "by the ending of --output]")] = None,
    output: Annotated[str, typer.Option("--output", "-o", metavar="OUT", help="Where to; - is standard "
                                        "output.")] = "-",
) -> None:
    """Make random histories with unique values on small machines, sound or broken."""
    from gradual.machines import generate as run

    known_machine(machine)
    made = (run(machine, threads, operations, locations, seed + number, name=f"{machine}-{seed + number}",
                ordered=order)
            for number in range(histories))
    write_all(made, output, format or ("csv" if output == "-" else None))


@app.command(epilog="""Examples:

  gradual convert trace.out.gz trace.csv --addresses 0x7f4c0:0x834c0

  gradual convert trace.axe - --to jsonl

  gradual convert --join 'trace_rvfi_hart_*.dasm' run.csv --addresses 0x80002000:0x80003000""")
def convert(
    source: Annotated[str, typer.Argument(metavar="A", help="The trace to read; - is standard input.")],
    target: Annotated[str, typer.Argument(metavar="B", help="The trace to write; - is standard output.")],
    format: Annotated[str | None, typer.Option("--format", "--from", metavar="F", autocompletion=format_names,
                                               help="The format of A; recognised "
                                               "from its content when not given.")] = None,
    to: Annotated[str | None, typer.Option("--to", metavar="F", autocompletion=format_names,
                                           help="The format of B; by its ending when not "
                                           "given.")] = None,
    addresses: Ranges = None,
    initial: Initial = None,
    initial_from: InitialFrom = None,
    hex: Hex = False,
    join: Join = False,
) -> None:
    """Rewrite a trace in another format. Histories that cannot be read are reported and left out."""
    from itertools import chain

    from gradual.history import InputError

    failed = []
    if target != "-" and os.path.exists(target) and os.path.exists(source) and os.path.samefile(source, target):
        raise usage_error(f"{target} is the trace to read; write to another file")

    def good() -> Iterator[Any]:
        options = trace_options(addresses, initial, initial_from, hex=hex, allow_empty=True)
        for item in read_all([source], format, options, join=join):
            if isinstance(item, InputError):
                failed.append(item)
                typer.echo(f"gradual: {item}", err=True)
            else:
                yield item

    histories = good()
    first = next(histories, None)
    if first is not None:  # a file for nothing would pass for an empty trace
        write_all(chain([first], histories), target, to)
    raise typer.Exit(2 if failed else 0)


@app.command()
def formats() -> None:
    """List the trace formats, with an example each."""
    from gradual import adapters

    for name in adapters.names():
        adapter = adapters.adapter(name)
        writes = "read and written" if hasattr(adapter, "write") else "read"
        endings = "".join(f"; .{ending}" for ending in adapter.EXTENSIONS)
        typer.echo(f"{name}: {adapter.SUMMARY} ({writes}{endings})")
        typer.echo("\n".join(f"    {line}" for line in adapter.EXAMPLE.strip("\n").splitlines()) + "\n")
    refused = "; ".join(f"{kind.name} ({kind.lacks})" for kind in adapters.VALUELESS)
    typer.echo(f"Recognised and refused, for there is nothing to check: {refused}; gem5 logs of other debug flags.")
