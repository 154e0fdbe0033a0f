"""The cocotb monitor on a real simulator: what it collects, how it fails and with what. `monitored.py` is the bench."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import gradual

sys.path.insert(0, str(Path(__file__).parents[1] / "experiments" / "rtl"))

from simulator import missing

pytestmark = [pytest.mark.xdist_group("monitor"),  # what takes long to make is made in one process
              pytest.mark.skipif(bool(missing()), reason=missing())]

WIRES = ", ".join(f"input {width} {name}{core}" for core in (0, 1) for name, width in {
    "valid": "", "ready": "", "answered": "", "kind": "[1:0]", "address": "[7:0]", "written": "[15:0]",
    "read": "[15:0]"}.items())
RUN = """
import os
from cocotb_tools.runner import get_runner
runner = get_runner("icarus")
runner.build(sources=["wires.v"], hdl_toplevel="wires", build_dir="build", timescale=("1ns", "1ns"))
runner.test("monitored", "wires", hdl_toplevel_lang="verilog", build_dir="build", test_dir=".",
            results_xml=os.path.abspath("out.xml"))
"""


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One simulation of all tests of the bench."""
    folder = tmp_path_factory.mktemp("monitor")
    (folder / "wires.v").write_text(f"module wires(input clk, {WIRES});\nendmodule\n")
    done = subprocess.run([sys.executable, "-c", RUN], cwd=folder, capture_output=True, text=True, timeout=300,
                          env={**os.environ, "PYTHONPATH": str(Path(__file__).parent), "LEFT": str(folder / "left")})
    assert (folder / "out.xml").exists(), done.stdout + done.stderr
    (folder / "log").write_text(done.stdout + done.stderr)
    return folder


def test_what_passes_and_what_fails(simulated: Path) -> None:
    cases = ElementTree.parse(simulated / "out.xml").getroot().iter("testcase")
    failed = {case.get("name") for case in cases if {"failure", "error"} & {found.tag for found in case}}
    assert failed == {"fails", "fails_early", "undefined_bits"}, (simulated / "log").read_text()


def test_a_failure_has_the_smallest_history(simulated: Path) -> None:
    log = (simulated / "log").read_text()
    for part in ("SC violation", "4 operations of it cannot be spared", "W 0x0=7 (core0, operation 1, tick", "rw →",
                 "core0 at", "`address` has undefined bits, 0000000X"):
        assert part in log
    assert "nobody stopped this test" not in log


def test_its_files(simulated: Path) -> None:
    left = simulated / "left"
    assert sorted(file.name for file in left.iterdir()) == ["smallest.csv", "why.svg", "why.txt"]
    small = left / "smallest.csv"
    assert not gradual.check(small) and gradual.check(small, "tso")
