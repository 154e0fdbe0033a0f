"""`gradual contrast`."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gradual.cli.app import app
from gradual.cli.common import Json, no_model, refused, usage_error
from gradual.cli.completions import machine_names
from gradual.cli.status import LATE

if TYPE_CHECKING:
    from gradual.contrast.counting import Count
    from gradual.contrast.search import Contrast, Difference
    from gradual.contrast.sides import Side
    from gradual.contrast.space import Space
    from gradual.contrast.table import Table
    from gradual.contrast.tested import Sighted, Tested

EXAMPLES = """Examples:

  gradual contrast sc tso                          the smallest program, the outcome, why and how

  gradual contrast tso my.cat --instructions 7     is my model the same as TSO, as far as small programs tell?

  gradual contrast npso operational:npso           do the axioms say what the machine does?

  gradual contrast --table sc ibm370 tso pso pslo rmo ntso npso --html models.html

  gradual contrast --programs 5 --list             the programs that are compared

  gradual contrast tso --machine host              does the computer underneath do what TSO forbids?

Programs are threads of up to 3 loads and stores, and fences, which do not count as instructions; those that differ
only in the names of threads, addresses and values are one. Programs whose outcomes follow from those of smaller ones
are left out (--unreduced keeps them): that is known to be right for the models that ship. That no program up to a size
tells two models apart proves nothing about larger ones.

