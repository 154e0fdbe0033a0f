"""A model as functions on tiny executions: a relation is one number, a bit for each pair of events.

For programs by the thousand. A model's text is compiled once, to Python: what does not depend on reads-from and store
order is worked out once per program, the rest is a few operations on numbers. `[S];r` and the like are masks, so the
usual models need no composition of relations at all.

Events are those of the program, thread by thread, then an initial write per location. Rmws, dependencies and fences
that are not full do not occur.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import count

from gradual.models.clingo import is_set
from gradual.models.language import parts, unnamed
from gradual.models.syntax import (
    CO,
    Check,
    Complement,
    Difference,
    Domain,
    Expression,
    Fixpoint,
    Identity,
    Intersection,
    Inverse,
    Maybe,
    Name,
    Named,
    Nothing,
    Plus,
    Product,
    Range,
    Sequence,
    Star,
    Union,
    Variable,
)

MOST = 32
"""Events, initial writes included."""
WIDTHS = (16, MOST)
Compiled = Callable[..., int]


class _Rows(dict[int, int]):
    """Of a set, all pairs that start in it; made when first asked for."""

    def __init__(self, width: int) -> None:
        self._width = width

    def __missing__(self, members: int) -> int:
        row, found = (1 << self._width) - 1, 0
        for at in range(self._width):
            if members >> at & 1:
                found |= row << at * self._width
        self[members] = found
        return found


ROWS = {width: _Rows(width) for width in WIDTHS}
_COLUMNS = {width: sum(1 << at * width for at in range(width)) for width in WIDTHS}
"""The first event of each row: times a row, that row again and again."""
_DIAGONALS = {width: sum(1 << at * (width + 1) for at in range(width)) for width in WIDTHS}


class Events:
    """The events of a program: its sets, and the relations that hold whatever is read.

    threads  their events, as a kind (W, R, F) and an address
    """

    def __init__(self, threads: list[list[tuple[str, int]]], locations: int) -> None:
        size = sum(map(len, threads)) + locations
        if size > MOST:
            raise ValueError(f"{size} events, initial writes included, are more than {MOST}")
        width = self.width = WIDTHS[0] if size <= WIDTHS[0] else MOST
        self.size = size
        self.rows = ROWS[width]
        self.column = _COLUMNS[width]
        at_location = [0] * locations
        reads = writes = fences = 0
        po = same = 0
        at = 0
        for steps in threads:
            end = at + len(steps)
            members = (1 << end) - (1 << at)
            for kind, address in steps:
                bit = 1 << at
                if kind == "F":
                    fences |= bit
                else:
                    at_location[address] |= bit
                    if kind == "R":
                        reads |= bit
                    else:
                        writes |= bit
                po |= (members & -(bit << 1)) << at * width
                same |= members << at * width
                at += 1
        initial = (1 << size) - (1 << at)
        loc = 0
        for address in range(locations):
            at_location[address] |= 1 << at + address
            members = at_location[address]
            loc |= self.rows[members] & members * self.column
        self.everything = (1 << size) - 1
        self.all_pairs = self.rows[self.everything] & self.everything * self.column
        self.id = self.diagonal(self.everything)
        self.R, self.W, self.F, self.IW = reads, writes | initial, fences, initial
        self.po, self.loc, self.int = po, loc, same

    # --- what the compiled text calls

    def row_mask(self, members: int) -> int:
        return self.rows[members]

    def column_mask(self, members: int) -> int:
        return members * self.column

    def sequence(self, left: int, right: int) -> int:
        width, row = self.width, (1 << self.width) - 1
        found = shift = 0
        while left:
            ends, line = left & row, 0
            while ends:
                low = ends & -ends
                line |= right >> (low.bit_length() - 1) * width & row
                ends ^= low
            found |= line << shift
            left >>= width
            shift += width
        return found

    def inverse(self, of: int) -> int:
        width, found = self.width, 0
        while of:
            low = of & -of
            start, end = divmod(low.bit_length() - 1, width)
            found |= 1 << end * width + start
            of ^= low
        return found

    def plus(self, of: int) -> int:
        """Transitive closure, event by event on the way."""
        width, row, column = self.width, (1 << self.width) - 1, self.column
        for middle in range(self.size):
            line = of >> middle * width & row
            if line:
                before = of >> middle & column
                of |= before * line
        return of

    def diagonal(self, members: int) -> int:
        return self.rows[members] & _DIAGONALS[self.width]

    def domain(self, of: int) -> int:
        members = at = 0
        while of:
            if of & (1 << self.width) - 1:
                members |= 1 << at
            of >>= self.width
            at += 1
        return members

    def range(self, of: int) -> int:
        return ends(of, self.width)

    def fixpoint(self, step: Callable[..., tuple[int, ...]], number: int, size: int) -> int:
        found = (0,) * size
        while (again := step(*found)) != found:
            found = again
        return found[number]


def ends(of: int, width: int) -> int:
    """The events at which the pairs of a relation end: all rows, laid upon each other."""
    shift = width * width // 2
    while shift >= width:
        of |= of >> shift
        shift //= 2
    return of & (1 << width) - 1


def cyclic(of: int, width: int) -> bool:
    """Has a relation a cycle? Pairs whose start is nobody's end are dropped until nothing changes."""
    rows = ROWS[width]
    if width == WIDTHS[0]:  # as below, written out for speed
        while of:
            ended = of | of >> 128
            ended |= ended >> 64
            ended |= ended >> 32
            left = of & rows[(ended | ended >> 16) & 0xffff]
            if left == of:
                return True
            of = left
        return False
    while of:
        left = of & rows[ends(of, width)]
        if left == of:
            return True
        of = left
    return False


