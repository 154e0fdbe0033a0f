"""`gradual run`: the executions of litmus tests."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from gradual.cli.app import app
from gradual.cli.common import ALL, MODEL_HELP, Json, models_of, seconds, usage_error
from gradual.cli.completions import model_names
from gradual.cli.observed import Sighted, judged
from gradual.cli.outputs import Outputs
from gradual.cli.status import FAULT, INTERRUPTED, LATE
from gradual.cli.structures import (
    Compare,
    Reading,
    ShowStructure,
    Structures,
    Unroll,
    Values,
    bounds,
    compared,
    draw,
    drawable,
    reading,
    told_apart,
)

if TYPE_CHECKING:
    from gradual.models import Model
    from gradual.programs.observation import Observation
    from gradual.programs.program import Bounds, Program
    from gradual.progress import Progress


EXAMPLES = """Examples:

  gradual run traces/litmus/SB.litmus --model all

  echo 'st x 1, ld y || st y 1, ld x' | gradual run - --model tso

  gradual run traces/litmus/SB.litmus --operational --model npso    on the machine instead of by the axioms

  gradual run SB.litmus --observed runs.jsonl      which observed outcomes does no model allow?

  gradual run tests/*.litmus --observed chip.log --model rvwmo      the same of a log of litmus7, with many tests

  gradual run traces/causality/TC1.litmus --model jr      may an optimising compiler do that?

  gradual run traces/causality/TC4.litmus --compare jr sc ra c11

  gradual run spin.litmus --model sc --unroll 2 --values 0..2

Programs are herd's .litmus files (X86, RISCV, LISA, Generic) or plain text: P0: st x 1; ld y r0 P1: ... exists
(0:r0=0).

Exit status: 0 the question was answered, whatever the answer; 1 an observed outcome that no model asked for allows; 2
usage or input error; 3 when --timeout came before the answer; 130 after Ctrl-C. What was found by
then is printed."""

Observed = Annotated[list[str] | None, typer.Option("--observed", metavar="HISTORIES", help="Traces of runs of the one "
                                                    "program given, or a log of litmus7 or klitmus with runs of all "
                                                    "that are given: tell which of their outcomes no model allows. "
                                                    "Repeatable.")]


@app.command(epilog=EXAMPLES)
def run(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Programs; - is standard input. With --observed "
                                               "of traces the first is the program, the others are traces.")],
    model: Annotated[list[str] | None, typer.Option(metavar="MODEL", autocompletion=model_names,
                                                    help=f"{MODEL_HELP}; `all` for every one that "
                                                    "ships; repeatable. jr, ra, c11, rc11 are asked about event "
                                                    "structures. [default: the usual ones]")] = None,
    count: Annotated[bool, typer.Option("--count", help="Only count the executions.")] = False,
    query: Annotated[bool, typer.Option("--query", help="Only answer the condition, without enumeration; this is done "
                                        "anyway where there are over 10^10 executions to look at.")] = False,
    show: Annotated[int, typer.Option("--show", metavar="K", min=0, help="Show K executions: reads-from and store "
                                      "order.")] = 0,
    svg: Annotated[str | None, typer.Option("--svg", metavar="OUT", help="Also draw why the condition's outcome "
                                            "is forbidden; after the first picture, program and model stand before "
                                            "the ending (why-PROGRAM-MODEL.svg).")] = None,
    observed: Observed = None,
    timeout: Annotated[float | None, typer.Option("--timeout", metavar="S", callback=seconds, help="Seconds for each "
                                                  "program and model; then what was found so far is told.")] = None,
    operational: Annotated[bool, typer.Option("--operational", help="Run it on the machine that the model's file "
                                              "names, instead of by the axioms; an outcome counts once.")] = False,
    values: Values = None,
    unroll: Unroll = None,
    justifies: Reading = "label",
    compare: Compare = None,
    show_structure: ShowStructure = None,
    as_json: Json = False,
) -> None:
    """List what a small program can do under memory models: a litmus test."""
    from gradual.progress import Progress

    events, others = told_apart(model)
    files, events = compared(files, compare) if compare else (files, events)
    models = [] if (events and not others) or compare else _models(others or None)
    asked = Structures(events, reading(justifies), as_json)
    limits = bounds(values, unroll)
    drawable(show_structure, files)
    if events and (count or observed or operational or svg is not None):
        raise usage_error(f"{', '.join(events)}: event structures have no executions to count, to observe, to run on a "
                          "machine or to draw; leave out --count, --observed, --operational and --svg "
                          "(--show-structure draws the structure)")
    if count and (query or show or svg is not None):
        raise usage_error("--count only counts: it goes with none of --query, --show and --svg")
    if operational and (count or query or show or svg is not None or observed):
        raise usage_error("--operational lists outcomes: it goes with none of --count, --query, --show, --svg and "
                          "--observed")
    if observed:
        if svg is not None:
            raise usage_error("--observed only tells what was seen: it does not go with --svg")
        raise typer.Exit(judged(files, observed, Sighted(models, as_json, limits, timeout)))
    outputs = Outputs({"svg": svg}, files)
    task = "run" if operational else "count" if count else "query" if query else "list"
    with Progress() as progress:
        questions = _Questions(models, task, show, as_json, outputs, progress, limits, asked, bool(compare),
                               show_structure, timeout)
        status = max((questions.ask(file) for file in files), default=0)
    if not status:
        outputs.complain("no condition here is about a forbidden outcome")
    raise typer.Exit(status)


def _models(chosen: list[str] | None) -> list[Model]:
    """What forbids nothing comes first: the others are measured by it."""
    from gradual.models import shipped

    models = models_of(chosen, every=shipped(), of_programs=True) if chosen else models_of([ALL])
    return sorted(models, key=lambda model: bool(model.checks))


@dataclass(frozen=True)
class _Questions:
    """What is asked of every program, and where the answers go to."""

    models: list[Model]
    task: str
    show: int
    as_json: bool
    outputs: Outputs
    progress: Progress
    bounds: Bounds | None
    structures: Structures
    compare: bool
    picture: str | None
    timeout: float | None

    def ask(self, file: str) -> int:
        """One program under every model, and the exit status for it. Ctrl-C ends it all, once what was found is out; a
        fault of ours costs the other programs nothing."""
        from gradual import programs
        from gradual.cli import tell_fault
        from gradual.history import visible
        from gradual.machines.components import MachineError
        from gradual.programs.scan import ProgramError

        status = 0
        try:
            program = programs.read(file, self.bounds)
            if self.picture is not None:
                draw(program, self.picture, self.structures.justifies)
            for model in self.models:
                found = self._in_time(program, model.key, partial(self._under, program, model))
                if found == INTERRUPTED:
                    raise typer.Exit(INTERRUPTED)
                status = max(status, found)
                self.progress.done += 1
            status = max(status, self._ask_structures(program))
        except (ProgramError, MachineError) as error:
            self.progress.clear()
            typer.echo(f"gradual: {error}", err=True)
            return 2
        except (typer.Exit, OSError):  # said already, or of the output
            raise
        except Exception:
            self.progress.clear()
            tell_fault()
            typer.echo(f"gradual: that was {visible(file)}; other programs are asked all the same", err=True)
            return FAULT
        return status

    def _under(self, program: Program, model: Model) -> int:
        """One program under one model; one that says nothing about it does not keep the others from it."""
        from gradual.programs.executions import Refused

        try:
            return (self._count if self.task == "count" else self._answer)(program, model)
        except Refused as error:
            self.progress.clear()
            typer.echo(f"gradual: {error}", err=True)
            return 2

    def _in_time(self, program: Program, name: str, answer: Callable[[], int]) -> int:
        """The exit status for one program under one model."""
        from gradual.deadline import OutOfTime, alarm

        self.progress.start(f"{program.name} under {name}")
        try:
            with alarm(self.timeout):
                return answer()
        except OutOfTime:
            self.progress.clear()
            typer.echo(f"gradual: {program.name}: {name}: not answered within {self.timeout:g} s", err=True)
            return LATE

    def _ask_structures(self, program: Program) -> int:
        """The models that look at many executions at once."""
        if self.compare:
            names = ", ".join(self.structures.models)
            return self._in_time(program, names, lambda: self._print(self.structures.compare(program)))
        return max((self._in_time(program, name, partial(self._ask_structure, program, name))
                    for name in self.structures.models), default=0)

    def _ask_structure(self, program: Program, name: str) -> int:
        return self._print(self.structures.ask(program, name))

    def _print(self, text: str) -> int:
        self.progress.clear()
        print(text, flush=True)
        return 0

    def _answer(self, program: Program, model: Model) -> int:
        """One program under one model, printed and drawn."""
        from gradual.programs import observe, operational
        from gradual.programs.scan import ProgramError

        query = self.task == "query"
        if query and program.condition is None:
            raise ProgramError("there is no condition to answer (exists, ~exists or forall)", program.file)
        large = program.condition is not None and program.size > observe.LISTED and not self.show
        found = (operational.outcomes(program, model) if self.task == "run" else observe.answer(program, model)
                 if query or large else observe.outcomes(program, model, self.show))
        self.progress.clear()
        print(json.dumps(found.json()) if self.as_json else "\n".join(found.lines()) + "\n", flush=True)
        if large and self.task == "list":
            typer.echo(f"gradual: {program.name} has over 10^{len(str(program.size)) - 1} executions before any model: "
                       "only its condition was answered (--count counts, --show K lists)", err=True)
        self._draw(found)
        return 0 if found.complete else LATE if found.late else INTERRUPTED

    def _draw(self, found: Observation) -> None:
        if self.outputs and found.violation is not None:
            from gradual.telling import shortened

            verdict, history = found.violation
            self.outputs.write(shortened(verdict, history, found.model), history, found.model)

    def _count(self, program: Program, model: Model) -> int:
        """Without a model the number is a product; with one every execution is met."""
        from gradual.deadline import OutOfTime
        from gradual.programs.executions import Executions

        started, status = time.perf_counter(), 0
        if not model.checks and not program.branches:
            number = program.size
        else:
            executions = Executions(program, model)
            try:
                number = executions.count()
            except (KeyboardInterrupt, OutOfTime) as stop:
                number, status = executions.found, LATE if isinstance(stop, OutOfTime) else INTERRUPTED
        seconds = time.perf_counter() - started
        self.progress.clear()
        if self.as_json:
            print(json.dumps({"program": program.name, "source": program.file, "model": model.key, "executions": number,
                              "complete": not status, "seconds": round(seconds, 6)}), flush=True)
        else:
            so_far = {0: "", LATE: " so far (the time is over)", INTERRUPTED: " so far (interrupted)"}[status]
            print(f"{program.name}: {model.key} {number} executions{so_far} ({seconds:.3f} s)", flush=True)
        return status
