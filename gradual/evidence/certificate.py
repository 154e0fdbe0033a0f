"""Checks the evidence of a verdict against the history. Imports no engine and shares no code with one.

Nothing is trusted but the operations, their values and the text of the model: reads-from is found again from the
values, and the text is read by an evaluator of its own. The models that ship have a second opinion here, written
from the manuals: a machine that replays a witness, and a predicate for the program order that a cycle uses.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import resources

from gradual.deadline import NEVER, Deadline
from gradual.evidence.ahead import Ahead
from gradual.evidence.axioms import Axioms, ByText, ModelText, SecondOpinion
from gradual.evidence.cycles import Walk
from gradual.evidence.errors import CertificateError, require
from gradual.evidence.events import Events
from gradual.evidence.given import require_kept
from gradual.evidence.machine import MACHINES, load, replay
from gradual.evidence.observations import check_overwritten, check_thin_air
from gradual.evidence.observed import Observed, supposing
from gradual.evidence.parts import in_parts
from gradual.evidence.refutations import check_refutation
from gradual.evidence.sized_machine import replay_parts, require_whole
from gradual.evidence.text import Text
from gradual.evidence.together import one_after_another, together
from gradual.evidence.two_events import two_events
from gradual.evidence.verdict import Cycle, Evidence, Refutation, ThinAir, Witness
from gradual.evidence.witnesses import check_witness
from gradual.history import Column, History

__all__ = ["CertificateError", "check", "check_runs", "load", "look_ahead", "machine_of", "replay"]

MANY = 100_000
"""Operations from which on it pays to look ahead."""


def look_ahead(history: History, model: ModelText) -> Ahead | None:
    """What can be looked up before there is evidence, where a witness is checked by the text alone, and that takes
    time."""
    if len(history) < MANY or history.unknown is not None or history.given or history.mixed or machine_of(model):
        return None
    return Ahead(Text(Events(Observed(in_parts(_taken(history, model))))), model)


def check(history: History, model: str | ModelText, evidence: Evidence, deadline: Deadline = NEVER,
          ahead: Ahead | None = None) -> None:
    """Raise CertificateError unless `evidence` proves its verdict on `history` under `model`; OutOfTime when a long
    refutation is not through by then. `ahead`: what was looked up in this history, for this model."""
    if ahead and isinstance(evidence, Witness) and not evidence.origins and not isinstance(model, str):
        check_witness(ahead.text(), model, evidence)
        return
    taken = in_parts(_taken(history, model))
    if isinstance(evidence, Witness):
        taken = supposing(taken, evidence.held)
    observed = Observed(taken, evidence.origins if isinstance(evidence, Witness) else ())
    text = None if isinstance(model, str) else model
    if isinstance(evidence, Witness):
        _check_witness(observed, model, evidence, deadline)
        require_kept(observed, evidence)
    elif isinstance(evidence, Cycle):
        require(not evidence.assumed and not evidence.origins, "a violation may assume nothing")
        Walk(observed, _axioms(observed, model), evidence).check()
    elif isinstance(evidence, Refutation):
        check_refutation(taken, lambda observed: _axioms(observed, model), text, evidence, deadline)
    elif isinstance(evidence, ThinAir):
        check_thin_air(observed, evidence)
    else:
        check_overwritten(observed, evidence)


def _taken(history: History, model: str | ModelText) -> History:
    """The history as the model takes it."""
    return two_events(history) if not isinstance(model, str) and model.splits_rmws else history


def check_runs(histories: Sequence[History], model: ModelText, orders: Sequence[Column]) -> None:
    """The same for many small histories that know nothing besides their values, each with an order of its operations:
    one replay where there is a machine."""
    machine = machine_of(model)
    require(not any(history.given for history in histories), "what a history knows is looked at one by one")
    if machine:
        replay(together(histories), machine, one_after_another(orders))
        return
    for history, order in zip(histories, orders, strict=True):
        check(history, model, Witness(order.tolist()))


def _check_witness(observed: Observed, model: str | ModelText, witness: Witness, deadline: Deadline) -> None:
    machine = machine_of(model)
    if observed.accesses.several:
        if isinstance(model, str):
            raise CertificateError("where accesses are several events, the text of a model is needed")
        require_whole(observed, witness)
        if machine:
            replay_parts(observed, machine, witness.order)
        check_witness(Text(Events(observed)), model, witness)
    elif machine and witness.store_order is None:
        require(not witness.orders, "an order of all operations needs no others")
        replay(observed.history, machine, witness.order, witness.origins, deadline)
    elif isinstance(model, str):
        raise CertificateError("the machine replays one order of all operations")
    else:
        check_witness(Text(Events(observed)), model, witness)


def _axioms(observed: Observed, model: str | ModelText) -> Axioms:
    machine = machine_of(model)
    if machine:
        return SecondOpinion(observed, machine)
    if isinstance(model, str):
        raise CertificateError(f"nobody knows what {model} says")
    return ByText(observed, model)


def machine_of(model: str | ModelText) -> str | None:
    """The machine of a model that ships: known by its text, not by what it calls itself."""
    if isinstance(model, str):
        return model if model in MACHINES else None
    return _shipped_texts().get(getattr(model, "text", ""))


@cache
def _shipped_texts() -> dict[str, str]:
    files = {name: resources.files("gradual.models") / f"{name.lower()}.cat" for name in MACHINES}
    return {file.read_text(encoding="utf-8"): name for name, file in files.items() if file.is_file()}
