"""The tables of the engine."""

from __future__ import annotations

from typing import Any, NamedTuple

FIELDS: dict[str, str] = {
    # per node, and one more: an operation, or a virtual node that stands for a set of them. The schedule; the search
    "node": ("kind location slot out out_literal rank waits place state replaced parked thread pair opened "
             "into in_literal walked looked before by literal open"),
    # by place, as many as nodes: the run, the nodes that are ready, the writes that are
    "turn": "run stack heap",
    # per slot (a write; behind all operations the initial value of each location), and one more; by place, the
    # reads, slot by slot
    "slot": "unread readers reader",
    # per event where accesses mix sizes, else one row: the first event of its access, the next one of that or NONE; of
    # an access that waits, its event that does, and the one of another access that it waits for
    "part": "whole next through other",
    # per location: the slot it holds, the writes that wait there; the store-conditionals whose load-reserved reads what
    # has been there, the latest first, and how many of them are still to come
    "place": "current parked opened open",
    # per read of which it is open what it returned (or final value, which has no node), and one more: the last write of
    # its own thread before it, which coherence has it see, its first candidate, what it returned when it was performed
    "open": "node own first read",
    # the static edges as they were made; by the node they leave; and by the node they lead to
    "edge": "start end by",
    "out": "to",
    "into": "origin by",
    # per candidate of an open read: the slot and the read; then per pair of writes that was a choice once: its two
    # writes; and what is known of it. By place, pairs in the order in which they were assigned, where each level of
    # assumptions begins, literals to be followed, a clause
    "pair": ("low high value position reason level activity:f8 "
             "trail begin fresh learnt"),
    # two per pair: low before high, high before low; also edges, chained by their ends
    "literal": "edge linked next_out next_in occurs",
    # pairs, by a hash of their writes
    "bucket": "pair",
    # the literals of all clauses, of each the first two chained by literal; by place, where each clause begins
    "held": "literal clause next begin",
    # the log, and the nodes of its paths with the arrows into them
    "entry": "kind before after first past",
    "passage": "node by",
    # nodes on the way back from a write
    "queue": "node came by",
    # the one row of numbers that change all the time
    "now": ("operations nodes locations exclusive mixed performed stacked heaped phase indexed buckets edges "
            "cycle choices stamp opens sources vain pairs assigned levels clauses held fresh followed learnt falsified "
            "proved entries passages seed:i8 bump:f8 budget:i8 conflicts:i8 known:i8"),
}
"""The tables and their fields. Lists of the same length as a table stand in it as fields: the fewer tables there are,
the sooner the kernels are compiled."""


Entry = tuple[int, int, int, list[tuple[int, int]]]
"""An entry of the log: kind, before, after, and operations with the arrows into them, from the last one backwards."""


class Tables(NamedTuple):
    """Everything the kernels work on; FIELDS says what it is."""

    node: Any
    turn: Any
    slot: Any
    part: Any
    place: Any
    open: Any
    edge: Any
    out: Any
    into: Any
    pair: Any
    literal: Any
    bucket: Any
    held: Any
    entry: Any
    passage: Any
    queue: Any
    now: Any
