"""What `gradual run` does with event structures: models that look at many executions at once."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from gradual.cli.common import refused, usage_error

if TYPE_CHECKING:
    from gradual.events.models import EventModel
    from gradual.programs.program import Bounds, Program

NAMES = ("jr", "ra", "c11", "rc11")
"""Models that are asked about event structures alone; SC is there too, for --compare."""

Justifies = Literal["label", "visible"]
Values = Annotated[str | None, typer.Option("--values", metavar="V", help="What loads may return where it matters: "
                                            "0..2, or 0,1,42. [default: found from the program]")]
Unroll = Annotated[int | None, typer.Option("--unroll", metavar="N", min=1, help="Let loops go round N times, then end "
                                            "the thread; without it a loop is an error.")]
Reading = Annotated[str, typer.Option("--justifies", metavar="label|visible", help="Of jr, which writes justify a "
                                      "read: those with its location and value, or only those that it can see.")]
Compare = Annotated[list[str] | None, typer.Option("--compare", metavar="MODEL...", help="A table of what several "
                                                   "models make of the condition: --compare jr ra c11.")]
ShowStructure = Annotated[str | None, typer.Option("--show-structure", metavar="OUT", help="Draw the event structure "
                                                   "of the one program given: a file that ends in .svg or .dot.")]


def bounds(values: str | None, unroll: int | None) -> Bounds | None:
    from gradual.programs.unfolding import Bounds, values_of

    if values is None and unroll is None:
        return None
    try:
        return Bounds(None if values is None else values_of(values), unroll)
    except ValueError as error:
        raise usage_error(f"--values {values!r}: {error}; write 0..2 or 0,1,42") from None


def reading(text: str) -> Justifies:
    if text == "label":
        return "label"
    if text == "visible":
        return "visible"
    raise usage_error(f"--justifies is label or visible, not {text!r}")


def told_apart(chosen: list[str] | None) -> tuple[list[str], list[str]]:
    """The names of models of event structures, and the others."""
    names = [name for name in chosen or [] if name.lower() in NAMES]
    return [name.lower() for name in dict.fromkeys(names)], [name for name in chosen or [] if name not in names]


def compared(files: list[str], compare: list[str]) -> tuple[list[str], list[str]]:
    """`FILE --compare jr sc ra`: what follows the first model, and is no file, are models too."""
    models = [name for text in compare for name in text.replace(",", " ").split()]
    more = [name for name in files if _names_a_model(name)]
    return [file for file in files if file not in more], [*dict.fromkeys([*models, *more])]


def _names_a_model(name: str) -> bool:
    from gradual.models import shipped

    known = {*NAMES, *(model.name.lower() for model in shipped())}
    return name.endswith(".cat") or (name.lower() in known and not os.path.exists(name))


@dataclass(frozen=True)
class Structures:
    """What is asked of the event structure of every program."""

    models: list[str]
    justifies: Justifies = "label"
    as_json: bool = False

    def ask(self, program: Program, name: str) -> str:
        """What one model says, to be printed. Raises ProgramError."""
        from gradual.events.telling import lines, record
        from gradual.events.verdict import decide

        verdict = decide(program, model(name), self.justifies)
        return json.dumps(record(verdict)) if self.as_json else "\n".join(lines(verdict)) + "\n"

    def compare(self, program: Program) -> str:
        """A line for each model, to be printed. Raises ProgramError."""
        rows = [self._row(program, name) for name in self.models]
        notes = [note for row in rows for note in row["notes"]]
        if self.as_json:
            return "\n".join(json.dumps({"program": program.name, "source": program.file, **row}) for row in rows)
        told = [f"    {row['name']:<10} {row['verdict']:<10} {'holds' if row['holds'] else 'does not hold':<14}"
                f"{row['seconds']:.3f} s" for row in rows]
        return "\n".join([f"Test {program.name}", f"Condition {program.condition}", *told,
                          *(f"Note: {note}" for note in [*notes, *program.notes]), ""])

    def _row(self, program: Program, name: str) -> dict[str, Any]:
        from gradual.events.models import MODELS
        from gradual.events.telling import other_reading
        from gradual.events.verdict import decide

        if name.lower() not in MODELS:
            return _by_executions(program, name)
        verdict = decide(program, model(name), self.justifies, explained=False)
        return {"model": verdict.model.key, "name": str(verdict.model), "holds": verdict.holds,
                "verdict": "racy" if verdict.racy else "allowed" if verdict.allowed else "forbidden",
                "notes": [*other_reading(verdict)], "seconds": round(verdict.seconds, 6)}


def model(name: str) -> EventModel:
    from gradual.events.models import MODELS

    return MODELS[name.lower()]


def _by_executions(program: Program, name: str) -> dict[str, Any]:
    """A model that judges one execution at a time."""
    from gradual.cli.common import one_model
    from gradual.programs import observe
    from gradual.programs.scan import ProgramError

    if program.condition is None:
        raise ProgramError("there is no condition to answer (exists, ~exists or forall)", program.file)
    found = observe.answer(program, one_model(name), explained=False)
    allowed = found.missed if program.condition.quantifier == "forall" else found.reached
    return {"model": found.model.key, "name": str(found.model), "holds": found.answer,
            "verdict": "allowed" if allowed else "forbidden", "notes": [], "seconds": round(found.seconds, 6)}


def drawable(target: str | None, files: Iterable[str]) -> None:
    """Refuses what cannot be drawn to before anything is done."""
    sources = list(files)
    if target is None:
        return
    if os.path.splitext(target)[1] not in (".svg", ".dot"):
        raise usage_error(f"--show-structure {target}: the file must end in .svg or .dot")
    if len(sources) != 1:
        raise usage_error("--show-structure draws one program: give one file")
    if os.path.realpath(target) == os.path.realpath(sources[0]):
        raise usage_error(f"{target} is what is read")


def draw(program: Program, target: str, justifies: Justifies) -> None:
    from gradual.events import picture
    from gradual.events.structure import unfold
    from gradual.files import appearing
    from gradual.programs.scan import ProgramError

    structure = unfold(program)
    if len(structure) > picture.MOST_EVENTS:
        raise ProgramError(f"the structure has {len(structure)} events: no more than {picture.MOST_EVENTS} can be "
                           "drawn (fewer --values make it smaller)", program.file)
    make = picture.svg if target.endswith(".svg") else picture.dot
    try:
        with appearing(target) as stream:
            stream.write(make(structure, justifies).encode())
    except OSError as error:
        raise refused(target, error) from None
