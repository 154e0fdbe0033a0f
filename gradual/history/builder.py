"""Collects the operations of one history, in the order of the trace."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypedDict

import numpy as np

from gradual.history.annotations import (
    ABSENT,
    EXCLUSIVE,
    FENCES,
    FULL,
    NO_PLACE,
    NO_TICK,
    PAIRS,
    TORN,
    Annotations,
    Column,
    annotated,
)
from gradual.history.cells import widest
from gradual.history.columns import FENCE, NO_LOCATION, READ, RMW, WRITE, History, Kind
from gradual.history.errors import InputError, NoAccess
from gradual.history.options import DEFAULT, Options
from gradual.history.reads_from import by_values, history_from_columns
from gradual.history.sizes import Sizes
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
    order: int
    """Of a write: its place in the store order of its location, as in `Annotations`."""
    addr: Sequence[int]
    data: Sequence[int]
    ctrl: Sequence[int]
    pair: int
    """Of a store-conditional that succeeded: its load-reserved. Both become EXCLUSIVE."""


class Block(NamedTuple):
    """Many operations at once, in the order of the trace, as columns."""

    threads: Sequence[str]
    thread: Column
    """Numbers into `threads`."""
    kind: Column
    address: Column
    """Numbers; of a fence, anything."""
    read: Column
    written: Column
    line: Column
    tick: Column
    size: Column
    fence: Column
    """Of a fence, what it orders."""
    marks: Column
    depends: Mapping[str, Column]
    """For each of PAIRS rows of an operation, by its place here, and an earlier one of its thread, by its number as in
    `More`: they are taken as they are."""


class Builder:
    """Collects the operations of one history in trace order and closes it with `build`.

    Every method raises InputError with the line that was wrong.
    """

    def __init__(self, name: str, file: str, options: Options = DEFAULT, *, tears: bool = False) -> None:
        """`tears`: the architecture may access the bytes of a misaligned read or write one by one."""
        self.name = name
        self.tears = tears
        self.file = file
        self.options = options
        self._threads: dict[str, int] = {}
        self._locations: dict[int | str, int] = {}
        self._location_names: list[str] = []
        self._spelled: dict[int | str, int] = {}
        """Locations by the spellings met so far: most accesses need no second look."""
        self._rows: list[tuple[int, int, int, int, int, int, int, int]] = []
        self._initial: dict[int, int | None] = {}
        """None: it is not known."""
        self._initial_default: int | None = None if options.unknown else options.initial
        self._elsewhere: int | None = None
        self._final: dict[int, tuple[int, int]] = {}
        self._begun, self._left = list[tuple[int, int, int]](), list[tuple[int, int, int]]()
        """Of initial and final values the location, how many bytes they are said to have (0: nobody says), the line."""
        self._left_out: tuple[int, int] | None = None
        self._own: dict[str, list[int]] = defaultdict(list)
        """The operations of each thread, by the numbers that dependencies name them with."""
        self._said: dict[str, dict[int, int]] = {"fence": {}, "marks": {}, "begin": {}, "end": {}, "order": {}}
        self._pairs: dict[str, list[tuple[int, int]]] = {name: [] for name in PAIRS}
        self._stored = 0
        """How many writes have reached memory, in a trace that shows it."""
        self._notes: dict[str, None] = {}
        self._coupled: set[int] = set()
        """The load-reserveds that have their store-conditional."""
        self._blocks: list[Column] = []
        """Rows before `_rows`."""
        self._kinds = bytearray()
        """Of every operation."""

    def __len__(self) -> int:
        return len(self._kinds)

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
        self._said["fence"][len(self)] = orders
        self._own[thread].append(len(self))
        self._kinds.append(FENCE)
        self._rows.append((self._thread(thread), FENCE, NO_LOCATION, 0, 0, line, tick, 0))
        if more:
            self._annotate(thread, more, line)

    def initial(self, address: int | str | None, value: int | None, *, line: int = 0, size: int = 0) -> None:
        """The value of a location before any write, None if nobody knows it; of every location where `address` is
        None. Its bytes are those of the widest access that begins there, `size` says no more."""
        value = None if value is None else self._word(value, line)
        if address is None:
            self._initial_default = self._elsewhere = value
        elif (location := self._location(address, line)) != NO_LOCATION:
            self._begun.append((location, size, line))
            if self._initial.setdefault(location, value) != value:
                raise self.error(f"{self._location_names[location]} is given two initial values", line)

    def final(self, address: int | str, value: int, *, line: int = 0, size: int = 0) -> None:
        """The value a location must be left with: a constraint on its last write. Its bytes are those of the widest
        access that begins there, `size` says no more."""
        location = self._location(address, line)
        if location == NO_LOCATION:
            return
        self._left.append((location, size, line))
        value = self._word(value, line)
        if self._final.setdefault(location, (value, line))[0] != value:
            raise self.error(f"{self._location_names[location]} is given two final values", line)

    def stored(self, thread: str, number: int, *, line: int = 0, place: int | None = None) -> None:
        """A write of a thread, called by its number as dependencies call it, reaches memory: after all writes of its
        location of which this was said before, or at the place that the trace counts for it. For traces that show it
        as an event of its own."""
        own = self._own[thread]
        if not 1 <= number <= len(own):
            raise self.error(f"thread {thread} has no operation {number} that could reach memory", line)
        operation = own[number - 1]
        if operation == _LEFT_OUT:
            return
        if operation in self._said["order"]:
            raise self.error(f"operation {number} of thread {thread} reaches memory a second time", line)
        at = self._stored if place is None else place
        try:
            _refuse_place(self._kinds[operation], at)
        except ValueError as error:
            raise self.error(str(error), line) from None
        self._said["order"][operation] = at
        self._stored = max(self._stored, at + 1)

    def _add(self, thread: str, kind: int, address: int | str, read: int, written: int, line: int,
             tick: int, size: int, more: More) -> None:
        location = self._location(address, line)
        own = self._own[thread]
        if location == NO_LOCATION:
            own.append(_LEFT_OUT)
            return
        row = (self._thread(thread), kind, location, self._word(read, line), self._word(written, line), line, tick,
               size)
        own.append(len(self))
        self._kinds.append(kind)
        self._rows.append(row)
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
        operation = len(self) - 1
        kind = self._kinds[operation]
        for name, value in (("marks", more.get("marks", 0)), ("begin", more.get("begin", NO_TICK)),
                            ("end", more.get("end", NO_TICK)), ("order", more.get("order", NO_PLACE))):
            if value != ABSENT.get(name, 0):
                if value >> 63 > 0:
                    raise ValueError(f"{name} {value} is not below 2^63")
                self._said[name][operation] = value
        _refuse_marks(kind, more.get("marks", 0))
        _refuse_place(kind, more.get("order", NO_PLACE))
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
        kind = self._kinds[later]
        if (name == "addr" and kind == FENCE) or (name == "data" and kind not in (WRITE, RMW)):
            raise ValueError(f"{name} is a dependency of {'an access' if name == 'addr' else 'a write'}, and this is "
                             f"a {Kind(kind).name.lower()}")
        if earlier == _LEFT_OUT:
            return
        source = self._kinds[earlier]
        if source == FENCE or (source == WRITE and not self._said["marks"].get(earlier, 0) & EXCLUSIVE):
            raise ValueError(f"{name} must name an operation that reads, or a store-conditional: nothing depends on a "
                             f"{Kind(source).name.lower()}")
        self._pairs[name].append((earlier, later))

    def _couple(self, earlier: int, later: int) -> None:
        """A load-reserved and its store-conditional."""
        marks = self._said["marks"]
        if self._kinds[later] != WRITE or (earlier != _LEFT_OUT and self._kinds[earlier] != READ):
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

    def extend(self, block: Block) -> None:
        """Add the operations of a block, all of whose addresses are selected."""
        self._close_block()
        first, fences = len(self), block.kind == FENCE
        location = np.full(len(block.kind), NO_LOCATION, dtype=np.int64)
        location[~fences] = self._locations_of(block.address[~fences], block.line[~fences])
        thread = np.zeros(len(block.kind), dtype=np.int64)
        for number in _as_met(block.thread).tolist():
            its = np.flatnonzero(block.thread == number)
            thread[its] = self._thread(block.threads[number])
            self._own[block.threads[number]].extend((first + its).tolist())
        self._blocks.append(np.column_stack([thread, block.kind, location, block.read, block.written, block.line,
                                             block.tick, block.size]).astype(np.int64))
        self._kinds.extend(block.kind.astype(np.uint8).tobytes())
        for name, said, where in (("fence", block.fence, fences), ("marks", block.marks, block.marks != 0)):
            self._said[name].update(zip((first + np.flatnonzero(where)).tolist(), said[where].tolist(), strict=True))
        for name, depends in block.depends.items():
            threads = [block.threads[number] for number in block.thread[depends[:, 0]].tolist()]
            self._pairs[name] += [(self._own[of][number - 1], first + later) for of, (later, number)
                                  in zip(threads, depends.tolist(), strict=True)]

    def _close_block(self) -> None:
        self._blocks.append(np.array(self._rows, dtype=np.int64).reshape(-1, 8))
        self._rows.clear()

    def _locations_of(self, address: Column, line: Column) -> Column:
        """The locations of many accesses."""
        found, first, which = np.unique(address, return_index=True, return_inverse=True)
        locations = np.zeros(len(found), dtype=np.int64)
        for at in np.argsort(first).tolist():
            locations[at] = self._location(f"{int(found[at]):#x}", int(line[first[at]]))
        return locations[which]

    def build(self) -> History:
        """The history, with reads-from found from the values."""
        if self._left_out and not self._locations:
            low, high = self._left_out
            raise NoAccess(f"no access falls inside --addresses {self.options.addresses}; "
                           f"this trace touches {low:#x} to {high:#x}", self.file, 0, self.name)
        self._close_block()
        rows = np.concatenate(self._blocks)
        thread, kind, location, read, written, line, tick, size = rows.T
        sizes = Sizes([*self._locations], (location, size, line), self.tears, self.error) if size.any() else None
        if sizes is not None:
            sizes.refuse_names()
            sizes.refuse_wraps()
            sizes.refuse_other_widths([*self._begun, *self._left])
            sizes.refuse_unmet(((at, size, self._initial[at], by) for at, size, by in self._begun), "initial")
            sizes.refuse_unmet(((at, size, self._final[at][0], by) for at, size, by in self._left), "final")
            read, written = (sizes.fitting(values, location, size, line) for values in (read, written))
        mixed = sizes is not None and sizes.mixed
        if mixed:
            assert sizes is not None
            sizes.refuse_what_is_not_defined()
            self._tear(sizes, rows)
        initial, unknown = self._starts(location, size)
        final_value = np.zeros(len(self._locations), dtype=np.int64)
        final_line = np.full(len(self._locations), -1, dtype=np.int64)
        for at, (value, at_line) in self._final.items():
            final_value[at], final_line[at] = value, at_line
        if sizes is not None:
            initial = sizes.held(initial, dict.fromkeys(self._given_initially(), 0), "initial")
            final_value = sizes.held(final_value, {at: at_line for at, (_, at_line) in self._final.items()}, "final")
        if mixed:
            assert sizes is not None
            initial, unknown = self._by_bytes(sizes, initial, unknown)
            sizes.memory({at: value for at, (value, _) in self._final.items()}, lambda at: self._final[at][1], "final")
        history = history_from_columns(
            self.name, self.file, tuple(self._threads), tuple(self._location_names),
            thread.astype(np.int32), kind.astype(np.int8), location.astype(np.int32), read.copy(),
            written.copy(), line.copy(), tick.copy(), initial, final_value, final_line,
            self._annotations(size.astype(np.int32)), tuple(self._notes), unknown if unknown.any() else None)
        if mixed:
            history = by_values(replace(history, mixed=True))
        return history if self._elsewhere is None else history.starting_with(self._elsewhere)

    def _starts(self, location: Column, size: Column) -> tuple[Column, Column]:
        """What every location starts with, and where that is not known."""
        held: list[int | None] = [self._initial_default] * len(self._locations)
        if self.options.image is not None:
            wide = widest(location, size, len(self._locations))
            for key, at in self._locations.items():
                if (found := self.options.image.value(key, int(wide[at]))) is not None:
                    held[at] = found
        for at, value in self._initial.items():
            held[at] = value
        for key, given in self.options.initial_at.items():
            if key in self._locations:
                held[self._locations[key]] = given
        initial = np.array([0 if value is None else word(value) for value in held], dtype=np.int64)
        return initial, np.array([value is None for value in held], dtype=bool)

    def _given_initially(self) -> list[int]:
        """The locations that have an initial value of their own, or none that is known."""
        image = self.options.image
        return [at for key, at in self._locations.items() if at in self._initial or key in self.options.initial_at
                or (image is not None and image.tells(key))]

    def _tear(self, sizes: Sizes, rows: Column) -> None:
        """Mark misaligned reads and writes as several accesses."""
        torn = 0
        for row, (kind, at, size) in enumerate(rows[:, [1, 2, 7]].tolist()) if sizes.torn else ():
            marks = self._said["marks"].get(row, 0)
            if (at, size) in sizes.torn and kind != RMW and not marks & EXCLUSIVE:
                self._said["marks"][row] = marks | TORN
                torn += 1
        if torn:
            self.note(f"{torn} misaligned {'access is' if torn == 1 else 'accesses are'} taken for several, of a byte")

    def _by_bytes(self, sizes: Sizes, initial: Column, unknown: Column) -> tuple[Column, Column]:
        """What memory holds at each location, where locations have bytes in common; and where that is not known."""
        if self._initial_default:
            raise self.error("accesses of different sizes overlap, so what bytes hold where every location starts "
                             f"with {self._initial_default} is not defined; give initial values by their addresses")
        given = self._given_initially()
        held: dict[int, int | None] = {
            byte: None for at in given if unknown[at] for byte in sizes.bytes_of(at)}
        held |= sizes.memory({at: int(initial[at]) for at in given if not unknown[at]}, lambda at: 0, "initial")
        initial, unknown = initial.copy(), unknown.copy()
        for at in range(len(self._locations)):
            found = [held[byte] if byte in held else self._byte(byte) for byte in sizes.bytes_of(at)]
            if found:
                unknown[at] = None in found
                initial[at] = word(int.from_bytes(bytes((byte or 0) & 255 for byte in found), "little"))
        return initial, unknown

    def _byte(self, address: int) -> int | None:
        """What memory holds at an address of which nothing is told: by the image, or as everywhere; None: nobody
        knows."""
        image = self.options.image
        if image is not None and image.tells(address):
            raise self.error(f"no access starts at {address:#x}, so the bytes of the initial value that the file has "
                             "for it are not known; give it at the address of an access")
        found = None if image is None else image.value(address, 1)
        return self._initial_default if found is None else found

    def _annotations(self, size: Column) -> Annotations:
        found: dict[str, Column] = {"size": size}
        for name, said in self._said.items():
            found[name] = np.full(len(size), ABSENT.get(name, 0), dtype=np.int64 if name in ABSENT else np.int8)
            found[name][[*said]] = [*said.values()]
        for name, pairs in self._pairs.items():
            found[name] = np.array(sorted({*pairs}), dtype=np.int32).reshape(-1, 2)
        return annotated(**found)


def _as_met(numbers: Column) -> Column:
    """Each number once, in the order in which they come."""
    found, first = np.unique(numbers, return_index=True)
    return found[np.argsort(first)]


def _refuse_marks(kind: int, marks: int) -> None:
    if kind == FENCE and marks:
        raise ValueError("a fence is no acquire or release by itself; say what it orders by its kind")
    if kind == RMW and marks & EXCLUSIVE:
        raise ValueError("an rmw is one operation; only a load-reserved and a store-conditional are exclusive")


def _refuse_place(kind: int, place: int) -> None:
    if place == NO_PLACE:
        return
    if kind not in (WRITE, RMW):
        raise ValueError(f"order is a place in the store order, and this is a {Kind(kind).name.lower()}")
    if place < 0:
        raise ValueError(f"order {place} is negative; places in the store order count from 0")
