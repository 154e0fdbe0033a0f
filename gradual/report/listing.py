"""The findings as a table to filter, and the explanation of each."""

from __future__ import annotations

import re

from gradual.history import visible
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
)

LINE = 240
"""Characters of a message in the table."""
LONG = 20_000
"""Characters of an explanation."""


class Listed:
    """The findings that the page lists, and where a link to one leads."""

    def __init__(self, found: list[Finding], link: Link) -> None:
        self.found = found
        self._link = link
        self._at = {one.row: at for at, one in enumerate(found)}

    def links(self, one: Finding) -> Html:
        """To its explanation, and to the page there may be."""
        at = self._at.get(one.row)
        links = [element("a", "why", href=f"#explanation-{at}")] if at is not None and _explanation(one) else []
        page = self.page(one)
        return joined([*links, *([element("a", "page", href=page)] if page is not None else [])], " · ")

    def page(self, one: Finding) -> str | None:
        return self._link(one)


def listing(results: Results, listed: Listed, groups: dict[int, int]) -> Html:
    """`groups` has the number of each row's group, where it has one."""
    title, found = "Violations, errors and unknowns", listed.found
    if not found:
        return section("found", title, element("p", "There are none: every history is consistent with every model it "
                                                    "was checked against."))
    notes = [element("p", f"Only the first {digits(SHOWN)} of {digits(SHOWN + more)} rows with the verdict {verdict} "
                          "are listed; the dataset has them all.", class_="note")
             for verdict, more in left_out(results).items()]
    heads = ["file", "history", "model", "verdict", "decided by", "#operations", "message", "more"]
    rows = [_finding(at, one, listed, groups) for at, one in enumerate(found)]
    return section("found", title, *notes, _filter(found, groups),
                   table("By verdict, file and place in it", heads, rows, id="findings", class_="wide"))


def _finding(at: int, one: Finding, listed: Listed, groups: dict[int, int]) -> Html:
    links = listed.links(one)
    cells = [div("file", path(one.source)), div("history", one.history), div("word", one.model),
             div(f"verdict verdict-{kind(one.verdict)}", one.verdict), div("criterion", one.decided_by), one.operations,
             div("message brief" if links else "message", line(one)), links]
    return row(cells, id=f"row-{at}", data_model=_choice(one.model), data_verdict=_choice(one.verdict),
               data_criterion=_choice(one.decided_by), data_group=_group(one, groups), data_folder=_choice(one.folder))


def _group(one: Finding, groups: dict[int, int]) -> str:
    return str(groups.get(one.row, NONE))


def line(one: Finding) -> str:
    """The message as one line of bearable length."""
    first = _message(one).strip().split("\n", 1)[0]
    return first if len(first) <= LINE else first[:LINE - 1] + "…"


def _message(one: Finding) -> str:
    """The message, without the file that the row names already."""
    if not one.source or not one.message.startswith(f"{one.source}:"):
        return one.message
    return re.sub(r"^([0-9]+:)", r"line \1", one.message.removeprefix(f"{one.source}:")).strip()


def _choice(text: str) -> str:
    """What a filter compares. Never empty: that stands for all."""
    return visible(text) or NONE


def _filter(found: list[Finding], groups: dict[int, int]) -> Html:
    text = element("label", joined([escaped("file or history contains"),
                                    Html('<input type="search" name="text" autocomplete="off">')]))
    fields = [text, _select("model", "model", [one.model for one in found]),
              _select("verdict", "verdict", [one.verdict for one in found]),
              _select("criterion", "decided by", [one.decided_by for one in found]),
              _select("group", "group", [_group(one, groups) for one in sorted(found, key=lambda one: groups.get(
                  one.row, len(groups) + 1))]),
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
    text = one.explanation or (_message(one) if line(one) != _message(one) else "")
    if len(text) <= LONG:
        return text
    return f"{text[:LONG]}…\n[cut after {digits(LONG)} of {digits(len(text))} characters; the dataset has them all]"


def explanations(listed: Listed) -> Html | None:
    pieces = [_details(at, one, listed.page(one)) for at, one in enumerate(listed.found) if _explanation(one)]
    return section("explanations", "Explanations", *pieces) if pieces else None


def _details(at: int, one: Finding, page: str | None) -> Html:
    by = f" by {one.decided_by}" if one.decided_by else ""
    title = f"{one.source} [{one.history}]: {one.model} {one.verdict}{by}"
    links = [element("a", "back to its row", href=f"#row-{at}")]
    if page is not None:
        links.append(element("a", "a page of its own", href=page))
    # The first newline of a <pre> is not part of it: given, so that one in the text is kept.
    text = element("pre", Html("\n" + block(_explanation(one))), id=f"explanation-{at}")
    return element("details", joined([element("summary", title), text, element("p", joined(links, " · "))]))
