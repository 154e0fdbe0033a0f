"""Programs: every execution that a model allows, and whether an outcome can be reached.

    >>> from gradual import programs
    >>> sb = programs.parse("P0: st x 1; ld y r0    P1: st y 1; ld x r0    exists (0:r0=0 /\\\\ 1:r0=0)")
    >>> [programs.count(sb, model) for model in ("generic", "sc", "tso", "pso")]
    [4, 3, 4, 4]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gradual.models import Model
    from gradual.programs.program import Bounds, Program


def parse(text: str, file: str = "", bounds: Bounds | None = None) -> Program:
    """The program of a text: herd's .litmus format, or the plain form of `text.py`. Raises ProgramError.

    `bounds` are the values that loads may return, and how often loops go round, where that is not found by itself.
    """
    from dataclasses import replace

    from gradual.programs import histogram, litmus
    from gradual.programs import text as plain
    from gradual.programs.scan import ProgramError

    is_litmus = litmus.recognises(text)
    if not is_litmus and histogram.recognises(text):
        raise ProgramError("this is a log of litmus7, not a program: gradual run TEST.litmus --observed LOG", file)
    program = litmus.parse(text, file) if is_litmus else plain.parse(text, file)
    return program if bounds is None else replace(program, bounds=bounds)


def read(path: str, bounds: Bounds | None = None) -> Program:
    """The program of a file; "-" is standard input. Raises ProgramError."""
    import sys

    from gradual.history import reason
    from gradual.programs.scan import ProgramError

    try:
        if path == "-":
            return parse(sys.stdin.read(), path, bounds)
        with open(path, encoding="utf-8") as stream:
            return parse(stream.read(), path, bounds)
    except UnicodeDecodeError:
        raise ProgramError("this is not text", path) from None
    except OSError as error:
        raise ProgramError(reason(error), path) from None


def count(program: Program, model: str | Model) -> int:
    """How many executions a model allows: pairs of reads-from and store order, equal values kept apart."""
    from gradual.programs.executions import Executions

    return Executions(program, model).count()
