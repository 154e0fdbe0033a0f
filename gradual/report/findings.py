"""The rows that somebody should look at one by one: violations, errors, unknowns."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import numpy as np

from gradual.batch.pages import FOLDER, page_name
from gradual.report.results import Numbers, Results

SHOWN = 1000
"""Findings of one kind that the page lists: browsers and readers tire."""


@dataclass(frozen=True)
class Finding:
    """A row of the dataset, every string as it stands there."""

    row: int
    """Among the results."""
    source: str
    folder: str
    history: str
    number: int
    model: str
    verdict: str
    decided_by: str
    operations: int | None
    message: str
    explanation: str


Link = Callable[[Finding], "str | None"]


def pages_of(dataset: Path, output: Path) -> Link:
    """The page that the batch made of a violation, as an address from the report; None where there is none."""
    def link(finding: Finding) -> str | None:
        page = dataset / FOLDER / page_name(finding.source, finding.number, finding.model)
        if finding.verdict != "violation" or not page.exists():
            return None
        return quote(os.path.relpath(page.resolve(), output.resolve().parent))

    return link


def fetched(results: Results, rows: Numbers) -> list[Finding]:
    more = results.fetch(rows, ["history", "message", "explanation"])
    return [_finding(results, int(row), texts) for row, texts in zip(rows, more, strict=True)]


def findings(results: Results) -> list[Finding]:
    """Violations first, then errors, then unknowns and what we have no name for; each by file, number and model."""
    wanted = [verdict for verdict in results.verdicts if verdict != "consistent"]
    chosen = [np.flatnonzero(results.verdict == results.verdicts.index(verdict))[:SHOWN] for verdict in wanted]
    rows = np.concatenate([*chosen, np.array([], np.int64)])
    return fetched(results, rows)


def left_out(results: Results) -> dict[str, int]:
    """How many of each verdict are not among the findings, for being too many."""
    counts = {name: int(np.count_nonzero(results.verdict == code)) for code, name in enumerate(results.verdicts)}
    return {name: count - SHOWN for name, count in counts.items() if name != "consistent" and count > SHOWN}


def _finding(results: Results, row: int, more: dict[str, str]) -> Finding:
    source, model, verdict, criterion = results.text(row)
    operations = results.operations[row]
    return Finding(
        row=row, source=source, folder=results.folders[results.folder[row]], history=more["history"],
        number=int(results.number[row]), model=model, verdict=verdict, decided_by=criterion,
        operations=int(operations) if np.isfinite(operations) else None,
        message=more["message"], explanation=more["explanation"])
