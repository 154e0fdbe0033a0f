"""Where everything of a picture is drawn: boxes on a grid, edges in lanes of their own between them.

Edges leave and enter boxes at the sides, run up and down in the gutters between columns, and across in the gaps
between rows. No two share a lane at the same place, and lanes keep clear of boxes and labels, so edges may cross but
never coincide, and never run through words.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from gradual.telling.picture import MEANING, LeftOut, Link, Node, Picture

LETTER = 7.6
"""Width of a letter in a box."""
SMALL_LETTER = 6.2
LANE = 11
PORT = 18
"""Between two edges at one side of a box; those of the other side stand half as far off, never at the same height."""
HEAD = 14
"""Room for the head of an arrow."""
MARGIN = 20
TOP = 84
MORE = 20
"""Height of `⋮ 12 more`."""
Point = tuple[float, float]


@dataclass(frozen=True)
class Box:
    node: Node
    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> Point:
        return self.x + self.width / 2, self.y + self.height / 2


@dataclass(frozen=True)
class Line:
    """An edge as a run of points; its label ends or begins at `label_at`."""

    link: Link
    points: tuple[Point, ...]
    label: str
    label_at: Point
    anchor: str


@dataclass(frozen=True)
class Note:
    item: LeftOut
    at: Point


@dataclass(frozen=True)
class Layout:
    picture: Picture
    width: float
    height: float
    heads: tuple[Point, ...]
    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]
    notes: tuple[Note, ...]
    legend: Point


@dataclass
class _Route:
    """The way of an edge: out at a side, along one or two gutters, perhaps across in a gap between rows."""

    link: Link
    start: Node
    end: Node
    start_side: int
    """1 right, -1 left."""
    end_side: int
    gap: int | None = None
    start_port: float = 0
    end_port: float = 0
    gap_lane: int = 0
    lanes: tuple[int, ...] = ()

    @property
    def gutters(self) -> tuple[int, ...]:
        first = self.start.column + (self.start_side > 0)
        last = self.end.column + (self.end_side > 0)
        return (first,) if self.gap is None else (first, last)


def layout(picture: Picture, legend: bool = True) -> Layout:
    return _Plan(picture).made([*(MEANING[kind] for kind in picture.kinds), *picture.signs] if legend else [])


class _Plan:
    """Ports, then lanes, then the sizes that follow, then points."""

    def __init__(self, picture: Picture) -> None:
        self._picture = picture
        self._node = {node.operation: node for node in picture.nodes}
        self._columns = range(max(len(picture.threads), 1))
        self._rows = range(max((node.row for node in picture.nodes), default=0) + 1)
        straight = self._straight()
        self._upright = [link for link in picture.links if link in straight]
        self._routes = [self._route(link) for link in picture.links if link not in straight]
        self._give_ports()
        self._give_gap_lanes()
        self._give_gutter_lanes()
        self._measure_columns()
        self._measure_rows()

    def made(self, legend: list[str]) -> Layout:
        boxes = tuple(self._box(node) for node in self._picture.nodes)
        upright = [self._drop(link) for link in self._upright]
        drawn = sorted([*upright, *map(self._line, self._routes)], key=lambda line: line.link.strong)
        bottom = self._row_end[-1] + self._gap_height(len(self._rows))
        heads = tuple((self._column_x[c] + self._widths[c] / 2, TOP - 22.0)
                      for c in range(len(self._picture.threads)))
        words = [self._picture.title, self._picture.note]
        width = max(self._right, 2 * MARGIN + 90 + SMALL_LETTER * max(map(len, legend), default=0),
                    2 * MARGIN + LETTER * 1.15 * max(map(len, words)))
        height = bottom + (30 + 20 * len(legend) if legend else 0)
        return Layout(self._picture, width, height, heads, boxes, tuple(drawn),
                      tuple(map(self._note, self._picture.left_out)), (MARGIN, bottom + 28))

    # --- ways

    def _straight(self) -> set[Link]:
        """Program order between neighbours of a column goes straight down, where it needs no label."""
        following = {}
        last: dict[int, int] = {}
        for node in sorted(self._picture.nodes, key=lambda node: node.operation):
            if node.column in last:
                following[last[node.column]] = node.operation
            last[node.column] = node.operation
        return {link for link in self._picture.links
                if link.label == link.kind == "po" and following.get(link.start) == link.end}

    def _route(self, link: Link) -> _Route:
        start, end = self._node[link.start], self._node[link.end]
        if start.column == end.column:
            side = 1 if start.column < len(self._columns) - 1 or start.column == 0 else -1
            return _Route(link, start, end, side, side)
        side = 1 if start.column < end.column else -1
        route = _Route(link, start, end, side, -side)
        if abs(start.column - end.column) > 1:
            route.gap = end.row if start.row < end.row else end.row + 1
        return route

    def _give_ports(self) -> None:
        """Places at the sides of boxes: those who go up leave above those who go down."""
        ends: dict[tuple[int, int], list[tuple[float, int, _Route, bool]]] = defaultdict(list)
        for number, route in enumerate(self._routes):
            away = route.end.row - route.start.row
            ends[route.start.operation, route.start_side].append((away, number, route, True))
            ends[route.end.operation, route.end_side].append((-away, number, route, False))
        self._ports: dict[int, int] = defaultdict(int)
        for (operation, side), users in ends.items():
            self._ports[operation] = max(self._ports[operation], len(users))
            users.sort(key=lambda user: user[:2])
            for place, (_, _, route, at_start) in enumerate(users):
                port = place - len(users) // 2 + (0 if side > 0 else 0.5)
                if at_start:
                    route.start_port = port
                else:
                    route.end_port = port

    def _give_gap_lanes(self) -> None:
        taken: dict[int, list[list[tuple[float, float]]]] = defaultdict(list)
        for route in self._routes:
            if route.gap is not None:
                low, high = sorted(route.gutters)
                route.gap_lane = _free(taken[route.gap], low - 0.5, high + 0.5)
        self._gap_lanes = {gap: len(lanes) for gap, lanes in taken.items()}

    def _give_gutter_lanes(self) -> None:
        taken: dict[int, list[list[tuple[float, float]]]] = defaultdict(list)
        by_length = sorted(self._routes, key=lambda route: abs(route.start.row - route.end.row))
        for route in by_length:
            heights = [_height(route.start.row, route.start_port), _height(route.end.row, route.end_port)]
            if route.gap is not None:
                across = route.gap * 1000.0 + 400 - 5 * route.gap_lane  # counted upwards
                spans = [(heights[0], across), (across, heights[1])]
            else:
                spans = [(heights[0], heights[1])]
            route.lanes = tuple(_free(taken[gutter], min(span) - 2, max(span) + 2)
                                for gutter, span in zip(route.gutters, spans, strict=True))
        self._lane_count = {gutter: len(lanes) for gutter, lanes in taken.items()}

    # --- sizes

    def _measure_columns(self) -> None:
        self._widths = [max([90.0, LETTER * len(self._picture.threads[c]) + 8 if self._picture.threads else 0,
                             *(LETTER * len(n.text) + 22 for n in self._picture.nodes if n.column == c)])
                        for c in self._columns]
        self._column_x: list[float] = []
        self._lane_x: dict[int, float] = {}
        x = float(MARGIN)
        for gutter in range(len(self._columns) + 1):
            left, right = self._label_room(gutter, 1), self._label_room(gutter, -1)
            self._lane_x[gutter] = x + left + LANE / 2
            used = self._lane_count.get(gutter, 0)
            inner = 0 < gutter < len(self._columns)
            x += max(left + used * LANE + right if used else 0, 56 if inner else 0, self._note_room(gutter))
            if gutter < len(self._columns):
                self._column_x.append(x)
                x += self._widths[gutter]
        self._right = x + MARGIN

    def _note_room(self, gutter: int) -> float:
        """`⋮ 12 more` stands right of the middle of its column, and may be wider than half of it."""
        return max((SMALL_LETTER * len(item.text) + 16 - self._widths[gutter - 1] / 2
                    for item in self._picture.left_out if self._node[item.above].column == gutter - 1), default=0)

    def _label_room(self, gutter: int, side: int) -> float:
        """Beside the boxes: for the labels of the edges that leave there, and the heads of those that arrive."""
        labels = [len(_label(r.link)) for r in self._routes if r.start_side == side and r.gutters[0] == gutter]
        return max([HEAD + 2, *(SMALL_LETTER * length + 10 for length in labels)])

    def _gap_height(self, gap: int) -> float:
        above = [item.above for item in self._picture.left_out] + [link.start for link in self._upright if link.mark]
        more = any(self._node[operation].row + 1 == gap for operation in above)
        return (MORE if more else 6) + 24 + LANE * self._gap_lanes.get(gap, 0)

    def _measure_rows(self) -> None:
        self._row_middle: list[float] = []
        self._row_end: list[float] = []
        y = float(TOP) - 18
        for row in self._rows:
            y += self._gap_height(row)
            height = max((self._box_height(node) for node in self._picture.nodes if node.row == row), default=40.0)
            self._row_middle.append(y + height / 2)
            y += height
            self._row_end.append(y)

    def _box_height(self, node: Node) -> float:
        return max(42.0, PORT * (self._ports[node.operation] + 1) + 2)

    # --- points

    def _box(self, node: Node) -> Box:
        height = self._box_height(node)
        return Box(node, self._column_x[node.column], self._row_middle[node.row] - height / 2,
                   self._widths[node.column], height)

    def _drop(self, link: Link) -> Line:
        above, below = self._box(self._node[link.start]), self._box(self._node[link.end])
        x = above.middle[0]
        label = x - 8, self._row_end[above.node.row] + MORE - 5
        return Line(link, ((x, above.y + above.height), (x, below.y)), link.mark, label, "end")

    def _line(self, route: _Route) -> Line:
        start = self._side(route.start, route.start_side, route.start_port)
        end = self._side(route.end, route.end_side, route.end_port)
        xs = [self._lane_x[gutter] + LANE * lane for gutter, lane in zip(route.gutters, route.lanes, strict=True)]
        points = [start, (xs[0], start[1])]
        if route.gap is not None:
            y = self._gap_y(route.gap, route.gap_lane)
            points += [(xs[0], y), (xs[1], y)]
        points += [(xs[-1], end[1]), end]
        label = start[0] + 5 * route.start_side, start[1] - 4
        return Line(route.link, tuple(points), _label(route.link), label, "start" if route.start_side > 0 else "end")

    def _side(self, node: Node, side: int, port: float) -> Point:
        box = self._box(node)
        return box.x + (box.width if side > 0 else 0), box.middle[1] + PORT * port

    def _gap_y(self, gap: int, lane: int) -> float:
        """Counted up from the row below, so that what stands under the row above is clear."""
        bottom = self._row_end[gap - 1] + self._gap_height(gap) if gap else float(TOP) - 18 + self._gap_height(0)
        return bottom - 18 - LANE * lane

    def _note(self, item: LeftOut) -> Note:
        box = self._box(self._node[item.above])
        return Note(item, (box.middle[0] + 8, self._row_end[box.node.row] + MORE - 5))


def _label(link: Link) -> str:
    return f"{link.mark} {link.label}".strip()


def _height(row: int, port: float) -> float:
    """A place to compare with: lanes of gap n lie up to four hundred below n thousand, row n around seven hundred."""
    return row * 1000 + 700 + 8 * port


def _free(lanes: list[list[tuple[float, float]]], low: float, high: float) -> int:
    """The first lane where nothing lies between `low` and `high`; it is taken then."""
    for number, spans in enumerate(lanes):
        if all(high < a or b < low for a, b in spans):
            spans.append((low, high))
            return number
    lanes.append([(low, high)])
    return len(lanes) - 1
