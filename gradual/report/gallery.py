"""The violations, group by group, each with the picture of an example: what the reader of a report came for."""

from __future__ import annotations

import numpy as np

from gradual.report import glossary
from gradual.report.example import example
from gradual.report.findings import Finding, fetched
from gradual.report.groups import AT_MOST, Group, violations
from gradual.report.listing import Listed, line
from gradual.report.results import Results
from gradual.telling import drawing
from gradual.telling.markup import Html, digits, div, element, joined, many, path, row, section, table

PICTURES = 24
"""Groups that are drawn; the others are small, or there are too many to look at."""
GROUPS = 200
MEMBERS = 20
"""Of a group, that its card names."""



def gallery(results: Results, found: list[Group], listed: Listed) -> Html:
    """Of a dataset with violations."""
    count = len(violations(results))
    note = (f"{many(count, 'violation', 'violations')} in {many(len(found), 'group', 'groups')}: the same model and "
            "criterion, the same cycle but for the names of threads and locations. The largest first, each with the "
            "example that is shortest to read.")
    if count > AT_MOST:
        note += f" Only the first {digits(AT_MOST)} were grouped."
    members = _Members(results, found, listed)
    cards = [members.card(number, group) for number, group in enumerate(found[:PICTURES], 1)]
    return section("violations", "Violations", element("p", note, class_="note"), drawing.tips(),
                   drawing.key(), element("div", joined(cards), class_="cards"), *members.others(found))


class _Members:
    """The groups, with what is said of their members: read in one go."""

    def __init__(self, results: Results, found: list[Group], listed: Listed) -> None:
        self._listed = listed
        drawn = found[:PICTURES]
        examples = [group.example for group in drawn]
        named = [member for group in drawn for member in group.rows[:MEMBERS]]
        rows = np.unique(np.array([*named, *(group.example for group in found[:GROUPS])]))
        self._finding = {one.row: one for one in fetched(results, rows)}
        self._evidence = dict(zip(examples, results.fetch(np.array(examples), ["cycle", "steps"]), strict=True))

    def card(self, number: int, group: Group) -> Html:
        one = self._finding[group.example]
        title = joined([element("b", many(len(group.rows), "history", "histories")), " ", group.model, " by ",
                        glossary.linked(group.criterion)], "")
        pieces = [element("h3", title), element("p", group.text or line(one), class_="shape"), *self._picture(one),
                  element("p", joined(["for example", self._named(one)], " "), class_="member")]
        if len(group.rows) > 1:
            pieces.append(self._others_of(number, group))
        return element("article", joined(pieces), id=f"group-{number}")

    def _picture(self, one: Finding) -> list[Html]:
        drawn = example(one, **self._evidence[one.row])
        if drawn is None:
            return []
        return [element("div", drawing.embedded(drawn, legend=False), class_="picture", tabindex=0)]

    def _others_of(self, number: int, group: Group) -> Html:
        others = [member for member in group.rows[:MEMBERS] if member != group.example]
        more = len(group.rows) - 1 - len(others)
        items = [element("li", self._named(self._finding[member]), class_="member") for member in others]
        items += [element("li", f"and {digits(more)} more")] if more else []
        # Without JavaScript it could do nothing: the script shows it.
        rows = element("a", "all of them in the table", href="#found", data_group=str(number), hidden=True)
        title = many(len(group.rows) - 1, "other", "others")
        return element("details", joined([element("summary", title), element("ul", joined(items)), rows]))

    def _named(self, one: Finding) -> Html:
        return joined([path(one.source), f"[{one.history}]", self._listed.links(one)], " ")

    def others(self, found: list[Group]) -> list[Html]:
        """The smaller groups, a line each."""
        rest = found[PICTURES:GROUPS]
        rows = [row([str(number), len(group.rows), div("word", group.model),
                     div("criterion", glossary.linked(group.criterion)),
                     div("shape", group.text or line(self._finding[group.example])),
                     div("file", self._named(self._finding[group.example]))])
                for number, group in enumerate(rest, PICTURES + 1)]
        of = f", of {digits(len(found) - PICTURES)}" if len(found) > GROUPS else ""
        heads = ["group", "#histories", "model", "decided by", "cycle", "for example"]
        caption = f"The {digits(len(rest))} that follow{of}"
        return [table(caption, heads, rows, id="groups", class_="wide")] if rest else []
