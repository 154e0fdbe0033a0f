"""Puts the page together: what was found, what to look at first, how hard it was, and what the words mean."""

from __future__ import annotations

import base64
import hashlib
from string import Template

from gradual.report import sections, summary
from gradual.report.findings import Link, findings
from gradual.report.gallery import gallery
from gradual.report.glossary import glossary
from gradual.report.groups import groups, violations
from gradual.report.listing import Listed, explanations, listing
from gradual.report.results import Results
from gradual.telling import drawing
from gradual.telling.markup import Html, asset, digits, element, escaped, facts, joined, many


def page(results: Results, dataset: str, link: Link) -> str:
    """The whole page. Equal datasets give equal pages."""
    script = _asset("filter.js")
    content = _content(results, link) if len(results) else element("p", "The dataset has no rows: nothing was checked.")
    style = asset("gradual.telling", "style.css") + _asset("report.css") + drawing.STYLE
    return Template(_asset("page.html")).substitute(
        dataset=escaped(dataset), style=style, script=script, hash=_hash(f"\n{script}"),
        summary=_summary(results, dataset), content=content)


def _asset(name: str) -> str:
    return asset("gradual.report", name)


def _hash(script: str) -> str:
    """By which the browser knows our script, and runs no other."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _content(results: Results, link: Link) -> Html:
    listed, found = Listed(findings(results), link), groups(results)
    numbers = {row: number for number, group in enumerate(found, 1) for row in group.rows}
    counted = element("div", joined([sections.verdicts(results), sections.criteria(results)]), class_="columns")
    parts = [gallery(results, found, listed) if found else None, listing(results, listed, numbers), counted,
             sections.unordered(results), sections.time(results), sections.slowest(results), glossary(),
             explanations(listed)]
    return joined(part for part in parts if part is not None)


def _summary(results: Results, dataset: str) -> Html:
    about = [("dataset", dataset), ("made by", "gradual " + ", ".join(results.versions) if results.versions else ""),
             ("newest trace", f"{results.newest:%Y-%m-%d %H:%M} UTC" if results.newest else "")]
    pieces = [facts(about)]
    if len(results):
        violated = bool(len(violations(results)))
        pieces = [element("p", _lead(results), class_="lead"), *pieces, _contents(violated)]
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


def _contents(violated: bool) -> Html:
    links = [("found", "all findings"), ("verdicts", "verdicts"), ("criteria", "criteria"),
             ("unordered", "unordered write pairs"), ("time", "time"), ("slowest", "slowest"), ("glossary", "words")]
    links = [("violations", "violations"), *links] if violated else links
    return element("nav", joined(element("a", text, href=f"#{name}") for name, text in links), aria_label="Contents")
