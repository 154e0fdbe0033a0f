"""What a model file says: its checks, with every name replaced by what it stands for.

Definitions are inlined, functions too; what a `let` names stays visible as a `Named` node. As in cat, a definition sees
those before it, and a later one of the same name hides it from what follows. Sets and relations are told apart, and
mixing them is an error that names the place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from fnmatch import fnmatch
from pathlib import Path
from typing import Literal, NamedTuple

from gradual.models import syntax
from gradual.models.lexer import ModelError, Token
from gradual.models.parser import Binding, CheckStatement, File, Include, Let, Statement, Term, parse
from gradual.models.syntax import Check, Expression, Fixpoint, Name, Named, Nothing, Variable

Sort = Literal["set", "relation", "either"]
"""`either`: the empty one, and what a recursive definition does not tell yet."""

FOLDER = Path(__file__).parent
PRELUDE = FOLDER / "prelude.cat"
BUILT_IN = ("stdlib.cat", "cross.cat", "cos*.cat", "*fences.cat")
"""Files of herd's that are not read: the prelude has their names, and the store order is always chosen."""


class UnknownName(ModelError):
    """The one error that `try … with` catches."""


class Value(NamedTuple):
    expression: Expression
    sort: Sort


class Function(NamedTuple):
    parameters: tuple[str, ...]
    body: Term
    scope: Scope


Scope = dict[str, "Value | Function"]

_SAME: dict[str, Callable[[Expression, Expression], Expression]] = {
    "|": syntax.Union, "&": syntax.Intersection, "\\": syntax.Difference}
_OF_RELATION: dict[str, Callable[[Expression], Expression]] = {
    "postfix +": syntax.Plus, "postfix *": syntax.Star, "postfix ?": syntax.Maybe, "postfix ^-1": syntax.Inverse}
_SETS_FROM: dict[str, Callable[[Expression], Expression]] = {"domain": syntax.Domain, "range": syntax.Range}


def core() -> Scope:
    """The names that every reader of a model knows."""
    return {**{name: Value(Name(name), "set") for name in syntax.SETS},
            **{name: Value(Name(name), "relation") for name in syntax.RELATIONS}}


