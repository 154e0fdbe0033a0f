"""SC, RA and C++ by clingo: `datalog/structure.lp` and a file for each model. Written apart from the sentences, to be
compared with them; and faster on many threads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import count
from typing import Any

from gradual.events.execution import Execution
from gradual.events.goal import Goal
from gradual.events.ground import answer_set
from gradual.events.structure import INITIAL, mask, members
from gradual.programs.condition import And, Equal, Not, Proposition, Register


def some_execution(goal: Goal, model: str, *options: str) -> Execution | None:
    """One that the model (`structure_….lp`) allows, or any where no model is named; None where there is none. Options
    are facts: `partial`, `no_thin_air`."""
    rules = [*_facts(goal), *_goal(goal), *(f"{option}." for option in options)]
    files = ["structure.lp", *([f"structure_{model}.lp"] if model else [])]
    return answer_set(rules, files, _execution)


def rules_expected(goal: Goal, closure: bool) -> int:
    """About how many ground rules there are: from-reads for each pair of reads-from and a later store, and, where
    happens-before is closed, a way from every event to each pair."""
    structure = goal.structure
    threads = [event for event in structure.events if event.thread != INITIAL]
    stores = Counter(event.location for event in structure.events if event.kind == "W")
    sources = [(read.location, writes.bit_count()) for read, writes in
               zip(structure.events, structure.justifies(goal.justifies), strict=True)]
    from_reads = sum(count * stores[location] for location, count in sources)
    within = sum((structure.below[event.number] & ~structure.initial).bit_count() for event in threads)
    return from_reads + (len(threads) * (within + sum(count for _, count in sources)) if closure else 0)


def _facts(goal: Goal) -> Iterator[str]:
    structure = goal.structure
    at = {name: number for number, name in enumerate(sorted({event.location for event in structure.events}))}
    justifying = structure.justifies(goal.justifies)
    for event in structure.events:
        yield f"mode({event.number},{event.mode})."
        if event.thread == INITIAL:
            yield f"initial({event.number})."
        kind = {"R": f"read({event.number},{at[event.location]}).", "W": f"write({event.number},{at[event.location]}).",
                "F": f"fence({event.number})."}
        yield kind[event.kind]
        yield from (f"before({earlier},{event.number})." for earlier in members(structure.below[event.number]))
        yield from (f"justifies({write},{event.number})." for write in members(justifying[event.number]))
        if event.pair is not None:
            yield f"rmw({event.pair},{event.number})."
    for (thread, before), siblings in structure.children.items():
        parent = f"start({thread})" if before is None else str(before)
        yield from (f"child({parent},{event})." for event in siblings)


def _goal(goal: Goal) -> Iterator[str]:
    """Rules that derive `met`, a number for each part of the proposition."""
    numbers = count()
    rules: list[str] = []

    def name(part: Proposition) -> str:
        head = f"part({next(numbers)})"
        if isinstance(part, Not):
            rules.append(f"{head} :- not {name(part.operand)}.")
        elif isinstance(part, And):
            rules.append(f"{head} :- {', '.join(['#true', *map(name, part.operands)])}.")
        elif isinstance(part, Equal):
            rules.extend(f"{head} :- {body}." for body in _ends(goal, part))
        else:
            rules.extend(f"{head} :- {name(operand)}." for operand in part.operands)
        return head

    rules.append(f"met :- {name(goal.proposition)}.")
    yield from rules


def _ends(goal: Goal, part: Equal) -> Iterator[str]:
    """The ways in which a place ends with a value."""
    structure = goal.structure
    if isinstance(part.place, Register):
        for leaf in structure.leaves[part.place.thread]:
            if leaf.registers.get(part.place.name, 0) == part.value:
                yield "#true" if leaf.event is None else f"in({leaf.event})"
    else:
        for event in structure.events:
            if event.kind == "W" and (event.location, event.value) == (part.place, part.value):
                yield f"in({event.number}), not overwritten({event.number})"


def _execution(found: Any) -> Execution:
    pairs: dict[str, list[tuple[int, int]]] = {"rf": [], "co": []}
    events = []
    for atom in found.symbols(shown=True):
        if atom.name == "event":
            events.append(atom.arguments[0].number)
        elif atom.name in pairs:
            pairs[atom.name].append((atom.arguments[0].number, atom.arguments[1].number))
    return Execution(mask(events), {read: write for write, read in pairs["rf"]}, frozenset(pairs["co"]))
