"""Memory models as texts, in a subset of herd's cat: the language, those that ship, and the compiler to clingo."""

from gradual.models.lexer import ModelError
from gradual.models.library import Model, forbidding, load, shipped, told_apart, weaker

__all__ = ["Model", "ModelError", "forbidding", "load", "shipped", "told_apart", "weaker"]
