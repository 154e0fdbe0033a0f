"""Charts as SVG. They take their colours from the style sheet and differ in hatching or shape too, for print."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gradual.report.results import Numbers
from gradual.telling.markup import Html, attributes, decimal, digits, duration, element, joined

WIDTH, HEIGHT = 340, 220
LEFT, RIGHT, TOP, BOTTOM = 64, 10, 10, 40
BINS = 20
POINTS = 300
"""Dots that are drawn one by one; more are gathered in cells."""
CELLS = 36, 24


def bar(shares: list[tuple[str, int]], label: str) -> Html:
    """One bar, cut in proportion: names and counts."""
    total = sum(count for _, count in shares) or 1
    pieces, x = [], 0.0
    for name, count in shares:
        width = 200 * count / total
        if count:
            width = max(width, 1.5)  # one violation in a million is what the reader looks for
            pieces.append(_shape("rect", f"{name}: {digits(count)}", x=_at(min(x, 198.5)), y=0, width=_at(width),
                                 height=14, class_=f"fill-{name}"))
        x += width
    return _svg(200, 14, label, pieces, "bar")


def swatch(name: str) -> Html:
    """The key to a bar; the name stands beside it."""
    return element("svg", element("rect", "", width=14, height=10, class_=f"fill-{name}"), aria_hidden="true",
                   class_="swatch", viewBox="0 0 14 10")


def histogram(percent: Numbers, label: str) -> Html:
    """How often which percentage occurs."""
    counts, _ = np.histogram(np.clip(percent, 0, 100), BINS, (0, 100))
    ticks = _ticks(int(counts.max()))
    frame = _Frame(0, 100, 0, ticks[-1])
    width = (frame.x(100) - frame.x(0)) / BINS
    bars = []
    for at, count in enumerate(counts.tolist()):
        low = 100 * at / BINS
        if count:
            top = min(frame.y(count), frame.y(0) - 1)
            bars.append(_shape("rect", f"{low:g}–{low + 100 / BINS:g} %: {digits(count)}", x=_at(frame.x(low) + .5),
                               y=_at(top), width=_at(width - 1), height=_at(frame.y(0) - top), class_="column"))
    axes = [*_grid_y(frame, [(tick, digits(tick)) for tick in ticks]),
            *_grid_x(frame, [(tick, f"{tick} %") for tick in (0, 25, 50, 75, 100)]),
            *_titles("write pairs left unordered", "histories")]
    return _svg(WIDTH, HEIGHT, label, [*axes, *bars])


@dataclass(frozen=True)
class Scales:
    """Powers of ten that hold all points, so that charts side by side can be compared."""

    operations: tuple[int, int]
    seconds: tuple[int, int]

    @staticmethod
    def of(operations: Numbers, seconds: Numbers) -> Scales:
        return Scales(_decades(operations), _decades(seconds))


def scatter(operations: Numbers, seconds: Numbers, violation: Numbers, scales: Scales, label: str) -> Html:
    """Seconds against operations, both logarithmic and positive. Violations are crosses, all else dots."""
    frame = _Frame(*scales.operations, *scales.seconds)
    axes = [*_grid_y(frame, [(power, _seconds(power)) for power in _powers(scales.seconds)]),
            *_grid_x(frame, [(power, _thousands(power)) for power in _powers(scales.operations)]),
            *_titles("operations", "seconds")]
    marks = []
    for crossed in (False, True):
        chosen = violation == crossed
        x, y = np.log10(operations[chosen]), np.log10(seconds[chosen])
        gathered = _cells(x, y, scales) if len(x) > POINTS else [(a, b, 1) for a, b in zip(x, y, strict=True)]
        marks += [_mark(frame, a, b, count, crossed) for a, b, count in gathered]
    return _svg(WIDTH, HEIGHT, label, [*axes, *marks])


def _cells(x: Numbers, y: Numbers, scales: Scales) -> list[tuple[float, float, int]]:
    """The middle of each cell that holds points, and how many it holds."""
    counts, xs, ys = np.histogram2d(x, y, CELLS, [scales.operations, scales.seconds])
    middle_x, middle_y = (xs[1:] + xs[:-1]) / 2, (ys[1:] + ys[:-1]) / 2
    return [(middle_x[i], middle_y[j], int(counts[i, j])) for i, j in zip(*np.nonzero(counts), strict=True)]


def _mark(frame: _Frame, x: float, y: float, count: int, crossed: bool) -> Html:
    """Larger for more points, slowly: a cell may hold one or a hundred thousand."""
    size = min(2 + 0.6 * math.log10(count), 4.5)
    at_x, at_y = frame.x(x), frame.y(y)
    title = f"{decimal(10 ** x)} operations, {duration(10 ** y)}" + (f": about {digits(count)}" if count > 1 else "")
    if not crossed:
        return _shape("circle", title, cx=_at(at_x), cy=_at(at_y), r=_at(size), class_="dot")
    a, b, c, d = (_at(at) for at in (at_x - size, at_x + size, at_y - size, at_y + size))
    return _shape("path", title, d=f"M{a} {c}L{b} {d}M{a} {d}L{b} {c}", class_="cross")


@dataclass(frozen=True)
class _Frame:
    """From the values of a chart to its pixels."""

    left: float
    right: float
    low: float
    high: float

    def x(self, value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (value - self.left) / (self.right - self.left)

    def y(self, value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value - self.low) / (self.high - self.low)


def _svg(width: int, height: int, label: str, pieces: list[Html], class_: str = "chart") -> Html:
    return element("svg", joined(pieces, ""), role="img", aria_label=label, class_=class_,
                   viewBox=f"0 0 {width} {height}")


def _shape(name: str, title: str, **values: str | int | None) -> Html:
    return element(name, element("title", title), **values)


def _at(pixels: float) -> str:
    return f"{pixels:.1f}"


def _grid_y(frame: _Frame, ticks: list[tuple[int, str]]) -> list[Html]:
    lines = []
    for value, text in ticks:
        y = frame.y(value)
        lines.append(_line(LEFT, y, WIDTH - RIGHT, y))
        lines.append(element("text", text, x=LEFT - 5, y=_at(y + 3.5), class_="end"))
    return lines


def _grid_x(frame: _Frame, ticks: list[tuple[int, str]]) -> list[Html]:
    lines = []
    for value, text in ticks:
        x = frame.x(value)
        lines.append(_line(x, HEIGHT - BOTTOM, x, HEIGHT - BOTTOM + 4))
        anchor = "end" if x > WIDTH - 20 else "middle"
        lines.append(element("text", text, x=_at(x), y=HEIGHT - BOTTOM + 15, class_=anchor))
    return lines


def _line(x1: float, y1: float, x2: float, y2: float) -> Html:
    return Html(f"<line{attributes(x1=_at(x1), y1=_at(y1), x2=_at(x2), y2=_at(y2))}></line>")


def _titles(below: str, beside: str) -> list[Html]:
    middle = (TOP + HEIGHT - BOTTOM) // 2
    return [element("text", below, x=(LEFT + WIDTH - RIGHT) // 2, y=HEIGHT - 6, class_="middle title"),
            element("text", beside, x=10, y=middle, transform=f"rotate(-90 10 {middle})", class_="middle title")]


def _ticks(most: int) -> list[int]:
    """Whole numbers from 0 to `most` or a little more, in steps of 1, 2 or 5 times a power of ten."""
    step = 1
    while step * 4 < most:
        step = step * 5 // 2 if str(step)[0] == "2" else step * 2
    return list(range(0, max(most, 1) + step, step))


def _decades(values: Numbers) -> tuple[int, int]:
    low, high = math.floor(math.log10(values.min())), math.ceil(math.log10(values.max()))
    return low, max(high, low + 1)


def _powers(ends: tuple[int, int]) -> list[int]:
    """At most eight of them, however far apart the ends."""
    return list(range(ends[0], ends[1] + 1, (ends[1] - ends[0]) // 8 + 1))


def _seconds(power: int) -> str:
    """
    >>> _seconds(-5), _seconds(-3), _seconds(2)
    ('10 µs', '1 ms', '100 s')
    """
    unit, by = next(((unit, by) for unit, by in (("s", 0), ("ms", -3), ("µs", -6)) if power >= by), ("ns", -9))
    return f"{10 ** (power - by):g} {unit}" if power < 6 else f"1e{power} s"


def _thousands(power: int) -> str:
    """
    >>> _thousands(2), _thousands(4), _thousands(6)
    ('100', '10 k', '1 M')
    """
    unit, by = next((unit, by) for unit, by in ((" G", 9), (" M", 6), (" k", 3), ("", 0)) if power >= by)
    return f"{10 ** (power - by)}{unit}"
