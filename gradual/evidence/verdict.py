"""What a check can say, and the evidence it says it with. Small closed types, nothing that computes.

Operations are numbers, as in the History. Evidence is checked by `certificate.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

Pair = tuple[int, int]
"""Two writes of one location, the first before the second in the store order."""


class Origin(NamedTuple):
    """Where a value that several writes wrote came from: `reader` took it from `write` (INITIAL: what memory held), or,
    where that does not hold, not from it. The final value of location l has the number of operations plus l."""

    reader: int
    write: int
    holds: bool = True


Claim = Pair | Origin
"""What a clause may say."""

EdgeKind = Literal["po", "wr", "ww", "rw", "rt"]
Scope = str
"""The axiom of the model that a path speaks of, by its name: `global` or `coherence` in the models that ship."""


@dataclass(frozen=True)
class Edge:
    """`start` comes before `end`, by program order, reads-from, store order, from-reads or, where the history's times
    are those of one clock, real time.

    Whatever else a model orders within a thread (dependencies, fences, …) is told as program order.
    """

    kind: EdgeKind
    start: int
    end: int
    rule: str = field(default="", compare=False)
    """What the model's text calls the pair: for people to read, no part of the proof."""


Path = tuple[Edge, ...]


@dataclass(frozen=True)
class Step:
    """Why `before` precedes `after` in every store order.

    `path` leads from `before` to `after`, or to a read of `after`. Were `after` the earlier of the
    two, path and store order (or path and from-reads) would close a cycle.

    Where `scope` is the axiom of atomicity, the path is one edge: `rw` from the load-reserved of `before` to `after`, a
    write of another thread, which `before`, the store-conditional, must therefore precede; or `ww` from `before` to a
    store-conditional whose load-reserved read `after`.
    """

    before: int
    after: int
    path: Path
    scope: Scope


@dataclass(frozen=True)
class Cycle:
    """A cycle in a relation the model wants acyclic, justified down to po and wr.

    `steps` justify the ww edges (and the ww behind each rw edge), each step using only earlier ones
    and the pairs in `assumed`; `origins` say what was read where the values leave that open. A violation assumes
    nothing. Pairs that the history tells need no step.
    """

    edges: Path
    scope: Scope
    steps: tuple[Step, ...] = ()
    assumed: tuple[Pair, ...] = ()
    origins: tuple[Origin, ...] = ()


@dataclass(frozen=True)
class Broken:
    """The axiom called `axiom` fails when the store order holds these pairs, whatever else it holds.

    Where the axiom asks what the store order, or reads-from, does not hold, nothing of it may be left open.
    """

    axiom: str
    assumed: tuple[Pair, ...]
    origins: tuple[Origin, ...] = ()


@dataclass(frozen=True)
class Refutation:
    """No store order is left: found by search, where no single cycle tells.

    Each case fails under assumed pairs and origins, so at least one of them is false. `lemmas` are clauses (pairs and
    origins of which at least one must hold), each following by unit propagation from the cases, the lemmas
    before it, the transitivity of the store order, and that every value came from one of those who wrote it; the last
    one is empty.
    """

    cases: tuple[Cycle | Broken, ...]
    lemmas: tuple[tuple[Claim, ...], ...]

    @property
    def cycles(self) -> tuple[Cycle, ...]:
        """The cases that can be drawn."""
        return tuple(case for case in self.cases if isinstance(case, Cycle))


@dataclass(frozen=True)
class ThinAir:
    """A value nobody wrote: read by an operation, or demanded as the final value of a location."""

    operation: int | None
    location: int


@dataclass(frozen=True)
class Overwritten:
    """The final value is the initial one, though `write` replaced it."""

    location: int
    write: int


@dataclass(frozen=True)
class Witness:
    """A run: the operations in the order in which memory sees them.

    Without store buffers that is the order of execution; with them a write stands where it leaves its
    buffer, everything else where it executes. Of a model whose axioms no single order explains, `order`
    is empty, and the store order stands with one order of the operations per acyclic axiom.
    """

    order: Sequence[int]
    store_order: Sequence[Sequence[int]] | None = None
    """Per location its writes, first to last."""
    orders: Sequence[Sequence[int]] = ()
    """In the order of the model's acyclic checks."""
    origins: tuple[Origin, ...] = ()
    """The source of every read whose value several writes wrote."""
    held: tuple[tuple[int, int], ...] = ()
    """Locations of which nobody knows what memory held, and what that is here: `History.initial` where nothing is
    said."""


Violation = Cycle | Refutation | ThinAir | Overwritten
Evidence = Witness | Violation

Outcome = Literal["consistent", "violation", "unknown", "error"]


@dataclass(frozen=True)
class Verdict:
    """The answer for one history and one model."""

    model: str
    verdict: Outcome
    decided_by: str | None = None
    """The criterion or the completion that settled it; "thin-air" or "own-future" where a look did."""
    evidence: Evidence | None = field(default=None, repr=False)
    message: str = ""
    write_pairs: int = 0
    """Pairs of non-initial writes to one location."""
    unordered_pairs: int | None = None
    """Those which the last partial store order computed left open; None when there was none, or when it stopped at a
    contradiction."""
    ordered_by: str | None = None
    """What computed that order."""
    seconds: float = 0.0
    conflicts: int = 0
    """How often the schedule got stuck, and something was learnt from that."""
    given: tuple[str, ...] = ()
    """What the history knows besides its values, STORE_ORDER or REAL_TIME: what a run keeps; what a violation rests on,
    besides the model."""
    without: Outcome | None = None
    """Of a violation that rests on that: the verdict without it."""

    @property
    def unordered_percent(self) -> float | None:
        if self.unordered_pairs is None:
            return None
        return 100.0 * self.unordered_pairs / self.write_pairs if self.write_pairs else 0.0

    def but(self, **changed: Any) -> Verdict:
        """The same, but for this, as `dataclasses.replace` has it; of many verdicts, that takes too long."""
        found = object.__new__(Verdict)
        object.__setattr__(found, "__dict__", vars(self) | changed)
        return found

    def __bool__(self) -> bool:
        """True for a consistent history, false for a violation, so that `if gradual.check(h)` reads well.

        Raises ValueError where neither is known: `if not verdict` must not take that for a violation.
        """
        if self.verdict not in ("consistent", "violation"):
            raise ValueError(f"{self.verdict} is neither consistent nor a violation ({self.message}); ask "
                             "verdict.verdict, or allow more time")
        return self.verdict == "consistent"
