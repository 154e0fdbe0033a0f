"""The cocotb test bench, inside the simulator: hands programs to the RTL machine, collects what it returned.

One line per history, in both files, hexadecimal: `seed pace programs` in RTL_PROGRAMS, `results` in RTL_RESULTS. The
machine makes its own clock and resets itself, so that Python is woken once per history.
"""

from __future__ import annotations

import os
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge


@cocotb.test()
async def run_programs(dut: Any) -> None:
    with open(os.environ["RTL_PROGRAMS"]) as programs, open(os.environ["RTL_RESULTS"], "w") as results:
        for number, line in enumerate(programs, 1):
            print(f"{await _run(dut, number, line):x}", file=results)


async def _run(dut: Any, number: int, line: str) -> int:
    dut.seed.value, dut.pace.value, dut.programs.value = (int(field, 16) for field in line.split())
    dut.number.value = number
    await RisingEdge(dut.done)
    if dut.hung.value:
        raise RuntimeError(f"history {number} of this simulation does not end: the cores are stuck")
    results = str(dut.results.value)
    if not set(results) <= {"0", "1"}:
        raise RuntimeError(f"history {number} of this simulation returned undefined bits: {results}")
    return int(results, 2)
