"""Logs for RVLS, the lock-step checker of NaxRiscv and VexiiRiscv. One log is one history, a hart is a thread.

    rv load exe 0 3 4 0000000080000054 0000000000000010   a load executes: hart, queue entry, bytes, address, value
    rv load com 0 3                                       it commits
    rv load flu 0                                         what has executed and not committed is dropped
    rv store com 0 1 4 0000000080000054 0000000000000011  a store commits; newer logs have `exe` and `com` apart, as loads do
    rv store bro 0 1                                      it becomes visible to all
    rv commit 0 ffffffff80000024 00e7a023                 what came before belongs to this instruction; newer logs have its word

`_commits` says what becomes of instruction words. What else becomes what:

- Of several executions of a load, the last one before it commits counts; its value is what the register is set to
  (`rv rf w`), where the log shows that. An operation stands where its address and value stand: a load, and in newer logs
  a store, in the line of its `exe`. Its tick is the last `time` before that.
- The order of the lines `bro` is the store order. A store without one is left open.
- A load and a store of one instruction are an rmw. A store-conditional stored something if its store commits.
- What a trap ends did not take place. Accesses of devices (`rv io`) are left out, as are lines about anything else.
- Where there are no instruction words, nobody knows fences, acquire and release, load-reserveds and dependencies: that
  weakens what is checked, and is noted.
"""  # noqa: E501 - as RVLS prints it

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from gradual.adapters._commits import Hart, Log, Values
from gradual.adapters._text import shown
from gradual.adapters._words import Instruction, decode

from gradual.history import NO_PLACE, NO_TICK, History, InputError, Options

SUMMARY = "RVLS log (NaxRiscv, VexiiRiscv): sizes, and the order of the stores"
EXTENSIONS = ()
EXAMPLE = """\
rv store com 0 0 4 0000000080002000 000000000000002a
rv commit 0 0000000080000104
rv load exe 1 3 4 0000000080002000 0000000000000000
rv store bro 0 0
rv load exe 1 3 4 0000000080002000 000000000000002a
rv load com 1 3
rv rf w 1 0 32 000000000000002a
rv commit 1 0000000080000120
"""

_HEAD = re.compile(rb"^rv (?:load (?:exe|com|flu)|store (?:exe|com|bro|sc)|commit|new|rf [rw]) \d|^memview new \d",
                   re.MULTILINE)
_NUMBER, _HEX = rb" +(\d+)", rb" +([0-9a-f]{1,16})"
_ACCESS = ("HART ENTRY BYTES ADDRESS VALUE", _NUMBER * 3 + _HEX * 2)
_ENTRY = ("HART ENTRY", _NUMBER * 2)
_FORMS = {
    b"load exe": _ACCESS, b"load com": _ENTRY, b"load flu": ("HART", _NUMBER),
    b"store exe": _ACCESS, b"store com": ("HART ENTRY, or HART ENTRY BYTES ADDRESS VALUE",
                                          _NUMBER * 2 + rb"(?:" + _NUMBER + _HEX * 2 + rb")?"),
    b"store bro": _ENTRY, b"commit": ("HART PC, or HART PC WORD", _NUMBER + _HEX + rb"(?:" + _HEX + rb")?"),
    b"trap": ("HART INTERRUPT CODE", _NUMBER * 3 + rb".*"), b"new": ("HART ISA", _NUMBER + rb" +(\w+).*"),
    b"rf w": ("HART KIND REGISTER VALUE", _NUMBER * 3 + _HEX),
}
"""The lines that count, by what follows `rv`."""
_PATTERNS = {verb: re.compile(pattern + rb"\s*", re.DOTALL) for verb, (_, pattern) in _FORMS.items()}
_VERB = re.compile(rb"rv (load \w+|store \w+|rf \w+|\w+)\b")
_VALUE = b"value"
"""In place of the register that an instruction sets, where its word is not known."""
_UNKNOWN_REGISTER = 32


def recognise(head: bytes) -> bool:
    return bool(_HEAD.search(head))


def read(stream: BinaryIO, file: str, options: Options) -> Iterator[History | InputError]:
    try:
        yield _Run(file, options).read(stream)
    except InputError as error:
        yield error


