"""The journal as tables: how the peers compare at a glance, then every cell."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Sequence

from experiments.bench.journal import Journal
from experiments.bench.workloads import KINDS, MODELS, ORDERS, Workload
from experiments.markdown import NOTHING, number, table

REFERENCE = "this"
TIMES = ("seconds", "cpu")
UNITS = {"seconds": "s", "cpu": "CPU s", "peak_mb": "MB", "conflicts": "conflicts"}


def report(journal: Journal, peers: Sequence[str], workloads: Sequence[Workload]) -> Iterator[str]:
    if others := [peer for peer in peers if peer != REFERENCE]:
        yield from _summary(journal, others, workloads)
    for model in MODELS:
        for kind in KINDS:
            some = [workload for workload in workloads if (workload.model, workload.kind) == (model, kind)]
            some.sort(key=lambda w: (ORDERS.index(w.order), w.threads, w.locations, w.operations))
            yield from ("", f"## {model.upper()}, {kind}", "")
            yield from _cells(journal, peers, some)


def disagreements(journal: Journal, workloads: Iterable[Workload]) -> Iterator[str]:
    """Verdicts that differ, or that are not the ones the machine calls for."""
    for workload in workloads:
        said = journal.verdicts(workload)
        wanted = "violation" if workload.kind == "broken" else "consistent"
        if wrong := {peer: verdict for peer, verdict in said.items() if verdict != wanted}:
            yield f"{' '.join(map(str, workload))}: {wanted} expected, {wrong}"


def _summary(journal: Journal, others: Sequence[str], workloads: Sequence[Workload]) -> Iterator[str]:
    yield from ("## How many times the CPU seconds of this checkout", "",
                "Geometric mean over the cells that both decided (lowest to highest; number of cells); then the cells "
                "that only this one, and only the other one, decided.", "")
    rows = []
    for kind in KINDS:
        for order in ORDERS:
            for operations in sorted({workload.operations for workload in workloads}):
                some = [w for w in workloads if (w.kind, w.order, w.operations) == (kind, order, operations)]
                rows.append([kind, order, number(operations),
                             *(cell for other in others for cell in _against(journal, other, some))])
    columns = [column for other in others for column in (other, "only this", f"only {other}")]
    yield from table(["verdict", "order", "operations", *columns], rows, 2)


def _against(journal: Journal, other: str, workloads: Sequence[Workload]) -> list[str]:
    times = [(journal.median(REFERENCE, w, "cpu"), journal.median(other, w, "cpu")) for w in workloads]
    ratios = [theirs / ours for ours, theirs in times if ours and theirs]
    alone = [sum(bool(ours) and not theirs for ours, theirs in times),
             sum(bool(theirs) and not ours for ours, theirs in times)]
    if not ratios:
        return [NOTHING, *map(str, alone)]
    mean, low, high = map(number, (statistics.geometric_mean(ratios), min(ratios), max(ratios)))
    return [f"{mean} ({low} to {high}; {len(ratios)})", *map(str, alone)]


def _cells(journal: Journal, peers: Sequence[str], workloads: Sequence[Workload]) -> list[str]:
    columns = [(peer, name) for peer in peers for name in UNITS
               if name != "conflicts" or _counts(journal, peer, workloads)]
    rows = [[w.order, number(w.operations), str(w.threads), str(w.locations),
             *(_cell(journal, peer, w, name) for peer, name in columns)] for w in workloads]
    return table(["order", "operations", "threads", "locations", *(f"{peer}, {UNITS[name]}" for peer, name in columns)],
                 rows, 1)


def _counts(journal: Journal, peer: str, workloads: Iterable[Workload]) -> bool:
    """Whether the peer says how many conflicts there were."""
    return any(journal.median(peer, workload, "conflicts") is not None for workload in workloads)


def _cell(journal: Journal, peer: str, workload: Workload, name: str) -> str:
    value = journal.median(peer, workload, name)
    if value is None:
        return (name == "seconds" and journal.failure(peer, workload)) or NOTHING
    return number(value if name in TIMES else round(value))
