"""Why a history is a violation: as prose, as a picture, as a page.

Each function takes a verdict and its history. `shortened` looks for the simplest evidence first; the others tell
the evidence they are given, so shorten once and tell it as often as you like:

    verdict = shortened(gradual.check(history, "tso"), history)
    print(prose(verdict, history))
"""

from __future__ import annotations

from gradual.evidence.verdict import Verdict
from gradual.history import History

# Modules and functions share names: all modules come first, so that the functions below keep theirs.
from gradual.telling.dot import dot as _dot
from gradual.telling.page import page as _page
from gradual.telling.picture import picture as _picture
from gradual.telling.prose import lines as _prose
from gradual.telling.shorten import shortened
from gradual.telling.svg import svg as _svg
from gradual.telling.witness import lines as _witness

__all__ = ["dot", "page", "prose", "shortened", "svg", "witness"]


def prose(verdict: Verdict, history: History) -> str:
    """The way from what was observed to the contradiction; empty where there is no violation."""
    return "\n".join(_prose(verdict, history))


def witness(verdict: Verdict, history: History) -> str:
    """The run that explains a consistent history, a line per step; empty for any other."""
    return "\n".join(_witness(verdict, history))


def svg(verdict: Verdict, history: History) -> str:
    """The violation as a picture that needs nothing else. ValueError where there is none."""
    return _svg(_picture(verdict, history)) + "\n"


def dot(verdict: Verdict, history: History) -> str:
    """The same for Graphviz."""
    return _dot(_picture(verdict, history))


def page(verdict: Verdict, history: History) -> str:
    """Prose, picture and the lines of the trace on one HTML page."""
    return _page(verdict, history, prose(verdict, history), _picture(verdict, history))
