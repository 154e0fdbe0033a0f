"""The picture as SVG: needs nothing else, in colour and in black and white, on light and on dark."""

from __future__ import annotations

from gradual.evidence.verdict import EdgeKind
from gradual.telling.layout import Box, Layout, Line, Note, Point, layout
from gradual.telling.markup import Html, element, joined
from gradual.telling.picture import MEANING, THICK, Picture

STYLE = """
.why { --paper: #fff; --ink: #1c1f23; --faint: #5a626b; --rule: #c9cfd6; --wash: #f4f6f8;
  --po: #59626c; --wr: #17753a; --ww: #8f4a00; --rw: #b3140c; }
@media (prefers-color-scheme: dark) { .why { --paper: #16191d; --ink: #e4e7ea; --faint: #a2abb5; --rule: #3a4149;
  --wash: #1f242a; --po: #a2abb5; --wr: #6fcf8f; --ww: #e6a857; --rw: #ff7b72; } }
@media print { .why { --paper: #fff; --ink: #000; --faint: #333; --rule: #bbb; --wash: #fff;
  --po: #444; --wr: #17753a; --ww: #8f4a00; --rw: #b3140c; } }
.why .paper { fill: var(--paper); }
.why text { fill: var(--ink); font: 12px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
.why .title { font-size: 14px; font-weight: bold; }
.why .small, .why .label { font-size: 10px; fill: var(--faint); }
.why .middle { text-anchor: middle; } .why .end { text-anchor: end; }
.why .column { stroke: var(--rule); stroke-width: 1; stroke-dasharray: 1 5; }
.why .box { fill: var(--wash); stroke: var(--faint); stroke-width: 1; }
.why .box.strong { stroke: var(--ink); stroke-width: 2.5; }
.why .op { font-weight: bold; }
.why .edge { fill: none; stroke-width: 1.4; }
.why .edge.strong { stroke-width: 3.2; }
.why .edge.plain { stroke-width: 1; }
.why .po { stroke: var(--po); } .why .wr { stroke: var(--wr); stroke-dasharray: 9 4; }
.why .ww { stroke: var(--ww); stroke-dasharray: 12 3 2 3; } .why .rw { stroke: var(--rw); stroke-dasharray: 3 3; }
.why .label.strong { font-weight: bold; fill: var(--ink); }
.why .tip-po { fill: var(--po); } .why .tip-wr { fill: var(--paper); stroke: var(--wr); stroke-width: 1.3; }
.why .tip-ww { fill: var(--ww); } .why .tip-rw { fill: none; stroke: var(--rw); stroke-width: 2; }
"""
TIPS: dict[EdgeKind, str] = {
    "po": "M1,1 L11,6 L1,11 z", "wr": "M1,1 L11,6 L1,11 z", "ww": "M0,6 L5.5,1.5 L11,6 L5.5,10.5 z",
    "rw": "M2,1 L11,6 L2,11",
}
"""The heads of the arrows differ in shape, for print without colours."""


def svg(picture: Picture) -> Html:
    plan = layout(picture)
    pieces = [
        element("title", picture.whole_title), element("style", Html(STYLE)), _tips(),
        element("rect", "", class_="paper", width=_at(plan.width), height=_at(plan.height)),
        _text((20, 26), picture.title, "title"), _text((20, 43), picture.note, "small"),
        *_columns(plan), *map(_edge, plan.lines), *map(_box, plan.boxes), *map(_label, plan.lines),
        *map(_note, plan.notes), *_legend(plan.legend)]
    size = {"width": _at(plan.width), "height": _at(plan.height)}
    return element("svg", joined(pieces), xmlns="http://www.w3.org/2000/svg", class_="why", role="img",
                   viewBox=f"0 0 {_at(plan.width)} {_at(plan.height)}", **size)


def _tips() -> Html:
    tips = (element("marker", element("path", "", d=TIPS[kind], class_=f"tip-{kind}"), id=f"tip-{kind}",
                    markerUnits="userSpaceOnUse", markerWidth=12, markerHeight=12, refX=11, refY=6, orient="auto")
            for kind in MEANING)
    return element("defs", joined(tips))


def _columns(plan: Layout) -> list[Html]:
    drawn = []
    for name, title, at in zip(plan.picture.threads, plan.picture.thread_titles, plan.heads, strict=True):
        text = joined([element("title", title), name], "")
        drawn += [element("line", "", class_="column", x1=_at(at[0]), x2=_at(at[0]), y1=_at(at[1] + 7),
                          y2=_at(plan.legend[1] - 18)),
                  element("text", text, x=_at(at[0]), y=_at(at[1]), class_="op middle")]
    return drawn


def _box(box: Box) -> Html:
    x, y = box.middle
    strong = " strong" if box.node.on_cycle else ""
    pieces = [element("title", box.node.title),
              element("rect", "", class_=f"box{strong}", x=_at(box.x), y=_at(box.y), width=_at(box.width),
                      height=_at(box.height), rx=5),
              _text((x, y - 2), box.node.text, "op middle"), _text((x, y + 13), box.node.place, "small middle")]
    return element("g", joined(pieces, ""))


def _edge(line: Line) -> Html:
    link = line.link
    weight = " strong" if link.strong else " plain" if link.plain else ""
    return element("path", element("title", MEANING[link.kind]), class_=f"edge {link.kind}{weight}",
                   d=_rounded(line.points), marker_end=f"url(#tip-{link.kind})")


def _label(line: Line) -> Html:
    if line.label_at is None:
        return Html("")
    strong = " strong" if line.link.strong else ""
    return _text(line.label_at, line.link.label, f"label {line.anchor}{strong}")


def _note(note: Note) -> Html:
    return _text(note.at, note.item.text, "small")


def _legend(at: Point) -> list[Html]:
    drawn = []
    for place, (kind, meaning) in enumerate(MEANING.items()):
        y = at[1] + 20 * place
        drawn += [element("path", "", class_=f"edge {kind}", d=f"M{_at(at[0])},{_at(y)} h58",
                          marker_end=f"url(#tip-{kind})"), _text((at[0] + 70, y + 4), meaning, "small")]
    y = at[1] + 20 * len(MEANING)
    return [*drawn, element("path", "", class_="edge po strong", d=f"M{_at(at[0])},{_at(y)} h58"),
            _text((at[0] + 70, y + 4), THICK, "small")]


def _text(at: Point, text: str, class_: str) -> Html:
    return element("text", text, x=_at(at[0]), y=_at(at[1]), class_=class_)


def _rounded(points: tuple[Point, ...], radius: float = 5) -> str:
    """A path along the points, its corners rounded off."""
    parts = [f"M{_at(points[0][0])},{_at(points[0][1])}"]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        near, far = _towards(corner, before, radius), _towards(corner, after, radius)
        parts.append(f"L{_at(near[0])},{_at(near[1])} Q{_at(corner[0])},{_at(corner[1])} {_at(far[0])},{_at(far[1])}")
    return " ".join([*parts, f"L{_at(points[-1][0])},{_at(points[-1][1])}"])


def _towards(corner: Point, other: Point, radius: float) -> Point:
    distance = abs(other[0] - corner[0]) + abs(other[1] - corner[1])
    share = min(radius, distance / 2) / distance if distance else 0
    return corner[0] + (other[0] - corner[0]) * share, corner[1] + (other[1] - corner[1]) * share


def _at(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")
