"""One page about one violation: the steps as a list, the picture beside them, and where the operations stand.

A sentence and its arrow have a letter and light up together. That takes no script: where the browser lacks :has, the
letter of a sentence is a link to its arrow, and the arrow one to its sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from string import Template

from gradual.evidence.verdict import Edge, Verdict
from gradual.history import NO_TICK, History
from gradual.telling import drawing, passage
from gradual.telling.markup import Figure, Html, asset, element, escaped, facts, joined, row, section, table
from gradual.telling.names import Names
from gradual.telling.passage import Part, Passage, Sentence
from gradual.telling.picture import Picture, lettered
from gradual.telling.words import counted


def page(verdict: Verdict, history: History, told: list[Part], picture: Picture) -> str:
    """The whole page; it loads nothing. Equal violations give equal pages."""
    picture, letters = lettered(picture, passage.edges(told))
    groups = [*(drawing.lights(letter) for letter in letters.values()),
              *(drawing.of_operation(node.operation) for node in picture.nodes)]
    style = "".join([asset("gradual.telling", "style.css"), asset("gradual.telling", "why.css"), drawing.STYLE,
                     *map(_together, groups)])
    drawn = joined([drawing.tips(), element("div", drawing.embedded(picture), class_="picture", tabindex=0)])
    beside = [section("why", "Why", joined(_Text(letters).blocks(told))),
              section("picture", "The operations involved", drawn)]
    content = joined([element("div", joined(beside), class_="beside"),
                      section("operations", "Where they stand", _operations(picture, history))])
    return Template(asset("gradual.telling", "page.html")).substitute(
        title=escaped(f"{history.name or history.file}: not {verdict.model}"), style=style,
        about=_about(verdict, history), content=content)


def _together(group: str) -> str:
    """The rule by which all of a group light up when one of them is pointed at."""
    pointed = f".{group}:is(:hover, :focus, :focus-within, :target)"
    return f"main:has({pointed}) .{group}, {pointed} {{ --glow: var(--lit); --fade: 1; }}\n"


class _Text:
    """The explanation as lists."""

    def __init__(self, letters: dict[Edge, str]) -> None:
        self._letters = letters
        self._met: set[str] = set()

    def blocks(self, parts: Iterable[Part]) -> Iterator[Html]:
        for part in parts:
            yield element("p", part.text) if isinstance(part, Sentence) else self._passage(part, "h3")

    def _passage(self, part: Passage, heading: str) -> Html:
        pieces = [element(heading, part.heading, class_="claim")] if part.heading else []
        inner = [self._sentence(p) if isinstance(p, Sentence) else element("li", self._passage(p, "p"))
                 for p in part.parts]
        pieces.append(element("ol", joined(inner), class_="told"))
        if part.conclusion:
            pieces.append(element("p", part.conclusion, class_="so"))
        return element("div", joined(pieces), class_="passage")

    def _sentence(self, sentence: Sentence) -> Html:
        words = [element("span", sentence.text)]
        if sentence.rule:
            words.append(element("span", sentence.rule, class_="rule"))
        text = element("span", joined(words, " "), class_="sentence")
        letter = self._letters.get(sentence.edge) if sentence.edge else None
        if letter is None or sentence.edge is None:
            return element("li", text)
        kind = sentence.edge.kind
        mark = joined([element("b", letter), kind], " ")
        first = letter not in self._met
        self._met.add(letter)
        return element("li", joined([element("a", mark, href=f"#arrow-{letter}", class_=f"mark ink-{kind}"), text]),
                       class_=drawing.lights(letter), id=f"told-{letter}" if first else None)


def _about(verdict: Verdict, history: History) -> Html:
    size = ", ".join([counted(history.operations, "operation"), counted(len(history.threads), "thread"),
                      counted(len(history.locations), "location")])
    on_one = history.on_one_line and history.line[0] > 0
    return facts([("trace", history.file), ("history", history.name),
                  ("line", f"{history.line[0]}, all of its operations" if on_one else ""), ("model", verdict.model),
                  ("found by", verdict.decided_by or ""), ("size", size)])


def _operations(picture: Picture, history: History) -> Html:
    """Numbers as the trace has them: to be searched for, so without spaces between the thousands."""
    names = Names(history)
    shown = sorted(node.operation for node in picture.nodes)
    columns = {"operation": [names.short(o) for o in shown], "thread": [names.thread(o) for o in shown]}
    if history.files:
        columns["file"] = [history.file_of(o) for o in shown]
    if names.by_line:
        columns["#line"] = [Figure(history.line[o]) for o in shown]
    if any(history.tick[o] != NO_TICK for o in shown):
        columns["#tick"] = [Figure(history.tick[o]) if history.tick[o] != NO_TICK else "" for o in shown]
    columns["#number"] = [Figure(o + 1) for o in shown]
    rows = [row(cells, class_=drawing.of_operation(o))
            for o, cells in zip(shown, zip(*columns.values(), strict=True), strict=True)]
    return table("In the order of the trace; the number counts the operations of the history.", columns, rows)
