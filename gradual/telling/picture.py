"""What a picture of a violation shows: the operations involved, thread by thread, and what orders them.

Rows are chosen so that as many edges as possible lead down, the way the prose tells them: time runs downwards,
and the edge that leads up is the contradiction. Where things are drawn, `layout.py` says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from gradual.deciding.engine.parts import Parts
from gradual.deciding.engine.proof import premise
from gradual.evidence.verdict import (
    Broken,
    Cycle,
    Edge,
    EdgeKind,
    Evidence,
    Overwritten,
    Pair,
    Refutation,
    ThinAir,
    Verdict,
)
from gradual.history import History, visible
from gradual.models import Model
from gradual.telling.broken import failure
from gradual.telling.elision import distinct, elided
from gradual.telling.names import Names
from gradual.telling.rules import PLAIN, PROGRAM_ORDER, named
from gradual.telling.shorten import length
from gradual.telling.words import held_pair, is_given, read_as, rotated

LONGEST = 22
"""Letters of a name that are shown, unless it takes more to tell two apart. The title that hovering shows has all."""
LONGEST_TITLE = 60

MEANING: dict[EdgeKind, str] = {
    "po": "po: later in the same thread",
    "wr": "wr: reads the value written",
    "ww": "ww: is stored later",
    "rw": "rw: overwrites the value that was read",
    "rt": "rt: began after the other had ended",
}
THICK = "thick: on the cycle"
FAINT = "faint: what that rests on"
GIVEN = "given"
"""The reason of a store order that the trace tells."""
BY_STEP = "(n): by step n of the text"
SUPPOSED = "?: supposed"
LETTERED = "a, b, …: as in the text"


@dataclass(frozen=True)
class Node:
    """An operation in its column and row."""

    operation: int
    column: int
    row: int
    text: str
    place: str
    title: str
    on_cycle: bool


@dataclass(frozen=True)
class Link:
    """An edge between two operations. `strong` on the cycle; `plain` for program order nobody spoke of."""

    kind: EdgeKind
    start: int
    end: int
    strong: bool = False
    plain: bool = False
    reason: str = ""
    """The step it rests on, as `(1)`; `?` where it is supposed."""
    rule: str = ""
    """What the model calls it."""
    letters: tuple[str, ...] = ()
    """Those of the sentences that tell it."""

    @property
    def label(self) -> str:
        name = self.rule if self.rule and self.rule not in PLAIN else self.kind
        return f"{name} {self.reason}".strip()

    @property
    def mark(self) -> str:
        return ",".join(self.letters)


@dataclass(frozen=True)
class LeftOut:
    """Operations of a thread between two that are shown."""

    above: int
    count: int

    @property
    def text(self) -> str:
        return f"⋮ {self.count} more"


@dataclass(frozen=True)
class Picture:
    """All there is to see."""

    whole_title: str
    title: str
    note: str
    threads: tuple[str, ...]
    thread_titles: tuple[str, ...]
    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
    left_out: tuple[LeftOut, ...]
    parts: Parts
    """An operation that is several events is shown as the first of them."""

    def node(self, operation: int) -> Node:
        return next(node for node in self.nodes if node.operation == operation)

    @property
    def kinds(self) -> list[EdgeKind]:
        """Those that are drawn."""
        drawn = {link.kind for link in self.links}
        return [kind for kind in MEANING if kind in drawn]

    @property
    def signs(self) -> list[str]:
        """What else has to be explained."""
        reasons = "".join(link.reason for link in self.links)
        weights = {link.strong for link in self.links}
        signs = {THICK: True in weights, FAINT: len(weights) == 2, BY_STEP: "(" in reasons, SUPPOSED: "?" in reasons,
                 LETTERED: any(link.letters for link in self.links)}
        return [sign for sign, used in signs.items() if used]


def lettered(picture: Picture, told: Iterable[Edge]) -> tuple[Picture, dict[Edge, str]]:
    """A letter for each arrow that is told, in that order: on the picture, and for the text."""
    letters: dict[Edge, str] = {}
    drawn: dict[Link, list[str]] = {link: [] for link in picture.links}
    for edge in told:
        if edge not in letters and (shown := _drawn(edge, picture)):
            letters[edge] = _letter(len(letters))
            for link in shown:
                drawn[link].append(letters[edge])
    links = tuple(replace(link, letters=tuple(found)) for link, found in drawn.items())
    return replace(picture, links=links), letters


def _drawn(edge: Edge, picture: Picture) -> list[Link]:
    """The arrow of an edge; program order may be drawn in pieces."""
    edge = replace(edge, start=picture.parts.whole(edge.start), end=picture.parts.whole(edge.end))
    exact = [link for link in picture.links if (link.kind, link.start, link.end) == (edge.kind, edge.start, edge.end)]
    if exact or edge.kind != "po":
        return exact
    column = {node.operation: node.column for node in picture.nodes}
    return [link for link in picture.links if link.kind == "po" and edge.start <= link.start and link.end <= edge.end
            and column[link.start] == column.get(edge.start)]


def _letter(number: int) -> str:
    """a, b, …, z, aa, ab, …"""
    rest = _letter(number // 26 - 1) if number >= 26 else ""
    return rest + chr(ord("a") + number % 26)


def picture(verdict: Verdict, history: History, model: Model) -> Picture:
    """The picture of a violation. Raises ValueError for a verdict that is none."""
    evidence = named(verdict.evidence, history, model)
    subject = _subject(evidence)
    read = history if subject is None else read_as(history, subject)
    links = _broken_links(subject, read, model) if isinstance(subject, Broken) else _links(subject, read)
    return _composed(links, _operations(evidence), history, model.name, lambda shown: _note(evidence, shown, history))


def cycle_picture(cycle: Cycle, history: History, model: str) -> Picture:
    """The picture of a cycle alone."""
    return _composed(_links(cycle, history), [], history, model, lambda shown: _note(cycle, shown, history))


def _composed(links: list[Link], operations: list[int], history: History, model: str,
              note: Callable[[int], str]) -> Picture:
    parts = Parts(history)
    links = [replace(link, start=parts.whole(link.start), end=parts.whole(link.end)) for link in links]
    operations = list(map(parts.whole, operations))
    shown = sorted({*operations, *(end for link in links for end in (link.start, link.end))})
    cyclic = {link.start for link in links if link.strong} | set(operations)
    links = _split(links, shown, history)
    links += _chains(shown, links, history)
    rows = _rows(shown, links)
    names = Names(history)
    called = distinct((names.address(o) for o in shown if history.location[o] >= 0), LONGEST)
    threads = sorted({int(history.thread[o]) for o in shown}, key=lambda t: (_natural(names.thread_named(t)), t))
    nodes = tuple(Node(o, threads.index(int(history.thread[o])), rows[o],
                       names.short(o, called[names.address(o)] if history.location[o] >= 0 else None), names.place(o),
                       names.full(o), o in cyclic) for o in shown)
    titles = tuple(names.thread_named(thread) for thread in threads)
    heads = distinct(titles, LONGEST)
    name = visible(history.name or history.file)
    return Picture(f"{name}: not {model}", f"{elided(name, LONGEST_TITLE)}: not {model}", note(len(shown)),
                   tuple(heads[title] for title in titles), titles, nodes,
                   tuple(links), tuple(_left_out(shown, history)), parts)


def _subject(evidence: Evidence | None) -> Cycle | Broken | None:
    """What to draw, if the evidence has arrows at all."""
    if isinstance(evidence, Refutation):
        return min(evidence.cases, key=length)
    return evidence if isinstance(evidence, Cycle) else None


def _operations(evidence: Evidence | None) -> list[int]:
    """What is shown without arrows."""
    if isinstance(evidence, ThinAir):
        return [] if evidence.operation is None else [evidence.operation]
    if isinstance(evidence, Overwritten):
        return [evidence.write]
    if isinstance(evidence, Cycle | Refutation):
        return []
    raise ValueError("there is no violation to draw")


def _note(evidence: Evidence | None, shown: int, history: History) -> str:
    note = f"{shown} of {len(history) if history.whole is None else history.operations} operations shown"
    if isinstance(evidence, Refutation):
        return f"{note}; the shortest of {len(evidence.cases)} cases, ? is supposed"
    if isinstance(evidence, ThinAir):
        return f"{note}; nobody wrote the value of {_called(evidence.location, history)}"
    if isinstance(evidence, Overwritten):
        return f"{note}; this store to {_called(evidence.location, history)} was lost"
    return note


def _called(location: int, history: History) -> str:
    return elided(visible(history.locations[location]), LONGEST)


def _natural(name: str) -> list[tuple[int, str]]:
    """By which cpu10 comes after cpu9."""
    return [(int(part) if part.isdecimal() else -1, part) for part in re.split(r"([0-9]{1,18})", name)]


# --- edges


def _links(cycle: Cycle | None, history: History) -> list[Link]:
    """The cycle, from where the prose begins, then what its steps speak of; each edge once."""
    if cycle is None:
        return []
    by_access = Parts(history).pair
    reasons: dict[Pair, str] = {by_access((step.before, step.after)): f"({n})" for n, step in enumerate(cycle.steps, 1)}
    reasons |= dict.fromkeys(map(by_access, cycle.assumed), "?")
    links: dict[tuple[str, int, int], Link] = {}
    for edge, strong in _told(cycle, history):
        pair = premise(edge, history)
        given = GIVEN if is_given(edge, history) else ""
        link = Link(edge.kind, edge.start, edge.end, strong,
                    reason=reasons.get(by_access(pair), "") if pair else given, rule=edge.rule)
        links.setdefault((edge.kind, *by_access((edge.start, edge.end))), link)
    return list(links.values())


def _broken_links(case: Broken, history: History, model: Model) -> list[Link]:
    """What a check does not allow, and the order of stores that is supposed. Initial writes have no place."""
    arrows = [Link(_kind(arrow.rule), arrow.start, arrow.end, strong=True, rule=arrow.rule)
              for arrow in failure(history, model, case).arrows if max(arrow.start, arrow.end) < len(history)]
    drawn = {(link.start, link.end) for link in arrows}
    return arrows + [Link("ww", a, b, reason="?") for a, b in case.assumed if (a, b) not in drawn]


def _kind(rule: str) -> EdgeKind:
    """How an arrow of a model's own is drawn: reads-from, the store order and from-reads as always."""
    kinds: dict[str, EdgeKind] = {"rf": "wr", "co": "ww", "fr": "rw"}
    return kinds.get(rule.removesuffix("i").removesuffix("e"), "po")


