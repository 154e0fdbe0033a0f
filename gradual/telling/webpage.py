"""One page about one violation: the prose, the picture, and where the operations stand."""

from __future__ import annotations

from string import Template

from gradual.evidence.verdict import Verdict
from gradual.history import NO_TICK, History
from gradual.telling.drawing import svg
from gradual.telling.markup import Figure, Html, asset, block, element, escaped, facts, joined, row, section, table
from gradual.telling.names import Names
from gradual.telling.picture import Picture


def page(verdict: Verdict, history: History, prose: str, picture: Picture) -> str:
    """The whole page; it loads nothing. Equal violations give equal pages."""
    style = asset("gradual.telling", "style.css") + asset("gradual.telling", "why.css")
    content = joined([
        section("why", "Why", element("pre", block(prose))),
        section("picture", "The operations involved", element("div", svg(picture), class_="picture")),
        section("operations", "Where they stand", _operations(picture, history))])
    return Template(asset("gradual.telling", "page.html")).substitute(
        title=escaped(f"{history.name or history.file}: not {verdict.model}"), style=style,
        about=_about(verdict, history), content=content)


def _about(verdict: Verdict, history: History) -> Html:
    size = f"{len(history)} operations, {len(history.threads)} threads, {len(history.locations)} locations"
    return facts([("trace", history.file), ("history", history.name), ("model", verdict.model),
                  ("found by", verdict.decided_by or ""), ("size", size)])


def _operations(picture: Picture, history: History) -> Html:
    names = Names(history)
    rows = (row([names.short(o), names.thread(o), history.file, _number(int(history.line[o]), 0),
                 _number(int(history.tick[o]), NO_TICK), _number(o + 1, -1)])
            for o in sorted(node.operation for node in picture.nodes))
    return table("In the order of the trace.", ["operation", "thread", "file", "#line", "#tick", "#number"], rows)


def _number(value: int, missing: int) -> Figure | None:
    """As the trace has it: to be searched for, so without spaces between the thousands."""
    return None if value == missing else Figure(value)