Exit status: 0 they differ, 4 no difference up to the bound, 2 usage error, 3 not finished: the bound is too large and
--go-on was not given; 130 after Ctrl-C, when what was found so far is printed. With --machine and --command: 1 an
outcome was seen that the model forbids, 0 none, but some that it allows were never seen, 4 neither."""

NONE = 4
"""The exit status when nothing tells two models apart."""


class EngineOfContrasts(str, Enum):
    auto = "auto"
    enumerate = "enumerate"
    query = "query"


@app.command(epilog=EXAMPLES)
def contrast(
    models: Annotated[list[str] | None, typer.Argument(metavar="A B", help="Models: names (`gradual models` lists "
                                                       "them), .cat files, or operational:NAME for a machine.")] = None,
    instructions: Annotated[int | None, typer.Option(min=1, metavar="N", help="The largest programs have N loads and "
                                                     "stores. [default: 6; with --machine or --command 4]")] = None,
    threads: Annotated[int | None, typer.Option(min=1, metavar="T", help="At most T threads.")] = None,
    locations: Annotated[int, typer.Option(min=1, max=5, metavar="L", help="At most L locations.")] = 3,
    fences: Annotated[bool, typer.Option("--fences/--no-fences", help="With fences between instructions.")] = True,
    every: Annotated[bool, typer.Option("--all", help="All tests of the smallest size, not only the first.")] = False,
    output: Annotated[str | None, typer.Option("--output", "-o", metavar="FILE.litmus", help="Also write the test "
                                               "there; with --all further ones as FILE-2.litmus, …")] = None,
    engine: Annotated[EngineOfContrasts, typer.Option(help="enumerate: program by program; query: one question to "
                                                      "clingo, the program a choice of it; auto: the faster.")]
    = EngineOfContrasts.auto,
    go_on: Annotated[bool, typer.Option("--go-on", help="Also begin sizes that take more than ten minutes.")] = False,
    unreduced: Annotated[bool, typer.Option("--unreduced", help="Compare every program, also those whose outcomes "
                                            "follow from smaller ones under the models that ship.")] = False,
    programs: Annotated[int | None, typer.Option("--programs", min=1, max=20, metavar="N", help="Only count the "
                                                 "programs of exactly N instructions.")] = None,
    listed: Annotated[bool, typer.Option("--list", help="With --programs: print those that are compared.")] = False,
    resume: Annotated[Path | None, typer.Option("--resume", metavar="FILE", help="With --programs: keep what is "
                                                "counted there, and go on from it.")] = None,
    table: Annotated[bool, typer.Option("--table", help="Every pair of the models given. [default: all that "
                                        "forbid something]")] = False,
    html: Annotated[str | None, typer.Option("--html", metavar="OUT", help="With --table: also a page with "
                                             "pictures.")] = None,
    machine: Annotated[str | None, typer.Option("--machine", metavar="M", autocompletion=machine_names,
                                                help="Contrast the model with a machine: "
                                                "`host` is this computer; others as in `gradual fuzz`.")] = None,
    command: Annotated[str | None, typer.Option("--command", metavar="TEMPLATE", help="The same with a simulator, as "
                                                "in `gradual fuzz`.")] = None,
    runs: Annotated[int | None, typer.Option(min=1, metavar="K", help="How often each test is run on a machine. "
                                             "[default: 100000 on the host, 100 elsewhere]")] = None,
    run_timeout: Annotated[float, typer.Option("--run-timeout", min=0.1, metavar="S", help="Seconds for one run of the "
                                               "command.")] = 60.0,
    as_json: Json = False,
) -> None:
    """Find the smallest program that tells two memory models apart."""
    from gradual.contrast.space import Space

    _one_task(programs is not None, table, machine is not None, command is not None)
    for given, option, needed in ((listed, "--list", programs is not None), (resume, "--resume", programs is not None),
                                  (html, "--html", table), (output, "-o", not table and programs is None),
                                  (every, "--all", not table and programs is None)):
        if given and not needed:
            raise usage_error(f"{option} has no meaning here")
    space = Space(locations, threads, fences)
    if programs is not None:
        if models:
            raise usage_error("--programs only counts programs: it takes no models")
        _affordable(space, programs, go_on)
        raise typer.Exit(_count(space, programs, listed, resume, as_json))
    bound = instructions or (4 if machine or command else 6)
    if table:
        raise typer.Exit(_table(_sides(models or _all_models()), space, bound, html, as_json))
    if machine is not None or command is not None:
        if len(models or ()) != 1:
            raise usage_error("with --machine and --command, one model is contrasted with the machine")
        raise typer.Exit(_tested(_sides(models or [])[0], space, bound, _machine(machine, command, run_timeout),
                                 machine or command or "", runs or (100_000 if machine == "host" else 100), as_json))
    if len(models or ()) != 2:
        raise usage_error("two models are contrasted: gradual contrast A B (several with --table)")
    a, b = _sides(models or [])
    if a.name == b.name:
        b.name = f"{b.name} ({b.model.file})"
    if engine is EngineOfContrasts.query and every:
        raise usage_error("--engine query finds one test: it does not go with --all")
    raise typer.Exit(_contrast(_search(a, b, space, bound, unreduced, engine), every, go_on, output, as_json))


def _one_task(*asked: bool) -> None:
    if sum(asked) > 1:
        raise usage_error("choose one of --programs, --table, --machine and --command")


def _all_models() -> list[str]:
    from gradual.models import shipped

    return [model.key for model in shipped() if model.checks]


def _sides(names: list[str]) -> list[Side]:
    from gradual.contrast.sides import side
    from gradual.machines.components import MachineError
    from gradual.models import ModelError, NoModel

    try:
        return [side(name) for name in names]
    except NoModel as error:
        raise no_model(error) from None
    except (ModelError, MachineError) as error:
        raise usage_error(str(error)) from None


def _search(a: Side, b: Side, space: Space, bound: int, unreduced: bool, engine: EngineOfContrasts) -> Contrast:
    from gradual.contrast.query import Query
    from gradual.contrast.search import Contrast
    from gradual.contrast.sides import ByMachine
    from gradual.models.clingo import NotPositive, refuted

    if engine is not EngineOfContrasts.query:
        return Contrast(a, b, space, bound, not unreduced)
    for side in (a, b):
        if isinstance(side, ByMachine):
            raise usage_error(f"--engine query asks about axioms, and {side.name} is a machine")
        try:
            refuted(side.model)
        except NotPositive as error:
            raise usage_error(f"--engine query: {error}; --engine enumerate compares any model") from None
    return Query(a, b, space, bound, not unreduced)


# --- two models


def _contrast(search: Contrast, every: bool, go_on: bool, output: str | None, as_json: bool) -> int:
    from gradual.progress import Progress

    interrupted = False
    with Progress() as progress:
        try:
            search.run(progress, every, go_on)
        except KeyboardInterrupt:
            interrupted = True
    for number, difference in enumerate(search.found, 1):
        _tell(difference, number, search, output, as_json)
    if as_json:
        print(json.dumps(_record(search, search.found[0] if search.found else None)))
    elif search.found and len(search.found) > 1:
        print(f"{len(search.found)} programs of this size tell them apart")
    elif not search.found:
        print(f"{search.a.name} and {search.b.name}: no difference up to {_many(search.finished, 'instruction')} "
              f"({_many(search.programs, 'program')} looked at in {search.seconds:.2f} s)")
    if interrupted:
        typer.echo("gradual: interrupted; larger programs were not all looked at", err=True)
        return 130
    if search.differs is None:
        _too_large(search)
        return 3
    return 0 if search.differs else NONE


def _many(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _too_large(search: Contrast) -> None:
    size = search.finished + 1
    typer.echo(f"gradual: there are {search.space.count(size)} programs of {size} instructions up to symmetry, and to "
               f"compare those that matter takes about {_duration(search.takes(size))}; --go-on does it",
               err=True)


def _duration(seconds: float) -> str:
    for unit, length in (("years", 31_557_600), ("days", 86_400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} seconds"


def _tell(difference: Difference, number: int, search: Contrast, output: str | None, as_json: bool) -> None:
    """One test, printed and written."""
    from gradual.contrast.telling import Told

    told = Told(difference)
    if output is not None:
        _write(_numbered(output, number), told.litmus)
    if as_json:
        if len(search.found) > 1:
            print(json.dumps(_record(search, difference)))
        return
    record = _record(search, difference)
    with_fences = f", {_many(difference.fences, 'fence')}" if difference.fences else ""
    print(f"{difference.allowed_by.name} allows what {difference.forbidden_by.name} forbids, with "
          f"{_many(record['instructions'], 'instruction')} in {_many(record['threads'], 'thread')}{with_fences} "
          f"({_many(search.programs, 'program')} looked at in {search.seconds:.2f} s)")
    print(f"{difference.program}   outcome {' '.join(map(str, difference.outcome))}\n")
    print(told.litmus)
    print("\n".join([f"Why {difference.forbidden_by.name} forbids it:", *(f"    {line}" for line in told.why())]))
    print("\n".join([f"How {difference.allowed_by.name} reaches it:", *(f"    {line}" for line in told.how()), ""]))


def _record(search: Contrast, difference: Difference | None) -> dict[str, Any]:
    from gradual.contrast.space import size

    counted, used, fences = size(difference.threads) if difference else (None, None, None)
    return {"a": search.a.name, "b": search.b.name, "differs": search.differs, "instructions": counted,
            "threads": used, "fences": fences, "program": difference.program if difference else None,
            "outcome": list(difference.outcome) if difference else None,
            "allowed_by": difference.allowed_by.name if difference else None, "programs": search.programs,
            "bound": search.finished if search.differs is None else search.bound, "seconds": round(search.seconds, 6)}


def _numbered(path: str, number: int) -> str:
    if number == 1:
        return path
    stem, dot, ending = path.rpartition(".")
    return f"{stem}-{number}.{ending}" if dot else f"{path}-{number}"


def _write(path: str, text: str) -> None:
    from gradual.files import appearing

    try:
        with appearing(path) as stream:
            stream.write(text.encode())
    except OSError as error:
        raise refused(path, error) from None


# --- programs, counted


COUNTED_IN_A_SECOND = 80_000
"""Programs, roughly."""


def _affordable(space: Space, instructions: int, go_on: bool) -> None:
    """Burnside's lemma tells how many there are without looking at any; the rest of the answer looks at each."""
    number = space.count(instructions)
    minutes = number / COUNTED_IN_A_SECOND / 60
    if minutes > 10 and not go_on:
        typer.echo(f"gradual: there are {number} programs of {instructions} instructions up to symmetry, and to look "
                   f"at each takes about {minutes / 60:.2g} hours; --go-on does, and --resume FILE keeps what is "
                   "counted", err=True)
        raise typer.Exit(LATE)


