"""A dataset as notebooks show it: verdicts by model, and what violations look like."""

from __future__ import annotations

import numpy as np

from gradual.report.example import example
from gradual.report.findings import fetched
from gradual.report.groups import groups
from gradual.report.results import Results
from gradual.telling import drawing
from gradual.telling.markup import Html, element, joined, many, row, table

PICTURES = 3


def html(results: Results) -> Html:
    rows = [row([model, *(int(np.count_nonzero((results.model == at) & (results.verdict == code)))
                          for code in range(len(results.verdicts)))]) for at, model in enumerate(results.models)]
    heads = ["model", *(f"#{name}" for name in results.verdicts)]
    counts = table(many(len(results), "verdict", "verdicts"), heads, rows)
    return joined([counts, *_violations(results)])


def _violations(results: Results) -> list[Html]:
    """The largest groups of those that look alike, each with an example."""
    pieces = []
    for group in groups(results)[:PICTURES]:
        at = np.array([group.example])
        one, evidence = fetched(results, at)[0], results.fetch(at, ["cycle", "steps"])[0]
        drawn = example(one, evidence["cycle"], evidence["steps"])
        title = (f"{many(len(group.rows), 'violation', 'violations')} of {group.model}, for example {one.history} in "
                 f"{one.source}")
        pieces += [element("p", title), Html(drawing.svg(drawn)) if drawn else element("p", one.message)]
    return pieces