def _told(cycle: Cycle, history: History) -> Iterator[tuple[Edge, bool]]:
    for edge in rotated(cycle.edges):
        yield edge, True
    for step in cycle.steps:
        for edge in step.path:
            yield edge, False
        yield Edge("ww", step.before, step.after), False
    for path in (cycle.edges, *(step.path for step in cycle.steps)):
        for edge in path:  # what a load that missed a store returned instead
            source = int(history.source[edge.start]) if edge.kind == "rw" else -1
            if source >= 0:
                yield Edge("wr", source, edge.start), False
    for step in cycle.steps:
        if pair := held_pair(step, history):
            yield Edge("po", *pair), False
            if step.path[-1].end != step.after:
                yield Edge("wr", step.after, pair[0]), False
        elif not Parts(history).same(step.path[-1].end, step.after):
            yield Edge("wr", step.after, step.path[-1].end), False
    for a, b in cycle.assumed:
        yield Edge("ww", a, b), False


def _split(links: list[Link], shown: list[int], history: History) -> list[Link]:
    """Program order in pieces from each operation to the next, where the model keeps all of it."""
    below = dict(_neighbours(shown, history))
    pieces: dict[tuple[str, int, int], Link] = {}
    for link in sorted(links, key=lambda link: not link.strong):
        start = link.start
        while link.rule == PROGRAM_ORDER and start < below.get(start, link.end) < link.end:
            pieces.setdefault((link.kind, start, below[start]), replace(link, start=start, end=below[start]))
            start = below[start]
        pieces.setdefault((link.kind, start, link.end), replace(link, start=start))
    return list(pieces.values())


