"""How many pairs of writes each store order leaves open, and which criterion sees a violation first.

    python -m experiments.paper.percentages [--quick] [--source machine gem5 rtl]

The paper: 6.6 % unordered with CCM, 57.75 % with CCv, 200 histories of 200 operations. It does not say which pairs were
counted, what counts as ordered, nor what the clients were like: so every reading is measured, on many clients.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pandas as pd

from experiments.paper import criteria
from experiments.paper.measure import LADDER, ORDERS, Options, Task, tasks
from experiments.paper.orders import PAIRS, READINGS, column
from experiments.paper.sources import BROKEN, Client, sound
from experiments.paper.store import Store

PUBLISHED = {"CCv": 57.75, "CCM": 6.6}
THREADS, OPERATIONS = 4, 200
HISTORIES = 200
LOCATIONS, RATIOS = (2, 4, 8, 16), (0.3, 0.4, 0.5, 0.6, 0.7)
CLIENT_HISTORIES = 40
"""Of each of the other clients."""
VIOLATIONS = (100, 200, 300, 400)
"""Operations of the broken histories, as in Fig. 5."""
DETECTIONS = 100


def wanted(options: Options) -> list[Task]:
    return [*ordering(options), *detecting(options)]


def ordering(options: Options) -> list[Task]:
    count, others = (4, 1) if options.quick else (HISTORIES, CLIENT_HISTORIES)
    own = [task for source in options.sources
           for task in tasks(Client(source, sound(source, "sc"), THREADS, OPERATIONS), count, "sc", [ORDERS])]
    return own + [task for locations, ratio in product(LOCATIONS, RATIOS)
                  for task in tasks(Client("machine", "sc", THREADS, OPERATIONS, locations, ratio), others, "sc",
                                    [ORDERS])]


def detecting(options: Options) -> list[Task]:
    count = 4 if options.quick else DETECTIONS
    return [task for source in options.sources for operations in VIOLATIONS[:2 if options.quick else None]
            for task in tasks(Client(source, BROKEN[source], THREADS, operations), count, "sc", [LADDER])]


def report(store: Store, options: Options, folder: Path) -> str:
    rows = store.frame(task.key for task in ordering(options))
    clients = rows.groupby(list(Client._fields), sort=False).mean(numeric_only=True)
    counts = rows.groupby(list(Client._fields), sort=False).size()
    found = store.frame(task.key for task in detecting(options))
    published = ", ".join(f"{name} {percent} %" for name, percent in PUBLISHED.items())
    return "\n".join([
        f"The paper: {published}. Means over the histories, in percent of the pairs; R is co for CCv, hb for CCM.", "",
        _readings(clients.iloc[0], int(counts.iloc[0]), Client(*clients.index[0])), "",
        "Pairs of one location, initial writes left out, by client:", "", _clients(clients, counts), "",
        _nearest(clients), "",
        "Which criterion of the ladder a violation fails first (the paper: about half of them CC or CCv, all of them "
        "CCM at the latest):", "", criteria.table(found), *criteria.shares(found), ""])


def _readings(means: pd.Series, count: int, client: Client) -> str:
    lines = [f"{count} histories, {_name(client)}:", "",
             "| ordered means | " + " | ".join(f"{pairs}: CCv | CCM" for pairs in PAIRS) + " |",
             "|---|" + "--:|--:|" * len(PAIRS)]
    for reading, text in READINGS.items():
        cells = [f"{means[column(criterion, reading, pairs)]:.2f}" for pairs in PAIRS for criterion in PUBLISHED]
        lines.append(f"| {text} | {' | '.join(cells)} |")
    return "\n".join([*lines, f"| saturation | | {means['saturation']:.2f} |" + " |" * 4])


def _clients(clients: pd.DataFrame, counts: pd.Series) -> str:
    shown = [("CCv", "cf"), ("CCv", "ww"), ("CCM", "cf"), ("CCM", "ww")]
    lines = ["| client | histories | CCv, cf alone | CCv, store order | CCM, cf alone | CCM, store order "
             "| saturation |", "|---|--:|--:|--:|--:|--:|--:|"]
    for key, means in clients.iterrows():
        cells = [means[column(*choice, PAIRS[0])] for choice in shown] + [means["saturation"]]
        lines.append(f"| {_name(Client(*key))} | {counts[key]} | {' | '.join(f'{cell:.2f}' for cell in cells)} |")
    return "\n".join(lines)


def _nearest(clients: pd.DataFrame) -> str:
    """Both criteria read alike; what each one's axiom adds to po and wr, cf[co] and pww; and each in any way."""
    lines = ["Nearest to the published pair (of so many combinations of reading, pairs and client the one whose larger "
             "error is least):", ""]
    for text, readings in (("both read alike", [(reading, reading) for reading in READINGS]),
                           ("what the axiom of each adds", [("cf", "ww")]),
                           ("each in any way", list(product(READINGS, READINGS)))):
        best = min(((_distance(means, *reading, pairs), key, reading, pairs) for key, means in clients.iterrows()
                    for reading in readings for pairs in PAIRS), key=lambda found: found[0])
        _, key, (ccv, ccm), pairs = best
        values = (clients.loc[key][column(*choice, pairs)] for choice in (("CCv", ccv), ("CCM", ccm)))
        lines.append(f"- {text} (of {len(readings) * len(PAIRS) * len(clients)}): CCv {next(values):.2f} % by "
                     f"{READINGS[ccv]}; CCM {next(values):.2f} % by {READINGS[ccm]}; {pairs}; {_name(Client(*key))}")
    return "\n".join(lines)


def _distance(means: pd.Series, ccv: str, ccm: str, pairs: str) -> float:
    """The larger of the two errors, in points."""
    return max(abs(means[column("CCv", ccv, pairs)] - PUBLISHED["CCv"]),
               abs(means[column("CCM", ccm, pairs)] - PUBLISHED["CCM"]))


def _name(client: Client) -> str:
    return (f"{client.source} {client.machine}, {client.threads} threads, {client.operations} operations, "
            f"{client.locations} locations, {client.write_ratio:.0%} writes")


if __name__ == "__main__":
    from experiments.paper.__main__ import main

    main(["percentages"])
