"""The picture as SVG: needs nothing else, in colour and in black and white, on light and on dark."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from gradual.evidence.verdict import EdgeKind
from gradual.telling.layout import Box, Layout, Line, Note, Point, layout
from gradual.telling.markup import Html, element, joined
from gradual.telling.picture import FAINT, MEANING, THICK, Link, Picture

STYLE = """
.inks { --paper: #fff; --ink: #1c1f23; --faint: #5a626b; --rule: #c9cfd6; --wash: #f4f6f8; --lit: #ffe08a;
  --po: #59626c; --wr: #17753a; --ww: #8f4a00; --rw: #b3140c; --rt: #5b3a9e; }
@media (prefers-color-scheme: dark) { .inks { --paper: #16191d; --ink: #e4e7ea; --faint: #a2abb5; --rule: #3a4149;
  --wash: #1f242a; --lit: #6b5310; --po: #a2abb5; --wr: #6fcf8f; --ww: #e6a857; --rw: #ff7b72; --rt: #c3a6ff; } }
@media print { .inks { --paper: #fff; --ink: #000; --faint: #333; --rule: #bbb; --wash: #fff;
  --po: #444; --wr: #17753a; --ww: #8f4a00; --rw: #b3140c; --rt: #5b3a9e; } }
.why .paper { fill: var(--paper); }
.why text { fill: var(--ink); font: 12px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
.why .title { font-size: 14px; font-weight: bold; }
.why .small, .why .label { font-size: 10px; fill: var(--faint); }
.why .middle { text-anchor: middle; } .why .end { text-anchor: end; }
.why .column { stroke: var(--rule); stroke-width: 1; stroke-dasharray: 1 5; }
.why .box { fill: var(--glow, var(--wash)); stroke: var(--faint); stroke-width: 1; }
.why .box.strong { stroke: var(--ink); stroke-width: 2.5; }
.why .op { font-weight: bold; }
.why .edge { fill: none; stroke-width: 1.4; }
.why .edge.strong { stroke-width: 3.2; }
.why .edge.faint { opacity: var(--fade, .5); } .why .edge.plain { stroke-width: 1; }
.why .halo { fill: none; stroke: var(--glow, transparent); stroke-width: 11; stroke-linecap: round;
  pointer-events: stroke; }
.why .po { stroke: var(--po); } .why .wr { stroke: var(--wr); stroke-dasharray: 9 4; }
.why .ww { stroke: var(--ww); stroke-dasharray: 12 3 2 3; } .why .rw { stroke: var(--rw); stroke-dasharray: 3 3; }
.why .rt { stroke: var(--rt); stroke-dasharray: 1 4; }
.why .label.strong { font-weight: bold; fill: var(--ink); }
.why .letter { font-weight: bold; fill: var(--ink); }
.why .tip-po { fill: var(--po); } .why .tip-wr { fill: var(--paper); stroke: var(--wr); stroke-width: 1.3; }
.why .tip-ww { fill: var(--ww); } .why .tip-rw { fill: none; stroke: var(--rw); stroke-width: 2; }
.why .tip-rt { fill: var(--rt); }
"""
TIPS: dict[EdgeKind, str] = {
    "po": "M1,1 L11,6 L1,11 z", "wr": "M1,1 L11,6 L1,11 z", "ww": "M0,6 L5.5,1.5 L11,6 L5.5,10.5 z",
    "rw": "M2,1 L11,6 L2,11", "rt": "M8,1 L11,1 L11,11 L8,11 z",
}
"""The heads of the arrows differ in shape, for print without colours."""
SMALLEST = 0.75
"""Of its size, to which a picture may shrink on a page: letters stay readable."""
SAMPLES = {THICK: "edge po strong", FAINT: "edge po faint"}


def svg(picture: Picture) -> Html:
    """The picture as a file of its own."""
    return _svg(picture, [element("title", picture.whole_title), element("style", Html(STYLE)), _tips()])


def embedded(picture: Picture, legend: bool = True) -> Html:
    """The picture for a page that has STYLE and the `tips`; one of many pictures, with the `key`, needs no legend."""
    return _svg(picture, [], legend=legend, role="group" if any(link.letters for link in picture.links) else "img",
                aria_label=picture.whole_title, shrinks=True)


def _svg(picture: Picture, first: list[Html], *, role: str = "img", aria_label: str | None = None,
         shrinks: bool = False, legend: bool = True) -> Html:
    plan = layout(picture, legend)
    ids = {letter: line.link for line in reversed(plan.lines) for letter in line.link.letters}
    pieces = [
        *first, element("rect", "", class_="paper", width=_at(plan.width), height=_at(plan.height)),
        _text((20, 26), picture.title, "title"), _text((20, 43), picture.note, "small"),
        *_columns(plan), *(_edge(line, picture, ids) for line in plan.lines), *map(_box, plan.boxes),
        *map(_label, plan.lines), *map(_note, plan.notes), *(_legend(plan) if legend else [])]
    width, height = _at(plan.width), _at(plan.height)
    frame = {"xmlns": "http://www.w3.org/2000/svg", "width": width, "height": height}
    if shrinks:  # a little, to fit; beyond that one has to scroll
        frame = {"style": f"width: 100%; max-width: {width}px; min-width: {_at(SMALLEST * plan.width)}px"}
    return element("svg", joined(pieces), class_="why inks", role=role, aria_label=aria_label,
                   viewBox=f"0 0 {width} {height}", **frame)


def tips() -> Html:
    """The heads of the arrows, once for all pictures of a page."""
    return element("svg", _tips(), class_="why inks patterns", width=0, height=0, aria_hidden="true")


@cache
def _tips() -> Html:
    tips = (element("marker", element("path", "", d=path, class_=f"tip-{kind}"), id=f"tip-{kind}",
                    markerUnits="userSpaceOnUse", markerWidth=12, markerHeight=12, refX=11, refY=6, orient="auto")
            for kind, path in TIPS.items())
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
    return element("g", joined(pieces, ""), class_=of_operation(box.node.operation))


def _edge(line: Line, picture: Picture, ids: dict[str, Link]) -> Html:
    """An arrow; one that has a letter leads to the sentence that tells it, and is easy to hit.

    `ids` has the arrow that the sentence leads to, of those with its letter.
    """
    link, way = line.link, _rounded(line.points)
    weight = " strong" if link.strong else " plain faint" if link.plain else " faint"
    about = element("title", f"{MEANING[link.kind]}: {picture.node(link.start).title} → {picture.node(link.end).title}")
    drawn = element("path", about, class_=f"edge {link.kind}{weight}", d=way, marker_end=f"url(#tip-{link.kind})")
    if not link.letters:
        return drawn
    inner = element("a", joined([element("path", about, class_="halo", d=way), drawn], ""),
                    href=f"#told-{link.letters[0]}", aria_label=f"arrow {link.mark}: {link.kind}")
    for letter in link.letters:
        inner = element("g", inner, class_=lights(letter), id=f"arrow-{letter}" if ids[letter] is link else None)
    return inner


def of_operation(operation: int) -> str:
    return f"of-{operation}"


def lights(letter: str) -> str:
    """The class of what lights up together."""
    return f"lit-{letter}"


def _label(line: Line) -> Html:
    if not line.label:
        return Html("")
    strong = " strong" if line.link.strong else ""
    mark = element("tspan", line.link.mark, class_="letter")
    text = joined([mark, line.label.removeprefix(line.link.mark)], "") if line.link.mark else line.label
    return _text(line.label_at, text, f"label {line.anchor}{strong}")


def _note(note: Note) -> Html:
    return _text(note.at, note.item.text, "small")


def _legend(plan: Layout) -> Iterator[Html]:
    """Of what is drawn, and nothing else."""
    picture, (x, y) = plan.picture, plan.legend
    for place, meaning in enumerate([*picture.kinds, *picture.signs]):
        yield _sample(meaning, (x, y + 20 * place))
        yield _text((x + 70, y + 20 * place + 4), MEANING.get(meaning, meaning), "small")  # type: ignore[call-overload]


def _sample(of: str, at: Point) -> Html:
    """An arrow of a kind, or what a sign looks like."""
    if of not in TIPS and of not in SAMPLES:
        return Html("")
    return element("path", "", class_=SAMPLES.get(of, f"edge {of}"), d=f"M{_at(at[0])},{_at(at[1])} h58",
                   marker_end=f"url(#tip-{of})" if of in TIPS else None)


def key() -> Html:
    """The legend of many pictures, as a line."""
    drawn = [joined([element("svg", _sample(of, (1, 8)), class_="why inks sample", width=64, height=16,
                             aria_hidden="true"), text], " ")
             for of, text in [*MEANING.items(), (THICK, THICK), (FAINT, FAINT)]]
    return element("ul", joined(element("li", one) for one in drawn), class_="key")


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


def _at(number: float) -> Html:
    return Html(f"{number:.1f}".removesuffix(".0"))
