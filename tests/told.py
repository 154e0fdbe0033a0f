"""Reads an explanation back: from its lines to the evidence they tell, for the certificate to check."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

from gradual.evidence.verdict import Cycle, Edge, Pair, Path, Scope, Step
from gradual.history import INITIAL, History

AT = re.compile(r" at (line|operation) (\d+)")
OF = re.compile(r"\((line|operation) (\d+)\)")
BY = re.compile(r"\b[Bb]y \((\d+)\)")


@dataclass
class Case:
    """What has been read of a case so far."""

    assumed: list[Pair] = field(default_factory=list)
    numbered: dict[int, Pair] = field(default_factory=dict)
    paths: list[list[Edge]] = field(default_factory=list)
    pairs: list[Pair | None] = field(default_factory=list)
    here: int = -1


class Told:
    def __init__(self, history: History, text: str) -> None:
        self._history = history
        self.cases: list[Case] = []
        for line in text.splitlines():
            self._read(line.strip())

    def cycles(self) -> list[Cycle]:
        return [self._cycle(case) for case in self.cases]

    def _cycle(self, case: Case) -> Cycle:
        *steps, edges = [tuple(path) for path in case.paths]
        assert case.pairs[-1] is None and all(case.pairs[:-1])
        told = tuple(Step(*pair, path, self._scope(path))
                     for pair, path in zip(case.pairs[:-1], steps, strict=True) if pair)
        return Cycle(edges, self._scope(edges), told, tuple(case.assumed))

    def _scope(self, path: Path) -> Scope:
        locations = {int(self._history.location[o]) for edge in path for o in (edge.start, edge.end)}
        return "coherence" if len(locations) == 1 and -1 not in locations else "global"

    def _operation(self, found: tuple[str, str]) -> int:
        if found[0] == "operation":
            return int(found[1]) - 1
        return int(np.flatnonzero(self._history.line == int(found[1]))[0])

    def _read(self, line: str) -> None:
        stores = [self._operation(found) for found in OF.findall(line)] if re.match(r"Case |\(\d+\) ", line) else []
        if line.startswith("Case "):
            self.cases.append(Case(list(zip(stores[::2], stores[1::2], strict=True))))
        elif line.startswith(("In which order", "The contradiction")) and (not self.cases or self.cases[-1].here == -2):
            self.cases.append(Case())
        if line.startswith("The contradiction"):
            self._begin(None)
        elif re.match(r"\(\d+\) ", line):
            number = int(line[1:line.index(")")])
            self.cases[-1].numbered[number] = (stores[0], stores[1])
            self._begin((stores[0], stores[1]))
        elif line.startswith("So ") and self.cases:
            self.cases[-1].here = -2
        elif self.cases and self.cases[-1].paths and (found := AT.findall(line.split("   [")[0])):
            self._edge(line, self._operation(found[-1]))

    def _begin(self, pair: Pair | None) -> None:
        case = self.cases[-1]
        case.pairs.append(pair)
        case.paths.append([])
        case.here = -1

    def _edge(self, line: str, end: int) -> None:
        case = self.cases[-1]
        if case.here >= 0:
            kind = self._kind(line)
            case.paths[-1].append(Edge(kind, case.here, end))  # type: ignore[arg-type]
            if by := BY.search(line):
                before = case.here if kind == "ww" else int(self._history.source[case.here])
                assert case.numbered[int(by[1])] == (before, end), line
            elif kind == "rw" and "the initial value" in line:
                assert self._history.source[case.here] == INITIAL
        case.here = end

    @staticmethod
    def _kind(line: str) -> str:
        openings = {"Later in its program": "po", "From this store": "wr", "This returned": "rw", "It found": "rw",
                    "By (": "ww", "As ": "ww"}
        return next(kind for opening, kind in openings.items() if line.startswith(opening))
