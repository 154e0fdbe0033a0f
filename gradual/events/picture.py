"""An event structure as a picture: a tree for each thread, initial writes on top, conflict and justification.

Threads stand beside each other and grow downwards. Siblings in conflict are joined by a wavy line; dashed arrows go
from writes to the reads that they justify. Ends that meet the condition have a thick frame.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from gradual.events.structure import INITIAL, EventStructure, Justifies, members
from gradual.programs.condition import And, Equal, Proposition, Register
from gradual.telling.graphviz import quoted
from gradual.telling.markup import Html, element, joined

MOST_EVENTS = 1000
"""A larger structure is no picture any more."""
WIDTH, HEIGHT = 92, 64
"""From node to node."""
BOX = (72, 30)
STYLE = """
.structure { --paper: #fff; --ink: #1c1f23; --faint: #5a626b; --wash: #f4f6f8; --before: #59626c; --justifies: #17753a;
  --conflict: #b3140c; }
@media (prefers-color-scheme: dark) { .structure { --paper: #16191d; --ink: #e4e7ea; --faint: #a2abb5; --wash: #1f242a;
  --before: #a2abb5; --justifies: #6fcf8f; --conflict: #ff7b72; } }
.structure .paper { fill: var(--paper); }
.structure text { fill: var(--ink); font: 12px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace;
  text-anchor: middle; }
.structure .title { font-size: 14px; font-weight: bold; text-anchor: start; }
.structure .small { font-size: 10px; fill: var(--faint); } .structure .start { text-anchor: start; }
.structure .box { fill: var(--wash); stroke: var(--faint); }
.structure .box.final { stroke: var(--ink); stroke-width: 3; }
.structure path { fill: none; }
.structure .before { stroke: var(--before); stroke-width: 1.4; }
.structure .justifies { stroke: var(--justifies); stroke-dasharray: 5 4; opacity: .75; }
.structure .conflict { stroke: var(--conflict); stroke-width: 1.4; }
.structure .tip-before { fill: var(--before); stroke: none; }
.structure .tip-justifies { fill: var(--justifies); stroke: none; }
"""
LEGEND = (("before", "program order (initial writes come before everything)"),
          ("conflict", "immediate conflict: one load, different values"),
          ("justifies", "the write justifies the read"))


@dataclass(frozen=True)
class _Plan:
    structure: EventStructure
    at: dict[int, tuple[float, float]]
    """The middle of each event's box."""
    heads: list[tuple[float, str]]
    final: frozenset[int]
    justifying: list[int]

    @property
    def width(self) -> float:
        return max([x for x, _ in self.at.values()] + [x for x, _ in self.heads] + [300.0]) + WIDTH

    @property
    def height(self) -> float:
        return max([y for _, y in self.at.values()] + [100.0]) + HEIGHT / 2


def _plan(structure: EventStructure, justifies: Justifies) -> _Plan:
    at: dict[int, tuple[float, float]] = {}
    heads = []
    left = WIDTH / 2 + 20.0
    for thread in range(len(structure.leaves)):
        columns = _place(structure, thread, left, at)
        heads.append((left + (columns - 1) * WIDTH / 2, structure.program.threads[thread].name))
        left += columns * WIDTH + 40
    initial = list(members(structure.initial))
    middle = (left - 40) / 2 - (len(initial) - 1) * WIDTH / 2
    for number, event in enumerate(initial):
        at[event] = (max(middle, WIDTH / 2 + 20) + number * WIDTH, 80.0)
    return _Plan(structure, at, heads, _final(structure), structure.justifies(justifies))


def _place(structure: EventStructure, thread: int, left: float, at: dict[int, tuple[float, float]]) -> int:
    """Places a thread's tree: leaves side by side, each node above the middle of what follows. Tells its columns."""
    column = 0
    events = [event for event in structure.events if event.thread == thread]
    for event in reversed(events):  # children come after their parents
        following = structure.children.get((thread, event.number), [])
        depth = (structure.below[event.number] & ~structure.initial).bit_count()
        y = 80.0 + (depth + 1) * HEIGHT + 20
        if following:
            x = sum(at[child][0] for child in following) / len(following)
        else:
            x, column = left + column * WIDTH, column + 1
        at[event.number] = (x, y)
    right = left + (column - 1) * WIDTH
    for event in events:  # from right to left they were placed: turn them round
        x, y = at[event.number]
        at[event.number] = (left + right - x, y)
    return max(column, 1)


def _final(structure: EventStructure) -> frozenset[int]:
    """Ends of threads that meet what a conjunction says of them; of other conditions, none."""
    condition = structure.program.condition
    found: set[int] = set()
    for thread, leaves in enumerate(structure.leaves):
        wanted = list(_wanted(condition.proposition, thread)) if condition else []
        found |= {leaf.event for leaf in leaves if wanted and leaf.event is not None
                  and all(leaf.registers.get(name, 0) == value for name, value in wanted)}
    return frozenset(found)


def _wanted(part: Proposition, thread: int) -> Iterator[tuple[str, int]]:
    if isinstance(part, Equal) and isinstance(part.place, Register) and part.place.thread == thread:
        yield part.place.name, part.value
    elif isinstance(part, And):
        for operand in part.operands:
            yield from _wanted(operand, thread)


def svg(structure: EventStructure, justifies: Justifies) -> Html:
    plan = _plan(structure, justifies)
    legend = plan.height + 20
    pieces = [element("title", structure.program.name), element("style", Html(STYLE)), _tips(),
              element("rect", "", class_="paper", width=_at(plan.width), height=_at(legend + 70)),
              element("text", structure.program.name, x=20, y=26, class_="title"),
              element("text", _note(structure, justifies), x=20, y=44, class_="small start"),
              *(element("text", name, x=_at(x), y=_at(80 + HEIGHT - 8)) for x, name in plan.heads),
              *_lines(plan), *(_box(plan, event) for event in plan.at)]
    for number, (kind, text) in enumerate(LEGEND):
        y = legend + 18 * number
        tip = {"marker_end": f"url(#tip-{kind})"} if kind != "conflict" else {}
        pieces += [element("path", "", class_=kind, d=f"M20,{_at(y)} h46", **tip),
                   element("text", text, x=76, y=_at(y + 4), class_="small start")]
    size = {"width": _at(plan.width), "height": _at(legend + 70)}
    return element("svg", joined(pieces), xmlns="http://www.w3.org/2000/svg", class_="structure", role="img",
                   viewBox=f"0 0 {size['width']} {size['height']}", **size)


def _note(structure: EventStructure, justifies: Justifies) -> str:
    return f"{len(structure)} events, {structure.configurations} configurations; justifies: {justifies}"


def _tips() -> Html:
    return element("defs", joined(
        element("marker", element("path", "", d="M1,1 L9,5 L1,9 z", class_=f"tip-{kind}"), id=f"tip-{kind}",
                markerUnits="userSpaceOnUse", markerWidth=10, markerHeight=10, refX=9, refY=5, orient="auto")
        for kind in ("before", "justifies")))


def _box(plan: _Plan, event: int) -> Html:
    x, y = plan.at[event]
    final = " final" if event in plan.final else ""
    line = plan.structure.events[event].line
    return element("g", joined([
        element("title", f"event {event}" + (f", line {line}" if line else "")),
        element("rect", "", class_=f"box{final}", x=_at(x - BOX[0] / 2), y=_at(y - BOX[1] / 2), width=BOX[0],
                height=BOX[1], rx=5), element("text", label(plan.structure, event), x=_at(x), y=_at(y + 4))], ""))


def label(structure: EventStructure, event: int) -> str:
    found = structure.events[event]
    return f"F {found.mode}" if found.kind == "F" else f"{found.kind} {found.location}={found.value}"


def _lines(plan: _Plan) -> Iterator[Html]:
    half = BOX[1] / 2
    for event in plan.structure.events:
        x, y = plan.at[event.number]
        if event.before is not None:
            above = plan.at[event.before]
            yield element("path", "", class_="before", marker_end="url(#tip-before)",
                          d=f"M{_at(above[0])},{_at(above[1] + half)} L{_at(x)},{_at(y - half)}")
        for write in members(plan.justifying[event.number]):
            start = plan.at[write]
            bend = (start[0] + x) / 2, (start[1] + y) / 2 - 24
            side = BOX[0] / 2 if start[0] > x else -BOX[0] / 2
            yield element("path", "", class_="justifies", marker_end="url(#tip-justifies)",
                          d=f"M{_at(start[0] - side)},{_at(start[1])} Q{_at(bend[0])},{_at(bend[1])} "
                            f"{_at(x + side)},{_at(y)}")
    for siblings in plan.structure.children.values():
        for a, b in pairwise(siblings):
            (left, y), (right, _) = plan.at[a], plan.at[b]
            yield element("path", "", class_="conflict", d=_wave(left + BOX[0] / 2, right - BOX[0] / 2, y))


def _wave(left: float, right: float, y: float) -> str:
    steps = max(2, round((right - left) / 8))
    width = (right - left) / steps
    turns = "".join(f" q{_at(width / 2)},{-4 if step % 2 else 4} {_at(width)},0" for step in range(steps))
    return f"M{_at(left)},{_at(y)}{turns}"


def _at(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")


def dot(structure: EventStructure, justifies: Justifies) -> str:
    """For Graphviz."""
    final, justifying = _final(structure), structure.justifies(justifies)
    lines = ["digraph structure {",
             f"  label={quoted(f'{structure.program.name}: {_note(structure, justifies)}')}; labelloc=t; "
             "fontname=monospace; rankdir=TB;",
             "  node [shape=box style=rounded fontname=monospace]; edge [fontname=monospace fontsize=10];"]
    for thread in range(INITIAL, len(structure.leaves)):
        name = "initially" if thread == INITIAL else structure.program.threads[thread].name
        lines.append(f"  subgraph cluster_{thread + 1} {{ label={quoted(name)}; color=gray;")
        lines += [f"    e{event.number} [label={quoted(label(structure, event.number))}"
                  f"{' penwidth=3' if event.number in final else ''}];"
                  for event in structure.events if event.thread == thread]
        lines.append("  }")
    for event in structure.events:
        if event.before is not None:
            lines.append(f"  e{event.before} -> e{event.number};")
        lines += [f'  e{write} -> e{event.number} [style=dashed color="#17753a" constraint=false];'
                  for write in members(justifying[event.number])]
    for siblings in structure.children.values():
        lines += [f'  e{a} -> e{b} [dir=none color="#b3140c" style=dotted label="~" constraint=false];'
                  for a, b in pairwise(siblings)]
    return "\n".join([*lines, "}", ""])



