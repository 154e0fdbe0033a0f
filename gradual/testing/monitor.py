"""A cocotb monitor for the ports at which cores meet memory: it collects what they do, and checks it.

    from gradual.testing.monitor import Monitor

    @cocotb.test()
    async def my_test(dut):
        with Monitor(dut.clk, "tso") as monitor:
            for core in (0, 1):
                port = dut.core[core]
                monitor.port(f"core{core}", valid=port.valid, ready=port.ready, kind=port.kind, address=port.addr,
                             written=port.wdata, read=port.rdata)
            ...                                   # run the cores; leaving the block checks what they did

An operation takes place at the rising edge of the clock at which `valid` and `ready` are high, in program order at each
port. Where the value of a load comes later, on a channel of its own, `answered` is that channel's valid signal, and
answers come in the order of requests. Every store needs a value of its own, as in any trace.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import cocotb
from cocotb.triggers import ClockCycles, RisingEdge
from cocotb.utils import get_sim_time

from gradual.testing.failure import NotConsistent

if TYPE_CHECKING:
    from cocotb.handle import LogicArrayObject, LogicObject

    from gradual.evidence.verdict import Verdict
    from gradual.history import History
    from gradual.models import Model

    Signal = LogicObject | LogicArrayObject

KINDS = {0: "R", 1: "W", 2: "RMW", 3: "F"}
"""What the numbers on `kind` mean, unless a port says otherwise."""


@dataclass
class _Operation:
    core: str
    kind: str
    address: int
    written: int
    read: int | None
    """None until the answer is there."""
    time: int


@dataclass
class _Port:
    core: str
    valid: LogicObject
    kind: Signal
    address: Signal
    written: Signal | None
    read: Signal | None
    ready: LogicObject | None
    answered: LogicObject | None
    kinds: Mapping[int, str]
    waiting: deque[_Operation] = field(default_factory=deque)
    """Loads and rmws without an answer yet."""

    def taken(self) -> bool:
        return _high(self.valid) and (self.ready is None or _high(self.ready))

    def operation(self) -> _Operation:
        """The one that takes place now."""
        code = self._number(self.kind, "kind")
        if (kind := self.kinds.get(code)) is None:
            raise ValueError(f"{self._now()}: nothing is said of the kind {code}; `kinds` tells what each number means")
        reads, writes = kind in ("R", "RMW"), kind in ("W", "RMW")
        return _Operation(
            self.core, kind, self._number(self.address, "address") if reads or writes else 0,
            self._number(self.written, "written") if writes else 0,
            self._number(self.read, "read") if reads and self.answered is None else None, _time())

    def answer(self) -> None:
        if not self.waiting:
            raise ValueError(f"{self._now()}: an answer came that nobody waits for")
        self.waiting.popleft().read = self._number(self.read, "read")

    def _number(self, signal: Signal | None, name: str) -> int:
        if signal is None:
            raise ValueError(f"{self._now()}: the signal `{name}` is needed")
        bits = str(signal.value)
        if not set(bits) <= {"0", "1"}:
            raise ValueError(f"{self._now()}: `{name}` has undefined bits, {bits}")
        return int(bits, 2)

    def _now(self) -> str:
        return f"{self.core} at {_time()} ns"


class Monitor:
    """Collects the operations of every port, and checks them when the block is left, or `check` is called.

    model   a name, the path of a .cat file, or a Model
    every   also check what there is after every so many cycles, so that a long simulation fails early
    folder  where the files of a violation go: why.txt, why.svg, smallest.csv
    """

    def __init__(self, clock: LogicObject, model: str | Model, *, every: int | None = None,
                 folder: str | Path | None = None) -> None:
        from gradual.models import load

        self._clock = clock
        self._model = load(model)
        self._folder = None if folder is None else Path(folder)
        self._operations: list[_Operation] = []
        self._tasks: list[Any] = []
        if every is not None:
            self._tasks.append(cocotb.start_soon(self._now_and_then(every)))

    def port(self, core: str, *, valid: LogicObject, kind: Signal, address: Signal, written: Signal | None = None,
             read: Signal | None = None, ready: LogicObject | None = None,
             answered: LogicObject | None = None, kinds: Mapping[int, str] = KINDS) -> None:
        """Watch a port from now on, as that core's next one; its operations are in program order.

        written, read  the value that is stored, and the value that is loaded
        kinds          what the numbers on `kind` mean: R, W, RMW or F
        """
        port = _Port(core, valid, kind, address, written, read, ready, answered, kinds)
        self._tasks.append(cocotb.start_soon(self._collect(port)))
        if answered is not None:
            self._tasks.append(cocotb.start_soon(self._answers(port, answered)))

    async def _collect(self, port: _Port) -> None:
        while True:
            await self._edge_with(port.valid)
            if port.taken():
                operation = port.operation()
                self._operations.append(operation)
                if operation.kind in ("R", "RMW") and port.answered is not None:
                    port.waiting.append(operation)

    async def _answers(self, port: _Port, answered: LogicObject) -> None:
        while True:
            await self._edge_with(answered)
            if _high(answered):
                port.answer()

    async def _edge_with(self, signal: LogicObject) -> None:
        """The next clock edge, but not those before the signal rises: Python is woken where something happens."""
        if not _high(signal):
            await RisingEdge(signal)
        await RisingEdge(self._clock)

    async def _now_and_then(self, cycles: int) -> None:
        while True:
            await ClockCycles(self._clock, cycles)
            self._judge(self.history(ended=False))

    def history(self, name: str = "bus", *, ended: bool = True) -> History:
        """What was collected since the beginning, or `clear`.

        ended  False: operations are still under way. A load is left out, and an rmw is a store alone, when it has no
               answer, or returned what nobody stored so far.
        """
        from gradual.history import Builder

        written = {(operation.address, operation.written) for operation in self._operations} if not ended else set()
        builder = Builder(name, "")
        for one in self._operations:
            read = one.read if ended or not one.read or (one.address, one.read) in written else None
            if one.kind == "F":
                builder.fence(one.core, tick=one.time)
            elif one.kind == "R" and read is not None:
                builder.read(one.core, hex(one.address), read, tick=one.time)
            elif one.kind == "RMW" and read is not None:
                builder.rmw(one.core, hex(one.address), read, one.written, tick=one.time)
            elif one.kind != "R":
                builder.write(one.core, hex(one.address), one.written, tick=one.time)
        return builder.build()

    def check(self) -> Verdict:
        """The verdict on what was collected. Raises NotConsistent, with the smallest history that shows it."""
        return self._judge(self.history())

    def _judge(self, history: History) -> Verdict:
        from gradual.judge import Judge
        from gradual.progress import Progress

        found = next(Judge([self._model], unordered=False).judgements([history], Progress()))
        if found.verdict.verdict != "consistent":
            failure = NotConsistent(found)
            if self._folder is not None:
                failure.save(self._folder)
            raise failure
        return found.verdict

    def clear(self) -> None:
        """Begin another history, after a reset."""
        self._operations = []

    def stop(self) -> None:
        """Watch no longer."""
        for task in self._tasks:
            task.cancel()

    def __enter__(self) -> Monitor:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 where: TracebackType | None) -> None:
        self.stop()
        if error is None:
            self.check()


def _high(signal: LogicObject) -> bool:
    return str(signal.value) == "1"


def _time() -> int:
    return int(get_sim_time("ns"))
