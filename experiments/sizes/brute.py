"""What mixed sizes mean, byte by byte: the definition, slow and obvious, in which there are no cells.

An *access* is an aligned operation, or one byte of a misaligned one. A history is consistent if its accesses can be put
into one order, the memory order, such that

    order       accesses of a thread that the model keeps in order stand in it so. Bytes of one misaligned operation are
                in no order
    value       each byte that an access reads was written by the latest, in the memory order, of those writes of the
                byte that stand before it in that order or earlier in its thread; or memory started with it
    atomicity   of each byte, nobody else's write stands between what a load-reserved read and its store-conditional
    end         the last write of each byte is what memory is left with, where that is demanded

which is how RISC-V's manual defines RVWMO, and, with other orders kept, SC, TSO and PSO too. An rmw reads and writes at
one place. Fences are full here.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gradual.history import FENCE, INITIAL, READ, WRITE, History, location_key

MODELS = ("sc", "tso", "pso", "rvwmo")


@dataclass(frozen=True)
class Access:
    """`read` and `written` are bytes by address; `row` is its operation."""

    row: int
    thread: int
    read: dict[int, int] = field(hash=False)
    written: dict[int, int] = field(hash=False)

    def overlaps(self, other: Access) -> bool:
        return bool({*self.read, *self.written} & {*other.read, *other.written})


class Brute:
    """One history."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._address = [int(location_key(name)) for name in history.locations]
        self._accesses = [access for row in range(len(history)) for access in self._of(row)]
        self._fences = [row for row in range(len(history)) if history.kind[row] == FENCE]
        pairs = [] if history.pair is None else history.pair.tolist()
        self._load_of = {store: load for load, store in pairs}
        self._loads = {*self._load_of.values()}

    def _of(self, row: int) -> list[Access]:
        history = self._history
        kind = int(history.kind[row])
        if kind == FENCE:
            return []
        assert history.size is not None
        start, size = self._address[int(history.location[row])], int(history.size[row])
        read, written = (dict(enumerate((int(value) & (1 << 64) - 1).to_bytes(8, "little")[:size], start))
                         for value in (history.read[row], history.written[row]))
        whole = Access(row, int(history.thread[row]), read if kind != WRITE else {}, written if kind != READ else {})
        if start % size == 0:
            return [whole]
        return [Access(row, whole.thread, {at: whole.read[at]} if whole.read else {},
                       {at: whole.written[at]} if whole.written else {}) for at in range(start, start + size)]

    def allows(self, model: str) -> bool:
        return _Search(self, model).found()

    def starts_with(self) -> dict[int, int]:
        """The bytes that memory holds at first, where they are not 0."""
        found = {}
        for at, value in zip(self._address, self._history.initial.tolist(), strict=True):
            held = enumerate((value & (1 << 64) - 1).to_bytes(8, "little"), at)
            found.update({byte: number for byte, number in held if number})
        return found

    def ends_with(self) -> dict[int, int]:
        """The bytes that memory must be left with."""
        history, found = self._history, dict[int, int]()
        assert history.size is not None
        for at in (history.final_line >= 0).nonzero()[0].tolist():
            wide = int(history.size[history.location == at].max(initial=0))
            left = (int(history.final_value[at]) & (1 << 64) - 1).to_bytes(8, "little")[:wide]
            found.update(enumerate(left, self._address[at]))
        return found

    def kept(self, model: str, a: Access, b: Access) -> bool:
        """Does the model keep two accesses of a thread in order, whatever was read? `a` stands before `b`."""
        if any(a.row < fence < b.row and self._history.thread[fence] == a.thread for fence in self._fences):
            return True
        if model == "sc":
            return True
        if model == "rvwmo":
            return bool(b.written) and (a.overlaps(b) or self._load_of.get(b.row) == a.row)
        return bool(a.read) or (bool(b.written) and (model == "tso" or a.overlaps(b)))

    def exclusive(self, access: Access) -> bool:
        """Is it an rmw, or a store-conditional?"""
        return bool(access.written) and (bool(access.read) or access.row in self._load_of)


