"""SC, TSO and PSO a second time, written from the manuals: a machine, and the program order each preserves.

The machine is a memory, with a store buffer per thread (TSO) or per thread and location (PSO) before it. A fence
orders what its kind names: every p before it comes before every s after it. What a run does is in `kernels.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from gradual.compiler import compiled, paid
from gradual.compiler.records import column, get, put, rows
from gradual.compiler.waiting import in_time
from gradual.deadline import NEVER, Deadline
from gradual.evidence import kernels
from gradual.evidence.errors import CertificateError, require
from gradual.evidence.kernels import RR, RW, WR, WW, is_plain
from gradual.evidence.observed import FENCE, FULL, OPEN, Observed
from gradual.evidence.order import each_once
from gradual.evidence.verdict import Origin
from gradual.history import Column, History

MACHINES = {"SC": 0, "TSO": 1, "PSO": 2}
"""The models that have a machine, and its store buffers: none, one per thread, one per thread and location."""


# --- program order


def preserved(observed: Observed, model: str, a: int, b: int) -> bool:
    """Does `model` keep a before b, given that a is before b in program order?

    A pair is dropped only if every reading of it is: an rmw reads and writes.
    """
    if model == "SC":
        return True
    if FENCE in (observed.kind[a], observed.kind[b]):
        return _fence_keeps(observed, a, b)
    if observed.reads(a):
        return True
    if observed.writes(b) and (model == "TSO" or observed.location[a] == observed.location[b]):
        return True
    between = observed.fences[a + 1:b][observed.history.thread[a + 1:b] == observed.history.thread[a]]
    kept = WW * int(observed.writes(b)) | WR * int(observed.reads(b))
    return any(fence & kept and not is_plain(fence) for fence in between.tolist())


def _fence_keeps(observed: Observed, a: int, b: int) -> bool:
    before, after = (int(observed.fences[operation]) for operation in (a, b))
    if before and after:
        return before == after == FULL
    fence, access = (after, a) if after else (before, b)
    reads, writes = ((RR | RW, WR | WW) if after else (RR | WR, RW | WW))
    ordered = reads * int(observed.reads(access)) | writes * int(observed.writes(access))
    return is_plain(fence) and bool(fence & ordered)


# --- runs


def replay(history: History, model: str, order: Sequence[int] | Column, origins: Sequence[Origin] = (),
           deadline: Deadline = NEVER) -> None:
    """Run the operations in `order` and compare every value read, and the values left at the end; and, where `origins`
    name it, the write that was read."""
    events = each_once(order, len(history))
    observed = Observed(history, origins)
    ran = _run(observed, MACHINES[model], events, deadline)
    _require_steps(observed, events, ran)
    for reader, write in observed.named:
        require(get(ran.turn[reader], "saw") == write, f"the machine reads another write: {history.describe(reader)}")
    if history.pair is not None:
        require_atomicity(observed, events)
    demanded = np.flatnonzero(history.final_line >= 0).tolist()
    for location in demanded:
        last = get(ran.home[location], "stored")
        left = history.written[last] if last >= 0 else history.initial[location]
        require(bool(left == history.final_value[location]), "the memory is left with other values")


def require_fences(observed: Observed, events: Column) -> None:
    """Raise unless each fence is kept in an order of all events, whatever else is wrong with it."""
    _require_steps(observed, events, _run(observed, kernels.FENCES_ALONE, events, NEVER))


def _require_steps(observed: Observed, events: Column, ran: kernels.Machine) -> None:
    for what, why in (("impossible", "the machine cannot do this"), ("unkept", "a fence is not kept")):
        if (step := get(ran.now[0], what)) < len(events):
            raise CertificateError(f"{why}, at step {step}: {observed.history.describe(int(events[step]))}")


def _run(observed: Observed, buffers: int, events: Column, deadline: Deadline) -> kernels.Machine:
    """The machine with such buffers, after a run."""
    plain = not paid(len(events))
    machine = _machine(len(events), len(observed.history.threads), len(observed.history.locations), plain)
    put(machine.now[0], buffers=buffers)
    run = kernels.run if plain else in_time(load, deadline)
    run(_trace(observed, events, plain), machine)
    return machine


def _trace(observed: Observed, events: Column, plain: bool) -> kernels.Trace:
    history = observed.history
    columns = {"kind": history.kind, "thread": history.thread.astype(np.int32, copy=False),
               "location": history.location.astype(np.int32, copy=False), "read": history.read,
               "written": history.written, "fence": observed.fences.astype(np.uint8), "initial": history.initial,
               "step": events}
    return kernels.Trace(**{name: column(name, numbers, plain) for name, numbers in columns.items()})


def _machine(operations: int, threads: int, locations: int, plain: bool) -> kernels.Machine:
    lengths = {"turn": operations, "thread_end": threads + 1, "home": locations, "now": 1}
    return kernels.Machine(**{name: rows(name, length, plain, kernels.FIELDS) for name, length in lengths.items()})


@cache
def load() -> Callable[..., int]:
    """The compiled kernel."""
    nothing = np.zeros(0, dtype=np.int64)
    kinds = {"kind": np.uint8, "thread": np.int32, "location": np.int32, "fence": np.uint8}
    trace = kernels.Trace(*(column(name, nothing.astype(kinds.get(name, np.int64)), False)
                            for name in kernels.Trace._fields))
    return compiled("run", (kernels,), {"Trace": trace, "Machine": _machine(0, 0, 0, False)})


def require_atomicity(observed: Observed, events: Column) -> None:
    """Between what a load-reserved read and its store-conditional nobody else stores to the location."""
    history = observed.history
    assert history.pair is not None
    load, store = history.pair.T.astype(np.int64)
    stores = events[observed.storing[events]]
    stores = stores[np.argsort(history.location[stores], kind="stable")]
    number = np.full(len(history), -1)
    number[stores] = np.arange(len(stores))
    first = np.searchsorted(history.location[stores], history.location[load])
    source = observed.sources[load]
    require(bool((source != OPEN).all()), "the run does not say which of several writes a load-reserved read")
    low = np.where(source >= 0, number[source], first - 1)
    own_part = history.thread[stores].astype(np.int64) * (len(stores) + 2)
    own = np.sort(own_part + number[stores])
    mine = history.thread[load].astype(np.int64) * (len(stores) + 2)
    others = (number[store] - low - 1) - (np.searchsorted(own, mine + number[store])
                                          - np.searchsorted(own, mine + low, side="right"))
    wrong = (number[store] > low) & (others > 0)
    require(not wrong.any(), "another thread's store comes between a load-reserved and its store-conditional: "
                             f"{history.describe(int(store[wrong][0])) if wrong.any() else ''}")