@dataclass
class Reading:
    """A model file being read: what is defined so far, and the checks."""

    scope: Scope
    checks: list[Check] = field(default_factory=list)
    _open: list[Path] = field(default_factory=list)
    """The files that include this place."""
    _recursive: set[str] = field(default_factory=set)

    def file(self, path: Path, parsed: File) -> None:
        self._open.append(path)
        for statement in parsed.statements:
            self._statement(statement)
        self._open.pop()

    def _statement(self, statement: Statement) -> None:
        if isinstance(statement, Include):
            self._include(statement.name)
        elif isinstance(statement, Let):
            self._define(statement.bindings, statement.recursive, self.scope)
        else:
            self._check(statement)

    def _include(self, name: Token) -> None:
        if any(fnmatch(name.text, pattern) for pattern in BUILT_IN):
            return
        beside = self._open[-1].parent / name.text
        path = beside if beside.is_file() else FOLDER / name.text
        if path.resolve() in [other.resolve() for other in self._open]:
            raise name.error(f'"{name.text}" includes itself')
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            raise name.error(f'cannot read "{name.text}"; it should stand beside this file') from None
        self.file(path, parse(text, str(path)))

    def _check(self, statement: CheckStatement) -> None:
        value = self.value(statement.expression, self.scope)
        if statement.kind != "empty":
            _demand(value, "relation", statement.expression.at, f"{statement.kind} is said of relations")
        if statement.kind == "views" and not _beforehand(value.expression):
            raise statement.expression.at.error("views is said of what is known before anything is read, and this "
                                                "speaks of rf or co")
        name = statement.name or f"{statement.kind} {len(self.checks) + 1}"
        self.checks.append(Check(statement.kind, value.expression, name))

    # --- definitions

    def _define(self, bindings: tuple[Binding, ...], recursive: bool, scope: Scope) -> None:
        """Put the names into the scope; those of one `let … and …` do not see each other unless it is recursive."""
        if recursive:
            scope.update(self._fixpoint(bindings, scope))
            return
        before = dict(scope)
        for binding in bindings:
            scope[binding.name.text] = (
                _named(binding, self.value(binding.body, before)) if binding.parameters is None
                else Function(binding.parameters, binding.body, before))

    def _fixpoint(self, bindings: tuple[Binding, ...], scope: Scope) -> Scope:
        for binding in bindings:
            if binding.parameters is not None:
                raise binding.name.error("a recursive function is not in the part of cat that is supported here")
        variables = {binding.name.text: self._variable(binding.name.text) for binding in bindings}
        inside = {**scope, **{name: Value(variable, "either") for name, variable in variables.items()}}
        values = {binding.name.text: self.value(binding.body, inside) for binding in bindings}
        for binding in bindings:
            if used := set(_negated(values[binding.name.text].expression)) & set(variables.values()):
                raise binding.name.error(f"{binding.name.text} takes {min(v.name for v in used)} away from something "
                                         "(\\ or ~) while it is being defined: that defines nothing")
        definitions = tuple((variables[name].name, value.expression) for name, value in values.items())
        sorts: dict[str, Sort] = {name: "set" if value.sort == "set" else "relation" for name, value in values.items()}
        return {name: _named(binding, Value(Fixpoint(variables[name].name, definitions), sorts[name]))
                for binding in bindings for name in [binding.name.text]}

    def _variable(self, name: str) -> Variable:
        """One of a name of its own, so that no definition catches another's."""
        while name in self._recursive:
            name += "'"
        self._recursive.add(name)
        return Variable(name)

    # --- expressions

    def value(self, term: Term, scope: Scope) -> Value:
        """Raises ModelError, UnknownName among them."""
        if term.operator == "name":
            return self._name(term.at, scope)
        if term.operator == "call":
            return self._call(term, scope)
        if term.operator == "let":
            inner = dict(scope)
            self._define(term.bindings, term.recursive, inner)
            return self.value(term.operands[0], inner)
        if term.operator == "try":
            try:
                return self.value(term.operands[0], scope)
            except UnknownName:
                return self.value(term.operands[1], scope)
        if term.operator == "if":  # every flag is off
            return self.value(term.operands[1], scope)
        return _applied(term, [self.value(operand, scope) for operand in term.operands])

    def _name(self, at: Token, scope: Scope) -> Value:
        found = scope.get(at.text)
        if found is None:
            raise _unknown(at, scope)
        if isinstance(found, Function):
            raise at.error(f"{at.text} is a function: write {at.text}({', '.join(found.parameters)})")
        return found

    def _call(self, term: Term, scope: Scope) -> Value:
        at, function = term.at, scope.get(term.at.text)
        arguments = [self.value(operand, scope) for operand in term.operands]
        if function is None and at.text in _SETS_FROM and len(arguments) == 1:
            _demand(arguments[0], "relation", at, f"{at.text} is taken of relations")
            inner = arguments[0].expression
            return Value(inner if inner == Nothing() else _SETS_FROM[at.text](inner), "set")
        if function is None:
            raise _unknown(at, scope)
        if isinstance(function, Value):
            raise at.error(f"{at.text} is a {function.sort}, not a function: is an operator missing after it?")
        if len(arguments) != len(function.parameters):
            raise at.error(f"{at.text} takes {len(function.parameters)} arguments "
                           f"({', '.join(function.parameters)}), not {len(arguments)}")
        inside = {**function.scope, **dict(zip(function.parameters, arguments, strict=True))}
        try:
            return self.value(function.body, inside)
        except ModelError as error:
            raise type(error)(f"in {at.text}: {error.message}", at.file, at.line, at.column) from None


