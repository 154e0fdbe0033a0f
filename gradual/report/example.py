"""The picture of a violation from what its row says of it; the trace may be far away."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from gradual.evidence.verdict import Cycle, Edge, Path, Step
from gradual.history import NO_TICK, Builder, History, InputError
from gradual.report.findings import Finding
from gradual.report.groups import EDGES
from gradual.telling.names import Names
from gradual.telling.picture import Node, Picture, cycle_picture

AT_MOST = 40
"""Operations of a picture that is shown among others."""
SCOPE = ""
"""Rows do not say which axiom a path speaks of, nor does a picture."""
Record = dict[str, Any]


def example(finding: Finding, cycle: str, steps: str) -> Picture | None:
    """None where there is no cycle, or too much of one. A dataset may hold anything: what makes no sense is not drawn.
    """
    try:
        return _drawn(finding, json.loads(cycle or "[]"), json.loads(steps or "[]"))
    except (InputError, ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RecursionError):
        return None


def _drawn(finding: Finding, cycle: list[Record], steps: list[Record]) -> Picture | None:
    shown = {_key(record): record for record in _operations(cycle, steps)}
    if not 0 < len(shown) <= AT_MOST:
        return None
    index = {number: place for place, number in enumerate(sorted(shown))}

    def path(edges: list[Record]) -> Path:
        return tuple(Edge(EDGES[EDGES.index(edge["edge"])], index[_key(edge["from"])],
                          index[_key(edge["to"])]) for edge in edges)

    told = tuple(Step(index[_key(step["before"])], index[_key(step["after"])], path(step["path"]), SCOPE)
                 for step in steps)
    records = [shown[number] for number in sorted(shown)]
    history = _history(finding.history, finding.source, records)
    found = cycle_picture(Cycle(path(cycle), SCOPE, told), history, finding.model)
    lines = [record.get("line", 0) for record in records]
    by_line = all(lines) and len(set(lines)) == len(lines)
    names = Names(history)
    nodes = tuple(_placed(node, names, records[node.operation], by_line) for node in found.nodes)
    return replace(found, nodes=nodes, note=f"{len(shown)} of {finding.operations or len(shown)} operations shown")


def _key(record: Record) -> tuple[int, str]:
    """Its number; where an rmw is two events, these have one."""
    return record["operation"], record["op"]


def _operations(cycle: list[Record], steps: list[Record]) -> Iterator[Record]:
    for edge in [*cycle, *(edge for step in steps for edge in step["path"])]:
        yield from (edge["from"], edge["to"])
    for step in steps:
        yield from (step["before"], step["after"])


def _history(name: str, file: str, records: list[Record]) -> History:
    """A history of these operations alone."""
    builder = Builder(name, file)
    for record in records:
        thread, place = record["thread"], {"line": record.get("line", 0), "tick": record.get("tick", NO_TICK)}
        match record["op"]:
            case "read":
                builder.read(thread, record["address"], record["read"], **place)
            case "write":
                builder.write(thread, record["address"], record["written"], **place)
            case "rmw":
                builder.rmw(thread, record["address"], record["read"], record["written"], **place)
            case _:
                builder.fence(thread, **place)
    return builder.build()


def _placed(node: Node, names: Names, record: Record, by_line: bool) -> Node:
    """With its place in the trace: that in the part tells nothing."""
    number = f"operation {record['operation'] + 1}"
    place = f"line {record['line']}" if by_line else number
    what = f"{names.short(node.operation)} by {names.thread(node.operation)}"
    return replace(node, place=place, title=", ".join(dict.fromkeys([what, place, number])))
