"""SC, TSO and PSO written twice: the predicate and the machine of the certificate against the texts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import chain, permutations, product
from random import Random

import numpy as np
import pytest
from random_histories import random_history
from relations import Execution
from test_text import FENCE_KINDS
from texts import FENCE as FENCES
from texts import PSO_PPO, SHIPPED, TSO_PPO

from gradual.evidence.errors import CertificateError
from gradual.evidence.events import Events, SomeOrder
from gradual.evidence.machine import preserved, replay
from gradual.evidence.observed import Observed
from gradual.evidence.text import Text
from gradual.evidence.verdict import Witness
from gradual.evidence.witnesses import check_witness
from gradual.history import FENCE, Builder, History
from gradual.models.syntax import Name, Union

STATIC = {"SC": Name("po"), "TSO": Union(TSO_PPO, FENCES), "PSO": Union(PSO_PPO, FENCES)}
ACCESSES = ("R", "W", "RMW")
OPERATIONS = (*ACCESSES, *FENCE_KINDS)


def thread(*operations: tuple[str | int, str]) -> History:
    """One thread: each operation a kind of access or fence, and a location."""
    builder = Builder("pattern", "")
    for value, (kind, at) in enumerate(operations, 1):
        if kind == "R":
            builder.read("0", at, 0)
        elif kind == "W":
            builder.write("0", at, value)
        elif kind == "RMW":
            builder.rmw("0", at, 0, value)
        else:
            builder.fence("0")
    kinds = [kind if isinstance(kind, int) else 0 for kind, _ in operations]
    return replace(builder.build(), fence=np.array(kinds, dtype=np.int8))


@pytest.mark.parametrize("model", SHIPPED)
def test_every_pattern_of_program_order(model: str) -> None:
    """Kind × kind × one location or two, with nothing or a fence of each kind between; accesses with two of them."""
    between = [(), *((kind,) for kind in FENCE_KINDS)]
    patterns = chain(product(OPERATIONS, OPERATIONS, "xy", between),
                     product(ACCESSES, ACCESSES, "xy", product(FENCE_KINDS, repeat=2)))
    kept = 0
    for first, then, at, fences in patterns:
        if isinstance(first, int) and isinstance(then, int) and model != "SC":
            continue  # what follows from two fences follows from what is around them
        history = thread((first, "x"), *((kind, "") for kind in fences), (then, at))
        observed = Observed(history)
        events = Events(observed)
        last = len(history) - 1
        wanted = Text(events, SomeOrder(events, ())).has(STATIC[model], 0, last)
        assert preserved(observed, model, 0, last) == wanted, (first, then, at, fences)
        kept += wanted
    assert kept


@pytest.mark.parametrize("model", SHIPPED)
def test_every_order_of_small_histories(model: str) -> None:
    """The machine, the evaluator and the sets of pairs accept the same ones."""
    rng = Random(21)
    accepted = 0
    for _ in range(60):
        history = random_history(rng, max_operations=5, min_operations=4, fence=0.3, rmw=0.15, max_locations=2)
        fence = [rng.choice(FENCE_KINDS) * (kind == FENCE) for kind in history.kind.tolist()]
        history = replace(history, fence=np.array(fence, dtype=np.int8))
        everything = list(permutations(range(len(history))))
        for order in rng.sample(everything, min(40, len(everything))):
            by_machine = _accepts(replay, history, model, order)
            by_text = _accepts(check_witness, Text(Events(Observed(history))), SHIPPED[model], Witness(order))
            assert by_machine == by_text == by_pairs(history, model, order), order
            accepted += by_machine
    assert accepted > 50


def _accepts(check: Callable[..., None], *evidence: object) -> bool:
    try:
        check(*evidence)
    except CertificateError:
        return False
    return True


def by_pairs(history: History, model: str, order: tuple[int, ...]) -> bool:
    stores = {at: tuple(e for e in order if history.location[e] == at and history.kind[e] in (1, 2))
              for at in range(len(history.locations))}
    execution = Execution(history, stores)
    place = {**dict.fromkeys(execution.events, -1), **{e: at for at, e in enumerate(order)}}
    coherence, everywhere = SHIPPED[model].checks
    values = {at: history.written[stores[at][-1]] if stores[at] else history.initial[at] for at in stores}
    return (len(execution.relations["rf"]) == len(execution.sets["R"]) and execution.satisfies(coherence)
            and all(place[a] < place[b] for a, b in execution.pairs(everywhere.expression))
            and all(values[at] == history.final_value[at] for at in stores if history.final_line[at] >= 0))