def _count(space: Space, instructions: int, listed: bool, resume: Path | None, as_json: bool) -> int:
    from gradual.contrast.counting import Count, NotThisCount
    from gradual.progress import Progress

    if listed:
        if resume is not None:
            raise usage_error("--list prints programs as they come: it does not go with --resume")
        return _list(space, instructions, as_json)
    try:
        count = Count.resumed(space, instructions, resume)
    except NotThisCount as error:
        raise usage_error(str(error)) from None
    except OSError as error:
        raise refused(str(resume), error) from None
    with Progress() as progress:
        progress.start(f"counting programs of {instructions} instructions")
        try:
            count.run()
        except KeyboardInterrupt:
            progress.clear()
            _show_count(count, as_json)
            kept = f", and is kept in {resume}" if resume else "; --resume FILE would keep it"
            typer.echo(f"gradual: interrupted: this is what was counted so far of {space.count(instructions)} "
                       f"programs{kept}", err=True)
            return 130
        except OSError as error:
            raise refused(str(resume), error) from None
    _show_count(count, as_json)
    return 0


def _show_count(count: Count, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"instructions": count.instructions, "programs": count.programs, "connected": count.connected,
                          "idle_free": count.idle_free, "seconds": round(count.seconds, 6)}))
        return
    print(f"{count.programs} programs of {_many(count.instructions, 'instruction')} up to symmetry; {count.connected} "
          f"of them have a connected conflict graph, and in {count.idle_free} of these no location is idle "
          f"({count.seconds:.2f} s)")


