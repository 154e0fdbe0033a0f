"""Checks a witness by the text of its model: with the store order it gives, every check holds.

An acyclic one is shown by an order in which all its pairs go forward: the witness itself, the order that the witness
has for it, or, for what speaks of single locations, the one that follows from the store order.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradual.evidence.axioms import ModelText, everywhere
from gradual.evidence.errors import require
from gradual.evidence.events import Events, StoreOrder
from gradual.evidence.observed import Observed
from gradual.evidence.order import each_once
from gradual.evidence.sorting import in_order
from gradual.evidence.text import Text
from gradual.evidence.verdict import Witness
from gradual.history import THIN_AIR, Column
from gradual.models.syntax import Check

SMALL = 2_000
"""Events up to which an axiom that no order explains is looked at as a whole."""


def check_witness(text: Text, model: ModelText, witness: Witness) -> None:
    events = text.events
    observed = events.observed
    require(not (observed.loading & (observed.sources == THIN_AIR)).any(), "somebody read what nobody wrote")
    require(not observed.leaves_open, "the witness does not say which of several writes was read")
    stores = text.stores = StoreOrder(events, _store_order(observed, witness))
    _require_final_values(observed, stores)
    acyclic = [check for check in model.checks if check.kind == "acyclic"]
    if witness.store_order is not None:
        require(len(witness.orders) == len(acyclic), "a store order needs an order of the operations per acyclic axiom")
        given = {check.name: [_places(order, events)] for check, order in zip(acyclic, witness.orders, strict=True)}
    else:
        require(not witness.orders, "an order of all operations needs no others")
        whole = _places(witness.order, events)
        alone = everywhere(model) if observed.history.real_time else {"global"}
        given = {check.name: [whole] if check.name in alone else [_by_location(events, stores), whole]
                 for check in acyclic}
    for check in model.checks:
        _require_holds(check, text, given.get(check.name, []), events.count)


def _require_holds(check: Check, text: Text, orders: list[Column], count: int) -> None:
    complaint = f"{check.name} does not hold"
    if check.kind == "empty":
        require(text.is_empty(check.expression), complaint)
    elif check.kind == "irreflexive":
        require(text.is_irreflexive(check.expression), complaint)
    elif not any(text.goes_forward(check.expression, place) for place in orders):
        require(len(orders) > 1 and count <= SMALL and text.is_acyclic(check.expression), complaint)


def _store_order(observed: Observed, witness: Witness) -> Column:
    """The writes, those of one location in their order."""
    storing = np.flatnonzero(observed.storing)
    if witness.store_order is None:
        order = each_once(witness.order, len(observed.history))
        return order[observed.storing[order]]
    require(len(witness.order) == 0, "a witness is an order of all operations, or a store order with its own")
    require(len(witness.store_order) == len(observed.history.locations), "a store order has a part per location")
    order = np.array([write for writes in witness.store_order for write in writes], dtype=np.int64)
    place = np.repeat(np.arange(len(witness.store_order)), [len(writes) for writes in witness.store_order])
    require(np.array_equal(np.sort(order), storing) and np.array_equal(observed.history.location[order], place),
            "a store order must hold every write once, at its location")
    return order


def _require_final_values(observed: Observed, stores: StoreOrder) -> None:
    history = observed.history
    if (history.final_line < 0).all():
        return
    last = history.initial.copy()
    storing = np.flatnonzero(observed.storing)
    storing = storing[np.argsort(stores.place[storing])]
    last[history.location[storing]] = history.written[storing]
    demanded = history.final_line >= 0
    require(np.array_equal(last[demanded], history.final_value[demanded]), "the memory is left with other values")


def _numbers(events: Events) -> Column:
    """Room for a place per event, no wider than it must be: less memory is read and written."""
    return np.empty(events.count, dtype=np.int32 if events.count <= np.iinfo(np.int32).max else np.int64)


def _places(order: Sequence[int], events: Events) -> Column:
    """Where each event stands: the initial writes first."""
    place = _numbers(events)
    initial = events.count - events.operations
    place[events.initial] = np.arange(initial)
    place[each_once(order, events.operations)] = np.arange(initial, events.count)
    return place


def _by_location(events: Events, stores: StoreOrder) -> Column:
    """Location by location, each write in the store order with its reads behind it, in program order."""
    writes = stores.place >= 0
    seen = np.where(writes, stores.place, np.where(events.source >= 0, stores.place[events.source], -1))
    place = _numbers(events)
    place[in_order(2 * (seen + 1) + ~writes)] = np.arange(events.count)
    return place
