"""gradual: does a trace of loads and stores behave as its memory model promises?

    >>> import gradual
    >>> history = gradual.generate("sc", threads=2, operations=20, locations=2, seed=1)
    >>> gradual.check(history, model="tso").verdict
    'consistent'

`check` decides one history, `classify` tells every criterion, `read` and `write` go from and to
files in any format, `generate` runs small machines. Everything heavy is imported when it is used.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradual.evidence.verdict import Verdict
    from gradual.files import Source
    from gradual.history import Builder, History, InputError, Options
    from gradual.models import Model
    from gradual.progress import Progress
    from gradual.report.results import Results

__version__ = "0.1.0"
__all__ = [
    "Builder", "History", "InputError", "Options", "Verdict", "check", "classify", "explain", "generate", "read",
    "results", "shrink", "write",
]


def __getattr__(name: str) -> Any:
    if name in ("Builder", "History", "InputError", "Options"):
        from gradual import history

        return getattr(history, name)
    if name == "Verdict":
        from gradual.evidence.verdict import Verdict

        return Verdict
    raise AttributeError(f"module 'gradual' has no attribute {name!r}")


def check(history: Source, model: str | Model = "sc", *, engine: str = "auto",
          completion: str = "auto", timeout: float | None = None, unordered: bool | None = None,
          format: str | None = None, options: Options | None = None) -> Verdict:
    """Is a history consistent with a memory model?

    history     a History; the path of a trace that holds exactly one; a pandas DataFrame or a list of dicts with the
                columns of CSV
    model       a name ("sc", "tso", …: `gradual models` lists them), the path of a .cat file, or a Model
    engine      "schedule" is near-linear, "datalog" climbs the ladder of criteria first; "auto" is schedule, and names
                the criterion that a small violation fails
    completion  "auto" is the engine; "enumerate" and "sat" order what the ladder leaves open, "direct" everything
    timeout     seconds after which the verdict is "unknown", reading included
    unordered   count the write pairs that are not forced; None: of up to 20 000 operations
    format, options  as for `read`, when a path is given

    The verdict's `evidence` (a run of the machine, or a proof that there is none) has been checked.
    A Verdict is true when it says "consistent", false when it says "violation"; asked whether it is true, an unknown
    one raises ValueError. Raises InputError when the trace cannot be read.
    """
    from gradual.deadline import Deadline
    from gradual.deciding import pipeline
    from gradual.evidence.verdict import Verdict
    from gradual.history import History, NotInTime
    from gradual.models import load
    from gradual.telling import words
    from gradual.telling.notebook import knowing

    Deadline(timeout)
    spent, chosen = 0.0, load(model)
    if not isinstance(history, History):
        try:
            history = _only(history, format, options, timeout)
        except NotInTime as late:
            return Verdict(chosen.name, "unknown", message=late.message)
        spent = history.reading
    verdict = pipeline.check(history, chosen, engine=engine, completion=completion, timeout=timeout, spent=spent,
                             unordered=unordered)
    return knowing(words.told(verdict, chosen.takes(history)), history, chosen)


def _only(source: Source, format: str | None = None, options: Options | None = None,
          timeout: float | None = None) -> History:
    from dataclasses import replace

    from gradual import files
    from gradual.history import InputError
    from gradual.history import Options as Chosen

    if timeout is not None:
        options = replace(options or Chosen(), timeout=timeout)
    histories = files.histories(source, format, options or Chosen())
    path = os.fspath(source) if isinstance(source, str | os.PathLike) else ""
    first: History | InputError | None = next(histories, None)
    if first is None:
        raise InputError("there is no history in it", path)
    if isinstance(first, Exception):
        raise first
    if not len(first) and not (options and options.allow_empty):
        raise InputError(files.NO_OPERATIONS, path)
    if next(histories, None) is not None:
        raise InputError("there is more than one history in it; take them one by one", path)
    return first


def explain(verdict: Verdict, history: History, model: str | Model | None = None) -> str:
    """Why a history violates a model, step by step, as `gradual explain` tells it; empty for any other verdict.

    model  the one that was checked; it may be left out when it ships with the package

    Raises ValueError for a history that the verdict is not about.
    """
    from gradual.evidence import certificate
    from gradual.models import load
    from gradual.telling import prose, shortened

    chosen = load(verdict.model if model is None else model)
    history = history.knowing(verdict.given)
    if verdict.evidence is not None:
        try:
            certificate.check(history, chosen, verdict.evidence)
        except (certificate.CertificateError, IndexError) as error:
            raise ValueError("this verdict is not about this history: its evidence does not hold here "
                             f"({error})") from None
    return prose(shortened(verdict, history, chosen), history, chosen)


def classify(history: Source, *, timeout: float | None = None) -> dict[str, bool | None]:
    """Which of CC, CCv, CM, CCM, SC, wCCM, TSO, PSO hold? None where the time limit came first."""
    from gradual.deciding import classification
    from gradual.history import History

    if not isinstance(history, History):
        history = _only(history)
    return classification.classify(history, timeout=timeout)


def shrink(history: Source, model: str | Model = "sc", *, timeout: float | None = None,
           progress: Progress | None = None) -> History:
    """The operations of a violating history that cannot be spared: without any one of them it is consistent, or wrong
    in another way. Lines, ticks and values are those of the whole. Raises ValueError when nothing is violated.

    timeout  seconds; then the smallest history so far is the result
    """
    from gradual.deciding.shrinking import shrink as shrink_history
    from gradual.history import History

    if not isinstance(history, History):
        history = _only(history)
    return shrink_history(history, model, timeout=timeout, progress=progress)


def read(path: str | os.PathLike[str], *, format: str | None = None,
         options: Options | None = None) -> Iterator[History | InputError]:
    """The histories of a trace file ("-" is standard input), in order; an InputError where one is bad.

    format   the adapter's name; recognised from the content when it is not given
    options  which addresses to keep, which initial values to assume
    """
    from gradual import files
    from gradual.history import Options

    return files.read(path, format, options or Options())


def results(dataset: str | os.PathLike[str]) -> Results:
    """The verdicts that `gradual batch --out DATASET` left, for `.to_pandas()` and notebooks. Raises InputError."""
    from pathlib import Path

    from gradual.report.results import Results

    return Results.read(Path(dataset))


def write(histories: Iterable[History], path: str | os.PathLike[str], *, format: str | None = None) -> None:
    """Write histories to a file, in the format its name points to unless `format` says otherwise."""
    from gradual import files

    files.write(histories, path, format)


def generate(machine: str = "sc", *, threads: int = 4, operations: int = 200, locations: int = 8,
             seed: int = 0, ordered: bool = False) -> History:
    """A random history with unique values, run on a small operational machine.

    machine  "sc", "tso", "pso", or one that is broken: `gradual generate --help` lists them
    ordered  also tell in which order the stores reached memory, as the column `order` does
    """
    from gradual import machines

    return machines.generate(machine, threads, operations, locations, seed, ordered=ordered)
