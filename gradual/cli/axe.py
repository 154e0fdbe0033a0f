"""`gradual axe`: the command line of the CHERI project's trace checker, for scripts that call that.

Whatever axe judges is judged here with the same output and exit status: `OK` or `NO` for each history, 0 after either.
"""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, BinaryIO, cast

from gradual.cli import guarded

if TYPE_CHECKING:
    from gradual.judge import Judge, Judgement
    from gradual.models import Model

USAGE = """Usage:
  axe check <MODEL> <FILE> [-g] [-i]
  axe test  <MODEL> <FILE> <FILE> [-g] [-i]
Where:
  <MODEL> ::= SC|TSO|PSO|WMO|POW
  -g          assume global clock domain
  -i          ignore timestamps
"""
REFUSED, NOT_UNDERSTOOD = 1, 255
"""axe's exit statuses: what it cannot read, models and options too; any other wrong command line, and a test that
failed."""
BLOCK = 1 << 16
_TIMES = re.compile(rb"@[ \t\r]*\d*:\d*")
_REST = re.compile(rb"[ \t\r]*(?:#.*)?\n")
"""Of a line: nothing. Readers wait for its end."""
_SCRIPT = """\
#!/bin/sh
'''exec' {python} "$0" "$@"
' '''
from gradual.cli.axe import main

main()
"""


class _Stop(Exception):
    """The end, with a message and an exit status."""

    def __init__(self, message: str, status: int = REFUSED) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class _Flags:
    """What stands behind the files. `-g` is about POW alone, as in axe."""

    ignore_times: bool = False
    strict: bool = False

    @classmethod
    def parse(cls, words: list[str]) -> _Flags:
        for word in words:
            if word not in ("-g", "-i", "--strict"):
                raise _Stop(f"Unknown option: '{word}'")
        return cls("-i" in words, "--strict" in words)


def main() -> None:
    """The executable that `gradual axe --install` leaves."""
    guarded(lambda: sys.exit(run(sys.argv[1:])))


def run(words: list[str]) -> int:
    """The exit status of `axe WORDS`."""
    try:
        match words:
            case ["check", model, file, *flags]:
                return _check(model, file, _Flags.parse(flags))
            case ["test", model, file, answers, *flags]:
                return _test(model, file, answers, _Flags.parse(flags))
        print(USAGE, end="")
        return NOT_UNDERSTOOD
    except _Stop as stop:
        sys.stdout.flush()
        print(stop, file=sys.stderr)
        return stop.status


def install(folder: str) -> str:
    """An executable `axe` in a folder, for PATH; its path. Another axe there is not overwritten: FileExistsError."""
    import shlex

    path = os.path.join(folder, "axe")
    os.makedirs(folder, exist_ok=True)
    with open(path, "x") as script:
        script.write(_SCRIPT.format(python=shlex.quote(sys.executable)))
    os.chmod(path, 0o755)
    return path


def _check(model: str, file: str, flags: _Flags) -> int:
    judge = _judge(model)
    for answer in _answers(judge, file, flags):
        print(answer, flush=True)
    return judge.status if flags.strict else 0


def _test(model: str, file: str, expected: str, flags: _Flags) -> int:
    try:
        lines = open(expected, encoding="utf-8", errors="replace")  # noqa: SIM115  (closed below)
    except OSError:
        raise _Stop("Test error:\n  Can't open answer file") from None
    with lines:
        answers, number = _answers(_judge(model), file, flags), 0
        for number, line in enumerate(lines, 1):
            sys.stdout.flush()
            sys.stdout.buffer.write(b"%d\r" % (number - 1))  # text would have the return spelled out
            if line[0] not in "ON":
                raise _Stop("Test error:\n  Answer file has invalid format")
            answer = next(answers, None)
            if answer is None:
                raise _Stop("Test error:\n  Answer file longer than trace file")
            if answer[0] != line[0]:
                print(f"Test {number - 1} failed")
                if name := line[3:]:
                    print(f"Test name: {name}", end="")
                return NOT_UNDERSTOOD
    print(f"Ok, passed {number} tests.")
    return 0


