"""The certificate's own reading of a model's text: is this pair in that relation, does every pair go forward?

`push` sends numbers through an expression, `w[b] = max of v[a] over pairs (a, b)`. With the places of an order it
shows whether every pair of a relation goes forward in it, with ones whether there is a pair at all, both without
listing pairs. `has` asks for one pair, and looks at the operations between only where the text does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce

import numpy as np

from gradual.evidence.errors import CertificateError, require
from gradual.evidence.events import Events, StoreOrder, Stores
from gradual.evidence.relations import NOWHERE, Relation, Tested
from gradual.history import Column
from gradual.models.syntax import (
    CO,
    SETS,
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

LIMIT = 200_000_000
"""Numbers that a `&`, `\\` or `~` between two relations may take: the events, times those that may start a pair in
the largest thread, location or both that the relations keep to (of all events, where they keep to none)."""
CHUNK = 4_000_000

TEARING: list[Expression] = [Name("fre"), Name("coe")]
FROM_READS = frozenset({"rf", "rfi", "rfe", "fr", "fri", "fre"})
TRANSITIVE = frozenset({"po", "po-loc", "co", "coi", "loc", "int", "id"})
KEEPS_TO = {
    "id": {"int", "loc"}, "loc": {"loc"}, "int": {"int"}, "ext": set(), "po": {"int"}, "po-loc": {"int", "loc"},
    "rf": {"loc"}, "rfi": {"int", "loc"}, "rfe": {"loc"}, "co": {"loc"}, "coi": {"int", "loc"}, "coe": {"loc"},
    "fr": {"loc"}, "fri": {"int", "loc"}, "fre": {"loc"}, "addr": {"int"}, "data": {"int"}, "ctrl": {"int"},
    "tdep": {"int"}, "rmw": {"int"}}
"""Within a thread, or on a location, where all pairs of a relation are."""
TESTED = {("po", "loc"): "po-loc", ("po-loc", "loc"): "po-loc", ("po-loc", "int"): "po-loc", ("po", "int"): "po",
          **{(name + way, "loc"): name + way for name in ("rf", "co", "fr") for way in ("", "i", "e")},
          **{(name, test): name + way for name in ("rf", "co", "fr") for test, way in (("int", "i"), ("ext", "e"))}}
"""A relation & loc, int or ext, where that has a name."""


def bare(expression: Expression) -> Expression:
    """The expression without the names that the file gives it."""
    while isinstance(expression, Named):
        expression = expression.of
    return expression


def parts(expression: Expression) -> Iterator[Expression]:
    """What an expression is made of, one level down."""
    for value in vars(expression).values():
        if isinstance(value, Expression):
            yield value
        elif isinstance(value, tuple):
            yield from (definition for _, definition in value)


def is_set(expression: Expression) -> bool:
    expression = bare(expression)
    if isinstance(expression, Name):
        return expression.name in SETS
    if isinstance(expression, Union | Intersection | Difference):
        return is_set(expression.left) or is_set(expression.right)
    return isinstance(expression, Domain | Range) or (isinstance(expression, Complement) and is_set(expression.of))


def grows_with_co(expression: Expression, positive: bool = True) -> bool:
    """Does a larger store order only add pairs? Then what holds for a part of it holds for the whole."""
    return _grows(expression, CO, positive)


def grows_with_rf(expression: Expression) -> bool:
    """Does it only add pairs when more is known of what was read?"""
    return _grows(expression, FROM_READS, True)


def _grows(expression: Expression, names: frozenset[str], positive: bool) -> bool:
    if isinstance(expression, Name):
        return positive or expression.name not in names
    if isinstance(expression, Complement):
        return _grows(expression.of, names, not positive)
    if isinstance(expression, Difference):
        return _grows(expression.left, names, positive) and _grows(expression.right, names, not positive)
    return all(_grows(part, names, positive) for part in parts(expression))


def _speaks_of(expression: Expression, names: frozenset[str]) -> bool:
    if isinstance(expression, Name):
        return expression.name in names
    return any(_speaks_of(part, names) for part in parts(expression))


def alternatives(expression: Expression) -> list[Expression]:
    """The terms of a union."""
    expression = bare(expression)
    if isinstance(expression, Union):
        return alternatives(expression.left) + alternatives(expression.right)
    return [expression]


def is_about_sources(term: Expression) -> bool:
    """Is it `e \\ (rf^-1;rf)`, where e grows with what is known of rf? Then the sources of the two ends decide."""
    term = bare(term)
    return isinstance(term, Difference) and grows_with_rf(term.left) and (
        factors(term.right) == [Inverse(Name("rf")), Name("rf")])


def keeps_to(expression: Expression) -> frozenset[str]:
    """`int` if all pairs are within threads, `loc` if on one location each."""
    expression = bare(expression)
    if isinstance(expression, Name):
        return frozenset(KEEPS_TO[expression.name])
    if isinstance(expression, Nothing | Identity):
        return frozenset({"int", "loc"})
    if isinstance(expression, Union | Sequence):
        return keeps_to(expression.left) & keeps_to(expression.right)
    if isinstance(expression, Intersection):
        return keeps_to(expression.left) | keeps_to(expression.right)
    if isinstance(expression, Difference):
        return keeps_to(expression.left)
    if isinstance(expression, Inverse | Plus | Star | Maybe):
        return keeps_to(expression.of)
    return frozenset()


def factors(expression: Expression) -> list[Expression]:
    """`a ; b ; c` as a list."""
    expression = bare(expression)
    if isinstance(expression, Sequence):
        return factors(expression.left) + factors(expression.right)
    return [expression]


def tested(expression: Expression, test: str) -> Expression | None:
    """`expression & test` with the test (loc, int, ext) moved to where it has a name; None where that cannot be."""
    expression = bare(expression)
    if isinstance(expression, Name):
        name = TESTED.get((expression.name, test))
        return Name(name) if name else None
    if isinstance(expression, Union):
        left, right = tested(expression.left, test), tested(expression.right, test)
        return Union(left, right) if left and right else None
    if isinstance(expression, Sequence):
        steps = factors(expression)
        moving = [at for at, step in enumerate(steps) if not isinstance(step, Identity)]
        if len(moving) == 1 and (step := tested(steps[moving[0]], test)):
            return reduce(Sequence, [*steps[:moving[0]], step, *steps[moving[0] + 1:]])
    return None


class Text:
    """Expressions over the events of a history, under a store order, which may be given later."""

    def __init__(self, events: Events, stores: Stores | None = None) -> None:
        self.events = events
        if stores is not None:
            self.stores = stores
        self._stored: dict[str, Relation] = {}
        self._masks: dict[Expression, Column] = {}
        self._differences: dict[Difference, Relation | None] = {}
        self._tables: dict[str, Column] = {}
        self._fixpoints: dict[Fixpoint, Column] = {}
        self._pushes: dict[type[Expression], Callable[..., Column]] = {
            Name: self._push_name, Union: self._push_union, Sequence: self._push_sequence,
            Intersection: self._push_intersection, Difference: self._push_difference, Product: self._push_product,
            Complement: self._push_complement, Identity: self._push_identity, Plus: self._push_plus,
            Variable: self._push_variable, Fixpoint: self._push_fixpoint}

    def look_up(self, term: Expression) -> None:
        """What the events say about a term, where no store order matters, to have it ready."""
        if not _speaks_of(term, CO):
            self.push(term, self._ones())

    # --- what checks ask

    def goes_forward(self, expression: Expression, place: Column) -> bool:
        """Does every pair of a relation lead to a later place (all places different, and from 0)?"""
        return bool((self.push(expression, place) < place).all())

    def is_empty(self, expression: Expression) -> bool:
        if is_set(expression):
            return not self.members(expression).any()
        return not (self.push(expression, self._ones()) > NOWHERE).any()

    def is_acyclic(self, expression: Expression) -> bool:
        """Takes away events that nothing left leads to, until none is left or none can go."""
        left = self._ones()
        while (left > NOWHERE).any():
            reached = np.minimum(left, self.push(expression, left))
            if np.array_equal(reached, left):
                return False
            left = reached
        return True

    def is_irreflexive(self, expression: Expression) -> bool:
        return self.is_empty(Intersection(expression, Name("id")))

    def _ones(self) -> Column:
        return np.zeros(self.events.count, dtype=np.int64)

    # --- sets

    def members(self, expression: Expression) -> Column:
        """A set, as a mask."""
        expression = bare(expression)
        if self._tables:  # within a `let rec`, where it may change
            return self._new_members(expression)
        if expression not in self._masks:
            self._masks[expression] = self._new_members(expression)
        return self._masks[expression]

    def _new_members(self, expression: Expression) -> Column:
        found: Column
        if isinstance(expression, Name):
            return self.events.members(expression.name)
        if isinstance(expression, Nothing):
            return np.zeros(self.events.count, dtype=bool)
        if isinstance(expression, Union):
            found = self.members(expression.left) | self.members(expression.right)
        elif isinstance(expression, Intersection):
            found = self.members(expression.left) & self.members(expression.right)
        elif isinstance(expression, Difference):
            found = self.members(expression.left) & ~self.members(expression.right)
        elif isinstance(expression, Complement):
            found = ~self.members(expression.of)
        elif isinstance(expression, Domain | Range):
            found = self.push(expression.of, self._ones(), isinstance(expression, Range)) > NOWHERE
        else:
            raise CertificateError(f"{type(expression).__name__} is no set")
        return found

    def _masked(self, values: Column, members: Expression) -> Column:
        return np.where(self.members(members), values, NOWHERE)

    # --- pushing

    def push(self, expression: Expression, values: Column, forward: bool = True) -> Column:
        """For each event b the greatest of values[a] over pairs (a, b); over pairs (b, a) when not `forward`."""
        expression = bare(expression)
        if isinstance(expression, Nothing):
            return np.full_like(values, NOWHERE)
        if isinstance(expression, Inverse):
            return self.push(expression.of, values, not forward)
        if isinstance(expression, Maybe):
            return np.maximum(values, self.push(expression.of, values, forward))
        if isinstance(expression, Star):
            return np.maximum(values, self._push_plus(expression, values, forward))
        return self._pushes[type(expression)](expression, values, forward)

    def _push_name(self, expression: Name, values: Column, forward: bool) -> Column:
        name = expression.name
        if name not in CO:
            return self.events.relation(name).push(values, forward)
        if name not in self._stored:
            self._stored[name] = self.stores.relation(name)
        return self._stored[name].push(values, forward)

    def _push_union(self, expression: Union, values: Column, forward: bool) -> Column:
        return np.maximum(self.push(expression.left, values, forward), self.push(expression.right, values, forward))

    def _push_sequence(self, expression: Sequence, values: Column, forward: bool) -> Column:
        if any(isinstance(step, Identity) and not self.members(step.of).any() for step in factors(expression)):
            return np.full_like(values, NOWHERE)
        first, then = (expression.left, expression.right) if forward else (expression.right, expression.left)
        return self.push(then, self.push(first, values, forward), forward)

    def _push_identity(self, expression: Identity, values: Column, forward: bool) -> Column:
        return self._masked(values, expression.of)

    def _push_product(self, expression: Product, values: Column, forward: bool) -> Column:
        first, then = (expression.left, expression.right) if forward else (expression.right, expression.left)
        best = self._masked(values, first).max(axis=-1, initial=NOWHERE, keepdims=True)
        return np.where(self.members(then), best, NOWHERE)

    def _push_plus(self, expression: Plus | Star, values: Column, forward: bool) -> Column:
        pushed = self.push(expression.of, values, forward)
        of = bare(expression.of)
        while not (isinstance(of, Name) and of.name in TRANSITIVE):
            further = np.maximum(pushed, self.push(of, pushed, forward))
            if np.array_equal(further, pushed):
                break
            pushed = further
        return pushed

    def _push_intersection(self, expression: Intersection, values: Column, forward: bool) -> Column:
        left, right = bare(expression.left), bare(expression.right)
        if isinstance(left, Product) or (isinstance(left, Name) and left.name in ("loc", "int", "ext")):
            left, right = right, left
        if isinstance(right, Product):
            return self.push(Sequence(Sequence(Identity(right.left), left), Identity(right.right)), values, forward)
        if isinstance(right, Name) and (simple := tested(left, right.name)):
            return self.push(simple, values, forward)
        if left == Name("rmw") and factors(right) == TEARING and isinstance(self.stores, StoreOrder):
            return self.events.torn_pairs(self.stores).push(values, forward)
        return self._push_by_pairs(expression, values, forward)

    def _push_difference(self, expression: Difference, values: Column, forward: bool) -> Column:
        left, right = expression.left, bare(expression.right)
        if isinstance(right, Product):
            outside = Union(Sequence(Identity(Complement(right.left)), left),
                            Sequence(left, Identity(Complement(right.right))))
            return self.push(outside, values, forward)
        if expression not in self._differences:
            self._differences[expression] = self._between(left, right)
        if (relation := self._differences[expression]) is not None:
            return relation.push(values, forward)
        if isinstance(right, Name) and right.name in ("int", "ext"):
            return self.push(Intersection(left, Name("ext" if right.name == "int" else "int")), values, forward)
        return self._push_by_pairs(expression, values, forward)

    def _between(self, left: Expression, right: Expression) -> Relation | None:
        """`r \\ (r;[S];r)`, where r is po or po-loc, and `[A];(r \\ (r;[S];r));[B] \\ (rf^-1;rf)`."""
        relation, steps = bare(left), factors(right)
        if self.events.in_parts and Name("po") in (relation, *steps):
            return None  # events of one access are not before each other
        if isinstance(relation, Name) and relation.name in ("po", "po-loc") and len(steps) == 3:
            first, test, last = steps
            if first == last == relation and isinstance(test, Identity):
                return self._apart(relation.name, test.of, None)
        same_source = len(steps) == 2 and steps[1] == Name("rf") and isinstance(steps[0], Inverse) and (
            bare(steps[0].of) == Name("rf"))
        parts = factors(left)
        if same_source and len(parts) == 3 and isinstance(parts[0], Identity) and isinstance(parts[2], Identity) and (
                isinstance(parts[1], Difference)):
            within, outer = factors(parts[1].right), bare(parts[1].left)
            if isinstance(outer, Name) and outer.name in ("po", "po-loc") and len(within) == 3 and (
                    within[0] == within[2] == outer and isinstance(within[1], Identity)):
                return Tested(self.members(parts[0].of), self._apart(outer.name, within[1].of, self.events.source),
                              self.members(parts[2].of))
        return None

    def _apart(self, name: str, between: Expression, source: Column | None) -> Relation:
        marks = None if source is None else np.where(source < 0, len(source) + np.arange(len(source)), source)
        return self.events.between(name, self.members(between), marks)

    def _push_complement(self, expression: Complement, values: Column, forward: bool) -> Column:
        everything = Product(Name("_"), Name("_"))
        return self._push_by_pairs(Difference(everything, expression.of), values, forward)

    def _push_by_pairs(self, expression: Intersection | Difference, values: Column, forward: bool) -> Column:
        """Pair by pair. Parts of the history between which neither relation has a pair share the rows of a table."""
        left, right = expression.left, expression.right
        starts = (values > NOWHERE).reshape(-1, values.shape[-1]).any(axis=0)
        starts &= self.push(left, self._ones(), not forward) > NOWHERE
        part = self._part(keeps_to(left) & keeps_to(right))
        row = _number_within(part, starts)
        rows = int(row.max(initial=-1)) + 1
        self._require_room(rows)
        pushed = np.full_like(values, NOWHERE)
        step = max(1, CHUNK // max(1, self.events.count))
        for low in range(0, rows, step):
            ones = np.full((min(step, rows - low), self.events.count), NOWHERE, dtype=np.int64)
            here = np.flatnonzero((row >= low) & (row < low + len(ones)))
            ones[row[here] - low, here] = 0
            related = self.push(left, ones, forward) > NOWHERE
            other = self.push(right, ones, forward) > NOWHERE
            related &= other if isinstance(expression, Intersection) else ~other
            for at in range(len(ones)):
                start_of = np.zeros(int(part.max()) + 1, dtype=np.int64)
                mine = here[row[here] == low + at]
                start_of[part[mine]] = mine
                np.maximum(pushed, np.where(related[at], values[..., start_of[part]], NOWHERE), out=pushed)
        return pushed

    def _part(self, within: frozenset[str]) -> Column:
        """Numbers for the threads, the locations, or the locations of each thread; an event in none is alone."""
        part = np.zeros(self.events.count, dtype=np.int64)
        for column in [self.events.thread] * ("int" in within) + [self.events.location] * ("loc" in within):
            alone = int(column.max(initial=0)) + 1 + np.arange(self.events.count)
            _, part = np.unique(part * (3 * self.events.count + 3) + np.where(column < 0, alone, column),
                                return_inverse=True)
        return part

    def _require_room(self, rows: int) -> None:
        require(rows * self.events.count <= LIMIT, f"{rows} x {self.events.count} pairs are too many to look at "
                "one by one, as `&`, `\\` and `~` between two relations, and `let rec`, need")

    def _push_fixpoint(self, expression: Fixpoint, values: Column, forward: bool) -> Column:
        return self._push_table(self._table(expression), values, forward)

    def _push_variable(self, expression: Variable, values: Column, forward: bool) -> Column:
        return self._push_table(self._tables[expression.name], values, forward)

    @staticmethod
    def _push_table(table: Column, values: Column, forward: bool) -> Column:
        pushed = np.full_like(values, NOWHERE)
        for event, row in enumerate(table if forward else table.T):
            np.maximum(pushed, np.where(row, values[..., event, None], NOWHERE), out=pushed)
        return pushed

    def _table(self, expression: Fixpoint) -> Column:
        """All pairs of the least relations that the definitions allow, found by applying them from nothing on."""
        if expression not in self._fixpoints:
            count = self.events.count
            self._require_room(count)
            outer, ones = dict(self._tables), np.where(np.eye(count, dtype=bool), 0, NOWHERE)
            tables = {name: np.zeros((count, count), dtype=bool) for name, _ in expression.definitions}
            changed = True
            while changed:
                self._tables = outer | tables
                found = {name: self.push(of, ones) > NOWHERE for name, of in expression.definitions}
                changed = any(not np.array_equal(found[name], tables[name]) for name in tables)
                tables = found
            self._tables = outer
            if outer:  # an inner definition may change with the outer one
                return tables[expression.name]
            self._fixpoints[expression] = tables[expression.name]
        return self._fixpoints[expression]

    # --- one pair

    def has(self, expression: Expression, a: int, b: int) -> bool:
        """Is (a, b) in a relation?"""
        expression = bare(expression)
        if isinstance(expression, Nothing):
            return False
        if isinstance(expression, Name):
            return self._has_name(expression.name, a, b)
        if isinstance(expression, Union | Intersection | Difference):
            return self._has_boolean(expression, a, b)
        if isinstance(expression, Complement):
            return not self.has(expression.of, a, b)
        if isinstance(expression, Inverse):
            return self.has(expression.of, b, a)
        if isinstance(expression, Product):
            return bool(self.members(expression.left)[a] and self.members(expression.right)[b])
        if isinstance(expression, Maybe):
            return a == b or self.has(expression.of, a, b)
        if isinstance(expression, Sequence | Identity):
            return self._has_path(factors(expression), a, b)
        return self._reaches(expression, a, b)

    def _has_boolean(self, expression: Union | Intersection | Difference, a: int, b: int) -> bool:
        left = self.has(expression.left, a, b)
        if isinstance(expression, Union):
            return left or self.has(expression.right, a, b)
        return left and self.has(expression.right, a, b) == isinstance(expression, Intersection)

    def _has_name(self, name: str, a: int, b: int) -> bool:
        if name not in CO:
            return self.events.has(name, a, b)
        if name.startswith("fr"):
            source = self.events.reads_from(a)
            related = source >= 0 and a != b and self.stores.has(source, b)
        else:
            related = self.stores.has(a, b)
        return related and (not name[2:] or self.events.has("int", a, b) == (name[2:] == "i"))

    def _has_path(self, steps: list[Expression], a: int, b: int) -> bool:
        """Tests at the ends are looked at first: what is left is mostly a single step."""
        while steps and isinstance(steps[0], Identity):
            if not self.members(steps[0].of)[a]:
                return False
            steps = steps[1:]
        while steps and isinstance(steps[-1], Identity):
            if not self.members(steps[-1].of)[b]:
                return False
            steps = steps[:-1]
        if not steps:
            return a == b
        if len(steps) == 1:
            return self.has(steps[0], a, b)
        return self._reaches(reduce(Sequence, steps), a, b)

    def _reaches(self, expression: Expression, a: int, b: int) -> bool:
        one = np.full(self.events.count, NOWHERE, dtype=np.int64)
        one[a] = 0
        return bool(self.push(expression, one)[b] > NOWHERE)


def _number_within(part: Column, chosen: Column) -> Column:
    """Of each chosen event its number, from 0, among the chosen ones of its part; -1 of the others."""
    number = np.full(len(part), -1, dtype=np.int64)
    events = np.flatnonzero(chosen)
    events = events[np.argsort(part[events], kind="stable")]
    if len(events):
        place = np.arange(len(events))
        starts = np.r_[True, np.diff(part[events]) != 0]
        number[events] = place - np.maximum.accumulate(np.where(starts, place, 0))
    return number