# --- compiling


@dataclass(frozen=True)
class MaskedCheck:
    """A check of a model: `relation(static, events, rf, co, fr)` is what must be acyclic, irreflexive or empty."""

    kind: str
    relation: Compiled
    linear: bool
    """Is what holds for several pairs of rf, co and fr the union of what holds for each?"""
    local: bool
    """Does it only relate events of one location?"""
    grows: bool
    """Can more pairs only make it fail?"""


@dataclass(frozen=True)
class Masked:
    """A model, compiled."""

    static: Callable[[Events], tuple[int, ...]]
    checks: tuple[MaskedCheck, ...]


@lru_cache(maxsize=64)
def masked(checks: tuple[Check, ...]) -> Masked:
    """The checks of a model as functions; those about views, which are no relations, stand aside."""
    compiler = _Compiler()
    found = []
    for check in checks:
        kind, expression = _simplest(check)
        text = compiler.text(expression)
        relation = eval(f"lambda static, p, rf, co, fr: {text}")  # made of the names in _BASE alone
        found.append(MaskedCheck(kind, relation, degree(expression) <= 1, is_local(expression), grows(expression)))
    static = eval(f"lambda p: ({''.join(f'{text}, ' for text in compiler.static)})")
    return Masked(static, tuple(found))


def _simplest(check: Check) -> tuple[str, Expression]:
    """A relation has a cycle when its closure has; so no closure is needed."""
    expression = unnamed(check.expression)
    if check.kind == "irreflexive" and isinstance(expression, Plus):
        return "acyclic", _open(expression)
    return (check.kind, _open(expression)) if check.kind == "acyclic" else (check.kind, expression)


def _open(expression: Expression) -> Expression:
    inner = unnamed(expression)
    if isinstance(inner, Plus):
        return _open(inner.of)
    return Union(_open(inner.left), _open(inner.right)) if isinstance(inner, Union) else inner


_DYNAMIC = CO | {"rf", "rfi", "rfe"}
_LOCAL = _DYNAMIC | {"po-loc", "loc"}
_BASE = {
    "_": "p.everything", "R": "p.R", "W": "p.W", "M": "(p.R | p.W)", "F": "p.F", "IW": "p.IW", "Fence.rw.rw": "p.F",
    "id": "p.id", "loc": "p.loc", "int": "p.int", "ext": "(p.all_pairs & ~p.int)", "po": "p.po",
    "po-loc": "(p.po & p.loc)", "rf": "rf", "co": "co", "fr": "fr",
    **{f"{name}i": f"({name} & p.int)" for name in ("rf", "co", "fr")},
    **{f"{name}e": f"({name} & ~p.int)" for name in ("rf", "co", "fr")},
}
"""Every other name is of something that does not occur."""
NONE = "0"


