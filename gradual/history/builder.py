"""Collects the operations of one history, in the order of the trace."""

from __future__ import annotations

import numpy as np

from gradual.history.columns import FENCE, NO_LOCATION, NO_TICK, READ, RMW, WRITE, Column, History, Kind
from gradual.history.errors import InputError
from gradual.history.options import DEFAULT, Options
from gradual.history.reads_from import history_from_columns
from gradual.history.values import location_key, word


class Builder:
    """Collects the operations of one history in trace order and closes it with `build`.

    Every method raises InputError with the line that was wrong.
    """

    def __init__(self, name: str, file: str, options: Options = DEFAULT) -> None:
        self.name = name
        self.file = file
        self.options = options
        self._threads: dict[str, int] = {}
        self._locations: dict[int | str, int] = {}
        self._location_names: list[str] = []
        self._spelled: dict[int | str, int] = {}
        """Locations by the spellings met so far: most accesses need no second look."""
        self._rows: list[tuple[int, int, int, int, int, int, int, int]] = []
        self._initial: dict[int, int] = {}
        self._initial_default = options.initial
        self._final: dict[int, tuple[int, int]] = {}
        self._left_out: tuple[int, int] | None = None

    def __len__(self) -> int:
        return len(self._rows)

    def error(self, message: str, line: int = 0) -> InputError:
        return InputError(message, self.file, line, self.name)

    def read(self, thread: str, address: int | str, value: int, *, line: int = 0, tick: int = NO_TICK,
             size: int = 0) -> None:
        self._add(thread, READ, address, value, 0, line, tick, size)

    def write(self, thread: str, address: int | str, value: int, *, line: int = 0, tick: int = NO_TICK,
              size: int = 0) -> None:
        self._add(thread, WRITE, address, 0, value, line, tick, size)

    def rmw(self, thread: str, address: int | str, read: int, written: int, *, line: int = 0,
            tick: int = NO_TICK, size: int = 0) -> None:
        self._add(thread, RMW, address, read, written, line, tick, size)

    def fence(self, thread: str, *, line: int = 0, tick: int = NO_TICK) -> None:
        self._rows.append((self._thread(thread), FENCE, NO_LOCATION, 0, 0, line, tick, 0))

    def initial(self, address: int | str | None, value: int, *, line: int = 0) -> None:
        """The value of a location before any write; of every location where `address` is None."""
        value = self._word(value, line)
        if address is None:
            self._initial_default = value
        elif (location := self._location(address, line)) != NO_LOCATION and (
                self._initial.setdefault(location, value) != value):
            raise self.error(f"{self._location_names[location]} is given two initial values", line)

    def final(self, address: int | str, value: int, *, line: int = 0) -> None:
        """The value a location must be left with: a constraint on its last write."""
        location = self._location(address, line)
        if location == NO_LOCATION:
            return
        value = self._word(value, line)
        if self._final.setdefault(location, (value, line))[0] != value:
            raise self.error(f"{self._location_names[location]} is given two final values", line)

    def _add(self, thread: str, kind: Kind, address: int | str, read: int, written: int, line: int,
             tick: int, size: int) -> None:
        location = self._location(address, line)
        if location != NO_LOCATION:
            self._rows.append((self._thread(thread), kind, location, self._word(read, line),
                               self._word(written, line), line, tick, size))

    def _word(self, value: int, line: int) -> int:
        try:
            return word(value)
        except ValueError as error:
            raise self.error(str(error), line) from None

    def _thread(self, thread: str) -> int:
        return self._threads.setdefault(thread, len(self._threads))

    def _location(self, address: int | str, line: int) -> int:
        known = self._spelled.get(address)
        if known is None:
            known = self._spelled[address] = self._new_location(address, line)
        return known

    def _new_location(self, address: int | str, line: int) -> int:
        key = location_key(address)
        if key in self._locations:
            return self._locations[key]
        if self.options.addresses:
            if isinstance(key, str):
                raise self.error(f"address {key!r} is not a number, so --addresses cannot select it", line)
            if key not in self.options.addresses:
                low, high = self._left_out or (key, key)
                self._left_out = min(low, key), max(high, key)
                return NO_LOCATION
        self._locations[key] = len(self._location_names)
        self._location_names.append(address.strip() if isinstance(address, str) else str(address))
        return self._locations[key]

    def build(self) -> History:
        """The history, with reads-from found from the values."""
        if self._left_out and not self._locations:
            low, high = self._left_out
            raise self.error(f"no access falls inside --addresses {self.options.addresses}; "
                             f"this trace touches {low:#x} to {high:#x}")
        rows = np.array(self._rows, dtype=np.int64).reshape(-1, 8)
        thread, kind, location, read, written, line, tick, size = rows.T
        if size.any():
            self._refuse_overlaps(location, size, line)
        initial = np.full(len(self._locations), word(self._initial_default), dtype=np.int64)
        for at, value in self._initial.items():
            initial[at] = value
        for key, value in self.options.initial_at.items():
            if key in self._locations:
                initial[self._locations[key]] = word(value)
        final_value = np.zeros(len(self._locations), dtype=np.int64)
        final_line = np.full(len(self._locations), -1, dtype=np.int64)
        for at, (value, at_line) in self._final.items():
            final_value[at], final_line[at] = value, at_line
        return history_from_columns(
            self.name, self.file, tuple(self._threads), tuple(self._location_names),
            thread.astype(np.int32), kind.astype(np.int8), location.astype(np.int32), read.copy(),
            written.copy(), line.copy(), tick.copy(), initial, final_value, final_line,
            size.astype(np.int32) if size.any() else None)

    def _refuse_overlaps(self, location: Column, size: Column, line: Column) -> None:
        """Accesses of different widths to common bytes have no single reads-from: say so."""
        accesses: dict[tuple[int, int], int] = {}
        addresses = {index: key for key, index in self._locations.items()}
        for at, width, row_line in zip(location.tolist(), size.tolist(), line.tolist(), strict=True):
            key = addresses.get(at)
            if width and isinstance(key, int):
                accesses.setdefault((key, width), row_line)
        last: tuple[int, int] | None = None
        for start, width in sorted(accesses):
            if last and start < last[0] + last[1]:
                raise self.error(
                    f"accesses of different width overlap: {last[1]} bytes at {last[0]:#x} (line "
                    f"{accesses[last]}) and {width} bytes at {start:#x} (line {accesses[start, width]}); "
                    "select addresses that are always accessed with one width", accesses[start, width])
            last = (start, width)
