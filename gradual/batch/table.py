"""The end of a batch in a table: verdicts by folder, what decided, what stayed unordered, what took long."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from gradual.adapters import stem
from gradual.history import visible
from gradual.models import shipped

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ["source", "history", "number", "model", "verdict", "decided_by", "operations", "unordered_percent",
           "seconds", "message"]
VERDICTS = ("consistent", "violation", "unknown", "error")
SHOWN = 10
SLOWEST = 5
LENGTH = 300
"""Characters of an error."""
FOLDERS = 40


def table(rows: pd.DataFrame, options: str) -> Iterator[str]:
    """Lines for people; `options` are those with which a single file is read as it was here."""
    import pandas as pd

    rows = rows.assign(folder=[os.path.dirname(source) or "." for source in rows["source"]],
                       model=pd.Categorical(rows["model"], _by_strength(rows["model"])))
    yield from _aligned([_HEAD, *_folders(rows)])
    yield ""
    yield from _deciders(rows)
    yield from _slowest(rows)
    hint = f"gradual explain FILE --model MODEL{options} shows why"
    yield from _listed(rows[rows["verdict"] == "violation"], f"violations ({hint})",
                       lambda row: f"{_name(row)} {row['model']} by {row['decided_by']}")
    errors = rows[rows["verdict"] == "error"].drop_duplicates(["source", "number", "message"])
    yield from _listed(errors, "errors", _error)


def _by_strength(names: Iterable[str]) -> list[str]:
    """Those that ship from strong to weak, then the others."""
    return list(dict.fromkeys([*map(str, shipped()), *sorted(set(names))]))


_HEAD = ["folder", "model", "histories", *VERDICTS, "unordered % mean", "median", "max"]


def _folders(rows: pd.DataFrame) -> Iterator[list[str]]:
    groups = list(rows.groupby(["folder", "model"], observed=True))
    for (folder, model), group in groups[:FOLDERS]:
        yield _line(visible(folder), model, group)
    if len(groups) > FOLDERS:
        yield [f"and {len(groups) - FOLDERS} more", *[""] * (len(_HEAD) - 1)]
    if rows["folder"].nunique() > 1:
        for model, group in rows.groupby("model", observed=True):
            yield _line("all", str(model), group)


def _line(folder: str, model: str, group: pd.DataFrame) -> list[str]:
    counts = group["verdict"].value_counts()
    percent = group["unordered_percent"].dropna()
    figures = ["", "", ""]
    if len(percent):
        figures = [f"{value:.1f}" for value in (percent.mean(), percent.median(), percent.max())]
    return [folder, model, str(len(group)), *(str(counts.get(verdict, 0)) for verdict in VERDICTS), *figures]


def _aligned(lines: list[list[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = [cell.ljust(width) if at < 2 else cell.rjust(width) for at, (cell, width) in
                 enumerate(zip(line, widths, strict=True))]
        yield "  ".join(cells).rstrip()


def _deciders(rows: pd.DataFrame) -> Iterator[str]:
    for (model, verdict), group in rows.dropna(subset=["decided_by"]).groupby(["model", "verdict"], observed=True):
        counts = ", ".join(f"{name} {count}" for name, count in group["decided_by"].value_counts().items())
        yield f"{model} {verdict} by: {counts}"


def _slowest(rows: pd.DataFrame) -> Iterator[str]:
    slow = rows.dropna(subset=["seconds"]).nlargest(SLOWEST, "seconds")
    if len(slow):
        yield "slowest:"
        for row in slow.to_dict("records"):
            yield f"  {row['seconds']:.2f} s  {_name(row)} {row['model']} ({row['operations']:.0f} operations)"


def _listed(rows: pd.DataFrame, title: str, line: Callable[[dict[Any, Any]], str]) -> Iterator[str]:
    if len(rows):
        yield f"{title}:"
        for row in rows.head(SHOWN).to_dict("records"):
            yield f"  {line(row)}"
        if len(rows) > SHOWN:
            yield f"  and {len(rows) - SHOWN} more"


def _error(row: dict[Any, Any]) -> str:
    """The message says the file itself, where there is a line to tell."""
    message = row["message"] if row["message"].startswith(row["source"]) else f"{_name(row)}: {row['message']}"
    return textwrap.shorten(visible(message), LENGTH, placeholder=" …")


def _name(row: dict[Any, Any]) -> str:
    history = "" if row["history"] in ("", stem(row["source"])) else f" [{visible(row['history'])}]"
    return f"{visible(row['source'])}{history}"
