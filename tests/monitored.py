"""A cocotb test bench for test_monitor.py, inside the simulator: two cores are played on bare wires."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import cocotb
import cocotb.types
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge

from gradual.testing import NotConsistent
from gradual.testing.monitor import Monitor

R, W, RMW, F = range(4)


async def begin(dut: Any) -> None:
    cocotb.start_soon(Clock(dut.clk, 10, "ns").start())
    for core in (0, 1):
        wires(dut, core, valid=0, ready=0, kind=0, address=0, written=0, read=0, answered=0)
    await ClockCycles(dut.clk, 2)


def wires(dut: Any, core: int, **values: int) -> None:
    for name, value in values.items():
        getattr(dut, f"{name}{core}").value = value


def watch(dut: Any, monitor: Monitor, answered: bool = False) -> Monitor:
    for core in (0, 1):
        names = ["valid", "ready", "kind", "address", "written", "read", *(["answered"] if answered else [])]
        monitor.port(f"core{core}", **{name: getattr(dut, f"{name}{core}") for name in names})
    return monitor


async def do(dut: Any, core: int, kind: int, address: int = 0, written: int = 0, read: int = 0, wait: int = 1) -> None:
    """An operation, `ready` so many cycles after `valid`; the wires change between the edges."""
    await FallingEdge(dut.clk)
    wires(dut, core, valid=1, ready=0, kind=kind, address=address, written=written, read=read)
    if wait:
        await ClockCycles(dut.clk, wait)
        await FallingEdge(dut.clk)
    wires(dut, core, ready=1)
    await RisingEdge(dut.clk)
    await FallingEdge(dut.clk)
    wires(dut, core, valid=0, ready=0)


async def store_buffering(dut: Any) -> None:
    for core in (0, 1):
        await do(dut, core, W, address=core, written=7 + core)
    await do(dut, 0, R, address=4, read=0, wait=0)
    for core in (0, 1):
        await do(dut, core, R, address=1 - core, read=0, wait=2 * core)


@cocotb.test()
async def passes(dut: Any) -> None:
    await begin(dut)
    with watch(dut, Monitor(dut.clk, "tso")) as monitor:
        await store_buffering(dut)
        await do(dut, 0, F)
        await do(dut, 1, RMW, address=4, read=0, written=5)
        history = monitor.history("seen")
        lines = [history.what(operation) for operation in range(len(history))]
        assert lines == ["W 0x0=7", "W 0x1=8", "R 0x4=0", "R 0x1=0", "R 0x0=0", "fence", "RMW 0x4: 0→5"], lines
        assert history.threads == ("core0", "core1") and (history.tick[1:] >= history.tick[:-1]).all()


@cocotb.test()
async def fails(dut: Any) -> None:
    await begin(dut)
    with watch(dut, Monitor(dut.clk, "sc", folder=os.environ["LEFT"])):
        await store_buffering(dut)


@cocotb.test()
async def fails_early(dut: Any) -> None:
    await begin(dut)
    watch(dut, Monitor(dut.clk, "sc", every=50))
    await store_buffering(dut)
    await ClockCycles(dut.clk, 200)
    raise RuntimeError("nobody stopped this test")


@cocotb.test()
async def later_answers(dut: Any) -> None:
    """Core 0's load is answered after core 1's store, whose request comes later; half-way there is nothing to say."""
    await begin(dut)
    monitor = watch(dut, Monitor(dut.clk, "sc", every=3), answered=True)
    await do(dut, 0, R, address=1)
    await do(dut, 0, RMW, address=1, written=3)
    await answer(dut, 0, 9)  # a value whose store comes only later
    await do(dut, 1, W, address=1, written=9)
    await answer(dut, 0, 9)
    await do(dut, 1, R, address=1)
    assert len(monitor.history(ended=False)) == 3
    await answer(dut, 1, 3)
    monitor.stop()
    assert monitor.check() and len(monitor.history()) == 4
    monitor.clear()
    assert len(monitor.history()) == 0


async def answer(dut: Any, core: int, value: int) -> None:
    await FallingEdge(dut.clk)
    wires(dut, core, answered=1, read=value)
    await FallingEdge(dut.clk)
    wires(dut, core, answered=0)


@cocotb.test()
async def undefined_bits(dut: Any) -> None:
    await begin(dut)
    with watch(dut, Monitor(dut.clk, "sc")):
        dut.address0.value = cocotb.types.LogicArray("0000000X")
        await do_again(dut)


async def do_again(dut: Any) -> None:
    await FallingEdge(dut.clk)
    wires(dut, 0, valid=1, ready=1)
    await ClockCycles(dut.clk, 4)


@cocotb.test()
async def the_block_that_fails_says_why(dut: Any) -> None:
    """Not the monitor, which would only have half of it."""
    await begin(dut)
    try:
        with watch(dut, Monitor(dut.clk, "sc")):
            await store_buffering(dut)
            raise KeyError("something else")
    except KeyError:
        return
    except NotConsistent:
        Path(os.environ["LEFT"]).touch()
        raise
