"""What the rows say together, as tables and charts: a section of the page each."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gradual.report import charts, summary
from gradual.report.glossary import linked
from gradual.report.results import Numbers, Results, kind
from gradual.telling.markup import (
    Cell,
    Figure,
    Html,
    digits,
    div,
    duration,
    element,
    joined,
    many,
    path,
    row,
    section,
    shown,
    table,
)

SLOWEST = 20
CRITERIA = 100
"""Rows of the table of criteria: there are a dozen, unless a dataset was tampered with."""


def _columns(results: Results) -> list[int]:
    """The verdicts as columns: consistent first, then what is worse."""
    return sorted(range(len(results.verdicts)), key=lambda at: (results.verdicts[at] != "consistent", at))


def verdicts(results: Results) -> Html:
    counts = summary.verdict_counts(results)
    columns = _columns(results)
    rows = []
    for at, model in enumerate(results.models):
        shares = [(kind(results.verdicts[column]), int(counts[at, column])) for column in columns]
        label = f"{model}: " + ", ".join(f"{digits(count)} {name}" for name, count in shares)
        cells: list[Cell] = [model, *(count for _, count in shares), int(counts[at].sum()), charts.bar(shares, label)]
        rows.append(row(cells, data_model=model))
    names = [results.verdicts[at] for at in columns]
    keys = [joined([charts.swatch(kind(name)), shown(name)], "") for name in names]
    heads = ["model", *keys, "#histories", "share"]
    return section("verdicts", "Verdicts", table("Verdicts of each model", heads, rows, id="verdict-counts"))


def unordered(results: Results) -> Html:
    return section(
        "unordered", "Write pairs left unordered",
        element("p", "Of the pairs of writes to one location, the share that the last partial store order left open "
                     "before scheduling and search.", class_="note"),
        _panels(results, _histogram), _folders(results))


def _panels(results: Results, draw: Callable[[Results, int], Html]) -> Html:
    return element("div", joined(draw(results, at) for at in range(len(results.models))), class_="panels")


def _figure(title: str, note: str, chart: Html) -> Html:
    caption = element("figcaption", joined([element("b", title), element("span", note, class_="note")], ""))
    return element("figure", joined([caption, chart]))


def _histogram(results: Results, at: int) -> Html:
    percent = results.percent[results.model == at]
    percent = percent[np.isfinite(percent)]
    model = results.models[at]
    if not len(percent):
        return _figure(model, "no history has a figure", Html(""))
    none = int(np.count_nonzero(percent == 0))
    note = f"{many(len(percent), 'history', 'histories')}, {digits(none)} of them with exactly 0\u00a0%"
    label = f"Histogram of the unordered percentage under {model}: {note}; median {np.median(percent):.1f} %"
    return _figure(model, note, charts.histogram(percent, label))


def _folders(results: Results) -> Html:
    rows, all_rows = summary.by_folder(results)
    columns = _columns(results)
    heads = ["folder", "model", "#histories", *(f"#{results.verdicts[at]}" for at in columns),
             "#mean %", "#median %", "#max %"]
    lines = [row([div("file", path(one.folder)), div("word", one.model), one.histories,
                  *(one.verdicts[at] for at in columns),
                  *(_percent(value) for value in (one.spread.mean, one.spread.median, one.spread.most))])
             for one in rows]
    note = "" if len(rows) == all_rows else (f": {digits(len(rows))} of {digits(all_rows)} rows, those with the most "
                                             "violations and histories")
    return table(f"By folder and model, with the percentage left unordered{note}", heads, lines, id="folders")


def _percent(value: float) -> Cell:
    return None if np.isnan(value) else Figure(f"{value:.1f}")


def time(results: Results) -> Html:
    timed = _timed(results)
    if not timed.any():
        return section("time", "Time", element("p", "No row has a time."))
    scales = charts.Scales.of(*_positive(results, timed))

    def draw(results: Results, at: int) -> Html:
        chosen = timed & (results.model == at)
        model = results.models[at]
        if not chosen.any():
            return _figure(model, "no history has a time", Html(""))
        operations, seconds = _positive(results, chosen)
        bad = results.verdict[chosen] == results.verdicts.index("violation")
        note = (f"{many(len(seconds), 'history', 'histories')}, median {duration(float(np.median(seconds)))}, "
                f"longest {duration(float(seconds.max()))}")
        label = f"Seconds against operations under {model}, logarithmic: {note}"
        return _figure(model, note, charts.scatter(operations, seconds, bad, scales, label))

    return section("time", "Time", element("p", "Seconds against operations, both logarithmic; × is a violation, • "
                                                "any other verdict. Where there are many, a larger mark stands for "
                                                "more histories.", class_="note"), _panels(results, draw))


def _timed(results: Results) -> Numbers:
    return np.isfinite(results.seconds) & np.isfinite(results.operations)


def _positive(results: Results, chosen: Numbers) -> tuple[Numbers, Numbers]:
    """Operations and seconds, fit for logarithms: a clock may say 0."""
    return np.maximum(results.operations[chosen], 1), np.maximum(results.seconds[chosen], 1e-6)


def criteria(results: Results) -> Html:
    found = summary.criteria(results)
    rows = [row([verdict, linked(criterion), *counts, sum(counts)]) for verdict, criterion, counts in found[:CRITERIA]]
    heads = ["verdict", "decided by", *(f"#{model}" for model in results.models), "#all"]
    caption = "What decided, and how often under each model"
    if len(found) > CRITERIA:
        caption += f": the first {CRITERIA} of {digits(len(found))} rows"
    return section("criteria", "Which criterion decided", table(caption, heads, rows, id="decided"))


def slowest(results: Results) -> Html | None:
    chosen = summary.slowest(results, SLOWEST)
    if not len(chosen):
        return None
    rows = []
    for at, more in zip(chosen, results.fetch(chosen, ["history", "threads", "locations"]), strict=True):
        source, model, verdict, criterion = results.text(at)
        operations = results.operations[at]
        rows.append(row([
            div("file", path(source)), div("history", more["history"]), div("word", model), div("verdict", verdict),
            div("criterion", criterion), int(operations) if np.isfinite(operations) else None, more["threads"],
            more["locations"], float(results.seconds[at])]))
    heads = ["file", "history", "model", "verdict", "decided by", "#operations", "#threads", "#locations", "#seconds"]
    caption = f"The {len(rows)} that took longest" if len(rows) > 1 else "The one that took longest"
    return section("slowest", "Slowest", table(caption, heads, rows, id="slow", class_="wide"))
