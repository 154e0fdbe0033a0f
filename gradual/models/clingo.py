"""The one compiler of models to clingo, for `datalog/execution.lp` to be put beside.

Three targets. *Demanded*: the executions that the model forbids are no answer sets; acyclicity is clingo's `#edge`,
which is looked at while it chooses. *Derived*: nothing is forbidden, but `cyclic(Axiom)` holds where a check fails, and
`edge(Axiom, Rule, A, B)` tells the pairs of each check with the rule of the file that they come from; an event of a set
that should be empty is there with itself. Of a check about views the graph of `_VIEWS` takes the place of the pairs: W
is a store entering the store order, `a(T, W)` that store reaching thread T. *Refuted*: `cyclic'(Axiom)` holds where a
check fails under a second store order co', which `datalog/contrast.lp` runs through.

An expression becomes a conjunction of literals between two variables where it can, and a predicate with a rule for each
part of a union where it must.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import count

from gradual.models.language import unnamed
from gradual.models.library import Model
from gradual.models.regular import grows_with_store_order
from gradual.models.syntax import (
    SETS,
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

Literals = list[str]

_LOC = "at({a},{x}), at({b},{x})"
_INT = "thread({a},{x}), thread({b},{x})"
_EXT = "thread({a},{x}), thread({b},{x}E), {x} != {x}E"
_INLINE = {
    "id": "event({a}), {a} = {b}", "loc": _LOC, "int": _INT, "ext": _EXT,
    "po-loc": "po({a},{b}), " + _LOC,
    **{name + "i": name + "({a},{b}), " + _INT for name in ("rf", "co", "fr")},
    **{name + "e": name + "({a},{b}), " + _EXT for name in ("rf", "co", "fr")},
}
"""Relations that are told where they are used, never listed: some have a pair for nearly every two events. All others
are predicates of `execution.lp`, or facts."""


def demanded(model: Model) -> str:
    """Rules under which the answer sets are the executions that the model allows."""
    rules = _Rules()
    for number, check in enumerate(model.checks):
        rules.demand(check, number)
    if not any(check.kind == "acyclic" and Name("co") in map(unnamed, terms(check.expression))
               for check in model.checks):
        rules.lines.append(STORE_ORDER)
    return "\n".join(rules.lines)


def derived(model: Model) -> str:
    """Rules that tell of every execution which checks fail: `cyclic(Axiom)` and `edge(Axiom, Rule, A, B)`."""
    rules = _Rules()
    for check in model.checks:
        rules.derive(check)
    return "\n".join([*rules.lines, STORE_ORDER, "#defined edge/4. #defined cyclic/1. #show edge/4. #show cyclic/1."])


class NotPositive(Exception):
    """A check that more pairs of the store order could mend: no saturation can say that it always fails."""


def refuted(model: Model) -> str:
    """Rules that tell under a second store order which checks fail: what depends on that carries a prime. Raises
    NotPositive."""
    rules = _Rules()
    for check in model.checks:
        if not grows_with_store_order(check.expression):
            raise NotPositive(f"the check {check.name} of {model} takes pairs away that depend on the store order")
        rules.derive(check)
    primed = re.sub(r"\b(co|fr|edge|way|cyclic|e\d+)(?=[(/])", r"\1'", "\n".join(rules.lines))
    return primed + "\n#defined edge'/4. #defined cyclic'/1."


STORE_ORDER = "#edge (V, W) : co(V, W)."
"""Where no check of a model does it: the store order is an order."""


_ONWARD = "way({axiom}, A, C) :- way({axiom}, A, B), edge({axiom}, _, B, C)."
_VIEWS = """
#defined kept/4.
reader(T) :- thread(R, T), in("R", R).
some_fence :- in("Fence.rw.rw", F).
apart(F, W) :- in("Fence.rw.rw", F), write(W, _), thread(F, T), not thread(W, T).
edge(AXIOM, "arrival", W, a(T, W)) :- write(W, _), reader(T).
edge(AXIOM, Rule, A, B) :- kept(AXIOM, Rule, A, B), not write(A, _).
edge(AXIOM, Rule, A, B) :- kept(AXIOM, Rule, A, B), write(A, _), write(B, _).
edge(AXIOM, Rule, a(T, A), a(T, B)) :- kept(AXIOM, Rule, A, B), write(A, _), write(B, _), reader(T).
edge(AXIOM, Rule, a(T, A), B) :- kept(AXIOM, Rule, A, B), write(A, _), in("F", B), reader(T).
edge(AXIOM, Rule, a(T, A), B) :- kept(AXIOM, Rule, A, B), write(A, _), in("R", B), thread(B, T).
edge(AXIOM, "co", V, W) :- co(V, W), write(V, _).
edge(AXIOM, "co", a(T, V), a(T, W)) :- co(V, W), write(V, _), reader(T).
edge(AXIOM, "rf", a(T, W), R) :- rf(W, R), write(W, _), not po(W, R), thread(R, T).
edge(AXIOM, "fr", R, a(T, W)) :- fr(R, W), thread(R, T).
edge(AXIOM, "fr", R, W) :- fr(R, W), po(W, R).
edge(AXIOM, "po", W, R) :- fr(R, W), po(W, R).
edge(AXIOM, "fence", a(T, W), F) :- apart(F, W), way(AXIOM, W, F), reader(T).
edge(AXIOM, "fence", F, W) :- apart(F, W), way(AXIOM, F, a(T, W)).
"""
"""Views without views: `contrast/views.py` says why."""


def terms(expression: Expression) -> Iterator[Expression]:
    """The parts of a union, under the innermost name that each has."""
    inner = unnamed(expression)
    if isinstance(inner, Union):
        for part in (inner.left, inner.right):
            yield from (term if isinstance(term, Named | Name) or not isinstance(expression, Named)
                        else Named(expression.name, term) for term in terms(part))
    elif not isinstance(inner, Nothing):
        yield expression


def rule_name(term: Expression) -> str:
    """What people call a part of a check: its name in the file, or that of the relation."""
    return term.name if isinstance(term, Named | Name) else "po"


class _Rules:
    """Rules as they are needed; each predicate is made once."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._made: dict[int, str] = {}
        """Predicates by the identity of their expressions."""
        self._kept: list[object] = []
        """What was made, so that no identity is given twice."""
        self._variables: dict[str, str] = {}
        self._numbers = count()

    # --- checks

    def demand(self, check: Check, axiom: int) -> None:
        if check.kind == "views":
            self._views(check, str(axiom))
            self.lines += [f"#edge (({axiom},A), ({axiom},B)) : edge({axiom}, _, A, B).",
                           f"way({axiom}, A, B) :- edge({axiom}, _, A, B), some_fence.", _ONWARD.format(axiom=axiom)]
            return
        for term in terms(check.expression):
            if check.kind == "acyclic":
                self.lines.append(f"#edge (({axiom},A), ({axiom},B)) : {self._body(term)}.")
            else:
                self.lines.append(f":- {self._failing(check, term)}.")

    def derive(self, check: Check) -> None:
        axiom = f'"{check.name}"'
        if check.kind == "views":
            self._views(check, axiom)
        else:
            for term in terms(check.expression):
                ends, body = (("A, A", ", ".join(self.members(term, "A"))) if is_set(term)
                              else ("A, B", self._body(term)))
                self.lines.append(f'edge({axiom}, "{rule_name(term)}", {ends}) :- {body}.')
        if check.kind in ("acyclic", "views"):
            self.lines += [f"way({axiom}, A, B) :- edge({axiom}, _, A, B).", _ONWARD.format(axiom=axiom),
                           f"cyclic({axiom}) :- way({axiom}, A, A)."]
        else:
            self.lines.append(f"cyclic({axiom}) :- edge({axiom}, _, A, {'A' if check.kind == 'irreflexive' else 'B'}).")

    def _views(self, check: Check, axiom: str) -> None:
        """The graph of a check about views, as `edge`; what is in every view is `kept`."""
        for term in terms(check.expression):
            self.lines.append(f'kept({axiom}, "{rule_name(term)}", A, B) :- {self._body(term)}.')
        self.lines.append(_VIEWS.replace("AXIOM", axiom))

    def _failing(self, check: Check, term: Expression) -> str:
        """One pair, or event, with which a check fails that is not about cycles."""
        if is_set(term):
            return ", ".join(self.members(term, "A"))
        return self._body(term) + (", A = B" if check.kind == "irreflexive" else "")

    def _body(self, term: Expression) -> str:
        return ", ".join(self.pairs(unnamed(term), "A", "B"))

    # --- expressions as literals

    def pairs(self, expression: Expression, a: str, b: str) -> Literals:
        """Literals that hold when (a, b) is in a relation; they bind a and b."""
        if isinstance(expression, Name):
            told = _INLINE.get(expression.name, expression.name + "({a},{b})")
            return [told.format(a=a, b=b, x=self._fresh())]
        if isinstance(expression, Sequence):
            return self._sequence(expression, a, b)
        if isinstance(expression, Identity):
            return [*self.members(expression.of, a), f"{a} = {b}"]
        if isinstance(expression, Product):
            return [*self.members(expression.left, a), *self.members(expression.right, b)]
        if isinstance(expression, Intersection):
            return [*self.pairs(expression.left, a, b), *self.pairs(expression.right, a, b)]
        if isinstance(expression, Difference):
            return [*self.pairs(expression.left, a, b), f"not {self._relation(expression.right)}({a},{b})"]
        if isinstance(expression, Complement):
            return [f"event({a})", f"event({b})", f"not {self._relation(expression.of)}({a},{b})"]
        if isinstance(expression, Inverse):
            return self.pairs(expression.of, b, a)
        return [f"{self._relation(expression)}({a},{b})"]

    def _sequence(self, expression: Sequence, a: str, b: str) -> Literals:
        """A test [S] needs no step of its own."""
        left, right = expression.left, expression.right
        if isinstance(left, Identity):
            return [*self.members(left.of, a), *self.pairs(right, a, b)]
        if isinstance(right, Identity):
            return [*self.pairs(left, a, b), *self.members(right.of, b)]
        middle = self._fresh()
        return [*self.pairs(left, a, middle), *self.pairs(right, middle, b)]

    def members(self, expression: Expression, a: str) -> Literals:
        """Literals that hold when a is in a set; they bind a."""
        if isinstance(expression, Name):
            return [f"event({a})" if expression.name == "_" else f'in("{expression.name}",{a})']
        if isinstance(expression, Intersection):
            return [*self.members(expression.left, a), *self.members(expression.right, a)]
        if isinstance(expression, Difference):
            return [*self.members(expression.left, a), f"not {self._set(expression.right)}({a})"]
        if isinstance(expression, Complement):
            return [f"event({a})", f"not {self._set(expression.of)}({a})"]
        return [f"{self._set(expression)}({a})"]

    def _fresh(self) -> str:
        return f"X{next(self._numbers)}"

    # --- expressions as predicates

    def _relation(self, expression: Expression) -> str:
        return self._define(expression, self._relation_rules, 2)

    def _set(self, expression: Expression) -> str:
        return self._define(expression, self._set_rules, 1)

    def _define(self, expression: Expression, rules: Callable[[str, Expression], None], arity: int) -> str:
        if isinstance(expression, Variable):
            return self._variables[expression.name]
        if id(expression) not in self._made:
            name = self._made[id(expression)] = f"e{next(self._numbers)}"
            self._kept.append(expression)
            self.lines.append(f"#defined {name}/{arity}.")
            rules(name, expression)
        return self._made[id(expression)]

    def _relation_rules(self, name: str, expression: Expression) -> None:
        head = f"{name}(A,B)"
        if isinstance(expression, Fixpoint):
            self._rule(head, [f"{self._fixpoint(expression, 2)}(A,B)"])
        elif isinstance(expression, Plus | Star | Maybe):
            of = self._relation(expression.of)
            self._rule(head, [f"{of}(A,B)"])
            if not isinstance(expression, Maybe):
                self._rule(f"{name}(A,C)", [f"{name}(A,B)", f"{of}(B,C)"])
            if not isinstance(expression, Plus):
                self._rule(f"{name}(A,A)", ["event(A)"])
        elif isinstance(expression, Named):
            self._relation_rules(name, expression.of)
        elif isinstance(expression, Union):
            for part in (expression.left, expression.right):
                self._relation_rules(name, part) if isinstance(part, Union) else self._rule(
                    head, self.pairs(part, "A", "B"))
        elif not isinstance(expression, Nothing):
            self._rule(head, self.pairs(expression, "A", "B"))

    def _set_rules(self, name: str, expression: Expression) -> None:
        head = f"{name}(A)"
        if isinstance(expression, Fixpoint):
            self._rule(head, [f"{self._fixpoint(expression, 1)}(A)"])
        elif isinstance(expression, Domain):
            self._rule(head, self.pairs(expression.of, "A", "B"))
        elif isinstance(expression, Range):
            self._rule(head, self.pairs(expression.of, "B", "A"))
        elif isinstance(expression, Named):
            self._set_rules(name, expression.of)
        elif isinstance(expression, Union):
            for part in (expression.left, expression.right):
                self._set_rules(name, part) if isinstance(part, Union) else self._rule(head, self.members(part, "A"))
        elif not isinstance(expression, Nothing):
            self._rule(head, self.members(expression, "A"))

    def _fixpoint(self, expression: Fixpoint, arity: int) -> str:
        """The predicate of one of several that are defined together, all made at once."""
        key = id(expression.definitions)
        if key not in self._made:
            self._made[key] = ""
            self._kept.append(expression.definitions)
            for variable, _ in expression.definitions:
                self._variables[variable] = f"e{next(self._numbers)}"
                self.lines.append(f"#defined {self._variables[variable]}/{arity}.")
            for variable, definition in expression.definitions:
                (self._relation_rules if arity == 2 else self._set_rules)(self._variables[variable], definition)
        return self._variables[expression.name]

    def _rule(self, head: str, body: Literals) -> None:
        self.lines.append(f"{head} :- {', '.join(body)}.")


def is_set(expression: Expression) -> bool:
    """Of an expression whose sorts have been checked. The empty one passes for a relation."""
    if isinstance(expression, Name):
        return expression.name in SETS
    if isinstance(expression, Named | Complement):
        return is_set(expression.of)
    if isinstance(expression, Union | Intersection | Difference):
        return is_set(expression.left) or is_set(expression.right)
    if isinstance(expression, Fixpoint):
        return any(is_set(definition) for name, definition in expression.definitions if name == expression.name)
    return isinstance(expression, Domain | Range)
