"""Histories: operations as columns, how they are built, reads-from, what may be wrong with them."""

from gradual.history.annotations import (
    ACQUIRE,
    AQRL,
    ATOMIC,
    EXCLUSIVE,
    FENCES,
    FULL,
    INSTRUCTIONS,
    NO_PLACE,
    NO_TICK,
    NOTHING,
    RCPC,
    RELEASE,
    RR,
    RW,
    TORN,
    TSO_FENCE,
    WR,
    WW,
    Annotations,
    Column,
)
from gradual.history.builder import Builder
from gradual.history.cells import split, wholes
from gradual.history.columns import (
    AMBIGUOUS,
    FENCE,
    INITIAL,
    NO_LOCATION,
    NO_SOURCE,
    READ,
    REAL_TIME,
    RMW,
    STORE_ORDER,
    THIN_AIR,
    WRITE,
    History,
    Kind,
)
from gradual.history.errors import InputError, NoAccess, NoMemory, NotInTime, reason
from gradual.history.image import Image, read_image
from gradual.history.joining import joined
from gradual.history.options import BLOCK, DEFAULT, EVERY, Addresses, Options, Share, Skipped
from gradual.history.oversights import Oversights, told_hex, told_unused
from gradual.history.reads_from import candidates, history_from_columns, supposed
from gradual.history.values import as_hex, location_key, parse_number, value_text, visible, word

__all__ = [
    "ACQUIRE", "AMBIGUOUS", "AQRL", "ATOMIC", "BLOCK", "DEFAULT", "EVERY", "EXCLUSIVE", "FENCE", "FENCES", "FULL",
    "INITIAL", "INSTRUCTIONS", "NOTHING", "NO_LOCATION", "NO_PLACE", "NO_SOURCE", "NO_TICK", "RCPC", "READ",
    "REAL_TIME", "RELEASE", "RMW", "RR", "RW", "STORE_ORDER", "THIN_AIR", "TORN", "TSO_FENCE", "WR", "WRITE", "WW",
    "Addresses", "Annotations", "Builder", "Column", "History", "Image", "InputError", "Kind", "NoAccess", "NoMemory",
    "NotInTime", "Options", "Oversights", "Share", "Skipped", "as_hex", "candidates", "history_from_columns", "joined",
    "location_key", "parse_number", "read_image", "reason", "split", "supposed", "told_hex", "told_unused",
    "value_text", "visible", "wholes", "word",
]
