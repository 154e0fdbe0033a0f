"""Memory models as texts, in a subset of herd's cat: the language, those that ship, and the compiler to clingo."""

from gradual.models.lexer import ModelError
from gradual.models.library import Model, load, of_traces, shipped, told_apart, usual, weaker

__all__ = ["Model", "ModelError", "load", "of_traces", "shipped", "told_apart", "usual", "weaker"]
