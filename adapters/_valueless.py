"""Logs without the values of accesses: there is nothing to check, so they are refused by name, with what to use."""

from __future__ import annotations

import re
from typing import NamedTuple


class Valueless(NamedTuple):
    """A kind of log that is known and cannot be checked."""

    name: str
    lacks: str
    instead: str
    pattern: bytes


KINDS = (
    Valueless("a QEMU execlog", "no values of loads and stores",
          "Spike's commit log (spike --log-commits) or a gem5 Exec log", rb'^\d+, 0x[0-9a-f]+, (?:0x)?[0-9a-f]+, "'),
    Valueless("a DynamoRIO memory trace", "addresses and sizes but no values",
          "a client that records what it loads and stores, as `gradual fuzz` makes them",
          rb"^Format: <data address>: <data size>|^\s*(?:0x)?[0-9a-f]{6,16}:\s+\d+,\s+[a-z][a-z0-9_]*\s*$|"
          rb"\b(?:ifetch|read|write)\s+\d+ byte\(s\) @ 0x"),
    Valueless("Rocket's commit log", "no addresses of loads and stores",
          "TraceGen (groundtest) or Spike's commit log (spike --log-commits)", rb"^C\d+:\s+\d+ \[[01]\] pc=\["),
    Valueless("a gem5 packet trace", "addresses but no values", "an Exec log (gem5 --debug-flags=Exec)",
          rb"\Agem5|^[rwu],\d+,\d+,\d+,\d+(?:,|$)"),
)
"""gem5's other debug flags are refused by its own adapter."""


def refusal(head: bytes) -> str:
    """Why a log that begins like this cannot be checked; empty where it is none of these."""
    return next((f"this looks like {kind.name}, which has {kind.lacks}, so there is nothing to check; use "
                 f"{kind.instead} instead" for kind in KINDS if re.search(kind.pattern, head, re.MULTILINE)), "")
