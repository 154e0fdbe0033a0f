"""Puts the page together: what was found, how hard it was, and each finding with its explanation."""

from __future__ import annotations

import base64
import hashlib
from string import Template

from gradual.report import sections, summary
from gradual.report.findings import Link, findings
from gradual.report.listing import explanations, listing
from gradual.report.results import Results
from gradual.telling.markup import Html, asset, digits, element, escaped, facts, joined, many


def page(results: Results, dataset: str, link: Link) -> str:
    """The whole page. Equal datasets give equal pages."""
    script = _asset("filter.js")
    content = _content(results, link) if len(results) else element("p", "The dataset has no rows: nothing was checked.")
    return Template(_asset("page.html")).substitute(
        dataset=escaped(dataset), style=asset("gradual.telling", "style.css"), script=script, hash=_hash(f"\n{script}"),
        summary=_summary(results, dataset), content=content)


def _asset(name: str) -> str:
    return asset("gradual.report", name)


def _hash(script: str) -> str:
    """By which the browser knows our script, and runs no other."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _content(results: Results, link: Link) -> Html:
    found = findings(results)
    # The findings may be a thousand, so they come after what is seen at a glance.
    parts = [sections.verdicts(results), sections.criteria(results), sections.unordered(results),
             sections.time(results), sections.slowest(results), listing(results, found, link),
             explanations(found, link)]
    return joined(part for part in parts if part is not None)


def _summary(results: Results, dataset: str) -> Html:
    about = [("dataset", dataset), ("made by", "gradual " + ", ".join(results.versions) if results.versions else ""),
             ("newest trace", f"{results.newest:%Y-%m-%d %H:%M} UTC" if results.newest else "")]
    pieces = [facts(about)]
    if len(results):
        pieces = [element("p", _lead(results), class_="lead"), *pieces, _contents()]
    return joined(pieces)


def _lead(results: Results) -> str:
    totals = summary.verdict_counts(results).sum(0).tolist()
    counts = dict(zip(results.verdicts, totals, strict=True))
    bad = counts.pop("violation", 0)
    rest = [f"{digits(count)} {_plural(name, count)}" for name, count in counts.items()
            if count and name != "consistent"]
    models = ", ".join(results.models)
    return (f"{many(summary.histories(results), 'history', 'histories')} from "
            f"{many(summary.files(results), 'file', 'files')}, checked against {models}: "
            + ", ".join([many(bad, "violation", "violations") if bad else "no violation", *rest]) + ".")


def _plural(verdict: str, count: int) -> str:
    return "errors" if verdict == "error" and count != 1 else verdict


def _contents() -> Html:
    links = (("verdicts", "verdicts"), ("criteria", "criteria"), ("unordered", "unordered write pairs"),
             ("time", "time"), ("slowest", "slowest"), ("found", "violations, errors, unknowns"))
    return element("nav", joined(element("a", text, href=f"#{name}") for name, text in links), aria_label="Contents")
