"""What was found out about a program under a model, in the layout of herd, and as JSON."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Literal

from gradual.models import Model
from gradual.programs.condition import Condition, Place, holds
from gradual.programs.executions import Outcome
from gradual.programs.forbidden import Violation
from gradual.programs.program import Program


@dataclass
class Observation:
    """The answer for one program and one model. With `outcomes` None only the condition was asked about."""

    program: Program
    model: Model
    outcomes: Counter[Outcome] | None
    reached: bool = False
    """Some execution satisfies the condition's proposition."""
    missed: bool = False
    """Some execution does not."""
    complete: bool = True
    late: bool = False
    """Not complete, because the time was over."""
    why_not: list[str] = field(default_factory=list)
    violation: Violation | None = None
    """The same, where a history can show it."""
    shown: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def matching(self) -> int:
        """Executions that satisfy the proposition."""
        return sum(count for outcome, count in (self.outcomes or {}).items() if self.satisfies(outcome))

    @property
    def executions(self) -> int:
        return sum((self.outcomes or {}).values())

    def satisfies(self, outcome: Outcome) -> bool:
        condition = self.program.condition
        return condition is not None and holds(condition.proposition, self.named(outcome))

    def named(self, outcome: Outcome) -> dict[Place, int]:
        return dict(zip(self.program.observed, outcome, strict=True))

    @property
    def answer(self) -> bool | None:
        """Does the condition hold? None where there is none, or where an interrupted search does not tell yet."""
        condition = self.program.condition
        if condition is None or not (self.complete or self._settled(condition)):
            return None
        return condition.answer(self.reached, self.missed)

    def _settled(self, condition: Condition) -> bool:
        """Can nothing that is still to be found change the answer?"""
        return self.missed if condition.quantifier == "forall" else self.reached

    @property
    def frequency(self) -> Literal["Never", "Sometimes", "Always"]:
        return ("Sometimes" if self.missed else "Always") if self.reached else "Never"

    # --- for people

    def lines(self) -> list[str]:
        condition = self.program.condition
        lines = [f"Model {self.model}",
                 f"Test {self.program.name}" + (f" {condition.kind}" if condition else "")]
        if not self.complete:
            why = "the time is over" if self.late else "interrupted"
            lines.append(f"({why}: this is what was found so far)")
        if self.outcomes is not None:
            lines += [f"States {len(self.outcomes)}", *self._states()]
        if condition is not None:
            lines += self._verdict()
        elif self.outcomes is not None:
            lines.append(f"Executions {self.executions}")
        lines += [*(f"Note: {note}" for note in self.program.notes), *self.shown]
        if self.why_not:
            lines += [f"Why {self.model} forbids it:", *(f"    {line}" for line in self.why_not)]
        return [*lines, f"Time {self.program.name} {self.seconds:.2f}"]

    def _states(self) -> list[str]:
        """A line each: how many executions, *> where the condition's proposition holds (as litmus7 does)."""
        return [f"{count:<6}{'*' if self.satisfies(outcome) else ':'}>{self.text(outcome)}"
                for outcome, count in sorted((self.outcomes or {}).items())]

    def text(self, outcome: Outcome) -> str:
        return " ".join(f"{place if not isinstance(place, str) else f'[{place}]'}={value!s};"
                        for place, value in self.named(outcome).items())

    def _verdict(self) -> list[str]:
        """Positive are the executions that speak for the condition: under ~exists those without the outcome."""
        condition = self.program.condition
        assert condition is not None
        matching, others = self.matching, self.executions - self.matching
        lines = [] if self.answer is None else ["Ok" if self.answer else "No"]
        if self.outcomes is not None:
            positive, negative = (others, matching) if condition.quantifier == "~exists" else (matching, others)
            lines += ["Witnesses", f"Positive: {positive} Negative: {negative}"]
        counts = f" {matching} {others}" if self.outcomes is not None else ""
        frequency = self.frequency if self.complete else "Unknown"
        return [*lines, f"Condition {condition}", f"Observation {self.program.name} {frequency}{counts}"]

    # --- for programs

    def json(self) -> dict[str, Any]:
        condition = self.program.condition
        found: dict[str, Any] = {"program": self.program.name, "source": self.program.file, "model": self.model.key}
        if self.outcomes is not None:
            found["executions"] = self.executions
            found["outcomes"] = [{"values": {str(place): value for place, value in self.named(outcome).items()},
                                  "executions": count, "satisfies": self.satisfies(outcome)}
                                 for outcome, count in sorted(self.outcomes.items())]
        if condition is not None:
            found |= {"condition": str(condition), "holds": self.answer,
                      "observation": self.frequency if self.complete else "Unknown"}
        if self.program.notes:
            found["notes"] = self.program.notes
        return found | {"why_not": self.why_not, "shown": self.shown, "complete": self.complete,
                        "seconds": round(self.seconds, 6)}