@dataclass
class _Access:
    """A load or a store."""

    line: int
    size: int
    address: int
    value: int
    tick: int
    number: int = 0
    """Of a store: which operation of its thread it is, from 1."""
    place: int = NO_PLACE
    """Of a store: its place among those that became visible."""


class _Core:
    """A hart: its queues, and the instruction that is about to commit."""

    def __init__(self, thread: Hart) -> None:
        self.thread = thread
        self.loads: dict[int, _Access] = {}
        self.executed: dict[int, _Access] = {}
        """Stores that have executed and not committed."""
        self.stores: dict[int, _Access] = {}
        """Stores that may become visible."""
        self.load: _Access | None = None
        self.store: _Access | None = None
        self.registers: list[bytes] = []
        """What the instruction sets, by the letter of the kind; with a number where the log tells it."""
        self.result: int | None = None
        """What it sets the register to."""
        self.bits = 64

    def drop(self) -> None:
        self.load = self.store = self.result = None
        self.registers.clear()

    def retire(self, word: int | None, line: int = 0) -> None:
        """The instruction commits."""
        load, store = self.load, self.store
        if load is not None and self.result is not None:
            load.value = self.result & ((1 << 8 * load.size) - 1)
        if word is None:
            does = "read" if store is None else "write" if load is None else "rmw"
            self._access(Instruction(does, target=_VALUE))
        else:
            instruction = decode(word, self.bits)
            if instruction.does == "fence":
                self.thread.fence(instruction.size, line, NO_TICK)
            elif instruction.does or load or store:
                self._access(instruction if instruction.does else Instruction("unknown"))
            else:
                self.thread.follow(instruction, self._set(word))
        self.drop()

    def _set(self, word: int) -> tuple[bytes, ...]:
        return tuple(name + b"%d" % (word >> 7 & 31) if len(name) == 1 else name for name in self.registers)

    def _access(self, instruction: Instruction) -> None:
        load, store, before = self.load, self.store, self.thread.count
        sets: Values = {} if load is None else {instruction.target: load.value}
        touched: list[tuple[int, int | None]] = [] if load is None else [(load.address, None)]
        if store is not None:
            touched.append((store.address, store.value))
        shown_in = load or store
        if shown_in is None:
            self.thread.access(instruction, 0, sets, touched)
            return
        self.thread.access(instruction._replace(size=shown_in.size), shown_in.line, sets, touched, shown_in.tick)
        if store is not None and self.thread.count > before and (load is None or load.value != store.value):
            store.number = self.thread.count
            self._visible(store)

    def _visible(self, store: _Access) -> None:
        """Tell the store order, once the store is an operation and has become visible."""
        if store.number and store.place != NO_PLACE:
            self.thread.builder.stored(self.thread.name, store.number, line=store.line, place=store.place)

    def broadcast(self, store: _Access, place: int) -> None:
        store.place = place
        self._visible(store)


