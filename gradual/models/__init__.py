"""Memory models as texts, in a subset of herd's cat: the language, those that ship, and the compiler to clingo."""

from gradual.models.lexer import ModelError
from gradual.models.library import Model, NoModel, load, of_traces, shipped, told_apart, usual, weaker

__all__ = ["Model", "ModelError", "NoModel", "load", "of_traces", "shipped", "told_apart", "usual", "weaker"]
