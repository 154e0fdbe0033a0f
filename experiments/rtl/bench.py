"""The cocotb test bench, inside the simulator: hands programs to the RTL machine, with gradual's monitor at the cores.

One line per history, hexadecimal but for its name, in RTL_PROGRAMS: `name seed pace programs`. The histories go to
RTL_RESULTS. The machine makes its own clock and resets itself, so that Python is woken by what the cores do alone.
"""

from __future__ import annotations

import os
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

import gradual
from gradual.testing.monitor import Monitor


@cocotb.test()
async def run_programs(dut: Any) -> None:
    monitor = Monitor(dut.clk, "sc")  # histories go out as they are: whoever runs this checks them, many together
    for number, node in enumerate(dut.node):
        core = node.core
        monitor.port(f"core{number}", valid=core.complete, kind=core.kind, address=core.target, written=core.fresh,
                     read=core.returned)
    with open(os.environ["RTL_PROGRAMS"]) as programs:
        histories = [await _run(dut, monitor, number, *line.split()) for number, line in enumerate(programs, 1)]
    gradual.write(histories, os.environ["RTL_RESULTS"])


async def _run(dut: Any, monitor: Monitor, number: int, name: str, *fields: str) -> gradual.History:
    monitor.clear()
    dut.seed.value, dut.pace.value, dut.programs.value = (int(field, 16) for field in fields)
    dut.number.value = number
    await RisingEdge(dut.done)
    if dut.hung.value:
        raise RuntimeError(f"{name} does not end: the cores are stuck")
    return monitor.history(name)
