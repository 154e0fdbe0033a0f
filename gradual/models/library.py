"""Models by name or by file: those that ship stand beside this file, `sc.cat` and so on; a user's is any .cat file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from pathlib import Path

from gradual.history import History, split
from gradual.history.halves import halved
from gradual.models.language import FOLDER, PRELUDE, Reading, Scope, core
from gradual.models.lexer import ModelError
from gradual.models.parser import File, parse
from gradual.models.syntax import Check

ENDING = ".cat"
INCLUDED = ("prelude", "filters")
"""Files in our folder that are no models."""


@dataclass(frozen=True)
class Model:
    """A memory model: which executions it allows, in the words of its file."""

    name: str
    """As people call it: from the title, else the file's."""
    sentence: str
    file: str
    text: str
    checks: tuple[Check, ...] = field(compare=False, repr=False)
    """Over the names of `syntax.py`; what a `let` of the file named is a `Named` node."""
    machine: str | None = None
    """What runs it, from the comment `(* machine: … *)` after the title."""
    weaker_than: tuple[str, ...] = ()
    """The models that it allows more than, by the names `load` takes: `(* weaker than: sc *)`."""
    usual: bool = False
    """Is it one of those that `all` means where traces are checked? `(* usual *)`."""
    splits_rmws: bool = False
    """Does it take an rmw for two events, a load and a store: `(* rmws: two events *)`?"""

    def __str__(self) -> str:
        return self.name

    @property
    def has_views(self) -> bool:
        """Does each thread have a view of its own? Programs can be asked under such a model, traces cannot."""
        return any(check.kind == "views" for check in self.checks)

    def takes(self, history: History) -> History:
        """The history as the model takes it. Its verdict and the evidence speak of these events."""
        taken = halved(history) if self.splits_rmws else history
        return split(taken) if taken.mixed else taken

    @property
    def key(self) -> str:
        """In the output of programs: a shipped model's name as `--model` takes it."""
        return self.name.lower() if Path(self.file).parent == FOLDER else self.name


class NoModel(ModelError):
    """A name that no model has."""

    def __init__(self, name: str) -> None:
        super().__init__(f"no model called {name!r}; there are {', '.join(map(str, shipped()))}, and any file that "
                         f"ends in {ENDING}")
        self.name = name

    def __reduce__(self) -> tuple[type[NoModel], tuple[str]]:  # type: ignore[override]
        return NoModel, (self.name,)


def load(name: str | Model) -> Model:
    """The model of a shipped name, in any case, or of a file: what has a separator or ends in .cat. Raises ModelError.

    >>> load("tso").name
    'TSO'
    """
    if isinstance(name, Model):
        return name
    if os.sep not in name and "/" not in name and not name.endswith(ENDING):
        if name.lower() not in _files():
            raise NoModel(name)
        return _shipped(name.lower())
    try:
        text = Path(name).read_text(encoding="utf-8")
    except OSError as error:
        raise ModelError(error.strerror or "it cannot be read", name) from None
    except UnicodeDecodeError:
        raise ModelError("this is not text", name) from None
    return _own_name(_model(text, name))


@cache
def shipped() -> tuple[Model, ...]:
    """The models that come with the package, from strong to weak."""
    there = [_shipped(name) for name in _files()]
    # where there is a choice, first what more models are weaker than
    models = sorted(there, key=lambda model: -sum(model.name.lower() in _stronger(other, there) for other in there))
    ordered: list[Model] = []
    while models:
        taken = {model.name.lower() for model in ordered}
        ordered.append(next(model for model in models if taken.issuperset(model.weaker_than)))
        models.remove(ordered[-1])
    return tuple(ordered)


@cache
def _files() -> dict[str, Path]:
    """By name: a file is called as its model is, in small letters, so that one can be had without reading all."""
    return {path.stem: path for path in sorted(FOLDER.glob(f"*{ENDING}")) if path.stem not in INCLUDED}


def _shipped(name: str) -> Model:
    path = _files()[name]
    return _model(path.read_text(encoding="utf-8"), str(path))


def usual() -> tuple[Model, ...]:
    """The shipped models that machines are usually built to: what `all` means where traces are checked."""
    return tuple(model for model in shipped() if model.usual)


def of_traces(model: Model) -> Model:
    """The model, if traces can be checked against it. Raises ModelError."""
    if model.has_views:
        raise ModelError(f"{model} has a view per thread (`views`), and no trace is checked against such a model; "
                         "`gradual run` and `gradual contrast` take it")
    return model


def weaker(model: Model) -> list[Model]:
    """The shipped models that may allow more than this one, from strong to weak: all that are not known to be
    stronger."""
    stronger = {model.name.lower(), *_stronger(model, shipped())}
    return [other for other in shipped() if other.name.lower() not in stronger]


def _stronger(model: Model, models: Iterable[Model]) -> set[str]:
    """The names of those that it is weaker than."""
    found: set[str] = set()
    todo = [*model.weaker_than]
    while todo:
        name = todo.pop()
        found.add(name)
        todo += [above for other in models if other.name.lower() == name for above in other.weaker_than]
    return found


def told_apart(models: Iterable[Model]) -> list[Model]:
    """Each model once; of different ones with one name, each gets its file's name as well."""
    once = list(dict.fromkeys(models))
    names = [model.name for model in once]
    return [replace(model, name=f"{model.name} ({model.file})") if names.count(model.name) > 1 else model
            for model in once]


def _own_name(model: Model) -> Model:
    """A user's file that calls itself what a shipped model is called is told apart from it, unless it is the same."""
    namesake = next((other for other in shipped() if other.name.lower() == model.name.lower()), None)
    if namesake is None:
        return model
    return namesake if namesake.text == model.text else replace(
        model, name=f"{model.name} ({os.path.basename(model.file)})")


@lru_cache(maxsize=64)
def _model(text: str, file: str) -> Model:
    parsed = parse(text, file)
    if not text.strip():
        raise ModelError(f"{file}: there is nothing in it; a model that forbids nothing says so by a title")
    reading = Reading(dict(_prelude()))
    reading.file(Path(file), parsed)
    weaker_than = re.split(r"\s*,\s*", _said(parsed, "weaker than") or "")
    return Model(" ".join(parsed.names) or Path(file).stem, " ".join(parsed.strings), file, text,
                 tuple(reading.checks), _said(parsed, "machine"), tuple(name.lower() for name in weaker_than if name),
                 "usual" in parsed.comments, _said(parsed, "rmws") == "two events")


def _said(parsed: File, key: str) -> str | None:
    """What a comment after the title says to us: `(* key: … *)`."""
    matches = (re.fullmatch(rf"{key}\s*:\s*(.+)", comment) for comment in parsed.comments)
    return next((match[1] for match in matches if match), None)


@cache
def _prelude() -> Scope:
    reading = Reading(core())
    reading.file(PRELUDE, parse(PRELUDE.read_text(encoding="utf-8"), str(PRELUDE)))
    return reading.scope