def _judge(name: str) -> Judge:
    from gradual.judge import Judge

    return Judge([_model(name)], engine="schedule", unordered=False)


def _model(name: str) -> Model:
    """axe's, in any case of letters, and all others there are."""
    from gradual.models import ModelError, load, of_traces

    if name.lower() == "pow":
        raise _Stop("Unsupported model 'POW': gradual has no model of POWER. WMO, which POW is weaker than, is here, "
                    "and a .cat file of your own can stand in the model's place")
    try:
        return of_traces(load(name.lower() if not os.path.exists(name) else name))
    except ModelError as error:
        raise _Stop(f"Unsupported model '{name}': {error}") from None


def _answers(judge: Judge, file: str, flags: _Flags) -> Iterator[str]:
    """OK or NO for each history; ends at the first that cannot be read."""
    from gradual.files import read
    from gradual.history import Options
    from gradual.judge import PATIENCE
    from gradual.progress import Progress

    standard_input = file.startswith("-")
    if not standard_input and not os.path.exists(file):
        raise _refused(judge, flags, f"Can't open trace file '{file}'.")
    histories = read("-" if standard_input else file, "axe", Options(allow_empty=True),
                     through=lambda stream: _whole(stream, flags.ignore_times))
    with Progress() as progress:
        for found in judge.judgements(histories, progress, patience=0 if standard_input else PATIENCE):
            progress.clear()
            if found.verdict.verdict not in ("consistent", "violation"):
                raise _refused(judge, flags, _why(found))
            yield "OK" if found.verdict else "NO"


def _refused(judge: Judge, flags: _Flags, message: str) -> _Stop:
    return _Stop(message, (judge.status or 2) if flags.strict else REFUSED)


def _why(found: Judgement) -> str:
    from gradual.history import InputError

    if isinstance(found.item, InputError):
        line = f" on line {found.item.line}" if found.item.line else ""
        return f"Input trace error{line}:\n{found.item.message}"
    return f"{found.verdict.verdict}: {found.verdict.message}"


def _whole(stream: BinaryIO, ignore_times: bool) -> BinaryIO:
    """axe's idea of where histories end: with `check`, and what comes after the last one is none; a file without any
    is one history, if an empty one."""
    from gradual.adapters._pieces import stream_of

    pieces = _ended(stream)
    return stream_of((_TIMES.sub(b"", piece) for piece in pieces) if ignore_times else pieces, BLOCK)


def _ended(stream: BinaryIO) -> Iterator[bytes]:
    """The text in pieces that end with a `check`."""
    held: list[bytes] = []
    rest, any_check = b"", False
    pieces = iter(lambda: cast(io.BufferedReader, stream).read1(BLOCK), b"")
    for piece in chain(pieces, [b"\n"]):  # the last line need not be ended
        text = rest + piece
        cut = text.rfind(b"\n") + 1
        lines, rest = text[:cut], text[cut:]
        if end := _end(lines):
            any_check = True
            yield b"".join([*held, lines[:end]])
            held, lines = [], lines[end:]
        held.append(lines)
    if not any_check:
        yield b"".join([*held, b"check\n"])
    elif re.sub(rb"#.*", b"", b"".join(held)).strip():
        print("axe: the operations after the last `check` are no history, and were not checked", file=sys.stderr)


def _end(lines: bytes) -> int:
    """Behind the last `check` that is in no comment; 0 where there is none."""
    last = len(lines)
    while (found := lines.rfind(b"check", 0, last)) >= 0:
        line = lines.rfind(b"\n", 0, found) + 1
        if b"#" not in lines[line:found]:
            end = found + len(b"check")
            return rest.end() if (rest := _REST.match(lines, end)) else end
        last = line
    return 0

if __name__ == "__main__":
    main()
