"""Collects the operations of one history, in the order of the trace."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from gradual.history.annotations import (
    EXCLUSIVE,
    FENCES,
    FULL,
    NO_TICK,
    PAIRS,
    Annotations,
    Column,
    annotated,
)
from gradual.history.columns import FENCE, NO_LOCATION, READ, RMW, WRITE, History, Kind
from gradual.history.errors import InputError
from gradual.history.options import DEFAULT, Options
from gradual.history.reads_from import history_from_columns
from gradual.history.values import location_key, word

if TYPE_CHECKING:
    from typing_extensions import Unpack

_LEFT_OUT = -1
"""In the place of an operation: its address was not selected."""


class More(TypedDict, total=False):
    """What a trace may say of an access besides. Dependencies and pairs are numbers of earlier operations of its
    thread, counted from 1, those at addresses that are not selected included."""

    marks: int
    begin: int
    end: int
    addr: Sequence[int]
    data: Sequence[int]
    ctrl: Sequence[int]
    pair: int
    """Of a store-conditional that succeeded: its load-reserved. Both become EXCLUSIVE."""


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
        self._own: dict[str, list[int]] = defaultdict(list)
        """The operations of each thread, by the numbers that dependencies name them with."""
        self._said: dict[str, dict[int, int]] = {"fence": {}, "marks": {}, "begin": {}, "end": {}}
        self._pairs: dict[str, list[tuple[int, int]]] = {name: [] for name in PAIRS}
        self._notes: dict[str, None] = {}
        self._coupled: set[int] = set()
        """The load-reserveds that have their store-conditional."""

    def __len__(self) -> int:
        return len(self._rows)

    def error(self, message: str, line: int = 0) -> InputError:
        return InputError(message, self.file, line, self.name)

    def note(self, words: str) -> None:
        """Something that whoever reads the verdict should know."""
        self._notes[words] = None

    def read(self, thread: str, address: int | str, value: int, *, line: int = 0, tick: int = NO_TICK,
             size: int = 0, **more: Unpack[More]) -> None:
        self._add(thread, READ, address, value, 0, line, tick, size, more)

    def write(self, thread: str, address: int | str, value: int, *, line: int = 0, tick: int = NO_TICK,
              size: int = 0, **more: Unpack[More]) -> None:
        self._add(thread, WRITE, address, 0, value, line, tick, size, more)

    def rmw(self, thread: str, address: int | str, read: int, written: int, *, line: int = 0,
            tick: int = NO_TICK, size: int = 0, **more: Unpack[More]) -> None:
        self._add(thread, RMW, address, read, written, line, tick, size, more)

    def fence(self, thread: str, orders: int = FULL, *, line: int = 0, tick: int = NO_TICK,
              **more: Unpack[More]) -> None:
        """A fence that orders some pairs of accesses, one of FENCES."""
        if orders not in FENCES.values():
            raise self.error(f"no fence orders {orders}; there are {', '.join(FENCES)}", line)
        self._said["fence"][len(self._rows)] = orders
        self._own[thread].append(len(self._rows))
        self._rows.append((self._thread(thread), FENCE, NO_LOCATION, 0, 0, line, tick, 0))
        if more:
            self._annotate(thread, more, line)

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
             tick: int, size: int, more: More) -> None:
        location = self._location(address, line)
        own = self._own[thread]
        if location == NO_LOCATION:
            own.append(_LEFT_OUT)
            return
        own.append(len(self._rows))
        self._rows.append((self._thread(thread), kind, location, self._word(read, line), self._word(written, line),
                           line, tick, size))
        if more:
            self._annotate(thread, more, line)

    def _annotate(self, thread: str, more: More, line: int) -> None:
        """Keep what is said of the last operation, which is one of this thread."""
        try:
            self._say(thread, more)
        except ValueError as error:
            raise self.error(str(error), line) from None

    def _say(self, thread: str, more: More) -> None:
        """The same. Raises ValueError."""
        operation = len(self._rows) - 1
        kind = self._rows[operation][1]
        for name, value in (("marks", more.get("marks", 0)), ("begin", more.get("begin", NO_TICK)),
                            ("end", more.get("end", NO_TICK))):
            if value != (0 if name == "marks" else NO_TICK):
                self._said[name][operation] = value
        _refuse_marks(kind, more.get("marks", 0))
        if NO_TICK < more.get("end", NO_TICK) < more.get("begin", NO_TICK):
            raise ValueError(f"this ends at {more['end']}, before it begins at {more['begin']}")
        for name, numbers in (("addr", more.get("addr", ())), ("data", more.get("data", ())),
                              ("ctrl", more.get("ctrl", ()))):
            for number in numbers:
                self._depend(name, self._earlier(name, number, thread), operation)
        if "pair" in more:
            self._couple(self._earlier("pair", more["pair"], thread), operation)

    def _earlier(self, name: str, number: int, thread: str) -> int:
        """The operation that a thread calls by this number."""
        own = self._own[thread]
        if not 1 <= number < len(own):
            raise ValueError(f"{name} {number} is no earlier operation of thread {thread}; this is its operation "
                             f"{len(own)}, counted from 1")
        return own[number - 1]

    def _depend(self, name: str, earlier: int, later: int) -> None:
        kind = self._rows[later][1]
        if (name == "addr" and kind == FENCE) or (name == "data" and kind not in (WRITE, RMW)):
            raise ValueError(f"{name} is a dependency of {'an access' if name == 'addr' else 'a write'}, and this is "
                             f"a {Kind(kind).name.lower()}")
        if earlier == _LEFT_OUT:
            return
        source = self._rows[earlier][1]
        if source == FENCE or (source == WRITE and not self._said["marks"].get(earlier, 0) & EXCLUSIVE):
            raise ValueError(f"{name} must name an operation that reads, or a store-conditional: nothing depends on a "
                             f"{Kind(source).name.lower()}")
        self._pairs[name].append((earlier, later))

    def _couple(self, earlier: int, later: int) -> None:
        """A load-reserved and its store-conditional."""
        marks = self._said["marks"]
        if self._rows[later][1] != WRITE or (earlier != _LEFT_OUT and self._rows[earlier][1] != READ):
            raise ValueError("pair leads from a store-conditional, a write, to its load-reserved, a read")
        marks[later] = marks.get(later, 0) | EXCLUSIVE
        if earlier == _LEFT_OUT:
            return
        if earlier in self._coupled:
            raise ValueError("pair names a load-reserved that has a store-conditional already")
        self._coupled.add(earlier)
        marks[earlier] = marks.get(earlier, 0) | EXCLUSIVE
        self._pairs["pair"].append((earlier, later))

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
            self._annotations(size.astype(np.int32)), tuple(self._notes))

    def _annotations(self, size: Column) -> Annotations:
        found: dict[str, Column] = {"size": size}
        for name, said in self._said.items():
            times = name in ("begin", "end")
            found[name] = np.full(len(size), NO_TICK if times else 0, dtype=np.int64 if times else np.int8)
            found[name][[*said]] = [*said.values()]
        for name, pairs in self._pairs.items():
            found[name] = np.array(sorted({*pairs}), dtype=np.int32).reshape(-1, 2)
        return annotated(**found)

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


def _refuse_marks(kind: int, marks: int) -> None:
    if kind == FENCE and marks:
        raise ValueError("a fence is no acquire or release by itself; say what it orders by its kind")
    if kind == RMW and marks & EXCLUSIVE:
        raise ValueError("an rmw is one operation; only a load-reserved and a store-conditional are exclusive")
