"""The accesses of a log that the user selected, out of everything a program did."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from gradual.adapters._dependencies import Dependencies

from gradual.history import THIN_AIR, Addresses, Builder, History, InputError, split, value_text


class Selection:
    """Which addresses are selected, and what there was besides."""

    def __init__(self, addresses: Addresses) -> None:
        self.addresses = addresses
        self._outside: tuple[int, int] | None = None
        """The lowest and the highest address that was not selected."""

    def has(self, address: int) -> bool:
        for low, high in self.addresses.ranges:
            if low <= address < high:
                return True
        if not self.addresses:
            return True
        low, high = self._outside or (address, address)
        self._outside = min(low, address), max(high, address)
        return False

    def missed(self) -> str:
        """Why there is no operation, where that is the selection's doing."""
        if self._outside is None:
            return ""
        low, high = self._outside
        return f"no access falls inside --addresses {self.addresses}; this log touches {low:#x} to {high:#x}"

    def built(self, builder: Builder) -> History:
        """The history. Where nobody selected, a program reads what it was loaded with: that is no violation."""
        advice = "The log holds every access of the program: select the shared locations with --addresses LO:HI"
        try:
            history = builder.build()
        except InputError as error:
            if self.addresses:
                raise
            raise builder.error(f"{error.message}. {advice}", error.line) from None
        if not self.addresses:
            events = split(history) if history.mixed else history
            for first in np.flatnonzero(events.source == THIN_AIR)[:1].tolist():
                value = value_text(int(events.read[first]))
                raise builder.error(f"{events.address(first)} is read as {value}, which nobody wrote"
                                    f"{_besides(events, first)}. {advice}{_or_else(events, first)}",
                                    int(events.line[first]))
        return history


def _held(events: History, read: int) -> int | None:
    """What memory held where this reads, if that is only known from another read."""
    at = events.location[read]
    return int(events.initial[at]) if events.unknown is not None and events.unknown[at] else None


def _besides(events: History, read: int) -> str:
    held = _held(events, read)
    return "" if held is None else f"; nor did anybody write {value_text(held)}, as which it is read too"


def _or_else(events: History, read: int) -> str:
    """What may help besides, unless it was done."""
    return "" if _held(events, read) is not None else (
        ", or say with --initial what memory held (--initial unknown takes it for that)")


def note_dropped(builder: Builder, all_dependencies: Iterable[Dependencies]) -> None:
    """Say how many accesses have dependencies that could not be followed."""
    if dropped := sum(dependencies.dropped for dependencies in all_dependencies):
        builder.note(f"{dropped} access{'' if dropped == 1 else 'es'} may depend on more than is known (registers set "
                     "by loads of other addresses, system calls, unknown instructions)")
