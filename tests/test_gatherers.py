"""Gatherers: whatever is taken apart or shared, operations come after the same ones."""

from __future__ import annotations

import pytest

from gradual.deciding.engine.gatherers import ALONG, Members, _all_there_are, gatherers
from gradual.models import load, shipped
from gradual.models.fit import General, fit
from gradual.models.regular import Transition
from gradual.models.sets import members, of_lists
from gradual.models.syntax import Expression, Name

Related = set[tuple[int, int, object, int, object]]


def kinds(test: Expression) -> list[object]:
    """The kinds of operations in a set; a set that names do not tell for itself."""
    return [test] if of_lists(test) else members(_all_there_are(), test).nonzero()[0].tolist()


def related(along: int, before: Members, after: Members) -> Related:
    return {(along, before.state, one, after.state, other) for one in kinds(before.set) for other in kinds(after.set)}


def asked(transitions: tuple[Transition, ...]) -> Related:
    return {pair for t in transitions if t.step.relation in ALONG
            for pair in related(ALONG[t.step.relation], Members(t.start, t.before), Members(t.end, t.after))}


@pytest.mark.parametrize("name", shipped())
def test_the_same_pairs(name: str) -> None:
    try:
        transitions = fit(load(name)).transitions
    except General:
        pytest.skip("judged in general, not by the engine")
    drawn = {pair for gatherer in gatherers(transitions) for before in gatherer.gathered
             for after in gatherer.targets for pair in related(gatherer.along, before, after)}
    assert drawn == asked(transitions)


def test_a_set_made_of_others_is_taken_apart() -> None:
    """RVWMO speaks of M, R and W: nothing is gathered or drawn to as M where R and W are there."""
    found = [gatherer for gatherer in gatherers(fit(load("rvwmo")).transitions) if gatherer.along == ALONG["po"]]
    assert Name("M") not in {some.set for gatherer in found for some in (*gatherer.gathered, *gatherer.targets)
                             if some.state == 0}
    assert [[some.set for some in gatherer.gathered if some.state == 0].count(Name("R")) for gatherer in found].count(
        1) == 1