def _list(space: Space, instructions: int, as_json: bool) -> int:
    from gradual.machines.code import notation

    started, number = time.perf_counter(), 0
    for threads in space.programs(instructions):
        number += 1
        print(json.dumps({"program": notation(threads)}) if as_json else notation(threads))
    if as_json:
        print(json.dumps({"instructions": instructions, "programs": space.count(instructions), "idle_free": number,
                          "seconds": round(time.perf_counter() - started, 6)}))
    return 0


# --- many models


def _table(sides: list[Side], space: Space, bound: int, html: str | None, as_json: bool) -> int:
    from gradual.contrast.table import Table
    from gradual.progress import Progress

    if len(sides) < 2:
        raise usage_error("a table needs two models at least")
    if len({side.name for side in sides}) < len(sides):
        raise usage_error("a table needs models of different names; two of these have one name")
    found = Table(sides, space, bound)
    interrupted = False
    with Progress() as progress:
        try:
            found.run(progress)
        except KeyboardInterrupt:
            interrupted = True
    print(json.dumps(found.json()) if as_json else "\n".join(found.lines()))
    if html is not None:
        _page(found, html)
    return 130 if interrupted else 0 if found.first else NONE


def _page(found: Table, path: str) -> None:
    from gradual.contrast.page import page

    _write(path, page(found))


# --- a machine one has


def _machine(name: str | None, command: str | None, timeout: float) -> Tested:
    from gradual.cli.common import known_machine, trace_options
    from gradual.contrast.tested import HOST, Clients, Host
    from gradual.fuzz.machine import Command, Small

    if name == HOST:
        return Host()
    if name is not None:
        known_machine(name)
        return Clients(Small(name))
    return Clients(Command(command or "", None, trace_options(None, None), timeout))


def _tested(model: Side, space: Space, bound: int, machine: Tested, named: str, runs: int, as_json: bool) -> int:
    from gradual.contrast.tested import MachineFailed, compared
    from gradual.progress import Progress

    tests = [threads for size in range(1, bound + 1) for threads in space.programs(size)]
    started, seen = time.perf_counter(), 0
    forbidden = never = times = 0
    interrupted = False
    with Progress() as progress:
        progress.start(f"running {len(tests)} tests")
        try:
            for sighted in compared(model, machine, tests, runs):
                progress.done += 1
                seen += 1
                times += sighted.seen.total()
                forbidden += len(sighted.forbidden)
                never += len(sighted.never_seen)
                if as_json or sighted.forbidden or sighted.never_seen:
                    progress.clear()
                    print("\n".join(_sighted(sighted, model.name, as_json)), flush=True)
        except MachineFailed as error:
            raise usage_error(str(error)) from None
        except KeyboardInterrupt:
            interrupted = True
    seconds = time.perf_counter() - started
    if as_json:
        print(json.dumps({"a": model.name, "machine": named, "tests": seen, "runs": times, "forbidden": forbidden,
                          "never_seen": never, "bound": bound, "seconds": round(seconds, 6)}))
    else:
        print(f"{_many(seen, 'test')}, {_many(times, 'run')} in {seconds:.1f} s: "
              f"{_many(forbidden, 'outcome')} seen that {model.name} forbids, {never} allowed and never seen")
    for failure in getattr(machine, "failures", [])[:3]:
        typer.echo(f"gradual: {failure}", err=True)
    if interrupted:
        return 130
    return 1 if forbidden else 0 if never else NONE


def _sighted(sighted: Sighted, model: str, as_json: bool) -> Iterator[str]:
    if as_json:
        yield json.dumps({"program": sighted.program, "runs": sighted.seen.total(),
                          "seen": [{"outcome": list(outcome), "times": times}
                                   for outcome, times in sorted(sighted.seen.items())],
                          "forbidden": list(map(list, sighted.forbidden)),
                          "never_seen": list(map(list, sighted.never_seen))})
        return
    yield f"{sighted.program}   ({sighted.seen.total()} runs)"
    yield from (f"    {' '.join(map(str, outcome))}   seen {_many(sighted.seen[outcome], 'time')}, {model} FORBIDS it"
                for outcome in sighted.forbidden)
    if sighted.never_seen:
        outcomes = "; ".join(" ".join(map(str, outcome)) for outcome in sighted.never_seen)
        yield f"    allowed and never seen: {outcomes}"