class _Compiler:
    """Expressions as Python; what is static is a place in a tuple."""

    def __init__(self) -> None:
        self.static: list[str] = []
        self._places: dict[str, int] = {}
        self._variables: dict[str, str] = {}
        self._names = (f"v{number}" for number in count())

    def text(self, expression: Expression) -> str:
        if not self._static(expression):
            return self._of(expression, self.text)
        text = self._of(expression, self._inside)
        if text == NONE:
            return NONE
        if text not in self._places:
            self._places[text] = len(self.static)
            self.static.append(text)
        return f"static[{self._places[text]}]"

    def _inside(self, expression: Expression) -> str:
        return self._of(expression, self._inside)

    def _static(self, expression: Expression, inside: frozenset[str] = frozenset()) -> bool:
        """`inside` are the variables of the definitions around it, as far as these are looked at."""
        if isinstance(expression, Name):
            return expression.name not in _DYNAMIC
        if isinstance(expression, Variable):
            return expression.name in inside
        if isinstance(expression, Fixpoint):
            inside |= {name for name, _ in expression.definitions}
        return all(self._static(part, inside) for part in parts(expression))

    def _of(self, expression: Expression, text: Callable[[Expression], str]) -> str:
        """Operands by `text`; what has an empty operand is made shorter."""
        match expression:
            case Named(_, of):
                return text(of)
            case Name(name):
                return _BASE.get(name, NONE)
            case Variable(name):
                return self._variables[name]
            case Nothing():
                return NONE
            case Union(left, right):
                present = [part for part in (text(left), text(right)) if part != NONE]
                return f"({' | '.join(present)})" if present else NONE
            case Intersection(left, right):
                return _both(text(left), text(right), "{} & {}")
            case Difference(left, right):
                taken = text(right)
                return text(left) if taken == NONE else _both(text(left), taken, "{} & ~{}")
            case Sequence(left, right):
                return self._sequence(left, right, text)
            case Product(left, right):
                return _both(text(left), text(right), "p.row_mask({}) & p.column_mask({})")
            case Complement(of):
                return f"({'p.everything' if is_set(of) else 'p.all_pairs'} & ~{text(of)})"
            case Identity(of):
                return _one(text(of), "p.diagonal({})")
            case Inverse(of):
                return _one(text(of), "p.inverse({})")
            case Plus(of):
                return _one(text(of), "p.plus({})")
            case Star(of):
                return f"(p.id | p.plus({text(of)}))"
            case Maybe(of):
                return f"(p.id | {text(of)})"
            case Domain(of):
                return _one(text(of), "p.domain({})")
            case Range(of):
                return _one(text(of), "p.range({})")
            case Fixpoint(name, definitions):
                return self._fixpoint(name, definitions, text)
        raise AssertionError(expression)

    def _sequence(self, left: Expression, right: Expression, text: Callable[[Expression], str]) -> str:
        """A test [S] is a mask."""
        before, after = unnamed(left), unnamed(right)
        if isinstance(before, Identity):
            return _both(text(before.of), text(right), "p.row_mask({}) & {}")
        if isinstance(after, Identity):
            return _both(text(left), text(after.of), "{} & p.column_mask({})")
        return _both(text(left), text(right), "p.sequence({}, {})")

    def _fixpoint(self, name: str, definitions: tuple[tuple[str, Expression], ...],
                  text: Callable[[Expression], str]) -> str:
        for variable, _ in definitions:
            self._variables[variable] = next(self._names)
        mine = [self._variables[variable] for variable, _ in definitions]
        bodies = "".join(f"{text(body)}, " for _, body in definitions)
        number = [variable for variable, _ in definitions].index(name)
        return f"p.fixpoint(lambda {', '.join(mine)}: ({bodies}), {number}, {len(mine)})"


def _one(of: str, form: str) -> str:
    return NONE if of == NONE else form.format(of)


def _both(left: str, right: str, form: str) -> str:
    return NONE if NONE in (left, right) else f"({form.format(left, right)})"


# --- what reads-from and store order do to an expression


def degree(expression: Expression) -> int:
    """0: nothing; 1: what holds for a union of pairs is the union of what holds for each; 2: anything else."""
    match expression:
        case Name(name):
            return int(name in _DYNAMIC)
        case Variable() | Nothing():
            return 0
        case Named(_, of) | Identity(of) | Inverse(of) | Maybe(of) | Domain(of) | Range(of):
            return degree(of)
        case Union(left, right):
            return max(degree(left), degree(right))
        case Intersection(left, right) | Sequence(left, right) | Product(left, right):
            return min(degree(left) + degree(right), 2)
        case Difference(left, right):
            return degree(left) if degree(right) == 0 else 2
    return 2 if any(map(degree, parts(expression))) else 0


def is_local(expression: Expression) -> bool:
    """Does it relate events of one location only?"""
    match expression:
        case Name(name):
            return name in _LOCAL
        case Nothing():
            return True
        case Named(_, of) | Plus(of) | Inverse(of):
            return is_local(of)
        case Union(left, right):
            return is_local(left) and is_local(right)
        case Sequence(left, right):
            return all(is_local(part) or isinstance(unnamed(part), Identity) for part in (left, right))
        case Intersection(left, right):
            return is_local(left) or is_local(right)
        case Difference(left, _):
            return is_local(left)
    return False


def grows(expression: Expression, negative: bool = False) -> bool:
    """Do more pairs of rf, co and fr never take one away?"""
    if isinstance(expression, Name):
        return not (negative and expression.name in _DYNAMIC)
    flips = isinstance(expression, Complement)
    return all(grows(part, negative != (flips or (isinstance(expression, Difference) and part is expression.right)))
               for part in parts(expression))

