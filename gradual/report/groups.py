"""Violations that look alike: the same model and criterion, and the same cycle but for the names.

A cycle's shape is its edges with the operations they leave from, where the locations are called by the roles they
play: a, b, … as they occur. Program order after program order is one edge, and where the cycle begins is no matter.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, get_args

import numpy as np

from gradual.evidence.verdict import EdgeKind
from gradual.history import Kind
from gradual.report.results import BATCH, Results

AT_MOST = 50_000
"""Violations that are looked at: a second or two."""
LONG = 40
"""Edges beyond which cycles are not told apart."""
OPERATIONS = {kind.name.lower(): text for kind, text in zip(Kind, ("R", "W", "RMW", "fence"), strict=True)}
EDGES: tuple[EdgeKind, ...] = get_args(EdgeKind)
NOWHERE = -1


class Corner(NamedTuple):
    """An operation of a cycle, and the edge that leaves it."""

    edge: str
    operation: str
    role: int
    """Of its location."""

    def __str__(self) -> str:
        at = "" if self.role == NOWHERE else f" {chr(ord('a') + self.role % 26)}"
        return f"{OPERATIONS[self.operation]}{at} {self.edge} →"


Shape = tuple[Corner, ...]


@dataclass
class Group:
    model: str
    criterion: str
    shape: Shape
    """Empty where there is no single cycle."""
    rows: list[int] = field(default_factory=list)
    example: int = 0
    """The row with the least to read."""

    @property
    def text(self) -> str:
        return " ".join(map(str, self.shape)) + " back" if self.shape else ""


def groups(results: Results) -> list[Group]:
    """The largest first."""
    found: dict[tuple[str, str, Shape], Group] = {}
    least: dict[int, int] = {}
    for row, cycle, length in _evidence(results):
        _, model, _, criterion = results.text(row)
        key = model, criterion, shape(cycle)
        group = found.setdefault(key, Group(*key))
        group.rows.append(row)
        if length < least.get(id(group), length + 1):
            least[id(group)], group.example = length, row
    for group in found.values():
        group.rows.sort()
    return sorted(found.values(), key=lambda group: (-len(group.rows), group.rows[0]))


def violations(results: Results) -> Any:
    return np.flatnonzero(results.verdict == results.verdicts.index("violation"))


def _evidence(results: Results) -> Iterator[tuple[int, str, int]]:
    """Row, cycle and how much there is to read; block by block as they lie in the files, within bounded memory."""
    rows = violations(results)[:AT_MOST]
    rows = rows[np.argsort(results.place[rows], kind="stable")]
    for start in range(0, len(rows), BATCH):
        block = rows[start:start + BATCH]
        for row, more in zip(block.tolist(), results.fetch(block, ["cycle", "steps"]), strict=True):
            yield row, more["cycle"], len(more["cycle"]) + len(more["steps"])


def shape(cycle: str) -> Shape:
    """Of a cycle as JSON: the least of its rotations, so that equal cycles are equal wherever they begin.

    Whoever wrote the dataset may have written anything: what is no cycle has no shape.
    """
    try:
        edges = json.loads(cycle or "[]")
        corners = [(edge["edge"], edge["from"]["op"], edge["from"].get("address")) for edge in edges]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return ()
    corners = [corner for before, corner in zip(corners[-1:] + corners[:-1], corners, strict=True)
               if not before[0] == corner[0] == "po"]
    if len(corners) > LONG or not all(edge in EDGES and op in OPERATIONS for edge, op, _ in corners):
        return ()
    return min((_roles(corners[at:] + corners[:at]) for at in range(len(corners))), default=())


def _roles(corners: list[tuple[str, str, Any]]) -> Shape:
    roles: dict[str, int] = {}
    return tuple(Corner(edge, op, NOWHERE if address is None else roles.setdefault(str(address), len(roles)))
                 for edge, op, address in corners)
