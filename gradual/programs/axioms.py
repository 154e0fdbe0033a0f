"""The models' axioms on one execution, in plain Python: a cycle where it is forbidden, a run where it is not.

The same relations as in `datalog/model_*.lp`, written a second time: the tests compare the two.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from gradual.history import INITIAL
from gradual.programs.executions import Execution
from gradual.programs.program import Event, Fence, Program


@dataclass(frozen=True)
class Arrow:
    """`start` before `end`, by po, rf, co or fr."""

    kind: str
    start: int
    end: int


def preserved(a: Event, b: Event, model: str) -> bool:
    """Does the model keep a before b, of which b is later in the same thread?"""
    fence, other, first = (a, b, True) if isinstance(a.instruction, Fence) else (b, a, False)
    if model == "sc":
        return True
    if isinstance(fence.instruction, Fence):
        wanted = fence.instruction.after if first else fence.instruction.before
        return wanted == "any" or (wanted == "ld" and other.reads) or (wanted == "st" and other.writes)
    return a.reads or (model == "tso" and b.writes)


def communications(program: Program, execution: Execution) -> Iterator[Arrow]:
    """rf, co and fr. Initial stores are before everything and left out."""
    for location, order in execution.co.items():
        for at, store in enumerate(order):
            yield from (Arrow("co", store, later) for later in order[at + 1:])
        for load in program.loads:
            if load.location == location:
                source = execution.rf[load.number]
                if source != INITIAL:
                    yield Arrow("rf", source, load.number)
                newer = order[order.index(source) + 1:] if source != INITIAL else order
                yield from (Arrow("fr", load.number, store) for store in newer if store != load.number)


def relations(program: Program, execution: Execution, model: str) -> tuple[list[Arrow], list[Arrow]]:
    """The edges of the global axiom, and those of the axiom per location."""
    events = program.events
    arrows = list(communications(program, execution))
    pairs = [(a, b) for a in events for b in events[a.number + 1:] if a.thread == b.thread]
    everywhere = [Arrow("po", a.number, b.number) for a, b in pairs if preserved(a, b, model)]
    everywhere += [arrow for arrow in arrows if model == "sc" or arrow.kind != "rf"
                   or events[arrow.start].thread != events[arrow.end].thread]
    one_place = [Arrow("po", a.number, b.number) for a, b in pairs if a.location == b.location is not None]
    return everywhere, one_place + arrows


def cycle(program: Program, execution: Execution, model: str) -> list[Arrow]:
    """A shortest cycle that the model forbids; none where it allows the execution."""
    if model == "generic":
        return []
    found = [path for arrows in relations(program, execution, model) if (path := _shortest_cycle(arrows))]
    return min(found, key=len, default=[])


def _shortest_cycle(arrows: list[Arrow]) -> list[Arrow]:
    following = defaultdict(list)
    for arrow in arrows:
        following[arrow.start].append(arrow)
    cycles = [path for start in sorted(following) if (path := _back_to(start, following))]
    return min(cycles, key=len, default=[])


def _back_to(start: int, following: dict[int, list[Arrow]]) -> list[Arrow]:
    """Breadth first, so that the way back is a shortest one."""
    reached: dict[int, list[Arrow]] = {start: []}
    todo = deque([start])
    while todo:
        at = todo.popleft()
        for arrow in following.get(at, ()):
            if arrow.end == start:
                return [*reached[at], arrow]
            if arrow.end not in reached:
                reached[arrow.end] = [*reached[at], arrow]
                todo.append(arrow.end)
    return []


def run(program: Program, execution: Execution, model: str) -> list[int] | None:
    """The events in the order in which memory sees them, for the certificate to replay; None where there is none."""
    everywhere, one_place = relations(program, execution, model)
    if _shortest_cycle(one_place):
        return None
    sorter: TopologicalSorter[int] = TopologicalSorter({event.number: () for event in program.events})
    for arrow in everywhere:
        sorter.add(arrow.end, arrow.start)
    try:
        return list(sorter.static_order())
    except CycleError:
        return None
