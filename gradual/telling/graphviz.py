"""The picture for Graphviz, for those who lay it out themselves: `dot -Tpdf`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from gradual.evidence.verdict import EdgeKind
from gradual.telling.picture import Link, Node, Picture

LOOKS: dict[EdgeKind, str] = {
    "po": 'color="#59626c" style=solid arrowhead=normal',
    "wr": 'color="#17753a" style=dashed arrowhead=empty',
    "ww": 'color="#8f4a00" style="dashed,bold" arrowhead=diamond',
    "rw": 'color="#b3140c" style=dotted arrowhead=vee',
    "rt": 'color="#5b3a9e" style=solid arrowhead=tee',
}


def dot(picture: Picture) -> str:
    return "\n".join(["digraph why {", *(f"  {line}" for line in _body(picture)), "}", ""])


def _body(picture: Picture) -> Iterator[str]:
    yield f"label={quoted(f'{picture.title} ({picture.note})')}; tooltip={quoted(picture.whole_title)};"
    yield "labelloc=t; fontname=monospace; rankdir=TB;"
    yield "node [shape=box style=rounded fontname=monospace]; edge [fontname=monospace fontsize=10];"
    for column, thread in enumerate(picture.threads):
        yield f"subgraph cluster_{column} {{"
        yield f"  label={quoted(thread)}; tooltip={quoted(picture.thread_titles[column])}; color=gray;"
        for node in picture.nodes:
            if node.column == column:
                yield f"  {_node(node)}"
        yield "}"
    counts = {item.above: item.text for item in picture.left_out}
    below = _neighbours(picture)
    for link in picture.links:
        skipped = counts.get(link.start, "") if link.kind == "po" and below.get(link.start) == link.end else ""
        yield _edge(picture, link, skipped)


def _node(node: Node) -> str:
    width = " penwidth=2.5" if node.on_cycle else ""
    return f"o{node.operation} [label={quoted(node.text, node.place)} tooltip={quoted(node.title)}{width}];"


def _neighbours(picture: Picture) -> dict[int, int]:
    below: dict[int, int] = {}
    for column in range(len(picture.threads)):
        shown = sorted(node.operation for node in picture.nodes if node.column == column)
        below |= dict(pairwise(shown))
    return below


def _edge(picture: Picture, link: Link, skipped: str) -> str:
    width = "3" if link.strong else "0.8" if link.plain else "1.3"
    free = "" if picture.node(link.start).row < picture.node(link.end).row else " constraint=false"
    label = skipped if link.plain else " ".join(filter(None, (link.label, skipped)))
    about = quoted(f"{picture.node(link.start).title} → {picture.node(link.end).title}")
    return (f"o{link.start} -> o{link.end} [label={quoted(label)} tooltip={about} labeltooltip={about} "
            f"{LOOKS[link.kind]} penwidth={width}{free}];")


def quoted(*lines: str) -> str:
    """A string of dot. Backslashes begin escapes there, and names may hold any."""
    return '"' + "\\n".join(line.replace("\\", "\\\\").replace('"', '\\"') for line in lines) + '"'
