"""Why a history is a violation: as prose, as a picture, as a page.

Each function takes a verdict and its history. `shortened` looks for the simplest evidence first; the others tell
the evidence they are given, so shorten once and tell it as often as you like:

    verdict = shortened(gradual.check(history, "tso"), history)
    print(prose(verdict, history))
"""

from __future__ import annotations

# Modules and functions share names: all modules come first, so that the functions below keep theirs.
from gradual.explanation.dot import dot as _dot
from gradual.explanation.page import page as _page
from gradual.explanation.picture import picture as _picture
from gradual.explanation.prose import lines as _prose
from gradual.explanation.shorten import shortened
from gradual.explanation.svg import svg as _svg
from gradual.explanation.witness import lines as _witness
from gradual.history import History
from gradual.verdict import Verdict

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
