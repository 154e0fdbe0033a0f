"""Which criterion saw a violation first: the table that the percentages and the study share."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

ORDER = ("thin-air", "own-future", "CC", "CCv", "CM", "CCM", "wCCM", "cycle", "search", "enumerate")
"""From the first to be asked to the last; after the ladder come facts, after them the search."""
CAUSAL, LADDER = ORDER[:4], ORDER[:6]
"""Up to CCv, and up to CCM."""


def table(rows: pd.DataFrame) -> str:
    """A line per client and model, in Markdown. Columns of criteria that saw nothing first are left out."""
    if rows.empty:
        return "Nothing was measured.\n"
    seen = set(rows[rows["verdict"] == "violation"]["decided_by"])
    shown = [name for name in ORDER if name in seen] + sorted(seen - set(ORDER))
    lines = ["| machine | threads × operations | model | histories | violate it | unknown | "
             + " | ".join(shown) + " |", "|---|---|---|--:|--:|--:|" + "--:|" * len(shown)]
    for key, group in rows.groupby(["source", "machine", "threads", "operations", "model"], sort=False):
        source, machine, threads, operations, model = key
        wrong = group[group["verdict"] == "violation"]
        counts = [len(group), len(wrong), int((group["verdict"] == "unknown").sum()),
                  *(int((wrong["decided_by"] == name).sum()) for name in shown)]
        lines.append(f"| {source} {machine} | {threads} × {operations} | {model.upper()} | "
                     f"{' | '.join(map(str, counts))} |")
    return "\n".join(lines) + "\n"


def shares(rows: pd.DataFrame) -> Iterator[str]:
    """A line per source: how many of the violations fail CC or CCv, and how many CCM."""
    for source, group in rows[rows["verdict"] == "violation"].groupby("source", sort=False) if len(rows) else ():
        causal, ladder = (int(group["decided_by"].isin(names).sum()) for names in (CAUSAL, LADDER))
        yield (f"- {source}: of {len(group)} violations {causal} ({causal / len(group):.1%}) fail CC or CCv, "
               f"{ladder} ({ladder / len(group):.1%}) CCM at the latest")
