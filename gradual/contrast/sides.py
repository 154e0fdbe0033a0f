"""What is contrasted: a model by its axioms, or its machine."""

from __future__ import annotations

from contextlib import suppress
from typing import Protocol

from gradual.contrast.axioms import Axioms
from gradual.contrast.subject import Subject
from gradual.machines.components import Machine, MachineError
from gradual.machines.exploring import Exploration
from gradual.models import Model, load
from gradual.programs.operational import NAMED, machine_named


class Side(Protocol):
    """One of two models."""

    name: str
    model: Model
    machine: Machine | None
    """What tells how an outcome comes about, if anything does."""

    def packed(self, subject: Subject) -> set[int] | frozenset[int]:
        """The outcomes that it allows, packed."""


class ByAxioms:
    def __init__(self, model: Model) -> None:
        self.model = model
        self.name = model.key
        self.machine: Machine | None = None
        with suppress(MachineError):  # a comment may say anything
            self.machine = machine_named(model)
        self.packed = Axioms(model).packed


class ByMachine:
    def __init__(self, model: Model) -> None:
        self.model = model
        self.name = f"{NAMED}{model.key}"
        self.machine: Machine | None = machine_named(model)

    def packed(self, subject: Subject) -> frozenset[int]:
        assert self.machine is not None
        return Exploration(self.machine, subject.code).packed()


def side(text: str) -> Side:
    """A name, a .cat file, or `operational:` and one of these. Raises ModelError, MachineError."""
    if text.startswith(NAMED):
        return ByMachine(load(text.removeprefix(NAMED)))
    return ByAxioms(load(text))
