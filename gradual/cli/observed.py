"""`gradual run --observed`: outcomes that were seen, as traces of one program or as litmus7's histograms of many."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from gradual.cli.common import read_all, trace_options, usage_error
from gradual.cli.status import LATE

if TYPE_CHECKING:
    from gradual.models import Model
    from gradual.programs.histogram import Histogram, Judged
    from gradual.programs.program import Bounds, Program
    from gradual.progress import Progress

SNIFFED = 1 << 16
"""Bytes of a file in which the first histogram of a log stands."""
NAMED = 10
"""Tests that are named where some are missing."""
NOBODY = "NO MODEL"


@dataclass(frozen=True)
class Sighted:
    """What is asked about everything that was seen."""

    models: list[Model]
    as_json: bool
    bounds: Bounds | None
    timeout: float | None


def judged(files: list[str], observed: list[str], asked: Sighted) -> int:
    """The exit status, once everything is told."""
    logs = [file for file in observed if _is_log(file)]
    if logs and len(logs) < len(observed):
        other = next(file for file in observed if file not in logs)
        raise usage_error(f"{other} is no log of litmus7, and {logs[0]} is one: they go into calls of their own")
    return _Logs(asked).judge(files, logs) if logs else _traces(files[0], [*observed, *files[1:]], asked)


def _is_log(file: str) -> bool:
    from gradual import files
    from gradual.history import InputError
    from gradual.programs.histogram import recognises

    try:
        return file != "-" and recognises(files.text(file, SNIFFED))
    except InputError:
        return False  # whoever reads it as a trace will say so


# --- logs


class _Logs:
    def __init__(self, asked: Sighted) -> None:
        self.asked = asked
        self.tests = self.states = self.runs = self.forbidden = self.status = 0

    def judge(self, files: list[str], logs: list[str]) -> int:
        from gradual.progress import Progress

        given = self._programs(files)
        seen: set[str] = set()
        with Progress() as progress:
            for histogram in self._histograms(logs):
                seen.add(histogram.test)
                if histogram.test in given:
                    self._test(given[histogram.test], histogram, progress)
            progress.clear()
        self._missing([test for test in seen if test not in given], f"in {', '.join(logs)} and not given")
        self._missing([test for test in given if test not in seen], f"given and not in {', '.join(logs)}")
        if not self.tests:
            self._error("no test that was given is in the log")
        elif not self.asked.as_json:
            print(f"{self.tests} tests, {self.states} states in {self.runs} runs: {self._verdict()}")
        return 1 if self.forbidden else self.status

    def _verdict(self) -> str:
        names = " or ".join(model.name for model in self.asked.models)
        if not self.forbidden:
            return f"every one is allowed by {names}"
        return f"{self.forbidden} {'is' if self.forbidden == 1 else 'are'} allowed by {NOBODY} ({names})"

    def _error(self, message: str, status: int = 2) -> None:
        typer.echo(f"gradual: {message}", err=True)
        self.status = max(self.status, status)

    def _missing(self, tests: list[str], where: str) -> None:
        if tests:
            more = f" and {len(tests) - NAMED} more" if len(tests) > NAMED else ""
            typer.echo(f"gradual: {len(tests)} tests are {where}: {', '.join(sorted(tests)[:NAMED])}{more}", err=True)

    def _programs(self, files: list[str]) -> dict[str, Program]:
        from gradual import programs
        from gradual.programs.scan import ProgramError

        found: dict[str, Program] = {}
        for file in files:
            try:
                program = programs.read(file, self.asked.bounds)
            except ProgramError as error:
                self._error(str(error))
                continue
            if found.setdefault(program.name, program) is not program:
                self._error(f"{file}: {found[program.name].file} is a test called {program.name}, too: this one is "
                            "left out")
        return found

    def _histograms(self, logs: list[str]) -> Iterable[Histogram]:
        from gradual import files
        from gradual.history import InputError
        from gradual.programs.histogram import parse

        for log in logs:
            try:
                yield from parse(files.text(log).splitlines(), log)
            except InputError as error:  # noqa: PERF203
                self._error(str(error))

    def _test(self, program: Program, histogram: Histogram, progress: Progress) -> None:
        from gradual.deadline import OutOfTime, alarm
        from gradual.history import InputError
        from gradual.programs.histogram import Judge

        progress.start(f"{program.name}")
        try:
            with alarm(self.asked.timeout):
                found = Judge(program, self.asked.models).states(histogram)
        except InputError as error:
            progress.clear()
            self._error(str(error))
            return
        except OutOfTime:
            progress.clear()
            self._error(f"{program.name}: not answered within {self.asked.timeout:g} s", LATE)
            return
        self.tests += 1
        self.states += len(found)
        self.runs += histogram.times
        self.forbidden += sum(not state.allowed for state in found)
        progress.clear()
        progress.done += 1
        print(self._record(program, histogram, found) if self.asked.as_json else
              "\n".join(self._lines(histogram, found)), flush=True)

    def _record(self, program: Program, histogram: Histogram, found: list[Judged]) -> str:
        return json.dumps({"program": program.name, "source": program.file, "log": histogram.file, "states": [
            {"line": one.state.line, "times": one.state.times, "state": one.state.text, "why_not": one.why_not,
             "allowed": {model.key: model in one.allowed for model in self.asked.models}} for one in found]})

    def _lines(self, histogram: Histogram, found: list[Judged]) -> list[str]:
        head = f"Test {histogram.test}: {len(found)} states in {histogram.times} runs"
        if all(len(one.allowed) == len(self.asked.models) for one in found):
            return [f"{head}, allowed by {', '.join(model.name for model in self.asked.models)}"]
        lines = [head, *(line for one in found for line in _state_lines(histogram, one))]
        if histogram.hash and not all(one.allowed for one in found):
            lines.append(f"    (its Hash is {histogram.hash}: where herd7 gives the program another one, they are two "
                         "tests of one name)")
        return lines


def _state_lines(histogram: Histogram, found: Judged) -> list[str]:
    allowed = ", ".join(model.name for model in found.allowed) or NOBODY
    state = found.state
    lines = [f"    {histogram.file}:{state.line}: {state.times} times {state.text}   allowed by {allowed}"]
    for model, why in found.why_not.items():
        lines += [f"    Why {model} forbids it:", *(f"        {line}" for line in why)]
    return lines


# --- traces


def _traces(file: str, traces: list[str], asked: Sighted) -> int:
    from gradual import programs
    from gradual.programs.observed import Sightings
    from gradual.programs.scan import ProgramError

    try:
        sightings = Sightings(programs.read(file, asked.bounds), asked.models)
    except ProgramError as error:
        raise usage_error(str(error)) from None
    failed = [_add(sightings, item) for item in read_all(traces, None, trace_options(None, None))].count(False)
    if asked.as_json:
        for sighting in sightings.found.values():
            print(json.dumps({"program": sightings.program.name, "outcome": sighting.outcome.text(sightings.program),
                              "times": sighting.times, "first": sighting.first, "allowed": sighting.allowed}))
    else:
        print("\n".join(sightings.lines()))
    return 1 if sightings.forbidden else 2 if failed else 0


def _add(sightings: Any, item: Any) -> bool:
    """A history, or the error in its place; False when it could not be used."""
    from gradual.history import InputError

    try:
        if isinstance(item, InputError):
            raise item
        sightings.add(item)
    except InputError as error:
        typer.echo(f"gradual: {error}", err=True)
        return False
    return True
