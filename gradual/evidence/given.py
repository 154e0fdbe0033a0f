"""What a history knows besides its values must be kept by a run: the store order it tells, and real time."""

from __future__ import annotations

import numpy as np

from gradual.evidence.errors import require
from gradual.evidence.observed import Observed
from gradual.evidence.order import each_once
from gradual.evidence.verdict import Witness
from gradual.history import Column


def require_kept(observed: Observed, witness: Witness) -> None:
    """Raise unless a witness keeps all of it."""
    history = observed.history
    if history.order is not None:
        stores = (np.asarray(witness.order, dtype=np.int64) if witness.store_order is None else
                  np.array([write for writes in witness.store_order for write in writes], dtype=np.int64))
        _require_store_order(observed, stores[observed.storing[stores]])
    if history.real_time:
        require(witness.store_order is None, "real time asks for one order of all operations")
        _require_real_time(observed, each_once(witness.order, len(history)))


def _require_store_order(observed: Observed, stores: Column) -> None:
    """Location by location, no place is lower than one before it."""
    order, location = observed.history.order, observed.history.location
    assert order is not None
    stores = stores[order[stores] >= 0]
    stores = stores[np.argsort(location[stores], kind="stable")]
    lower = (np.diff(location[stores]) == 0) & (np.diff(order[stores]) < 0)
    require(not lower.any(), "the run does not keep the store order that the history tells")


def _require_real_time(observed: Observed, events: Column) -> None:
    """Nobody is earlier in the run than one that ended before it began."""
    history = observed.history
    if history.begin is None or history.end is None:
        return
    place = np.empty(len(events), dtype=np.int64)
    place[events] = np.arange(len(events))
    ended = np.flatnonzero((history.location >= 0) & (history.end >= 0))
    ended = ended[np.argsort(history.end[ended], kind="stable")]
    begun = np.flatnonzero((history.location >= 0) & (history.begin >= 0))
    latest = np.r_[-1, np.maximum.accumulate(place[ended])] if len(ended) else np.array([-1])
    before = latest[np.searchsorted(history.end[ended], history.begin[begun], side="left")]
    require(bool((before < place[begun]).all()), "the run does not keep real time")
