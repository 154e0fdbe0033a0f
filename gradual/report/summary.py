"""What the rows say together. All of it is counted in arrays: a million rows are a second's work."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradual.report.results import Numbers, Results

FOLDERS = 200
"""Rows of the table by folder; there may be a folder per trace."""


@dataclass(frozen=True)
class Spread:
    """Mean, median and greatest of some percentages; nan of none."""

    mean: float
    median: float
    most: float


@dataclass(frozen=True)
class FolderRow:
    folder: str
    model: str
    histories: int
    verdicts: list[int]
    spread: Spread


def verdict_counts(results: Results) -> Numbers:
    """Rows are models, columns verdicts."""
    return _counts(results.model, len(results.models), results.verdict, len(results.verdicts))


def histories(results: Results) -> int:
    """Different ones: each stands there once per model. The rows are in order, so neighbours tell."""
    return _changes(results.source, results.number)


def files(results: Results) -> int:
    return _changes(results.source)


def criteria(results: Results) -> list[tuple[str, str, list[int]]]:
    """Verdict, what decided it, and how often under each model; the most frequent first."""
    width = len(results.criteria)
    both = results.verdict * width + results.criterion
    counts = _counts(both, len(results.verdicts) * width, results.model, len(results.models))
    used = np.flatnonzero(counts.sum(1))
    used = used[np.lexsort((used, -counts[used].sum(1), used // max(width, 1)))]
    return [(results.verdicts[at // width], results.criteria[at % width], counts[at].tolist()) for at in used]


def slowest(results: Results, most: int) -> Numbers:
    """The rows that took longest."""
    timed = np.flatnonzero(np.isfinite(results.seconds))
    return timed[np.argsort(-results.seconds[timed], kind="stable")[:most]]


def by_folder(results: Results) -> tuple[list[FolderRow], int]:
    """A row per folder and model, by name, and how many there would be.

    Where there are too many, those with the most violations stay, then those with the most histories.
    """
    models = len(results.models)
    key = results.folder * models + results.model
    keys, key = np.unique(key, return_inverse=True)
    counts = _counts(key, len(keys), results.verdict, len(results.verdicts))
    spreads = _spreads(key, len(keys), results.percent)
    bad = counts[:, results.verdicts.index("violation")]
    kept = np.sort(np.lexsort((keys, -counts.sum(1), -bad))[:FOLDERS])
    rows = [FolderRow(results.folders[keys[at] // models], results.models[keys[at] % models], int(counts[at].sum()),
                      counts[at].tolist(), Spread(*spreads[at].tolist())) for at in kept]
    return rows, len(keys)


def _spreads(key: Numbers, keys: int, percent: Numbers) -> Numbers:
    """Mean, median and maximum per key, from the percentages in order."""
    known = np.isfinite(percent)
    key, percent = key[known], percent[known]
    percent = percent[np.lexsort((percent, key))]
    count = np.bincount(key, minlength=keys)
    found = np.full((keys, 3), np.nan)
    some = count > 0
    n = count[some]
    start = (np.cumsum(count) - count)[some]
    if len(start):
        found[some, 0] = np.add.reduceat(percent, start) / n
        found[some, 1] = (percent[start + (n - 1) // 2] + percent[start + n // 2]) / 2
        found[some, 2] = percent[start + n - 1]
    return found


def _counts(row: Numbers, rows: int, column: Numbers, columns: int) -> Numbers:
    return np.bincount(row * columns + column, minlength=rows * columns).reshape(rows, columns)


def _changes(*columns: Numbers) -> int:
    if not len(columns[0]):
        return 0
    return 1 + int(np.count_nonzero(np.any([column[1:] != column[:-1] for column in columns], axis=0)))
