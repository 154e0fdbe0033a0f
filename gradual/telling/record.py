"""A verdict as JSON: the record that `gradual check --json` prints."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradual.deciding.engine.parts import Parts
from gradual.evidence.verdict import Broken, Cycle, Origin, Path, Refutation, Verdict, Witness
from gradual.history import FENCE, INITIAL, NO_TICK, READ, RMW, WRITE, History, Kind
from gradual.telling.words import is_given, pairs_tried, readers_tried, rotated

Record = dict[str, Any]


def record(verdict: Verdict, history: History) -> Record:
    """One history, one model."""
    evidence = verdict.evidence
    found = figures(verdict, history)
    if history.notes:
        found["notes"] = list(history.notes)
    if isinstance(evidence, Witness):
        found["witness"] = _numbered(_witness(evidence, history), history)
    found.update(violation(verdict, history))
    return found


def figures(verdict: Verdict, history: History) -> Record:
    """What there is to say without the evidence."""
    left = verdict.unordered_percent
    return {
        "history": history.name, "source": history.file, "model": verdict.model, "verdict": verdict.verdict,
        "decided_by": verdict.decided_by, "operations": history.operations, "threads": len(history.threads),
        "locations": len((history if history.whole is None else history.whole).locations),
        "write_pairs": verdict.write_pairs, "unordered_pairs": verdict.unordered_pairs,
        "unordered_percent": None if left is None else round(left, 4), "ordered_by": verdict.ordered_by,
        "given": list(verdict.given), "without": verdict.without, "conflicts": verdict.conflicts,
        "seconds": round(verdict.seconds, 6), "message": verdict.message,
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
        if readers := readers_tried(evidence):
            found["reads_tried"] = [_reader(history, reader) for reader in readers]
            found["cases"] = [_case(case, history) for case in evidence.cases]
    return found


def _case(case: Cycle | Broken, history: History) -> Record:
    """What is supposed, and the cycle that there is then (of the general way, the check that fails)."""
    failed: Record = {"check": case.axiom} if isinstance(case, Broken) else {
        "cycle": _path(rotated(case.edges), history), "steps": _steps(case, history)}
    return {"origins": [_origin(origin, history) for origin in case.origins],
            "pairs": [[operation(history, o) for o in pair] for pair in case.assumed]} | failed


def _reader(history: History, reader: int) -> Record:
    if reader < len(history):
        return operation(history, reader)
    at = reader - len(history)
    return {"final": history.locations[at], "value": int(history.final_value[at])}


def _origin(origin: Origin, history: History) -> Record:
    write = {"initial": True} if origin.write == INITIAL else operation(history, origin.write)
    return {"read": _reader(history, origin.reader), "from": write}


def witness_record(verdict: Verdict, witness: Witness, history: History) -> Record:
    """The run of a consistent history, each operation with the place it came from."""
    found = _witness(witness, history)
    return {
        "history": history.name, "source": history.file, "model": verdict.model,
        "order": None if found["order"] is None else [operation(history, o) for o in found["order"]],
        "store_order": {address: [operation(history, o) for o in writes]
                        for address, writes in found["store_order"].items()},
    } | ({"origins": [_origin(origin, history) for origin in witness.origins]} if witness.origins else {})


def error_record(name: str, file: str, model: str, message: str, verdict: str = "error") -> Record:
    """The record of a history that could not be checked."""
    return {
        "history": name, "source": file, "model": model, "verdict": verdict, "decided_by": None, "operations": None,
        "threads": None, "locations": None, "write_pairs": None, "unordered_pairs": None, "unordered_percent": None,
        "ordered_by": None, "given": [], "without": None, "conflicts": None, "seconds": None, "message": message,
    }


_OPS = [kind.name.lower() for kind in Kind]


def operation(history: History, number: int) -> Record:
    """An operation, with the place it came from."""
    kind = history.kind.item(number)
    found: Record = {"operation": history.number(number), "thread": history.threads[history.thread.item(number)],
                     "op": _OPS[kind]}
    if history.is_half(number):
        found["of"] = _OPS[RMW]
    whole, access = history.access(number)
    if kind != FENCE:
        found["address"] = whole.locations[whole.location.item(access)]
    if kind in (READ, RMW):
        found["read"] = whole.read.item(access)
    if kind in (WRITE, RMW):
        found["written"] = whole.written.item(access)
    if history.whole is not None and kind != FENCE and history.size is not None:
        found |= {"size": int(history.size[number]), "bytes": history.address(number)}
    if history.files:
        found["file"] = history.file_of(number)
    if (line := history.line.item(number)) > 0:
        found["line"] = line
    if (tick := history.tick.item(number)) != NO_TICK:
        found["tick"] = tick
    return found


def _path(path: Path, history: History) -> list[Record]:
    told = {o: operation(history, o) for o in {end for edge in path for end in (edge.start, edge.end)}}
    return [{"edge": edge.kind, "from": told[edge.start], "to": told[edge.end]}
            | ({"by": "given"} if is_given(edge, history) else {}) for edge in path]


def _steps(cycle: Cycle, history: History) -> list[Record]:
    return [{"before": operation(history, step.before), "after": operation(history, step.after),
             "path": _path(step.path, history)} for step in cycle.steps]


def _numbered(found: Record, history: History) -> Record:
    """The same with the numbers that the trace has."""
    if history.operation is None:
        return found
    order = found["order"]
    if order is not None and history.whole is not None:  # each access once
        parts = Parts(history)
        order = [event for event in order if parts.whole(event) == event]
    return found | {"store_order": {name: history.numbers(writes) for name, writes in found["store_order"].items()},
                    "order": None if order is None else history.numbers(order)}


def _witness(witness: Witness, history: History) -> Record:
    """Events by their number in the history, counted from 0. No order where no single one explains the history.
    Where values repeat, the write that each such read returned, null for the initial value; and where nobody knew what
    memory held, what it must have been for that."""
    found = _orders(witness, history)
    if witness.origins:
        found["origins"] = {_read_number(read, history): None if write == INITIAL else history.number(write)
                            for read, write, _ in witness.origins if read < len(history)}
    if held := dict(witness.held) | _read_initially(history):
        found["held"] = {history.locations[at]: value for at, value in held.items()}
    return found


def _read_initially(history: History) -> dict[int, int]:
    """Of locations of which nobody knew what memory held, those where reads tell: nobody wrote what they returned."""
    if history.unknown is None:
        return {}
    told = np.unique(history.location[history.source == INITIAL])
    return {at: int(history.initial[at]) for at in told.tolist() if history.unknown[at]}


def _read_number(read: int, history: History) -> str:
    """The number of a read; where sizes mix, with the bytes: `3: 0x80..0x83`."""
    number = str(history.number(read))
    return number if history.whole is None else f"{number}: {history.address(read)}"


def _orders(witness: Witness, history: History) -> Record:
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