def _chains(shown: list[int], links: Iterable[Link], history: History) -> list[Link]:
    """Program order between neighbours in a column, where no edge says it."""
    told = {(link.start, link.end) for link in links if link.kind == "po"}
    return [Link("po", a, b, plain=True) for a, b in _neighbours(shown, history) if (a, b) not in told]


def _neighbours(shown: list[int], history: History) -> Iterator[Pair]:
    last: dict[int, int] = {}
    for operation in shown:
        thread = int(history.thread[operation])
        if thread in last:
            yield last[thread], operation
        last[thread] = operation


def _left_out(shown: list[int], history: History) -> Iterator[LeftOut]:
    for a, b in _neighbours(shown, history):
        between = history.thread[a + 1:b] == history.thread[a]
        rows = np.arange(a + 1, b) if history.operation is None else history.operation[a + 1:b]
        count = len(np.setdiff1d(rows[between], history.numbers([a, b])))
        if count:
            yield LeftOut(a, count)


# --- rows


def _rows(shown: list[int], links: list[Link]) -> dict[int, int]:
    """Rows such that program order leads down, and every edge that can without a contradiction."""
    below: dict[int, set[int]] = {operation: set() for operation in shown}
    for link in sorted(links, key=lambda link: link.kind != "po"):
        if link.start != link.end and not _reaches(below, link.end, link.start):
            below[link.start].add(link.end)
    rows = dict.fromkeys(shown, 0)
    for _ in shown:
        for start, ends in below.items():
            for end in ends:
                rows[end] = max(rows[end], rows[start] + 1)
    return rows


def _reaches(below: dict[int, set[int]], start: int, end: int) -> bool:
    seen, todo = {start}, [start]
    while todo:
        node = todo.pop()
        if node == end:
            return True
        todo += below[node] - seen
        seen |= below[node]
    return False
