"""The table of several models as a page for the browser: each test with its program and picture, and who allows it."""

from __future__ import annotations

from string import Template

from gradual.contrast.litmus import name, program
from gradual.contrast.search import Difference
from gradual.contrast.sides import ByMachine, Side
from gradual.contrast.space import size
from gradual.contrast.subject import Subject
from gradual.contrast.table import Table
from gradual.contrast.telling import Told
from gradual.machines.code import Outcome, Threads
from gradual.programs.forbidden import explain
from gradual.telling import shortened, svg
from gradual.telling.markup import Html, asset, block, element, escaped, facts, joined, row, section, table


def page(found: Table) -> str:
    """The whole page; it loads nothing."""
    style = asset("gradual.telling", "style.css") + asset("gradual.telling", "why.css")
    tests = found.tests()
    names = _names(list(tests))
    heads = ["allowed by \\ forbidden by", *(side.name for side in found.sides)]
    rows = (row([of.name, *(_cell(found, names, of, column) for column in found.sides)]) for of in found.sides)
    order = [f"{a.name} = {b.name}" for a, b in found.equals()] + [f"{a.name} ⊂ {b.name}" for a, b in found.covers()]
    content = joined([
        section("table", "The first test that tells them apart", table(
            f"⊂: none up to {found.finished} instructions.", heads, rows)),
        section("order", "Who includes whom", element("p", ", ".join(order) or "nobody includes anybody")),
        *(_test(found, names[test], *test, differences) for test, differences in tests.items())])
    about = facts([("programs looked at", str(found.programs)), ("instructions", f"up to {found.finished}")])
    title = "Memory models: " + ", ".join(side.name for side in found.sides)
    return Template(asset("gradual.telling", "page.html")).substitute(
        title=escaped(title), style=style, about=about, content=content)


def _names(tests: list[tuple[Threads, Outcome]]) -> dict[tuple[Threads, Outcome], str]:
    """What each is called; tests of one name are numbered."""
    called = [name(threads) for threads, _ in tests]
    return {test: called[at] if called.count(called[at]) == 1 else f"{called[at]} ({called[:at].count(called[at]) + 1})"
            for at, test in enumerate(tests)}


def _cell(found: Table, names: dict[tuple[Threads, Outcome], str], of: Side, column: Side) -> Html:
    if of is column:
        return Html("")
    difference = found.first.get((of.name, column.name))
    if difference is None:
        return Html("⊂")
    called = names[difference.threads, difference.outcome]
    return element("a", called, href=f"#{_anchor(called)}")


def _anchor(called: str) -> str:
    return "test-" + "".join(letter if letter.isalnum() else "-" for letter in called)


def _test(found: Table, called: str, threads: Threads, outcome: Outcome, differences: list[Difference]) -> Html:
    subject = Subject(threads)
    packed = subject.code.packed(outcome)
    allowing = [side.name for side in found.sides if packed in side.packed(subject)]
    counted, used, fences = size(threads)
    about = facts([("program", f"{differences[0].program}, outcome {' '.join(map(str, outcome))}"),
                   ("size", f"{counted} instructions, {used} threads, {fences} fences"),
                   ("allowed by", ", ".join(allowing) or "none"),
                   ("forbidden by", ", ".join(side.name for side in found.sides if side.name not in allowing))])
    told = Told(differences[0])
    how = "\n".join([f"How {differences[0].allowed_by.name} reaches it:", *told.how()])
    return section(_anchor(called), called, about, element("pre", block(told.litmus)),
                   *_picture(threads, outcome, differences), element("pre", block(how)))


def _picture(threads: Threads, outcome: Outcome, differences: list[Difference]) -> list[Html]:
    """The cycle, under the first model that forbids it and of which there are pictures; else in words."""
    test = program(threads, outcome)
    assert test.condition is not None
    for difference in differences:
        side = difference.forbidden_by
        if isinstance(side, ByMachine):
            continue
        _, violation = explain(test, side.model, test.condition.proposition)
        if violation is not None:
            verdict, history = violation
            drawn = svg(shortened(verdict, history, side.model), history, side.model)
            return [element("p", f"Why {side.name} forbids it:"), element("div", Html(drawn), class_="picture")]
    why = "\n".join([f"Why {differences[0].forbidden_by.name} forbids it:", *Told(differences[0]).why()])
    return [element("pre", block(why))]
