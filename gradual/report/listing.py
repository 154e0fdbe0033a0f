"""The findings as a table to filter, and the explanation of each."""

from __future__ import annotations

import re

from gradual.report.findings import SHOWN, Finding, Link, left_out
from gradual.report.results import Results, kind
from gradual.telling.markup import (
    NONE,
    Html,
    block,
    digits,
    div,
    element,
    escaped,
    joined,
    path,
    row,
    section,
    table,
    visible,
)

LINE = 240
"""Characters of a message in the table."""
LONG = 20_000
"""Characters of an explanation."""


def listing(results: Results, found: list[Finding], link: Link) -> Html:
    title = "Violations, errors and unknowns"
    if not found:
        return section("found", title, element("p", "There are none: every history is consistent with every model it "
                                                    "was checked against."))
    notes = [element("p", f"Only the first {digits(SHOWN)} of {digits(SHOWN + more)} rows with the verdict {verdict} "
                          "are listed; the dataset has them all.", class_="note")
             for verdict, more in left_out(results).items()]
    heads = ["file", "history", "model", "verdict", "decided by", "#operations", "message", "more"]
    rows = [_finding(at, one, link) for at, one in enumerate(found)]
    return section("found", title, *notes, _filter(found),
                   table("By verdict, file and place in it", heads, rows, id="findings", class_="wide"))


def _finding(at: int, one: Finding, link: Link) -> Html:
    links = [element("a", "why", href=f"#explanation-{at}")] if _explanation(one) else []
    if (address := link(one)) is not None:
        links.append(element("a", "page", href=address))
    cells = [div("file", path(one.source)), div("history", one.history), div("word", one.model),
             div(f"verdict verdict-{kind(one.verdict)}", one.verdict), div("criterion", one.decided_by), one.operations,
             div("message brief" if links else "message", _line(one)), joined(links, " · ")]
    return row(cells, id=f"row-{at}", data_model=_choice(one.model), data_verdict=_choice(one.verdict),
               data_criterion=_choice(one.decided_by), data_folder=_choice(one.folder))


def _line(one: Finding) -> str:
    """The message as one line of bearable length."""
    line = _message(one).strip().split("\n", 1)[0]
    return line if len(line) <= LINE else line[:LINE - 1] + "…"


def _message(one: Finding) -> str:
    """The message, without the file that the row names already."""
    if not one.source or not one.message.startswith(f"{one.source}:"):
        return one.message
    return re.sub(r"^([0-9]+:)", r"line \1", one.message.removeprefix(f"{one.source}:")).strip()


def _choice(text: str) -> str:
    """What a filter compares. Never empty: that stands for all."""
    return visible(text) or NONE


def _filter(found: list[Finding]) -> Html:
    text = element("label", joined([escaped("file or history contains"),
                                    Html('<input type="search" name="text" autocomplete="off">')]))
    fields = [text, _select("model", "model", [one.model for one in found]),
              _select("verdict", "verdict", [one.verdict for one in found]),
              _select("criterion", "decided by", [one.decided_by for one in found]),
              _select("folder", "folder", sorted(one.folder for one in found)),
              element("button", "clear", type="reset"),
              element("output", f"{digits(len(found))} rows", id="matching", aria_live="polite")]
    # Without JavaScript it could do nothing: the script shows it.
    return element("form", joined(fields), hidden=True, id="filter", aria_label="Filter the findings")


def _select(name: str, label: str, values: list[str]) -> Html:
    choices = dict.fromkeys(_choice(value) for value in values)
    options = [element("option", "all", value=""), *(element("option", choice, value=choice) for choice in choices)]
    return element("label", joined([escaped(label), element("select", joined(options), name=name)]))


def _explanation(one: Finding) -> str:
    """What there is to read beyond the row."""
    text = one.explanation or (_message(one) if _line(one) != _message(one) else "")
    if len(text) <= LONG:
        return text
    return f"{text[:LONG]}…\n[cut after {digits(LONG)} of {digits(len(text))} characters; the dataset has them all]"


def explanations(found: list[Finding], link: Link) -> Html | None:
    pieces = [_details(at, one, link) for at, one in enumerate(found) if _explanation(one)]
    return section("explanations", "Explanations", *pieces) if pieces else None


def _details(at: int, one: Finding, link: Link) -> Html:
    by = f" by {one.decided_by}" if one.decided_by else ""
    title = f"{one.source} [{one.history}]: {one.model} {one.verdict}{by}"
    links = [element("a", "back to its row", href=f"#row-{at}")]
    if (address := link(one)) is not None:
        links.append(element("a", "a page of its own", href=address))
    # The first newline of a <pre> is not part of it: given, so that one in the text is kept.
    text = element("pre", Html("\n" + block(_explanation(one))), id=f"explanation-{at}")
    return element("details", joined([element("summary", title), text, element("p", joined(links, " · "))]))
