"""A verdict as JSON: the record that `gradual check --json` prints."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradual.evidence.verdict import Cycle, Path, Refutation, Verdict, Witness
from gradual.history import FENCE, NO_TICK, READ, RMW, WRITE, History, Kind
from gradual.telling.words import pairs_tried, rotated

Record = dict[str, Any]


def record(verdict: Verdict, history: History) -> Record:
    """One history, one model."""
    evidence = verdict.evidence
    witness = {"witness": _witness(evidence, history)} if isinstance(evidence, Witness) else {}
    notes = {"notes": list(history.notes)} if history.notes else {}
    return figures(verdict, history) | notes | witness | violation(verdict, history)


def figures(verdict: Verdict, history: History) -> Record:
    """What there is to say without the evidence."""
    return _base(history.name, history.file, verdict.model, verdict.verdict) | {
        "decided_by": verdict.decided_by,
        "operations": len(history),
        "threads": len(history.threads),
        "locations": len(history.locations),
        "write_pairs": verdict.write_pairs,
        "unordered_pairs": verdict.unordered_pairs,
        "unordered_percent": None if verdict.unordered_percent is None else round(verdict.unordered_percent, 4),
        "ordered_by": verdict.ordered_by,
        "conflicts": verdict.conflicts,
        "seconds": round(verdict.seconds, 6),
        "message": verdict.message,
    }


def violation(verdict: Verdict, history: History) -> Record:
    """The evidence of a violation; nothing for any other verdict."""
    if verdict.verdict != "violation":
        return {}
    evidence = verdict.evidence
    found: Record = {"cycle": [], "steps": []}
    if isinstance(evidence, Cycle):
        found = {"cycle": _path(rotated(evidence.edges), history), "steps": _steps(evidence, history)}
    if isinstance(evidence, Refutation):
        found["pairs_tried"] = [[operation(history, o) for o in pair] for pair in pairs_tried(evidence)]
    return found


def witness_record(verdict: Verdict, witness: Witness, history: History) -> Record:
    """The run of a consistent history, each operation with the place it came from."""
    found = _witness(witness, history)
    return {
        "history": history.name, "source": history.file, "model": verdict.model,
        "order": None if found["order"] is None else [operation(history, o) for o in found["order"]],
        "store_order": {address: [operation(history, o) for o in writes]
                        for address, writes in found["store_order"].items()},
    }


def error_record(name: str, file: str, model: str, message: str, verdict: str = "error") -> Record:
    """The record of a history that could not be checked."""
    return _base(name, file, model, verdict) | {"message": message}


def _base(name: str, file: str, model: str, verdict: str) -> Record:
    return {
        "history": name, "source": file, "model": model, "verdict": verdict, "decided_by": None, "operations": None,
        "threads": None, "locations": None, "write_pairs": None, "unordered_pairs": None, "unordered_percent": None,
        "ordered_by": None, "conflicts": None, "seconds": None, "message": "",
    }


def operation(history: History, number: int) -> Record:
    """An operation, with the place it came from."""
    kind = Kind(history.kind[number])
    found: Record = {"operation": number, "thread": history.threads[history.thread[number]], "op": kind.name.lower()}
    if kind != FENCE:
        found["address"] = history.address(number)
    if kind in (READ, RMW):
        found["read"] = int(history.read[number])
    if kind in (WRITE, RMW):
        found["written"] = int(history.written[number])
    if history.line[number] > 0:
        found["line"] = int(history.line[number])
    if history.tick[number] != NO_TICK:
        found["tick"] = int(history.tick[number])
    return found


def _path(path: Path, history: History) -> list[Record]:
    return [{"edge": edge.kind, "from": operation(history, edge.start), "to": operation(history, edge.end)}
            for edge in path]


def _steps(cycle: Cycle, history: History) -> list[Record]:
    return [{"before": operation(history, step.before), "after": operation(history, step.after),
             "path": _path(step.path, history)} for step in cycle.steps]


def _witness(witness: Witness, history: History) -> Record:
    """Operations by their number in the history, counted from 0. No order where no single one explains the history."""
    if witness.store_order is not None:
        stores = zip(history.locations, witness.store_order, strict=True)
        return {"store_order": {name: list(map(int, writes)) for name, writes in stores if len(writes)}, "order": None}
    order = witness.order if isinstance(witness.order, list) else np.asarray(witness.order).tolist()
    writes = (int(WRITE), int(RMW))  # plain numbers: this is done for every operation
    kinds, places, names = history.kind.tolist(), history.location.tolist(), history.locations
    stored: dict[int, list[int]] = {}
    for o in order:
        if kinds[o] in writes:
            stored.setdefault(places[o], []).append(o)
    return {"store_order": {names[at]: operations for at, operations in stored.items()}, "order": order}