class _Run:
    """One log."""

    def __init__(self, file: str, options: Options) -> None:
        self._log = Log(file, options)
        self._cores: dict[int, _Core] = {}
        self._places = 0
        self._tick = NO_TICK
        self._wordless = False
        self._does: dict[bytes, Callable[[_Core, int, tuple[bytes, ...]], None]] = {
            b"load exe": self._load_executes, b"load com": self._load_commits, b"load flu": self._flush,
            b"store exe": self._store_executes, b"store com": self._store_commits, b"store bro": self._broadcast,
            b"commit": self._commit, b"trap": self._trap, b"new": self._new, b"rf w": self._register,
        }

    def read(self, stream: BinaryIO) -> History:
        for number, line in enumerate(stream, 1):
            if line.startswith(b"time ") and line[5:].strip().isdigit():
                self._tick = int(line[5:23])
            elif (found := _VERB.match(line)) is not None and (verb := found[1]) in _FORMS:
                fields = _PATTERNS[verb].fullmatch(line, found.end())
                self._log.whole(line, number)
                if fields is None:
                    raise self._error(f"expected rv {verb.decode()} {_FORMS[verb][0]}, found "
                                      f"{shown(line[found.end():].decode(errors='replace').strip())}", number)
                hart, *rest = fields.groups()
                self._does[verb](self._core(int(hart)), number, tuple(rest))
        for core in self._cores.values():
            core.retire(None)
        if self._wordless:
            self._log.builder.note("this log has no instruction words: fences, acquire and release, load-reserveds and "
                                   "dependencies are not known")
        return self._log.finish("this log shows no load or store that commits (rv load com, rv store com)")

    def _core(self, hart: int) -> _Core:
        if hart not in self._cores:
            self._cores[hart] = _Core(self._log.hart(f"hart{hart}"))
        return self._cores[hart]

    def _error(self, message: str, line: int) -> InputError:
        return self._log.builder.error(message, line)

    def _shown(self, line: int, size: bytes, address: bytes, value: bytes) -> _Access:
        if size not in (b"1", b"2", b"4", b"8"):
            raise self._error(f"an access of {size.decode()} bytes; accesses have 1, 2, 4 or 8", line)
        mask = (1 << 8 * int(size)) - 1
        return _Access(line, int(size), int(address, 16), int(value, 16) & mask, self._tick)

    def _load_executes(self, core: _Core, line: int, fields: tuple[bytes, ...]) -> None:
        core.loads[int(fields[0])] = self._shown(line, *fields[1:])

    def _load_commits(self, core: _Core, line: int, fields: tuple[bytes, ...]) -> None:
        core.load = self._fresh("load", core.load, core.loads.pop(int(fields[0]), None), core.store, line)

    def _flush(self, core: _Core, line: int, fields: tuple[bytes, ...]) -> None:
        core.loads.clear()

    def _store_executes(self, core: _Core, line: int, fields: tuple[bytes, ...]) -> None:
        entry = int(fields[0])
        core.executed[entry] = core.stores[entry] = self._shown(line, *fields[1:])

    def _store_commits(self, core: _Core, line: int, fields: tuple[bytes, ...]) -> None:
        entry = int(fields[0])
        if fields[1] is not None:
            core.executed[entry] = core.stores[entry] = self._shown(line, *fields[1:])
        core.store = self._fresh("store", core.store, core.executed.pop(entry, None), core.load, line)

    def _fresh(self, what: str, before: _Access | None, found: _Access | None, beside: _Access | None,
               line: int) -> _Access:
        """What an instruction reads or writes, `beside` what it does else: an rmw does both at one place."""
        if found is None:
            raise self._error(f"a {what} commits that has not executed: the log must start earlier, or have its line "
                              f"rv {what} exe", line)
        if before is not None:
            raise self._error(f"a second {what} commits before the instruction of the first one does (rv commit)", line)
        if beside is not None and (beside.address, beside.size) != (found.address, found.size):
            raise self._error(f"this {what} commits at {found.address:#x} before the instruction of line {beside.line} "
                              f"does (rv commit), which accesses {beside.address:#x}", line)
        return found

    def _broadcast(self, core: _Core, line: int, fields: tuple[bytes, ...]) -> None:
        store = core.stores.pop(int(fields[0]), None)
        if store is None:
            raise self._error(f"entry {int(fields[0])} of {core.thread.name} has no store that could become visible",
                              line)
        core.broadcast(store, self._places)
        self._places += 1

    def _commit(self, core: _Core, line: int, fields: tuple[bytes, ...]) -> None:
        self._wordless = self._wordless or fields[1] is None
        core.retire(None if fields[1] is None else int(fields[1], 16), line)

    def _trap(self, core: _Core, line: int, fields: tuple[bytes, ...]) -> None:
        core.drop()

    def _new(self, core: _Core, line: int, fields: tuple[bytes, ...]) -> None:
        core.bits = 32 if fields[0].upper().startswith(b"RV32") else 64

    def _register(self, core: _Core, line: int, fields: tuple[bytes, ...]) -> None:
        letter = {b"0": b"x", b"1": b"f"}.get(fields[0])
        if letter is not None:
            core.registers.append(letter + (fields[1] if int(fields[1]) < _UNKNOWN_REGISTER else b""))
            core.result = int(fields[2], 16)
