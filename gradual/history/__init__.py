"""Histories: operations as columns, how they are built, reads-from, what may be wrong with them."""

from gradual.history.annotations import (
    ACQUIRE,
    EXCLUSIVE,
    FENCES,
    FULL,
    INSTRUCTIONS,
    NO_TICK,
    NOTHING,
    ORDERS,
    RCPC,
    RELEASE,
    RR,
    RW,
    TSO_FENCE,
    WR,
    WW,
    Annotations,
    Column,
)
from gradual.history.builder import Builder
from gradual.history.columns import (
    FENCE,
    INITIAL,
    NO_LOCATION,
    NO_SOURCE,
    READ,
    RMW,
    THIN_AIR,
    WRITE,
    History,
    Kind,
)
from gradual.history.errors import InputError, NoMemory, NotInTime, reason
from gradual.history.options import BLOCK, DEFAULT, EVERY, Addresses, Options, Share, Skipped
from gradual.history.reads_from import AMBIGUOUS, history_from_columns
from gradual.history.values import as_hex, location_key, look_like_hex, parse_number, value_text, visible, word

__all__ = [
    "ACQUIRE", "AMBIGUOUS", "BLOCK", "DEFAULT", "EVERY", "EXCLUSIVE", "FENCE", "FENCES", "FULL", "INITIAL",
    "INSTRUCTIONS", "NOTHING", "NO_LOCATION", "NO_SOURCE", "NO_TICK", "ORDERS", "RCPC", "READ", "RELEASE", "RMW", "RR",
    "RW", "THIN_AIR", "TSO_FENCE", "WR", "WRITE", "WW", "Addresses", "Annotations", "Builder", "Column", "History",
    "InputError", "Kind", "NoMemory", "NotInTime", "Options", "Share", "Skipped", "as_hex", "history_from_columns",
    "location_key", "look_like_hex", "parse_number", "reason", "value_text", "visible", "word",
]
