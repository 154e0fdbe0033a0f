"""The faults of the RTL, as its header `faults.vh` lists them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

_LINE = re.compile(r"`define (?P<name>\w+)\s+(?P<number>\d+)\s+// (?P<buffers>\[buffers\] )?(?P<mistake>.+)")


class Fault(NamedTuple):
    number: int
    name: str
    mistake: str
    """What the designer did wrong."""
    buffers: bool
    """It is in the store buffers, and needs them to show."""


def _table() -> dict[int, Fault]:
    text = (Path(__file__).parent / "faults.vh").read_text()
    found = (Fault(int(line["number"]), line["name"].lower().replace("_", "-"), line["mistake"], bool(line["buffers"]))
             for line in _LINE.finditer(text))
    return {fault.number: fault for fault in found}


FAULTS = _table()
