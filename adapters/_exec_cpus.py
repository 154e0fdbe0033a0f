"""The CPUs of a gem5 log in the tables of `_exec_kernels`: put there, and fetched when an odd line comes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from gradual.adapters import _exec_tables as log
from gradual.adapters._cpu import Cpu
from gradual.adapters._dependencies import UNKNOWN, Sources
from gradual.adapters._exec_instructions import Full, Names
from gradual.adapters._thread import Access

from gradual.history import Column

_WORD = (1 << 64) - 1
_FENCES = 1 << 8
Tables = dict[str, Column]


def empty(name: str, rows: int) -> Column:
    return np.zeros(rows, dtype=np.dtype(log.FIELDS[name], align=True))


def signed(number: int) -> int:
    """As a field of 64 bits holds it."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


class Cpus:
    """Threads by their numbers, and the tables that have a part for each."""

    def __init__(self, names: Names, now: Any) -> None:
        self.cpus: list[Cpu] = []
        self.stride = 1
        """Operations of a CPU that there is room for in `controlled`, and one."""
        self.tables: Tables = {name: empty(name, 0) for name in ("cpu", "register", "origin", "pending", "controlled")}
        self.tables["fence"] = empty("fence", 1)
        self._now = now
        """The row with the first place for a fence that is free."""
        self._names = names
        self._numbers: dict[Cpu, int] = {}
        self.more_fences()

    def number(self, cpu: Cpu) -> int:
        """Of a CPU, which may be new."""
        if cpu not in self._numbers:
            self._numbers[cpu] = len(self.cpus)
            self.cpus.append(cpu)
            for name, rows in (("cpu", 1), ("register", log.REGISTERS), ("pending", log.PENDING),
                               ("origin", log.REGISTERS * log.MANY), ("controlled", self.stride)):
                self.tables[name] = np.concatenate([self.tables[name], empty(name, rows)])
            known = cpu.registers.dependencies.controlled
            self.reach(max(known, default=0))
            cpu.registers.dependencies.controlled = controlled = Controlled(self, self._numbers[cpu])
            for number in known:
                controlled.add(number)
        return self._numbers[cpu]

    def reach(self, operations: int) -> None:
        """Make room in `controlled`."""
        if operations < self.stride:
            return
        stride = max(2 * self.stride, operations + 1)
        wider = empty("controlled", stride * len(self.cpus)).reshape(len(self.cpus), stride)
        wider[:, : self.stride] = self.tables["controlled"].reshape(len(self.cpus), self.stride)
        self.tables["controlled"], self.stride = wider.reshape(-1), stride

    def more_fences(self) -> None:
        """Make room for fences that wait: as much again."""
        there = len(self.tables["fence"])
        more = max(there, _FENCES)
        self.tables["fence"] = fences = np.concatenate([self.tables["fence"], empty("fence", more)])
        fences["next"][there:] = [*range(there + 1, there + more), self._now["free_fence"]]
        self._now["free_fence"] = there

    # Put there

    def put(self, number: int, text: bytes, near: int) -> None:
        """Into the tables; `text` has the pcs where they were, or behind `near`."""
        cpu, row = self.cpus[number], self.tables["cpu"][number]
        for name in ("whole", "called", "started", "ordering", "count"):
            row[name] = getattr(cpu, name)
        row["unfinished"] = bool(cpu.unfinished)
        _put_pc(row, "pc", cpu.pc, text, near)
        row["held"], row["reserved"], row["stored"] = cpu.held is not None, 0, cpu.last_store is not None
        if cpu.held is not None:
            access, value = cpu.held
            _fill(row, "held", address=access.address, size=access.size, value=value, line=access.line,
                  tick=access.tick)
        if cpu.reserved is not None:
            access, row["reserved"], value = cpu.reserved
            _fill(row, "reserved", address=access.address, size=access.size, value=value)
        if cpu.last_store is not None:
            pc, address, value, tick = cpu.last_store
            _put_pc(row, "stored_pc", pc, text, near)
            _fill(row, "stored", address=address, value=value, tick=tick)
        self._put_fences(row, cpu.fences)
        self._put_dependencies(number, cpu)
        self._put_registers(number, cpu)

    def _put_fences(self, row: Any, waiting: list[tuple[int, int, int]]) -> None:
        row["first_fence"] = 0
        for orders, line, tick in waiting:
            if not self._now["free_fence"]:
                self.more_fences()
            fences, place = self.tables["fence"], int(self._now["free_fence"])
            self._now["free_fence"] = fences["next"][place]
            fences[place] = (orders, 0, line, tick)
            if row["first_fence"]:
                fences["next"][row["last_fence"]] = place
            else:
                row["first_fence"] = place
            row["last_fence"] = place

    def _list(self, first: int) -> Iterable[int]:
        """The places of a list of fences."""
        while first:
            yield first
            first = int(self.tables["fence"]["next"][first])

    def _put_dependencies(self, number: int, cpu: Cpu) -> None:
        row, dependencies = self.tables["cpu"][number], cpu.registers.dependencies
        pending = sorted(dependencies.pending - {UNKNOWN})
        first = number * log.PENDING
        self.tables["pending"]["branch"][first : first + len(pending)] = pending
        row["pending"], row["pending_unknown"] = len(pending), UNKNOWN in dependencies.pending
        row["dropped"] = dependencies.dropped

    def _put_registers(self, number: int, cpu: Cpu) -> None:
        """Those that there are numbers for; they leave the CPU."""
        first = number * log.REGISTERS
        rows, origin = self.tables["register"], self.tables["origin"]["of"]
        for name in ("known", "unknown", "many"):
            rows[name][first : first + log.REGISTERS] = 0
        results, sources = cpu.registers.results, cpu.registers.dependencies.sources
        for register in [*results]:
            if (at := self._named(register)) is not None:
                value = cpu.registers.value(register)
                rows["known"][first + at] = value is not None and at != log.ZERO_REGISTER
                rows["value"][first + at] = signed(value or 0)
                del results[register]
        for register in [*sources]:
            if (at := self._named(register)) is not None:
                those = sorted(sources.pop(register))
                rows["unknown"][first + at] = UNKNOWN in those
                known = those[UNKNOWN in those:]
                rows["many"][first + at] = len(known)
                origin[(first + at) * log.MANY :][: len(known)] = known

    def _named(self, register: bytes) -> int | None:
        try:
            return self._names.number(register)
        except Full:
            return None

    # Fetched

    def fetch(self, number: int, text: bytes) -> Cpu:
        """Out of the tables."""
        cpu, row = self.cpus[number], self.tables["cpu"][number]
        for name in ("whole", "called", "started"):
            setattr(cpu, name, bool(row[name]))
        cpu.ordering, cpu.count = int(row["ordering"]), int(row["count"])
        cpu.pc = text[row["pc"] : row["pc_past"]]
        cpu.registers.system_call(cpu.pc)  # nothing comes between a call and what goes on after it
        cpu.held = cpu.reserved = cpu.last_store = None
        if row["held"]:
            cpu.held = _access(row, "held", int(row["held_line"]), int(row["held_tick"])), _number(row["held_value"])
        if row["reserved"]:
            cpu.reserved = _access(row, "reserved"), int(row["reserved"]), _number(row["reserved_value"])
        if row["stored"]:
            pc = text[row["stored_pc"] : row["stored_pc_past"]]
            cpu.last_store = (pc, _number(row["stored_address"]), _number(row["stored_value"]), int(row["stored_tick"]))
        self._fetch_fences(row, cpu)
        self._fetch_dependencies(number, cpu)
        self._fetch_registers(number, cpu)
        return cpu

    def _fetch_fences(self, row: Any, cpu: Cpu) -> None:
        fences, places = self.tables["fence"], [*self._list(int(row["first_fence"]))]
        cpu.fences = [(int(fences["orders"][at]), int(fences["fence_line"][at]), int(fences["fence_tick"][at]))
                      for at in places]
        for at in places:
            fences["next"][at] = self._now["free_fence"]
            self._now["free_fence"] = at

    def _fetch_dependencies(self, number: int, cpu: Cpu) -> None:
        row, first = self.tables["cpu"][number], number * log.PENDING
        pending = self.tables["pending"]["branch"][first : first + int(row["pending"])].tolist()
        cpu.registers.dependencies.pending = {*pending, *[UNKNOWN] * bool(row["pending_unknown"])}
        cpu.registers.dependencies.dropped = int(row["dropped"])

    def _fetch_registers(self, number: int, cpu: Cpu) -> None:
        first, names = number * log.REGISTERS, self._names.names
        rows = self.tables["register"][first : first + len(names)]
        for at, (known, unknown, many, value) in enumerate(rows.tolist()):
            if known:
                cpu.registers.results[names[at]] = b" D=%#x" % _number(value)
            if (many or unknown) and at != log.SPARE:
                cpu.registers.dependencies.sources[names[at]] = self._sources(first + at, many, bool(unknown))

    def _sources(self, register: int, many: int, unknown: bool) -> Sources:
        first = register * log.MANY
        return frozenset([*self.tables["origin"]["of"][first : first + many].tolist(), *[UNKNOWN] * unknown])


class Controlled(set[int]):
    """The operations of a CPU that branches depend on: they stay in the table."""

    def __init__(self, cpus: Cpus, number: int) -> None:
        super().__init__()
        self._cpus, self._number = cpus, number

    def __contains__(self, operation: object) -> bool:
        return bool(self._column[operation])

    def add(self, operation: int) -> None:
        self._cpus.reach(operation)
        self._column[operation] = 1

    @property
    def _column(self) -> Any:
        first = self._number * self._cpus.stride
        return self._cpus.tables["controlled"]["is_controlled"][first : first + self._cpus.stride]


def _put_pc(row: Any, field: str, pc: bytes, text: bytes, near: int) -> None:
    if text[row[field] : row[f"{field}_past"]] != pc:
        row[field] = text.index(pc, near)
        row[f"{field}_past"] = row[field] + len(pc)


def _fill(row: Any, of: str, **fields: int) -> None:
    for name, value in fields.items():
        row[f"{of}_{name}"] = signed(value)


def _number(field: int) -> int:
    return int(field) & _WORD


def _access(row: Any, of: str, line: int = 0, tick: int = 0) -> Access:
    return Access(_number(row[f"{of}_address"]), int(row[f"{of}_size"]), line, tick)
