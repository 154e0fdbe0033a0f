"""The grammar of a model file, a subset of herd's cat:

    file  = [title] { let | check | include "f" | show … | with co from e | if "flag" … [else …] end }
    title = names and strings; comments (* *) nest, // and # go to the end of the line
    let   = "let" ["rec"] name ["(" args ")"] "=" e { "and" … }
    check = ("acyclic" | "irreflexive" | "empty" | "views") e ["as" name]        `flag` before it: report only
    e     = e|e  <  e;e  <  e\\e  <  e&e  <  e*e (product)  <  ~e  <  e+ e* e? e^-1
          | [e] | (e) | {} | 0 | _ | name | f(e,…) | let … in e | try e with e | if "flag" then e else e

`*` is a product when an operand follows, else a closure. All else of cat is refused by name. `views` is ours: cat has
no word for it (see `syntax.Check`).
"""

from __future__ import annotations

from typing import NamedTuple, NoReturn

from gradual.models.lexer import Token, tokens

CHECKS = ("acyclic", "irreflexive", "empty", "views")
REFUSED = {
    "match": "`match`", "fun": "`fun` (name the function with let)", "procedure": "`procedure`", "call": "`call`",
    "undefined_unless": "`undefined_unless`", "catdep": "`catdep`, dependencies computed by the model,",
    "enum": "`enum`", "instructions": "`instructions`", "default": "`default`", "forall": "`forall`",
    "assert": "`assert`", "++": "`++`, adding to a set of sets,", "||": "`||`", "->": "`->`", "'": "a tag",
}
"""What cat has and we have not, as an error calls it."""
KEYWORDS = frozenset({"let", "rec", "and", "in", "as", "include", "show", "unshow", "showall", "flag", "with", "from",
                      "try", "if", "then", "else", "end", *CHECKS, *(word for word in REFUSED if word.isidentifier())})
BINARY = ("|", ";", "\\", "&", "*")
"""From the loosest to the tightest."""
POSTFIX = ("+", "*", "?", "^-1")


class Term(NamedTuple):
    """An expression as it is written: an operator with its operands, or a name."""

    operator: str
    """One of BINARY; prefix ~, [] ; postfix with `postfix` before it; name, nothing, call, let, try, if."""
    at: Token
    operands: tuple[Term, ...] = ()
    bindings: tuple[Binding, ...] = ()
    """Of `let … in`."""
    recursive: bool = False


class Binding(NamedTuple):
    """`name = body`, or `name(parameters) = body`."""

    name: Token
    parameters: tuple[str, ...] | None
    body: Term
    words: str = ""
    """The comment that follows on the line where it ends: what people call it."""


class Let(NamedTuple):
    bindings: tuple[Binding, ...]
    recursive: bool


class CheckStatement(NamedTuple):
    kind: str
    expression: Term
    name: str | None


class Include(NamedTuple):
    name: Token


Statement = Let | CheckStatement | Include


class File(NamedTuple):
    names: tuple[str, ...]
    """The words of the title, and its strings."""
    strings: tuple[str, ...]
    comments: tuple[str, ...]
    """Those between the title and the first statement."""
    statements: tuple[Statement, ...]


def parse(text: str, file: str) -> File:
    """Raises ModelError."""
    return _Parser(text, file).file()