class _Search:
    """Puts one access after another."""

    def __init__(self, brute: Brute, model: str) -> None:
        self._brute = brute
        self._model = model
        self._accesses = brute._accesses
        self._before = [[a for a, one in enumerate(self._accesses)
                         if one.thread == other.thread and one.row < other.row and brute.kept(model, one, other)]
                        for other in self._accesses]
        self._initial = brute.starts_with()
        self._placed: list[int] = []
        self._sources: dict[int, dict[int, int]] = {}
        """Of the accesses that were placed: for each byte read, the write."""
        self._hopeless: set[tuple[object, ...]] = set()

    def found(self) -> bool:
        if len(self._placed) == len(self._accesses):
            return self._left_as_demanded()
        if (state := self._state()) in self._hopeless:
            return False
        for a in range(len(self._accesses)):
            if a not in self._placed and all(b in self._placed for b in self._before[a]) and self._fits(a):
                self._placed.append(a)
                if self.found():
                    return True
                self._placed.pop()
        self._hopeless.add(state)
        return False

    def _left_as_demanded(self) -> bool:
        memory = dict(self._initial)
        for a in self._placed:
            memory.update(self._accesses[a].written)
        return all(memory.get(byte, 0) == value for byte, value in self._brute.ends_with().items())

    def _state(self) -> tuple[object, ...]:
        """All of what was placed that matters for what comes."""
        writes = [a for a in self._placed if self._accesses[a].written]
        order = {byte: tuple(a for a in writes if byte in self._accesses[a].written)
                 for a in writes for byte in self._accesses[a].written}
        looked_at = self._placed if self._model == "rvwmo" else [
            a for a in self._placed if self._accesses[a].row in self._brute._loads]
        read = frozenset((a, *self._sources[a].items()) for a in looked_at)
        return frozenset(self._placed), frozenset(order.items()), read

    def _fits(self, a: int) -> bool:
        """May access a come next?"""
        access = self._accesses[a]
        sources = {byte: self._source(a, byte) for byte in access.read}
        for byte, source in sources.items():
            held = self._initial.get(byte, 0) if source == INITIAL else self._accesses[source].written[byte]
            if held != access.read[byte]:
                return False
        self._sources[a] = sources
        return (self._model != "rvwmo" or self._by_sources(a)) and self._atomic(a)

    def _source(self, a: int, byte: int) -> int:
        access = self._accesses[a]
        own = [b for b, other in enumerate(self._accesses) if other.thread == access.thread and other.row < access.row
               and byte in other.written and b not in self._placed]
        placed = [b for b in self._placed if byte in self._accesses[b].written]
        return own[-1] if own else placed[-1] if placed else INITIAL

    def _by_sources(self, a: int) -> bool:
        """RVWMO's rules 2 and 3: loads of different stores from a byte, and of what an AMO or SC of its hart stored."""
        access = self._accesses[a]
        for byte, source in self._sources[a].items():
            if source != INITIAL and source not in self._placed and self._brute.exclusive(self._accesses[source]):
                return False
            for b in self._placed:
                later = self._accesses[b]
                if later.thread == access.thread and later.row > access.row and byte in later.read:
                    between = any(byte in other.written and access.row < other.row < later.row
                                  for other in self._accesses if other.thread == access.thread)
                    if not between and self._sources[b][byte] != source:
                        return False
        return True

    def _atomic(self, a: int) -> bool:
        access = self._accesses[a]
        load = self._brute._load_of.get(access.row)
        for b in self._placed if load is not None else ():
            if self._accesses[b].row != load:
                continue
            for byte, source in self._sources[b].items():
                if byte in access.written:
                    stores = [c for c in self._placed if byte in self._accesses[c].written]
                    since = stores[stores.index(source) + 1:] if source in stores else stores
                    if source != INITIAL and source not in stores:
                        continue
                    if any(self._accesses[c].thread != access.thread for c in since):
                        return False
        return True
