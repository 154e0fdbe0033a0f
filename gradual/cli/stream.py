"""`gradual check --stream`: one history that never ends."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import typer

from gradual.cli.common import read_all, usage_error
from gradual.cli.status import remembered

if TYPE_CHECKING:
    from gradual.deciding.stream import Stream
    from gradual.evidence.verdict import Verdict
    from gradual.history import History, InputError, Options
    from gradual.models import Model

EVERY = 2.0
"""Seconds between two lines that say how far it is."""
STOPPED = {"verdict": "unknown", "decided_by": "", "message": "stopped by Ctrl-C before the end", "end": True}


class Following:
    """Follows one stream under some models, and tells what comes of it."""

    def __init__(self, models: Sequence[Model], file: str, options: Options, *, window: int | None, threads: int,
                 as_json: bool, quiet: bool) -> None:
        from gradual.deciding.stream import WINDOW, Refused, Stream

        self._file = file
        self._options = options
        self._json = as_json
        self._quiet = quiet
        self._started = self._told = time.monotonic()
        self._assumed: set[str] = set()
        self._verdicts: list[str] = []
        try:
            self._streams = [Stream(model, window=window or WINDOW, threads=threads, timeout=options.timeout,
                                    initial=options.initial, real_time=options.real_time)
                             for model in models]
        except Refused as error:
            raise usage_error(str(error)) from None

    def run(self, format: str | None) -> int:
        """Until it is over, or every model has its verdict. Returns the exit status."""
        from gradual.history import InputError
        from gradual.judge import exit_status

        try:
            with remembered(lambda: exit_status(self._verdicts)):
                self._follow(format)
        except InputError as error:
            self._fail(error)
        except KeyboardInterrupt:
            for stream in self._streams:
                typer.echo(f"gradual: stopped; {self._how_far(stream)}", err=True)
                if self._json:
                    self._print(json.dumps(self._record(stream) | STOPPED))
            raise
        return exit_status(self._verdicts)

    def _follow(self, format: str | None) -> None:
        from gradual.history import InputError

        for piece in read_all([self._file], format, self._options, in_pieces=True):
            if isinstance(piece, InputError):
                raise piece
            self._take(piece)
            if not self._streams:
                break
        self._close()

    def _take(self, piece: History) -> None:
        for stream in [*self._streams]:
            stream.take(piece)
            self._tell_assumed(stream)
            if stream.end is not None:
                self._tell_end(stream)
        if time.monotonic() - self._told >= EVERY:
            self._told = time.monotonic()
            for stream in self._streams:
                if self._json:
                    self._print(json.dumps(self._record(stream)))
                elif not self._quiet:
                    typer.echo(f"gradual: {self._how_far(stream)}", err=True)

    def _close(self) -> None:
        from gradual.files import NO_OPERATIONS
        from gradual.history import InputError

        for stream in [*self._streams]:
            if not stream.checkpoint.operations and not self._options.allow_empty:
                raise InputError(NO_OPERATIONS, self._file)
            stream.close()
            self._tell_end(stream)

    # --- words

    def _print(self, text: str) -> None:
        if not self._quiet:
            print(text, flush=True)

    def _how_far(self, stream: Stream) -> str:
        at = stream.checkpoint
        return (f"{at.operations} operations, {at.window} in the window, {stream.model} certified up to line "
                f"{at.certified}")

    def _tell_assumed(self, stream: Stream) -> None:
        for what in stream.checkpoint.assumed:
            if what not in self._assumed:
                self._assumed.add(what)
                typer.echo(f"gradual: {what}", err=True)

    def _fail(self, error: InputError) -> None:
        """A stream that cannot be read on is one error for all models."""
        from gradual.telling.record import error_record

        if self._json:
            for stream in self._streams:
                self._print(json.dumps(error_record(error.history or "", self._file, stream.model.name, str(error))))
        else:
            self._print(f"{error if error.file else f'{self._file}: {error}'}")
            for stream in self._streams:
                typer.echo(f"gradual: {self._how_far(stream)}", err=True)
        self._verdicts.append("error")
        self._streams.clear()

    def _tell_end(self, stream: Stream) -> None:
        from gradual.telling.budget import Budget

        assert stream.end is not None
        found = Budget().shortened(stream.end.verdict, stream.end.history, stream.model)
        stream.end = replace(stream.end, verdict=found)
        self._streams.remove(stream)
        self._verdicts.append(found.verdict)
        if not self._quiet:
            self._print(json.dumps(self._record(stream)) if self._json else "\n".join(self._lines(stream)))

    def _lines(self, stream: Stream) -> list[str]:
        from gradual.evidence.verdict import ThinAir
        from gradual.history import visible
        from gradual.telling import brief
        from gradual.telling.words import besides, decided

        end, at = stream.end, stream.checkpoint
        assert end is not None
        verdict = end.verdict
        unknown = verdict.verdict == "unknown"
        by = decided(verdict.decided_by) + besides(verdict) if verdict.decided_by and not unknown else ""
        told = f": {verdict.message}" if unknown else ""
        first = (f"{visible(self._file)}: {stream.model} {verdict.verdict}{by} ({at.operations} operations up to line "
                 f"{at.line}, {at.window} in the window, {time.monotonic() - self._started:.2f} s){told}")
        if verdict.verdict != "violation":
            return [first]
        if isinstance(verdict.evidence, ThinAir) and verdict.message:  # of what was forgotten only that tells
            return [first, f"    {verdict.message}"]
        lines = brief(verdict, end.history, stream.model).splitlines()
        return [first, *(f"    {line}" for line in (*lines, *self._notes(stream, verdict)))]

    def _notes(self, stream: Stream, verdict: Verdict) -> list[str]:
        """What memory held before the window, as far as a cycle needs it."""
        from gradual.evidence.verdict import Cycle

        if stream.end is None or not isinstance(verdict.evidence, Cycle):
            return []
        paths = (verdict.evidence.edges, *(step.path for step in verdict.evidence.steps))
        return stream.window.held_before(stream.end.history, [edge.start for path in paths for edge in path])

    def _record(self, stream: Stream) -> dict[str, Any]:
        """A verdict as `gradual check --json` has it, or how far the stream is."""
        from gradual.telling.record import figures, violation
        from gradual.telling.words import told

        end, at = stream.end, stream.checkpoint
        verdict = stream.so_far if end is None else told(end.verdict, end.history)
        found = figures(verdict, stream.window.history()) | (violation(verdict, end.history) if end else {})
        return found | {
            "source": self._file, "operations": at.operations, "threads": at.threads, "locations": at.locations,
            "write_pairs": None, "seconds": round(time.monotonic() - self._started, 6), "line": at.line,
            "certified_line": at.certified, "window": at.window, "assumed": list(at.assumed),
            "notes": self._notes(stream, verdict), "end": end is not None}
