"""Why a history is a violation: as prose, as a picture, as a page. And how a consistent one can be: as a run.

Each function takes a verdict, its history (the trace, or as the model takes it) and its model. `shortened` looks for
the simplest evidence first; the others tell the evidence they are given, so shorten once and tell it as often as you
like:

    model = gradual.models.load("tso")
    verdict = shortened(gradual.check(history, model), history, model)
    print(prose(verdict, history, model))

Everything is imported when it is used: who only needs a line (`words.py`) waits for no pictures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gradual.evidence.verdict import Verdict
    from gradual.history import History
    from gradual.models import Model

__all__ = ["brief", "dot", "page", "prose", "shortened", "svg", "witness"]


def shortened(verdict: Verdict, history: History, model: Model) -> Verdict:
    """The verdict with the simplest evidence that could be found, certified."""
    from gradual.telling import shorten

    return shorten.shortened(verdict, history, model)


def brief(verdict: Verdict, history: History, model: Model) -> str:
    """The violation in short, as `gradual check` prints it; empty where there is none."""
    from gradual.telling import arrows

    return "\n".join(arrows.lines(verdict.evidence, model.takes(history), model))


def prose(verdict: Verdict, history: History, model: Model) -> str:
    """The way from what was observed to the contradiction; empty where there is no violation."""
    from gradual.telling import passage, teller

    return "\n".join(passage.lines(teller.told(verdict.evidence, model.takes(history), model)))


def witness(verdict: Verdict, history: History, model: Model) -> str:
    """The run that explains a consistent history, a line per step; empty for any other."""
    from gradual.telling import runs

    return "\n".join(runs.lines(verdict, model.takes(history), model))


def svg(verdict: Verdict, history: History, model: Model) -> str:
    """The violation as a picture that needs nothing else. ValueError where there is none."""
    from gradual.telling import drawing, picture

    return drawing.svg(picture.picture(verdict, model.takes(history), model)) + "\n"


def dot(verdict: Verdict, history: History, model: Model) -> str:
    """The same for Graphviz."""
    from gradual.telling import graphviz, picture

    return graphviz.dot(picture.picture(verdict, model.takes(history), model))


def page(verdict: Verdict, history: History, model: Model) -> str:
    """Prose, picture and the lines of the trace on one HTML page."""
    from gradual.telling import picture, teller, webpage

    history = model.takes(history)
    told = teller.told(verdict.evidence, history, model)
    return webpage.page(verdict, history, told, picture.picture(verdict, history, model))