class _Parser:
    def __init__(self, text: str, name: str) -> None:
        self._all = tokens(text, name)
        self._tokens = [token for token in self._all if token.kind != "comment"]
        self._at = 0

    # --- tokens

    @property
    def here(self) -> Token:
        return self._tokens[self._at]

    def sees(self, *texts: str) -> bool:
        return self.here.kind in ("name", "symbol") and self.here.text in texts

    def next(self) -> Token:
        token = self.here
        self._at = min(self._at + 1, len(self._tokens) - 1)
        return token

    def take(self, *texts: str) -> Token | None:
        return self.next() if self.sees(*texts) else None

    def expect(self, text: str, where: str) -> Token:
        return self.take(text) or self.fail(f"expected `{text}` {where}")

    def name(self, what: str) -> Token:
        if self.here.kind != "name" or self.here.text in KEYWORDS:
            self.fail(f"expected {what}")
        return self.next()

    def string(self, what: str) -> Token:
        return self.next() if self.here.kind == "string" else self.fail(f"expected {what} in quotes")

    def refuse(self, what: str) -> NoReturn:
        raise self.here.error(f"{what} is not in the part of cat that is supported here")

    def fail(self, message: str) -> NoReturn:
        if self.here.text in REFUSED and self.here.kind in ("name", "symbol"):
            self.refuse(REFUSED[self.here.text])
        raise self.here.error(f"{message}, found {self.here}")

    # --- statements

    def file(self) -> File:
        names: list[str] = []
        strings: list[str] = []
        while self.here.kind == "string" or (self.here.kind == "name" and self.here.text not in KEYWORDS):
            (strings if self.here.kind == "string" else names).append(self.next().text)
        comments = self._comments_before(self.here)
        statements: list[Statement] = []
        while self.here.kind != "end":
            statements += self.statement()
        return File(tuple(names), tuple(strings), comments, tuple(statements))

    def _comments_before(self, token: Token) -> tuple[str, ...]:
        return tuple(other.text for other in self._all[:self._all.index(token)] if other.kind == "comment")

    def statement(self) -> list[Statement]:
        """What stands here; nothing for what only herd needs."""
        if self.sees("let"):
            return [self.let()]
        if self.sees(*CHECKS):
            return [self.check()]
        if self.take("include"):
            return [Include(self.string("the name of a file"))]
        if self.take("if"):
            return self.conditional()
        self.ignored()
        return []

    def ignored(self) -> None:
        if self.take("flag"):
            self.take("~")
            if not self.sees(*CHECKS):
                self.fail("expected acyclic, irreflexive or empty after flag")
            self.check()
        elif self.take("show", "unshow"):
            self.shown()
        elif self.take("showall"):
            pass
        elif self.take("with"):
            self.choice()
        elif self.sees("~"):
            self.refuse("a check that must fail (~)")
        else:
            self.fail("expected let, a check (acyclic, irreflexive, empty), include or show")

    def shown(self) -> None:
        while True:
            self.expression()
            if self.take("as"):
                self.name("a name")
            if not self.take(","):
                return

    def choice(self) -> None:
        """`with co from …`: the store order is chosen, as always."""
        if not self.sees("co"):
            self.refuse(f"`with {self.here.text}`, a choice of anything but co,")
        self.next()
        self.expect("from", "after with co")
        self.expression()

    def conditional(self) -> list[Statement]:
        """Every flag is off: what stands after `else`."""
        self.string("a flag")
        self.block()
        other = self.block() if self.take("else") else []
        self.expect("end", "after the statements of if")
        return other

    def block(self) -> list[Statement]:
        statements: list[Statement] = []
        while not self.sees("else", "end"):
            statements += self.statement()
        return statements

    def let(self) -> Let:
        self.expect("let", "here")
        recursive = self.take("rec") is not None
        bindings = [self.binding()]
        while self.take("and"):
            bindings.append(self.binding())
        return Let(tuple(bindings), recursive)

    def binding(self) -> Binding:
        name = self.name("a name to define")
        parameters = None if self.sees("=") else self.parameters()
        self.expect("=", f"after let {name.text}")
        body = self.expression()
        return Binding(name, parameters, body, self._comment_behind())

    def _comment_behind(self) -> str:
        last = self._tokens[self._at - 1]
        following = self._all[self._all.index(last) + 1]
        return following.text if following.kind == "comment" and following.line == last.line else ""

    def parameters(self) -> tuple[str, ...]:
        if not self.take("("):
            return (self.name("`=` or a parameter").text,)
        names = [self.name("a parameter").text]
        while self.take(","):
            names.append(self.name("a parameter").text)
        self.expect(")", "after the parameters")
        return tuple(names)

    def check(self) -> CheckStatement:
        kind = self.next().text
        expression = self.expression()
        return CheckStatement(kind, expression, self.name("a name").text if self.take("as") else None)

    # --- expressions

    def expression(self, level: int = 0) -> Term:
        """Operators of this level or tighter, grouped to the left."""
        if level == len(BINARY):
            return self.prefixed()
        left = self.expression(level + 1)
        while self.sees(BINARY[level]):
            at = self.next()
            left = Term(BINARY[level], at, (left, self.expression(level + 1)))
        return left

    def prefixed(self) -> Term:
        if at := self.take("~"):
            return Term("~", at, (self.prefixed(),))
        return self.postfixed()

    def postfixed(self) -> Term:
        term = self.atom()
        while self.sees(*POSTFIX) and not (self.sees("*") and self._operand_follows()):
            at = self.next()
            term = Term(f"postfix {at.text}", at, (term,))
        return term

    def _operand_follows(self) -> bool:
        token = self._tokens[self._at + 1]
        return self._starts_operand(token) or token.text in ("~", "try")

    @staticmethod
    def _starts_operand(token: Token) -> bool:
        if token.kind == "name":
            return token.text not in KEYWORDS
        return token.kind == "symbol" and token.text in ("(", "[", "{", "0")

    def atom(self) -> Term:
        at = self.here
        if self.take("0"):
            return Term("nothing", at)
        if self.take("{"):
            if not self.sees("}"):
                self.refuse("a set of listed elements")
            self.next()
            return Term("nothing", at)
        if self.take("["):
            return Term("[]", at, (self._inside("]"),))
        if self.take("("):
            return self._inside(")")
        if self.sees("let", "try", "if"):
            return self.long()
        return self.named(self.name("a set or relation"))

    def _inside(self, close: str) -> Term:
        inner = self.expression()
        self.expect(close, "after the expression")
        return inner

    def named(self, name: Token) -> Term:
        """A name, or a function with its arguments: f(e, …), f e."""
        if self.take("("):
            arguments = [self.expression()]
            while self.take(","):
                arguments.append(self.expression())
            self.expect(")", f"after the arguments of {name.text}")
            return Term("call", name, tuple(arguments))
        if self._starts_operand(self.here):
            return Term("call", name, (self.atom(),))
        return Term("name", name)

    def long(self) -> Term:
        """let … in, try … with, if … then … else: as far to the right as they go."""
        at = self.here
        if self.sees("let"):
            let = self.let()
            self.expect("in", "after let, inside an expression")
            return Term("let", at, (self.expression(),), let.bindings, let.recursive)
        if self.take("try"):
            first = self.expression()
            self.expect("with", "after try")
            return Term("try", at, (first, self.expression()))
        self.expect("if", "here")
        self.string("a flag")
        self.expect("then", "after if")
        first = self.expression()
        self.expect("else", "after then")
        return Term("if", at, (first, self.expression()))
