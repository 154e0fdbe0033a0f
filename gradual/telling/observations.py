"""What is impossible as it stands, told: a value from thin air, a store that was lost."""

from __future__ import annotations

from gradual.evidence.verdict import Overwritten, ThinAir
from gradual.history import History, value_text, visible
from gradual.telling.names import Names, capital
from gradual.telling.words import counted

Observation = ThinAir | Overwritten


def observed(evidence: Observation, history: History) -> list[str]:
    """Line by line: the first two say what was observed, and why that cannot be."""
    return _thin_air(evidence, history) if isinstance(evidence, ThinAir) else _overwritten(evidence, history)


def _thin_air(evidence: ThinAir, history: History) -> list[str]:
    at = evidence.location
    address, initial = visible(history.locations[at]), value_text(history.initial[at])
    if evidence.operation is None:
        value = history.final_value[at]
        seen = left_with(at, history)
    else:
        value = history.read[evidence.operation]
        seen = capital(Names(history).deed(evidence.operation))
    stores = history.writes[history.location[history.writes] == at]
    return [f"{seen}.",
            f"Nobody ever wrote {value_text(value)} to {address}: the trace has {counted(len(stores), 'store')} there, "
            f"none of this value, and {address} was {initial} before any of them.",
            "So the value came out of thin air, which no memory model allows.",
            _what_was_there(at, history)]


def _what_was_there(at: int, history: History) -> str:
    """What the user may know better."""
    address, initial = visible(history.locations[at]), value_text(history.initial[at])
    if history.unknown is not None and history.unknown[at]:
        return f"(Nobody wrote {initial} either, so that is what memory held at {address}, and it held one value.)"
    return (f"(If {address} did not start at {initial}, say so with --initial; --initial unknown takes it for what "
            "memory held.)")


def _overwritten(evidence: Overwritten, history: History) -> list[str]:
    names = Names(history)
    return [f"{left_with(evidence.location, history)}, the value it had before any store.",
            f"But {names.deed(evidence.write)}, and no store brought the first value back.",
            f"So the store {names.store(evidence.write)} was lost, which no memory model allows."]


def left_with(at: int, history: History) -> str:
    """`x is left with 1 (line 9)`."""
    value = value_text(history.final_value[at])
    return f"{visible(history.locations[at])} is left with {value}{final_line(at, history)}"


def final_line(at: int, history: History) -> str:
    line = history.final_line[at]
    return f" (line {line})" if line > 0 else ""