def _applied(term: Term, values: list[Value]) -> Value:
    """An operator on what its operands stand for."""
    operator, at = term.operator, term.at
    expressions = [value.expression for value in values]
    if operator == "nothing":
        return Value(Nothing(), "either")
    if operator in _SAME:
        sort = _common(values[0], values[1], at)
        return Value(_simple(_SAME[operator](*expressions)), sort)
    if operator == "~":
        return Value(syntax.Complement(expressions[0]), values[0].sort)
    wanted: Sort = "set" if operator in ("*", "[]") else "relation"
    for value in values:
        _demand(value, wanted, at, f"`{operator.removeprefix('postfix ')}` is for {wanted}s")
    if operator == ";":
        return Value(_sequence(*expressions), "relation")
    if operator == "*":
        return Value(syntax.Product(*expressions), "relation")
    if operator == "[]":
        return Value(syntax.Identity(expressions[0]), "relation")
    return Value(_OF_RELATION[operator](expressions[0]), "relation")


def _demand(value: Value, sort: Sort, at: Token, why: str) -> None:
    if value.sort not in (sort, "either"):
        raise at.error(f"{why}, and this is a {value.sort}" + (
            ": write [S] for the identity on a set S" if value.sort == "set" else ""))


def _common(left: Value, right: Value, at: Token) -> Sort:
    if "either" in (left.sort, right.sort):
        return right.sort if left.sort == "either" else left.sort
    if left.sort != right.sort:
        raise at.error(f"`{at.text}` is between two sets or two relations, and this is a {left.sort} and a "
                       f"{right.sort}")
    return left.sort


def _unknown(at: Token, scope: Scope) -> UnknownName:
    near = get_close_matches(at.text, scope, n=3)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    return UnknownName(f"nothing is called {at.text}{hint}", at.file, at.line, at.column)


def _named(binding: Binding, value: Value) -> Value:
    """A second name for something named is no news, unless it comes with words."""
    plain = isinstance(value.expression, Nothing | Variable) or (
        isinstance(value.expression, Name) and not binding.words)
    return value if plain else Value(Named(binding.name.text, value.expression, binding.words), value.sort)


# --- the same, said shorter


def unnamed(expression: Expression) -> Expression:
    """What the names around an expression stand for."""
    while isinstance(expression, Named):
        expression = expression.of
    return expression


_BACK, _CO, _FR, _ID = syntax.Inverse(Name("rf")), Name("co"), Name("fr"), Name("id")


def _is_back(expression: Expression) -> bool:
    inner = unnamed(expression)
    return isinstance(inner, syntax.Inverse) and unnamed(inner.of) == _BACK.of


def _sequence(left: Expression, right: Expression) -> Expression:
    """left;right. Where a file writes fr out as rf^-1;co it means fr, which no rmw has with itself."""
    if Nothing() in (left, right):
        return Nothing()
    if right == _ID or left == _ID:
        return left if right == _ID else right
    if unnamed(right) == _CO:
        if _is_back(left):
            return _FR
        if isinstance(left, syntax.Sequence) and _is_back(left.right):
            return syntax.Sequence(left.left, _FR)
    return syntax.Sequence(left, right)


def _simple(expression: Expression) -> Expression:
    """A union without its empty parts; fr without what it has not."""
    if isinstance(expression, syntax.Union) and Nothing() in (expression.left, expression.right):
        return expression.right if expression.left == Nothing() else expression.left
    if isinstance(expression, syntax.Difference) and unnamed(expression.left) == _FR and expression.right == _ID:
        return expression.left
    return expression


def parts(expression: Expression) -> Iterator[Expression]:
    """The expressions of which this one is made."""
    if isinstance(expression, Fixpoint):
        yield from (definition for _, definition in expression.definitions)
        return
    yield from (part for part in vars(expression).values() if isinstance(part, Expression))


def _beforehand(expression: Expression) -> bool:
    """Is it known of a program, whatever is read?"""
    if isinstance(expression, Name):
        return expression.name not in syntax.CO and not expression.name.startswith("rf")
    return all(map(_beforehand, parts(expression)))


def _negated(expression: Expression, negative: bool = False) -> Iterator[Variable]:
    """The variables under an odd number of complements."""
    if isinstance(expression, Variable):
        if negative:
            yield expression
        return
    for part in parts(expression):
        flips = isinstance(expression, syntax.Complement) or (
            isinstance(expression, syntax.Difference) and part is expression.right)
        yield from _negated(part, negative != flips)
