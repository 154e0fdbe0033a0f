"""The expressions of a model, as `language.py` leaves them: every name is one that all readers know.

Sets and relations are over the events of an execution: its operations, and an initial write per location, which
is in IW, W and M, comes first in co, and has no thread.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:
    def dataclass_transform(**_: object) -> Any:
        return lambda made: made


@dataclass_transform(frozen_default=True)
class Expression:
    """A set or a relation of events.

    A value, as a frozen dataclass is, but without methods made for each class: making them takes the time of a small
    check.
    """

    __slots__ = ("__dict__", "_hash")
    _hash: int
    __match_args__: ClassVar[tuple[str, ...]] = ()
    _compared: ClassVar[tuple[str, ...] | None] = None
    """If not all."""
    _key: ClassVar[attrgetter[Any]]

    def __init_subclass__(cls) -> None:
        fields = tuple(name for name, of in cls.__annotations__.items() if not of.startswith("ClassVar"))
        cls.__match_args__ = fields  # type: ignore[misc]  # mypy expects a decorator to make it
        cls._key = attrgetter("__class__", *(fields if cls._compared is None else cls._compared))

    def __init__(self, *values: Any, **named: Any) -> None:
        vars(self).update(zip(self.__match_args__, values), **named)  # noqa: B905 - what has a default may be missing

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expression) and bool(self._key(self) == other._key(other))

    def __hash__(self) -> int:
        """Kept: expressions are deep, and much is looked up by them."""
        try:
            return self._hash
        except AttributeError:
            object.__setattr__(self, "_hash", hash(self._key(self)))
            return self._hash

    def __reduce__(self) -> tuple[Any, ...]:  # the hash is another one in another process
        return type(self), tuple(getattr(self, name) for name in self.__match_args__)

    def __repr__(self) -> str:
        told = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
        return f"{type(self).__name__}({told})"


class Name(Expression):
    """One of SETS or RELATIONS."""

    name: str


class Nothing(Expression):
    """The empty set and the empty relation: `0`, `{}`."""


class Union(Expression):
    left: Expression
    right: Expression


class Intersection(Expression):
    left: Expression
    right: Expression


class Difference(Expression):
    left: Expression
    right: Expression


class Sequence(Expression):
    """`left ; right`."""

    left: Expression
    right: Expression


class Product(Expression):
    """`left * right`, of sets: all pairs."""

    left: Expression
    right: Expression


class Complement(Expression):
    """`~ of`."""

    of: Expression


class Identity(Expression):
    """`[of]`: each event of a set with itself."""

    of: Expression


class Inverse(Expression):
    """`of^-1`."""

    of: Expression


class Plus(Expression):
    """`of+`: transitive closure."""

    of: Expression


class Star(Expression):
    """`of*`: reflexive and transitive closure."""

    of: Expression


class Maybe(Expression):
    """`of?`: reflexive closure."""

    of: Expression


class Domain(Expression):
    """`domain(of)`: the set of left ends."""

    of: Expression


class Range(Expression):
    """`range(of)`: the set of right ends."""

    of: Expression


class Variable(Expression):
    """A name that a surrounding `Fixpoint` defines."""

    name: str


class Fixpoint(Expression):
    """`let rec`: the least relations that satisfy the definitions together; this one is called `name`."""

    name: str
    definitions: tuple[tuple[str, Expression], ...]


class Named(Expression):
    """An expression under the name that the file gives it: the same relation, for those who tell about it."""

    name: str
    of: Expression
    words: str = ""
    """What the comment behind its definition says of it."""
    _compared = ("name", "of")


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


class Check(NamedTuple):
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
