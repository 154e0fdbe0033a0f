"""HTML from strings that may hold anything: nothing from a dataset reaches the page but through here."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources

from gradual.history import visible

NONE = "–"
THIN = "\u202f"

NARROW = "\u00a0" + THIN
"""Spaces of our own, in numbers with their units."""


@cache
def asset(package: str, name: str) -> str:
    """A file that lies beside the code: a style sheet, a script, the frame of a page."""
    return resources.files(package).joinpath(name).read_text("utf-8")


class Html(str):
    """Markup that is ready; every other string is text."""


class Figure(Html):
    """A number, already in digits."""


Cell = str | int | float | None
_harmless = re.compile(r"[ \w.,:;()#=-]*", re.ASCII).fullmatch
"""Most of what pages are made of means the same in HTML: numbers, names, classes."""


def escaped(text: str) -> Html:
    """Text on one line."""
    if isinstance(text, Html):
        return text
    return Html(text if _harmless(text) else html.escape(visible(text, NARROW)))


def block(text: str) -> Html:
    """Text of several lines, for a <pre>."""
    return Html(html.escape(visible(text.replace("\r\n", "\n"), NARROW + "\n\t")))


def path(text: str) -> Html:
    """A file name that breaks where its folders end, if it has to."""
    return Html(escaped(text).replace("/", "/<wbr>"))


def digits(count: int) -> str:
    """
    >>> digits(1234567).replace(THIN, " ")
    '1 234 567'
    """
    return f"{count:,}".replace(",", THIN)


def many(count: int, one: str, more: str) -> str:
    return f"{digits(count)} {one if count == 1 else more}"


def decimal(value: float) -> str:
    """Three digits that count, never in powers of ten."""
    if not math.isfinite(value):
        return NONE
    if abs(value) >= 1000:
        return digits(round(value))
    text = f"{value:.3g}"
    return f"{value:.6f}".rstrip("0").rstrip(".") if "e" in text else text


def duration(seconds: float) -> str:
    """
    >>> print(duration(0.00667), duration(2), duration(3e-6), sep=", ")
    6.67 ms, 2 s, 3 µs
    """
    unit, by = next(((unit, by) for unit, by in (("s", 1.0), ("ms", 1e-3)) if seconds >= by), ("µs", 1e-6))
    return f"{decimal(seconds / by)}\u00a0{unit}"


def shown(value: Cell) -> Html:
    if value is None or value == "":
        return Html(NONE)
    if isinstance(value, str):
        return escaped(value)
    return Html(decimal(value) if isinstance(value, float) else digits(value))


def attributes(**values: str | int | None) -> Html:
    """Named with _ for -, `class_` for class; without those that are None, and True for those without a value."""
    return _attributes(values)


def _attributes(values: Mapping[str, str | int | None]) -> Html:
    return Html("".join([f" {_spelled(name)}" if value is True else f' {_spelled(name)}="{_quoted(value)}"'
                         for name, value in values.items() if value is not None]))


def _quoted(value: str | int) -> Html:
    return escaped(value if isinstance(value, str) else str(value))


@cache
def _spelled(name: str) -> str:
    """An attribute as HTML has it."""
    return name.rstrip("_").replace("_", "-")


def element(tag: str, content: str, /, **values: str | int | None) -> Html:
    return Html(f"<{tag}{_attributes(values)}>{escaped(content)}</{tag}>")


def joined(pieces: Iterable[str], between: str = "\n") -> Html:
    return Html(between.join([escaped(piece) for piece in pieces]))


def div(class_: str, text: str) -> Html:
    """What a cell holds, where the style sheet has something to say about it."""
    return element("div", shown(text), class_=class_)


def section(name: str, title: str, *pieces: str) -> Html:
    heading = element("h2", title, id=f"{name}-title")
    return element("section", joined([heading, *pieces]), id=name, aria_labelledby=f"{name}-title")


def facts(pairs: Iterable[tuple[str, str]]) -> Html:
    """What a page is about: names and texts, without those that are empty."""
    lines = [joined([element("dt", name), element("dd", text)], "") for name, text in pairs if text]
    return element("dl", joined(lines), class_="about")


def row(cells: Iterable[Cell], **values: str | int | None) -> Html:
    """A row of a table; the first cell names it."""
    first, *rest = cells
    inner = [element("th", shown(first), scope="row"), *(_cell(value) for value in rest)]
    return element("tr", joined(inner, ""), **values)


def _cell(value: Cell) -> Html:
    number = value is None or isinstance(value, (int, float, Figure))
    return element("td", shown(value), class_="number" if number else None)


def table(caption: str, heads: Iterable[str], rows: Iterable[Html], **values: str | int | None) -> Html:
    """Heads that begin with #, and those that are markup, stand over numbers."""
    titles = joined(map(_head, heads), "")
    parts = [element("caption", caption), element("thead", element("tr", titles)),
             element("tbody", joined(["", *rows, ""]))]
    return element("div", element("table", joined(parts), **values), class_="scroll")


def _head(text: str) -> Html:
    if isinstance(text, Html) or text.startswith("#"):
        return element("th", text if isinstance(text, Html) else text[1:], scope="col", class_="number")
    return element("th", text, scope="col")
