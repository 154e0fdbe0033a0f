"""Icarus Verilog under cocotb: compiles a configuration once, runs files of programs on it.

As a script it is the process that `run` watches: python simulator.py CONFIGURATION PROGRAMS RESULTS
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = HERE.parents[1] / "build" / "rtl"
SOURCES = [HERE / f"{name}.v" for name in ("machine", "core", "buffer", "cache", "bus", "memory")]
HEADERS = [HERE / "codes.vh", HERE / "faults.vh"]
LOG_LINES = 20
"""How much of the log's end an error shows."""


class SimulationError(Exception):
    """The simulation could not be built, crashed or did not end; the text has the end of its log."""


@dataclass(frozen=True)
class Configuration:
    """The parameters of the RTL."""

    cores: int
    ops: int
    """Operations per core."""
    address: int
    """Bits of an address."""
    lines: int
    buffers: bool
    fault: int

    @property
    def folder(self) -> Path:
        """One per configuration and version of the sources: what stands there need never be rebuilt."""
        sources = b"".join(path.read_bytes() for path in SOURCES + HEADERS)
        digest = hashlib.sha256(sources + repr(self).encode()).hexdigest()
        return BUILD / digest[:16]


def missing() -> str:
    """What is not installed here, with the way to get it; empty when nothing is missing."""
    if shutil.which("iverilog") is None:
        return "Icarus Verilog is not installed (Debian: apt-get install iverilog)"
    if importlib.util.find_spec("cocotb_tools") is None:
        return "cocotb 2 is not installed (pip install cocotb)"
    return ""


def run(configuration: Configuration, programs: Path, results: Path, timeout: float) -> None:
    """Run the programs in a process of their own. Raises SimulationError."""
    if problem := missing():
        raise SimulationError(problem)
    log = programs.with_suffix(".log")
    command = [sys.executable, str(HERE / "simulator.py"), json.dumps(asdict(configuration)), str(programs),
               str(results)]
    with open(log, "w") as output, subprocess.Popen(command, stdout=output, stderr=output,
                                                    start_new_session=True) as process:
        try:
            code = process.wait(timeout)
        except BaseException as reason:  # Ctrl-C too: the simulator must not go on alone
            os.killpg(process.pid, signal.SIGKILL)
            if not isinstance(reason, subprocess.TimeoutExpired):
                raise
            code = None
    if code != 0:
        what = f"did not end within {timeout:g} s" if code is None else "failed"
        raise SimulationError(f"the simulation {what} ({configuration}):\n{_end(log)}")


def _end(log: Path) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-LOG_LINES:])


def _build(configuration: Configuration) -> None:
    """Compile, beside the place where the others look until all of it is there."""
    from cocotb_tools.runner import get_runner

    if configuration.folder.is_dir():
        return
    parameters = {name.upper(): int(value) for name, value in asdict(configuration).items()}
    beside = configuration.folder.with_suffix(f".{os.getpid()}")
    get_runner("icarus").build(sources=SOURCES, includes=[HERE], parameters=parameters, hdl_toplevel="machine",
                               build_dir=beside, timescale=("1ns", "1ns"))
    try:
        beside.rename(configuration.folder)
    except OSError:  # somebody else was faster
        shutil.rmtree(beside)


def _simulate(configuration: Configuration, programs: str, results: str) -> None:
    from cocotb_tools.check_results import get_results
    from cocotb_tools.runner import get_runner

    _build(configuration)
    runner = get_runner("icarus")
    outcome = runner.test(
        "bench", "machine", hdl_toplevel_lang="verilog", build_dir=configuration.folder, test_dir=Path(programs).parent,
        results_xml=str(Path(programs).with_suffix(".xml")),
        extra_env={"RTL_PROGRAMS": programs, "RTL_RESULTS": results})
    tests, failed = get_results(outcome)
    if failed or tests != 1:
        sys.exit(f"{failed} of {tests} tests failed")


if __name__ == "__main__":
    _simulate(Configuration(**json.loads(sys.argv[1])), *sys.argv[2:4])
