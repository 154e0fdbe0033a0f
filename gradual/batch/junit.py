"""Results as JUnit XML, the one report that every CI system shows: a suite per file, a case per history and model.

There is no standard. This follows the schema of Jenkins' xUnit plugin (junit-10), the strictest that is in use, and
what GitLab, GitHub's reporters and Jenkins do with what they read.
"""

from __future__ import annotations

import html
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import inf
from tempfile import SpooledTemporaryFile
from typing import IO, Any

from gradual.files import appearing
from gradual.history import visible
from gradual.telling.words import counted

COLUMNS = ["source", "history", "model", "verdict", "decided_by", "operations", "seconds", "message", "explanation"]
"""What a row must say."""
HELD = 1 << 24
"""Bytes of cases kept in memory; more go to a temporary file."""
_PIECE = 1 << 20

_OUTCOME = {"consistent": None, "violation": "failure", "error": "error", "unknown": "skipped"}
"""The element that says it. No other verdict is let through: it would pass for a success."""


def write(rows: Iterable[Mapping[str, Any]], path: str) -> None:
    """Write the report of `rows` to `path`, where it appears once it is whole.

    Counts come before the cases they count, and the rows of one file need not come together. So the cases wait in a
    spool: of a row, only its name stays in memory.
    """
    with appearing(path) as out, SpooledTemporaryFile(HELD) as spool:
        suites = _spooled(rows, spool)
        # `skipped` is for suites only: the schema knows no such attribute here.
        totals = _counts(suites, ("tests", "failures", "errors"))
        out.write(f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="gradual"{totals}>\n'.encode())
        for suite in suites:
            name, counts = _attribute(suite.source), _counts([suite], ("tests", "failures", "errors", "skipped"))
            out.write(f'<testsuite name="{name}"{counts} file="{name}">\n'.encode())
            for piece in suite.cases(spool):
                out.write(piece)
            out.write(b"</testsuite>\n")
        out.write(b"</testsuites>\n")


@dataclass
class _Suite:
    """One file: what is counted, and where in the spool its cases are."""

    source: str
    classname: str
    count: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    names: Counter[str] = field(default_factory=Counter)
    stretches: array[int] = field(default_factory=lambda: array("Q"))
    """Start and end, start and end: plain numbers, for there is a pair per row when files take turns."""

    def name(self, row: Mapping[str, Any]) -> str:
        name = _attribute(" ".join(row[key] for key in ("history", "model") if row[key]) or "(whole file)")
        return _another(name, self.names)

    def add(self, row: Mapping[str, Any]) -> str:
        """The case of a row, counted."""
        outcome = _OUTCOME[row["verdict"]]
        self.count["tests"] += 1
        self.count[outcome or "success"] += 1
        time = ""
        if row["seconds"] is not None and 0 <= row["seconds"] < inf:
            time = f' time="{row["seconds"]:.6f}"'
            self.seconds += row["seconds"]
        start = f'<testcase name="{self.name(row)}" classname="{self.classname}"{time}'
        return f"{start}>{_element(outcome, row)}</testcase>\n" if outcome else f"{start}/>\n"

    def stands(self, start: int, end: int) -> None:
        if self.stretches and self.stretches[-1] == start:
            self.stretches[-1] = end
        else:
            self.stretches.extend((start, end))

    def cases(self, spool: IO[bytes]) -> Iterator[bytes]:
        for start, end in zip(self.stretches[::2], self.stretches[1::2], strict=True):
            spool.seek(start)
            for at in range(start, end, _PIECE):
                yield spool.read(min(_PIECE, end - at))


def _spooled(rows: Iterable[Mapping[str, Any]], spool: IO[bytes]) -> list[_Suite]:
    """The suites, in the order in which their files are first met; their cases are in the spool."""
    suites: dict[str, _Suite] = {}
    classnames: Counter[str] = Counter()
    end = 0
    for row in rows:
        suite = suites.get(row["source"])
        if suite is None:
            suite = suites[row["source"]] = _Suite(row["source"], _another(_classname(row["source"]), classnames))
        start, end = end, end + spool.write(suite.add(row).encode())
        suite.stands(start, end)
    return list(suites.values())


def _element(outcome: str, row: Mapping[str, Any]) -> str:
    """What is not a success, and why. GitLab shows the text alone, so there always is one."""
    by = f" by {row['decided_by']}" if row["decided_by"] else ""
    size = f" ({counted(row['operations'], 'operation')})" if row["operations"] else ""
    reason = f": {_line(row['message'])}" if row["message"] else ""
    message = f"{row['verdict']}{by}{size}{reason}"
    text = row["explanation"] or row["message"] or message
    return f'<{outcome} type="{row["verdict"]}" message="{_attribute(message)}">{_text(text)}</{outcome}>'


_COUNTED = {"tests": "tests", "failures": "failure", "errors": "error", "skipped": "skipped"}


def _counts(suites: Iterable[_Suite], names: Iterable[str]) -> str:
    suites = list(suites)
    counts = "".join(f' {name}="{sum(suite.count[_COUNTED[name]] for suite in suites)}"' for name in names)
    # Three decimals: older versions of the schema refuse more, though not in a case, where they are needed.
    return f'{counts} time="{sum(suite.seconds for suite in suites):.3f}"'


def _classname(source: str) -> str:
    """Jenkins takes what stands before the last dot for the package: let it be the folder, not all of it but `gz`."""
    parts = [part.replace(".", "_") for part in re.split(r"[/\\]", source) if part not in ("", ".")]
    return _attribute(".".join(parts)) or "-"


def _another(name: str, taken: Counter[str]) -> str:
    """The name, with a number if it is taken. GitLab drops a case when it has seen class and name before."""
    taken[name] += 1
    return name if taken[name] == 1 else _another(f"{name} ({taken[name]})", taken)


# --- text that may hold anything


def _text(text: str, keep: str = "\n\t") -> str:
    return html.escape(visible(text, keep))


def _attribute(text: str) -> str:
    return _text(text, keep="")


def _line(text: str) -> str:
    return re.sub(r"[ \t]*[\r\n]+[ \t]*", " ", text)
