"""The memory models, as data: which program order each one gives up.

A model is a value. It names the pairs of program order that do *not* count towards its global
axiom; everything else about it (the fences, the per-location axiom, how an rmw is read) is common
to all three. Compare with the table in Alglave et al., "Herding cats" (2014), section 4.8.
"""

from __future__ import annotations

from dataclasses import dataclass

from gradual.models.lexer import ModelError
from gradual.models.library import Model as Text
from gradual.models.library import load


@dataclass(frozen=True)
class Model:
    """A memory model: its name and the program order it preserves."""

    name: str
    keeps_write_read: bool
    keeps_write_write: bool
    """Between different locations; on one location every model keeps it."""

    def __str__(self) -> str:
        return self.name


SC = Model("SC", keeps_write_read=True, keeps_write_write=True)
TSO = Model("TSO", keeps_write_read=False, keeps_write_write=True)
PSO = Model("PSO", keeps_write_read=False, keeps_write_write=False)

MODELS: dict[str, Model] = {model.name: model for model in (SC, TSO, PSO)}


def model_named(name: str | Model | Text) -> Model:
    """The model called `name`, in any case.

    >>> model_named("tso").name
    'TSO'
    """
    if isinstance(name, Model):
        return name
    text = load(name)
    if text.name not in MODELS:
        raise ModelError(f"{text} cannot be checked on traces yet; there are {', '.join(MODELS)}")
    return MODELS[text.name]
