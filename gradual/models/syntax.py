"""The expressions of a model, as `language.py` leaves them: every name is one that all readers know.

Sets and relations are over the events of an execution: its operations, and an initial write per location, which
is in IW, W and M, comes first in co, and has no thread.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Expression:
    """A set or a relation of events."""


@dataclass(frozen=True)
class Name(Expression):
    """One of SETS or RELATIONS."""

    name: str


@dataclass(frozen=True)
class Nothing(Expression):
    """The empty set and the empty relation: `0`, `{}`."""


@dataclass(frozen=True)
class Union(Expression):
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Intersection(Expression):
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Difference(Expression):
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Sequence(Expression):
    """`left ; right`."""

    left: Expression
    right: Expression


@dataclass(frozen=True)
class Product(Expression):
    """`left * right`, of sets: all pairs."""

    left: Expression
    right: Expression


@dataclass(frozen=True)
class Complement(Expression):
    """`~ of`."""

    of: Expression


@dataclass(frozen=True)
class Identity(Expression):
    """`[of]`: each event of a set with itself."""

    of: Expression


@dataclass(frozen=True)
class Inverse(Expression):
    """`of^-1`."""

    of: Expression


@dataclass(frozen=True)
class Plus(Expression):
    """`of+`: transitive closure."""

    of: Expression


@dataclass(frozen=True)
class Star(Expression):
    """`of*`: reflexive and transitive closure."""

    of: Expression


@dataclass(frozen=True)
class Maybe(Expression):
    """`of?`: reflexive closure."""

    of: Expression


@dataclass(frozen=True)
class Domain(Expression):
    """`domain(of)`: the set of left ends."""

    of: Expression


@dataclass(frozen=True)
class Range(Expression):
    """`range(of)`: the set of right ends."""

    of: Expression


@dataclass(frozen=True)
class Variable(Expression):
    """A name that a surrounding `Fixpoint` defines."""

    name: str


@dataclass(frozen=True)
class Fixpoint(Expression):
    """`let rec`: the least relations that satisfy the definitions together; this one is called `name`."""

    name: str
    definitions: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True)
class Named(Expression):
    """An expression under the name that the file gives it: the same relation, for those who tell about it."""

    name: str
    of: Expression
    words: str = field(default="", compare=False)
    """What the comment behind its definition says of it."""


SETS = frozenset({
    "_",  # all events
    "R", "W", "M",  # reads, writes, both; an rmw is one event in R and in W
    "F",  # fences of any kind
    "IW",  # initial writes
    "AMO",  # rmws; where a model takes one for two events, both
    "EX",  # load-reserved and store-conditional
    "X",  # AMO | EX
    "Acq", "Rel", "AcqRel",  # accesses with acquire alone, release alone, both
    "A", "Q", "L",  # reads with acquire, reads with acquire-PC, writes with release
    "Fence.r.r", "Fence.r.w", "Fence.r.rw", "Fence.w.r", "Fence.w.w", "Fence.w.rw",
    "Fence.rw.r", "Fence.rw.w", "Fence.rw.rw",  # Fence.p.s: orders p before it with s after it, and nothing else
    "Fence.tso",  # r.rw and w.w
    "Fence.i",  # of instruction fetches (ISB)
})

RELATIONS = frozenset({
    "id", "loc", "int", "ext",  # the same event, location, thread; different threads (initial writes: all)
    "po", "po-loc",
    "rf", "rfi", "rfe",  # within and across threads; from an initial write: across
    "addr", "data", "ctrl",  # dependencies; whatever comes after a control dependency in po has it too
    "tdep",  # time dependency: from a read that ended before a later access of its thread began
    "rmw",  # from a load-reserved to its successful store-conditional; within an AMO that is taken for two events
    "co", "coi", "coe", "fr", "fri", "fre",
})

CO = frozenset({"co", "coi", "coe", "fr", "fri", "fre"})
"""What depends on the store order; all else is static, known once reads-from is."""


@dataclass(frozen=True)
class Check:
    """One axiom of a model."""

    kind: str
    """acyclic, irreflexive, empty or views.

    `views e` is for stores that reach each thread at a time of its own: every thread t has a view, a total order <t of
    all events, such that e, within threads and known beforehand, is in every view; all views order two writes to one
    location alike, and a full fence and any other event; a read that t's view puts before a write of t stands before it
    in every view; and a read of t returns the <t-latest of the writes to its location that are <t-before or po-before
    it. The loads, stores and fences of programs have views, rmws have not."""
    expression: Expression
    name: str
    """As the file names it, or `kind` and its number."""
