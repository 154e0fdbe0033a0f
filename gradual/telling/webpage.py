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
    on_one = len(history) > 1 and history.line[0] > 0 and history.line[0] == history.line[-1]
    return facts([("trace", history.file), ("history", history.name),
                  ("line", f"{history.line[0]}, all of its operations" if on_one else ""), ("model", verdict.model),
                  ("found by", verdict.decided_by or ""), ("size", size)])


def _operations(picture: Picture, history: History) -> Html:
    """Numbers as the trace has them: to be searched for, so without spaces between the thousands."""
    names = Names(history)
    shown = sorted(node.operation for node in picture.nodes)
    columns = {"operation": [names.short(o) for o in shown], "thread": [names.thread(o) for o in shown]}
    if names.by_line:
        columns["#line"] = [Figure(history.line[o]) for o in shown]
    if any(history.tick[o] != NO_TICK for o in shown):
        columns["#tick"] = [Figure(history.tick[o]) if history.tick[o] != NO_TICK else "" for o in shown]
    columns["#number"] = [Figure(o + 1) for o in shown]
    return table("In the order of the trace; the number counts the operations of the history.", columns,
                 map(row, zip(*columns.values(), strict=True)))
